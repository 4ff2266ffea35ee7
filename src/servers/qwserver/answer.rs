//! Answers to packets of clients: pace, reliable messages, players and entities in sight, effects.
//!
//! Order of an answer: choked answers, damage, view angles, time, players, entities, effects. Entities that do not
//! fit are left out one by one, then effects.
//!
//! Source: QuakeWorld protocol 28, server frame, `playerinfo`, `packetentities`.

use super::{
    MAX_CLIENTS, QwCounter, QwServer,
    client::{Client, MAX_STATS, SentFrame, Stage},
    level::{Level, baseline},
    players::player_info,
    view,
};
use crate::{
    bsp29::LeafSet,
    model::{Millis, Vec3},
    quakeworld::{
        EntityDelta, EntityState, Extensions, ServerMessage,
        bytes::{Coord, Writer},
        level::SetAngle,
    },
    qwgame::movement::{PLAYER_MAXS, PLAYER_MINS},
};

/// Number of the message with all entities, and of that with changes.
const ENTITIES: [u8; 2] = [47, 48];
/// Maximum number of entities in a packet.
const MAX_ENTITIES: usize = 64;
/// Bytes that the end of a list and an entity take at most.
const ENTITY_ROOM: usize = 32;
/// Bytes that the client's own player, another player and an empty list of entities take at most.
const OWN_ROOM: usize = 96;
/// Bytes of a list of entities without entities, and its message number and base.
const EMPTY_LIST: usize = 4;
/// Stat with the server time in ms, and the time between two of them.
const TIME_STAT: (u8, Millis) = (17, Millis::seconds(5));
/// Reliable bytes that may wait while stats are added.
const STATS_QUEUE: usize = 1000;

/// Stats that the server sends.
pub(super) mod stat {
    pub(crate) const HEALTH: usize = 0;
    pub(crate) const VIEW_HEIGHT: usize = 16;
}

impl QwServer {
    /// Answers the packets of a client, if one is due.
    pub(super) fn answer(&mut self, now: Millis, slot: usize) {
        let Self { clients, level, counters, message, .. } = self;
        let Some(client) = &mut clients[slot] else { return };
        if !client.channel.is_answer_due() {
            return;
        }
        if !client.channel.may_send(now) {
            client.choke.add();
            client.channel.skip_answer();
            return counters.bump(QwCounter::Choked);
        }
        message.clear();
        if client.is_playing() {
            let viewed = client.follows.filter(|other| level.game.player(*other).is_some());
            self.queue_stats(slot, viewed.unwrap_or(slot));
            self.write_game(now, slot, viewed.unwrap_or(slot));
        } else if client.is_connected()
            && let Some(count) = client.choke.take()
        {
            // In a download, answers that were left out would seem lost.
            super::write_message(message, &ServerMessage::ChokeCount { count });
        }
        let Self { clients, counters, message, outbox, .. } = self;
        let Some(client) = &mut clients[slot] else { return };
        let (route, copies, channel) = (client.route(), client.copies, &mut client.channel);
        let (mut sent, mut copy) = (None, Vec::new());
        outbox.push_with(route, |out| match channel.transmit(message, now, out) {
            Ok(done) => {
                sent = Some(done);
                if copies > 0 {
                    copy.clone_from(out);
                }
            }
            Err(_) => out.clear(),
        });
        let Some(sent) = sent else {
            client.is_overflowed |= client.stage != Stage::Zombie;
            return;
        };
        for _ in 0..copies {
            outbox.push(route, &copy);
        }
        counters.bump(QwCounter::Answered);
        counters.add(QwCounter::Repeated, u64::from(sent.is_repeated));
        counters.add(QwCounter::LeftOut, u64::from(sent.left_out));
    }

