//! Living through a journal again.

mod dump;

use std::{
    fs::File,
    io::{self as std_io, Read as _, Write as _},
    path::Path,
    time::Duration,
};

use fragd::{
    cli::{self, Command, Outcome, ReplayOptions},
    io::{self, GameData, assets::base_paths},
    journal::{
        Answers, Difference, FindFile, Replay, ReplayedAssets, Sent, Start, Step, Steps, Verdict,
        checksum,
    },
    model::Millis,
    server::Server,
    settings::{Choice as _, Settings, key},
    world::bsp::MAX_FILE_LEN,
};
use serde_json::json;

use super::serve;

/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// Replays a journal or lists it.
pub(crate) fn run(options: &ReplayOptions) -> Outcome {
    io::logging::init(log::LevelFilter::Error);
    let file = match Pieces::open(&options.file) {
        Ok(file) => file,
        Err(what) => return refuse(&what),
    };
    if options.dump {
        return dump::dump(options, file).unwrap_or_else(|what| refuse(&what));
    }
    match replay(options, file) {
        Ok(report) => {
            let text = if options.json { report.json() } else { report.text() };
            // A reader that has seen enough is no failure.
            let _ = std_io::stdout().write_all(text.as_bytes());
            if report.difference.is_some() || report.trouble.is_some() {
                Outcome::Failed
            } else {
                Outcome::Done
            }
        }
        Err(what) => refuse(&what),
    }
}

fn refuse(what: &str) -> Outcome {
    eprintln!("fragd: {what}");
    Outcome::Misused
}

/// A file in pieces.
struct Pieces {
    name: String,
    file: File,
    piece: Vec<u8>,
}

impl Pieces {
    fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { name, file, piece: vec![0; PIECE] })
    }

    /// The next piece; empty at the end.
    fn next(&mut self) -> Result<&[u8], String> {
        let read = self.file.read(&mut self.piece);
        let len = read.map_err(|error| format!("{}: {error}", self.name))?;
        Ok(&self.piece[..len])
    }
}

/// What came of it.
struct Report {
    name: String,
    start: Start,
    time: Millis,
    took: Duration,
    frames: u64,
    datagrams_in: u64,
    compared: u64,
    difference: Option<Difference>,
    trouble: Option<String>,
    damage: Option<fragd::journal::Damage>,
}

fn replay(options: &ReplayOptions, mut file: Pieces) -> Result<Report, String> {
    let clock = std::time::Instant::now();
    let name = file.name.clone();
    let mut steps = Steps::new();
    let start = loop {
        let piece = file.next()?;
        let is_end = piece.is_empty();
        steps.feed(piece);
        match steps.start().map_err(|error| format!("{name}: {error}"))? {
            Some(start) => break start.clone(),
            None if is_end => return Err(format!("{name}: the journal ends before it begins")),
            None => {}
        }
    };
    let answers = Answers::default();
    let mut making = Some(start.clone());
    let mut stage: Option<Replay<Server>> = None;
    let mut time = Millis(0);
    let mut ended = false;
    let mut verdict = Verdict::Same;
    while !ended && verdict == Verdict::Same {
        let step = match steps.next_step() {
            Some(step) => step,
            None => {
                let piece = file.next()?;
                if piece.is_empty() || steps.damage().is_some() {
                    ended = true;
                    match steps.last_step() {
                        Some(step) => step,
                        None => break,
                    }
                } else {
                    steps.feed(piece);
                    continue;
                }
            }
        };
        if options.until.is_some_and(|until| step.at > until) {
            break;
        }
        time = time.max(step.at);
        verdict = match (&mut stage, making.take()) {
            (Some(replay), _) => replay.step(step, &answers),
            (None, Some(start)) => {
                let (replay, verdict) = begin(options, &start, step, &answers)?;
                stage = Some(replay);
                verdict
            }
            (None, None) => break,
        };
    }
    if let Some(replay) = &mut stage
        && ended
        && verdict == Verdict::Same
        && steps.damage().is_none()
    {
        verdict = replay.finish(time);
    }
    let (difference, trouble) = match verdict {
        Verdict::Same => (None, None),
        Verdict::Differs(difference) => (Some(*difference), None),
        Verdict::Trouble(trouble @ fragd::journal::Trouble::NotHere { .. }) => {
            return Err(format!("{name}: {trouble}"));
        }
        Verdict::Trouble(trouble) => (None, Some(trouble.to_string())),
    };
    let (frames, datagrams_in, compared) = stage
        .map_or((0, 0, 0), |stage| (stage.frames(), stage.datagrams_in(), stage.datagrams_out()));
    let (took, damage) = (clock.elapsed(), steps.damage());
    Ok(Report {
        name,
        start,
        time,
        took,
        frames,
        datagrams_in,
        compared,
        difference,
        trouble,
        damage,
    })
}

