//! Tests of messages, entity deltas, moves and connectionless packets.

mod connectionless;
mod messages;
mod moves;

use super::*;
