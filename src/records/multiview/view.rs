//! Spectator's view: demo of a followed player, or from a fixed place.
//!
//! Every server frame becomes a snapshot, a delta to the one before. Entities are those of the followed
//! player's snapshots, those visible from the place on the map, or all.
//!
//! Invariants: a snapshot has at most 256 entities; server time never decreases in a demo.

use std::{collections::VecDeque, sync::Arc};

use super::{decoder::Decoder, decoder::Record, scene::Scene};
use crate::{
    bg::{Persistent, PmType, Team, pm_flag},
    model::{
        ClientNum, CommandNum, EntitySet, EntityState, LevelTime, PlayerState, SvFlags, Vec3,
        limits::{MAX_CLIENTS, MAX_SNAPSHOT_ENTITIES},
    },
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file, server_message,
        snapshot::{self, AreaMask, SnapFlags, SnapshotHeader, SnapshotView},
    },
    world::Bsp,
};

/// First sequence of a demo.
const FIRST_SEQUENCE: u32 = 1;
/// Most commands of one message, so that it has room for a snapshot.
const COMMANDS_PER_MESSAGE: usize = 8;
/// Heights above an entity's origin that are tested for visibility.
const PROBES: [f32; 3] = [0.0, 24.0, -16.0];
/// `solid` of an entity that is a brush model of the map.
const BRUSH_MODEL: i32 = 0xff_ffff;

/// Position of a spectator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Viewpoint {
    /// Through a player.
    Follow(ClientNum),
    /// At a place, with a yaw in degrees. It sees what is visible there if the map is known, else all.
    Free(Vec3, f32),
}

/// Content of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Playerstate.
    pub player: PlayerState,
    /// Visible entities.
    pub seen: EntitySet,
    /// Hidden areas.
    pub areas: AreaMask,
}

impl Viewpoint {
    /// Returns what a spectator sees in the last frame. `None` while the followed player is not in the game.
    #[must_use]
    pub fn shown(self, decoder: &Decoder, map: Option<&Bsp>) -> Option<Shown> {
        let scene = decoder.scene();
        let mut shown = match self {
            Self::Follow(client) => {
                let mut player = *scene.player(client)?;
                player.pm_flags |= pm_flag::FOLLOW;
                let track = decoder.track(client);
                let seen =
                    track.map_or_else(|| scene.present().clone(), |track| track.seen.clone());
                let areas = track.map(|track| track.areas).unwrap_or_default();
                Shown { player, seen, areas }
            }
            Self::Free(origin, yaw) => {
                let mut player = PlayerState {
                    pm_type: PmType::Spectator as i32,
                    origin,
                    viewangles: Vec3::new(0.0, yaw, 0.0),
                    client_num: free_slot(scene),
                    ..PlayerState::default()
                };
                player.persistant[Persistent::Team as usize] = Team::Spectator as i32;
                let seen = match map {
                    None => scene.present().clone(),
                    Some(map) => visible(scene, map, origin),
                };
                Shown { player, seen, areas: AreaMask::default() }
            }
        };
        shown.seen.keep_all(scene.present());
        for (number, entity) in scene.entities() {
            if is_private(&entity.flags) || number.index() as i32 == shown.player.client_num {
                shown.seen.remove(number);
            }
        }
        shown.seen.keep_lowest(MAX_SNAPSHOT_ENTITIES);
        Some(shown)
    }
}

/// Whether an entity is for some clients only.
fn is_private(flags: &SvFlags) -> bool {
    [SvFlags::SINGLE_CLIENT, SvFlags::CLIENT_MASK].into_iter().any(|flag| flags.contains(flag))
}

/// Highest client slot without a player.
fn free_slot(scene: &Scene) -> i32 {
    let free = ClientNum::all().rev().find(|client| scene.player(*client).is_none());
    free.map_or(MAX_CLIENTS as i32 - 1, |client| client.index() as i32)
}

/// Entities of a scene visible from a place. Doors count as open, since their state is not recorded.
fn visible(scene: &Scene, map: &Bsp, eye: Vec3) -> EntitySet {
    let row = map.viewpoint(eye);
    let mut seen = EntitySet::default();
    for (number, entity) in scene.entities() {
        let state = entity.state;
        // A brush model is at its place in the map, and its origin is an offset.
        let is_everywhere = entity.flags.contains(SvFlags::BROADCAST) || state.solid == BRUSH_MODEL;
        let mut clusters = PROBES
            .into_iter()
            .filter_map(|height| {
                map.viewpoint(state.pos.base + Vec3::new(0.0, 0.0, height)).cluster
            })
            .peekable();
        // An entity inside a wall may reach out of it.
        if is_everywhere
            || clusters.peek().is_none()
            || clusters.any(|cluster| row.row.contains(cluster))
        {
            seen.insert(number);
        }
    }
    seen
}

