//! Session of a traced connection: both channels, shadow commands, gamestates, snapshot history.
//!
//! Invariant: a datagram that is not decoded to its end changes nothing but a reassembly. Source: Quake
//! III protocol 68, ioquake3 protocol 71: netchan, scrambling.

use crate::{
    client::history::SnapshotHistory,
    model::{Baselines, Challenge, CommandNum, ConfigIndex, Qport, Sequence, ServerId},
    netchan::{
        Channel, ChannelSide, ReceivedMessage, detect_protocol, header::HeaderLayout, opened,
        scramble::Scrambler,
    },
    wire::{Protocol, gamestate::Gamestate, info::InfoString, protocol::Scrambling},
};

use super::{
    command_texts::CommandTexts,
    record::{Direction, Fault, Record, RecordKind},
};

/// Number of gamestates whose usercmd keys are kept: the running level and those before, whose client
/// messages may be late.
const KEPT_GAMESTATES: usize = 4;

/// Messages in a row that one row explains, after which their scrambling is certain.
const PROOFS: u8 = 8;
/// Longest message that is the same with and without scrambling.
const MAX_UNSCRAMBLED: usize = 12;

/// Parameters of a connection, from its `connect` packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handshake {
    pub(super) challenge: Challenge,
    pub(super) qport: Qport,
    /// Protocol number of the userinfo.
    pub(super) number: i32,
}

/// Facts of a gamestate that client messages depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct GamestateMark {
    pub(super) sequence: Sequence,
    pub(super) server_id: ServerId,
    pub(super) checksum_feed: i32,
}

/// Receiving side of one direction.
#[derive(Debug)]
struct Receiver {
    channel: Channel,
    /// Messages since the last commit that were not decoded.
    undecoded: u32,
    /// Whether the first datagram was seen, after which sequence numbers are checked.
    is_started: bool,
}

/// A connection as an observer between both ends knows it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) protocol: &'static Protocol,
    challenge: Challenge,
    pub(super) qport: Option<Qport>,
    /// Messages in a row that the current row of the protocol's number has explained, while their scrambling is open.
    proofs: Option<u8>,
    /// Receiving sides: server, client.
    receivers: [Receiver; 2],
    /// Commands of the server and of the client.
    pub(super) server_commands: CommandTexts,
    pub(super) client_commands: CommandTexts,
    pub(super) gamestates: Vec<GamestateMark>,
    pub(super) baselines: Baselines,
    pub(super) history: SnapshotHistory,
    /// Highest download block seen.
    pub(super) download_block: u32,
}

impl Session {
    /// Creates the session of a handshake. Its first sequenced datagram decides between protocols of
    /// one number.
    pub(super) fn new(handshake: Handshake, direction: Direction, datagram: &[u8]) -> Self {
        let Handshake { challenge, qport, number } = handshake;
        let known = Protocol::with_number(number).find(|protocol| protocol.is_live);
        let guess = known.unwrap_or(Protocol::Q3_68);
        let sender = sender(direction);
        let protocol = detect_protocol(guess, sender, challenge, datagram);
        Self::with(protocol, challenge, Some(qport), CommandTexts::new, true)
    }

    /// Creates the session of a connection whose start was not observed.
    pub(super) fn resumed(protocol: &'static Protocol, challenge: Challenge) -> Self {
        Self::with(protocol, challenge, None, CommandTexts::unknown, false)
    }

    fn with(
        protocol: &'static Protocol,
        challenge: Challenge,
        qport: Option<Qport>,
        texts: fn() -> CommandTexts,
        is_started: bool,
    ) -> Self {
        let receiver = |side| Receiver {
            channel: Channel::new(side, protocol, challenge, qport.unwrap_or_default()),
            undecoded: 0,
            is_started,
        };
        let is_open =
            protocol.next_with_number() != protocol && !protocol.has_checksummed_sibling();
        Self {
            protocol,
            challenge,
            qport,
            proofs: is_open.then_some(0),
            receivers: [receiver(ChannelSide::Server), receiver(ChannelSide::Client)],
            server_commands: texts(),
            client_commands: texts(),
            gamestates: Vec::new(),
            baselines: Baselines::default(),
            history: SnapshotHistory::new(),
            download_block: 0,
        }
    }

