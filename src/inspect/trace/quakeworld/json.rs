//! JSON form of records of QuakeWorld: one object per datagram, without absent parts.
//!
//! Names of messages and fields are those of the protocol. Text of packets has one character per byte.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    masked::{push_bytes, push_command},
    record::{Message, Record, Reliable},
};
use crate::quakeworld::{
    ClientMessage, EntityDelta, EntityState, Usercmd,
    bytes::{Angle, Text},
    describe::Value,
    entities::flag,
    moves::MoveMessage,
};

impl Record {
    /// Appends the record as one JSON line.
    ///
    /// # Panics
    /// Never: memory takes everything, and all keys are texts.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, self).expect("a record into memory");
        out.push(b'\n');
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("time_us", &self.time_us)?;
        map.serialize_entry("direction", self.direction.name())?;
        map.serialize_entry("server", &self.server)?;
        map.serialize_entry("client", &self.client)?;
        map.serialize_entry("bytes", &self.bytes)?;
        map.serialize_entry("kind", self.kind.name())?;
        map.serialize_entry("protocol", "quakeworld")?;
        self.header_entries(&mut map)?;
        if let Some(fault) = &self.fault {
            map.serialize_entry("fault", &fault.to_string())?;
        }
        if self.is_base_missing {
            map.serialize_entry("missing", &["delta base"])?;
        }
        if let Some(command) = self.command {
            map.serialize_entry("command", command)?;
            map.serialize_entry("text", &self.text)?;
        }
        if self.message_bytes > 0 {
            map.serialize_entry("message_bytes", &self.message_bytes)?;
            map.serialize_entry("bits", &self.bits)?;
            map.serialize_entry("messages", &MessagesJson(self))?;
        }
        map.end()
    }
}

impl Record {
    fn header_entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Some(header) = &self.header else { return Ok(()) };
        map.serialize_entry("sequence", &header.sequence)?;
        map.serialize_entry("acknowledge", &header.acknowledged)?;
        map.serialize_entry("parity", &u8::from(header.parity))?;
        match self.reliable {
            Reliable::None => {}
            Reliable::Sent => map.serialize_entry("reliable", "sent")?,
            Reliable::Repeated => map.serialize_entry("reliable", "repeated")?,
        }
        if self.delivers {
            map.serialize_entry("delivered", &true)?;
        }
        if let Some(qport) = header.qport {
            map.serialize_entry("qport", &qport.0)?;
        }
        for (name, count) in [("lost", self.lost), ("choked", self.choked)] {
            if count > 0 {
                map.serialize_entry(name, &count)?;
            }
        }
        for (name, base) in [("delta_base", self.base), ("asked_base", self.asked_base)] {
            if let Some(base) = base {
                map.serialize_entry(name, &base)?;
            }
        }
        if self.has_bad_checksum {
            map.serialize_entry("bad_checksum", &true)?;
        }
        Ok(())
    }
}

/// Messages of a packet.
struct MessagesJson<'a>(&'a Record);

impl Serialize for MessagesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(record) = self;
        let messages = record.messages();
        serializer.collect_seq(messages.map(|(len, message)| MessageJson { record, len, message }))
    }
}

struct MessageJson<'a> {
    record: &'a Record,
    len: usize,
    message: Message<'a>,
}

impl Serialize for MessageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message", self.message.name())?;
        map.serialize_entry("bytes", &self.len)?;
        if let Message::Client(ClientMessage::StringCommand { text }) = self.message {
            let mut masked = String::new();
            push_command(text, &mut masked);
            map.serialize_entry("text", &masked)?;
            return map.end();
        }
        let mut result = Ok(());
        self.message.describe(&mut |name, value| {
            if result.is_ok() {
                result = map.serialize_entry(name, &ValueJson(value, self.record));
            }
        });
        result?;
        map.end()
    }
}

