//! Line: decoder of one pair of addresses, a server and a client of QuakeWorld.
//!
//! A `connect` announces a connection, the server's acceptance starts it; so does the first packet of a client if the
//! acceptance was not observed. Source: QuakeWorld protocol 28, handshake.

use std::net::SocketAddr;

use super::{
    connection::Connection,
    masked::{push_bytes, push_info},
    recognition::{is_netquake, is_unmarked_reply},
    record::{Fault, Record},
};
use crate::{
    model::Qport,
    quakeworld::{
        channel::{
            DropReason,
            header::{CONNECTIONLESS, Header, Sender},
        },
        connectionless::{ConnectionlessError, Reply, Request},
    },
    trace::record::{Direction, RecordKind},
};

/// Longest text of a connectionless packet in a record, in bytes.
const MAX_TEXT: usize = 4096;
/// Highest sequence of the first packet of a connection, if those before are lost.
const MAX_FIRST: u32 = 4;

/// Qport and challenge of a `connect`.
type Keys = (Qport, i32);

/// Decoder of one pair of addresses.
#[derive(Debug)]
pub struct Line {
    record: Record,
    connection: Option<Box<Connection>>,
    /// Keys of the connection, if its start was observed.
    keys: Option<Keys>,
    /// Keys of a `connect` that was not accepted yet.
    announced: Option<Keys>,
}

impl Line {
    /// Creates the decoder of a pair.
    #[must_use]
    pub fn new(server: SocketAddr, client: SocketAddr) -> Self {
        let record = Record::new(server, client);
        Self { record, connection: None, keys: None, announced: None }
    }

    /// Decodes the next datagram of the pair. `time_us` is calendar time.
    pub fn decode(&mut self, time_us: u64, direction: Direction, datagram: &[u8]) -> &Record {
        self.record.begin(time_us, direction, datagram.len());
        let is_connectionless = datagram.starts_with(CONNECTIONLESS)
            || direction == Direction::ToClient && is_unmarked_reply(datagram)
            || is_netquake(datagram);
        let result = if is_connectionless {
            self.connectionless(direction, datagram)
        } else {
            self.sequenced(direction, datagram)
        };
        if let Err(fault) = result {
            let is_ignored = matches!(&fault, Fault::Dropped(reason) if !matches!(reason, DropReason::Header(_)));
            self.record.kind = if is_ignored { RecordKind::Ignored } else { RecordKind::Undecoded };
            self.record.fault = Some(fault);
        }
        &self.record
    }

    /// Returns the record of the last datagram.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether a connection was observed.
    #[must_use]
    pub fn has_connection(&self) -> bool {
        self.connection.is_some()
    }

    /// Newest sequence of a direction, and the parity of the reliable messages that its sender received.
    #[must_use]
    pub fn newest(&self, direction: Direction) -> Option<(u32, bool)> {
        let connection = self.connection.as_ref()?;
        Some((connection.newest(direction)?, connection.parity(direction)))
    }

    /// Whether a packet of a client may belong to this connection after NAT rebinding.
    pub(in crate::trace) fn has_qport_of(&self, datagram: &[u8]) -> bool {
        let Ok((header, _)) = Header::parse(datagram, Sender::Client) else { return false };
        let qport = self.connection.as_ref().and_then(|connection| connection.qport);
        qport.is_some() && header.qport == qport
    }

    /// Changes the addresses, e.g. after NAT rebinding.
    pub(in crate::trace) fn readdress(&mut self, server: SocketAddr, client: SocketAddr) {
        (self.record.server, self.record.client) = (server, client);
    }

    fn connectionless(&mut self, direction: Direction, datagram: &[u8]) -> Result<(), Fault> {
        let read = match direction {
            _ if is_netquake(datagram) => Ok("netquake"),
            Direction::ToServer => Request::parse(datagram).map(|request| self.request(&request)),
            Direction::ToClient => Reply::parse(datagram).map(|reply| self.reply(&reply)),
        };
        let command = match read {
            Err(ConnectionlessError::Command) => {
                push_text(datagram.get(4..).unwrap_or_default(), &mut self.record.text);
                "unknown"
            }
            read => read?,
        };
        self.record.command = Some(command);
        self.record.kind = RecordKind::Connectionless;
        Ok(())
    }

    fn request(&mut self, request: &Request<'_>) -> &'static str {
        let text = &mut self.record.text;
        match request {
            Request::GetChallenge => "getchallenge",
            Request::Connect(connect) => {
                push_info(connect.userinfo.bytes(), text);
                self.announced = Some((connect.qport, connect.challenge));
                "connect"
            }
            Request::Status { parts } => {
                if let Some(parts) = parts {
                    text.push_str(&parts.to_string());
                }
                "status"
            }
            Request::Ping => "ping",
            Request::Ack => "ack",
            Request::Log { .. } => "log",
            Request::Rcon { command, .. } => {
                // The password stays out of traces.
                push_text(command.bytes(), text);
                "rcon"
            }
        }
    }

    fn reply(&mut self, reply: &Reply<'_>) -> &'static str {
        let text = &mut self.record.text;
        match reply {
            Reply::Challenge { number, .. } => {
                text.push_str(&number.to_string());
                "challenge"
            }
            Reply::Accepted => {
                if let Some(keys) = self.announced.take() {
                    self.start(keys);
                }
                "accepted"
            }
            Reply::Print { text: print } => {
                push_text(print, text);
                "print"
            }
            Reply::Chunk { number, .. } => {
                text.push_str(&number.to_string());
                "chunk"
            }
            Reply::Ping => "ping",
            Reply::Ack => "ack",
            Reply::Nack => "nack",
            Reply::Log { text: log } => {
                push_text(log, text);
                "log"
            }
        }
    }

    /// Starts a connection.
    fn start(&mut self, keys: Keys) {
        self.connection = Some(Box::new(Connection::new(keys.0)));
        self.keys = Some(keys);
    }

    fn sequenced(&mut self, direction: Direction, datagram: &[u8]) -> Result<(), Fault> {
        if let Some(keys) = self.announced
            && self.keys != Some(keys)
            && direction == Direction::ToServer
            && let Ok((header, _)) = Header::parse(datagram, Sender::Client)
            && header.qport == Some(keys.0)
            && header.sequence <= MAX_FIRST
        {
            self.announced = None;
            self.start(keys);
        }
        if let Some(connection) = &mut self.connection {
            return connection.decode(direction, datagram, &mut self.record);
        }
        let mut connection = Box::new(Connection::resumed());
        connection.decode(direction, datagram, &mut self.record)?;
        connection.qport = self.record.header.and_then(|header| header.qport);
        self.connection = Some(connection);
        Ok(())
    }
}

fn push_text(text: &[u8], out: &mut String) {
    push_bytes(&text[..text.len().min(MAX_TEXT)], out);
}
