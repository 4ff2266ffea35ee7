//! Source of one server: an ordinary spectator, which follows one player after the other.
//!
//! Works with any server, since it is a client like others. It reconnects after a loss, at growing
//! intervals. Invariant: at most one connection at a time. Source: Quake III protocol 68, duties of a
//! client; commands of the base game's spectators.

use std::{net::SocketAddr, sync::Arc};

use super::{
    join_watch::{JoinWatch, Progress},
    source::{Audience, Control, Frame, Level, Sink, Source, View, Visible, relay_name},
};
use crate::{
    bg::{Persistent, Team, configstring, pm_flag},
    client::{
        Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, Protocol,
        ProtocolChoice, ProtocolError,
    },
    model::{
        ClientNum, ConfigIndex, EntityState, Millis, PlayerState, Qport, UserCmd,
        installed_packs::InstalledPacks, text,
    },
    observe::{LogEvent, LogLimiter},
    wire::{info::InfoString, snapshot::SnapFlags},
};

/// Silence of the server after which the connection is lost.
const TIMEOUT: Millis = Millis::seconds(10);
/// Least and longest wait before the next connection, which doubles after each failure.
const LEAST_WAIT: Millis = Millis::seconds(1);
const LONGEST_WAIT: Millis = Millis::seconds(30);
/// Interval of commands that make the client a spectator. The base game allows a change of teams every
/// five seconds.
const TEAM_INTERVAL: Millis = Millis::seconds(6);
/// Interval of commands that make the client follow a player.
const FOLLOW_INTERVAL: Millis = Millis::seconds(3);
/// Least time between two requests for the scoreboard.
const SCORES_INTERVAL: Millis = Millis::seconds(2);

/// Options of a connection to a server.
#[derive(Clone, Debug)]
pub struct ServerSourceOptions {
    /// Address of the server.
    pub server: SocketAddr,
    /// Protocol.
    pub protocol: ProtocolChoice,
    /// Name of the spectator on the server.
    pub name: String,
    /// Password of the server, if any.
    pub password: Option<String>,
    /// Time after which the next player is followed; `None` to follow one until it leaves.
    pub cycle: Option<Millis>,
    /// Seed of qports and challenges.
    pub seed: u64,
    /// Installed archives, which the spectator proves to a pure server.
    pub packs: Option<Arc<dyn InstalledPacks>>,
}

/// Connection to a server as a spectator.
#[derive(Debug)]
pub struct ServerSource {
    options: ServerSourceOptions,
    client: Option<Client>,
    /// Last connection, until its datagrams are sent.
    ended: Option<Client>,
    /// Time of the next connection, while there is none.
    connect_at: Millis,
    /// Consecutive connections that did not show the game.
    failures: u32,
    /// Connections so far.
    connections: u64,
    /// Whether a connection has shown the game.
    has_shown: bool,
    /// Whether a connection has sent a level, without which no source can be lost.
    has_level: bool,
    /// See [`Source::failure`].
    failure: Option<String>,
    /// Wait for a level.
    watch: JoinWatch,
    log: LogLimiter,
    /// Name of the server, once known.
    hostname: String,
    is_watching: bool,
    team_at: Millis,
    follow_at: Millis,
    cycle_at: Millis,
    scores_at: Millis,
    /// Entities of the newest snapshot; the memory is reused.
    entities: Vec<EntityState>,
}

impl ServerSource {
    /// Creates a source that connects at its first [`Source::advance`].
    #[must_use]
    pub fn new(options: ServerSourceOptions) -> Self {
        Self {
            hostname: options.server.to_string(),
            options,
            client: None,
            ended: None,
            connect_at: Millis(0),
            failures: 0,
            connections: 0,
            has_shown: false,
            has_level: false,
            failure: None,
            watch: JoinWatch::default(),
            log: LogLimiter::default(),
            is_watching: false,
            team_at: Millis(0),
            follow_at: Millis(0),
            cycle_at: Millis(0),
            scores_at: Millis(0),
            entities: Vec::new(),
        }
    }

