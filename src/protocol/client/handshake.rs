//! Client handshake: challenge, then a `connect` that echoes it.
//!
//! ```text
//! getchallenge, every 3 s ── challengeResponse ── connect, every 3 s ── connectResponse
//!        └───────────────────────── refused: print ───────┘
//! ```
//!
//! A rejection restarts the handshake, because the challenge may have expired; the next request
//! waits its usual time. Source: Quake III protocol 68 and ioquake3 protocol 71: the client's side
//! of the handshake.

use std::net::SocketAddr;

use super::userinfo;
use crate::{
    model::{Challenge, Millis, Qport},
    node::{LocalPort, Outbox, Route},
    wire::{
        connect::{ConnectError, ConnectForm, write_connect, write_plain_connect},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
        info::{InfoError, InfoString},
        protocol::Protocol,
        text::WireText,
    },
};

/// Interval between requests.
const RETRANSMIT: Millis = Millis(3000);

/// Options of a client for protocols other than the wanted one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProtocolGuess {
    pub(super) falls_back: bool,
    pub(super) detects: bool,
}

/// Handshake in progress.
#[derive(Debug)]
pub(super) struct Handshake {
    /// Client's own number, which the server repeats.
    client_challenge: Challenge,
    /// `None` until a challenge is granted.
    granted: Option<Granted>,
    next_send: Millis,
    /// Protocol number that the server named in a rejection.
    asked_protocol: Option<i32>,
}

/// Challenge granted by a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granted {
    pub(super) challenge: Challenge,
    /// Protocol of the connection.
    pub(super) protocol: &'static Protocol,
}

impl Handshake {
    pub(super) fn new(client_challenge: Challenge, now: Millis) -> Self {
        Self { client_challenge, granted: None, next_send: now, asked_protocol: None }
    }

    /// Starts another handshake after a refusal, at the usual time.
    pub(super) fn again(client_challenge: Challenge, now: Millis) -> Self {
        Self { next_send: now + RETRANSMIT, ..Self::new(client_challenge, now) }
    }

    pub(super) fn granted(&self) -> Option<Granted> {
        self.granted
    }

    pub(super) fn next_send(&self) -> Millis {
        self.next_send
    }

