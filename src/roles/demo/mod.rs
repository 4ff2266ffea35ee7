//! Demo role (`fragd demo`): summary, check, JSON, events, cut, extract, drawing, play.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fragd::{
    cli::{
        CutOptions, DemoDrawOptions, DemoEvents, DemoFiles, DemoOptions, DemoRange, DemoTask,
        ExitStatus,
    },
    demo::{
        CutError, DemoClock, DemoReader, DemoSummary, EmptyRange, EventFinder, cut, error_json,
        event_json, message_json,
    },
    io,
    wire::{Protocol, demo_file::protocol_of},
};
use serde_json::json;

use super::output::{self, Output};

mod drawing;
mod multiview;
mod play;

/// Longest demo that is read, in bytes: hours of play of 64 players.
const MAX_DEMO_BYTES: u64 = 1 << 30;
/// Shortest measurement of `demo time`.
const MEASUREMENT: Duration = Duration::from_secs(1);

/// Runs a task on demos.
pub(crate) fn run(options: &DemoOptions) -> ExitStatus {
    let mut out = Output::new();
    let done = match &options.task {
        DemoTask::Info(files) => for_each(files, multiview::FileTask::Info, &mut out, info),
        DemoTask::Check(files) => for_each(files, multiview::FileTask::Check, &mut out, check),
        DemoTask::Time(files) => for_each(files, multiview::FileTask::Time, &mut out, time),
        DemoTask::Play(options) => return play::run(options),
        DemoTask::Json(range) => json_lines(range, &mut out),
        DemoTask::Events(options) => events(options, &mut out),
        DemoTask::Cut(options) => cut_file(options, &mut out),
        DemoTask::Draw(options) => draw(options, &mut out),
        DemoTask::Extract(options) => multiview::extract(options, &mut out),
    };
    let outcome = match done {
        Ok(true) => ExitStatus::Done,
        Ok(false) => ExitStatus::Failed,
        Err(what) => {
            out.report(&what);
            ExitStatus::Failed
        }
    };
    out.end(outcome)
}

/// A demo file in memory.
struct Demo {
    path: PathBuf,
    protocol: &'static Protocol,
    bytes: Vec<u8>,
}

impl Demo {
    /// Reads a demo, or a multi-view recording as the demo of a spectator that sees everything.
    fn read(path: &Path) -> Result<Self, String> {
        if multiview::is_recording(path) {
            return multiview::overview(path);
        }
        let protocol = protocol_of(&path.to_string_lossy()).ok_or_else(|| {
            format!(
                "{}: unknown extension (expected .dm_68, .dm_71 or .mv); rename the file",
                path.display()
            )
        })?;
        let bytes = io::read_file(path, MAX_DEMO_BYTES).map_err(|error| error.to_string())?;
        Ok(Self { path: path.to_owned(), protocol, bytes })
    }

    fn reader(&self) -> DemoReader<'_> {
        DemoReader::new(self.protocol, &self.bytes)
    }
}

/// Runs a task on each file. Returns whether all succeeded.
fn for_each(
    options: &DemoFiles,
    kind: multiview::FileTask,
    out: &mut Output,
    mut task: impl FnMut(&Demo, bool, &mut Output) -> bool,
) -> Result<bool, String> {
    let mut succeeded = true;
    for path in &options.files {
        let _ = out.flush();
        if let Some(done) = multiview::describe(path, options.json, kind, out) {
            succeeded &= done;
            continue;
        }
        match Demo::read(path) {
            Ok(demo) => succeeded &= task(&demo, options.json, out),
            Err(what) => {
                out.report(&what);
                succeeded = false;
            }
        }
    }
    Ok(succeeded)
}

fn info(demo: &Demo, as_json: bool, out: &mut Output) -> bool {
    let summary = DemoSummary::of(demo.protocol, &demo.bytes);
    let name = demo.path.display();
    if as_json {
        let mut object = summary.to_json();
        object["file"] = json!(name.to_string());
        out.line(object);
    } else {
        out.line(format!("{name}: protocol {}, {} bytes", demo.protocol.number, summary.bytes));
        out.line(&summary);
    }
    summary.counts.errors == 0 && summary.counts.snapshots > 0
}

fn check(demo: &Demo, as_json: bool, out: &mut Output) -> bool {
    let mut reader = demo.reader();
    let errors: Vec<_> = reader.by_ref().filter_map(Result::err).take(1000).collect();
    reader.by_ref().for_each(drop);
    let counts = reader.counts();
    let name = demo.path.display();
    if as_json {
        out.line(json!({
            "file": name.to_string(),
            "messages": counts.messages,
            "snapshots": counts.snapshots,
            "errors": counts.errors,
            "first": errors.iter().map(error_json).collect::<Vec<_>>(),
        }));
    } else {
        for error in errors.iter().take(10) {
            out.line(format!("{name}: {error}"));
        }
        out.line(format!("{name}: {counts}"));
    }
    counts.errors == 0 && counts.snapshots > 0
}

fn time(demo: &Demo, as_json: bool, out: &mut Output) -> bool {
    let begun = Instant::now();
    let mut rounds = 0_u32;
    let (mut play_ms, mut messages) = (0, 0);
    while begun.elapsed() < MEASUREMENT {
        let mut reader = demo.reader();
        let mut clock = DemoClock::default();
        for message in reader.by_ref().flatten() {
            clock.advance(&message);
        }
        (play_ms, messages) = (clock.elapsed_ms(), reader.counts().messages);
        rounds += 1;
    }
    let ms = begun.elapsed().as_secs_f64() * 1000.0 / f64::from(rounds);
    let factor = play_ms as f64 / ms.max(1e-6);
    let rate = messages as f64 / ms.max(1e-6) * 1000.0;
    let name = demo.path.display();
    if as_json {
        out.line(json!({
            "file": name.to_string(),
            "play_ms": play_ms,
            "decode_ms": ms,
            "times_real_time": factor,
            "messages_per_second": rate,
        }));
    } else {
        out.line(format!(
            "{name}: {:.1} s of play in {ms:.2} ms: {factor:.0} times real time, {rate:.0} messages/s",
            play_ms as f64 / 1000.0
        ));
    }
    messages > 0
}