    /// Decodes a datagram into `record`. `message` is scratch memory.
    ///
    /// # Errors
    /// [`Fault`]; the record holds what was decoded before it.
    pub(super) fn decode(
        &mut self,
        direction: Direction,
        datagram: &[u8],
        record: &mut Record,
        message: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        record.protocol = Some(self.protocol);
        let layout = HeaderLayout::new(sender(direction), self.protocol.framing);
        let mut unscrambled = Vec::new();
        let plain = opened(self.protocol.framing, datagram, &mut unscrambled);
        let (header, _) = layout.read(plain).map_err(|error| Fault::Dropped(error.into()))?;
        record.sequence = Some(header.sequence);
        record.fragment = header.fragment;
        if direction == Direction::ToServer && self.qport.is_none() {
            self.qport = Some(header.qport);
        }
        let receiver = &mut self.receivers[direction as usize];
        if !receiver.is_started {
            receiver.is_started = true;
            let before = Sequence(header.sequence.0.saturating_sub(1));
            let side = if direction == Direction::ToServer {
                ChannelSide::Server
            } else {
                ChannelSide::Client
            };
            let channel = Channel::new(side, self.protocol, self.challenge, header.qport);
            receiver.channel = channel.resumed(Sequence(1), before);
        }
        let Some(received) = receiver.channel.receive(datagram, message)? else {
            record.kind = RecordKind::Fragment;
            return Ok(());
        };
        record.message_bytes = message.len();
        record.lost = received.lost.saturating_sub(receiver.undecoded);
        let result = match self.proofs {
            None => self.message(direction, received.sequence, message, record),
            Some(proofs) => {
                self.open_message(direction, received.sequence, proofs, message, record)
            }
        };
        self.finish(direction, received, result)
    }

    /// Decodes a message of the current row.
    fn message(
        &mut self,
        direction: Direction,
        sequence: Sequence,
        message: &mut [u8],
        record: &mut Record,
    ) -> Result<(), Fault> {
        match direction {
            Direction::ToServer => self.client_message(message, record),
            Direction::ToClient => self.server_message(sequence, message, record),
        }
    }

    /// Decodes a message while its scrambling is open. The right row explains every message; the wrong one about one of
    /// 500 by chance, and those that are too short to be scrambled.
    fn open_message(
        &mut self,
        direction: Direction,
        sequence: Sequence,
        proofs: u8,
        message: &mut [u8],
        record: &mut Record,
    ) -> Result<(), Fault> {
        let original = message.to_vec();
        let Err(fault) = self.message(direction, sequence, message, record) else {
            let proofs = proofs + u8::from(original.len() > MAX_UNSCRAMBLED);
            self.proofs = Some(proofs).filter(|proofs| *proofs < PROOFS);
            return Ok(());
        };
        let own = self.protocol;
        self.protocol = own.next_with_number();
        record.clear_message();
        record.protocol = Some(self.protocol);
        message.copy_from_slice(&original);
        if self.message(direction, sequence, message, record).is_ok() {
            self.proofs = Some(1);
            return Ok(());
        }
        self.protocol = own;
        record.clear_message();
        record.protocol = Some(own);
        Err(fault)
    }

    /// Commits a decoded message. One that is not decoded may be forged, so its number does not count.
    fn finish(
        &mut self,
        direction: Direction,
        received: ReceivedMessage,
        result: Result<(), Fault>,
    ) -> Result<(), Fault> {
        let receiver = &mut self.receivers[direction as usize];
        match result {
            Ok(()) => {
                receiver.undecoded = 0;
                receiver.channel.commit(received);
            }
            Err(_) => receiver.undecoded = receiver.undecoded.saturating_add(1),
        }
        result
    }

