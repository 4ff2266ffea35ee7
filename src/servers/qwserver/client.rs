//! Client slot: channel, settings of the player, what was sent, what waits to be sent.
//!
//! Invariants: memory of a slot is bounded; nothing of a client refers to another client but by its slot.

use std::net::{IpAddr, SocketAddr};

use super::chat::ChatLimit;
use super::download::Transfer;
use super::encoded_player::EncodedPlayer;
use super::view::LeafList;
use crate::{
    limits::{Bucket, BucketLimit},
    model::{Millis, Vec3},
    node::{LocalPort, Route},
    quakeworld::{
        Channel, EntityState, Extensions, Usercmd,
        bytes::Angle,
        channel::{
            MAX_MESSAGE_LEN,
            pacing::ChokeCounter,
            peer::Peer,
            timing::{FRAMES, ServerTiming, frame_index},
        },
        info::Info,
    },
    qwgame::movement::SpeedCheck,
};

/// Number of slots.
pub(super) const MAX_CLIENTS: usize = 32;
/// Longest userinfo that is kept.
pub(super) const MAX_USERINFO_LEN: usize = 512;
/// Number of stats.
pub(super) const MAX_STATS: usize = 32;
/// Reliable bytes that may wait while prints about others are added: half of what fits.
const MAX_PRINTS_QUEUED: usize = 2 * MAX_MESSAGE_LEN;
/// Changes of the userinfo that others are told at once; more are collected.
const INFO_LIMIT: BucketLimit = BucketLimit { burst: 12, period: Millis(500) };
/// Changes of the name, which clients print.
const NAME_LIMIT: BucketLimit = BucketLimit { burst: 5, period: Millis::seconds(2) };
/// Commands with an effect on others, such as `kill` and `observe`.
const ACTION_LIMIT: BucketLimit = BucketLimit { burst: 3, period: Millis::seconds(2) };

/// Progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Receives the start of the level and its lists.
    Connected,
    /// Receives the other players. It is told of changes.
    Spawning,
    /// In the game.
    Playing,
    /// Dropped; the last message is repeated until it arrives.
    Zombie,
}

/// Entities of a sent packet, for deltas.
#[derive(Clone, Debug, Default)]
pub(super) struct SentFrame {
    /// Sequence; 0 for none.
    pub(super) sequence: u32,
    /// Entities, ascending.
    pub(super) entities: Vec<(u16, EntityState)>,
}

/// Damage since the last packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Damage {
    pub(super) health: i32,
    pub(super) from: Vec3,
}

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) stage: Stage,
    pub(super) peer: Peer,
    pub(super) local: LocalPort,
    pub(super) local_ip: Option<IpAddr>,
    pub(super) user_id: i32,
    pub(super) channel: Channel,
    /// Copies of each answer that the client asks for.
    pub(super) copies: u8,
    pub(super) timing: ServerTiming,
    pub(super) info: Info,
    /// Whether others are still to be told of a changed userinfo.
    pub(super) is_info_due: bool,
    pub(super) info_limit: Bucket,
    pub(super) action_limit: Bucket,
    pub(super) name_limit: Bucket,
    /// Extensions of the messages to the client.
    pub(super) extensions: Extensions,
    /// Extensions of ZQuake that the client has.
    pub(super) z_extensions: u32,
    pub(super) is_spectator: bool,
    pub(super) connected_at: Millis,
    pub(super) last_packet: Millis,
    /// Whether others were told of the client.
    pub(super) is_announced: bool,
    /// Whether a packet of the channel arrived.
    pub(super) has_spoken: bool,
    pub(super) choke: ChokeCounter,
    /// Low byte of the sequence that the current packet asks to delta from.
    pub(super) wanted_base: Option<u8>,
    frames: Box<[SentFrame; FRAMES]>,
    pub(super) command: Usercmd,
    pub(super) command_at: Millis,
    pub(super) speed: SpeedCheck,
    /// Loss that the client measures, in percent.
    pub(super) loss: u8,
    /// Lowest level of prints.
    pub(super) message_level: u8,
    pub(super) stats: [i32; MAX_STATS],
    pub(super) time_stat_at: Millis,
    /// Unreliable messages for the next packet.
    pub(super) effects: Vec<u8>,
    pub(super) damage: Damage,
    pub(super) new_angles: Option<[Angle; 3]>,
    /// Followed player of a spectator.
    pub(super) follows: Option<usize>,
    pub(super) frags: i32,
    pub(super) leafs: LeafList,
    pub(super) encoded: EncodedPlayer,
    pub(super) transfer: Option<Transfer>,
    pub(super) chat: ChatLimit,
    /// Time of the drop of a zombie.
    pub(super) dropped_at: Millis,
    /// Set when the reliable messages do not fit.
    pub(super) is_overflowed: bool,
}

