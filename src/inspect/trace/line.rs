//! Line: decoder of one pair of addresses, a server and a client, from its first datagram.
//!
//! A `connect` packet announces a connection; the first sequenced datagram that fits it starts a
//! session. The session before it is kept, because a duplicate `connect` starts none.
//! Source: Quake III protocol 68, connectionless packets; ioquake3 protocol 71.

use std::net::SocketAddr;

use crate::{
    model::{Challenge, Qport},
    netchan::{DropReason, header::HeaderLayout, is_connectionless},
    wire::{
        Protocol,
        connectionless::{CommandKind, Message},
        info::InfoString,
        userinfo::Userinfo,
    },
};

use super::{
    masked::masked_userinfo,
    record::{Direction, Fault, Missing, Record, RecordKind},
    recovery::Recovery,
    session::{Handshake, Session, sender},
};

/// Longest text of a connectionless packet in a record, in bytes.
const MAX_TEXT: usize = 4096;

/// Decoder of one pair of addresses.
#[derive(Debug)]
pub struct Line {
    record: Record,
    message: Vec<u8>,
    current: Option<Box<Session>>,
    /// Connection before the current one, or a later one that decoded nothing yet.
    other: Option<Box<Session>>,
    /// Handshake that no session has taken.
    announced: Option<Handshake>,
    /// Session of that handshake while the current one may continue, with its decoded datagrams.
    candidate: Option<(Box<Session>, u32)>,
    /// Datagrams decoded by the current session since `other` or `announced` was set.
    agreed: u32,
    /// Record of the second reading of an ambiguous datagram.
    spare: Option<Box<Record>>,
    recovery: Recovery,
}

/// Number of decoded datagrams after which an alternative to the current session is dropped.
const PROOF: u32 = 64;
/// Number of datagrams that a later connection decodes in a row before it is the current one. Duplicates
/// of `connect` and of first packets are fewer.
const CANDIDATE_PROOF: u32 = 3;
/// Highest number of the first message of a later connection, if those before are lost.
const MAX_FIRST: u32 = 4;

impl Line {
    /// Creates the decoder of a pair.
    #[must_use]
    pub fn new(server: SocketAddr, client: SocketAddr) -> Self {
        Self {
            record: Record::new(server, client),
            message: Vec::new(),
            current: None,
            other: None,
            announced: None,
            candidate: None,
            agreed: 0,
            spare: None,
            recovery: Recovery::default(),
        }
    }

    /// Decodes the next datagram of the pair. `time_us` is calendar time.
    pub fn decode(&mut self, time_us: u64, direction: Direction, datagram: &[u8]) -> &Record {
        self.record.begin(time_us, direction, datagram.len());
        let result = if is_connectionless(datagram) {
            self.connectionless(direction, datagram)
        } else {
            self.sequenced(direction, datagram)
        };
        if let Err(fault) = result {
            self.record.kind =
                if is_ignored(&fault) { RecordKind::Ignored } else { RecordKind::Undecoded };
            self.record.fault = Some(fault);
        }
        &self.record
    }

