//! The public surface, tested from outside in one binary.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod architecture;
mod arena;
mod attacks;
mod bots;
mod client;
mod client_sessions;
mod collision_vectors;
mod connect_vectors;
mod connectionless;
mod deathmatch;
mod discovery_vectors;
mod door;
#[allow(dead_code, reason = "benchmarks need more of it")]
mod fighters;
mod following;
mod honest;
mod hostile;
mod hostile_maps;
mod hot_path;
mod huffman_vectors;
mod items;
mod joining;
mod journal;
mod linked_entities;
mod lossy_joins;
mod maps;
mod matches;
mod message_vectors;
mod movement_tables;
mod movement_vectors;
mod netchan_vectors;
mod pace;
mod rejoining;
#[path = "../../src/world/bsp/sample.rs"]
mod sample;
mod scripted_server;
mod seeded_match;
mod session_vectors;
mod settings;
mod shown_info;
mod sight;
mod simulation;
mod snapshot_vectors;
mod states;
mod tidy;
mod trials;
mod usercmds;
mod vectors;
mod world_vectors;