/// Makes the server as it was made.
fn begin(
    options: &ReplayOptions,
    start: &Start,
    step: Step,
    answers: &Answers,
) -> Result<(Replay<Server>, Verdict), String> {
    let words = start.arguments.iter().map(Into::into);
    let parsed = cli::parse(std::iter::once("fragd".into()).chain(words));
    let Ok(Command::Serve(asked)) = parsed else {
        return Err("the journal was made with options that this program lacks".to_owned());
    };
    let config = start.config.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let (settings, _) = asked
        .build(config)
        .map_err(|faults| format!("the journal's settings are refused: {faults}"))?;
    answers.expect(step.answers.iter().cloned());
    let files = ReplayedAssets::new(answers.clone(), find_file(options, &settings));
    let server = serve::server(settings, Box::new(files), start.entropy)?;
    let mut replay = Replay::new(server);
    // The questions were answered while the server was made.
    let verdict = replay.step(Step { answers: Vec::new(), ..step }, answers);
    Ok((replay, verdict))
}

/// Looks for files where the server looked, or where it is told to.
fn find_file(options: &ReplayOptions, settings: &Settings) -> FindFile {
    let folder = settings.choice(key::GAME).name();
    let places = options.basepath.as_deref().unwrap_or(settings.text(key::FS_BASEPATH));
    let data = GameData::open(&base_paths(places, folder), &[settings.text(key::FS_GAME), folder]);
    Box::new(move |name, len, sum| {
        let is_it = |bytes: &[u8]| bytes.len() as u64 == len && checksum(bytes) == sum;
        data.read_wanted(name, len.min(MAX_FILE_LEN as u64), is_it)
    })
}

impl Report {
    fn text(&self) -> String {
        let seconds = self.time.0 as f64 / 1000.0;
        let mut text = format!(
            "journal         {}, fragd {}, fragd {}\n\
             replayed        {seconds:.1} s of the server's time in {:.2} s\n\
             inputs          {} datagrams, {} frames\n\
             compared        {} datagrams sent\n",
            self.name,
            self.start.program,
            self.start.arguments.join(" "),
            self.took.as_secs_f64(),
            self.datagrams_in,
            self.frames,
            self.compared,
        );
        if let Some(damage) = self.damage {
            text += &format!("damage          {damage}; replayed up to there\n");
        }
        text += &match (&self.difference, &self.trouble) {
            (None, None) => "verdict         the same\n".to_owned(),
            (Some(difference), _) => format!("verdict         {difference}\n"),
            (None, Some(trouble)) => {
                format!(
                    "verdict         differs at {}, frame {}: {trouble}\n",
                    self.time, self.frames
                )
            }
        };
        text
    }

    fn json(&self) -> String {
        let sent = |sent: Option<Sent>| {
            sent.map(|sent| {
                json!({
                    "to": sent.route.remote.to_string(),
                    "bytes": sent.len,
                    "checksum": format!("{:08x}", sent.checksum),
                })
            })
        };
        let difference = self.difference.as_ref().map(|difference| {
            json!({
                "time_ms": difference.at.0,
                "frame": difference.frame,
                "record": difference.record,
                "offset": difference.offset,
                "datagram": difference.number,
                "expected": sent(difference.expected),
                "got": sent(difference.got),
            })
        });
        let damage = self.damage.map(|damage| {
            json!({
                "record": damage.record,
                "offset": damage.offset,
                "what": damage.kind.to_string(),
            })
        });
        let same = self.difference.is_none() && self.trouble.is_none();
        let json = json!({
            "verdict": if same { "same" } else { "differs" },
            "program": self.start.program,
            "arguments": self.start.arguments,
            "began_unix_ms": self.start.began_unix_ms,
            "time_ms": self.time.0,
            "frames": self.frames,
            "datagrams_in": self.datagrams_in,
            "datagrams_compared": self.compared,
            "difference": difference,
            "trouble": self.trouble,
            "damage": damage,
        });
        format!("{json:#}\n")
    }
}