    fn connect(&mut self, now: Millis) -> Result<(), String> {
        self.connections += 1;
        let seed =
            self.options.seed.wrapping_add(self.connections.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut info = InfoString::normal();
        // OpenArena's game rejects clients without one.
        let guid = format!("{:016X}{:016X}", self.options.seed, self.options.seed.swap_bytes());
        let pairs = [
            ("name", self.options.name.as_str()),
            ("cl_guid", guid.as_str()),
            ("rate", "90000"),
            ("snaps", "40"),
            ("model", "sarge"),
            ("headmodel", "sarge"),
            ("handicap", "100"),
            ("color1", "4"),
            ("color2", "5"),
            ("password", self.options.password.as_deref().unwrap_or_default()),
        ];
        for (key, value) in pairs {
            info.set(key, value).map_err(|error| format!("{key}: {error}"))?;
        }
        let (protocol, detects) = match self.options.protocol {
            ProtocolChoice::Auto => (Protocol::IOQ3_71, true),
            ProtocolChoice::Fixed(protocol) => (protocol, false),
        };
        let qport = Qport((seed >> 16) as u16);
        let mut options = ClientOptions::new(self.options.server, protocol, info, qport, seed);
        options.detects_protocol = detects;
        options.timeout = TIMEOUT;
        options.packs = self.options.packs.clone();
        self.client = Some(Client::new(options, now).map_err(|error| error.to_string())?);
        self.watch.begin_attempt(now);
        Ok(())
    }

    /// Progress of the connection attempt; `None` without one or with a level.
    fn progress(&self) -> Option<Progress> {
        match self.client.as_ref().map(Client::state)? {
            ConnectionState::Connecting => Some(Progress::Asking),
            ConnectionState::Challenging => Some(Progress::Challenged),
            ConnectionState::Connected => Some(Progress::Granted),
            ConnectionState::Primed | ConnectionState::Active | ConnectionState::Disconnected => {
                None
            }
        }
    }

    /// Reports a server that shows no level: to the log at growing intervals, to viewers once.
    fn report_wait(&mut self, now: Millis, sink: &mut dyn Sink) {
        let Some(progress) = self.progress() else { return };
        let Some(report) = self.watch.report(now, progress) else { return };
        log::warn!("{}: {report}", self.options.server);
        if self.watch.reports() == 1 {
            sink.lost(report.cause());
        }
    }

    /// Logs a protocol error of the server, within a rate.
    fn report_error(&mut self, now: Millis, error: &ProtocolError) {
        if let Some(suppressed) = self.log.allows(LogEvent::SourceFault, now) {
            log::warn!("{}: {error}{suppressed}", self.options.server);
        }
    }

    fn handle_events(&mut self, now: Millis, sink: &mut dyn Sink) {
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            match event {
                ClientEvent::Gamestate => {
                    if let Some(waited) = self.watch.end(now) {
                        let seconds = waited.0 as f64 / 1000.0;
                        log::info!("{}: answers after {seconds:.1} s", self.options.server);
                    }
                    self.tell_level(sink);
                }
                ClientEvent::Entered => {
                    self.failures = 0;
                    self.has_shown = true;
                    self.is_watching = true;
                    self.team_at = now;
                    self.cycle_at = now;
                    // The server answers commands of a client that has just entered later.
                    self.follow_at = now + Millis(500);
                }
                ClientEvent::Snapshot => self.tell_frame(sink),
                ClientEvent::Configstring(index) => {
                    if let Some(client) = &self.client {
                        sink.configstring(index, client.configstring(index));
                    }
                    if index == ConfigIndex::SERVERINFO {
                        self.read_hostname();
                    }
                }
                ClientEvent::ServerCommand(text) => sink.command(Audience::All, &text),
                ClientEvent::MapRestart => sink.command(Audience::All, "map_restart\n"),
                ClientEvent::Refused(reason) => {
                    let reason = format!("the server refuses the relay: {reason}");
                    if self.watch.refuse(now, &reason) {
                        log::warn!("{}: {}", self.options.server, text::escaped(reason.as_bytes()));
                    }
                    sink.lost(&reason);
                }
                ClientEvent::Disconnected(reason) => self.handle_disconnect(now, &reason, sink),
                ClientEvent::ProtocolError(error) => self.report_error(now, &error),
                ClientEvent::Scrambling(protocol) => {
                    let found = protocol.scrambling_text();
                    log::info!("{}: {found}", self.options.server);
                }
                ClientEvent::Connected
                | ClientEvent::ProofRequired
                | ClientEvent::Print(_)
                | ClientEvent::Download(_) => {}
            }
        }
    }

