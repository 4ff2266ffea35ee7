//! Delay between a source and its viewers: stored output, released when it is due.
//!
//! Invariants: output is released in order; its memory is bounded. Beyond the bound, the oldest output is
//! released early.

use std::collections::VecDeque;

use super::source::{Audience, Frame, Level, Sink, View, Visible};
use crate::{
    model::{ClientNum, ConfigIndex, EntitySet, EntityState, LevelTime, Millis, PlayerState},
    wire::snapshot::AreaMask,
};

/// Most bytes of stored output.
const MAX_BYTES: usize = 512 << 20;

/// Stored view.
#[derive(Debug)]
struct OwnedView {
    player: ClientNum,
    state: PlayerState,
    /// `None` for all entities.
    visible: Option<EntitySet>,
    areas: AreaMask,
}

/// Stored output of a source.
#[derive(Debug)]
enum Output {
    Level(Level),
    Configstring(ConfigIndex, String),
    Command(Audience, String),
    Frame { time: LevelTime, is_odd: bool, entities: Vec<EntityState>, views: Vec<OwnedView> },
    Lost(String),
}

impl Output {
    /// Bytes of memory, about.
    fn size(&self) -> usize {
        64 + match self {
            Self::Level(level) => {
                level.baselines.len() * size_of::<EntityState>()
                    + level.configstrings.iter().map(|(_, text)| text.len() + 48).sum::<usize>()
            }
            Self::Configstring(_, text) | Self::Command(_, text) | Self::Lost(text) => text.len(),
            Self::Frame { entities, views, .. } => {
                entities.len() * size_of::<EntityState>() + views.len() * size_of::<OwnedView>()
            }
        }
    }
}

/// Delay line.
#[derive(Debug)]
pub(super) struct DelayLine {
    delay: Millis,
    now: Millis,
    stored: VecDeque<(Millis, Output)>,
    bytes: usize,
}

impl DelayLine {
    pub(super) fn new(delay: Millis) -> Self {
        Self { delay, now: Millis(0), stored: VecDeque::new(), bytes: 0 }
    }

    /// Sets the time of the output that follows.
    pub(super) fn set_now(&mut self, now: Millis) {
        self.now = now;
    }

    /// Time at which output is due next.
    pub(super) fn next_due(&self) -> Millis {
        self.stored.front().map_or(Millis::NEVER, |(due, _)| *due)
    }

    /// Releases the output that is due.
    pub(super) fn release(&mut self, sink: &mut dyn Sink) {
        while let Some((due, _)) = self.stored.front()
            && (*due <= self.now || self.bytes > MAX_BYTES)
        {
            let Some((_, output)) = self.stored.pop_front() else { return };
            self.bytes -= output.size();
            match output {
                Output::Level(level) => sink.level(level),
                Output::Configstring(index, text) => sink.configstring(index, &text),
                Output::Command(audience, text) => sink.command(audience, &text),
                Output::Lost(reason) => sink.lost(&reason),
                Output::Frame { time, is_odd, entities, views } => {
                    let views: Vec<_> = views
                        .iter()
                        .map(|view| View {
                            player: view.player,
                            state: &view.state,
                            visible: view.visible.as_ref().map_or(Visible::All, Visible::Set),
                            areas: view.areas,
                        })
                        .collect();
                    sink.frame(&Frame { time, is_odd, entities: &entities, views: &views });
                }
            }
        }
    }

    fn store(&mut self, output: Output) {
        self.bytes += output.size();
        self.stored.push_back((self.now + self.delay, output));
    }
}

impl Sink for DelayLine {
    fn level(&mut self, level: Level) {
        self.store(Output::Level(level));
    }

    fn configstring(&mut self, index: ConfigIndex, text: &str) {
        self.store(Output::Configstring(index, text.to_owned()));
    }

    fn command(&mut self, audience: Audience, text: &str) {
        self.store(Output::Command(audience, text.to_owned()));
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let views = frame.views.iter().map(|view| OwnedView {
            player: view.player,
            state: *view.state,
            visible: match view.visible {
                Visible::All => None,
                Visible::Set(set) => Some(set.clone()),
            },
            areas: view.areas,
        });
        self.store(Output::Frame {
            time: frame.time,
            is_odd: frame.is_odd,
            entities: frame.entities.to_vec(),
            views: views.collect(),
        });
    }

    fn lost(&mut self, reason: &str) {
        self.store(Output::Lost(reason.to_owned()));
    }
}
