//! Receive path: datagrams to viewers, messages to commands and usercmds.
//!
//! Invariants: nothing of a viewer changes before its whole message was read, least of all its address;
//! a message that cannot be read is ignored whole. Source: Quake III protocol 68, client messages.

use super::{
    commands,
    house::House,
    viewer::{Viewer, ViewerState},
    viewers::ViewerKey,
};
use crate::{
    model::{Buttons, CommandNum, LevelTime, Sequence, UserCmd, limits::MAX_PACKET_USERCMDS},
    netchan::{
        Channel, ChannelSide, CommandOrder, ReceivedMessage, detect_protocol, peek_client_header,
    },
    node::Route,
    serving::{
        load_shedding::TrafficClass,
        message_reader::{self, ClientMessage},
        proof::Known,
    },
    wire::{
        client_message::ClientHeader,
        connectionless::{Message, OUT_OF_BAND},
    },
};

impl House {
    /// Handles a datagram on the port of the viewers. `message` is scratch memory.
    pub(super) fn receive(&mut self, route: Route, datagram: &[u8], message: &mut Vec<u8>) {
        if let Some(text) = datagram.strip_prefix(OUT_OF_BAND) {
            let class = TrafficClass::of_connectionless(text);
            if self.guards.admits(self.now, class, route.remote, datagram) {
                self.receive_connectionless(route, datagram);
            } else {
                self.counts.dropped_datagrams += 1;
            }
            return;
        }
        let found = peek_client_header(datagram)
            .filter(|_| self.guards.admits(self.now, TrafficClass::Client, route.remote, datagram))
            .and_then(|(_, qport)| self.viewers.find(route.remote, qport));
        // Other senders are not answered, since the address may be forged.
        let taken = found.is_some_and(|key| self.receive_sequenced(key, route, datagram, message));
        self.counts.dropped_datagrams += u64::from(!taken);
    }

    fn receive_connectionless(&mut self, route: Route, datagram: &[u8]) {
        match Message::parse(datagram) {
            Ok(Message::GetInfo(query)) => self.answer_info(route, query),
            Ok(Message::GetStatus(query)) => self.answer_status(route, query),
            Ok(Message::GetChallenge(request)) => self.answer_challenge(route, request),
            Ok(Message::Connect(request)) => self.handle_connect(route, request),
            // Anything else is of no use to a viewer, and replies are never answered.
            _ => self.counts.dropped_datagrams += 1,
        }
    }

    /// Handles a datagram of a viewer. Returns whether it was taken.
    fn receive_sequenced(
        &mut self,
        key: ViewerKey,
        route: Route,
        datagram: &[u8],
        message: &mut Vec<u8>,
    ) -> bool {
        let now = self.now;
        let Some(viewer) = self.viewers.get_mut(key) else { return false };
        if !viewer.protocol_known {
            // Nothing was sent yet, so the channel can be replaced by one of the detected protocol.
            let (guess, challenge) = (viewer.channel.protocol(), viewer.channel.challenge());
            let protocol = detect_protocol(guess, ChannelSide::Client, challenge, datagram);
            if protocol != guess {
                let qport = viewer.remote.qport();
                viewer.channel = Channel::new(ChannelSide::Server, protocol, challenge, qport);
            }
        }
        let is_own_port = viewer.remote.address().port() == route.remote.port();
        match viewer.channel.receive(datagram, message) {
            Ok(Some(received)) if viewer.buckets.messages.allows(is_own_port, now) => {
                self.handle_message(key, route, received, message)
            }
            Ok(None) => true,
            Ok(Some(_)) | Err(_) => false,
        }
    }

    /// Handles a whole message of a viewer, still scrambled. Returns whether it was valid.
    fn handle_message(
        &mut self,
        key: ViewerKey,
        route: Route,
        received: ReceivedMessage,
        message: &mut Vec<u8>,
    ) -> bool {
        let mut usercmds = [UserCmd::default(); MAX_PACKET_USERCMDS];
        let (feed, level_time, now) = (self.stage.checksum_feed, self.stage.time(), self.now);
        let Some(viewer) = self.viewers.get_mut(key) else { return false };
        if viewer.is_zombie() {
            viewer.channel.commit(received);
            return true;
        }
        let parts = (&viewer.channel, &viewer.queue.commands, &viewer.incoming);
        let Ok(parsed) = message_reader::read(parts, feed, message, &mut usercmds) else {
            return false;
        };
        let acknowledged = parsed.head.acknowledged();
        let Some(acknowledged) = acknowledged.filter(|ack| *ack <= viewer.channel.last_sent())
        else {
            return false;
        };
        let newest = parsed.usercmds.and_then(|block| usercmds[..block.count].last());
        let known = known(viewer, level_time, now);
        let is_from_its_port = viewer.remote.address().port() == route.remote.port();
        if known.needs_proof(received.lost, is_from_its_port) && !known.proves(acknowledged, newest)
        {
            return false;
        }
        if viewer.queue.commands.acknowledge(parsed.head.reliable_acknowledge).is_err() {
            return false;
        }
        // The message is valid and takes effect.
        viewer.channel.commit(received);
        viewer.acknowledged = viewer.acknowledged.max(acknowledged);
        viewer.protocol_known = true;
        viewer.received_at = now;
        viewer.remote.rebind(now, route.remote);
        self.apply_message(key, parsed, acknowledged, &usercmds);
        true
    }

