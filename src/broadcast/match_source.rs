//! Source of a multi-view recording: every player's view, with pause, speed and seek.
//!
//! A jump starts at the key frame in front of its target and decodes frames without showing them, a
//! bounded number in each call. Invariant: damage is logged with its byte offset, and play continues with
//! the next key frame.

use super::{
    demo_source::DemoEnd,
    match_teller::MatchTeller,
    source::{Control, Sink, Source, Timeline},
};
use crate::{
    model::{LevelTime, Millis},
    multiview::{Index, Reader, Record},
};

/// Frames that one call decodes at most.
const MAX_FRAMES: usize = 50;
/// Time at the end of the recording before it starts again or the broadcast stops.
const END_PAUSE: Millis = Millis::seconds(3);
/// Speeds that can be set.
const SPEEDS: std::ops::RangeInclusive<f32> = 0.1..=20.0;
/// Faults that are logged; the rest is counted.
const MAX_LOGGED_FAULTS: u64 = 10;

/// State of the playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playback {
    Playing,
    /// Decodes without showing up to this position in ms.
    Seeking(u64),
    /// At the end since this time.
    Ended(Millis),
}

/// A multi-view recording as a source.
pub struct MatchSource<'a> {
    reader: Reader<'a>,
    index: Index,
    title: String,
    end: DemoEnd,
    teller: MatchTeller,
    /// Position in ms of the complete frame that is not shown yet.
    pending: Option<u64>,
    playback: Playback,
    is_paused: bool,
    speed: f32,
    /// Position at a time, from which positions are computed.
    anchor: (Millis, u64),
    has_started: bool,
    faults: u64,
    is_finished: bool,
}

impl<'a> MatchSource<'a> {
    /// Creates a source of the bytes of a file.
    ///
    /// # Errors
    /// A sentence with the first fault, if no frame can be read.
    pub fn new(bytes: &'a [u8], title: &str, end: DemoEnd) -> Result<Self, String> {
        let reader = Reader::open(bytes).map_err(|fault| format!("{title}: {fault}"))?;
        let index = reader.index().unwrap_or_else(|| reader.rebuilt_index());
        if index.keys.is_empty() {
            return Err(format!("{title}: recording without a frame"));
        }
        Ok(Self {
            reader,
            index,
            title: title.to_owned(),
            end,
            teller: MatchTeller::default(),
            pending: None,
            playback: Playback::Playing,
            is_paused: false,
            speed: 1.0,
            anchor: (Millis(0), 0),
            has_started: false,
            faults: 0,
            is_finished: false,
        })
    }

    /// Server time at position 0.
    fn start(&self) -> LevelTime {
        self.index.keys.first().map_or(LevelTime(0), |key| key.time)
    }

    /// Position that is shown at `now`, in ms.
    fn position(&self, now: Millis) -> u64 {
        let (at, position) = self.anchor;
        if self.is_paused || self.playback != Playback::Playing {
            return position;
        }
        position + (now.since(at).0 as f64 * f64::from(self.speed)) as u64
    }

    /// Decodes up to the next complete frame and returns its position. `None` at the end of the file.
    fn decode(&mut self) -> Option<u64> {
        loop {
            match self.reader.next_record()? {
                Ok(record) => {
                    let decoder = self.reader.decoder();
                    if record == Record::Key && decoder.frames() == 0 {
                        self.teller.restart();
                    }
                    if self.teller.record(decoder, &record) {
                        let time = decoder.scene().time();
                        return Some(u64::try_from(time.distance(self.start())).unwrap_or(0));
                    }
                }
                Err(fault) => {
                    self.faults += 1;
                    if self.faults <= MAX_LOGGED_FAULTS {
                        log::warn!("{}: {fault}", self.title);
                    }
                }
            }
        }
    }

    fn seek(&mut self, target: u64) {
        let time = i32::try_from(target).unwrap_or(i32::MAX).saturating_add(self.start().0);
        self.reader.seek(&self.index, LevelTime(time.min(self.index.end.0)));
        self.teller.restart();
        self.pending = None;
        self.anchor.1 = target;
        self.playback = Playback::Seeking(target);
    }

