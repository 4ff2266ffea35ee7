//! Receive path: datagrams to clients, messages to commands and usercmds.
//!
//! Invariants: nothing of a client changes before its whole message was read, least of all its
//! netchan state and address. A message that cannot be read is ignored whole, and counts towards
//! the message limit of the client.
//! Source: Quake III protocol 68, client messages. Engine names: `SV_PacketEvent`, `SV_UserMove`.

use super::{
    Server, admission,
    client::{Client, ClientState},
    client_commands,
    core::Core,
    disconnect::LEFT,
    level::Level,
    pure, query, rcon,
};
use crate::{
    limits::BucketLimit,
    model::{
        ClientNum, CommandNum, LevelTime, Millis, Qport, Sequence, UserCmd,
        limits::MAX_PACKET_USERCMDS,
    },
    netchan::{
        AddressMatch, Channel, ChannelSide, CommandOrder, ReceivedMessage, detect_protocol,
        peek_client_header,
    },
    node::Route,
    observe::{Counter, LogEvent},
    serving::{
        load_shedding::TrafficClass,
        message_reader::{self, ClientMessage, UsercmdBlock},
        pacing::GAMESTATE_INTERVAL,
        proof::Known,
    },
    wire::{
        client_message::ClientHeader,
        connectionless::{Message, OUT_OF_BAND},
    },
};

/// Usercmds of one client that run: their times are whole ms and grow.
const USERCMDS: BucketLimit = BucketLimit { burst: 256, period: Millis(1) };

/// Memory for a message and its usercmds, reused by the next one.
#[derive(Default)]
pub(super) struct ReceiveBuffer {
    message: Vec<u8>,
    usercmds: [UserCmd; MAX_PACKET_USERCMDS],
}

impl Server {
    /// Handles a received datagram.
    pub(super) fn receive(&mut self, route: Route, datagram: &[u8]) {
        self.core.stats.add(Counter::BytesIn, datagram.len() as u64);
        if datagram.starts_with(OUT_OF_BAND) {
            self.core.stats.bump(Counter::PacketsInConnectionless);
            let class = TrafficClass::of_connectionless(&datagram[OUT_OF_BAND.len()..]);
            if self.core.handle_verdict(route, datagram) {
                return;
            }
            let is_probe = self.core.is_master_probe(route, datagram);
            if is_probe || self.core.admits(class, route, datagram) {
                self.receive_connectionless(route, datagram, is_probe);
            }
        } else if let Some((_, qport)) = peek_client_header(datagram) {
            if !self.core.admits(TrafficClass::Client, route, datagram) {
                return;
            }
            match self.core.find_client(route, qport) {
                Some(number) => {
                    self.core.stats.bump(Counter::PacketsInSequenced);
                    self.receive_sequenced(number, route, datagram);
                }
                // Not answered, since the address may be forged.
                None => self.core.stats.bump(Counter::PacketsInUnmatched),
            }
        } else {
            self.core.stats.bump(Counter::MalformedHeader);
        }
    }

    /// Handles a connectionless packet. `is_probe`: it is the question of a master, without a limit.
    fn receive_connectionless(&mut self, route: Route, datagram: &[u8], is_probe: bool) {
        match Message::parse(datagram) {
            Ok(Message::GetInfo(query)) => self.core.handle_get_info(route, query, is_probe),
            Ok(Message::GetStatus(query)) => {
                query::handle_get_status(self, route, query, is_probe);
            }
            Ok(Message::GetChallenge(request)) => {
                self.core.handle_get_challenge(route, request, is_probe);
            }
            Ok(Message::Connect(request)) => admission::handle_connect(self, route, request),
            Ok(Message::Rcon(request)) => rcon::handle_rcon(self, route, request),
            // Replies are never answered, and a connection ends by a command of its client only.
            Ok(
                Message::ChallengeResponse(_)
                | Message::ConnectResponse(_)
                | Message::InfoResponse(_)
                | Message::StatusResponse(_)
                | Message::Print(_)
                | Message::Echo(_)
                | Message::Disconnect
                | Message::Heartbeat(_)
                | Message::GetServers(_)
                | Message::ServerList(_)
                | Message::ObsoleteCommand(_)
                | Message::Unknown(_),
            ) => self.core.stats.bump(Counter::ConnectionlessIgnored),
            Err(error) => self.core.log_connectionless_error(route, &error),
        }
    }