    fn apply_message(
        &mut self,
        key: ViewerKey,
        message: ClientMessage,
        acknowledged: Sequence,
        usercmds: &[UserCmd],
    ) {
        let ClientMessage { head, commands, usercmds: block } = message;
        if commands.iter().any(|(_, text)| text == "disconnect") {
            self.drop_viewer(key, "disconnected");
            return;
        }
        if !self.has_current_level(key, &head, acknowledged) {
            return;
        }
        for (number, text) in commands {
            if !self.handle_command(key, number, &text) {
                return;
            }
        }
        if let Some(block) = block {
            self.handle_usercmds(key, block.delta, acknowledged, &usercmds[..block.count]);
        }
    }

    /// Whether the viewer has loaded the level. If not, sends the gamestate when it is due.
    fn has_current_level(&mut self, key: ViewerKey, head: &ClientHeader, ack: Sequence) -> bool {
        let names_level = self.stage.has_level() && head.server_id == self.stage.server_id;
        let Some(viewer) = self.viewers.get_mut(key) else { return false };
        match &mut viewer.state {
            ViewerState::Active { .. } => names_level,
            ViewerState::Zombie { .. } => false,
            ViewerState::Primed { .. } if names_level => true,
            ViewerState::Primed { gamestate, .. } => {
                // A newer message is acknowledged and the level is unknown: the gamestate was lost.
                gamestate.is_lost |= gamestate.sequence.is_some_and(|sent| ack.distance(sent) > 0);
                false
            }
            ViewerState::Connected { .. } => {
                if !viewer.channel.is_busy() {
                    self.send_gamestate(key);
                }
                false
            }
        }
    }

    /// Handles one reliable command. Returns false if the rest of the message is ignored.
    fn handle_command(&mut self, key: ViewerKey, number: CommandNum, text: &str) -> bool {
        let Some(viewer) = self.viewers.get_mut(key).filter(|viewer| !viewer.is_zombie()) else {
            return false;
        };
        match viewer.incoming.order(number) {
            CommandOrder::Duplicate => true,
            CommandOrder::Lost => {
                self.drop_viewer(key, "Lost reliable commands");
                false
            }
            CommandOrder::Next => {
                viewer.incoming.take(number, text);
                commands::run(self, key, text);
                true
            }
        }
    }

    fn handle_usercmds(
        &mut self,
        key: ViewerKey,
        delta: bool,
        ack: Sequence,
        usercmds: &[UserCmd],
    ) {
        let now = self.now;
        let Some(viewer) = self.viewers.get_mut(key) else { return };
        let Some(newest) = usercmds.last() else { return };
        let request = delta.then_some(ack);
        match &mut viewer.state {
            ViewerState::Primed { .. } => {
                viewer.last_usercmd = *newest;
                viewer.state = ViewerState::Active { delta_request: None, last: None };
                self.enter(key);
            }
            ViewerState::Active { delta_request, .. } => {
                *delta_request = request;
                viewer.sent.acknowledge(ack, now);
                let held = viewer.last_usercmd.buttons;
                let pressed = |buttons: Buttons| buttons.contains(Buttons::ATTACK);
                viewer.last_usercmd = *newest;
                if pressed(newest.buttons) && !pressed(held) {
                    commands::follow_next(self, key, 1, true);
                }
            }
            ViewerState::Connected { .. } | ViewerState::Zombie { .. } => {}
        }
    }

    /// Greets a viewer that has loaded a level.
    fn enter(&mut self, key: ViewerKey) {
        let Some(viewer) = self.viewers.get_mut(key) else { return };
        self.guards.reset_backoff(viewer.remote.address());
        let is_greeted = std::mem::replace(&mut viewer.is_greeted, true);
        let name = viewer.name.clone();
        if !is_greeted {
            self.tell(key, &format!("{name}^7 entered the game"));
            let count = self.viewers.present();
            let plural = if count == 1 { "viewer" } else { "viewers" };
            let has_controls = self.has_timeline && self.options.viewers_control;
            let controls = if has_controls { commands::CONTROL_HELP } else { "" };
            self.tell(key, &format!("{count} {plural}. {}{controls}", commands::HELP));
        }
        if let Some(reason) = self.lost.clone() {
            self.tell(key, &format!("The source is lost: {reason}. Waiting for it ..."));
        }
        if let Some((_, scores)) = self.scores.clone() {
            self.send_command(key, &scores);
        }
    }
}

/// State of a viewer that a message is validated against.
fn known(viewer: &Viewer, level_time: LevelTime, now: crate::model::Millis) -> Known {
    Known {
        level_time,
        is_active: viewer.is_active(),
        has_sent_message: viewer.has_sent_message(),
        silence: now.since(viewer.received_at),
        usercmd_time: LevelTime(viewer.last_usercmd.server_time),
        acknowledged: viewer.acknowledged,
        sent: viewer.channel.last_sent(),
    }
}