impl Client {
    /// Creates the client of a granted slot.
    pub(super) fn new(route: Route, peer: Peer, channel: Channel, now: Millis) -> Self {
        Self {
            stage: Stage::Connected,
            peer,
            local: route.local,
            local_ip: route.local_ip,
            user_id: 0,
            channel,
            copies: 0,
            timing: ServerTiming::default(),
            info: Info::new(MAX_USERINFO_LEN),
            is_info_due: false,
            info_limit: Bucket::default(),
            action_limit: Bucket::default(),
            name_limit: Bucket::default(),
            extensions: Extensions::NONE,
            z_extensions: 0,
            is_spectator: false,
            connected_at: now,
            last_packet: now,
            is_announced: false,
            has_spoken: false,
            choke: ChokeCounter::default(),
            wanted_base: None,
            frames: Box::new(std::array::from_fn(|_| SentFrame::default())),
            command: Usercmd::ZERO,
            command_at: now,
            speed: SpeedCheck::new(now),
            loss: 0,
            message_level: 0,
            stats: [0; MAX_STATS],
            time_stat_at: Millis(0),
            effects: Vec::new(),
            damage: Damage::default(),
            new_angles: None,
            follows: None,
            frags: 0,
            leafs: LeafList::default(),
            encoded: EncodedPlayer::default(),
            transfer: None,
            chat: ChatLimit::default(),
            dropped_at: Millis(0),
            is_overflowed: false,
        }
    }

    /// Route of datagrams to the client.
    pub(super) const fn route(&self) -> Route {
        Route { local: self.local, local_ip: self.local_ip, remote: self.peer.address() }
    }

    /// Address of the client.
    pub(super) const fn address(&self) -> SocketAddr {
        self.peer.address()
    }

    /// Age of the newest usercmd in ms, as others are told.
    pub(super) fn command_age(&self, now: Millis) -> u8 {
        now.since(self.command_at).0.min(255) as u8
    }

    /// Whether the client is connected, not a zombie.
    pub(super) fn is_connected(&self) -> bool {
        self.stage != Stage::Zombie
    }

    /// Whether the client is in the game.
    pub(super) fn is_playing(&self) -> bool {
        self.stage == Stage::Playing
    }

    /// Whether the client is told of changes.
    pub(super) const fn is_told(&self) -> bool {
        matches!(self.stage, Stage::Spawning | Stage::Playing)
    }

    /// Name of the player.
    pub(super) fn name(&self) -> &[u8] {
        self.info.get("name").unwrap_or(b"unnamed")
    }

    /// Team of the player; empty without one.
    pub(super) fn team(&self) -> &[u8] {
        self.info.get("team").unwrap_or_default()
    }

    /// Queues a piece of a reliable message. Without room, the client is dropped in the next frame.
    pub(super) fn queue(&mut self, piece: &[u8]) {
        if self.is_connected() && self.channel.queue_reliable(piece).is_err() {
            self.is_overflowed = true;
        }
    }

    /// Queues a print about others. A client whose reliable messages pile up misses it, rather than to overflow.
    pub(super) fn queue_print(&mut self, piece: &[u8]) {
        if self.channel.queued_len() <= MAX_PRINTS_QUEUED {
            self.queue(piece);
        }
    }

    /// Queues an unreliable message for the next packet. Without room it is left out.
    pub(super) fn add_effect(&mut self, message: &[u8]) {
        if self.is_playing() && self.effects.len() + message.len() <= MAX_MESSAGE_LEN {
            self.effects.extend_from_slice(message);
        }
    }

    /// Whether others may be told of a change of the userinfo at once.
    pub(super) fn may_tell_info(&mut self, now: Millis) -> bool {
        self.info_limit.allows(now, INFO_LIMIT)
    }

    /// Whether a change of the name is permitted.
    pub(super) fn may_rename(&mut self, now: Millis) -> bool {
        self.name_limit.allows(now, NAME_LIMIT)
    }

    /// Whether a command with an effect on others is permitted.
    pub(super) fn may_act(&mut self, now: Millis) -> bool {
        self.action_limit.allows(now, ACTION_LIMIT)
    }

    /// Full sequence of the delta base that the current packet asks for.
    pub(super) fn base_sequence(&self) -> Option<u32> {
        let low = u32::from(self.wanted_base?);
        let newest = self.channel.incoming();
        let same = newest & !0xff | low;
        let sequence = if same >= newest { same.checked_sub(256)? } else { same };
        // Clients give up a base that is 63 packets old.
        (newest - sequence < FRAMES as u32 - 1).then_some(sequence)
    }

    /// Sent packet of a sequence.
    pub(super) fn frame(&self, sequence: u32) -> Option<&SentFrame> {
        let frame = &self.frames[frame_index(sequence)];
        (sequence != 0 && frame.sequence == sequence).then_some(frame)
    }

    /// Takes the memory of the frame that `sequence` replaces.
    pub(super) fn take_frame(&mut self, sequence: u32) -> SentFrame {
        let mut frame = std::mem::take(&mut self.frames[frame_index(sequence)]);
        frame.sequence = sequence;
        frame.entities.clear();
        frame
    }

    /// Stores a sent packet.
    pub(super) fn store_frame(&mut self, frame: SentFrame) {
        let at = frame_index(frame.sequence);
        self.frames[at] = frame;
    }

    /// Forgets everything of the level.
    pub(super) fn leave_level(&mut self) {
        self.stage = self.stage.min(Stage::Connected);
        self.frames.iter_mut().for_each(|frame| frame.sequence = 0);
        self.effects.clear();
        self.damage = Damage::default();
        self.new_angles = None;
        self.stats = [0; MAX_STATS];
        self.time_stat_at = Millis(0);
        self.command = Usercmd::ZERO;
        self.encoded.forget();
        self.transfer = None;
        self.wanted_base = None;
        self.frags = 0;
    }
}
