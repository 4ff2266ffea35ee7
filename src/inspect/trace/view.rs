//! Text views of a trace, in the style of the client's own tools.
//!
//! Engine names: `showpackets`, `cl_shownet`, `showdrop`.

use std::fmt::{self, Write as _};

use crate::{
    model::text::escaped,
    wire::{fields::Field, player},
};

use super::{
    family::Traced,
    parts::Part,
    quakeworld,
    record::{Direction, Missing, Record, RecordKind},
    snapshot_content::{FieldChange, SnapshotContent},
};

/// Longest shown text of a command, in bytes.
const MAX_COMMAND: usize = 60;

/// View of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One line per datagram.
    Packets,
    /// Bytes and fields of each message.
    Net,
    /// Lost, ignored and undecoded datagrams.
    Drops,
}

impl View {
    /// Appends the record as text, or nothing. Times are relative to `start_us`.
    pub fn write<'a>(self, record: impl Into<Traced<'a>>, start_us: u64, out: &mut String) {
        let shown = match record.into() {
            Traced::Quake3(record) => match self {
                Self::Packets => write_packet(record, start_us, out),
                Self::Net => write_net(record, start_us, out),
                Self::Drops if is_drop(record) => write_packet(record, start_us, out),
                Self::Drops => Ok(()),
            },
            Traced::QuakeWorld(record) => match self {
                Self::Packets => quakeworld::write_packet(record, start_us, out),
                Self::Net => quakeworld::write_net(record, start_us, out),
                Self::Drops if record.is_drop() => quakeworld::write_packet(record, start_us, out),
                Self::Drops => Ok(()),
            },
        };
        debug_assert!(shown.is_ok(), "memory takes everything");
    }
}

/// Whether a datagram shows a loss.
fn is_drop(record: &Record) -> bool {
    record.lost > 0
        || matches!(record.kind, RecordKind::Ignored | RecordKind::Undecoded)
        || record.missing.delta_base
}

/// Appends the line of a datagram.
fn write_packet(record: &Record, start_us: u64, out: &mut String) -> fmt::Result {
    let since = record.time_us.saturating_sub(start_us);
    let (from, to) = match record.direction {
        Direction::ToServer => (record.client, record.server),
        Direction::ToClient => (record.server, record.client),
    };
    write!(out, "{:5}.{:06} {from} > {to}", since / 1_000_000, since % 1_000_000)?;
    if let Some(sequence) = record.sequence {
        write!(out, " s={sequence}")?;
    }
    if let Some(span) = record.fragment {
        write!(out, " fragment={},{}", span.start, span.len)?;
    }
    match record.connectionless.command {
        Some(command) => write!(out, " {} {} bytes", command.name(), record.bytes)?,
        None => write!(out, " {} {} bytes", record.kind.name(), record.bytes)?,
    }
    if record.from_server.has_snapshot {
        match record.delta_base() {
            Some(base) => write!(out, " delta={base}")?,
            None => write!(out, " full")?,
        }
    }
    if record.lost > 0 {
        write!(out, " lost={}", record.lost)?;
    }
    let Missing { delta_base, usercmd_key } = record.missing;
    if delta_base {
        write!(out, " (delta base not captured)")?;
    }
    if usercmd_key {
        write!(out, " (key of usercmds not captured)")?;
    }
    if let Some(fault) = &record.fault {
        write!(out, ": {fault}")?;
    }
    writeln!(out)
}

/// Appends a message with the sizes of its parts and the names of changed fields.
fn write_net(record: &Record, start_us: u64, out: &mut String) -> fmt::Result {
    if record.message_bytes == 0 && record.fault.is_none() {
        return Ok(());
    }
    write_packet(record, start_us, out)?;
    for (part, bits) in record.bits.iter() {
        write!(out, "{bits:11} bits {}", part.name())?;
        match part {
            Part::Commands => write_commands(record, out)?,
            Part::Player => write_player(&record.from_server.snapshot, record, out)?,
            Part::Snapshot => {
                let head = &record.from_server.snapshot.head;
                write!(out, " time={} flags={}", head.server_time.0, head.flags.0)?;
            }
            Part::Entities => {
                write!(out, " {}", record.from_server.snapshot.entities.len())?;
            }
            Part::Usercmds => {
                let usercmds = &record.from_client.usercmds;
                let last = usercmds.last().map_or(0, |usercmd| usercmd.server_time);
                write!(out, " {} to time={last}", usercmds.len())?;
            }
            Part::Configstrings => {
                let count = record.from_server.gamestate.as_ref();
                write!(out, " {}", count.map_or(0, |gamestate| gamestate.configstrings.len()))?;
            }
            Part::Baselines => {
                let count = record.from_server.gamestate.as_ref();
                write!(out, " {}", count.map_or(0, |gamestate| gamestate.baselines.len()))?;
            }
            Part::Header | Part::Download | Part::Voice | Part::End => {}
        }
        writeln!(out)?;
        if part == Part::Entities {
            write_entities(&record.from_server.snapshot, record, out)?;
        }
    }
    Ok(())
}

fn write_commands(record: &Record, out: &mut String) -> fmt::Result {
    for command in &record.commands {
        let text = command.text.as_bytes();
        let shown = escaped(&text[..text.len().min(MAX_COMMAND)]);
        let more = if text.len() > MAX_COMMAND { "..." } else { "" };
        let again = if command.repeated { " again" } else { "" };
        write!(out, " {}{again}: \"{shown}{more}\"", command.number)?;
    }
    Ok(())
}

fn write_player(snapshot: &SnapshotContent, record: &Record, out: &mut String) -> fmt::Result {
    write_fields(snapshot.player(), record.encoding().player.fields, out)?;
    for element in &snapshot.elements {
        let array = player::ARRAY_NAMES.get(usize::from(element.array)).copied().unwrap_or("?");
        write!(out, " {array}[{}]:{}", element.index, element.bits)?;
    }
    Ok(())
}

fn write_entities(snapshot: &SnapshotContent, record: &Record, out: &mut String) -> fmt::Result {
    let encoding = record.encoding();
    for entity in &snapshot.entities {
        let (number, change) = (entity.number, entity.change.name());
        write!(out, "{:11} bits   #{number} {change}", entity.bits)?;
        write_fields(snapshot.fields_of(entity), encoding.entity.fields, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_fields(changes: &[FieldChange], fields: &[Field], out: &mut String) -> fmt::Result {
    for change in changes {
        let name = fields.get(usize::from(change.index)).map_or("?", |field| field.name);
        write!(out, " {name}:{}", change.bits)?;
    }
    Ok(())
}
