//! Differential comparison of the native rules with a game module, frame by frame in virtual time.
//!
//! A [`Play`] is a map, settings, players and timed input. [`compare`] runs it on a server with native rules and
//! on one that hosts the module, without network faults, and compares after every server frame: playerstates,
//! linked entities, configstrings, server commands and lines of the game log. A [`Recording`] of a module takes its place. [`Differences`] groups what differs by kind, with a count
//! and the first occurrence.
//!
//! Invariants: the same play, module and seed give the same differences. View angles of a usercmd are given as
//! directions, so that a random spawn direction turns no player. Random numbers are the same on both sides. Accepted
//! differences are rows of a table; a play names what still depends on chance.

mod arena;
mod client;
mod differences;
mod entities;
mod fields;
mod frame_check;
mod known;
mod observation;
mod play;
mod plays;
mod random;
mod recording;
mod run;
mod side;

pub use differences::{Difference, Differences, Explanation};
pub use known::{known_subjects, known_table};
pub use play::{Play, PlayError};
pub use plays::built_in_plays;
pub use random::random_play;
pub use recording::{MAX_RECORDING_LEN, Recording, RecordingError};
pub use run::{ComparisonError, Reference, Rules, compare, record};
