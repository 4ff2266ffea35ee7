//! Multi-view recordings in `fragd demo`: description, check, speed, extraction of one view.

use std::{
    ffi::OsStr,
    path::Path,
    time::{Duration, Instant},
};

use fragd::{
    cli::{DemoPosition, ExtractOptions},
    demo::{DemoFileError, recognize},
    io,
    model::{ClientNum, Vec3, text::counted},
    multiview::{
        Fault, Index, MessageContent, OwnView, Reader, Record, Session, SpectatorDemo, Viewpoint,
        sessions_of,
    },
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file::{END_MARK, complete_name, protocol_of},
    },
    world::Bsp,
};
use serde_json::json;

use super::{
    super::output::{self, Output},
    Demo, MAX_DEMO_BYTES, MEASUREMENT, drawing,
};

/// Faults that are printed; the others are counted.
const MAX_PRINTED: usize = 10;
/// Most sessions that are printed.
const MAX_SHOWN_SESSIONS: usize = 100;

/// Task on whole files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileTask {
    Info,
    Check,
    Time,
}

/// Whether a file is a multi-view recording, complete or not, by its name.
pub(super) fn is_recording(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let extension = Path::new(complete_name(&name)).extension();
    extension.and_then(OsStr::to_str).is_some_and(|end| end.eq_ignore_ascii_case("mv"))
}

/// Whether a file is not complete, by its name.
pub(super) fn is_part(path: &Path) -> bool {
    let name = path.to_string_lossy();
    complete_name(&name) != name
}

/// Runs a task on a recording. `None` for another kind of file.
pub(super) fn describe(
    path: &Path,
    as_json: bool,
    kind: FileTask,
    out: &mut Output,
) -> Option<bool> {
    if !is_recording(path) {
        return None;
    }
    let mut run = || {
        let bytes = read(path)?;
        match kind {
            FileTask::Info => info(path, &bytes, as_json, out),
            FileTask::Check => check(path, &bytes, as_json, out),
            FileTask::Time => time(path, &bytes, as_json, out),
        }
    };
    let done = run();
    Some(done.unwrap_or_else(|what| {
        out.report(&what);
        false
    }))
}

/// Reads a recording as the demo of a spectator that sees everything.
pub(super) fn overview(path: &Path) -> Result<Demo, String> {
    let recording = read(path)?;
    let view = Viewpoint::Free(Vec3::default(), 0.0);
    let (bytes, faults) = spectate(path, &recording, view, Protocol::Q3_68, None)?;
    print_faults(path, &faults);
    Ok(Demo { path: path.to_owned(), protocol: Protocol::Q3_68, bytes })
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    io::read_file(path, MAX_DEMO_BYTES).map_err(|error| error.to_string())
}

fn open<'a>(path: &Path, bytes: &'a [u8]) -> Result<Reader<'a>, String> {
    Reader::open(bytes).map_err(|fault| match recognize("", bytes) {
        // A file of another kind with the name of a recording.
        Err(other) if !matches!(other, DemoFileError::Unknown) => {
            format!("{}: {other}", path.display())
        }
        _ => format!("{}: {fault}", path.display()),
    })
}

fn print_faults(path: &Path, faults: &[Fault]) {
    for fault in faults.iter().take(MAX_PRINTED) {
        eprintln!("fragd: {}: {fault}", path.display());
    }
}

/// Length of a recording in ms.
fn length_ms(index: &Index) -> i64 {
    index.keys.first().map_or(0, |key| i64::from(index.end.distance(key.time)))
}

fn session_json(session: &Session, index: &Index) -> serde_json::Value {
    let start = index.keys.first().map_or(session.from, |key| key.time);
    json!({
        "slot": session.client,
        "name": session.name,
        "from_ms": session.from.distance(start),
        "to_ms": session.to.distance(start),
    })
}

