//! Source of one demo: plays a recorded connection against the clock, with pause, speed and seek.
//!
//! The position is the time of [`DemoClock`], as in the listings of the demo, so that it grows across levels. A gap of
//! the recording is shown as one usual step. A jump decodes messages without showing them, a bounded number in each call. Demos of older
//! protocols are shown in numbers of 1.32. Invariant: a message that cannot be
//! decoded is skipped and logged with its byte offset; the messages behind it are shown.

use super::{
    playback::{DemoEnd, Due, Playback, Work},
    source::{Audience, Control, Frame, Level, Sink, Source, Timeline, View, Visible},
};
use crate::{
    client::CommandEffect,
    demo::{DemoClock, DemoMessage, DemoReader, Translation},
    model::{ClientNum, Millis},
    wire::{Protocol, snapshot::SnapFlags},
};

/// Messages that one call decodes at most.
const MAX_MESSAGES: usize = 200;
/// Longest step between two snapshots. A longer one is a gap of the recording, which no viewer waits for.
const MAX_STEP_MS: u64 = 5000;
/// Time for which the last snapshot before a gap is shown.
const USUAL_STEP_MS: u64 = 50;
/// Errors that are logged; the rest is counted.
const MAX_LOGGED_ERRORS: u64 = 10;

/// A demo as a source.
#[derive(Debug)]
pub struct DemoSource<'a> {
    bytes: &'a [u8],
    protocol: &'static Protocol,
    /// Numbers and texts of 1.32, which viewers are told.
    translation: Translation,
    title: String,
    reader: DemoReader<'a>,
    /// Decoded message that is not due yet, and its position in ms. The reader's level is that behind it.
    pending: Option<(DemoMessage<'a>, u64)>,
    /// Position of the newest decoded snapshot.
    decoded: DemoClock,
    playback: Playback,
    /// Whether viewers do not have the level of the reader yet.
    owes_level: bool,
    errors: u64,
}

