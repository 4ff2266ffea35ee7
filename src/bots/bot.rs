//! One bot: a client, a mind, and a record of what it saw.
//!
//! Invariants: a packet finds its usercmds made, a few for the time since the last one; a bot says what happened to it in
//! one line each. Source: Quake III protocol 68, packets of a client; the game's persistent values.

use std::{collections::VecDeque, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::{
    client::{Client, ClientEvent, ClientOptions, Ending, Stage, Statistics},
    model::{LevelTime, Millis, Qport, limits::MAX_PACKET_USERCMDS, text::escaped},
    wire::info::{Info, InfoError},
};

use super::{BotsOptions, mind::Mind, record::Record};

/// Time between usercmds, as a game at about 60 frames a second makes them.
const USERCMD_MS: i32 = 16;
/// Most usercmds made for one packet.
const MAX_STEPS: i32 = 8;
const _: () = assert!(MAX_STEPS as usize <= MAX_PACKET_USERCMDS);
/// Time between attempts to leave the spectators. Games allow one change of team in 5 seconds.
const TEAM_INTERVAL: Millis = Millis::seconds(6);
/// Lines of one bot at most, whatever befalls it.
const MAX_LINES: u32 = 8;
/// How a player moves who only watches.
const PM_SPECTATOR: i32 = 2;

/// One bot.
#[derive(Debug)]
pub(super) struct Bot {
    name: String,
    /// `None` until its time has come.
    client: Option<Client>,
    number: u16,
    starts: Millis,
    mind: Mind,
    record: Record,
    /// When its owner will run it.
    pub(super) scheduled: Millis,
    /// Whether its owner knows that it has ended.
    pub(super) is_counted_out: bool,
    asks_for_team: Millis,
    lines: VecDeque<String>,
    lines_left: u32,
}

impl Bot {
    pub(super) fn new(options: &BotsOptions, number: u16, starts: Millis) -> Self {
        Self {
            name: format!("{}{:02}", options.name_prefix, u32::from(number) + 1),
            client: None,
            number,
            starts,
            mind: Mind::new(seed_of(options.seed, number)),
            record: Record::new(starts),
            scheduled: starts,
            is_counted_out: false,
            asks_for_team: Millis(0),
            lines: VecDeque::new(),
            lines_left: MAX_LINES,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    pub(super) fn stage(&self) -> Stage {
        self.client.as_ref().map_or(Stage::Connecting, Client::stage)
    }

    pub(super) fn ping_ms(&self) -> Option<u64> {
        self.client.as_ref()?.ping_ms()
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.client.as_ref().map(Client::statistics).unwrap_or_default()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.record.ending.is_some()
    }

    pub(super) fn next_frame(&self) -> Millis {
        match &self.client {
            _ if self.has_ended() => Millis::NEVER,
            None => self.starts,
            Some(client) => client.next_frame(),
        }
    }

    pub(super) fn handle_datagram(&mut self, now: Millis, from: SocketAddr, datagram: &[u8]) {
        let Some(client) = &mut self.client else { return };
        client.handle_datagram(now, from, datagram);
        self.listen(now);
    }

    pub(super) fn frame(&mut self, now: Millis, options: &BotsOptions) {
        if self.has_ended() {
            return;
        }
        if self.client.is_none() {
            self.start(now, options);
        }
        let Some(client) = &mut self.client else { return };
        if now >= client.next_frame() {
            match client.stage() {
                // The usercmd that asks to be let in carries no time.
                Stage::Primed => client.push_move(self.mind.step(0, 0, 0)),
                Stage::Active => self.play(now, options),
                Stage::Connecting | Stage::Challenging | Stage::Connected | Stage::Disconnected => {
                }
            }
        }
        if let Some(client) = &mut self.client {
            client.frame(now);
        }
        self.listen(now);
    }

    /// Leaves, if it ever came.
    pub(super) fn leave(&mut self, now: Millis) {
        if let Some(client) = &mut self.client {
            client.disconnect(now);
        }
        self.listen(now);
        self.record.ending.get_or_insert(Ending::Left);
    }

    pub(super) fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        let remote = self.client.as_mut()?.poll_transmit(packet)?;
        self.record.statistics = self.statistics();
        Some(remote)
    }

    /// The next line about what happened to the bot.
    pub(super) fn poll_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    fn start(&mut self, now: Millis, options: &BotsOptions) {
        self.record.started = Some(now);
        let mut random = Pcg64Mcg::seed_from_u64(seed_of(options.seed, self.number) ^ 1);
        let userinfo = match userinfo(&self.name, options, random.next_u64(), random.next_u64()) {
            Ok(userinfo) => userinfo,
            Err(error) => return self.refuse(error.to_string()),
        };
        let qport = Qport(random.next_u32() as u16);
        let client = ClientOptions {
            packets_per_second: options.packets_per_second,
            ..ClientOptions::new(options.server, options.wire, userinfo, qport, random.next_u64())
        };
        match Client::new(client, now) {
            Ok(client) => self.client = Some(client),
            Err(error) => self.refuse(error.to_string()),
        }
    }

    /// Never begins.
    fn refuse(&mut self, reason: String) {
        self.say(&format!("cannot join: {reason}"));
        self.record.refusal = Some(reason);
        self.record.ending = Some(Ending::Left);
    }

    /// Makes the usercmds since the last packet.
    fn play(&mut self, now: Millis, options: &BotsOptions) {
        let Some(client) = &mut self.client else { return };
        let Some(player) = client.player() else { return };
        let weapon = u8::try_from(player.weapon).unwrap_or(0);
        let watches = player.pm_type == PM_SPECTATOR;
        let time = client.level_time(now);
        // The one that let the bot in had no time. After a pause there is nothing to make up for.
        let last = client.last_move().map_or(0, |last| last.server_time);
        let passed = if last == 0 { USERCMD_MS } else { time.distance(LevelTime(last)) };
        let passed = passed.clamp(0, MAX_STEPS * USERCMD_MS);
        let count = (passed / USERCMD_MS).max(1);
        let mut made = time - passed;
        for left in (1..=count).rev() {
            let step = time.distance(made) / left;
            made = made + step;
            client.push_move(self.mind.step(made.0, step.unsigned_abs(), weapon));
        }
        if watches && now >= self.asks_for_team {
            self.asks_for_team = now + TEAM_INTERVAL;
            // A command that cannot be sent shows in how the connection ended.
            let _ = client.send_command(now, "team free");
        }
        if options.chat
            && let Some(saying) = self.mind.talk()
        {
            let _ = client.send_command(now, &format!("say {saying}"));
        }
    }

    /// Takes note of what happened to the client.
    fn listen(&mut self, now: Millis) {
        if self.has_ended() {
            return;
        }
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            match event {
                ClientEvent::Entered => {
                    // The snapshot that shows the game is the beginning; counting starts behind it.
                    self.record.enter(now, self.statistics());
                }
                ClientEvent::Snapshot => self.record.snapshot(now, self.ping_ms()),
                ClientEvent::Refused(reason) => {
                    self.say(&format!("refused: {}", escaped(reason.as_bytes())));
                    self.record.refusal = Some(reason);
                }
                ClientEvent::Fault(fault) => {
                    self.say(&fault.to_string());
                    self.record.fault.get_or_insert_with(|| fault.to_string());
                }
                ClientEvent::Disconnected(ending) => {
                    if ending != Ending::Left {
                        self.say(&format!("dropped: {}", escaped(ending.to_string().as_bytes())));
                    }
                    self.record.ending = Some(ending);
                }
                ClientEvent::Connected
                | ClientEvent::Gamestate
                | ClientEvent::Configstring(_)
                | ClientEvent::MapRestart
                | ClientEvent::ServerCommand(_)
                | ClientEvent::Print(_) => {}
            }
        }
        self.record.statistics = self.statistics();
        self.record.until = now;
    }

    fn say(&mut self, text: &str) {
        if let Some(left) = self.lines_left.checked_sub(1) {
            self.lines_left = left;
            self.lines.push_back(format!("{}: {text}\n", self.name));
        }
    }
}

/// A seed for each bot that has nothing of its neighbours'.
fn seed_of(seed: u64, number: u16) -> u64 {
    Pcg64Mcg::seed_from_u64(seed ^ u64::from(number) << 32).next_u64()
}

/// Who a bot is. The two numbers make the identity that some games ask for.
fn userinfo(
    name: &str,
    options: &BotsOptions,
    guid_high: u64,
    guid_low: u64,
) -> Result<Info, InfoError> {
    let mut info = Info::normal();
    for (key, value) in [
        ("name", name),
        ("rate", &options.rate_bytes_per_sec.to_string()),
        ("snaps", &options.snaps.to_string()),
        ("model", "sarge"),
        ("headmodel", "sarge"),
        ("team_model", "sarge"),
        ("team_headmodel", "sarge"),
        ("color1", "4"),
        ("color2", "5"),
        ("handicap", "100"),
        ("sex", "male"),
        ("cl_anonymous", "0"),
        ("cg_predictItems", "1"),
        ("teamtask", "0"),
        ("cl_guid", &format!("{guid_high:016X}{guid_low:016X}")),
        ("password", &options.password),
    ] {
        info.set(key, value)?;
    }
    Ok(info)
}