    fn handle_disconnect(&mut self, now: Millis, reason: &DisconnectReason, sink: &mut dyn Sink) {
        self.ended = self.client.take();
        self.is_watching = false;
        let wait = LEAST_WAIT.0 << self.failures.min(8);
        self.connect_at = now + Millis(wait).min(LONGEST_WAIT);
        self.failures += 1;
        if let DisconnectReason::Unpure(reason) = reason {
            // Archives that are installed later are found at the next connection.
            if let Some(packs) = &self.options.packs {
                packs.refresh();
            }
            if !self.has_shown {
                self.failure = Some(reason.clone());
                return;
            }
        }
        self.report_end(now, reason, sink);
    }

    /// Reports the end of a connection. The report of an attempt without a level names what was missing.
    fn report_end(&mut self, now: Millis, reason: &DisconnectReason, sink: &mut dyn Sink) {
        let cause = match reason {
            DisconnectReason::TimedOut if self.watch.is_waiting() => {
                if let Some(report) = self.watch.end_attempt(now) {
                    log::warn!("{}: {report}", self.options.server);
                }
                self.watch.cause(Progress::Granted).to_owned()
            }
            _ => {
                let cause = reason.to_string();
                if !self.has_level {
                    let server = self.options.server;
                    log::warn!("{server}: connection ended: {}", text::escaped(cause.as_bytes()));
                }
                cause
            }
        };
        sink.lost(&cause);
    }

    fn read_hostname(&mut self) {
        let Some(client) = &self.client else { return };
        let info = InfoString::parse(client.configstring(ConfigIndex::SERVERINFO));
        if let Some(name) = info.get("sv_hostname").filter(|name| !name.is_empty()) {
            name.clone_into(&mut self.hostname);
        }
    }

    fn tell_level(&mut self, sink: &mut dyn Sink) {
        self.read_hostname();
        let Some(client) = &self.client else { return };
        let Some(level) = client.level() else { return };
        self.has_level = true;
        // Baselines have the numbers of the server's protocol, snapshots those of 1.32.
        let numbers = client.protocol().numbers;
        let baselines = level.baselines.all().iter().map(|state| numbers.received_entity(state));
        let configstrings = level.configstrings().map(|(index, text)| (index, text.to_owned()));
        sink.level(Level {
            configstrings: configstrings.collect(),
            baselines: baselines.collect(),
            spectator: level.client_num,
        });
    }

    fn tell_frame(&mut self, sink: &mut dyn Sink) {
        let Some(client) = &self.client else { return };
        let Some(snapshot) = client.snapshot().filter(|snapshot| snapshot.is_active()) else {
            return;
        };
        self.entities.clear();
        self.entities.extend(client.entities());
        let shown = usize::try_from(snapshot.player.client_num).ok().and_then(ClientNum::new);
        let Some(player) = shown.or(client.client_num()) else { return };
        let view = View {
            player,
            state: &snapshot.player,
            visible: Visible::All,
            areas: snapshot.head.areas,
        };
        sink.frame(&Frame {
            time: snapshot.head.server_time,
            is_odd: snapshot.head.flags.contains(SnapFlags::SERVER_COUNT),
            entities: &self.entities,
            views: &[view],
        });
    }

    /// Commands that make the client a spectator that follows a player.
    fn follow(&mut self, now: Millis) {
        let Some(client) = self.client.as_mut().filter(|_| self.is_watching) else { return };
        let Some(player) = client.player() else { return };
        let command = if !is_spectator(player) && now >= self.team_at {
            self.team_at = now + TEAM_INTERVAL;
            "team spectator"
        } else if is_spectator(player) && now >= self.follow_at && has_players(client) {
            let is_cycled =
                self.options.cycle.is_some_and(|cycle| now.since(self.cycle_at) >= cycle);
            if player.pm_flags & pm_flag::FOLLOW != 0 && !is_cycled {
                return;
            }
            self.cycle_at = now;
            self.follow_at = now + FOLLOW_INTERVAL;
            "follownext"
        } else {
            return;
        };
        // An overflow ends the connection, which an event reports.
        let _ = client.send_command(now, command);
    }
}

/// Whether a playerstate is that of a spectator, on its own or following.
fn is_spectator(player: &PlayerState) -> bool {
    player.pm_flags & pm_flag::FOLLOW != 0
        || player.persistant[Persistent::Team] == Team::Spectator as i32
}

