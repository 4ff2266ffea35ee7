//! Demo role (`fragd demo`): summary, check, JSON, events, cut, conversion, extract, drawing, play.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fragd::{
    cli::{
        CutOptions, DemoDrawOptions, DemoEvents, DemoFiles, DemoInfo, DemoJson, DemoOptions,
        DemoTask, ExitStatus,
    },
    demo::{
        DemoClock, DemoCounts, DemoError, DemoReader, DemoSummary, EmptyRange, EventFinder,
        check_order, cut, error_json, event_json, message_json, note_json, recognize,
    },
    io,
    model::text::{ColorCodes, counted},
    wire::{Protocol, demo_file::protocol_of},
};
use serde_json::json;

use super::output::{self, Output};

mod conversion;
mod drawing;
mod multiview;
mod play;

/// Longest demo that is read, in bytes: hours of play of 64 players.
const MAX_DEMO_BYTES: u64 = 1 << 30;
/// Errors of a check in JSON, and lines of errors and of notes in text. The others are counted.
const MAX_CHECK_ERRORS: usize = 1000;
const MAX_CHECK_LINES: usize = 10;
/// Shortest measurement of `demo time`.
const MEASUREMENT: Duration = Duration::from_secs(1);

/// Runs a task on demos.
pub(crate) fn run(options: &DemoOptions) -> ExitStatus {
    let mut out = Output::new();
    let done = match &options.task {
        DemoTask::Info(DemoInfo { files, names }) => {
            let colors = names.colors();
            for_each(files, multiview::FileTask::Info, &mut out, |demo, as_json, out| {
                info(demo, colors, as_json, out)
            })
        }
        DemoTask::Check(files) => for_each(files, multiview::FileTask::Check, &mut out, check),
        DemoTask::Time(files) => for_each(files, multiview::FileTask::Time, &mut out, time),
        DemoTask::Play(options) => return play::run(options),
        DemoTask::Json(options) => json_lines(options, &mut out),
        DemoTask::Events(options) => events(options, &mut out),
        DemoTask::Cut(options) => cut_file(options, &mut out),
        DemoTask::Convert(options) => conversion::write(options, &mut out),
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
        let bytes = io::read_file(path, MAX_DEMO_BYTES).map_err(|error| error.to_string())?;
        let protocol = recognize(&path.to_string_lossy(), &bytes)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), protocol, bytes })
    }

    /// Number of the protocol that the name says.
    fn named_protocol(&self) -> Option<i32> {
        protocol_of(&self.path.to_string_lossy()).map(|protocol| protocol.number)
    }

    /// Reader for `info`, `check` and `time`. A recording that is not complete has no end yet.
    fn checking_reader(&self) -> DemoReader<'_> {
        let reader = self.reader();
        if multiview::is_part(&self.path) { reader.unfinished() } else { reader }
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

fn info(demo: &Demo, colors: ColorCodes, as_json: bool, out: &mut Output) -> bool {
    let summary = DemoSummary::of_reader(demo.checking_reader(), demo.bytes.len(), colors);
    let name = demo.path.display();
    if as_json {
        let mut object = summary.to_json();
        object["file"] = json!(name.to_string());
        object["name_protocol"] = json!(demo.named_protocol());
        out.line(object);
    } else {
        let (size, number) = (counted(summary.bytes, "byte"), demo.protocol.number);
        let named = demo.named_protocol().filter(|named| *named != number);
        let named = named.map_or_else(String::new, |named| format!(" (the name says {named})"));
        out.line(format!("{name}: protocol {number}{named}, {size}"));
        out.line(&summary);
    }
    report_empty(demo, &summary.counts, out);
    summary.counts.errors == 0 && summary.counts.snapshots > 0
}

fn check(demo: &Demo, as_json: bool, out: &mut Output) -> bool {
    let mut reader = demo.checking_reader();
    let mut errors = Vec::new();
    for error in reader.by_ref().filter_map(Result::err) {
        if errors.len() < MAX_CHECK_ERRORS {
            errors.push(error);
        }
    }
    let (counts, notes) = (reader.counts(), reader.notes());
    let name = demo.path.display();
    if as_json {
        out.line(json!({
            "file": name.to_string(),
            "messages": counts.messages,
            "snapshots": counts.snapshots,
            "errors": counts.errors,
            "first": errors.iter().map(error_json).collect::<Vec<_>>(),
            "notes": counts.notes,
            "first_notes": notes.iter().map(note_json).collect::<Vec<_>>(),
        }));
    } else {
        for note in notes.iter().take(MAX_CHECK_LINES) {
            out.line(format!("{name}: note: {note}"));
        }
        for error in errors.iter().take(MAX_CHECK_LINES) {
            out.line(format!("{name}: {error}"));
        }
        out.line(format!("{name}: {counts}"));
    }
    report_empty(demo, &counts, out);
    counts.errors == 0 && counts.snapshots > 0
}

/// Reports why a demo without errors fails.
fn report_empty(demo: &Demo, counts: &DemoCounts, out: &mut Output) {
    if counts.messages == 0 && counts.errors == 0 {
        out.report(no_messages(demo));
    }
}

