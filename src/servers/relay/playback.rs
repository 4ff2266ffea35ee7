//! Playback clock of a recording: position, speed, pause, jumps and the end.
//!
//! ```text
//! Playing ── jump ──► Seeking ── target reached ──► Playing ── end of the file ──► Ended ──► Seeking 0
//! ```
//!
//! The clock decides which decoded message is shown, and when; its owner decodes. Invariant: the position
//! does not move while the clock is paused, seeks or is at the end.

use super::source::{Control, Timeline};
use crate::model::Millis;

/// Time at the end of a recording before it starts again or the broadcast stops.
const END_PAUSE: Millis = Millis::seconds(3);
/// Speeds that can be set.
const SPEEDS: std::ops::RangeInclusive<f32> = 0.1..=20.0;

/// Behavior at the end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoEnd {
    /// The last frame stays.
    Hold,
    /// The recording starts again.
    Repeat,
    /// The broadcast stops.
    Stop,
}

/// State of a playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Playing,
    /// Decodes without showing up to this position in ms.
    Seeking(u64),
    /// At the end since this time.
    Ended(Millis),
}

/// Work that is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Decode messages and ask [`Playback::due`] for each.
    Decode,
    /// Jump to the start.
    Restart,
    Nothing,
}

/// Treatment of a decoded message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Show,
    /// Apply without showing: it is in front of the target of a jump.
    Skip,
    /// Keep it for a later time.
    Later,
}

/// Clock and controls of a playback.
#[derive(Debug)]
pub(super) struct Playback {
    /// Name of the recording's kind in answers, with a capital letter.
    noun: &'static str,
    end: DemoEnd,
    state: State,
    is_paused: bool,
    speed: f32,
    /// Position at a time, from which positions are computed.
    anchor: (Millis, u64),
    /// Length of the recording in ms, behind which no jump goes.
    length: u64,
    has_started: bool,
    is_finished: bool,
}

impl Playback {
    /// Creates a stopped clock of a recording of `length` ms.
    pub(super) fn new(noun: &'static str, end: DemoEnd, length: u64) -> Self {
        Self {
            length,
            noun,
            end,
            state: State::Playing,
            is_paused: false,
            speed: 1.0,
            anchor: (Millis(0), 0),
            has_started: false,
            is_finished: false,
        }
    }

    /// Position that is shown at `now`, in ms.
    pub(super) fn position(&self, now: Millis) -> u64 {
        let (at, position) = self.anchor;
        if self.is_paused || self.state != State::Playing {
            return position;
        }
        position + (now.since(at).0 as f64 * f64::from(self.speed)) as u64
    }

    /// Work that is due at `now`. The first call starts the clock.
    pub(super) fn work(&mut self, now: Millis) -> Work {
        if !std::mem::replace(&mut self.has_started, true) {
            self.anchor.0 = now;
        }
        match self.state {
            State::Ended(at) if self.end != DemoEnd::Hold && now.since(at) >= END_PAUSE => {
                self.is_finished = self.end == DemoEnd::Stop;
                Work::Restart
            }
            State::Ended(_) => Work::Nothing,
            State::Playing if self.is_paused => Work::Nothing,
            State::Playing | State::Seeking(_) => Work::Decode,
        }
    }

    /// Treatment of a message at position `at` in ms. The first one at the target ends a jump.
    pub(super) fn due(&mut self, now: Millis, at: u64) -> Due {
        match self.state {
            State::Seeking(target) if at < target => Due::Skip,
            State::Seeking(_) => {
                self.state = State::Playing;
                self.anchor = (now, at);
                Due::Show
            }
            State::Playing | State::Ended(_) if at > self.position(now) => Due::Later,
            State::Playing | State::Ended(_) => Due::Show,
        }
    }

    /// Continues behind a gap of the recording, if nothing else moves the position.
    pub(super) fn pass_gap(&mut self, now: Millis, at: u64) {
        if self.state == State::Playing {
            self.anchor = (now, at);
        }
    }

    /// Starts a jump. The owner goes to a place in front of the target.
    pub(super) fn jump(&mut self, target: u64) {
        self.anchor.1 = target;
        self.state = State::Seeking(target);
    }

    /// Handles the end of the recording, whose last position is `at` in ms.
    pub(super) fn reach_end(&mut self, now: Millis, at: u64) -> DemoEnd {
        self.anchor = (now, at);
        self.state = State::Ended(now);
        self.end
    }

    /// Time of the next work. `pending` is the position of the message that is not shown yet.
    pub(super) fn next_due(&self, pending: Option<u64>) -> Millis {
        match self.state {
            State::Ended(_) if self.end == DemoEnd::Hold => Millis::NEVER,
            State::Ended(at) => at + END_PAUSE,
            State::Seeking(_) => Millis(0),
            State::Playing if self.is_paused => Millis::NEVER,
            State::Playing => {
                let (at, position) = self.anchor;
                let wait = pending.unwrap_or(position).saturating_sub(position) as f64;
                at + Millis((wait / f64::from(self.speed)).ceil() as u64)
            }
        }
    }

    /// State, position and speed for an operator.
    pub(super) fn status(&self, now: Millis) -> String {
        let state = match self.state {
            State::Ended(_) => "at its end",
            State::Seeking(_) => "seeking",
            State::Playing if self.is_paused => "paused",
            State::Playing => "playing",
        };
        format!("{state} at {}, speed {}", clock(self.position(now)), self.speed)
    }

    /// Handles a request. Returns the answer, and the target of a jump that the owner makes.
    ///
    /// # Errors
    /// A sentence, for a speed out of range and for a request about views.
    pub(super) fn control(
        &mut self,
        now: Millis,
        request: Control,
    ) -> Result<(String, Option<u64>), String> {
        let position = self.position(now);
        self.anchor = (now, position);
        let noun = self.noun;
        let length = self.length;
        let jump = |target: u64| {
            let shown = clock(target.min(length));
            let answer = if target > length {
                format!("{noun} goes to its end at {shown}: {} is behind it", clock(target))
            } else {
                format!("{noun} goes to {shown}")
            };
            Ok((answer, Some(target.min(length))))
        };
        match request {
            Control::Pause => {
                self.is_paused = !self.is_paused;
                let state = if self.is_paused { "paused" } else { "continues" };
                Ok((format!("{noun} {state} at {}", clock(position)), None))
            }
            Control::Speed(speed) if SPEEDS.contains(&speed) => {
                self.speed = speed;
                Ok((format!("Speed {speed}"), None))
            }
            Control::Speed(_) => {
                Err(format!("Speed out of range (expected {} to {})", SPEEDS.start(), SPEEDS.end()))
            }
            Control::Seek(target) => jump(target),
            Control::Skip(by) => jump(position.saturating_add_signed(by)),
            Control::Follow(_) | Control::FollowNext => {
                Err(format!("{noun} without a choice of views."))
            }
        }
    }

    pub(super) fn timeline(&self) -> Timeline {
        let (_, position_ms) = self.anchor;
        Timeline { position_ms, speed: self.speed, is_paused: self.is_paused }
    }

    /// Whether the broadcast stops.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether a jump is under way.
    #[cfg(test)]
    pub(super) fn is_seeking(&self) -> bool {
        matches!(self.state, State::Seeking(_))
    }

    /// Whether the end was reached.
    #[cfg(test)]
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }
}

/// A position as `m:ss`.
fn clock(ms: u64) -> String {
    format!("{}:{:02}", ms / 60_000, ms / 1000 % 60)
}