/// Whether another client than this one plays.
fn has_players(client: &Client) -> bool {
    let spectates = |entry: &str| {
        let info = InfoString::parse(entry);
        info.int("t") == Some(Team::Spectator as i32)
    };
    ClientNum::all().filter(|&number| Some(number) != client.client_num()).any(|number| {
        let entry = client.configstring(configstring::player(number));
        !entry.is_empty() && !spectates(entry)
    })
}

impl Source for ServerSource {
    fn name(&self) -> String {
        relay_name(&self.hostname)
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        if self.client.is_none()
            && now >= self.connect_at
            && let Err(reason) = self.connect(now)
        {
            self.connect_at = now + LONGEST_WAIT;
            sink.lost(&reason);
        }
        if let Some(client) = &mut self.client
            && now >= client.next_frame()
        {
            let server_time = client.level_time(now).0;
            client.push_usercmd(UserCmd { server_time, ..UserCmd::default() });
            client.frame(now);
        }
        self.handle_events(now, sink);
        self.report_wait(now, sink);
        self.follow(now);
    }

    fn next_due(&self) -> Millis {
        let due = self.client.as_ref().map_or(self.connect_at, Client::next_frame);
        if self.progress().is_some() { due.min(self.watch.report_at()) } else { due }
    }

    fn status(&self, now: Millis) -> String {
        let state = match &self.client {
            None => format!("connects in {} s", self.connect_at.since(now).0.div_ceil(1000)),
            Some(client) => {
                let ping = client.ping_ms().map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
                let player = client.player().map_or(-1, |player| player.client_num);
                let state = client.state();
                format!("{state:?}, protocol {}, ping {ping}, view of {player}", client.protocol())
            }
        };
        let name = text::escaped(self.hostname.as_bytes());
        format!("{} \"{name}\": {state}; {} connections", self.options.server, self.connections)
    }