    fn receive_sequenced(&mut self, number: ClientNum, route: Route, datagram: &[u8]) {
        // It arrives while the message is read.
        self.game.expect_usercmds(number);
        let mut buffer = self.receive_buffer.take().unwrap_or_default();
        let received = self.core.open_datagram(number, route, datagram, &mut buffer.message);
        if let Some(received) = received {
            self.handle_message(number, route, received, &mut buffer);
        }
        self.receive_buffer = Some(buffer);
    }

    /// Handles a whole message of a client, still scrambled.
    fn handle_message(
        &mut self,
        number: ClientNum,
        route: Route,
        received: ReceivedMessage,
        ReceiveBuffer { message, usercmds }: &mut ReceiveBuffer,
    ) {
        let Some(client) = self.core.clients.get_mut(number) else { return };
        if client.is_zombie() {
            // Its sequences are kept up to date, its content is ignored.
            client.channel.commit(received);
            return;
        }
        let feed = self.core.level.checksum_feed;
        let parts = (&client.channel, &client.queue.commands, &client.incoming);
        let parsed = match message_reader::read(parts, feed, message, usercmds) {
            Ok(parsed) => parsed,
            Err(fault) => {
                self.core.log_client_error(number, Counter::MalformedMessage, fault);
                return;
            }
        };
        let head = parsed.head;
        // Only sent messages can be acknowledged. A channel ends long before its sequences wrap.
        let Some(acknowledged) =
            head.acknowledged().filter(|ack| *ack <= client.channel.last_sent())
        else {
            self.core.log_client_error(
                number,
                Counter::FalseAcknowledge,
                "acknowledges a message not sent",
            );
            return;
        };
        let newest = parsed.usercmds.and_then(|block| usercmds[..block.count].last());
        let known = known(client, &self.core.level, self.core.now);
        if known.needs_proof(received.lost, is_from_its_port(client, route))
            && !known.proves(acknowledged, newest)
        {
            let (sequence, from) = (received.sequence, route.remote);
            let fault = format_args!("unproven message {sequence} from {from}");
            self.core.log_client_error(number, Counter::UnprovenMessages, fault);
            return;
        }
        if let Err(fault) = client.queue.commands.acknowledge(head.reliable_acknowledge) {
            self.core.log_client_error(number, Counter::FalseAcknowledge, fault);
            return;
        }

        // The message is valid and takes effect.
        client.channel.commit(received);
        client.acknowledged = client.acknowledged.max(acknowledged);
        client.protocol_known = true;
        client.received_at = self.core.now;
        if client.remote.rebind(self.core.now, route.remote) {
            log::info!("client {number} address changed to {}", route.remote);
        }

        self.apply_message(number, parsed, acknowledged, usercmds);
    }

    /// Runs the commands and usercmds of a valid message.
    fn apply_message(
        &mut self,
        number: ClientNum,
        message: ClientMessage,
        acknowledged: Sequence,
        usercmds: &[UserCmd],
    ) {
        let ClientMessage { head, commands, usercmds: block } = message;
        let disconnects = commands.iter().any(|(_, text)| text == "disconnect");
        if disconnects && head.server_id != self.core.level.server_id {
            // It never received the level, and still frees its slot.
            self.drop_client(number, LEFT);
            return;
        }
        // A download continues while the level changes. The gamestate follows it.
        let downloads = self.core.clients.get(number).is_some_and(|c| c.downloads.is_active())
            || commands.iter().any(|(_, text)| text == "donedl" || text.starts_with("download "));
        let names_level = head.server_id == self.core.level.server_id;
        if (!downloads || names_level) && !self.has_current_level(number, &head, acknowledged) {
            return;
        }
        for (command, text) in commands {
            if !self.handle_command(number, command, &text) {
                return;
            }
        }
        if let Some(client) = self.core.clients.get_mut(number) {
            client.downloads.record_received(acknowledged);
        }
        if !names_level {
            return;
        }
        if let Some(UsercmdBlock { delta, count }) = block {
            self.handle_usercmds(number, delta, acknowledged, &usercmds[..count]);
        }
    }

