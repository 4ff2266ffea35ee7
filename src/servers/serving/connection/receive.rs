//! Receive path: datagrams to clients, messages to commands and usercmds.
//!
//! Invariants: nothing of a client changes before its whole message was read, least of all its
//! netchan state and address. A message that cannot be read is ignored whole, and counts towards
//! the message limit of the client.
//! Source: Quake III protocol 68, client messages. Engine names: `SV_PacketEvent`, `SV_UserMove`.

use super::{
    Connections, LEFT, Role,
    admission::{handle_connect, handle_get_challenge},
    query::{QueryForm, answer_query},
    service::{KeyOf, Passage, RconRequest, Service},
    state::ConnectionState,
};
use crate::{
    model::{CommandNum, Millis, Sequence, ServerId, UserCmd, limits::MAX_PACKET_USERCMDS, text},
    netchan::{
        Channel, ChannelSide, CommandOrder, DropReason, ReceivedMessage, detect_protocol,
        peek_client_header,
    },
    node::Route,
    observe::{Counter, LogEvent},
    serving::{
        load_shedding::TrafficClass,
        message_reader::{self, ClientMessage, UsercmdBlock},
        pacing::GAMESTATE_INTERVAL,
        scrambling::ScramblingAnswer,
    },
    wire::{
        client_message::ClientHeader,
        connectionless::{Message, OUT_OF_BAND},
        protocol::Scrambling,
        secure_rcon::SecureRcon,
    },
};

/// Memory for a message and its usercmds, reused by the next one.
#[derive(Debug, Default)]
pub(crate) struct ReceiveBuffer {
    message: Vec<u8>,
    usercmds: [UserCmd; MAX_PACKET_USERCMDS],
}

/// Handles a received datagram.
pub(crate) fn receive<S: Service>(service: &mut S, route: Route, datagram: &[u8]) {
    let mut connections = service.connections();
    connections.stats.add(Counter::BytesIn, datagram.len() as u64);
    if let Some(text) = datagram.strip_prefix(OUT_OF_BAND) {
        connections.stats.bump(Counter::PacketsInConnectionless);
        let passage = service.intercept(route, datagram);
        let is_probe = passage == Passage::Probe;
        let class = TrafficClass::of_connectionless(text);
        if passage != Passage::Handled
            && (is_probe || service.connections().admits(class, route, datagram))
        {
            receive_connectionless(service, route, datagram, is_probe);
        }
    } else if let Some((_, qport)) = peek_client_header(datagram) {
        if !connections.admits(TrafficClass::Client, route, datagram) {
            return;
        }
        match connections.slots.find(route.remote, qport) {
            Some(key) => {
                connections.stats.bump(Counter::PacketsInSequenced);
                receive_sequenced(service, key, route, datagram);
            }
            // Not answered, since the address may be forged.
            None => connections.stats.bump(Counter::PacketsInUnmatched),
        }
    } else {
        connections.stats.bump(Counter::MalformedHeader);
    }
}

/// Handles a connectionless packet. `is_probe`: it is the question of a master, without a limit.
fn receive_connectionless<S: Service>(
    service: &mut S,
    route: Route,
    datagram: &[u8],
    is_probe: bool,
) {
    match Message::parse(datagram) {
        Ok(Message::GetInfo(query)) => {
            answer_query(service, route, query, QueryForm::Info, is_probe);
        }
        Ok(Message::GetStatus(query)) => {
            answer_query(service, route, query, QueryForm::Status, is_probe);
        }
        Ok(Message::GetChallenge(request)) => {
            handle_get_challenge(service, route, request, is_probe);
        }
        Ok(Message::Connect(request)) => handle_connect(service, route, request),
        Ok(Message::Rcon(request)) => service.run_rcon(route, RconRequest::Plain(request)),
        Ok(Message::Unknown(_)) => match SecureRcon::parse(datagram) {
            Some(request) => service.run_rcon(route, RconRequest::Signed(request)),
            None => service.connections().stats.bump(Counter::ConnectionlessIgnored),
        },
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
            | Message::ObsoleteCommand(_),
        ) => service.connections().stats.bump(Counter::ConnectionlessIgnored),
        Err(error) => service.connections().log_connectionless_error(route, &error),
    }
}

