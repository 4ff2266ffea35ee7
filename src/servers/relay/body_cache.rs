//! Bodies of snapshots, encoded once for each view and base frame.
//!
//! The body is everything behind the flags: area mask, playerstate delta, entity list, end of the
//! message. All viewers of a view with the same base frame have the same bits.
//!
//! Invariants: all bodies are those of one frame and are discarded with the next one; a body's bits equal
//! those that are encoded for one viewer alone. Source: Quake III protocol 68, snapshot.

use crate::{
    model::{FrameNum, PlayerState},
    serving::delta_cache::{DeltaCache, SeenFrame},
    wire::{
        bits::BitWriter,
        encoded::{EncodedCache, EncodedSpan},
        numbers::GameNumbers,
        server_message, snapshot,
    },
};

use super::current_level::{CurrentLevel, FRAMES_KEPT, MAX_VIEWS, StoredView};

/// Bases of one view: each kept frame, and none.
const BASES: usize = FRAMES_KEPT + 1;

/// A view of a kept frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewIndex {
    pub(super) frame: FrameNum,
    /// Index among the views of the frame.
    pub(super) at: usize,
}

/// Cache of the newest frame's bodies.
#[derive(Debug)]
pub(super) struct BodyCache {
    frame: Option<FrameNum>,
    spans: Vec<Option<EncodedSpan>>,
    bodies: EncodedCache,
    deltas: DeltaCache,
    scratch: BitWriter,
    /// Bodies that were encoded since the start.
    pub(super) encoded: u64,
}

impl BodyCache {
    pub(super) fn new() -> Self {
        Self {
            frame: None,
            spans: vec![None; MAX_VIEWS * BASES],
            bodies: EncodedCache::default(),
            deltas: DeltaCache::default(),
            scratch: BitWriter::new(),
            encoded: 0,
        }
    }

    /// Discards all bodies, since the baselines have changed.
    pub(super) fn clear(&mut self) {
        self.frame = None;
        self.deltas.clear();
    }

    /// Appends the body of a view to `writer`. `base` is a view of the same player.
    pub(super) fn append(
        &mut self,
        writer: &mut BitWriter,
        current: &CurrentLevel,
        view: ViewIndex,
        base: Option<ViewIndex>,
    ) {
        if self.frame != Some(view.frame)
            || !std::ptr::eq(self.scratch.encoding(), writer.encoding())
        {
            self.frame = Some(view.frame);
            self.spans.fill(None);
            self.bodies.clear();
            self.scratch.begin(writer.encoding());
        }
        let slot = base.map_or(FRAMES_KEPT, |base| base.frame.ring_index(FRAMES_KEPT));
        let place = view.at.min(MAX_VIEWS - 1) * BASES + slot;
        let span = match self.spans[place] {
            Some(span) => span,
            None => {
                let span = self.encode(current, view, base);
                self.spans[place] = Some(span);
                span
            }
        };
        writer.append_encoded(&self.bodies, span);
    }

    fn encode(
        &mut self,
        current: &CurrentLevel,
        view: ViewIndex,
        base: Option<ViewIndex>,
    ) -> EncodedSpan {
        let Self { scratch, deltas, bodies, encoded, .. } = self;
        *encoded += 1;
        scratch.clear();
        let null_player = PlayerState::default();
        let stored = |view: ViewIndex| Some((view.frame, current.views(view.frame).get(view.at)?));
        let old: Option<(FrameNum, &StoredView)> = base.and_then(stored);
        if let Some((frame, view)) = stored(view) {
            let old_player = old.map_or(&null_player, |(_, view)| &view.state);
            snapshot::write_view(scratch, &view.areas, old_player, &view.state);
            let old = old.map(|(frame, view)| SeenFrame { frame, seen: &view.seen });
            let newest = SeenFrame { frame, seen: &view.seen };
            deltas.write_list(
                scratch,
                GameNumbers::Current,
                current.ring(),
                &current.baselines,
                old,
                newest,
            );
            server_message::end(scratch);
        }
        bodies.store(scratch)
    }
}