struct ValueJson<'a>(Value<'a>, &'a Record);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, record) = self;
        match value {
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f32(*number),
            Value::Text(text) => TextJson(*text).serialize(serializer),
            Value::Name(name) => serializer.serialize_str(name),
            Value::Point(point) => serializer.collect_seq(point),
            Value::Usercmd(command) => UsercmdJson(command, None).serialize(serializer),
            Value::Move(moves) => moves_json(moves, record, serializer),
            Value::Entity(state) => entity_json(state, u32::MAX, None, serializer),
            Value::Delta(delta) => DeltaJson(*delta).serialize(serializer),
            Value::Deltas(deltas) => serializer.collect_seq(deltas.iter().map(DeltaJson)),
            Value::Names(names) => {
                let mut map = serializer.serialize_map(None)?;
                for (number, name) in names.iter() {
                    map.serialize_entry(&number, &TextJson(name))?;
                }
                map.end()
            }
        }
    }
}

struct TextJson<'a>(Text<'a>);

impl Serialize for TextJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        push_bytes(self.0.bytes(), &mut text);
        serializer.serialize_str(&text)
    }
}

/// Usercmds of a move, oldest first, and which of them the server runs.
fn moves_json<S: Serializer>(
    moves: &MoveMessage<'_>,
    record: &Record,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let (own, repeated) = record.runs.unwrap_or_default();
    let first = 3 - usize::from(own.min(3));
    let mut map = serializer.serialize_map(None)?;
    for (at, (name, command)) in
        ["oldest", "previous", "newest"].into_iter().zip(&moves.commands).enumerate()
    {
        map.serialize_entry(name, &UsercmdJson(command, Some(at >= first)))?;
    }
    if repeated > 0 {
        map.serialize_entry("repeated", &repeated)?;
    }
    map.end()
}

/// Usercmd with the fields that are not zero, and whether it is run.
struct UsercmdJson<'a>(&'a Usercmd, Option<bool>);

impl Serialize for UsercmdJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(command, runs) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("msec", &command.msec)?;
        if *runs == Some(true) {
            map.serialize_entry("run", &true)?;
        }
        if command.angles != [Angle(0); 3] {
            map.serialize_entry("angles", &command.angles.map(Angle::degrees))?;
        }
        for (name, value) in [
            ("forward", i32::from(command.forward)),
            ("side", i32::from(command.side)),
            ("up", i32::from(command.up)),
            ("buttons", i32::from(command.buttons)),
            ("impulse", i32::from(command.impulse)),
        ] {
            if value != 0 {
                map.serialize_entry(name, &value)?;
            }
        }
        map.end()
    }
}

struct DeltaJson(EntityDelta);

impl Serialize for DeltaJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(delta) = self;
        if delta.is_removal() {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry("number", &delta.number)?;
            map.serialize_entry("removed", &true)?;
            return map.end();
        }
        entity_json(&delta.fields, delta.flags(), Some(delta.number), serializer)
    }
}

/// Fields of an entity whose flags are set.
fn entity_json<S: Serializer>(
    state: &EntityState,
    flags: u32,
    number: Option<u16>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(number) = number {
        map.serialize_entry("number", &number)?;
    }
    if flags & (flag::MODEL | flag::MODEL16) != 0 {
        map.serialize_entry("model", &state.model)?;
    }
    for (name, bit, byte) in [
        ("frame", flag::FRAME, state.frame),
        ("colormap", flag::COLORMAP, state.colormap),
        ("skin", flag::SKIN, state.skin),
        ("effects", flag::EFFECTS, state.effects),
        ("alpha", flag::ALPHA, state.alpha),
    ] {
        if flags & bit != 0 {
            map.serialize_entry(name, &byte)?;
        }
    }
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        if flags & flag::ORIGIN[axis] != 0 {
            map.serialize_entry(name, &state.origin[axis])?;
        }
    }
    for (axis, name) in ["pitch", "yaw", "roll"].into_iter().enumerate() {
        if flags & flag::ANGLE[axis] != 0 {
            map.serialize_entry(name, &state.angles[axis].degrees())?;
        }
    }
    map.end()
}