fn info(path: &Path, bytes: &[u8], as_json: bool, out: &mut Output) -> Result<bool, String> {
    let reader = open(path, bytes)?;
    let counts = read_all(path, &mut open(path, bytes)?, false);
    let is_valid = counts.is_valid();
    let written = reader.index();
    let is_complete = written.is_some();
    let index = written.unwrap_or_else(|| reader.rebuilt_index());
    let header = reader.header();
    let seconds = length_ms(&index) as f64 / 1000.0;
    let rate = bytes.len() as f64 / seconds.max(0.001);
    if as_json {
        out.line(json!({
            "file": path.display().to_string(),
            "program": header.program,
            "started_unix_ms": header.started_unix_ms,
            "map": header.map,
            "game": header.game,
            "host_name": header.host_name,
            "frames_per_second": header.frames_per_second,
            "bytes": bytes.len(),
            "bytes_per_second": rate,
            "frames": index.frames,
            "length_ms": length_ms(&index),
            "key_frames": index.keys.len(),
            "complete": is_complete,
            "errors": counts.fault_count,
            "first": counts.faults,
            "notes": counts.notes.len(),
            "first_notes": counts.notes,
            "players": index.sessions.iter().map(|s| session_json(s, &index)).collect::<Vec<_>>(),
        }));
        return Ok(is_valid && index.frames > 0);
    }
    let size = counted(bytes.len(), "byte");
    out.line(format!("{}: multi-view recording, {size}", path.display()));
    out.line(format!("  server   {} ({})", header.host_name, header.program));
    if let Some(at) = header.started_at() {
        out.line(format!("  started  {at} UTC"));
    }
    out.line(format!("  map      {} ({})", header.map, header.game));
    out.line(format!(
        "  length   {seconds:.1} s, {}, {}, {:.1} KB/s",
        counted(index.frames, "frame"),
        counted(index.keys.len(), "key frame"),
        rate / 1000.0
    ));
    list_players(&index, out);
    if !is_complete {
        out.line("  not complete: the index was made again from the records");
    }
    for note in &counts.notes {
        out.line(format!("  note     {note}"));
    }
    if let Some(first) = counts.faults.first() {
        out.line(format!("  errors   {}, the first at {first}", counts.fault_count));
    }
    Ok(is_valid && index.frames > 0)
}

/// Lists the players of a recording, with the times of each.
fn list_players(index: &Index, out: &mut Output) {
    let start = index.keys.first().map_or(index.end, |key| key.time);
    for session in index.sessions.iter().take(MAX_SHOWN_SESSIONS) {
        let clock = |ms: i32| format!("{}:{:02}", ms / 60_000, ms / 1000 % 60);
        out.line(format!(
            "  player   {:2} {}  {} to {}",
            session.client,
            session.name,
            clock(session.from.distance(start)),
            clock(session.to.distance(start))
        ));
    }
    if let Some(more) = index.sessions.len().checked_sub(MAX_SHOWN_SESSIONS).filter(|&n| n > 0) {
        out.line(format!("  player   and {more} more (--json lists them)"));
    }
}

/// Counts of a strict reading.
#[derive(Default)]
struct Counts {
    records: u64,
    frames: u64,
    messages: u64,
    faults: Vec<String>,
    fault_count: u64,
    notes: Vec<String>,
}

impl Counts {
    fn is_valid(&self) -> bool {
        self.fault_count == 0
    }

    fn fault(&mut self, text: String) {
        self.fault_count += 1;
        if self.faults.len() < MAX_PRINTED {
            self.faults.push(text);
        }
    }
}

/// Reads all records, and encodes every message again if `strict`. The missing end of a file with the name of an
/// unfinished recording is a note.
fn read_all(path: &Path, reader: &mut Reader<'_>, strict: bool) -> Counts {
    let mut counts = Counts::default();
    let mut writer = BitWriter::new();
    while let Some(record) = reader.next_record() {
        match record {
            Err(fault) if fault.is_early_end() && is_part(path) => {
                counts.notes.push(format!("{fault}; the recording is not complete"));
            }
            Err(fault) => counts.fault(fault.to_string()),
            Ok(record) => {
                counts.records += 1;
                counts.frames += u64::from(record == Record::Frame);
                let Record::Message(client, content) = record else { continue };
                counts.messages += 1;
                if strict
                    && content == MessageContent::Snapshot
                    && let Err(what) = reader.decoder().message(client, &content, &mut writer)
                {
                    let at = reader.offset();
                    counts.fault(format!("byte {at}: message of slot {client}: {what}"));
                }
            }
        }
    }
    counts
}

