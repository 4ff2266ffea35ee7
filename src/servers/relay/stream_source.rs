//! Source of a live stream: every player's view of a running server.
//!
//! The connection is the caller's; its events come in by a function. Invariants: damage costs the frames up
//! to the next key frame and is logged; memory is bounded by the recording's decoder.

use super::{
    match_decoder::MatchDecoder,
    source::{Sink, Source, relay_name},
};
use crate::{
    model::Millis,
    multiview::{Decoder, FormatError, Header, PIECE_HEAD_LEN, PieceKind, Record, read_piece},
    stream::SubscriberEvent,
};

/// Time between two looks at the connection.
const POLL: Millis = Millis(10);
/// Time without a frame after which a connected stream is reported.
const REPORTED_SILENCE: Millis = Millis(1500);
/// Events that one call takes at most.
const MAX_EVENTS: usize = 64;

/// Returns the next event of the connection. [`SubscriberEvent::Ended`] is followed by another attempt.
pub type StreamInput<'a> = Box<dyn FnMut() -> Option<SubscriberEvent> + 'a>;

/// A live stream as a source.
pub struct StreamSource<'a> {
    address: String,
    input: StreamInput<'a>,
    header: Option<Header>,
    decoder: Decoder,
    teller: MatchDecoder,
    /// Delay of the stream while it is connected.
    delay: Option<Millis>,
    /// Time of the connection, until its first frame or the report that there is none.
    awaits_frame: Option<Millis>,
    /// Whether a key frame came, and no fault behind it.
    is_ready: bool,
    next: Millis,
    frames: u64,
    faults: u64,
}

impl<'a> StreamSource<'a> {
    /// Creates a source. `address` is shown to viewers until the name of the server is known.
    #[must_use]
    pub fn new(address: &str, input: StreamInput<'a>) -> Self {
        Self {
            address: address.to_owned(),
            input,
            header: None,
            decoder: Decoder::default(),
            teller: MatchDecoder::default(),
            delay: None,
            awaits_frame: None,
            is_ready: false,
            next: Millis(0),
            frames: 0,
            faults: 0,
        }
    }

    /// Takes whole pieces.
    fn pieces(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<(), FormatError> {
        while !bytes.is_empty() {
            let piece = read_piece(bytes)?;
            if piece.missing > 0 {
                return Err(FormatError::Cut { missing: piece.missing });
            }
            bytes = &bytes[PIECE_HEAD_LEN + piece.content.len()..];
            match piece.kind {
                PieceKind::Header => {
                    self.header = Some(Header::read(piece.content)?);
                    self.restart();
                }
                PieceKind::Records if !self.is_ready => {}
                PieceKind::Key | PieceKind::Records => {
                    self.is_ready = true;
                    self.decoder.piece(piece.kind, piece.content)?;
                    self.records(sink)?;
                }
                PieceKind::Index => {}
            }
        }
        Ok(())
    }

    /// Waits for a key frame, and tells the level again with it.
    fn restart(&mut self) {
        self.decoder = Decoder::default();
        self.teller.restart();
        self.is_ready = false;
    }

    fn records(&mut self, sink: &mut dyn Sink) -> Result<(), FormatError> {
        while let Some(record) = self.decoder.next_record()? {
            if record == Record::Key && self.decoder.frames() == 0 {
                self.teller.restart();
            }
            if self.teller.record(&self.decoder, &record) {
                self.frames += 1;
                self.awaits_frame = None;
                self.teller.tell(&self.decoder, false, sink);
            }
        }
        Ok(())
    }
}

impl Source for StreamSource<'_> {
    fn name(&self) -> String {
        relay_name(self.header.as_ref().map_or(&self.address, |header| &header.host_name))
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        self.next = now + POLL;
        if self.awaits_frame.is_some_and(|since| now.since(since) >= REPORTED_SILENCE) {
            self.awaits_frame = None;
            let reason = "the server sends no frame until a client is in its game";
            log::warn!("{}: live stream without a level: {reason}", self.address);
            sink.lost(reason);
        }
        for _ in 0..MAX_EVENTS {
            match (self.input)() {
                None => return,
                Some(SubscriberEvent::Accepted(delay)) => {
                    log::info!(
                        "{}: live stream connected, {} s late",
                        self.address,
                        delay.0 / 1000
                    );
                    self.delay = Some(delay);
                    self.awaits_frame = Some(now);
                    self.restart();
                }
                Some(SubscriberEvent::Pieces(pieces)) => {
                    if let Err(fault) = self.pieces(&pieces, sink) {
                        self.faults += 1;
                        log::warn!("{}: live stream: {fault}", self.address);
                        // The level is told again, because changes up to the next key frame are lost.
                        self.restart();
                    }
                }
                Some(SubscriberEvent::Refused(reason) | SubscriberEvent::Ended(reason)) => {
                    let state = if self.delay.is_some() { "lost" } else { "not connected" };
                    log::warn!("{}: live stream {state}: {reason}", self.address);
                    (self.delay, self.awaits_frame) = (None, None);
                    sink.lost(&reason);
                }
            }
        }
    }

    fn next_due(&self) -> Millis {
        self.next
    }

    fn status(&self, _now: Millis) -> String {
        let state = match self.delay {
            Some(delay) => format!("connected, {} s late", delay.0 / 1000),
            None => "not connected".to_owned(),
        };
        let Self { address, frames, faults, .. } = self;
        format!("live stream {address} {state}, {frames} frames, {faults} faults")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::ConfigIndex,
        relay::source::{Audience, Frame, Level},
    };

    /// Sink that keeps the reasons of losses.
    #[derive(Default)]
    struct Losses(Vec<String>);

    impl Sink for Losses {
        fn level(&mut self, _: Level) {}
        fn frame(&mut self, _: &Frame<'_>) {}
        fn configstring(&mut self, _: ConfigIndex, _: &str) {}
        fn command(&mut self, _: Audience, _: &str) {}
        fn lost(&mut self, reason: &str) {
            self.0.push(reason.to_owned());
        }
    }

    #[test]
    fn stream_without_a_frame_is_reported_once() {
        let mut events = vec![SubscriberEvent::Accepted(Millis(0))];
        let mut source = StreamSource::new("192.0.2.1:27970", Box::new(move || events.pop()));
        let mut sink = Losses::default();
        for now in (0..10_000).step_by(10) {
            source.advance(Millis(now), &mut sink);
            assert_eq!(sink.0.len(), usize::from(now >= 1500), "{now}");
        }
        assert!(sink.0[0].contains("until a client is in its game"));
    }

    #[test]
    fn relay_of_stream_is_named_as_one() {
        let mut source = StreamSource::new("192.0.2.1:27970", Box::new(|| None));
        assert_eq!(source.name(), "192.0.2.1:27970 (relay)");
        let mut named = |name: &str| {
            source.header = Some(Header { host_name: name.to_owned(), ..Header::default() });
            source.name()
        };
        assert_eq!(named("Arena"), "Arena (relay)");
        assert_eq!(named("Arena (relay)"), "Arena (relay)", "a chain of relays");
        assert_eq!(named(&"x".repeat(100)).len(), 64 + " (relay)".len());
    }
}