    /// Whether the client has loaded the current level, so that its commands and usercmds apply. If
    /// not, sends the gamestate when it is due.
    ///
    /// An active client has the gamestate. With another server id it has not read of a restart yet,
    /// or the message is invalid. It is never primed again. A client without a gamestate cannot
    /// know the server id.
    fn has_current_level(&mut self, number: ClientNum, head: &ClientHeader, ack: Sequence) -> bool {
        let names_level = head.server_id == self.core.level.server_id;
        let Some(client) = self.core.clients.get_mut(number) else { return false };
        let owed = match &mut client.state {
            ClientState::Active(_) => return names_level,
            ClientState::Zombie(_) => return false,
            ClientState::Connected(_) => true,
            ClientState::Primed(_) if names_level => return true,
            ClientState::Primed(primed) => {
                // A newer message is acknowledged and the level is unknown: the gamestate was lost. A
                // report that comes too early is kept, as the next one is a second away.
                let sent = &mut primed.gamestate;
                sent.is_lost |= sent.sequence.is_some_and(|sequence| ack.distance(sequence) > 0);
                sent.is_lost && self.core.now.since(sent.at) >= GAMESTATE_INTERVAL
            }
        };
        if owed && !client.channel.is_busy() {
            self.send_gamestate(number);
        }
        false
    }

    fn handle_usercmds(
        &mut self,
        number: ClientNum,
        delta: bool,
        ack: Sequence,
        usercmds: &[UserCmd],
    ) {
        let now = self.core.now;
        let Some(client) = self.core.clients.get_mut(number) else { return };
        if let ClientState::Active(active) = &mut client.state {
            active.delta_request = delta.then_some(ack);
            active.snapshots.history.acknowledge(ack, now);
            if delta {
                active.snapshots.history.release_before(ack);
            }
        }
        if self.faults.has_ended_level() {
            return;
        }
        let Some(last) = usercmds.last() else { return };
        let is_primed = matches!(client.state, ClientState::Primed(_));
        if !pure::allows_usercmds(self, number) {
            return;
        }
        if is_primed {
            self.enter_world(number, usercmds[0]);
        }
        let newer = |a: i32, b: i32| a.wrapping_sub(b) > 0;
        let Some(client) = self.core.clients.get(number) else { return };
        let mut newest = client.last_usercmd.server_time;
        for command in usercmds {
            // Later than the last of the packet: from before a restart.
            if newer(command.server_time, last.server_time) || !newer(command.server_time, newest) {
                continue;
            }
            let Some(client) = self.core.clients.get_mut(number).filter(|c| c.is_active()) else {
                return;
            };
            newest = command.server_time;
            if !client.buckets.usercmds.allows(now, USERCMDS) {
                self.core.stats.bump(Counter::MovesOverLimit);
                return;
            }
            client.last_usercmd = *command;
            self.core.stats.bump(Counter::Moves);
            self.enter_game(|game, host| game.client_think(host, number, command));
        }
        self.process_pending_drops();
    }

    /// Enters a client that has loaded the level into the world, with its first usercmd.
    pub(super) fn enter_world(&mut self, number: ClientNum, first_usercmd: UserCmd) {
        let Some(client) = self.core.clients.get_mut(number) else { return };
        client.enter(first_usercmd);
        // The backoff of an address ends with a client that plays.
        self.core.guards.reset_backoff(client.remote.address());
        self.enter_game(|game, host| game.client_begin(host, number));
        self.process_pending_drops();
    }

    /// Handles one reliable command. Returns false if the rest of the message is ignored.
    fn handle_command(&mut self, number: ClientNum, command: CommandNum, text: &str) -> bool {
        let Some(client) = self.core.clients.get(number).filter(|c| !c.is_zombie()) else {
            return false;
        };
        match client.incoming.order(command) {
            CommandOrder::Duplicate => true,
            CommandOrder::Lost => {
                self.drop_client(number, "Lost reliable commands");
                false
            }
            CommandOrder::Next => {
                if !client_commands::run_client_command(self, number, text) {
                    return false;
                }
                if let Some(client) = self.core.clients.get_mut(number) {
                    client.incoming.take(command, text);
                }
                true
            }
        }
    }
}

impl Core {
    /// Whether a datagram is processed. If not, it is counted as shed.
    fn admits(&mut self, class: TrafficClass, route: Route, datagram: &[u8]) -> bool {
        let admitted = self.guards.admits(self.now, class, route.remote, datagram);
        if !admitted {
            self.stats.bump(match class {
                TrafficClass::Query => Counter::QueriesShed,
                TrafficClass::Connect => Counter::ConnectsShed,
                TrafficClass::Client => Counter::SequencedShed,
            });
        }
        admitted
    }

