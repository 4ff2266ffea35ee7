//! Text views of records of QuakeWorld.
//!
//! | mark | meaning |
//! |---|---|
//! | `R+` | new reliable message |
//! | `R-` | reliable message again, after its loss |
//! | `R=` | acknowledgment of the reliable message of the other side |
//! | `choke=N` | answers left out before this one |

use std::fmt::{self, Write};

use super::{
    masked::push_command,
    record::{Message, Record, Reliable},
};
use crate::{
    model::text::escaped,
    quakeworld::{ClientMessage, bytes::Text, describe::Value},
    trace::record::Direction,
};

/// Longest shown text, in bytes.
const MAX_TEXT: usize = 60;

impl Record {
    /// Writes reliable message, delta base, loss and choke.
    pub(super) fn write_marks(&self, f: &mut dyn Write) -> fmt::Result {
        match self.reliable {
            Reliable::None => {}
            Reliable::Sent => f.write_str(" R+")?,
            Reliable::Repeated => f.write_str(" R-")?,
        }
        if self.delivers {
            f.write_str(" R=")?;
        }
        if self.entities > 0 || self.base.is_some() {
            match self.base {
                Some(base) => write!(f, " delta={base}")?,
                None => f.write_str(" full")?,
            }
        }
        if self.is_base_missing {
            f.write_str(" (delta base not captured)")?;
        }
        if let Some(base) = self.asked_base {
            write!(f, " asks={base}")?;
        }
        match self.runs {
            Some((own, 0)) if own > 1 => write!(f, " runs={own}")?,
            Some((own, repeated)) if repeated > 0 => write!(f, " runs={own}+{repeated}")?,
            _ => {}
        }
        if self.has_bad_checksum {
            f.write_str(" (bad checksum)")?;
        }
        if self.choked > 0 {
            write!(f, " choke={}", self.choked)?;
        }
        if self.lost > 0 {
            write!(f, " lost={}", self.lost)?;
        }
        Ok(())
    }
}

/// Appends the line of a datagram.
pub(in crate::trace) fn write_packet(
    record: &Record,
    start_us: u64,
    out: &mut String,
) -> fmt::Result {
    let since = record.time_us.saturating_sub(start_us);
    let (from, to) = match record.direction {
        Direction::ToServer => (record.client, record.server),
        Direction::ToClient => (record.server, record.client),
    };
    write!(out, "{:5}.{:06} {from} > {to}", since / 1_000_000, since % 1_000_000)?;
    if let Some(header) = &record.header {
        let parity = u8::from(header.parity);
        write!(out, " s={} a={},{parity}", header.sequence, header.acknowledged)?;
    }
    write!(out, " {} {} bytes", record.command.unwrap_or(record.kind.name()), record.bytes)?;
    record.write_marks(out)?;
    if let Some(fault) = &record.fault {
        write!(out, ": {fault}")?;
    }
    writeln!(out)
}

/// Appends a packet with the lengths and values of its messages.
pub(in crate::trace) fn write_net(record: &Record, start_us: u64, out: &mut String) -> fmt::Result {
    if record.header.is_none() && record.fault.is_none() {
        return Ok(());
    }
    write_packet(record, start_us, out)?;
    for (len, message) in record.messages() {
        write!(out, "{len:11} bytes {}", message.name())?;
        if let Message::Client(ClientMessage::StringCommand { text }) = message {
            let mut masked = String::new();
            push_command(text, &mut masked);
            writeln!(out, " \"{}\"", masked.escape_default())?;
            continue;
        }
        let mut result = Ok(());
        message.describe(&mut |name, value| {
            if result.is_ok() {
                result = write_value(name, value, record, out);
            }
        });
        result?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_value(name: &str, value: Value<'_>, record: &Record, out: &mut String) -> fmt::Result {
    match value {
        Value::Integer(number) => write!(out, " {name}={number}"),
        Value::Float(number) => write!(out, " {name}={number}"),
        Value::Text(text) => write!(out, " {name}=\"{}\"", shortened(text)),
        Value::Name(word) => write!(out, " {name}={word}"),
        Value::Point([x, y, z]) => write!(out, " {name}={x},{y},{z}"),
        Value::Usercmd(command) => write!(out, " msec={}", command.msec),
        Value::Move(moves) => {
            let [oldest, previous, newest] = moves.commands.map(|command| command.msec);
            let runs = record.runs.map_or(0, |(own, repeated)| u32::from(own) + repeated);
            write!(out, " msec={oldest},{previous},{newest} runs={runs}")
        }
        Value::Entity(state) => write!(out, " model={} frame={}", state.model, state.frame),
        Value::Delta(delta) => write!(out, " #{} flags={:x}", delta.number, delta.flags()),
        Value::Deltas(deltas) => deltas.iter().try_for_each(|delta| {
            let sign = if delta.is_removal() { "-" } else { "" };
            write!(out, " {sign}#{}:{:x}", delta.number, delta.flags() >> 9)
        }),
        Value::Names(names) => write!(out, " {} names", names.iter().count()),
    }
}

/// Start of a text.
fn shortened(text: Text<'_>) -> String {
    let bytes = text.bytes();
    let more = if bytes.len() > MAX_TEXT { "..." } else { "" };
    escaped(&bytes[..bytes.len().min(MAX_TEXT)]) + more
}
