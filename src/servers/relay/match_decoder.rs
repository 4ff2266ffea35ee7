//! Multi-view recordings and streams as levels and frames for a sink.
//!
//! A frame is passed on when all messages behind it are known, because they have the visible entities of its
//! players. Configstrings and commands come in front of the frame behind them.
//! Invariant: at most [`MAX_TOLD`] commands wait.

use std::sync::Arc;

use super::source::{Audience, Frame, Level, Sink, View, Visible};
use crate::{
    model::{ConfigIndex, EntityState},
    multiview::{Decoder, Record},
    wire::snapshot::SnapFlags,
};

/// Most commands between two frames. Older ones are dropped.
const MAX_TOLD: usize = 1024;

/// Record that is passed to a sink.
#[derive(Clone, Debug)]
enum Told {
    Configstring(ConfigIndex),
    Command(Arc<str>),
}

/// Teller of one recording or stream.
#[derive(Debug, Default)]
pub(super) struct MatchDecoder {
    has_level: bool,
    has_frame: bool,
    waiting: Vec<Told>,
    entities: Vec<EntityState>,
}

impl MatchDecoder {
    /// Tells the level again with the next frame.
    pub(super) fn restart(&mut self) {
        self.has_level = false;
        self.has_frame = false;
        self.waiting.clear();
    }

    /// Takes a record that the decoder has just read. Returns whether a frame is complete.
    pub(super) fn record(&mut self, decoder: &Decoder, record: &Record) -> bool {
        let told = match record {
            Record::Configstring(index) => Some(Told::Configstring(*index)),
            Record::Broadcast(text) => Some(Told::Command(Arc::clone(text))),
            Record::Frame => {
                self.has_frame = true;
                None
            }
            Record::Key | Record::Start(_) | Record::End(_) | Record::Message(..) => None,
        };
        if let Some(told) = told.filter(|_| self.waiting.len() < MAX_TOLD) {
            self.waiting.push(told);
        }
        decoder.is_frame_complete() && std::mem::take(&mut self.has_frame)
    }

    /// Tells the complete frame. `is_silent` tells configstrings alone.
    pub(super) fn tell(&mut self, decoder: &Decoder, is_silent: bool, sink: &mut dyn Sink) {
        if !self.has_level && is_silent {
            self.waiting.clear();
            return;
        }
        if !std::mem::replace(&mut self.has_level, true) {
            self.waiting.clear();
            let strings = decoder.configstrings().map(|(index, text)| (index, text.to_owned()));
            sink.level(Level {
                configstrings: strings.collect(),
                baselines: decoder.baselines().all().to_vec(),
                spectator: None,
            });
        }
        for told in self.waiting.drain(..) {
            match told {
                Told::Configstring(index) => sink.configstring(index, decoder.text(index)),
                Told::Command(text) if !is_silent => sink.command(Audience::All, &text),
                Told::Command(_) => {}
            }
        }
        if !is_silent {
            self.frame(decoder, sink);
        }
    }

    fn frame(&mut self, decoder: &Decoder, sink: &mut dyn Sink) {
        let scene = decoder.scene();
        self.entities.clear();
        self.entities.extend(scene.entities().map(|(_, entity)| *entity.state));
        let views: Vec<_> = scene
            .clients()
            .filter_map(|player| {
                let state = scene.player(player)?;
                // A spectator that follows another player has that player's state.
                let is_own = state.client_num == player.index() as i32;
                let track = decoder.track(player);
                is_own.then(|| View {
                    player,
                    state,
                    visible: track.map_or(Visible::All, |track| Visible::Set(&track.seen)),
                    areas: track.map(|track| track.areas).unwrap_or_default(),
                })
            })
            .collect();
        let flags = scene.clients().find_map(|client| decoder.track(client)).map(|t| t.flags);
        if !views.is_empty() {
            sink.frame(&Frame {
                time: scene.time(),
                is_odd: flags.is_some_and(|flags| flags.contains(SnapFlags::SERVER_COUNT)),
                entities: &self.entities,
                views: &views,
            });
        }
    }
}