fn receive_sequenced<S: Service>(service: &mut S, key: KeyOf<S>, route: Route, datagram: &[u8]) {
    // Prefetched while the message is parsed.
    service.expect_usercmds(key);
    let mut buffer = service.receive_buffer().take().unwrap_or_default();
    let message = &mut buffer.message;
    if let Some(received) = service.connections().open_datagram(key, route, datagram, message) {
        handle_message(service, key, route, received, &mut buffer);
    }
    *service.receive_buffer() = Some(buffer);
}

/// Handles a whole message of a client, still scrambled.
fn handle_message<S: Service>(
    service: &mut S,
    key: KeyOf<S>,
    route: Route,
    received: ReceivedMessage,
    ReceiveBuffer { message, usercmds }: &mut ReceiveBuffer,
) {
    let Some((parsed, acknowledged)) =
        service.connections().validate_message(key, route, received, message, usercmds)
    else {
        return;
    };
    apply_message(service, key, parsed, acknowledged, usercmds);
}

/// Runs the commands and usercmds of a valid message.
fn apply_message<S: Service>(
    service: &mut S,
    key: KeyOf<S>,
    message: ClientMessage,
    acknowledged: Sequence,
    usercmds: &[UserCmd],
) {
    let ClientMessage { head, commands, usercmds: block } = message;
    let names_level = service.connections().is_level(head.server_id);
    if !names_level && commands.iter().any(|(_, text)| text == "disconnect") {
        // It never received the level, and still frees its slot.
        service.drop_client(key, LEFT);
        return;
    }
    // A download continues while the level changes. The gamestate follows it.
    let needs_level = names_level || !service.runs_without_level(key, &commands);
    if needs_level && !has_current_level(service, key, &head, acknowledged) {
        return;
    }
    for (number, text) in commands {
        if !handle_command(service, key, number, &text) {
            return;
        }
    }
    service.record_acknowledged(key, acknowledged);
    if !names_level {
        return;
    }
    let Some(UsercmdBlock { delta, count }) = block else { return };
    let connections = service.connections();
    let Some(client) = connections.slots.get_mut(key) else { return };
    client.acknowledge_snapshot(delta, acknowledged, connections.now);
    service.run_usercmds(key, &usercmds[..count]);
}

/// Whether the client has loaded the current level, so that its commands and usercmds apply. If
/// not, sends the gamestate when it is due.
///
/// An active client has the gamestate. With another server id it has not read of a restart yet,
/// or the message is invalid. It is never primed again. A client without a gamestate cannot
/// know the server id.
fn has_current_level<S: Service>(
    service: &mut S,
    key: KeyOf<S>,
    head: &ClientHeader,
    ack: Sequence,
) -> bool {
    let connections = service.connections();
    let (now, names_level) = (connections.now, connections.is_level(head.server_id));
    let Some(client) = connections.slots.get_mut(key) else { return false };
    let is_owed = match &mut client.state {
        ConnectionState::Active(_) => return names_level,
        ConnectionState::Zombie(_) => return false,
        ConnectionState::Connected(_) => true,
        ConnectionState::Primed(_) if names_level => return true,
        ConnectionState::Primed(primed) => {
            // A newer message is acknowledged and the level is unknown: the gamestate was lost. A
            // report that comes too early is kept, as the next one is a second away.
            let sent = &mut primed.gamestate;
            sent.is_lost |= sent.sequence.is_some_and(|sequence| ack.distance(sequence) > 0);
            sent.is_lost && now.since(sent.at) >= GAMESTATE_INTERVAL
        }
    };
    if is_owed && !client.channel.is_busy() {
        service.send_gamestate(key);
    }
    false
}

