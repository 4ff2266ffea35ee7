//! Gamestate: configstrings, baselines and client number.
//!
//! ```text
//! command number long | { 3 | index short | big string }* | { 4 | entity record }* | 8 |
//! client number long | checksum feed long
//! ```
//!
//! Before protocol 66 the end is 0 instead of 8, and the client learns its number from the playerstate. Demos of that
//! time lack the checksum feed.
//!
//! Invariants of a parsed gamestate: indices and numbers are in range, and the text is no more than
//! a client can hold. Source: Quake III protocol 68, gamestate.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
    delta_sink::{DeltaSink, EntityChange},
    entity,
    protocol::Coder,
    server_message::ServerOp,
};
use crate::model::{
    ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState,
    limits::{MAX_CONFIGSTRINGS, MAX_GAMESTATE_CHARS},
};

/// A gamestate.
#[derive(Clone, Debug, PartialEq)]
pub struct Gamestate {
    /// Number of the last reliable command that the server has queued for this client.
    pub command_num: CommandNum,
    /// Configstrings that are not empty, in wire order.
    pub configstrings: Vec<(ConfigIndex, String)>,
    /// Baselines in wire order.
    pub baselines: Vec<EntityState>,
    /// Number of the client; `None` where gamestates do not hold it.
    pub client_num: Option<ClientNum>,
    /// Part of the key of usercmds, and of pure checksums; `None` in demos without it.
    pub checksum_feed: Option<i32>,
}

/// Writes the body of a gamestate, behind its operation byte. Without a checksum feed it is one of a demo.
pub fn write<'a>(
    writer: &mut BitWriter,
    command_num: CommandNum,
    configstrings: impl Iterator<Item = (ConfigIndex, &'a [u8])>,
    baselines: impl Iterator<Item = &'a EntityState>,
    client_num: ClientNum,
    checksum_feed: Option<i32>,
) {
    writer.long(command_num.0);
    for (index, text) in configstrings {
        writer.byte(ServerOp::Configstring as u8);
        writer.short(index.index() as i16);
        writer.big_string(text);
    }
    let nothing = EntityState::default();
    for baseline in baselines {
        writer.byte(ServerOp::Baseline as u8);
        entity::write_delta(writer, &nothing, baseline, true);
    }
    let form = writer.encoding().messages;
    writer.byte(if form.has_end_mark { ServerOp::End as u8 } else { 0 });
    if form.has_client_number {
        writer.long(client_num.index() as i32);
    }
    if form.has_end_mark || checksum_feed.is_some() {
        writer.long(checksum_feed.unwrap_or_default());
    }
}

/// Returns the length that [`write()`] gives a configstring, in bits.
#[must_use]
pub fn configstring_bits(coder: Coder, index: ConfigIndex, text: &[u8]) -> usize {
    let [low, high] = (index.index() as u16).to_le_bytes();
    coder.code_bits(&[ServerOp::Configstring as u8, low, high]) + coder.big_string_bits(text)
}

/// Returns the length that [`write()`] gives a baseline, in bits. `writer` is scratch memory.
#[must_use]
pub fn baseline_bits(writer: &mut BitWriter, baseline: &EntityState) -> usize {
    writer.clear();
    writer.byte(ServerOp::Baseline as u8);
    entity::write_delta(writer, &EntityState::default(), baseline, true);
    writer.bit_len()
}

/// Reads the body of a gamestate.
///
/// # Errors
/// As [`BitReader::bits`]; an index or a number out of range; an operation that is not allowed
/// here; more text than a client can hold.
pub fn read(reader: &mut BitReader<'_>) -> Result<Gamestate> {
    read_with(reader, &mut ())
}

/// Reads the body of a gamestate as [`read`] and passes every baseline to `sink`.
///
/// # Errors
/// As [`read`].
pub fn read_with(reader: &mut BitReader<'_>, sink: &mut impl DeltaSink) -> Result<Gamestate> {
    let form = reader.encoding().messages;
    let command_num = CommandNum(reader.long()?);
    let mut configstrings = Vec::new();
    let mut baselines = Vec::new();
    let mut chars = 1;
    loop {
        let operation = match ServerOp::read(reader) {
            Err(WireError::Operation(0)) if !form.has_end_mark => ServerOp::End,
            read => read?,
        };
        match operation {
            ServerOp::End => break,
            ServerOp::Configstring => {
                let index = reader.short()?;
                let index = usize::try_from(index).ok().and_then(ConfigIndex::new).ok_or(
                    WireError::OutOfRange { what: "configstring", number: i64::from(index) },
                )?;
                let text = reader.big_string()?;
                chars += text.len() + 1;
                if chars > MAX_GAMESTATE_CHARS || configstrings.len() == MAX_CONFIGSTRINGS {
                    return Err(WireError::GamestateOverflow);
                }
                configstrings.push((index, text));
            }
            ServerOp::Baseline => {
                let start = reader.bit_position();
                let number = entity::read_number(reader)?;
                if number == EntityNum::NONE {
                    return Err(WireError::OutOfRange { what: "baseline", number: 1023 });
                }
                if baselines.len() == EntityNum::NONE.index() {
                    return Err(WireError::GamestateOverflow);
                }
                let nothing = EntityState::default();
                if let Some(baseline) = entity::read_record(reader, &nothing, number, sink)? {
                    sink.entity(number, EntityChange::Added, reader.bit_position() - start);
                    baselines.push(baseline);
                }
            }
            other => return Err(WireError::Operation(other as u8)),
        }
    }
    let client_num = form.has_client_number.then(|| read_client_num(reader)).transpose()?;
    let has_feed = form.has_end_mark || reader.bits_left() >= 32;
    let checksum_feed = has_feed.then(|| reader.long()).transpose()?;
    Ok(Gamestate { command_num, configstrings, baselines, client_num, checksum_feed })
}

fn read_client_num(reader: &mut BitReader<'_>) -> Result<ClientNum> {
    let number = reader.long()?;
    usize::try_from(number)
        .ok()
        .and_then(ClientNum::new)
        .ok_or(WireError::OutOfRange { what: "client number", number: i64::from(number) })
}
