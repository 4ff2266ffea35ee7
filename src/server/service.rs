//! What the server serves to its clients: the level, the game, the slots and limits of its settings.

use super::{
    Server, client::ServerRole, client_commands, core::Core, downloads::is_download_command,
    game_faults::connect_to_game, query, rcon,
};
use crate::{
    model::{ClientNum, CommandNum, Millis, Sequence, UserCmd},
    node::Route,
    serving::{
        connection::{
            AdmissionLimits, Connections, Passage, ReceiveBuffer, Service, Slots, Timeouts,
        },
        rate_limits::QueryLimits,
    },
    settings::key,
    wire::{
        Protocol,
        connectionless::{GetChallenge, Rcon, StatusPlayer},
        info::InfoString,
        text::WireText,
    },
};

impl Core {
    /// Parts of the server that hold, limit and send to its connections.
    pub(super) fn connections(&mut self) -> Connections<'_, ServerRole> {
        Connections {
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
        }
    }
}

impl Service for Server {
    type Role = ServerRole;

    fn connections(&mut self) -> Connections<'_, ServerRole> {
        self.core.connections()
    }

    fn slots(&self) -> &Slots<ServerRole> {
        &self.core.clients
    }

    fn receive_buffer(&mut self) -> &mut Option<Box<ReceiveBuffer>> {
        &mut self.receive_buffer
    }

    fn has_gamestate(&self) -> bool {
        !self.faults.has_ended_level()
    }

    fn level_name(&self) -> String {
        format!("map {}", self.core.level.map)
    }

    fn intercept(&mut self, route: Route, datagram: &[u8]) -> Passage {
        if self.core.handle_verdict(route, datagram) {
            Passage::Handled
        } else if self.core.is_master_probe(route, datagram) {
            Passage::Probe
        } else {
            Passage::Limited
        }
    }

    fn answer_challenge(&mut self, route: Route, request: GetChallenge<'_>, is_probe: bool) {
        self.core.handle_get_challenge(route, request, is_probe);
    }

    fn run_rcon(&mut self, route: Route, request: Rcon<'_>) {
        rcon::handle_rcon(self, route, request);
    }

    fn query_limits(&self) -> Option<QueryLimits> {
        query::limits(&self.core.settings)
    }

    fn info_response(&self, challenge: Option<WireText<'_>>) -> InfoString {
        self.core.info_summary(challenge)
    }

    fn status_response(&self) -> (InfoString, Vec<StatusPlayer<'_>>) {
        (self.core.serverinfo(), query::players(self))
    }

    fn admission_limits(&self, route: Route) -> AdmissionLimits {
        self.admission_limits_of(route.remote)
    }

    fn protocol_of(&self, number: i32) -> Option<(&'static Protocol, bool)> {
        self.core.protocol_with(number)
    }

    fn slots_for(&self, info: &InfoString) -> impl Iterator<Item = ClientNum> {
        self.core.slots_open_to(info)
    }

    fn is_free(&self, number: ClientNum) -> bool {
        super::bots::is_free(&self.core, number)
    }

    fn store_userinfo(&mut self, number: ClientNum, info: InfoString) {
        self.core.store_userinfo(number, info);
    }

    fn connect(&mut self, number: ClientNum) -> Result<(), String> {
        connect_to_game(self, number, true)
    }

    fn expect_usercmds(&mut self, number: ClientNum) {
        self.game.expect_usercmds(number);
    }

    fn runs_without_level(&self, number: ClientNum, commands: &[(CommandNum, String)]) -> bool {
        self.core.clients.get(number).is_some_and(|client| client.own.downloads.is_active())
            || commands.iter().any(|(_, text)| is_download_command(text))
    }

    fn run_command(&mut self, number: ClientNum, text: &str) -> bool {
        client_commands::run_client_command(self, number, text)
    }

    fn record_acknowledged(&mut self, number: ClientNum, acknowledged: Sequence) {
        if let Some(client) = self.core.clients.get_mut(number) {
            client.own.downloads.record_received(acknowledged);
        }
    }

    fn run_usercmds(&mut self, number: ClientNum, usercmds: &[UserCmd]) {
        super::usercmds::run(self, number, usercmds);
    }

    fn timeouts(&self) -> Timeouts {
        let seconds =
            |key| Millis::seconds(self.core.settings.int(key).max(0).unsigned_abs().into());
        Timeouts {
            silence: seconds(key::SV_TIMEOUT),
            join: Some(seconds(key::SV_JOIN_TIMEOUT)).filter(|&limit| limit > Millis(0)),
            zombie: seconds(key::SV_ZOMBIETIME),
        }
    }

    fn drop_client(&mut self, number: ClientNum, reason: &str) {
        Self::drop_client(self, number, reason);
    }

    fn send_last(&mut self, number: ClientNum) {
        self.send_snapshot(number);
    }
}
