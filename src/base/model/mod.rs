//! Data types of all modules: numbers with names, time, vectors, entities, players, commands. Beside them, parallel
//! computation and prefetch hints.
//!
//! Imports nothing. Layouts of [`EntityState`], [`PlayerState`] and [`UserCmd`] are those of the
//! engine's shared structures, word for word, so that game code of any kind (native, bytecode) can be
//! read in place. Source: the Quake III game interface, version 8.

pub mod assets;
mod checksum;
mod client_set;
mod command_args;
pub mod config_fault;
mod console_commands;
pub mod contents;
pub mod encoding;
mod entity;
mod entity_set;
mod file_write;
mod frames;
mod ids;
pub mod installed_packs;
pub mod limits;
mod memory_assets;
pub mod near_files;
mod parallel;
mod player;
mod prefetch;
pub mod saved_file;
pub mod spelling;
pub mod state_folder;
pub mod text;
mod time;
mod trace;
pub mod trig;
mod typed_line;
mod usercmd;
mod vec3;

pub use checksum::block_checksum;
pub use client_set::ClientSet;
pub use command_args::{ArgRanges, CommandArgs, MAX_WORDS};
pub use console_commands::ConsoleCommands;
pub use entity::{EntityShared, EntityState, SvFlags, Trajectory, TrajectoryKind};
pub use entity_set::EntitySet;
pub use file_write::FileWrite;
pub use frames::{Baselines, FrameBuilder, FrameEntry, FrameNum, FrameRing, SlotId};
pub use ids::{
    Challenge, ClientNum, CommandNum, ConfigIndex, EntityNum, Qport, Sequence, ServerId,
};
pub use parallel::map_parallel;
pub use player::PlayerState;
pub use prefetch::prefetch;
pub use time::{CalendarDate, LevelTime, Millis, UnixMillis};
pub use trace::{Trace, TracePlane};
pub use typed_line::TypedLine;
pub use usercmd::{Buttons, UserCmd};
pub use vec3::Vec3;
