//! Test support: sample maps, scripted server, bot matches, the test course, recorded states.
//!
//! Compiled for tests, benches, fuzz targets and the feature `testing`. Not a stable interface.

#![allow(missing_docs, reason = "fixtures are described where a name is not enough")]
#![allow(clippy::unwrap_used, reason = "a fixture may fail by panic")]

pub mod bot_match;
pub mod costly_connects;
pub mod course;
pub mod generated_maps;
pub mod installed_maps;
pub mod module_drills;
pub mod real_modules;
pub mod recorded_states;
pub mod sample_maps;
pub mod scripted_server;

pub use bot_match::BotMatch;
pub use sample_maps::{Block, TestMap};