/// Enters a client that has loaded the level, with its first usercmd.
pub(crate) fn enter_level<R: Role>(connections: Connections<'_, R>, key: R::Key, first: UserCmd) {
    let Some(client) = connections.slots.get_mut(key) else { return };
    client.enter(first);
    // The backoff of an address ends with a client that plays.
    connections.guards.reset_backoff(client.remote.address());
}

/// Handles one reliable command. Returns false if the rest of the message is ignored.
fn handle_command<S: Service>(
    service: &mut S,
    key: KeyOf<S>,
    number: CommandNum,
    text: &str,
) -> bool {
    let Some(client) = service.slots().get(key).filter(|client| !client.is_zombie()) else {
        return false;
    };
    match client.incoming.order(number) {
        CommandOrder::Duplicate => true,
        CommandOrder::Lost => {
            service.drop_client(key, "Lost reliable commands");
            false
        }
        CommandOrder::Next => {
            if !service.run_command(key, text) {
                return false;
            }
            if let Some(client) = service.connections().slots.get_mut(key) {
                client.incoming.take(number, text);
            }
            true
        }
    }
}

impl<R: Role> Connections<'_, R> {
    /// Whether a server id is that of the level in force.
    fn is_level(&self, id: ServerId) -> bool {
        id == self.level.server_id && id != ServerId(0)
    }

    /// Starts a frame. If datagrams were shed since the last one, counts the frame and logs it within the log
    /// limit.
    pub(crate) fn begin_frame(&mut self, length: Millis) {
        if !self.guards.begin_frame(length) {
            return;
        }
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

    /// Passes a datagram to the client's channel. A complete message is written to `message`.
    fn open_datagram(
        &mut self,
        key: R::Key,
        route: Route,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> Option<ReceivedMessage> {
        let client = self.slots.get_mut(key)?;
        if !client.protocol_known {
            // Nothing was sent yet, so the channel can be replaced by one of the detected protocol.
            let (guess, challenge) = (client.channel.protocol(), client.channel.challenge());
            let protocol = detect_protocol(guess, ChannelSide::Client, challenge, datagram);
            if protocol != guess {
                let qport = client.remote.qport();
                client.channel = Channel::new(ChannelSide::Server, protocol, challenge, qport);
            }
        }
        let is_own_port = client.is_from_its_port(route);
        match client.channel.receive(datagram, message) {
            Ok(Some(_)) if !client.messages.allows(is_own_port, self.now) => {
                self.stats.bump(Counter::MessagesOverLimit);
                None
            }
            Ok(received) => received,
            Err(DropReason::Old { .. }) => {
                // Duplicates and late packets are caused by the network, not by the client.
                self.stats.bump(Counter::PacketsOutOfOrder);
                None
            }
            Err(fault) => {
                self.log_client_error(key, Counter::MalformedPacket, fault);
                None
            }
        }
    }

    /// Reads a message to its end and validates it. If it is valid, it takes effect on the connection.
    fn validate_message(
        &mut self,
        key: R::Key,
        route: Route,
        received: ReceivedMessage,
        message: &mut Vec<u8>,
        usercmds: &mut [UserCmd; MAX_PACKET_USERCMDS],
    ) -> Option<(ClientMessage, Sequence)> {
        let client = self.slots.get_mut(key)?;
        if client.is_zombie() {
            // Its sequences are kept up to date, its content is ignored.
            client.channel.commit(received);
            return None;
        }
        let feed = self.level.checksum_feed;
        let original = client.scrambling.is_some().then(|| message.clone());
        let (channel, sent) = (&client.channel, &client.queue.commands);
        let read = message_reader::read(channel, sent, &client.incoming, feed, message, usercmds);
        if let Some(original) = original {
            self.judge_scrambling(key, original, read.is_ok());
        }
        let client = self.slots.get_mut(key)?;
        let parsed = match read {
            Ok(parsed) => parsed,
            Err(fault) => {
                self.log_client_error(key, Counter::MalformedMessage, fault);
                return None;
            }
        };
        // Only sent messages can be acknowledged. A channel ends long before its sequences wrap.
        let acknowledged = parsed.head.acknowledged();
        let Some(acknowledged) = acknowledged.filter(|ack| *ack <= client.channel.last_sent())
        else {
            let fault = "acknowledges a message not sent";
            self.log_client_error(key, Counter::FalseAcknowledge, fault);
            return None;
        };
        let newest = parsed.usercmds.and_then(|block| usercmds[..block.count].last());
        let known = client.known(self.level.time, self.now);
        if known.needs_proof(received.lost, client.is_from_its_port(route))
            && !known.proves(acknowledged, newest)
        {
            let (sequence, from) = (received.sequence, route.remote);
            let fault = format_args!("unproven message {sequence} from {from}");
            self.log_client_error(key, Counter::UnprovenMessages, fault);
            return None;
        }
        let command = parsed.head.reliable_acknowledge;
        if let Err(fault) = client.queue.commands.acknowledge(command) {
            self.log_client_error(key, Counter::FalseAcknowledge, fault);
            return None;
        }

        // The message is valid and takes effect.
        client.channel.commit(received);
        client.acknowledged = client.acknowledged.max(acknowledged);
        client.protocol_known = true;
        client.received_at = self.now;
        if client.remote.rebind(self.now, route.remote) {
            log::info!("{} {key} address changed to {}", R::NOUN, route.remote);
        }
        Some((parsed, acknowledged))
    }

    /// Judges by a message whether a client scrambles as its protocol says. If it does not, it is dropped and
    /// remembered.
    fn judge_scrambling(&mut self, key: R::Key, mut message: Vec<u8>, is_read: bool) {
        let feed = self.level.checksum_feed;
        let Some(client) = self.slots.get_mut(key) else { return };
        let Some(mut question) = client.scrambling else { return };
        let (protocol, qport) = (client.channel.protocol(), client.remote.qport());
        let answer = question.count(message.len(), is_read, || {
            let other = protocol.next_with_number();
            let challenge = client.channel.challenge();
            let channel = Channel::<()>::new(ChannelSide::Server, other, challenge, qport);
            let (sent, incoming) = (&client.queue.commands, &client.incoming);
            let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
            message_reader::read(&channel, sent, incoming, feed, &mut message, &mut moves).is_ok()
        });
        let scrambles = protocol.framing.scrambling != Scrambling::None;
        let is_clear = match answer {
            ScramblingAnswer::Open => {
                client.scrambling = Some(question);
                return;
            }
            ScramblingAnswer::Expected => !scrambles,
            ScramblingAnswer::Other => scrambles,
        };
        client.scrambling = None;
        let from = client.remote.address();
        self.guards.unscrambled.set(from, qport, is_clear);
        let found = if is_clear { "not scrambled" } else { "scrambled" };
        let version = client.userinfo.get("version").unwrap_or("unknown version");
        let version = text::escaped(version.as_bytes());
        log::info!(
            "{} {key}: messages of protocol {} are {found} ({version})",
            R::NOUN,
            protocol.number
        );
        if answer == ScramblingAnswer::Other {
            self.drops.push((key, format!("messages are {found}, connect again")));
        }
    }

    /// Counts a protocol error of a client, and logs it within the log limit.
    pub(crate) fn log_client_error(
        &mut self,
        key: R::Key,
        counter: Counter,
        fault: impl std::fmt::Display,
    ) {
        self.stats.bump(counter);
        if let Some(suppressed) = self.stats.allows_log(LogEvent::ClientFault, self.now) {
            let address = self.slots.get(key).map(|client| client.remote.address());
            let from = address.map_or_else(String::new, |address| format!(" ({address})"));
            log::warn!("{} {key}{from}: {fault}{suppressed}", R::NOUN);
        }
    }

    /// Counts a connectionless packet that cannot be read, and logs it within the log limit.
    pub(crate) fn log_connectionless_error(
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
