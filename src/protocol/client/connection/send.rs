//! Send path of a connection: acknowledgements, unacknowledged commands, usercmds.
//!
//! Source: Quake III protocol 68, packets of a client, delta requests.

use crate::{
    model::{
        Millis, ServerId, UserCmd,
        limits::{MAX_MESSAGE_LEN, MAX_PACKET_USERCMDS},
    },
    netchan::{SendError, command_hash, usercmd_key},
    node::{Outbox, Route},
    wire::client_message::{self, ClientHeader},
};

use super::{Connection, detection::Detection};

/// Time between packets before the first gamestate.
const IDLE_INTERVAL: Millis = Millis(1000);
/// A message of this length takes no further command, so that the longest one and all usercmds
/// still fit.
const COMMAND_BITS: usize = (MAX_MESSAGE_LEN - 4096) * 8;

impl Connection {
    /// Sends a packet if one is due.
    ///
    /// # Errors
    /// Message numbers used up.
    pub(in crate::client) fn frame(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
    ) -> Result<(), SendError> {
        if now < self.packets.next() {
            return Ok(());
        }
        self.packets.advance(now, self.level.is_none().then_some(IDLE_INTERVAL));
        match self.detection {
            Detection::Untried => self.detection = Detection::Tried,
            Detection::Tried => self.change_protocol(self.channel.protocol().next_with_number()),
            Detection::Done => {
                if let Some(other) = self.other_to_try() {
                    let own = self.channel.protocol();
                    self.change_protocol(other);
                    let sent = self.send(now, route, outbox);
                    self.change_protocol(own);
                    return sent;
                }
            }
            Detection::Seen => {}
        }
        self.send(now, route, outbox)
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// As [`Channel::send`].
    pub(in crate::client) fn send(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
    ) -> Result<(), SendError> {
        let writer = &mut self.writer;
        let head = ClientHeader {
            server_id: self.level.as_ref().map_or(ServerId(0), |level| level.server_id),
            message_acknowledge: self.channel.last_received().0 as i32,
            reliable_acknowledge: self.server_commands.last(),
        };
        client_message::begin(writer, self.channel.protocol(), &head);
        for (number, text) in self.commands.unacknowledged() {
            // The rest is sent when these are acknowledged.
            if writer.bit_len() > COMMAND_BITS {
                break;
            }
            client_message::write_command(writer, number, text.as_bytes());
        }
        let text = self.server_commands.text();
        if let Some(level) = &self.level
            && self.download.allows_usercmds()
        {
            let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
            let count = self.usercmds.select(&mut moves);
            let numbers = self.channel.protocol().numbers;
            if !numbers.is_current() {
                for usercmd in &mut moves[..count] {
                    *usercmd = numbers.sent_usercmd(usercmd);
                }
            }
            let key = usercmd_key(
                level.checksum_feed.unwrap_or_default(),
                head.message_acknowledge,
                command_hash(text.as_bytes()),
            );
            // Only a message with a stored snapshot can be a delta base.
            let newest = self.history.current().map(|current| current.sequence);
            let delta = newest == Some(self.channel.last_received());
            client_message::write_usercmds(writer, delta, key, &moves[..count]);
            self.usercmds.sent(now, self.channel.last_received());
        }
        client_message::end(writer);
        debug_assert!(!writer.overflowed(), "a packet of a client is bounded");
        let channel = &mut self.channel;
        let mut sent = Ok(());
        outbox.push_with(route, |out| {
            sent = channel.send(writer.message(), text, (), out).map(|_| ());
        });
        while channel.is_busy() {
            outbox.push_with(route, |out| {
                channel.transmit_next(out);
            });
        }
        sent
    }
}
