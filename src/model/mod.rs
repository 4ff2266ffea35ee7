//! The nouns that all rooms share: numbers with names, time, vectors, entities, players, commands.
//!
//! Imports nothing. Layouts of [`EntityState`], [`PlayerState`] and [`UserCmd`] are those of the
//! engine's shared structures, word for word, so that game code of any kind (native, bytecode) can be
//! read in place. Source: the Quake III game interface, version 8.

pub mod assets;
mod checksum;
pub mod contents;
mod entity;
mod entity_set;
mod frames;
mod ids;
pub mod limits;
mod player;
pub mod text;
mod time;
mod trace;
pub mod trig;
mod usercmd;
mod vec3;
mod words;

pub use checksum::block_checksum;
pub use entity::{EntityShared, EntityState, SvFlags, Trajectory, TrajectoryKind};
pub use entity_set::EntitySet;
pub use frames::{Baselines, Entry, FrameNum, FrameRing, Recording, SlotId};
pub use ids::{
    Challenge, ClientNum, CommandNum, ConfigIndex, EntityNum, Qport, Sequence, ServerId,
};
pub use player::PlayerState;
pub use time::{LevelTime, Millis, UnixMillis};
pub use trace::{Trace, TracePlane};
pub use usercmd::{Buttons, UserCmd};
pub use vec3::Vec3;
pub use words::{MAX_WORDS, WordRanges, Words};