fn time(demo: &Demo, as_json: bool, out: &mut Output) -> bool {
    let begun = Instant::now();
    let mut rounds = 0_u32;
    let (mut play_ms, mut counts) = (0, DemoCounts::default());
    while begun.elapsed() < MEASUREMENT {
        let mut reader = demo.checking_reader();
        let mut clock = DemoClock::default();
        for message in reader.by_ref().flatten() {
            clock.advance(&message);
        }
        (play_ms, counts) = (clock.elapsed_ms(), reader.counts());
        rounds += 1;
    }
    let ms = begun.elapsed().as_secs_f64() * 1000.0 / f64::from(rounds);
    let factor = play_ms as f64 / ms.max(1e-6);
    let rate = counts.messages as f64 / ms.max(1e-6) * 1000.0;
    let name = demo.path.display();
    if as_json {
        out.line(json!({
            "file": name.to_string(),
            "play_ms": play_ms,
            "decode_ms": ms,
            "times_real_time": factor,
            "messages_per_second": rate,
            "errors": counts.errors,
        }));
    } else {
        out.line(format!(
            "{name}: {:.1} s of play in {ms:.2} ms: {factor:.0} times real time, {rate:.0} messages/s",
            play_ms as f64 / 1000.0
        ));
    }
    if counts.errors > 0 {
        let errors = counted(counts.errors, "error");
        out.report(format_args!("{name}: {errors}; `fragd demo check` names them"));
    }
    report_empty(demo, &counts, out);
    counts.messages > 0 && counts.errors == 0
}

fn json_lines(options: &DemoJson, out: &mut Output) -> Result<bool, String> {
    let range = &options.range;
    let demo = Demo::read(&range.file)?;
    let to_ms = range.to.map_or(u64::MAX, |to| to.0);
    check_order(demo.protocol, &demo.bytes, range.from.0, to_ms)
        .map_err(|error| format!("{}: {error}", demo.path.display()))?;
    let mut reader = demo.reader();
    let mut finder = EventFinder::with_colors(options.names.colors());
    let (mut is_empty, mut is_right, mut notes) = (true, true, 0);
    while let Some(item) = reader.next() {
        let written = match item {
            Err(error) => {
                is_right &= error.is_early_end();
                writeln!(out, "{}", ending_json(&error))
            }
            Ok(message) => {
                let mut events = Vec::new();
                finder.read(&reader, &message, &mut |event| events.push(event));
                let at_ms = finder.elapsed_ms();
                if at_ms > to_ms {
                    break;
                }
                if at_ms < range.from.0 {
                    notes = reader.notes().len();
                    continue;
                }
                is_empty = false;
                let line = message_json(demo.protocol, &message, at_ms);
                let events =
                    events.iter().try_for_each(|event| writeln!(out, "{}", event_json(event)));
                writeln!(out, "{line}").and(events)
            }
        };
        if written.and_then(|()| write_notes(&reader, &mut notes, out)).is_err() {
            return Ok(true);
        }
    }
    let _ = write_notes(&reader, &mut notes, out);
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
    if reader.counts().messages == 0 && is_right {
        return Err(no_messages(&demo));
    }
    Ok(is_right)
}

/// Writes the notes behind the first `written` as JSON lines.
fn write_notes(
    reader: &DemoReader<'_>,
    written: &mut usize,
    out: &mut Output,
) -> std::io::Result<()> {
    for note in &reader.notes()[*written..] {
        let mut object = note_json(note);
        object["kind"] = json!("note");
        writeln!(out, "{object}")?;
        *written += 1;
    }
    Ok(())
}

/// An error as a JSON line. An early end of the file is a note: all before it was read.
fn ending_json(error: &DemoError) -> serde_json::Value {
    let mut object = error_json(error);
    if error.is_early_end() {
        return json!({ "kind": "note", "offset": error.offset, "note": object["error"] });
    }
    object["kind"] = json!("error");
    object
}

/// Problem of a demo without messages, such as one whose recorder stopped at once.
fn no_messages(demo: &Demo) -> String {
    format!(
        "{}: no messages (expected a gamestate and snapshots before the end mark)",
        demo.path.display()
    )
}

fn events(options: &DemoEvents, out: &mut Output) -> Result<bool, String> {
    let demo = Demo::read(&options.file)?;
    let mut reader = demo.reader();
    let mut finder = EventFinder::with_colors(options.names.colors());
    let (mut open, mut is_right) = (true, true);
    while let Some(item) = reader.next() {
        match item {
            Err(error) if error.is_early_end() => out.report(early_end(&demo, &error)),
            Err(error) => {
                is_right = false;
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
    if reader.counts().messages == 0 && is_right {
        return Err(no_messages(&demo));
    }
    Ok(is_right)
}

/// Note about a file that ends early.
fn early_end(demo: &Demo, error: &DemoError) -> String {
    format!("{}: note: {error}; all messages before it were read", demo.path.display())
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
    // A cut of a demo that is not written has its own reason.
    if !demo.protocol.is_quake_live() {
        check_extension(output, demo.protocol)?;
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
            "{}: {}, {}, {:.3} s to {:.3} s; {} encoded again, {} left out",
            output.display(),
            counted(report.messages, "message"),
            counted(part.len(), "byte"),
            report.from_ms as f64 / 1000.0,
            report.to_ms as f64 / 1000.0,
            counted(report.recoded, "snapshot"),
            counted(report.skipped, "message")
        ));
    }
    Ok(true)
}

/// Refuses the name of a new demo whose extension is another protocol's.
fn check_extension(output: &Path, protocol: &Protocol) -> Result<(), String> {
    let named = protocol_of(&output.to_string_lossy()).map(|named| named.extension);
    if named != Some(protocol.extension) {
        let (name, extension) = (output.display(), protocol.extension);
        return Err(format!("{name}: invalid extension (expected .{extension}, of the new demo)"));
    }
    Ok(())
}

fn draw(options: &DemoDrawOptions, out: &mut Output) -> Result<bool, String> {
    output::keep_source(&options.file, &options.output)?;
    let demo = Demo::read(&options.file)?;
    let summary = drawing::write(demo.protocol, &demo.bytes, options)?;
    out.line(format!("{}: {summary}", options.output.display()));
    Ok(true)
}
