//! Source of a multi-view recording: every player's view, with pause, speed and seek.
//!
//! A jump starts at the key frame in front of its target and decodes frames without showing them, a
//! bounded number in each call. Invariant: damage is logged with its byte offset, and play continues with
//! the next key frame.

use super::{
    match_decoder::MatchDecoder,
    playback::{DemoEnd, Due, Playback, Work},
    source::{Control, Sink, Source, Timeline},
};
use crate::{
    model::{LevelTime, Millis},
    multiview::{Index, Reader, Record},
};

/// Frames that one call decodes at most.
const MAX_FRAMES: usize = 50;
/// Faults that are logged; the rest is counted.
const MAX_LOGGED_FAULTS: u64 = 10;

/// A multi-view recording as a source.
pub struct MatchSource<'a> {
    reader: Reader<'a>,
    index: Index,
    title: String,
    teller: MatchDecoder,
    /// Position in ms of the complete frame that is not shown yet.
    pending: Option<u64>,
    playback: Playback,
    faults: u64,
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
        let start = index.keys.first().map_or(LevelTime(0), |key| key.time);
        let length = u64::try_from(index.end.distance(start)).unwrap_or(0);
        Ok(Self {
            reader,
            index,
            title: title.to_owned(),
            teller: MatchDecoder::default(),
            pending: None,
            playback: Playback::new("Recording", end, length),
            faults: 0,
        })
    }

    /// Server time at position 0.
    fn start(&self) -> LevelTime {
        self.index.keys.first().map_or(LevelTime(0), |key| key.time)
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
        self.playback.jump(target);
    }

    fn reach_end(&mut self, now: Millis) {
        let length = self.index.end.distance(self.start());
        self.playback.reach_end(now, u64::try_from(length).unwrap_or(0));
        log::info!("{}: end of the recording", self.title);
    }
}

impl Source for MatchSource<'_> {
    fn name(&self) -> String {
        self.title.clone()
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        match self.playback.work(now) {
            Work::Nothing => return,
            Work::Restart => return self.seek(0),
            Work::Decode => {}
        }
        for _ in 0..MAX_FRAMES {
            let Some(at) = self.pending.take().or_else(|| self.decode()) else {
                return self.reach_end(now);
            };
            match self.playback.due(now, at) {
                Due::Later => {
                    self.pending = Some(at);
                    return;
                }
                due => self.teller.tell(self.reader.decoder(), due == Due::Skip, sink),
            }
        }
    }

    fn next_due(&self) -> Millis {
        self.playback.next_due(self.pending)
    }

    fn status(&self, now: Millis) -> String {
        let playback = self.playback.status(now);
        format!("recording {} {playback}, {} faults", self.title, self.faults)
    }

    fn control(&mut self, now: Millis, request: Control) -> Result<String, String> {
        if matches!(request, Control::Follow(_) | Control::FollowNext) {
            return Err("This recording has every player: say !follow.".to_owned());
        }
        let (answer, target) = self.playback.control(now, request)?;
        if let Some(target) = target {
            self.seek(target);
        }
        Ok(answer)
    }

    fn timeline(&self) -> Option<Timeline> {
        Some(self.playback.timeline())
    }

    fn is_finished(&self) -> bool {
        self.playback.is_finished()
    }
}