fn check(path: &Path, bytes: &[u8], as_json: bool, out: &mut Output) -> Result<bool, String> {
    let mut reader = open(path, bytes)?;
    let counts = read_all(path, &mut reader, true);
    if as_json {
        out.line(json!({
            "file": path.display().to_string(),
            "records": counts.records,
            "frames": counts.frames,
            "messages": counts.messages,
            "errors": counts.fault_count,
            "first": counts.faults,
            "notes": counts.notes.len(),
            "first_notes": counts.notes,
        }));
    } else {
        for note in &counts.notes {
            out.line(format!("{}: note: {note}", path.display()));
        }
        for fault in &counts.faults {
            out.line(format!("{}: {fault}", path.display()));
        }
        out.line(format!(
            "{}: {}, {}, {}, {}, {}",
            path.display(),
            counted(counts.records, "record"),
            counted(counts.frames, "frame"),
            counted(counts.messages, "message"),
            counted(counts.fault_count, "error"),
            counted(counts.notes.len(), "note")
        ));
    }
    Ok(counts.is_valid() && counts.frames > 0)
}

fn time(path: &Path, bytes: &[u8], as_json: bool, out: &mut Output) -> Result<bool, String> {
    let begun = Instant::now();
    let (mut rounds, mut frames) = (0_u32, 0);
    while begun.elapsed() < MEASUREMENT {
        frames = read_all(path, &mut open(path, bytes)?, false).frames;
        rounds += 1;
    }
    let elapsed: Duration = begun.elapsed() / rounds.max(1);
    let reader = open(path, bytes)?;
    let index = reader.index().unwrap_or_else(|| reader.rebuilt_index());
    let (ms, play_ms) = (elapsed.as_secs_f64() * 1000.0, length_ms(&index) as f64);
    let factor = play_ms / ms.max(1e-6);
    if as_json {
        out.line(json!({
            "file": path.display().to_string(),
            "play_ms": play_ms,
            "decode_ms": ms,
            "times_real_time": factor,
        }));
    } else {
        out.line(format!(
            "{}: {:.1} s of play in {ms:.2} ms: {factor:.0} times real time",
            path.display(),
            play_ms / 1000.0
        ));
    }
    Ok(frames > 0)
}

/// Writes one view as a demo.
pub(super) fn extract(options: &ExtractOptions, out: &mut Output) -> Result<bool, String> {
    let path = &options.file;
    output::keep_source(path, &options.output)?;
    if !is_recording(path) {
        return Err(format!("{}: unknown extension (expected .mv or .mv.part)", path.display()));
    }
    let bytes = read(path)?;
    let reader = open(path, &bytes)?;
    let index = reader.index().unwrap_or_else(|| reader.rebuilt_index());
    let name = options.output.to_string_lossy();
    let protocol = protocol_of(&name)
        .filter(|protocol| Protocol::CURRENT.contains(protocol))
        .ok_or_else(|| format!("{name}: invalid extension (expected .dm_68 or .dm_71)"))?;
    let (demo, messages, faults) = if let Some(player) = &options.player {
        own_view(options, reader, &index, player, protocol)?
    } else {
        let view = match (&options.follow, options.free) {
            (Some(player), _) => Viewpoint::Follow(client_of(&index, player, options)?),
            (None, Some(DemoPosition { origin, yaw })) => Viewpoint::Free(origin, yaw),
            (None, None) => return Err("name a view: --player, --follow or --free".to_owned()),
        };
        let map = match view {
            Viewpoint::Free(..) => map_of(&reader, options),
            Viewpoint::Follow(_) => None,
        };
        let (demo, faults) = spectate(path, &bytes, view, protocol, map.as_ref())?;
        let messages = index.frames;
        (demo, messages, faults)
    };
    print_faults(path, &faults);
    output::write_file(&options.output, &demo)?;
    if options.json {
        out.line(json!({
            "file": name,
            "bytes": demo.len(),
            "messages": messages,
            "errors": faults.len(),
        }));
    } else {
        let (messages, size) = (counted(messages, "message"), counted(demo.len(), "byte"));
        out.line(format!("{name}: {messages}, {size}"));
    }
    Ok(faults.iter().all(|fault| fault.is_early_end() && is_part(path)))
}