    /// Returns the record of the last datagram.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Protocol of the connection, once known.
    #[must_use]
    pub fn protocol(&self) -> Option<&'static Protocol> {
        self.current.as_ref().map(|session| session.protocol)
    }

    /// Whether a sequenced datagram of a client may belong to this connection after NAT rebinding.
    pub(super) fn has_qport(&self, qport: Qport) -> bool {
        self.current.as_ref().is_some_and(|session| session.qport == Some(qport))
    }

    /// Changes the addresses, e.g. after NAT rebinding.
    pub(super) fn readdress(&mut self, server: SocketAddr, client: SocketAddr) {
        (self.record.server, self.record.client) = (server, client);
    }

    fn connectionless(&mut self, direction: Direction, datagram: &[u8]) -> Result<(), Fault> {
        let record = &mut self.record;
        let message = Message::parse(datagram)?;
        record.kind = RecordKind::Connectionless;
        let content = &mut record.connectionless;
        content.command = Some(message.kind());
        if let Message::Connect(connect) = message {
            let info = connect.userinfo()?;
            content.text.push_str(&masked_userinfo(info.as_str()));
            self.announce(direction, &info);
            return Ok(());
        }
        let text = match message {
            // The password stays out of traces.
            Message::Rcon(rcon) => rcon.command.raw(),
            _ => datagram.get(4..).unwrap_or_default(),
        };
        let shown = &text[..text.len().min(MAX_TEXT)];
        content.text.extend(shown.iter().map(|&byte| char::from(byte)));
        if message.kind() == CommandKind::ConnectResponse && direction == Direction::ToClient {
            record.protocol = self.current.as_ref().map(|session| session.protocol);
        }
        Ok(())
    }

    /// Stores the parameters of a `connect` packet.
    fn announce(&mut self, direction: Direction, info: &InfoString) {
        let info = Userinfo(info);
        if let (Direction::ToServer, Some(challenge), Some(qport)) =
            (direction, info.challenge(), info.qport())
        {
            let number = info.protocol().unwrap_or_default();
            self.announced = Some(Handshake { challenge, qport, number });
            self.candidate = None;
            self.agreed = 0;
        }
    }

    fn sequenced(&mut self, direction: Direction, datagram: &[u8]) -> Result<(), Fault> {
        let mut fault = Fault::NoHandshake;
        if let Some(session) = &mut self.current {
            match session.decode(direction, datagram, &mut self.record, &mut self.message) {
                Ok(()) => {
                    self.candidate = None;
                    self.settle(direction, datagram);
                    return Ok(());
                }
                Err(first) => fault = first,
            }
        }
        // A duplicate would seem to belong to a connection that begins with it.
        let may_be_other = self.current.is_none() || !is_ignored(&fault);
        if self.try_other(direction, datagram)
            || self.try_announced(direction, datagram)
            || may_be_other && self.try_recovery(direction, datagram)
        {
            return Ok(());
        }
        // Other readings have overwritten the record. Without one it keeps the decoded part.
        if self.other.is_some() || self.announced.is_some() || self.record.sequence.is_none() {
            self.show_header(direction, datagram);
        }
        Err(fault)
    }

    /// Handles a datagram that the current session has decoded, while an alternative exists.
    ///
    /// A late datagram of the connection before may have started the current session by mistake. The
    /// reading with fewer lost messages and known delta bases is right.
    fn settle(&mut self, direction: Direction, datagram: &[u8]) {
        if self.other.is_none() && self.announced.is_none() {
            return;
        }
        self.agreed += 1;
        if self.agreed > PROOF {
            (self.other, self.announced) = (None, None);
            return;
        }
        let doubtful = self.record.lost > 0 || self.record.missing != Missing::default();
        let Some(session) = self.other.as_mut().filter(|_| doubtful) else { return };
        let (server, client) = (self.record.server, self.record.client);
        let spare = self.spare.get_or_insert_with(|| Box::new(Record::new(server, client)));
        (spare.server, spare.client) = (server, client);
        spare.begin(self.record.time_us, direction, datagram.len());
        let good = session.decode(direction, datagram, spare, &mut self.message).is_ok();
        let knows_more =
            spare.missing == Missing::default() && self.record.missing != spare.missing;
        if good
            && (knows_more || spare.missing == self.record.missing && spare.lost < self.record.lost)
        {
            std::mem::swap(&mut self.record, spare);
            std::mem::swap(&mut self.current, &mut self.other);
        }
    }

    /// Decodes a datagram of the other connection, which becomes the current one.
    fn try_other(&mut self, direction: Direction, datagram: &[u8]) -> bool {
        let Some(session) = &mut self.other else { return false };
        self.record.clear_content();
        let good = session.decode(direction, datagram, &mut self.record, &mut self.message).is_ok();
        if good {
            std::mem::swap(&mut self.current, &mut self.other);
        }
        good
    }

    /// Decodes a datagram of the announced connection. It becomes the current one at once if none is, or
    /// after some datagrams in a row.
    fn try_announced(&mut self, direction: Direction, datagram: &[u8]) -> bool {
        let Some(handshake) = self.announced else { return false };
        let (mut session, decoded) = match self.candidate.take() {
            Some(candidate) => candidate,
            None => (Box::new(Session::new(handshake, direction, datagram)), 0),
        };
        self.record.clear_content();
        let good = session.decode(direction, datagram, &mut self.record, &mut self.message).is_ok();
        let first = self.record.sequence.is_some_and(|sequence| sequence.0 <= MAX_FIRST);
        if !good || self.current.is_some() && decoded == 0 && !first {
            self.candidate = Some((session, decoded)).filter(|_| decoded > 0);
            return false;
        }
        if self.current.is_some() && decoded + 1 < CANDIDATE_PROOF {
            self.candidate = Some((session, decoded + 1));
            return true;
        }
        self.announced = None;
        self.agreed = 0;
        self.other = self.current.replace(session);
        true
    }

    /// Starts a connection whose handshake was not observed, if its challenge can be recovered.
    fn try_recovery(&mut self, direction: Direction, datagram: &[u8]) -> bool {
        let found = self.recovery.observe(sender(direction), datagram);
        let Some(challenge) = found.filter(|challenge| *challenge != Challenge(0)) else {
            return false;
        };
        let mut session = Session::resumed(Protocol::IOQ3_71, challenge);
        self.record.clear_content();
        let good = session.decode(direction, datagram, &mut self.record, &mut self.message).is_ok();
        // Later datagrams have a chance even if this one ends in the middle of a message.
        self.other = self.current.replace(Box::new(session));
        good
    }

    /// Shows the header of a datagram that is not decoded.
    fn show_header(&mut self, direction: Direction, datagram: &[u8]) {
        self.record.clear_content();
        let protocol = self.protocol();
        self.record.protocol = protocol;
        let framing = protocol.unwrap_or(Protocol::Q3_68).framing;
        if let Ok((header, _)) = HeaderLayout::new(sender(direction), framing).read(datagram) {
            self.record.sequence = Some(header.sequence);
            self.record.fragment = header.fragment;
        }
    }
}

/// Whether the receiver drops a datagram with this fault, too.
fn is_ignored(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Dropped(
            DropReason::Old { .. } | DropReason::Fragment(_) | DropReason::FarAhead { .. }
        )
    )
}
