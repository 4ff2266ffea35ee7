//! Tests of a server's parts: deltas of entities, delta bases, starts.

use proptest::prelude::*;

use super::{
    MAX_CLIENTS, QwServer, ServerOptions, Settings, StartError,
    answer::write_deltas,
    client::Client,
    level::{Level, baseline},
};
use crate::{
    model::{Millis, Qport, UnixMillis, assets::MemoryAssets},
    node::{LocalPort, Route},
    quakeworld::{
        Channel, End, EntityState, Extensions, ServerMessage,
        bytes::{Reader, Writer, round_coord},
        channel::peer::Peer,
        extensions::MVD1_FLOAT_COORDS,
    },
};

fn level() -> Level {
    let assets = MemoryAssets::default();
    Level::start("fragqw1", &assets, &Settings::default(), 1, Millis(0))
        .expect("map of the program")
}

fn options(settings: Settings) -> ServerOptions {
    ServerOptions {
        settings,
        assets: Box::new(MemoryAssets::default()),
        entropy: [1; 32],
        began: UnixMillis(0),
        lines: Vec::new(),
    }
}

#[test]
fn missing_first_map_is_named() {
    let mut settings = Settings::default();
    settings.set("map", "dm6").unwrap();
    let Err(StartError::Map { error, .. }) = QwServer::start(options(settings), Millis(0)) else {
        panic!("the map is not there")
    };
    assert_eq!(error.to_string(), "map dm6 not loaded: maps/dm6.bsp: not in the game data");
    let mut asked = options(Settings::default());
    asked.lines = vec!["map dm6".to_owned()];
    assert!(QwServer::start(asked, Millis(0)).is_err());
    let mut scripted = options(Settings::default());
    let mut assets = MemoryAssets::default();
    assets.insert("server.cfg", b"hostnme x\nmap dm6\n".to_vec()).unwrap();
    scripted.assets = Box::new(assets);
    let Err(StartError::Map { output, .. }) = QwServer::start(scripted, Millis(0)) else {
        panic!("the map is not there")
    };
    assert!(output.contains("hostnme"), "{output}");
}

#[test]
fn start_lines_apply_to_the_first_map() {
    let mut asked = options(Settings::default());
    asked.lines = vec!["sv_gravity 100; pm_airstep 1".to_owned()];
    let server = QwServer::start(asked, Millis(0)).unwrap();
    assert_eq!(server.level.vars.gravity.to_bits(), 100_f32.to_bits());
    assert_eq!(server.level.server_count, 1);
    let told = crate::quakeworld::info::value(server.settings.serverinfo(), "pm_airstep");
    assert_eq!(told, Some(&b"1"[..]));
}

#[test]
fn invalid_map_file_is_named() {
    let mut assets = MemoryAssets::default();
    assets.insert("maps/bad.bsp", vec![0; 4000]).unwrap();
    let error = Level::start("bad", &assets, &Settings::default(), 1, Millis(0)).unwrap_err();
    assert!(error.to_string().starts_with("map file maps/bad.bsp invalid: "), "{error}");
    for name in ["", "../bad", "a/b", "a\\b", "x y", &"a".repeat(60)] {
        let error = Level::start(name, &assets, &Settings::default(), 1, Millis(0)).unwrap_err();
        assert!(error.to_string().starts_with("map name invalid"), "{error}");
    }
}

#[test]
fn movers_of_the_map_are_entities_with_baselines() {
    let level = level();
    assert!(!level.entities.is_empty());
    for (at, entity) in level.entities.iter().enumerate() {
        assert_eq!(usize::from(entity.number), MAX_CLIENTS + 1 + at);
        let name = &level.models[usize::from(entity.state.model) - 1];
        assert!(name.starts_with('*'), "{name}");
        assert_eq!(baseline(&level.baselines, entity.number), entity.state);
    }
    assert_eq!(level.models.last().map(String::as_str), Some("progs/player.mdl"));
}

#[test]
fn delta_base_is_newest_sequence_with_low_byte() {
    let route = Route::new(LocalPort(0), ([192, 0, 2, 1], 1).into());
    let peer = Peer::new(route.remote, Qport(5));
    let mut client = Client::new(route, peer, Channel::new(End::Server(Qport(5))), Millis(0));
    let mut packet = 300_u32.to_le_bytes().to_vec();
    packet.extend_from_slice(&[0, 0, 0, 0, 5, 0]);
    let received = client.channel.receive(&packet).unwrap();
    client.channel.commit(&received, Millis(0));
    for (byte, sequence) in
        [(43, Some(299)), (44, None), (0, Some(256)), (250, Some(250)), (200, None)]
    {
        client.wanted_base = Some(byte);
        assert_eq!(client.base_sequence(), sequence, "{byte}");
    }
    let mut frame = client.take_frame(299);
    frame.entities.push((33, EntityState::default()));
    client.store_frame(frame);
    assert!(client.frame(299).is_some());
    assert!(client.frame(299 - 64).is_none());
    client.leave_level();
    assert!(client.frame(299).is_none());
}

fn states() -> impl Strategy<Value = Vec<(u16, EntityState)>> {
    let state = (0..4_u16, 0..3_u8, -100..100_i16).prop_map(|(model, frame, x)| EntityState {
        model,
        frame,
        origin: [f32::from(x) / 8.0, 0.0, round_coord(1.3)],
        ..EntityState::default()
    });
    proptest::collection::btree_map(33..70_u16, state, 0..30)
        .prop_map(|all| all.into_iter().collect())
}

proptest! {
    #[test]
    fn deltas_lead_to_what_is_remembered(
        old in states(),
        new in states(),
        room in 40..600_usize,
        is_float in any::<bool>(),
    ) {
        let mvd1 = if is_float { MVD1_FLOAT_COORDS } else { 0 };
        let ext = Extensions { mvd1, ..Extensions::NONE };
        let first = EntityState { model: 2, ..EntityState::default() };
        let baselines = [33, 34, 40].map(|number| (number, first));
        let mut kept = new.clone();
        let mut bytes = vec![48, 7];
        let mut writer = Writer::new(&mut bytes, room, ext);
        write_deltas(&mut writer, &old, &mut kept, &baselines);
        writer.write(&0_u16);
        prop_assert!(!writer.is_overflowed());
        let mut seen: std::collections::BTreeMap<u16, EntityState> = old.iter().copied().collect();
        let message = Reader::new(&bytes, ext).read();
        let Ok(ServerMessage::DeltaPacketEntities { from: 7, deltas }) = message else {
            panic!("{message:?}")
        };
        let mut last = 0;
        for delta in deltas.iter() {
            prop_assert!(delta.number > last);
            last = delta.number;
            if delta.is_removal() {
                prop_assert!(seen.remove(&delta.number).is_some());
            } else {
                let base = seen.get(&delta.number).copied();
                let base = base.unwrap_or_else(|| baseline(&baselines, delta.number));
                seen.insert(delta.number, delta.apply(&base));
            }
        }
        prop_assert_eq!(seen.into_iter().collect::<Vec<_>>(), kept.clone());
        if room > 590 {
            prop_assert_eq!(kept, new);
        }
    }
}
