//! How a client gets a place at a server: a challenge, then a connection that carries it.
//!
//! ```text
//! getchallenge, every 3 s ── challengeResponse ── connect, every 3 s ── connectResponse
//!        └───────────────────────── refused: print ───────┘
//! ```
//!
//! A refusal sends the client back to the beginning, for the challenge may have grown old; the next
//! question waits its time all the same. Source: Quake III protocol 68 and ioquake3 protocol 71: the
//! client's side of the handshake.

use std::net::SocketAddr;

use crate::{
    model::{Challenge, Millis, Qport},
    node::{LocalPort, Outbox, Route},
    wire::{
        connect::{ConnectError, write_connect},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
        info::{InfoError, InfoString},
        protocol::Protocol,
        text::WireText,
    },
};

/// Time between two questions.
const RETRANSMIT: Millis = Millis(3000);

/// A handshake under way.
#[derive(Debug)]
pub(super) struct Handshake {
    /// The client's own number, by which an answer to it is known.
    client_challenge: Challenge,
    /// `None` until a challenge is granted.
    granted: Option<Granted>,
    next_send: Millis,
    /// The protocol number that the server asked for when it refused another.
    asked_protocol: Option<i32>,
}

/// What a server granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granted {
    pub(super) challenge: Challenge,
    /// Protocol from here on.
    pub(super) protocol: &'static Protocol,
}

impl Handshake {
    pub(super) fn new(client_challenge: Challenge, now: Millis) -> Self {
        Self { client_challenge, granted: None, next_send: now, asked_protocol: None }
    }

    pub(super) fn granted(&self) -> Option<Granted> {
        self.granted
    }

    pub(super) fn next_send(&self) -> Millis {
        self.next_send
    }

    /// Asks what is to be asked, if it is time.
    ///
    /// # Errors
    /// As [`write_connect`].
    pub(super) fn frame(
        &mut self,
        now: Millis,
        route: Route,
        outbox: &mut Outbox,
        gamename: &str,
        userinfo: impl FnOnce(Granted) -> Result<InfoString, ConnectError>,
    ) -> Result<(), ConnectError> {
        if now < self.next_send {
            return Ok(());
        }
        self.next_send = now + RETRANSMIT;
        let Some(granted) = self.granted else {
            let client_challenge = Some(self.client_challenge);
            let request = GetChallenge { client_challenge, gamename: WireText::from(gamename) };
            outbox.push_with(route, |out| Message::GetChallenge(request).write(out));
            return Ok(());
        };
        let userinfo = userinfo(granted)?;
        let mut result = Ok(());
        outbox.push_with(route, |out| result = write_connect(&userinfo, out));
        result
    }

    /// Takes a challenge. True when it is one for us: then `from` is where the server is.
    ///
    /// `falls_back` and `detects` are those of the client's options.
    pub(super) fn challenge_response(
        &mut self,
        now: Millis,
        response: ChallengeResponse,
        from_server: bool,
        wanted: &'static Protocol,
        (falls_back, detects): (bool, bool),
    ) -> bool {
        if self.granted.is_some() {
            return false;
        }
        let number = self.asked_protocol.or(response.protocol);
        // A server that names no number proves nothing where none is expected.
        let follows = detects || falls_back && wanted.handshake.repeats_challenges;
        let protocol = match wanted.handshake.fallback {
            Some(fallback) if follows && number != Some(wanted.number) => fallback,
            Some(_) | None => wanted,
        };
        // Old servers answer without our number; then the address must do.
        let echoed = response.client_challenge == Some(self.client_challenge);
        if !echoed && (protocol.handshake.repeats_challenges || !from_server) {
            return false;
        }
        self.granted = Some(Granted { challenge: response.challenge, protocol });
        self.next_send = now;
        true
    }

    /// Takes the answer to `connect`, from the server's own address: what is spoken, if it is ours.
    pub(super) fn connect_response(&self, response: ConnectResponse) -> Option<Granted> {
        let granted = self.granted?;
        let ours = match response.challenge {
            Some(challenge) => challenge == granted.challenge,
            // Old servers say no more than yes.
            None => !granted.protocol.handshake.repeats_challenges,
        };
        ours.then_some(granted)
    }

