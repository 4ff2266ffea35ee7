//! Subscriber: the relay's side of one connection.

use std::collections::VecDeque;

use hmac::Mac as _;

use super::{
    ALIVE_INTERVAL, MAGIC, MAX_NAME, Nonce, Proof, SILENCE, StreamError, StreamSide, VERSION, mac,
    message::{MessageKind, MessageReader, put_message},
    printable,
    seal::{SEAL_LEN, SEALS_ASKED, Seals},
};
use crate::{
    model::{Millis, text::truncated},
    multiview::{MAX_PIECE_LEN, PIECE_HEAD_LEN},
};

/// Longest message before the login.
const MAX_EARLY_LEN: u32 = 1024;
/// Longest message of a stream.
const MAX_LEN: u32 = (MAX_PIECE_LEN + PIECE_HEAD_LEN) as u32;

/// Event of a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriberEvent {
    /// The login succeeded. The stream is late by this time.
    Accepted(Millis),
    /// Whole pieces of the recording.
    Pieces(Vec<u8>),
    /// The login was refused, with the reason.
    Refused(String),
    /// The stream ended, with the reason.
    Ended(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubscriberState {
    /// The hello is awaited.
    Hello,
    /// The answer to the login is awaited, with the publisher's nonce.
    Login(Nonce),
    /// Pieces come.
    Live,
}

/// Relay's side of a connection.
pub struct Subscriber {
    password: String,
    name: String,
    nonce: Nonce,
    state: SubscriberState,
    /// Seals, if the publisher sends them.
    seals: Option<Seals>,
    /// Seal of the next message.
    seal: Option<Box<[u8]>>,
    reader: MessageReader,
    heard: Millis,
    said: Millis,
    output: Vec<u8>,
    events: VecDeque<SubscriberEvent>,
}

impl Subscriber {
    /// Starts a connection. `nonce` is random; `name` is shown to the publisher's operator.
    #[must_use]
    pub fn new(now: Millis, password: &str, name: &str, nonce: Nonce) -> Self {
        Self {
            password: password.to_owned(),
            name: truncated(name, MAX_NAME - 1).to_owned(),
            nonce,
            state: SubscriberState::Hello,
            seals: None,
            seal: None,
            reader: MessageReader::new(MAX_EARLY_LEN),
            heard: now,
            said: now,
            output: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// Takes received bytes. Events must be drained after each call.
    ///
    /// # Errors
    /// The publisher violates the protocol; the caller closes the connection.
    pub fn receive(&mut self, now: Millis, bytes: &[u8]) -> Result<(), StreamError> {
        self.heard = now;
        self.reader.receive(bytes);
        loop {
            let at = self.reader.position();
            let fault = |what| StreamError::Message { at, what };
            let Some((kind, content)) = self.reader.next()? else { return Ok(()) };
            if let Some(seals) = &mut self.seals
                && matches!(kind, MessageKind::Pieces | MessageKind::End)
            {
                let seal = self.seal.take().unwrap_or_default();
                if !seals.check(kind, content, &seal) {
                    return Err(StreamError::Seal { at: self.reader.position() });
                }
            }
            match (kind, self.state) {
                (MessageKind::Hello, SubscriberState::Hello) => {
                    let hello = content.to_vec();
                    self.login(now, &hello, fault)?;
                }
                (MessageKind::Welcome, SubscriberState::Login(theirs)) => {
                    let (proof, delay) =
                        content.split_first_chunk().ok_or_else(|| fault("an answer too short"))?;
                    let proof: &Proof = proof;
                    let delay = delay.first_chunk().ok_or_else(|| fault("an answer too short"))?;
                    let nonces = (&theirs, &self.nonce);
                    let proves = |side, covered: &[u8]| {
                        mac(&self.password, side, nonces, covered).verify_slice(proof).is_ok()
                    };
                    // Only a publisher of a version before seals gives the proof without them.
                    if proves(StreamSide::SealingPublisher, delay) {
                        self.seals = Some(Seals::new(&self.password, nonces));
                    } else if !proves(StreamSide::Publisher, &[]) {
                        return Err(StreamError::Proof);
                    }
                    let delay = Millis(u64::from(u32::from_le_bytes(*delay)));
                    self.events.push_back(SubscriberEvent::Accepted(delay));
                    self.state = SubscriberState::Live;
                    self.reader.allow(MAX_LEN);
                }
                (MessageKind::Refused, SubscriberState::Login(_)) => {
                    self.events.push_back(SubscriberEvent::Refused(printable(content)));
                }
                (MessageKind::Seal, SubscriberState::Live) if content.len() == SEAL_LEN => {
                    self.seal = Some(content.into());
                }
                (MessageKind::Pieces, SubscriberState::Live) => {
                    self.events.push_back(SubscriberEvent::Pieces(content.to_vec()));
                }
                (MessageKind::End, _) => {
                    self.events.push_back(SubscriberEvent::Ended(printable(content)))
                }
                (MessageKind::Alive, SubscriberState::Live) => {}
                _ => return Err(fault("a message that is not allowed now")),
            }
        }
    }

    fn login(
        &mut self,
        now: Millis,
        hello: &[u8],
        fault: impl Fn(&'static str) -> StreamError,
    ) -> Result<(), StreamError> {
        let rest = hello.strip_prefix(&MAGIC).ok_or(StreamError::Magic)?;
        let (version, nonce) =
            rest.split_first_chunk().ok_or_else(|| fault("a hello too short"))?;
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(StreamError::Version(version));
        }
        let theirs: Nonce = *nonce.first_chunk().ok_or_else(|| fault("a hello too short"))?;
        let name = &[self.name.as_bytes(), &[SEALS_ASKED]].concat()[..];
        let nonces = (&theirs, &self.nonce);
        let proof =
            mac(&self.password, StreamSide::Subscriber, nonces, name).finalize().into_bytes();
        put_message(&mut self.output, MessageKind::Login, &[&self.nonce, &proof, name]);
        self.said = now;
        self.state = SubscriberState::Login(theirs);
        Ok(())
    }

    /// Runs everything that is due. Returns whether the publisher is silent for too long.
    #[must_use]
    pub fn frame(&mut self, now: Millis) -> bool {
        if self.state == SubscriberState::Live && now.since(self.said) >= ALIVE_INTERVAL {
            put_message(&mut self.output, MessageKind::Alive, &[]);
            self.said = now;
        }
        now.since(self.heard) >= SILENCE
    }

    /// Returns the bytes to send.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Returns the next event, or `None`.
    pub fn poll_event(&mut self) -> Option<SubscriberEvent> {
        self.events.pop_front()
    }
}