    /// Writes the unreliable message of a client in the game.
    fn write_game(&mut self, now: Millis, slot: usize, viewed: usize) {
        let Self { clients, level, message, visible, .. } = self;
        let Some(client) = &mut clients[slot] else { return };
        // Reliable messages of the packet come first.
        let limit = client.channel.max_message().saturating_sub(client.channel.next_reliable_len());
        let mut writer = Writer::new(message, limit, client.extensions);
        write_own(&mut writer, now, client, level);
        let eye = level
            .game
            .player(viewed)
            .map_or(Vec3::ZERO, |view| view.state.origin + Vec3::new(0.0, 0.0, view.view_height));
        view::find_visible(&level.map, eye, visible);
        write_players(&mut writer, now, slot, clients, level, visible);
        let Some(client) = &mut clients[slot] else { return };
        write_entities(&mut writer, client, level, visible, eye);
        let effects = std::mem::take(&mut client.effects);
        writer.attempt(|writer| writer.put(&effects));
        client.effects = effects;
        client.effects.clear();
    }

    /// Queues stats that changed.
    fn queue_stats(&mut self, slot: usize, viewed: usize) {
        let Self { clients, level, scratch, .. } = self;
        let Some(client) = &mut clients[slot] else { return };
        let Some(view) = level.game.player(viewed) else { return };
        let mut stats = [0; MAX_STATS];
        stats[stat::HEALTH] = view.health;
        stats[stat::VIEW_HEIGHT] = view.view_height as i32;
        if stats == client.stats || client.channel.queued_len() > STATS_QUEUE {
            return;
        }
        for (at, (new, old)) in stats.iter().zip(client.stats).enumerate() {
            if *new == old {
                continue;
            }
            let message = match u8::try_from(*new) {
                Ok(value) => ServerMessage::UpdateStat { stat: at as u8, value },
                Err(_) => ServerMessage::UpdateStatLong { stat: at as u8, value: *new },
            };
            super::write_message(scratch, &message);
            client.queue(scratch);
        }
        client.stats = stats;
    }
}

/// Writes what concerns the client alone. What does not fit beside its player waits for the next answer.
fn write_own(writer: &mut Writer<'_>, now: Millis, client: &mut Client, level: &Level) {
    let fits = |writer: &Writer<'_>| writer.room() >= OWN_ROOM;
    if fits(writer)
        && let Some(count) = client.choke.take()
    {
        writer.write(&ServerMessage::ChokeCount { count });
    }
    if fits(writer) && client.damage.health > 0 {
        let damage = std::mem::take(&mut client.damage);
        writer.write(&ServerMessage::Damage {
            armor: 0,
            health: damage.health.min(255) as u8,
            from: damage.from.0.map(Coord),
        });
    }
    if fits(writer)
        && let Some(angles) = client.new_angles.take()
    {
        writer.write(&ServerMessage::SetAngle(SetAngle { reason: 0, angles }));
    }
    let knows_time = client.z_extensions & 8 != 0;
    let is_time_due = client.time_stat_at == Millis(0) || now >= client.time_stat_at + TIME_STAT.1;
    if fits(writer) && knows_time && is_time_due {
        client.time_stat_at = now;
        let value = now.since(level.started).0 as i32;
        writer.write(&ServerMessage::UpdateStatLong { stat: TIME_STAT.0, value });
    }
}

/// Writes the players in sight.
fn write_players(
    writer: &mut Writer<'_>,
    now: Millis,
    slot: usize,
    clients: &mut [Option<Box<Client>>; MAX_CLIENTS],
    level: &Level,
    visible: &LeafSet,
) {
    let Some(own) = clients[slot].as_deref() else { return };
    let followed = own.follows.filter(|_| own.is_spectator);
    for (other, client) in clients.iter_mut().enumerate() {
        let is_own = other == slot;
        let Some(client) = client
            .as_deref_mut()
            .filter(|client| client.is_playing() && (is_own || !client.is_spectator))
        else {
            continue;
        };
        if is_own {
            if let Some(view) = level.game.player(other) {
                let info = player_info(now, other, client, &view, true, level.player_model);
                writer.attempt(|writer| writer.write(&ServerMessage::PlayerInfo(info)));
            }
            continue;
        }
        let ext = writer.extensions();
        if !encode_player(now, other, client, level, ext) {
            continue;
        }
        // The own player and the entities need room behind the others.
        let is_seen = followed == Some(other) || client.leafs.is_in(visible);
        if is_seen && writer.room() >= OWN_ROOM {
            let msec = client.command_age(now);
            writer.attempt(|writer| writer.put(client.encoded.message(msec, ext)));
        }
    }
}

