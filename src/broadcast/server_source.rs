//! Source of one server: an ordinary spectator, which follows one player after the other.
//!
//! Works with any server, since it is a client like others. It reconnects after a loss, at growing
//! intervals. Invariant: at most one connection at a time. Source: Quake III protocol 68, duties of a
//! client; commands of the base game's spectators.

use std::net::SocketAddr;

use super::source::{Audience, Control, Frame, Level, Sink, Source, View, Visible};
use crate::{
    bg::{Persistent, Team, configstring, pm_flag},
    client::{Client, ClientEvent, ClientOptions, Protocol, ProtocolChoice},
    model::{ClientNum, ConfigIndex, EntityState, Millis, PlayerState, Qport, UserCmd, text},
    wire::{info::InfoString, snapshot::SnapFlags},
};

/// Addition to the name of a server.
const NAME_ADDITION: &str = " (relay)";
/// Longest name of a server in front of it, in bytes.
const MAX_NAME_LEN: usize = 64;
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
}

/// Connection to a server as a spectator.
#[derive(Debug)]
pub struct ServerSource {
    options: ServerSourceOptions,
    client: Option<Client>,
    /// Time of the next connection, while there is none.
    connect_at: Millis,
    /// Consecutive connections that did not show the game.
    failures: u32,
    /// Connections so far.
    connections: u64,
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
            connect_at: Millis(0),
            failures: 0,
            connections: 0,
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
        self.client = Some(Client::new(options, now).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn handle_events(&mut self, now: Millis, sink: &mut dyn Sink) {
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            match event {
                ClientEvent::Gamestate => self.tell_level(sink),
                ClientEvent::Entered => {
                    self.failures = 0;
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
                ClientEvent::Refused(reason) => sink.lost(&reason),
                ClientEvent::Disconnected(reason) => {
                    self.client = None;
                    self.is_watching = false;
                    let wait = LEAST_WAIT.0 << self.failures.min(8);
                    self.connect_at = now + Millis(wait).min(LONGEST_WAIT);
                    self.failures += 1;
                    sink.lost(&reason.to_string());
                }
                ClientEvent::ProtocolError(error) => log::warn!("{}: {error}", self.options.server),
                ClientEvent::Connected | ClientEvent::Print(_) | ClientEvent::Download(_) => {}
            }
        }
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
        let Some(level) = self.client.as_ref().and_then(Client::level) else { return };
        let configstrings = level.configstrings().map(|(index, text)| (index, text.to_owned()));
        sink.level(Level {
            configstrings: configstrings.collect(),
            baselines: level.baselines.all().to_vec(),
            spectator: Some(level.client_num),
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
        // A chain of relays says so once.
        let addition = if self.hostname.ends_with(NAME_ADDITION) { "" } else { NAME_ADDITION };
        format!("{}{addition}", text::truncated(&self.hostname, MAX_NAME_LEN))
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
        self.follow(now);
    }

    fn next_due(&self) -> Millis {
        self.client.as_ref().map_or(self.connect_at, Client::next_frame)
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
            client.handle_datagram(now, from, bytes);
            self.handle_events(now, sink);
        }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        self.client.as_mut()?.poll_transmit(packet)
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
