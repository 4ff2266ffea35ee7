//! Bots whose server shows them anything: states out of range, texts, messages.
#![no_main]

#[allow(dead_code, unreachable_pub, reason = "shared with the tests")]
use std::sync::{Arc, LazyLock};

use fragd::testing::scripted_server::{Level, ScriptedServer, World};
use fragd::{
    bots::{Behavior, Behaviors, Bots, BotsOptions},
    client::Protocol,
    model::Millis,
    node::{Hosted as _, LocalPort, Node as _, OutputKind, Route},
    world::{Bsp, CollisionMap, TracePrecision},
};
use fragd_fuzz::{YARD, pieces};
use libfuzzer_sys::fuzz_target;

static MAP: LazyLock<Arc<CollisionMap>> = LazyLock::new(|| {
    let map = Bsp::load(&YARD).expect("a sound map");
    Arc::new(CollisionMap::new(&map, TracePrecision::Single).expect("sound surfaces"))
});

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let wire = Protocol::ALL[usize::from(*choice) % Protocol::ALL.len()];
    let remote = "10.0.0.1:27960".parse().expect("an address");
    let route = Route::new(LocalPort(0), remote);
    let mut now = Millis(1000);
    let mut options = BotsOptions::new(remote, wire, 1, Millis::seconds(60));
    options.behavior = Behaviors::PLAYER.with(Behavior::Chat);
    if choice & 16 != 0 {
        options.behavior = options.behavior.with(Behavior::Spectate);
    }
    options.reconnects = choice & 32 != 0;
    let with_map = choice & 64 == 0;
    let find = with_map.then(|| Box::new(|_: &str| Some(Arc::clone(&MAP))) as fragd::bots::FindMap);
    let mut bots = Bots::with_maps_and_meter(options, now, find, None);
    let mut server = ScriptedServer::new(wire);
    let mut packet = Vec::new();
    for _ in 0..200 {
        if server.peers.contains_key(&0) {
            break;
        }
        bots.frame(now);
        while bots.poll_transmit(&mut packet).is_some() {
            for reply in server.handle(0, &packet) {
                bots.handle_datagram(now, route, &reply);
            }
        }
        now = Millis(now.0 + 50);
    }
    let Some(peer) = server.peers.get_mut(&0) else { return };
    let level = Level::with_id(7);
    for datagram in peer.gamestate(&level) {
        bots.handle_datagram(now, route, &datagram);
    }
    let mut world = World::at(1000, &[3, 70]);
    for datagram in peer.snapshot(&world, None) {
        bots.handle_datagram(now, route, &datagram);
    }
    for piece in pieces(data, 24) {
        let [kind, body @ ..] = piece else { continue };
        let datagrams = match kind % 4 {
            0 => peer.send(&body[..body.len().min(16_000)]),
            1 => {
                let text: String = body.iter().take(300).map(|&byte| char::from(byte)).collect();
                if peer.commands.add(text.as_str().into()).is_err() {
                    continue;
                }
                peer.snapshot(&world, None)
            }
            // Any word of any state takes any value.
            _ => {
                change(&mut world, body);
                world.time = world.time.wrapping_add(50);
                world.player.command_time = world.time;
                peer.snapshot(&world, None)
            }
        };
        for datagram in datagrams {
            bots.handle_datagram(now, route, &datagram);
        }
        for _ in 0..1 + kind / 64 {
            now = Millis(now.0 + 17);
            bots.frame(now);
            while bots.poll_transmit(&mut packet).is_some() {}
            while bots.poll_output(OutputKind::Console).is_some() {}
        }
    }
    let _ = (bots.progress(), bots.in_game_and_wanted());
    let _ = bots.summary().to_string();
});

/// Sets words of the player's and the entities' states: a place and a value, six bytes each.
fn change(world: &mut World, bytes: &[u8]) {
    for [low, high, value @ ..] in bytes.as_chunks::<6>().0 {
        let (place, value) = (u16::from_le_bytes([*low, *high]), u32::from_le_bytes(*value));
        let (entity, word) = (usize::from(place >> 8), usize::from(place & 0xff));
        match world.entities.get_mut(entity) {
            // The first word is its number.
            Some(state) => {
                let words = state.words_mut();
                words[1 + word % (words.len() - 1)] = value;
            }
            None => {
                let words = world.player.words_mut();
                words[word % words.len()] = value;
            }
        }
    }
}