    /// The server said no.
    pub(super) fn refused(&mut self) {
        self.granted = None;
    }

    /// Takes a refusal that names the protocol of the server. True when the client speaks that one, too: it
    /// asks again at once.
    pub(super) fn follow_protocol(&mut self, now: Millis, refusal: &str) -> bool {
        let Some(granted) = self.granted.filter(|_| self.asked_protocol.is_none()) else {
            return false;
        };
        let Some(protocol) = protocol_of_refusal(refusal) else { return false };
        let other = protocol != granted.protocol.number;
        let spoken = Protocol::with_number(protocol).next().is_some();
        if other && spoken {
            self.asked_protocol = Some(protocol);
            self.granted = None;
            self.next_send = now;
        }
        other && spoken
    }
}

/// Returns N of `Server uses protocol version N`, as every server of this family words it.
fn protocol_of_refusal(text: &str) -> Option<i32> {
    let rest = text.trim_start().strip_prefix("Server uses protocol version ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The userinfo of `connect`: the player's, and what the handshake adds.
///
/// # Errors
/// When it does not fit.
pub(super) fn connect_userinfo(
    userinfo: &InfoString,
    qport: Qport,
    granted: Granted,
) -> Result<InfoString, ConnectError> {
    let mut info = userinfo.clone();
    let set = |info: &mut InfoString| -> Result<(), InfoError> {
        info.set("protocol", &granted.protocol.number.to_string())?;
        info.set("qport", &qport.to_string())?;
        info.set("challenge", &granted.challenge.to_string())
    };
    set(&mut info)?;
    Ok(info)
}

/// Whether that userinfo fits into `connect` whatever the server grants.
///
/// # Errors
/// When it does not.
pub(super) fn check_userinfo(userinfo: &InfoString) -> Result<(), ConnectError> {
    // The longest that the numbers can be.
    let granted = Granted { challenge: Challenge(i32::MIN), protocol: Protocol::Q3_68 };
    let info = connect_userinfo(userinfo, Qport(u16::MAX), granted)?;
    write_connect(&info, &mut Vec::new())
}

/// The way to `remote`. A client has one port; which of its owner's it is, the owner adds.
pub(super) fn route_to(remote: SocketAddr) -> Route {
    Route { local: LocalPort(0), remote }
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
            (falls_back, false),
        );
        assert_eq!(handshake.granted().is_some(), taken);
        handshake.granted().map(|granted| granted.protocol)
    }

    #[test]
    fn a_challenge_is_taken_from_whom_it_was_asked() {
        for (wanted, from_server, echo, number, taken) in [
            (Protocol::IOQ3_71, true, Some(77), Some(71), Some(Protocol::IOQ3_71)),
            (Protocol::IOQ3_71, false, Some(77), Some(71), Some(Protocol::IOQ3_71)),
            (Protocol::IOQ3_71, true, Some(78), Some(71), None),
            // A server that does not know 71.
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
    fn a_connection_is_taken_only_for_the_challenge_it_was_asked_with() {
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
            assert!(handshake.challenge_response(Millis(0), granted, true, wanted, (true, false)));
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
            let guess = Protocol::OA_71;
            handshake.challenge_response(Millis(9), response, true, guess, (false, true));
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
    fn userinfo_that_would_not_fit_is_known_at_once() {
        let of_len = |len: usize| InfoString::parse(&format!("\\a\\{}", "x".repeat(len - 3)));
        // 12 + 12 + 22 bytes are added, and 1013 fit.
        assert_eq!(check_userinfo(&of_len(1013 - 46)), Ok(()));
        assert_eq!(check_userinfo(&of_len(1013 - 45)), Err(ConnectError::UserinfoTooLong(1014)));
        assert!(matches!(check_userinfo(&of_len(1023)), Err(ConnectError::Userinfo(_))));
    }
}
