//! Events of the rules: sounds, effects, prints, scores.
//!
//! Source: QuakeWorld protocol 28, `sound`, `temp_entity`, `updatefrags`.

use super::{
    QwServer,
    client::Client,
    level::{Level, sound_number},
    view::{hears, sees},
};
use crate::{
    model::{Millis, Vec3},
    quakeworld::{
        ServerMessage,
        bytes::{Angle, Coord},
        effects::{Sound, TempEntity},
    },
    qwgame::{Cause, GameEvent},
};

/// Level of prints about deaths.
const PRINT_DEATHS: u8 = 1;
/// Maximum number of events that are handled at once.
const MAX_EVENTS: usize = 1024;
/// Channel of a player's voice.
const VOICE: u8 = 2;
/// Sound of a teleport.
const TELEPORT_SOUND: u8 = sound_number("misc/r_tele1.wav");

/// Sound of damage and text of a death by its cause.
struct CauseRow {
    hurt: u8,
    text: &'static str,
}

const fn row(hurt: &str, text: &'static str) -> CauseRow {
    CauseRow { hurt: sound_number(hurt), text }
}

const fn of_cause(cause: Cause) -> CauseRow {
    match cause {
        Cause::Suicide => row("player/pain1.wav", " suicides\n"),
        Cause::Lava => row("player/lburn1.wav", " burned in lava\n"),
        Cause::Slime => row("player/lburn1.wav", " dissolved in slime\n"),
        Cause::Drowning => row("player/drown1.wav", " drowned\n"),
        Cause::Fall => row("player/land2.wav", " fell too far\n"),
        Cause::Crushed => row("player/pain1.wav", " was crushed\n"),
        Cause::Trigger => row("player/pain1.wav", " was in the wrong place\n"),
        Cause::Telefrag(_) => row("player/teledth1.wav", " was telefragged by "),
    }
}

/// Handles the events of the rules.
pub(super) fn handle_events(server: &mut QwServer, now: Millis) {
    for _ in 0..MAX_EVENTS {
        let Some(event) = server.level.game.poll_event() else { return };
        match event {
            GameEvent::Appeared { slot, origin, angles } => appear(server, slot, origin, angles),
            GameEvent::Vanished { origin } => show_teleport(server, origin),
            GameEvent::Hurt { slot, damage, cause } => show_damage(server, slot, damage, cause),
            GameEvent::Died { slot, cause } => show_death(server, now, slot, cause),
            GameEvent::Frags { slot, frags } => set_frags(server, now, slot, frags),
        }
    }
}

fn appear(server: &mut QwServer, slot: usize, origin: Vec3, angles: Vec3) {
    if let Some(client) = &mut server.clients[slot] {
        client.new_angles = Some(angles.0.map(Angle::from_degrees));
        client.damage = super::client::Damage::default();
    }
    show_teleport(server, origin);
}

fn show_teleport(server: &mut QwServer, origin: Vec3) {
    if let Some(effect) = TempEntity::at(TempEntity::TELEPORT, origin.0.map(Coord)) {
        super::write_message(&mut server.scratch, &ServerMessage::TempEntity(effect));
        multicast(server, origin, sees);
    }
    play(server, 0, TELEPORT_SOUND, origin);
}

/// Plays a sound of an entity.
fn play(server: &mut QwServer, entity: u16, sound: u8, origin: Vec3) {
    let sound = Sound {
        entity,
        channel: if entity == 0 { 0 } else { VOICE },
        volume: None,
        attenuation: None,
        sound,
        origin: origin.0.map(Coord),
    };
    super::write_message(&mut server.scratch, &ServerMessage::Sound(sound));
    multicast(server, origin, hears);
}

/// Adds the message in `scratch` to the next packets of clients that notice it.
fn multicast(
    server: &mut QwServer,
    origin: Vec3,
    notices: fn(&crate::bsp29::Bsp29, Vec3, Vec3) -> bool,
) {
    let QwServer { clients, level, scratch, .. } = server;
    for (slot, client) in clients.iter_mut().enumerate() {
        let Some(client) = client.as_deref_mut().filter(|one| one.is_playing()) else {
            continue;
        };
        let place = ear(slot, client, level);
        if place.is_some_and(|place| notices(&level.map, place, origin)) {
            client.add_effect(scratch);
        }
    }
}

fn show_damage(server: &mut QwServer, slot: usize, damage: i32, cause: Cause) {
    let Some(view) = server.level.game.player(slot) else { return };
    if let Some(client) = &mut server.clients[slot] {
        client.damage.health = client.damage.health.saturating_add(damage);
        client.damage.from = view.state.origin;
    }
    play(server, slot as u16 + 1, of_cause(cause).hurt, view.state.origin);
}

fn show_death(server: &mut QwServer, now: Millis, slot: usize, cause: Cause) {
    let name = |slot: usize| {
        server.clients.get(slot).and_then(Option::as_deref).map(|one| one.name().to_vec())
    };
    let mut text = name(slot).unwrap_or_default();
    let killer = if let Cause::Telefrag(killer) = cause { name(killer) } else { None };
    server.frag_log.add(now, killer.as_deref().unwrap_or(&text), &text);
    text.extend_from_slice(of_cause(cause).text.as_bytes());
    if let Cause::Telefrag(_) = cause {
        text.extend(killer.unwrap_or_default());
        text.push(b'\n');
    }
    super::chat::print_all(server, PRINT_DEATHS, &text);
    if let Some(view) = server.level.game.player(slot) {
        play(server, slot as u16 + 1, sound_number("player/death1.wav"), view.state.origin);
    }
}

fn set_frags(server: &mut QwServer, now: Millis, slot: usize, frags: i32) {
    if let Some(client) = &mut server.clients[slot] {
        client.frags = frags;
    }
    let shown = frags.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    server.broadcast(&ServerMessage::UpdateFrags { player: slot as u8, frags: shown });
    super::rotation::check_limits(server, now);
}

/// Place from which a client hears: its player, or the one that it follows.
fn ear(slot: usize, client: &Client, level: &Level) -> Option<Vec3> {
    let followed = client.follows.and_then(|other| level.game.player(other));
    Some(followed.or_else(|| level.game.player(slot))?.state.origin)
}