    fn reach_end(&mut self, now: Millis) {
        let length = self.index.end.distance(self.start());
        self.anchor = (now, u64::try_from(length).unwrap_or(0));
        self.playback = Playback::Ended(now);
        log::info!("{}: end of the recording", self.title);
    }
}

impl Source for MatchSource<'_> {
    fn name(&self) -> String {
        self.title.clone()
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.anchor = (now, 0);
        }
        if let Playback::Ended(at) = self.playback {
            if now.since(at) >= END_PAUSE && self.end != DemoEnd::Hold {
                self.is_finished = self.end == DemoEnd::Stop;
                self.seek(0);
            }
            return;
        }
        if self.is_paused && self.playback == Playback::Playing {
            return;
        }
        for _ in 0..MAX_FRAMES {
            let Some(at) = self.pending.take().or_else(|| self.decode()) else {
                return self.reach_end(now);
            };
            let is_silent = match self.playback {
                Playback::Seeking(target) if at < target => true,
                Playback::Seeking(_) => {
                    self.playback = Playback::Playing;
                    self.anchor = (now, at);
                    false
                }
                _ if at > self.position(now) => {
                    self.pending = Some(at);
                    return;
                }
                _ => false,
            };
            self.teller.tell(self.reader.decoder(), is_silent, sink);
        }
    }

    fn next_due(&self) -> Millis {
        match self.playback {
            Playback::Ended(at) => match self.end {
                DemoEnd::Hold => Millis::NEVER,
                DemoEnd::Repeat | DemoEnd::Stop => at + END_PAUSE,
            },
            Playback::Seeking(_) => Millis(0),
            Playback::Playing if self.is_paused => Millis::NEVER,
            Playback::Playing => {
                let (at, position) = self.anchor;
                let wait = self.pending.unwrap_or(position).saturating_sub(position) as f64;
                at + Millis((wait / f64::from(self.speed)).ceil() as u64)
            }
        }
    }

    fn status(&self, now: Millis) -> String {
        let state = match self.playback {
            Playback::Ended(_) => "at its end",
            Playback::Seeking(_) => "seeking",
            Playback::Playing if self.is_paused => "paused",
            Playback::Playing => "playing",
        };
        format!(
            "recording {} {state} at {}, speed {}, {} faults",
            self.title,
            clock(self.position(now)),
            self.speed,
            self.faults
        )
    }

    fn control(&mut self, now: Millis, request: Control) -> Result<String, String> {
        let position = self.position(now);
        self.anchor = (now, position);
        match request {
            Control::Pause => {
                self.is_paused = !self.is_paused;
                let state = if self.is_paused { "paused" } else { "continues" };
                Ok(format!("Recording {state} at {}", clock(position)))
            }
            Control::Speed(speed) if SPEEDS.contains(&speed) => {
                self.speed = speed;
                Ok(format!("Speed {speed}"))
            }
            Control::Speed(_) => {
                Err(format!("Speed out of range (expected {} to {})", SPEEDS.start(), SPEEDS.end()))
            }
            Control::Seek(target) => {
                self.seek(target);
                Ok(format!("Recording goes to {}", clock(target)))
            }
            Control::Skip(by) => {
                let target = position.saturating_add_signed(by);
                self.seek(target);
                Ok(format!("Recording goes to {}", clock(target)))
            }
            Control::Follow(_) | Control::FollowNext => {
                Err("This recording has every player: say !follow.".to_owned())
            }
        }
    }

    fn timeline(&self) -> Option<Timeline> {
        let (_, position_ms) = self.anchor;
        Some(Timeline { position_ms, speed: self.speed, is_paused: self.is_paused })
    }

    fn is_finished(&self) -> bool {
        self.is_finished
    }
}

fn clock(ms: u64) -> String {
    format!("{}:{:02}", ms / 60_000, ms / 1000 % 60)
}