    /// Protocol of the requests: the one that the server named, or the wanted one.
    fn asked(&self, wanted: &'static Protocol) -> &'static Protocol {
        self.asked_protocol.and_then(spoken).unwrap_or(wanted)
    }

    /// Sends the next request if it is due.
    ///
    /// # Errors
    /// As [`write_connect`].
    pub(super) fn frame(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
        (wanted, gamename): (&'static Protocol, &str),
        userinfo: impl FnOnce(Granted) -> Result<InfoString, ConnectError>,
    ) -> Result<(), ConnectError> {
        if now < self.next_send {
            return Ok(());
        }
        self.next_send = now + RETRANSMIT;
        let Some(granted) = self.granted else {
            let sends_challenge = self.asked(wanted).handshake.sends_challenge;
            let client_challenge = sends_challenge.then_some(self.client_challenge);
            let request = GetChallenge { client_challenge, gamename: WireText::from(gamename) };
            outbox.push_with(route, |out| Message::GetChallenge(request).write(out));
            return Ok(());
        };
        let userinfo = userinfo(granted)?;
        let mut result = Ok(());
        outbox.push_with(route, |out| {
            result = match granted.protocol.handshake.connect {
                ConnectForm::Plain => write_plain_connect(&userinfo, out),
                ConnectForm::Compressed => write_connect(&userinfo, out),
            };
        });
        result
    }

    /// Handles a `challengeResponse` and returns whether it is valid. Its source `from` is the
    /// server's address then.
    ///
    /// `guess` are options of the client.
    pub(super) fn challenge_response(
        &mut self,
        now: Millis,
        response: ChallengeResponse,
        from_server: bool,
        wanted: &'static Protocol,
        guess: ProtocolGuess,
    ) -> bool {
        if self.granted.is_some() {
            return false;
        }
        let number = self.asked_protocol.or(response.protocol);
        // A number that is missing where none is expected proves nothing.
        let follows = guess.detects || guess.falls_back && wanted.handshake.repeats_challenges;
        let named = number.filter(|_| guess.detects).and_then(spoken);
        let protocol = match (named, wanted.handshake.fallback) {
            _ if number == Some(wanted.number) => wanted,
            (Some(named), _) => named,
            (None, Some(fallback)) if follows => fallback,
            (None, Some(_) | None) => wanted,
        };
        // Old servers do not repeat our number; their address must match instead.
        let echoed = response.client_challenge == Some(self.client_challenge);
        if !echoed && (protocol.handshake.repeats_challenges || !from_server) {
            return false;
        }
        self.granted = Some(Granted { challenge: response.challenge, protocol });
        self.next_send = now;
        true
    }

    /// Handles a `connectResponse` from the server's address. Returns the granted connection if it
    /// is valid.
    pub(super) fn connect_response(&self, response: ConnectResponse) -> Option<Granted> {
        let granted = self.granted?;
        let ours = match response.challenge {
            Some(challenge) if granted.protocol.handshake.sends_challenge => {
                challenge == granted.challenge
            }
            // Words behind the answer have no meaning then.
            Some(_) => true,
            // Old servers send no challenge.
            None => !granted.protocol.handshake.repeats_challenges,
        };
        ours.then_some(granted)
    }

    /// Handles a rejection.
    pub(super) fn refused(&mut self) {
        self.granted = None;
    }

    /// Handles a rejection that names the server's protocol. Returns whether the client supports
    /// that protocol; it then retries at once.
    pub(super) fn follow_protocol(&mut self, now: Millis, refusal: &str) -> bool {
        let Some(granted) = self.granted.filter(|_| self.asked_protocol.is_none()) else {
            return false;
        };
        let Some(protocol) = protocol_of_refusal(refusal) else { return false };
        let other = protocol != granted.protocol.number;
        let is_spoken = spoken(protocol).is_some();
        if other && is_spoken {
            self.asked_protocol = Some(protocol);
            self.granted = None;
            self.next_send = now;
        }
        other && is_spoken
    }
}

/// Returns the first protocol of connections with that number.
fn spoken(number: i32) -> Option<&'static Protocol> {
    Protocol::with_number(number).find(|protocol| protocol.is_live)
}

/// Returns N of `Server uses protocol version N`, the text of every engine.
fn protocol_of_refusal(text: &str) -> Option<i32> {
    let rest = text.trim_start().strip_prefix("Server uses protocol version ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Returns the userinfo of `connect`: the player's keys and those of the handshake.
///
/// # Errors
/// Userinfo too long.
pub(super) fn connect_userinfo(
    userinfo: &InfoString,
    qport: Qport,
    granted: Granted,
) -> Result<InfoString, ConnectError> {
    let mut info = userinfo::sent(granted.protocol, userinfo).into_owned();
    let set = |info: &mut InfoString| -> Result<(), InfoError> {
        info.set("protocol", &granted.protocol.number.to_string())?;
        info.set("qport", &qport.to_string())?;
        info.set("challenge", &granted.challenge.to_string())
    };
    set(&mut info)?;
    Ok(info)
}

/// Checks that the userinfo fits into `connect` with any challenge.
///
/// # Errors
/// Userinfo too long.
pub(super) fn check_userinfo(userinfo: &InfoString) -> Result<(), ConnectError> {
    // The longest numbers.
    let granted = Granted { challenge: Challenge(i32::MIN), protocol: Protocol::Q3_68 };
    let info = connect_userinfo(userinfo, Qport(u16::MAX), granted)?;
    write_connect(&info, &mut Vec::new())
}

/// Whether a server of the protocol sends such a packet to a client.
pub(super) fn is_of_server(message: &Message<'_>) -> bool {
    matches!(
        message,
        Message::ChallengeResponse(_)
            | Message::ConnectResponse(_)
            | Message::Print(_)
            | Message::Echo(_)
            | Message::Disconnect
    )
}

/// Returns the route to `remote`. A client has one port; the owner replaces it by its own socket.
pub(super) fn route_to(remote: SocketAddr) -> Route {
    Route::new(LocalPort(0), remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Challenge = Challenge(77);

    fn respond(
        wanted: &'static Protocol,
        falls_back: bool,
        from_server: bool,
        client_challenge: Option<i32>,
        protocol: Option<i32>,
    ) -> Option<&'static Protocol> {
        let mut handshake = Handshake::new(OURS, Millis(0));
        let response = ChallengeResponse {
            challenge: Challenge(-5),
            client_challenge: client_challenge.map(Challenge),
            protocol,
        };
        let taken = handshake.challenge_response(
            Millis(9),
            response,
            from_server,
            wanted,
            ProtocolGuess { falls_back, detects: false },
        );
        assert_eq!(handshake.granted().is_some(), taken);
        handshake.granted().map(|granted| granted.protocol)
    }

    #[test]
    fn challenge_is_accepted_from_requested_server_only() {
        for (wanted, from_server, echo, number, taken) in [
            (Protocol::IOQ3_71, true, Some(77), Some(71), Some(Protocol::IOQ3_71)),
            (Protocol::IOQ3_71, false, Some(77), Some(71), Some(Protocol::IOQ3_71)),
            (Protocol::IOQ3_71, true, Some(78), Some(71), None),
            // A server that does not support 71.
            (Protocol::IOQ3_71, true, Some(77), Some(68), Some(Protocol::Q3_68)),
            (Protocol::IOQ3_71, true, None, None, Some(Protocol::Q3_68)),
            (Protocol::IOQ3_71, false, None, None, None),
            (Protocol::OA_71, true, Some(78), Some(71), Some(Protocol::OA_71)),
            (Protocol::OA_71, false, Some(78), Some(71), None),
            (Protocol::OA_71, false, Some(77), None, Some(Protocol::OA_71)),
            (Protocol::Q3_68, true, None, None, Some(Protocol::Q3_68)),
            (Protocol::Q3_68, true, Some(77), Some(71), Some(Protocol::Q3_68)),
            (Protocol::Q3_68, false, None, None, None),
        ] {
            let result = respond(wanted, true, from_server, echo, number);
            assert_eq!(result, taken, "{wanted} {from_server} {echo:?} {number:?}");
        }
        assert_eq!(
            respond(Protocol::IOQ3_71, false, true, Some(77), Some(68)),
            Some(Protocol::IOQ3_71)
        );
        assert_eq!(respond(Protocol::IOQ3_71, false, true, None, None), None);
    }

    #[test]
    fn connect_response_requires_the_requested_challenge() {
        for (wanted, answer, taken) in [
            (Protocol::IOQ3_71, Some(-5), true),
            (Protocol::IOQ3_71, Some(-6), false),
            (Protocol::IOQ3_71, None, false),
            (Protocol::OA_71, Some(-5), true),
            (Protocol::OA_71, Some(-6), false),
            (Protocol::OA_71, None, true),
        ] {
            let mut handshake = Handshake::new(OURS, Millis(0));
            let response = ConnectResponse { challenge: answer.map(Challenge), protocol: None };
            assert!(handshake.connect_response(response).is_none(), "not asked yet");
            let granted = ChallengeResponse {
                challenge: Challenge(-5),
                client_challenge: Some(OURS),
                protocol: Some(71),
            };
            let guess = ProtocolGuess { falls_back: true, detects: false };
            assert!(handshake.challenge_response(Millis(0), granted, true, wanted, guess));
            let result = handshake.connect_response(response);
            assert_eq!(result.is_some(), taken, "{wanted} {answer:?}");
        }
    }

    #[test]
    fn refusal_that_names_a_protocol_is_followed_once() {
        let mut handshake = Handshake::new(OURS, Millis(0));
        let grant = |handshake: &mut Handshake, protocol| {
            let response = ChallengeResponse {
                challenge: Challenge(-5),
                client_challenge: Some(OURS),
                protocol,
            };
            let (wanted, guess) =
                (Protocol::OA_71, ProtocolGuess { falls_back: false, detects: true });
            handshake.challenge_response(Millis(9), response, true, wanted, guess);
            handshake.granted().map(|granted| granted.protocol)
        };
        assert_eq!(grant(&mut handshake, None), Some(Protocol::Q3_68), "no number: 68");
        for text in ["Server is full", "Server uses protocol version 68 (yours is 68).", "", "70"] {
            assert!(!handshake.follow_protocol(Millis(50), text), "{text}");
        }
        let text = "Server uses protocol version 71 (yours is 68).\n";
        assert!(handshake.follow_protocol(Millis(50), text));
        assert_eq!((handshake.granted().is_none(), handshake.next_send()), (true, Millis(50)));
        assert_eq!(grant(&mut handshake, None), Some(Protocol::OA_71));
        let back = "Server uses protocol version 68.\n";
        assert!(!handshake.follow_protocol(Millis(60), back), "once");
    }

    #[test]
    fn refusal_may_name_an_older_protocol() {
        let mut handshake = Handshake::new(OURS, Millis(0));
        let response = ChallengeResponse { challenge: Challenge(9), ..Default::default() };
        let grant = |handshake: &mut Handshake| {
            let guess = ProtocolGuess { falls_back: false, detects: true };
            handshake.challenge_response(Millis(9), response, true, Protocol::OA_71, guess);
            handshake.granted().map(|granted| granted.protocol)
        };
        assert_eq!(grant(&mut handshake), Some(Protocol::Q3_68));
        assert!(!handshake.follow_protocol(Millis(50), "Server uses protocol version 48.\n"));
        assert!(handshake.follow_protocol(Millis(50), "Server uses protocol version 43.\n"));
        assert_eq!(requests(&mut handshake, Protocol::OA_71), ["getchallenge"]);
        assert_eq!(grant(&mut handshake), Some(Protocol::Q3_43));
        let plain = "connect \"\\color\\4\\protocol\\43\\qport\\1\\challenge\\9\"";
        assert_eq!(requests(&mut handshake, Protocol::OA_71), [plain]);
        let words = ConnectResponse { challenge: Some(Challenge(1)), protocol: None };
        assert!(handshake.connect_response(words).is_some(), "words mean nothing");
    }

    /// Packets of a handshake that are due.
    fn requests(handshake: &mut Handshake, wanted: &'static Protocol) -> Vec<String> {
        let mut outbox = Outbox::default();
        let route = route_to(([127, 0, 0, 1], 1).into());
        let info = InfoString::parse("\\color1\\4");
        let sent =
            handshake.frame(Millis(99), route, &mut outbox, (wanted, "Quake3Arena"), |granted| {
                connect_userinfo(&info, Qport(1), granted)
            });
        assert_eq!(sent, Ok(()));
        let mut packet = Vec::new();
        let next = || outbox.pop(&mut packet).map(|_| packet[4..].to_vec());
        std::iter::from_fn(next).map(|bytes| String::from_utf8(bytes).expect("a text")).collect()
    }

    #[test]
    fn overlong_userinfo_is_rejected_at_once() {
        let of_len = |len: usize| InfoString::parse(&format!("\\a\\{}", "x".repeat(len - 3)));
        // The handshake adds 12 + 12 + 22 bytes, and 1013 fit.
        assert_eq!(check_userinfo(&of_len(1013 - 46)), Ok(()));
        assert_eq!(check_userinfo(&of_len(1013 - 45)), Err(ConnectError::UserinfoTooLong(1014)));
        assert!(matches!(check_userinfo(&of_len(1023)), Err(ConnectError::Userinfo(_))));
    }
}
