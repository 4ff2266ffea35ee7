//! JSON form of trace records: one object per datagram, without absent parts.
//!
//! Field names are those of the field tables. Text of packets has one character per byte.

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    model::{ClientNum, EntityState, UserCmd},
    wire::{
        fields::{Field, FieldKind},
        gamestate::Gamestate,
        player,
        protocol::Encoding,
    },
};

use super::{
    parts::PartBits,
    record::{Command, Direction, Download, Missing, Record, Voice},
    snapshot_content::{ElementChange, EntityRecord, FieldChange, SnapshotContent},
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
        if let Some(protocol) = self.protocol {
            map.serialize_entry("protocol", protocol.name)?;
        }
        if let Some(sequence) = self.sequence {
            map.serialize_entry("sequence", &sequence.0)?;
        }
        if let Some(span) = self.fragment {
            map.serialize_entry("fragment", &(span.start, span.len))?;
        }
        if self.lost > 0 {
            map.serialize_entry("lost", &self.lost)?;
        }
        if let Some(fault) = &self.fault {
            map.serialize_entry("fault", &Shown(fault))?;
        }
        if self.missing != Missing::default() {
            map.serialize_entry("missing", &self.missing)?;
        }
        if let Some(command) = self.connectionless.command {
            map.serialize_entry("command", command.name())?;
            map.serialize_entry("text", &self.connectionless.text)?;
        }
        if self.message_bytes > 0 {
            map.serialize_entry("message_bytes", &self.message_bytes)?;
            map.serialize_entry("bits", &self.bits)?;
            match self.direction {
                Direction::ToClient => self.server_entries(&mut map)?,
                Direction::ToServer => self.client_entries(&mut map)?,
            }
        }
        map.end()
    }
}

impl Record {
    fn server_entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let content = &self.from_server;
        map.serialize_entry("acknowledge", &content.acknowledge.0)?;
        self.shared_entries(map)?;
        if let Some(gamestate) = &content.gamestate {
            map.serialize_entry("gamestate", &GamestateJson(gamestate, self.encoding()))?;
        }
        if content.has_snapshot {
            map.serialize_entry("snapshot", &SnapshotJson(&content.snapshot, self))?;
        }
        if !content.downloads.is_empty() {
            map.serialize_entry("downloads", &content.downloads)?;
        }
        Ok(())
    }

    fn client_entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let content = &self.from_client;
        map.serialize_entry("server_id", &content.head.server_id.0)?;
        map.serialize_entry("acknowledge", &content.head.message_acknowledge)?;
        map.serialize_entry("command_acknowledge", &content.head.reliable_acknowledge.0)?;
        self.shared_entries(map)?;
        if !content.usercmds.is_empty() {
            map.serialize_entry("delta", &content.delta)?;
            let known = !self.missing.usercmd_key;
            let usercmds = content.usercmds.iter();
            let shown =
                usercmds.map(|usercmd| UsercmdJson { usercmd, known, encoding: self.encoding() });
            map.serialize_entry("usercmds", &Sequenced(shown))?;
        }
        Ok(())
    }

    fn shared_entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.commands.is_empty() {
            map.serialize_entry("commands", &self.commands)?;
        }
        if !self.voice.is_empty() {
            map.serialize_entry("voice", &self.voice)?;
        }
        Ok(())
    }
}

/// A value shown by its text.
struct Shown<'a, T>(&'a T);

impl<T: std::fmt::Display> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

/// The items of an iterator as an array.
struct Sequenced<I>(I);

impl<I: Iterator<Item = T> + Clone, T: Serialize> Serialize for Sequenced<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

impl Serialize for Missing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = [(self.delta_base, "delta base"), (self.usercmd_key, "usercmd key")];
        serializer.collect_seq(names.iter().filter(|(missing, _)| *missing).map(|(_, name)| name))
    }
}

impl Serialize for PartBits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(part, bits)| (part.name(), bits)))
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("number", &self.number.0)?;
        if self.repeated {
            map.serialize_entry("repeated", &true)?;
        }
        map.serialize_entry("text", &self.text)?;
        map.end()
    }
}

impl Serialize for Voice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(sender) = self.sender {
            map.serialize_entry("sender", &sender)?;
        }
        map.serialize_entry("generation", &self.generation)?;
        map.serialize_entry("sequence", &self.sequence)?;
        map.serialize_entry("frames", &self.frames)?;
        map.end()
    }
}

impl Serialize for Download {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Refused(text) => map.serialize_entry("refused", text)?,
            Self::Data { number, file_size, len } => {
                map.serialize_entry("block", number)?;
                if let Some(size) = file_size {
                    map.serialize_entry("file_size", size)?;
                }
                map.serialize_entry("bytes", len)?;
            }
        }
        map.end()
    }
}

