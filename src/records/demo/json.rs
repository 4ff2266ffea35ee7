//! JSON form of messages and events: one object per line.
//!
//! Field names are those of the field tables. Fields that are zero are absent. Messages have
//! the numbers of their protocol, events those of 1.32.

use serde_json::{Map, Value, json};

use crate::{
    model::{ClientNum, EntityState},
    wire::{
        Protocol,
        fields::{FieldKind, FieldTable},
        gamestate::Gamestate,
    },
};

use super::{
    events::{DemoEvent, DemoEventKind},
    reader::{DemoMessage, DemoSnapshot},
    spare_fields::SpareFields,
};

/// A message as a JSON object. `demo_ms` is the time since the first snapshot.
#[must_use]
pub fn message_json(protocol: &Protocol, message: &DemoMessage<'_>, demo_ms: u64) -> Value {
    let mut object = json!({
        "kind": "message",
        "offset": message.offset,
        "sequence": message.sequence,
        "demo_ms": demo_ms,
        "bytes": message.bytes.len(),
        "acknowledge": message.acknowledge.0,
    });
    let Some(map) = object.as_object_mut() else { return object };
    if !message.commands.is_empty() {
        let commands = message.commands.iter().map(|command| {
            json!({ "number": command.number.0, "text": command.text, "new": command.is_new })
        });
        map.insert("commands".to_owned(), commands.collect());
    }
    if let Some(gamestate) = &message.gamestate {
        map.insert(
            "gamestate".to_owned(),
            gamestate_json(protocol, gamestate, &message.baseline_spares),
        );
    }
    if let Some(snapshot) = &message.snapshot {
        map.insert("snapshot".to_owned(), snapshot_json(protocol, snapshot));
    }
    if !message.voices.is_empty() {
        let voices = message.voices.iter().map(|voice| {
            json!({ "sender": voice.sender, "sequence": voice.sequence, "frames": voice.frames })
        });
        map.insert("voices".to_owned(), voices.collect());
    }
    if !message.downloads.is_empty() {
        let downloads = message.downloads.iter().map(|block| {
            json!({ "block": block.number, "file_size": block.file_size, "bytes": block.len })
        });
        map.insert("downloads".to_owned(), downloads.collect());
    }
    object
}

/// An event as a JSON object.
#[must_use]
pub fn event_json(event: &DemoEvent) -> Value {
    let mut object = json!({
        "kind": "event",
        "event": event.kind.name(),
        "demo_ms": event.demo_ms,
        "server_time": event.time.0,
        "offset": event.offset,
    });
    let Some(map) = object.as_object_mut() else { return object };
    let mut set = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
    match &event.kind {
        DemoEventKind::Level { map } => set("map", json!(map)),
        DemoEventKind::Restart => {}
        DemoEventKind::Frag { victim, killer, means } => {
            set("victim", json!(victim.number.index()));
            set("victim_name", json!(victim.name));
            set("killer", json!(killer.as_ref().map(|killer| killer.number.index())));
            set("killer_name", json!(killer.as_ref().map(|killer| &killer.name)));
            set("means", json!(means));
        }
        DemoEventKind::Flag(text) => set("text", json!(text)),
        DemoEventKind::Chat { text, .. }
        | DemoEventKind::Print(text)
        | DemoEventKind::Disconnect(text) => set("text", json!(text)),
        DemoEventKind::Name(player) | DemoEventKind::Leave(player) => {
            set("client", json!(player.number.index()));
            set("name", json!(player.name));
        }
    }
    object
}

fn gamestate_json(protocol: &Protocol, gamestate: &Gamestate, spares: &SpareFields) -> Value {
    let strings = gamestate.configstrings.iter();
    let strings: Map<_, _> =
        strings.map(|(index, text)| (index.to_string(), json!(text))).collect();
    let baselines = gamestate.baselines.iter();
    let baselines = baselines.map(|state| entity_json(protocol, state, spares));
    json!({
        "command": gamestate.command_num.0,
        "client": gamestate.client_num.map(ClientNum::index),
        "checksum_feed": gamestate.checksum_feed,
        "configstrings": strings,
        "baselines": baselines.collect::<Vec<_>>(),
    })
}

fn snapshot_json(protocol: &Protocol, snapshot: &DemoSnapshot) -> Value {
    let areas: String =
        snapshot.head.areas.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let entities = snapshot.entities.iter();
    let entities = entities.map(|state| entity_json(protocol, state, &snapshot.spares));
    json!({
        "server_time": snapshot.head.server_time.0,
        "delta": snapshot.head.delta_num,
        "flags": snapshot.head.flags.0,
        "areas": areas,
        "player": player_json(protocol, snapshot),
        "entities": entities.collect::<Vec<_>>(),
    })
}

fn entity_json(protocol: &Protocol, state: &EntityState, spares: &SpareFields) -> Value {
    let mut object = Map::new();
    object.insert("number".to_owned(), json!(state.number));
    let table = protocol.encoding.entity;
    object.extend(fields(table, state.words()));
    object.extend(spare_fields(table, spares.entity(state.number)));
    Value::Object(object)
}

fn player_json(protocol: &Protocol, snapshot: &DemoSnapshot) -> Value {
    let (table, player) = (protocol.encoding.player, &snapshot.player);
    let mut object: Map<_, _> = fields(table, player.words()).collect();
    object.extend(spare_fields(table, snapshot.spares.player()));
    for (name, values) in [
        ("stats", &player.stats),
        ("persistant", &player.persistant),
        ("ammo", &player.ammo),
        ("powerups", &player.powerups),
    ] {
        if values.iter().any(|value| *value != 0) {
            object.insert(name.to_owned(), json!(values));
        }
    }
    Value::Object(object)
}

fn fields<const WORDS: usize>(
    table: &'static FieldTable<WORDS>,
    words: &[u32; WORDS],
) -> impl Iterator<Item = (String, Value)> {
    table.set_fields(words).map(|(field, word)| {
        let value = match field.kind {
            FieldKind::Float => json!(f32::from_bits(word)),
            FieldKind::Int(_) | FieldKind::Signed(_) | FieldKind::Axis => json!(word as i32),
        };
        (field.name.to_owned(), value)
    })
}

/// Fields that the struct lacks. All of them are integers.
fn spare_fields<const WORDS: usize>(
    table: &'static FieldTable<WORDS>,
    values: impl Iterator<Item = (usize, u32)>,
) -> impl Iterator<Item = (String, Value)> {
    values.filter_map(|(at, value)| {
        Some((table.fields.get(at)?.name.to_owned(), json!(value as i32)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{DemoReader, sample};

    #[test]
    fn messages_are_objects_with_field_names() {
        let demo = sample::duel();
        let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
        let lines: Vec<_> = reader
            .by_ref()
            .map(|item| message_json(Protocol::Q3_68, &item.expect("a message"), 0))
            .collect();
        assert_eq!(lines[0]["gamestate"]["configstrings"]["5"], "old");
        assert_eq!(lines[0]["gamestate"]["baselines"][0]["number"], 70);
        let snapshot = &lines[21]["snapshot"];
        assert_eq!(snapshot["player"]["origin[0]"], 21.0);
        assert_eq!(snapshot["entities"][0]["pos.trBase[1]"], 80.0);
        assert_eq!(snapshot["entities"][1]["eType"], 73);
        assert_eq!(lines[11]["commands"][1]["text"], "chat \"^1Ann^7: hello\"");
    }
}