impl<'a> DemoSource<'a> {
    /// Creates a source of the bytes of a demo file.
    ///
    /// # Errors
    /// A sentence with the first error, if no snapshot can be decoded.
    pub fn new(
        protocol: &'static Protocol,
        bytes: &'a [u8],
        title: &str,
        end: DemoEnd,
    ) -> Result<Self, String> {
        let translation = Translation::of(protocol).ok_or_else(|| {
            format!(
                "{title}: demo not playable: a game of Quake Live, which these clients do not have"
            )
        })?;
        let (mut first_error, mut shows) = (None, false);
        let mut position = DemoClock::default();
        for message in DemoReader::new(protocol, bytes) {
            match message {
                Ok(message) => {
                    shows |= message.snapshot.is_some();
                    let _ = position.advance(&message);
                }
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        if !shows {
            let what = first_error.map_or_else(|| "no snapshot".to_owned(), |e| e.to_string());
            return Err(format!("{title}: demo not playable: {what}"));
        }
        Ok(Self {
            bytes,
            protocol,
            translation,
            title: title.to_owned(),
            reader: DemoReader::new(protocol, bytes),
            pending: None,
            decoded: DemoClock::default(),
            playback: Playback::new("Demo", end, position.elapsed_ms()),
            owes_level: true,
            errors: 0,
        })
    }

    /// Goes back to the start of the file.
    fn restart(&mut self) {
        self.reader = DemoReader::new(self.protocol, self.bytes);
        self.pending = None;
        self.decoded = DemoClock::default();
        self.owes_level = true;
    }

    /// Decodes the next message, at a time. Returns false at the end of the file.
    fn decode(&mut self, now: Millis) -> bool {
        match self.reader.next() {
            None => false,
            Some(Err(error)) => {
                self.errors += 1;
                if self.errors <= MAX_LOGGED_ERRORS {
                    log::warn!("{}: {error}", self.title);
                }
                true
            }
            Some(Ok(message)) => {
                let shown = self.decoded.elapsed_ms();
                let at = self.decoded.advance(&message);
                if at - shown > MAX_STEP_MS {
                    self.playback.pass_gap(now, at - USUAL_STEP_MS);
                }
                self.pending = Some((message, at));
                true
            }
        }
    }

    /// Tells a message that was the last one decoded. `is_silent`: only what changes the level.
    fn tell(&mut self, message: &DemoMessage<'_>, is_silent: bool, sink: &mut dyn Sink) {
        for command in message.commands.iter().filter(|command| command.is_new) {
            match &command.effect {
                Some(CommandEffect::Configstring(index)) if !self.owes_level => {
                    let text = self.reader.configstring(*index);
                    if let Some((index, text)) = self.translation.configstring(*index, text) {
                        sink.configstring(index, &text);
                    }
                }
                Some(CommandEffect::MapRestart) if !self.owes_level => {
                    sink.command(Audience::All, "map_restart\n");
                }
                None | Some(CommandEffect::Passed) if !is_silent && !self.owes_level => {
                    if let Some(text) = self.translation.command(&command.text) {
                        sink.command(Audience::All, &text);
                    }
                }
                _ => {}
            }
        }
        self.owes_level |= message.gamestate.is_some();
        let Some(snapshot) = message.snapshot.as_ref().filter(|_| !is_silent) else { return };
        if std::mem::take(&mut self.owes_level) {
            let strings = self.translation.configstrings(&self.reader);
            let baselines = self.reader.baselines().map_or(&[][..], |baselines| baselines.all());
            sink.level(Level {
                configstrings: strings.map(|(index, text)| (index, text.into_owned())).collect(),
                baselines: self.translation.entities(baselines),
                spectator: None,
            });
        }
        let snapshot = self.translation.snapshot(snapshot);
        let shown = usize::try_from(snapshot.player.client_num).ok().and_then(ClientNum::new);
        let Some(player) = shown.or(self.reader.client_num()) else { return };
        let view = View {
            player,
            state: &snapshot.player,
            visible: Visible::All,
            areas: snapshot.head.areas,
        };
        sink.frame(&Frame {
            time: snapshot.head.server_time,
            is_odd: snapshot.head.flags.contains(SnapFlags::SERVER_COUNT),
            entities: &snapshot.entities,
            views: &[view],
        });
    }

    /// Handles the end of the file.
    fn reach_end(&mut self, now: Millis, sink: &mut dyn Sink) {
        let text = match self.playback.reach_end(now, self.decoded.elapsed_ms()) {
            DemoEnd::Hold => "End of the demo. Say !seek 0 to see it again.",
            DemoEnd::Repeat => "End of the demo. It starts again.",
            DemoEnd::Stop => "End of the demo. The server stops.",
        };
        log::info!("{}: end of the demo", self.title);
        sink.command(Audience::All, &format!("cp \"{text}\n\""));
        sink.command(Audience::All, &format!("print \"{text}\n\""));
    }

    fn seek(&mut self, target: u64) {
        let behind_shown = self.pending.as_ref().map_or(self.decoded.elapsed_ms(), |(_, at)| *at);
        if target < behind_shown {
            self.restart();
        }
        self.playback.jump(target);
    }
}

impl Source for DemoSource<'_> {
    fn name(&self) -> String {
        format!("Demo {}", self.title)
    }

    fn advance(&mut self, now: Millis, sink: &mut dyn Sink) {
        match self.playback.work(now) {
            Work::Nothing => return,
            Work::Restart => return self.seek(0),
            Work::Decode => {}
        }
        for _ in 0..MAX_MESSAGES {
            if self.pending.is_none() && !self.decode(now) {
                return self.reach_end(now, sink);
            }
            let Some((message, at)) = self.pending.take() else { continue };
            match self.playback.due(now, at) {
                Due::Later => {
                    self.pending = Some((message, at));
                    return;
                }
                due => self.tell(&message, due == Due::Skip, sink),
            }
        }
    }

    fn next_due(&self) -> Millis {
        self.playback.next_due(self.pending.as_ref().map(|(_, at)| *at))
    }

    fn status(&self, now: Millis) -> String {
        let playback = self.playback.status(now);
        format!("demo {} {playback}, {} undecodable messages", self.title, self.errors)
    }

    fn control(&mut self, now: Millis, request: Control) -> Result<String, String> {
        if matches!(request, Control::Follow(_) | Control::FollowNext) {
            return Err("This demo has one view only.".to_owned());
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        bg::{EntityType, Event},
        demo::sample::{self, SampleDemo},
        model::ConfigIndex,
    };

    /// Sink that keeps what it is told.
    #[derive(Default)]
    struct Told {
        levels: usize,
        times: Vec<i32>,
        commands: Vec<String>,
        strings: Vec<(usize, String)>,
        /// Entity types of the frames.
        types: BTreeSet<i32>,
    }

    impl Sink for Told {
        fn level(&mut self, level: Level) {
            self.levels += 1;
            let strings = level.configstrings.into_iter();
            self.strings = strings.map(|(index, text)| (index.index(), text)).collect();
        }
        fn configstring(&mut self, index: ConfigIndex, text: &str) {
            self.strings.push((index.index(), text.to_owned()));
        }
        fn command(&mut self, _: Audience, text: &str) {
            self.commands.push(text.to_owned());
        }
        fn frame(&mut self, frame: &Frame<'_>) {
            self.times.push(frame.time.0 - sample::START);
            self.types.extend(frame.entities.iter().map(|entity| entity.e_type));
        }
        fn lost(&mut self, _: &str) {}
    }

    fn play(bytes: &[u8], end: DemoEnd) -> DemoSource<'_> {
        DemoSource::new(Protocol::Q3_68, bytes, "duel", end).expect("a demo")
    }

    /// Runs the source from `from` to `to` ms.
    fn run(source: &mut DemoSource<'_>, told: &mut Told, from: u64, to: u64) {
        for now in from..to {
            while source.next_due() <= Millis(now) && !source.is_finished() {
                source.advance(Millis(now), told);
                if source.next_due() <= Millis(now) && source.playback.is_seeking() {
                    continue;
                }
                break;
            }
        }
    }

    #[test]
    fn demo_is_shown_in_real_time_once() {
        let (bytes, mut told) = (sample::duel(), Told::default());
        let mut source = play(&bytes, DemoEnd::Hold);
        run(&mut source, &mut told, 0, 1010);
        assert_eq!((told.levels, told.times.len()), (1, 21));
        assert!(told.times.is_sorted() && told.times[20] == 50 + 1000);
        assert_eq!(told.commands, ["chat \"^1Ann^7: hello\""], "repeated commands once");
        assert!(told.strings.contains(&(5, "new".to_owned())));
        run(&mut source, &mut told, 1010, 9000);
        assert_eq!(told.times.len(), sample::SNAPSHOTS);
        assert!(told.commands.last().expect("an end").contains("End of the demo"));
        assert!(!source.is_finished());
    }

    #[test]
    fn older_demos_are_shown_in_current_numbers() {
        for protocol in [Protocol::Q3_43, Protocol::Q3_48, Protocol::Q3_66] {
            let (bytes, mut told) = (sample::duel_of(protocol), Told::default());
            let source = DemoSource::new(protocol, &bytes, "duel", DemoEnd::Stop);
            run(&mut source.expect("a demo"), &mut told, 0, 4000);
            assert_eq!(told.times.len(), sample::SNAPSHOTS, "{protocol}");
            let expected = [EntityType::Player as i32, EntityType::with_event(Event::Obituary)];
            assert_eq!(told.types.iter().copied().collect::<Vec<_>>(), expected, "{protocol}");
            let server = told.strings.iter().find(|(index, _)| *index == 0).expect("a serverinfo");
            assert!(server.1.contains("\\protocol\\68"), "{protocol}: {}", server.1);
            for (index, text) in [(21, "700"), (612, "Base"), (5, "new")] {
                assert!(told.strings.contains(&(index, text.to_owned())), "{protocol}: {index}");
            }
            let benny = told.strings.iter().rfind(|(index, _)| *index == 549).expect("a player");
            assert_eq!(benny.1.contains("\\tt\\0"), protocol == Protocol::Q3_43, "{}", benny.1);
        }
        let demo = sample::duel();
        let refused = DemoSource::new(Protocol::QL_91, &demo, "duel", DemoEnd::Stop);
        assert!(refused.expect_err("refused").contains("Quake Live"));
    }

    #[test]
    fn demo_pauses_and_changes_speed() {
        let (bytes, mut told) = (sample::duel(), Told::default());
        let mut source = play(&bytes, DemoEnd::Hold);
        run(&mut source, &mut told, 0, 500);
        let shown = told.times.len();
        source.control(Millis(500), Control::Pause).expect("paused");
        run(&mut source, &mut told, 500, 900);
        assert_eq!(told.times.len(), shown);
        source.control(Millis(900), Control::Pause).expect("continued");
        source.control(Millis(900), Control::Speed(2.0)).expect("faster");
        run(&mut source, &mut told, 900, 1400);
        assert!((19..=21).contains(&(told.times.len() - shown)), "{}", told.times.len() - shown);
        assert!(source.control(Millis(1400), Control::Speed(1000.0)).is_err());
    }

    #[test]
    fn demo_goes_to_any_position() {
        let (bytes, mut told) = (sample::duel(), Told::default());
        let mut source = play(&bytes, DemoEnd::Hold);
        run(&mut source, &mut told, 0, 100);
        source.control(Millis(100), Control::Seek(2000)).expect("a jump");
        run(&mut source, &mut told, 100, 110);
        assert_eq!((told.times.last(), told.levels), (Some(&2050), 1));
        assert!(told.strings.contains(&(549, "n\\Benny\\t\\0".to_owned())), "changes in between");
        assert!(told.commands.is_empty(), "no chat of the part in between");
        source.control(Millis(110), Control::Skip(-1500)).expect("a jump back");
        run(&mut source, &mut told, 110, 120);
        assert_eq!((told.times.last(), told.levels), (Some(&600), 2), "a new level");
        let answer = source.control(Millis(120), Control::Seek(u64::MAX / 2)).expect("to the end");
        assert!(answer.starts_with("Demo goes to its end at 0:02: "), "{answer}");
        let paused = source.control(Millis(120), Control::Pause).expect("paused");
        assert_eq!(paused, "Demo paused at 0:02");
        source.control(Millis(120), Control::Pause).expect("continued");
        run(&mut source, &mut told, 120, 130);
        assert!(told.commands.last().expect("an end").contains("End of the demo"));
        source.control(Millis(130), Control::Seek(0)).expect("to the start");
        run(&mut source, &mut told, 130, 140);
        assert_eq!(told.times.last(), Some(&50));
    }

    #[test]
    fn demo_repeats_or_stops_at_its_end() {
        let bytes = sample::duel();
        let mut told = Told::default();
        let mut source = play(&bytes, DemoEnd::Repeat);
        run(&mut source, &mut told, 0, 8000);
        assert!(told.times.len() > sample::SNAPSHOTS && told.levels == 2);
        let mut source = play(&bytes, DemoEnd::Stop);
        run(&mut source, &mut told, 0, 8000);
        assert!(source.is_finished());
    }

    /// Returns the position of the last snapshot of a demo that is played to its end.
    fn end_of(bytes: &[u8], shown: usize) -> u64 {
        let (mut source, mut told) = (play(bytes, DemoEnd::Hold), Told::default());
        run(&mut source, &mut told, 0, 2000);
        assert_eq!(told.times.len(), shown);
        source.timeline().expect("a timeline").position_ms
    }

    #[test]
    fn position_stands_while_the_level_changes() {
        let mut demo = SampleDemo::new();
        for level in 0..4 {
            if level > 0 {
                demo.gamestate("\\mapname\\next");
            }
            (0..3).for_each(|step| demo.snapshot(step > 0, &[]));
        }
        let bytes = demo.finish();
        let mut clock = DemoClock::default();
        let messages = DemoReader::new(Protocol::Q3_68, &bytes).flatten();
        let last = messages.map(|message| clock.advance(&message)).last();
        assert_eq!((last, end_of(&bytes, 12)), (Some(4 * 2 * 50), 4 * 2 * 50));
    }

    #[test]
    fn gap_of_the_recording_counts_without_a_wait() {
        let mut demo = SampleDemo::new();
        demo.snapshot(false, &[]);
        demo.time += 60_000;
        demo.snapshot(true, &[]);
        assert_eq!(end_of(&demo.finish(), 2), 60_050);
    }

    #[test]
    fn cut_demo_is_played_to_its_last_message() {
        let bytes = sample::duel();
        for len in (0..bytes.len()).step_by(7) {
            match DemoSource::new(Protocol::Q3_68, &bytes[..len], "cut", DemoEnd::Hold) {
                Ok(mut source) => {
                    let mut told = Told::default();
                    source.seek(u64::MAX);
                    run(&mut source, &mut told, 0, 3);
                    assert!(source.playback.is_ended(), "{len}");
                }
                Err(error) => assert!(error.contains("byte ") || len < 8, "{len}: {error}"),
            }
        }
    }
}
