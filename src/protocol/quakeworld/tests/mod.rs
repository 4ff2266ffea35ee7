//! Tests of messages, entity deltas, moves and connectionless packets.

mod messages;
mod requests;
mod usercmds;

use super::*;
