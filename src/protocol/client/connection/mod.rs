//! Established connection: messages in both directions and their effects.
//!
//! ```text
//! receive ─ channel ─ unscramble ─ Inbound::read ─┬ protocol error: message dropped
//!                                                 └ valid: acknowledge, commands, gamestate or snapshot
//! send ──── header, unacknowledged commands, usercmds ─ channel
//! ```
//!
//! Source: Quake III protocol 68, packets of a client, delta requests, commands.

mod detection;
mod packet_schedule;
mod proof;
mod receive;
#[cfg(test)]
mod recorded;
mod scrambling;
mod send;

use std::sync::Arc;

use crate::{
    model::{
        Baselines, CommandNum, ConfigIndex, LevelTime, Millis, UserCmd,
        limits::MAX_RELIABLE_COMMANDS,
    },
    netchan::{AddError, Channel, ChannelSide, IncomingCommands, OutgoingCommands},
    wire::bits::BitWriter,
};

use super::{
    download::DownloadState, handshake::Granted, history::SnapshotHistory, inbound::Inbound,
    level::LevelState, level_clock::LevelClock, options::ClientOptions, usercmds::UsercmdHistory,
};
use detection::Detection;
use packet_schedule::PacketSchedule;
use proof::Proof;
use scrambling::ScramblingDetection;

pub(super) use receive::ReceiveOutcome;

/// One connection, from the `connectResponse` on.
#[derive(Debug)]
pub(super) struct Connection {
    channel: Channel,
    commands: OutgoingCommands,
    server_commands: IncomingCommands,
    level: Option<LevelState>,
    no_baselines: Baselines,
    history: SnapshotHistory,
    usercmds: UsercmdHistory,
    clock: LevelClock,
    ping: Option<Millis>,
    detection: Detection,
    /// Detection of the scrambling, while it is open.
    scrambling: Option<ScramblingDetection>,
    proof: Proof,
    /// Channel of the other framing, until the framing of the server is proven.
    other: Option<Box<Channel>>,
    /// Packets without an answer, while the framing of the server is not proven.
    unanswered: u8,
    pub(super) download: DownloadState,
    packets: PacketSchedule,
    started: Millis,
    pub(super) received_at: Millis,
    // Memory reused for every message.
    message: Vec<u8>,
    inbound: Inbound,
    writer: BitWriter,
}

impl Connection {
    pub(super) fn new(now: Millis, granted: Granted, options: &ClientOptions) -> Self {
        let interval = Millis(u64::from(1000 / options.packets_per_second.clamp(15, 125)));
        Self {
            channel: Channel::new(
                ChannelSide::Client,
                granted.protocol,
                granted.challenge,
                options.qport,
            ),
            commands: OutgoingCommands::new(),
            server_commands: IncomingCommands::new(),
            level: None,
            no_baselines: Baselines::default(),
            history: SnapshotHistory::with_numbers(granted.protocol.numbers),
            usercmds: UsercmdHistory::new(options.packet_dup),
            clock: LevelClock::default(),
            ping: None,
            detection: Detection::Done,
            scrambling: None,
            proof: Proof::new(options.packs.clone()),
            other: None,
            unanswered: 0,
            download: DownloadState::default(),
            packets: PacketSchedule::new(now, interval, options.packet_jitter, options.seed),
            started: now,
            received_at: now,
            message: Vec::new(),
            inbound: Inbound::default(),
            writer: BitWriter::new(),
        }
    }

    pub(super) fn level(&self) -> Option<&LevelState> {
        self.level.as_ref()
    }

    pub(super) fn history(&self) -> &SnapshotHistory {
        &self.history
    }

    pub(super) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(super) fn check_invariants(&self) -> Result<(), String> {
        self.channel.check_invariants()?;
        let outstanding = self.commands.outstanding();
        if outstanding > MAX_RELIABLE_COMMANDS + 1 {
            return Err(format!("{outstanding} commands are under way"));
        }
        Ok(())
    }

    pub(super) fn ping(&self) -> Option<Millis> {
        self.ping
    }

    pub(super) fn last_server_command(&self) -> CommandNum {
        self.server_commands.last()
    }

    pub(super) fn commands(&self) -> &OutgoingCommands {
        &self.commands
    }

    pub(super) fn next_packet(&self) -> Millis {
        self.packets.next()
    }

    /// Sends the next packet at `at` at the latest.
    pub(super) fn hasten_packet(&mut self, at: Millis) {
        self.packets.hasten(at);
    }

    pub(super) fn level_time(&self, now: Millis) -> LevelTime {
        let time = self.clock.read(now);
        match self.usercmds.last() {
            Some(last) if time.distance(LevelTime(last.server_time)) < 0 => {
                LevelTime(last.server_time)
            }
            _ => time,
        }
    }

    pub(super) fn last_usercmd(&self) -> Option<&UserCmd> {
        self.usercmds.last()
    }

    pub(super) fn push_usercmd(&mut self, usercmd: UserCmd) {
        if self.level.is_some() {
            self.usercmds.push(usercmd);
        }
    }

    pub(super) fn add_command(&mut self, text: Arc<str>) -> Result<CommandNum, AddError> {
        self.commands.add(text)
    }

    /// Adds the disconnect command, for which there is always room.
    pub(super) fn add_disconnect(&mut self) {
        // Fails only when it was added before.
        let _ = self.commands.add_disconnect("disconnect".into());
    }

    pub(super) fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.as_ref().map_or("", |level| level.configstring(index))
    }
}
