//! Server state apart from the game: settings, client slots, level, guards, sender, console and
//! statistics.
//!
//! The server holds the game and this core side by side, so that a call of the game is passed parts of the
//! core as its host. Each part owns its data.

use std::collections::BTreeSet;

use super::{
    admins::Admins,
    archive::Archive,
    audience::Audience,
    audit::Audit,
    authorization::Authorizer,
    bots::BotSlots,
    client::{ClientSlots, ServerRole, slot_count},
    console::output::ConsoleStreams,
    current_level::Level,
    downloads::Downloads,
    frames::ServerFrames,
    game_log::GameLogBuffer,
    heartbeat::Announcer,
    pure::PureLevel,
    quality::Quality,
    recording::Recordings,
    sender::Sender,
    state_values::StateValues,
};
use crate::{
    bans::BanStore,
    game::GameFiles,
    limits::{PasswordGuard, SeenRequests},
    model::{ClientNum, ConfigIndex, Millis, UnixMillis},
    node::Drain,
    serving::{
        connection::Connections,
        guards::{GuardKeys, Guards},
        stats::Stats,
    },
    settings::Settings,
};

/// Keys of a server, from the operating system's random source.
pub(super) struct ServerKeys {
    pub(super) guards: GuardKeys,
    /// Seed of the address tables of rcon.
    pub(super) rcon: u64,
}

impl ServerKeys {
    /// Key of the numbers that the authorization service repeats.
    fn authorization(&self) -> u64 {
        // Another value than those of the address tables, from which nothing is published.
        self.rcon.rotate_left(32) ^ self.guards.limits.swap_bytes()
    }
}

/// Everything but the game.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) settings: Settings,
    pub(super) clients: ClientSlots,
    pub(super) bots: BotSlots,
    pub(super) level: Level,
    pub(super) frames: ServerFrames,
    pub(super) downloads: Downloads,
    pub(super) drain: Drain,
    /// Proof that clients owe on a pure server.
    pub(super) pure: Option<PureLevel>,
    pub(super) guards: Guards,
    pub(super) rcon: PasswordGuard,
    /// Signed rcon requests that have run.
    pub(super) seen_rcon: SeenRequests,
    pub(super) bans: BanStore,
    /// Settings that outlast the server.
    pub(super) archive: Archive,
    /// Acts of administrators.
    pub(super) audit: Audit,
    /// Other values that outlast the server.
    pub(super) values: StateValues,
    pub(super) admins: Admins,
    pub(super) announcer: Announcer,
    pub(super) authorizer: Authorizer,
    pub(super) sender: Sender,
    pub(super) stats: Stats,
    pub(super) quality: Quality,
    pub(super) console: ConsoleStreams,
    pub(super) game_log: GameLogBuffer,
    pub(super) recordings: Recordings,
    /// Files of the game.
    pub(super) files: GameFiles,
    /// Versions of the published serverinfo and systeminfo.
    pub(super) published: (u32, u32),
    /// Time of the call that is processed.
    pub(super) now: Millis,
    /// Calendar time at the zero of the clock, if known.
    pub(super) epoch: Option<UnixMillis>,
    /// Time in whole frames since the start, which snapshot intervals are measured by.
    pub(super) frame_time: Millis,
    /// Names of the maps that can be loaded, in alphabetical order.
    pub(super) map_names: Vec<String>,
    /// Clients that the game disconnects at the moment.
    pub(super) dropping: BTreeSet<ClientNum>,
    /// Drops requested while the game ran or a message was sent, with their reasons.
    pub(super) pending_drops: Vec<(ClientNum, String)>,
}

impl Core {
    pub(super) fn new(settings: Settings, map_names: Vec<String>, keys: ServerKeys) -> Self {
        Self {
            settings,
            clients: ClientSlots::default(),
            bots: BotSlots::default(),
            level: Level::none(),
            frames: ServerFrames::new(),
            downloads: Downloads::default(),
            drain: Drain::default(),
            pure: None,
            announcer: Announcer::default(),
            authorizer: Authorizer::new(keys.authorization()),
            guards: Guards::new(keys.guards),
            rcon: PasswordGuard::new(keys.rcon),
            seen_rcon: SeenRequests::default(),
            bans: BanStore::default(),
            archive: Archive::default(),
            audit: Audit::default(),
            values: StateValues::default(),
            admins: Admins::default(),
            sender: Sender::default(),
            stats: Stats::default(),
            quality: Quality::default(),
            console: ConsoleStreams::default(),
            game_log: GameLogBuffer::default(),
            recordings: Recordings::default(),
            files: GameFiles::default(),
            published: (0, 0),
            now: Millis(0),
            epoch: None,
            frame_time: Millis(0),
            map_names,
            dropping: BTreeSet::new(),
            pending_drops: Vec::new(),
        }
    }

    /// Hands what has changed to the state folder.
    pub(super) fn save_state(&mut self) {
        self.bans.save(self.now);
        self.archive.save(self.now);
        self.values.save(self.now);
    }

    /// Time at which a change is handed to the state folder.
    pub(super) fn save_due(&self) -> Millis {
        let due = [self.bans.write_due(), self.archive.write_due(), self.values.write_due()];
        due.into_iter().flatten().min().unwrap_or(Millis::NEVER)
    }

    /// Number of client slots.
    pub(super) fn slots(&self) -> usize {
        slot_count(&self.settings)
    }

    /// Parts that hold, limit and send to the connections.
    #[inline]
    pub(super) fn connections(&mut self) -> Connections<'_, ServerRole> {
        self.services().0
    }

    /// The connections, with the authorization and master clients that share their port.
    pub(super) fn services(
        &mut self,
    ) -> (Connections<'_, ServerRole>, &mut Authorizer, &mut Announcer) {
        let connections = Connections {
            slots: &mut self.clients,
            guards: &mut self.guards,
            outbox: &mut self.sender.outbox,
            writer: &mut self.sender.writer,
            stats: &mut self.stats,
            drops: &mut self.pending_drops,
            tap: &mut self.recordings,
            rates: &self.settings,
            level: self.level.served(),
            now: self.now,
        };
        (connections, &mut self.authorizer, &mut self.announcer)
    }

    /// Clients, bots and recordings, as commands go to them.
    pub(super) fn audience(&mut self) -> Audience<'_> {
        self.audience_and_level().0
    }

    /// Replaces a configstring and queues the change for clients that have the level.
    pub(super) fn publish(&mut self, index: ConfigIndex, value: &str) {
        let (mut audience, level) = self.audience_and_level();
        audience.publish(level, index, value);
    }

    /// Ends the drop of a client that the game has disconnected.
    pub(super) fn end_drop(&mut self, number: ClientNum, reason: &str) {
        let (mut audience, level) = self.audience_and_level();
        audience.end_drop(&level.configstrings, number, reason);
    }

    fn audience_and_level(&mut self) -> (Audience<'_>, &mut Level) {
        let audience = Audience {
            clients: &mut self.clients,
            bots: &mut self.bots,
            recordings: &mut self.recordings,
            stats: &mut self.stats,
            drops: &mut self.pending_drops,
            dropping: &mut self.dropping,
            now: self.now,
        };
        (audience, &mut self.level)
    }
}