    fn handle_datagram(
        &mut self,
        now: Millis,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) {
        if let Some(client) = &mut self.client {
            // A duplicated or late answer of a server is not invalid.
            let invalid = |client: &Client| {
                let statistics = client.statistics();
                statistics.unreadable_datagrams + statistics.faults
            };
            let before = invalid(client);
            client.handle_datagram(now, from, bytes);
            if from == self.options.server && invalid(client) != before {
                self.watch.count_invalid();
            }
            self.handle_events(now, sink);
        }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        // A connection that has ended still says so to the server.
        let last = self.ended.as_mut().and_then(|ended| ended.poll_transmit(packet));
        if last.is_none() {
            self.ended = None;
        }
        last.or_else(|| self.client.as_mut()?.poll_transmit(packet))
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn is_finished(&self) -> bool {
        self.failure.is_some()
    }

    fn has_port(&self) -> bool {
        true
    }

    fn control(&mut self, now: Millis, request: Control) -> Result<String, String> {
        let Some(client) = self.client.as_mut().filter(|_| self.is_watching) else {
            return Err("The source is not there.".to_owned());
        };
        let (command, done) = match request {
            Control::Follow(player) => {
                let info = InfoString::parse(client.configstring(configstring::player(player)));
                let name = info.get("n").unwrap_or_default().to_owned();
                (format!("follow {player}"), format!("following {name}"))
            }
            Control::FollowNext => {
                ("follownext".to_owned(), "following the next player".to_owned())
            }
            Control::Pause | Control::Speed(_) | Control::Seek(_) | Control::Skip(_) => {
                return Err("This is live: no pause, speed or seek.".to_owned());
            }
        };
        if now < self.follow_at {
            return Err("The view has just changed, please wait.".to_owned());
        }
        self.follow_at = now + FOLLOW_INTERVAL;
        self.cycle_at = now;
        client.send_command(now, &command).map_err(|error| error.to_string())?;
        Ok(done)
    }

    fn request_scores(&mut self, now: Millis) -> bool {
        let Some(client) = self.client.as_mut().filter(|_| self.is_watching) else { return false };
        if now < self.scores_at {
            // The answer to the last request is on its way, or was lost with the connection.
            return true;
        }
        self.scores_at = now + SCORES_INTERVAL;
        client.send_command(now, "score").is_ok()
    }

    fn stop(&mut self, now: Millis) {
        if let Some(client) = &mut self.client {
            client.disconnect(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Sink that keeps the reasons of losses.
    #[derive(Default)]
    struct Losses(Vec<String>);

    impl Sink for Losses {
        fn level(&mut self, _: Level) {}
        fn configstring(&mut self, _: ConfigIndex, _: &str) {}
        fn command(&mut self, _: Audience, _: &str) {}
        fn frame(&mut self, _: &Frame<'_>) {}
        fn lost(&mut self, reason: &str) {
            self.0.push(reason.to_owned());
        }
    }

    fn source_of(server: SocketAddr) -> ServerSource {
        ServerSource::new(ServerSourceOptions {
            server,
            protocol: ProtocolChoice::Fixed(Protocol::Q3_68),
            name: "relay".to_owned(),
            password: None,
            cycle: None,
            seed: 7,
            packs: None,
        })
    }

    /// Runs a source. `answer` gives the datagrams that follow each of its own.
    fn run(
        source: &mut ServerSource,
        sink: &mut Losses,
        times: Range<u64>,
        answer: impl Fn(&[u8]) -> Vec<u8>,
    ) {
        let mut packet = Vec::new();
        for now in times.map(Millis) {
            if source.next_due() <= now {
                source.advance(now, sink);
            }
            while let Some(server) = source.poll_transmit(&mut packet) {
                let bytes = answer(&packet);
                if !bytes.is_empty() {
                    source.handle_datagram(now, server, &bytes, sink);
                }
            }
        }
    }

    #[test]
    fn viewers_are_told_of_silence_once() {
        let server: SocketAddr = ([192, 0, 2, 1], 27_960).into();
        let (mut source, mut sink) = (source_of(server), Losses::default());
        run(&mut source, &mut sink, 0..1499, |_| Vec::new());
        assert!(sink.0.is_empty());
        run(&mut source, &mut sink, 1499..40_000, |_| Vec::new());
        assert_eq!(sink.0, ["it does not answer"]);
        // Datagrams of other hosts do not count.
        let other = ([192, 0, 2, 2], 27_960).into();
        source.handle_datagram(Millis(40_000), other, b"x", &mut sink);
        assert_eq!(source.watch.cause(Progress::Asking), "it does not answer");
    }

    #[test]
    fn invalid_answers_do_not_end_the_wait() {
        let server: SocketAddr = ([192, 0, 2, 1], 27_960).into();
        let (mut source, mut sink) = (source_of(server), Losses::default());
        run(&mut source, &mut sink, 0..40_000, |_| b"\x01\x02\x03random".to_vec());
        assert_eq!(sink.0, ["it answers with invalid datagrams"]);
        assert_eq!(source.watch.reports(), 4, "1.5, 4.5, 10.5 and 22.5 s");
    }

    #[test]
    fn duplicated_answers_are_not_invalid() {
        let server: SocketAddr = ([192, 0, 2, 1], 27_960).into();
        let (mut source, mut sink) = (source_of(server), Losses::default());
        let challenge = b"\xff\xff\xff\xffchallengeResponse 7";
        run(&mut source, &mut sink, 0..10_000, |_| challenge.to_vec());
        for _ in 0..9 {
            source.handle_datagram(Millis(10_000), server, challenge, &mut sink);
        }
        run(&mut source, &mut sink, 10_000..30_000, |_| challenge.to_vec());
        assert_eq!(sink.0, ["it does not answer the request for a slot"]);
        assert_eq!(
            source.watch.cause(Progress::Challenged),
            "it does not answer the request for a slot"
        );
    }

    #[test]
    fn granted_connection_without_gamestate_is_named() {
        let server: SocketAddr = ([192, 0, 2, 1], 27_960).into();
        let (mut source, mut sink) = (source_of(server), Losses::default());
        let answer = |asked: &[u8]| match asked.get(4..) {
            Some(b) if b.starts_with(b"getchallenge") => {
                b"\xff\xff\xff\xffchallengeResponse 7".to_vec()
            }
            Some(b) if b.starts_with(b"connect") => b"\xff\xff\xff\xffconnectResponse".to_vec(),
            _ => Vec::new(),
        };
        run(&mut source, &mut sink, 0..60_000, answer);
        assert!(source.connections >= 3, "{}", source.connections);
        sink.0.dedup();
        assert_eq!(sink.0, ["it sends no gamestate"]);
        assert!((4..=8).contains(&source.watch.reports()), "{}", source.watch.reports());
    }
}
