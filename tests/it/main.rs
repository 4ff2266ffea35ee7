//! The public surface, tested from outside in one binary.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod admission;
mod announcing;
mod architecture;
mod attacks;
mod authorization;
mod bots;
mod browsing;
mod captures;
mod client;
mod client_sessions;
mod collision_vectors;
mod connect_vectors;
mod connectionless;
mod course;
mod deathmatch;
mod demo_recording;
mod discovery_family_vectors;
mod discovery_vectors;
mod downloads;
mod game_boundary;
mod honest;
mod hostile;
mod hostile_maps;
mod hot_path;
mod huffman_vectors;
mod items;
mod joining;
mod journal;
mod judge;
mod linked_entities;
mod lossy_joins;
mod map_compiler;
mod match_recording;
mod matches;
mod message_vectors;
mod movement_tables;
mod movement_vectors;
mod native_moves;
mod netchan_vectors;
mod ownership;
mod proxy;
mod qagame;
mod qagame_drills;
mod qagame_files;
mod qagame_networks;
mod qagame_replay;
mod qvm_modules;
mod qvm_programs;
mod rate_and_frames;
mod rejoining;
mod relay;
mod scripts;
mod seeded_match;
mod session_vectors;
mod settings;
mod shown_info;
mod sim_fixture;
mod simulation;
mod snapshot_vectors;
mod spectators;
mod tidy;
mod trace_cache;
mod traces;
mod trials;
mod usercmds;
mod vectors;
mod visibility;
mod world_vectors;

use fragd::testing::{
    bot_match, costly_connects, installed_maps, recorded_states, sample_maps, scripted_server,
};