/// Session of a player that the options name.
fn session_of(index: &Index, player: &str, options: &ExtractOptions) -> Result<usize, String> {
    let found = sessions_of(&index.sessions, player);
    if found.is_empty() {
        let known: Vec<_> =
            index.sessions.iter().map(|s| format!("{} {}", s.client, s.name)).collect();
        return Err(format!("no player {player} (recorded: {})", known.join(", ")));
    }
    let session = options.session.checked_sub(1).and_then(|at| found.get(at));
    session.copied().ok_or_else(|| {
        format!(
            "--session {}: {player} was recorded {}",
            options.session,
            counted(found.len(), "time")
        )
    })
}

fn client_of(index: &Index, player: &str, options: &ExtractOptions) -> Result<ClientNum, String> {
    let session = session_of(index, player, options)?;
    ClientNum::new(usize::from(index.sessions[session].client))
        .ok_or_else(|| "invalid slot".to_owned())
}

fn own_view(
    options: &ExtractOptions,
    mut reader: Reader<'_>,
    index: &Index,
    player: &str,
    protocol: &'static Protocol,
) -> Result<(Vec<u8>, u64, Vec<Fault>), String> {
    let session = session_of(index, player, options)?;
    let mut view = OwnView::new(&index.sessions, session).ok_or("invalid slot")?;
    let (mut out, mut faults) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_record() {
        match record {
            Err(fault) => faults.push(fault),
            Ok(record) => {
                if let Err(what) = view.record(reader.decoder(), &record, &mut out) {
                    eprintln!("fragd: byte {}: message left out: {what}", reader.offset());
                }
            }
        }
    }
    let recorded = view.protocol().map_or(protocol.number, |recorded| recorded.number);
    if recorded != protocol.number {
        return Err(format!(
            "{}: invalid extension (expected .dm_{recorded}, the protocol of {player})",
            options.output.display()
        ));
    }
    out.extend(END_MARK);
    Ok((out, view.messages() + 1, faults))
}

/// Makes the demo of a spectator.
fn spectate(
    path: &Path,
    bytes: &[u8],
    view: Viewpoint,
    protocol: &'static Protocol,
    map: Option<&Bsp>,
) -> Result<(Vec<u8>, Vec<Fault>), String> {
    let mut reader = open(path, bytes)?;
    let mut demo = SpectatorDemo::new(view, protocol);
    let (mut out, mut faults) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_record() {
        match record {
            Ok(record) => demo.record(reader.decoder(), &record, map, &mut out),
            Err(fault) => faults.push(fault),
        }
    }
    out.extend(END_MARK);
    Ok((out, faults))
}

/// Geometry of the recorded map, if its data is installed.
fn map_of(reader: &Reader<'_>, options: &ExtractOptions) -> Option<Bsp> {
    let header = reader.header();
    let game = if header.game.is_empty() { "baseoa" } else { &header.game };
    let mod_folder = options.mod_folder.as_deref();
    let loaded = drawing::map_file(&header.map, &options.basepath, mod_folder, game)
        .and_then(|file| Bsp::load(&file).map_err(|error| error.to_string()));
    loaded
        .inspect_err(|what| eprintln!("fragd: {what}; showing every entity (set --basepath)"))
        .ok()
}