    /// Counts a frame that shed datagrams, and logs it within the log limit.
    pub(super) fn log_overload(&mut self) {
        self.stats.bump(Counter::FramesOverloaded);
        if let Some(suppressed) = self.stats.allows_log(LogEvent::Overload, self.now) {
            let shed = |counter| self.stats.counters().get(counter);
            log::warn!(
                "overload: shed {} queries, {} connects, {} client datagrams in total{suppressed}",
                shed(Counter::QueriesShed),
                shed(Counter::ConnectsShed),
                shed(Counter::SequencedShed),
            );
        }
    }

    /// Finds the client of a datagram by address and qport, or else by host and qport. Of several
    /// of the latter it is the one with the last message: the others are abandoned connections of
    /// the same player.
    fn find_client(&self, route: Route, qport: Qport) -> Option<ClientNum> {
        let mut other_port: Option<(Millis, ClientNum)> = None;
        for (number, client) in self.clients.with_qport(qport) {
            match client.remote.match_source(route.remote, qport) {
                AddressMatch::Exact => return Some(number),
                AddressMatch::PortChanged => {
                    if other_port.is_none_or(|(received_at, _)| client.received_at > received_at) {
                        other_port = Some((client.received_at, number));
                    }
                }
                AddressMatch::Mismatch => {}
            }
        }
        other_port.map(|(_, number)| number)
    }

    /// Passes a datagram to the client's channel. A complete message is written to `message`.
    fn open_datagram(
        &mut self,
        number: ClientNum,
        route: Route,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Option<ReceivedMessage> {
        let client = self.clients.get_mut(number)?;
        if !client.protocol_known {
            // Nothing was sent yet, so the channel can be replaced by one of the detected protocol.
            let (guess, challenge) = (client.channel.protocol(), client.channel.challenge());
            let protocol = detect_protocol(guess, ChannelSide::Client, challenge, datagram);
            if protocol != guess {
                let qport = client.remote.qport();
                client.channel = Channel::new(ChannelSide::Server, protocol, challenge, qport);
            }
        }
        let is_own_port = is_from_its_port(client, route);
        match client.channel.receive(datagram, message) {
            Ok(Some(_)) if !client.buckets.messages.allows(is_own_port, self.now) => {
                self.stats.bump(Counter::MessagesOverLimit);
                None
            }
            Ok(received) => received,
            Err(crate::netchan::DropReason::Old { .. }) => {
                // Duplicates and late packets are caused by the network, not by the client.
                self.stats.bump(Counter::PacketsOutOfOrder);
                None
            }
            Err(fault) => {
                self.log_client_error(number, Counter::MalformedPacket, fault);
                None
            }
        }
    }

    /// Counts a protocol error of a client, and logs it within the log limit.
    pub(super) fn log_client_error(
        &mut self,
        number: ClientNum,
        counter: Counter,
        fault: impl std::fmt::Display,
    ) {
        self.stats.bump(counter);
        if let Some(suppressed) = self.stats.allows_log(LogEvent::ClientFault, self.now) {
            let address = self.clients.get(number).map(|client| client.remote.address());
            let from = address.map_or_else(String::new, |address| format!(" ({address})"));
            log::warn!("client {number}{from}: {fault}{suppressed}");
        }
    }

    /// Counts a connectionless packet that cannot be read, and logs it within the log limit.
    pub(super) fn log_connectionless_error(
        &mut self,
        route: Route,
        fault: &impl std::fmt::Display,
    ) {
        self.stats.bump(Counter::MalformedConnectionless);
        if let Some(suppressed) = self.stats.allows_log(LogEvent::ConnectionlessFault, self.now) {
            log::warn!("{}: {fault}{suppressed}", route.remote);
        }
    }
}

/// Whether a message comes from the client's port.
fn is_from_its_port(client: &Client, route: Route) -> bool {
    client.remote.address().port() == route.remote.port()
}

/// State of a client that a message is validated against.
fn known(client: &Client, level: &Level, now: Millis) -> Known {
    Known {
        level_time: level.time,
        is_active: client.is_active(),
        has_sent_message: client.has_sent_message(),
        silence: now.since(client.received_at),
        usercmd_time: LevelTime(client.last_usercmd.server_time),
        acknowledged: client.acknowledged,
        sent: client.channel.last_sent(),
    }
}