    /// Unscrambles a client message in place.
    pub(super) fn unscramble_client(&self, message: &mut [u8]) -> Result<(), Fault> {
        if self.protocol.framing.scrambling != Scrambling::CommandText {
            return Ok(());
        }
        let mut reader = self.reader(message);
        let numbers = (|| Ok((ServerId(reader.long()?), reader.long()?, reader.byte()?)))();
        let (server_id, acknowledge, low) = numbers.map_err(|error| Fault::Unreadable {
            at_bit: reader.bit_position(),
            bits: message.len() * 8,
            error,
        })?;
        let text = self.server_commands.by_low_byte(low).ok_or(Fault::UnknownCommand(low))?;
        Scrambler::client(self.challenge, server_id, acknowledge).apply(text.as_bytes(), message);
        Ok(())
    }

    /// Unscrambles the server message `sequence` in place.
    pub(super) fn unscramble_server(
        &self,
        sequence: Sequence,
        message: &mut [u8],
    ) -> Result<(), Fault> {
        if self.protocol.framing.scrambling != Scrambling::CommandText {
            return Ok(());
        }
        let mut reader = self.reader(message);
        let low = reader.byte().map_err(|error| Fault::Unreadable {
            at_bit: 0,
            bits: message.len() * 8,
            error,
        })?;
        let text = self.client_commands.by_low_byte(low).ok_or(Fault::UnknownCommand(low))?;
        Scrambler::server(self.challenge, sequence).apply(text.as_bytes(), message);
        Ok(())
    }

    /// Returns a reader of a message of this connection.
    pub(super) fn reader<'a>(&self, message: &'a [u8]) -> crate::wire::bits::BitReader<'a> {
        crate::wire::bits::BitReader::with_encoding(self.protocol.encoding, message)
    }

    /// Starts the level of a gamestate.
    pub(super) fn enter_level(&mut self, sequence: Sequence, gamestate: &Gamestate) {
        let systeminfo =
            gamestate.configstrings.iter().find(|(index, _)| *index == ConfigIndex::SYSTEMINFO);
        let server_id = systeminfo
            .and_then(|(_, text)| InfoString::parse_big(text).int("sv_serverid"))
            .unwrap_or_default();
        if self.gamestates.len() == KEPT_GAMESTATES {
            self.gamestates.remove(0);
        }
        self.gamestates.push(GamestateMark {
            sequence,
            server_id: ServerId(server_id),
            checksum_feed: gamestate.checksum_feed.unwrap_or_default(),
        });
        self.baselines = Baselines::new(gamestate.baselines.clone());
        self.history.forget();
    }

    /// Returns the checksum feed of the level that a client message belongs to.
    ///
    /// The client has received the gamestate, and a restart without a gamestate increments the server
    /// id. A resent gamestate has the same feed.
    pub(super) fn checksum_feed(&self, server_id: ServerId, acknowledge: i32) -> Option<i32> {
        let mut marks = self.gamestates.iter().rev();
        let received = |mark: &&GamestateMark| {
            mark.server_id <= server_id && i64::from(mark.sequence.0) <= i64::from(acknowledge)
        };
        marks.find(received).map(|mark| mark.checksum_feed)
    }

    /// Stores the commands of a decoded message and marks repetitions.
    pub(super) fn store_commands(&mut self, direction: Direction, record: &mut Record) {
        let texts = match direction {
            Direction::ToServer => &mut self.client_commands,
            Direction::ToClient => &mut self.server_commands,
        };
        for command in &mut record.commands {
            command.repeated = texts.has(command.number);
            texts.store(command.number, &command.text);
        }
    }

    /// Returns the text of a server command.
    pub(super) fn server_command(&self, number: CommandNum) -> Option<&str> {
        self.server_commands.get(number)
    }
}

/// Returns the sending side of a direction.
pub(super) const fn sender(direction: Direction) -> ChannelSide {
    match direction {
        Direction::ToServer => ChannelSide::Client,
        Direction::ToClient => ChannelSide::Server,
    }
}