/// The last snapshot of a demo, as a delta base.
#[derive(Clone, Debug, Default)]
struct Sent {
    player: PlayerState,
    entities: Vec<EntityState>,
}

/// Demo of a spectator.
pub struct SpectatorDemo {
    viewpoint: Viewpoint,
    protocol: &'static Protocol,
    sequence: u32,
    command: CommandNum,
    waiting: VecDeque<Arc<str>>,
    last: Option<Sent>,
    time: Option<LevelTime>,
    /// Whether the last frame has no snapshot yet.
    owes_frame: bool,
    writer: BitWriter,
}

impl SpectatorDemo {
    /// Creates a demo in a protocol.
    #[must_use]
    pub fn new(viewpoint: Viewpoint, protocol: &'static Protocol) -> Self {
        Self {
            viewpoint,
            protocol,
            sequence: FIRST_SEQUENCE,
            command: CommandNum(0),
            waiting: VecDeque::new(),
            last: None,
            time: None,
            owes_frame: false,
            writer: BitWriter::new(),
        }
    }

    /// Number of messages written.
    #[must_use]
    pub fn messages(&self) -> u32 {
        self.sequence - FIRST_SEQUENCE
    }

    /// Appends what a record adds to the demo. The decoder is behind that record.
    pub fn record(
        &mut self,
        decoder: &Decoder,
        record: &Record,
        map: Option<&Bsp>,
        out: &mut Vec<u8>,
    ) {
        match record {
            Record::Broadcast(text) => self.waiting.push_back(Arc::clone(text)),
            Record::Configstring(index) => {
                let commands = server_message::configstring_commands(*index, decoder.text(*index));
                self.waiting.extend(commands);
            }
            Record::Frame => self.owes_frame = true,
            Record::Key | Record::Start(_) | Record::End(_) | Record::Message(..) => {}
        }
        // Messages behind a frame have the visible entities of its players.
        if decoder.is_frame_complete() && std::mem::take(&mut self.owes_frame) {
            self.frame(decoder, map, out);
        }
    }

    fn frame(&mut self, decoder: &Decoder, map: Option<&Bsp>, out: &mut Vec<u8>) {
        let time = decoder.scene().time();
        if self.time.is_some_and(|last| time < last) {
            return;
        }
        let Some(shown) = self.viewpoint.shown(decoder, map) else { return };
        if self.time.is_none() {
            let client = usize::try_from(shown.player.client_num).ok().and_then(ClientNum::new);
            let Some(client) = client else { return };
            // The gamestate has every configstring, so commands in front of it are void.
            self.waiting.clear();
            let writer = &mut self.writer;
            decoder.write_gamestate(writer, self.protocol, client, CommandNum(0), self.command);
            self.end_message(out);
        }
        self.time = Some(time);
        self.snapshot(decoder, &shown, out);
    }

    fn snapshot(&mut self, decoder: &Decoder, shown: &Shown, out: &mut Vec<u8>) {
        let entities: Vec<_> = decoder
            .scene()
            .entities()
            .filter(|(number, _)| shown.seen.contains(*number))
            .map(|(_, entity)| *entity.state)
            .collect();
        server_message::begin(&mut self.writer, self.protocol, CommandNum(0));
        for _ in 0..COMMANDS_PER_MESSAGE {
            let Some(text) = self.waiting.pop_front() else { break };
            self.command = self.command.next();
            server_message::write_command(&mut self.writer, self.command, text.as_bytes());
        }
        snapshot::begin(&mut self.writer, CommandNum(0));
        let nothing = Sent::default();
        let old = self.last.as_ref();
        let head = SnapshotHeader {
            server_time: decoder.scene().time(),
            delta_num: u8::from(old.is_some()),
            flags: SnapFlags::default(),
            areas: shown.areas,
        };
        let old = old.unwrap_or(&nothing);
        snapshot::write(
            &mut self.writer,
            &head,
            SnapshotView { player: &old.player, entities: old.entities.iter() },
            SnapshotView { player: &shown.player, entities: entities.iter() },
            |number| decoder.baselines().get(number),
        );
        server_message::end(&mut self.writer);
        if self.writer.overflowed() {
            // Unreachable: 256 entities fit.
            return;
        }
        self.last = Some(Sent { player: shown.player, entities });
        self.end_message(out);
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        demo_file::write_record(out, self.sequence, self.writer.message());
        self.sequence += 1;
    }
}