/// Finds the leafs of a player and encodes it for others, unless nothing has changed. Without a player it is `false`.
fn encode_player(
    now: Millis,
    slot: usize,
    client: &mut Client,
    level: &Level,
    ext: Extensions,
) -> bool {
    let revision = level.game.revision(slot);
    if client.encoded.is_of(revision, ext) && client.leafs.is_known() {
        return true;
    }
    let Some(view) = level.game.player(slot) else { return false };
    let origin = view.state.origin;
    client.leafs.find(&level.map, origin + PLAYER_MINS, origin + PLAYER_MAXS);
    let info = player_info(now, slot, client, &view, false, level.player_model);
    client.encoded.encode(revision, &info, ext);
    true
}

/// Writes the entities in sight, as changes if the client has the base.
fn write_entities(
    writer: &mut Writer<'_>,
    client: &mut Client,
    level: &Level,
    visible: &LeafSet,
    eye: Vec3,
) {
    if writer.room() < EMPTY_LIST {
        return;
    }
    let base = client.base_sequence().filter(|sequence| client.frame(*sequence).is_some());
    let mut frame = client.take_frame(client.channel.outgoing());
    select(&mut frame, level, visible, eye);
    match base {
        Some(sequence) => {
            writer.write(&ENTITIES[1]);
            writer.write(&(sequence as u8));
        }
        None => writer.write(&ENTITIES[0]),
    }
    let old = base.and_then(|sequence| client.frame(sequence)).map_or(&[][..], |old| &old.entities);
    write_deltas(writer, old, &mut frame.entities, &level.baselines);
    writer.write(&0_u16);
    client.store_frame(frame);
}

/// Collects the entities in sight, ascending; the farthest are left out.
fn select(frame: &mut SentFrame, level: &Level, visible: &LeafSet, eye: Vec3) {
    let seen = level.entities.iter().filter(|entity| entity.leafs.is_in(visible));
    frame.entities.extend(seen.map(|entity| (entity.number, entity.state)));
    if frame.entities.len() > MAX_ENTITIES {
        let distance = |number: u16| {
            let at = level.entities.binary_search_by_key(&number, |entity| entity.number);
            at.map_or(f32::MAX, |at| (level.entities[at].center - eye).length())
        };
        frame.entities.sort_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        frame.entities.truncate(MAX_ENTITIES);
        frame.entities.sort_by_key(|(number, _)| *number);
    }
}

/// Writes the changes from `old` to `new`. What does not fit stays as it was, also in `new`.
pub(super) fn write_deltas(
    writer: &mut Writer<'_>,
    old: &[(u16, EntityState)],
    new: &mut Vec<(u16, EntityState)>,
    baselines: &[(u16, EntityState)],
) {
    let ext = writer.extensions();
    let (mut from, mut at) = (old.iter().peekable(), 0);
    loop {
        let has_room = writer.room() >= ENTITY_ROOM;
        let next_old = from.peek().map(|(number, _)| *number);
        let next_new = new.get(at).map(|(number, _)| *number);
        match (next_old, next_new) {
            (None, None) => return,
            (Some(gone), number) if number.is_none_or(|number| gone < number) => {
                let removed = from.next().copied();
                if has_room {
                    writer.write(&EntityDelta::removal(gone));
                } else if let Some(kept) = removed {
                    new.insert(at, kept);
                    at += 1;
                }
            }
            (before, Some(number)) => {
                let is_known = before == Some(number);
                let old = if is_known { from.next().map(|(_, state)| *state) } else { None };
                let state = new[at].1;
                let delta = match &old {
                    Some(old) => EntityDelta::between(number, old, &state, ext),
                    None => EntityDelta::between(number, &baseline(baselines, number), &state, ext),
                };
                if is_known && delta.is_empty() {
                    at += 1;
                } else if has_room {
                    writer.write(&delta);
                    at += 1;
                } else if let Some(old) = old {
                    new[at].1 = old;
                    at += 1;
                } else {
                    new.remove(at);
                }
            }
            (Some(_), None) => return,
        }
    }
}