/// A field's value in its kind.
fn value_entry<M: SerializeMap>(map: &mut M, field: &Field, value: u32) -> Result<(), M::Error> {
    match field.kind {
        FieldKind::Float => map.serialize_entry(field.name, &f32::from_bits(value)),
        FieldKind::Int(_) | FieldKind::Signed(_) => {
            map.serialize_entry(field.name, &(value as i32))
        }
        FieldKind::Axis => map.serialize_entry(field.name, &(value as i8)),
    }
}

/// Changed fields by name.
struct FieldsJson<'a>(&'a [FieldChange], &'static [Field]);

impl FieldsJson<'_> {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for change in self.0 {
            if let Some(field) = self.1.get(usize::from(change.index)) {
                value_entry(map, field, change.value)?;
            }
        }
        Ok(())
    }
}

impl Serialize for FieldsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// Changed members of a playerstate: fields, then array elements by array and index.
struct PlayerJson<'a>(&'a SnapshotContent, &'static Encoding);

impl Serialize for PlayerJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(content, encoding) = self;
        let mut map = serializer.serialize_map(None)?;
        FieldsJson(content.player(), encoding.player.fields).entries(&mut map)?;
        for elements in content.elements.chunk_by(|one, next| one.array == next.array) {
            let array = elements.first().map_or(0, |first| usize::from(first.array));
            let name = player::ARRAY_NAMES.get(array).copied().unwrap_or_default();
            map.serialize_entry(name, &ElementsJson(elements))?;
        }
        map.end()
    }
}

/// Changed elements of one array, by index.
struct ElementsJson<'a>(&'a [ElementChange]);

impl Serialize for ElementsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|element| (element.index, element.value)))
    }
}

struct EntityJson<'a>(&'a SnapshotContent, &'a EntityRecord, &'static Encoding);

impl Serialize for EntityJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(content, entity, encoding) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("number", &entity.number.index())?;
        map.serialize_entry("change", entity.change.name())?;
        map.serialize_entry("bits", &entity.bits)?;
        let fields = content.fields_of(entity);
        if !fields.is_empty() {
            map.serialize_entry("fields", &FieldsJson(fields, encoding.entity.fields))?;
        }
        map.end()
    }
}

struct SnapshotJson<'a>(&'a SnapshotContent, &'a Record);

impl Serialize for SnapshotJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(content, record) = *self;
        let encoding = record.encoding();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("server_time", &content.head.server_time.0)?;
        if let Some(base) = record.delta_base() {
            map.serialize_entry("delta_base", &base.0)?;
        }
        map.serialize_entry("flags", &content.head.flags.0)?;
        map.serialize_entry("areas", content.head.areas.bytes())?;
        map.serialize_entry("player", &PlayerJson(content, encoding))?;
        let entities = content.entities.iter();
        let shown = entities.map(|entity| EntityJson(content, entity, encoding));
        map.serialize_entry("entities", &Sequenced(shown))?;
        map.end()
    }
}

struct GamestateJson<'a>(&'a Gamestate, &'static Encoding);

impl Serialize for GamestateJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(gamestate, encoding) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("command_number", &gamestate.command_num.0)?;
        map.serialize_entry("client_number", &gamestate.client_num.map(ClientNum::index))?;
        map.serialize_entry("checksum_feed", &gamestate.checksum_feed)?;
        let strings = gamestate.configstrings.iter();
        let strings = strings.map(|(index, text)| (index.index(), text.as_str()));
        map.serialize_entry("configstrings", &Pairs(strings))?;
        let baselines = gamestate.baselines.iter();
        let baselines = baselines.map(|state| (state.number, BaselineJson(state, encoding)));
        map.serialize_entry("baselines", &Pairs(baselines))?;
        map.end()
    }
}

/// The items of an iterator as an object.
struct Pairs<I>(I);

impl<I: Iterator<Item = (K, V)> + Clone, K: Serialize, V: Serialize> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// Fields of a baseline that are not zero.
struct BaselineJson<'a>(&'a EntityState, &'static Encoding);

impl Serialize for BaselineJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.1.entity.set_fields(self.0.words()) {
            value_entry(&mut map, field, value)?;
        }
        map.end()
    }
}

struct UsercmdJson<'a> {
    usercmd: &'a UserCmd,
    /// Whether the key, and thus the values, are known.
    known: bool,
    encoding: &'static Encoding,
}

impl Serialize for UsercmdJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("time", &self.usercmd.server_time)?;
        if self.known {
            for (field, value) in self.encoding.usercmd.set_fields(self.usercmd) {
                value_entry(&mut map, field, value)?;
            }
        }
        map.end()
    }
}