fn json_lines(range: &DemoRange, out: &mut Output) -> Result<bool, String> {
    let demo = Demo::read(&range.file)?;
    check_range(range)?;
    let mut reader = demo.reader();
    let mut finder = EventFinder::default();
    let mut is_empty = true;
    let to_ms = range.to.map_or(u64::MAX, |to| to.0);
    while let Some(item) = reader.next() {
        let written = match item {
            Err(error) => {
                let mut object = error_json(&error);
                object["kind"] = json!("error");
                writeln!(out, "{object}")
            }
            Ok(message) => {
                let mut events = Vec::new();
                finder.read(&reader, &message, &mut |event| events.push(event));
                let at_ms = finder.elapsed_ms();
                if at_ms > to_ms {
                    break;
                }
                if at_ms < range.from.0 {
                    continue;
                }
                is_empty = false;
                let line = message_json(demo.protocol, &message, at_ms);
                let events =
                    events.iter().try_for_each(|event| writeln!(out, "{}", event_json(event)));
                writeln!(out, "{line}").and(events)
            }
        };
        if written.is_err() {
            return Ok(true);
        }
    }
    let _ = out.flush();
    if is_empty && range.from.0 > 0 {
        let mut play_ms = finder.elapsed_ms();
        while let Some(item) = reader.next() {
            if let Ok(message) = item {
                finder.read(&reader, &message, &mut |_| {});
                play_ms = finder.elapsed_ms();
            }
        }
        let to_ms = range.to.map(|to| to.0);
        let empty = EmptyRange { from_ms: range.from.0, to_ms, play_ms };
        return Err(format!("{}: {empty}", range.file.display()));
    }
    Ok(reader.counts().errors == 0)
}

/// Refuses a range that ends before it begins.
fn check_range(range: &DemoRange) -> Result<(), String> {
    let (from_ms, to_ms) = (range.from.0, range.to.map_or(u64::MAX, |to| to.0));
    if from_ms > to_ms {
        return Err(CutError::Reversed { from_ms, to_ms }.to_string());
    }
    Ok(())
}

fn events(options: &DemoEvents, out: &mut Output) -> Result<bool, String> {
    let demo = Demo::read(&options.file)?;
    let mut reader = demo.reader();
    let mut finder = EventFinder::default();
    let mut open = true;
    while let Some(item) = reader.next() {
        match item {
            Err(error) => {
                out.report(format_args!("{}: {error}", demo.path.display()));
            }
            Ok(message) => finder.read(&reader, &message, &mut |event| {
                open = open
                    && if options.json {
                        out.line(event_json(&event))
                    } else {
                        let (seconds, ms) = (event.demo_ms / 1000, event.demo_ms % 1000);
                        let (minutes, seconds) = (seconds / 60, seconds % 60);
                        out.line(format!("{minutes:3}:{seconds:02}.{ms:03}  {}", event.kind))
                    };
            }),
        }
        if !open {
            return Ok(true);
        }
    }
    Ok(reader.counts().errors == 0)
}

fn cut_file(options: &CutOptions, out: &mut Output) -> Result<bool, String> {
    let CutOptions { range, output, json } = options;
    output::keep_source(&range.file, output)?;
    if multiview::is_recording(&range.file) {
        return Err(format!(
            "{}: multi-view recordings are not cut; cut a demo of `fragd demo extract`",
            range.file.display()
        ));
    }
    let demo = Demo::read(&range.file)?;
    if protocol_of(&output.to_string_lossy()).map(|protocol| protocol.number)
        != Some(demo.protocol.number)
    {
        return Err(format!(
            "{}: invalid extension (expected .dm_{}, as the demo)",
            output.display(),
            demo.protocol.number
        ));
    }
    let to_ms = range.to.map_or(u64::MAX, |to| to.0);
    let (part, report) = cut(demo.protocol, &demo.bytes, range.from.0, to_ms)
        .map_err(|error| format!("{}: {error}", demo.path.display()))?;
    output::write_file(output, &part)?;
    if *json {
        out.line(json!({
            "file": output.display().to_string(),
            "bytes": part.len(),
            "messages": report.messages,
            "recoded": report.recoded,
            "skipped": report.skipped,
            "from_ms": report.from_ms,
            "to_ms": report.to_ms,
        }));
    } else {
        out.line(format!(
            "{}: {} messages, {} bytes, {:.3} s to {:.3} s; {} snapshots encoded again, {} messages \
             left out",
            output.display(),
            report.messages,
            part.len(),
            report.from_ms as f64 / 1000.0,
            report.to_ms as f64 / 1000.0,
            report.recoded,
            report.skipped
        ));
    }
    Ok(true)
}

fn draw(options: &DemoDrawOptions, out: &mut Output) -> Result<bool, String> {
    output::keep_source(&options.file, &options.output)?;
    let demo = Demo::read(&options.file)?;
    let summary = drawing::write(demo.protocol, &demo.bytes, options)?;
    out.line(format!("{}: {summary}", options.output.display()));
    Ok(true)
}
