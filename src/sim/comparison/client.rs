//! A player of a play: a client that sends the usercmds and commands of the play.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::play::Keys;
use crate::{
    client::{Client, ClientEvent, ClientOptions, ConnectionState},
    model::{LevelTime, Millis, PlayerState, Qport, UserCmd},
    wire::{info::InfoString, protocol::Protocol},
};

/// Address of the server in the simulated network.
pub(super) const SERVER: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 27_960);

/// A player with its client.
pub(super) struct ComparedClient {
    pub(super) client: Client,
    pub(super) address: SocketAddr,
    pub(super) keys: Keys,
    /// Server commands received since the last comparison.
    pub(super) commands: Vec<String>,
    /// Age of its usercmds, in ms.
    pub(super) lag_ms: u16,
    /// Whether it sends no usercmd, so that it does not enter the level.
    pub(super) waits: bool,
    /// Reason of a refusal or of the end of the connection.
    pub(super) ended: Option<String>,
}

impl ComparedClient {
    /// Creates the player of a number.
    ///
    /// # Errors
    /// The userinfo pairs are not valid.
    pub(super) fn new(
        number: usize,
        pairs: &[(String, String)],
        protocol: &'static Protocol,
        now: Millis,
    ) -> Result<Self, String> {
        let mut info = InfoString::normal();
        let wrong = |error: &dyn std::fmt::Display| format!("userinfo of player {number}: {error}");
        let (name, guid) = (format!("player{number}"), format!("{:032X}", 0x1234 + number));
        let defaults = [
            ("name", name.as_str()),
            ("rate", "100000"),
            ("snaps", "40"),
            ("model", "sarge/default"),
            ("headmodel", "sarge/default"),
            ("team_model", "sarge/default"),
            ("team_headmodel", "sarge/default"),
            ("handicap", "100"),
            ("color1", "4"),
            ("color2", "5"),
            ("sex", "male"),
            ("cl_anonymous", "0"),
            ("cg_predictItems", "1"),
            ("cl_guid", guid.as_str()),
        ];
        let own = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in defaults.into_iter().chain(own) {
            info.set(key, value).map_err(|error| wrong(&error))?;
        }
        let seed = 77 + number as u64;
        let mut options = ClientOptions::new(SERVER, protocol, info, Qport(seed as u16), seed);
        // A packet in each step, so that input takes effect in the step of the play.
        options.packets_per_second = 125;
        let client = Client::new(options, now).map_err(|error| wrong(&error))?;
        let address =
            SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, number as u8 + 1)), 27_960);
        Ok(Self {
            client,
            address,
            keys: Keys::default(),
            commands: Vec::new(),
            lag_ms: 0,
            waits: false,
            ended: None,
        })
    }

    /// Whether the player is in the level.
    pub(super) fn is_active(&self) -> bool {
        self.client.state() == ConnectionState::Active
    }

    /// Whether the client has no gamestate yet, and its connection has not ended.
    pub(super) fn is_loading(&self) -> bool {
        let has_level =
            matches!(self.client.state(), ConnectionState::Primed | ConnectionState::Active);
        !has_level && self.ended.is_none()
    }

    /// Adds the usercmd of a step. `player` is the server's playerstate, from which a view direction is reached.
    pub(super) fn think(&mut self, time: LevelTime, player: Option<&PlayerState>) {
        let state = self.client.state();
        if self.waits || !matches!(state, ConnectionState::Primed | ConnectionState::Active) {
            return;
        }
        let mut angles = [0; 3];
        if let (Some([pitch, yaw]), Some(player)) = (self.keys.view, player) {
            let turn = |degrees: f32| (degrees * 65_536.0 / 360.0) as i32;
            angles = [turn(pitch), turn(yaw), 0];
            for (angle, delta) in angles.iter_mut().zip(player.delta_angles) {
                *angle = angle.wrapping_sub(delta) & 0xffff;
            }
        }
        let server_time = time.0.saturating_sub(i32::from(self.lag_ms));
        let command = UserCmd { server_time, angles, ..self.keys.input };
        self.client.push_usercmd(command);
    }

    /// Takes the events of the client.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::ServerCommand(text) => self.commands.push(text),
                ClientEvent::MapRestart => self.commands.push("map_restart".to_owned()),
                ClientEvent::Refused(text) => self.ended = Some(text),
                ClientEvent::Disconnected(reason) => {
                    self.commands.push(format!("disconnect {reason}"));
                    self.ended = Some(reason.to_string());
                }
                ClientEvent::ProtocolError(error) => {
                    self.commands.push(format!("protocol_error {error:?}"));
                }
                ClientEvent::Connected
                | ClientEvent::Gamestate
                | ClientEvent::Entered
                | ClientEvent::ProofRequired
                | ClientEvent::Snapshot
                | ClientEvent::Configstring(_)
                | ClientEvent::Print(_)
                | ClientEvent::Scrambling(_)
                | ClientEvent::Download(_) => {}
            }
        }
    }
}
