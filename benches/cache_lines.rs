//! Cache lines of data that a server frame touches, by source folder.
//!
//! Run with `cargo bench --bench cache_lines`, and numbers of clients behind `--`. Needs valgrind and the
//! maps of OpenArena. The program runs itself under callgrind, which simulates one large data cache. A
//! buffer that is read before each frame evicts all of it, so each miss is one distinct line.
//! Time between two frames of a server has the same effect on a machine that others use.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

use std::{
    collections::{BTreeMap, HashMap},
    env, fs,
    hint::black_box,
    process::{Command, ExitCode},
};

use fragd::{
    model::Millis,
    testing::{bot_match::Replay, installed_maps},
};

/// Clients, unless the command line gives others.
const COUNTS: [u16; 2] = [16, 64];
/// Length of a frame.
const FRAME: Millis = Millis(50);
/// Time for all bots to join and spread out.
const JOINING: Millis = Millis::seconds(12);
/// Counted frames.
const FRAMES: u64 = 40;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of the simulated cache, more than a frame touches.
const CACHE: usize = 4 << 20;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [run, count] = arguments.as_slice()
        && run == "--run"
    {
        run_frames(count.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let given: Vec<u16> = arguments.iter().filter_map(|count| count.parse().ok()).collect();
    let counts = if given.is_empty() { COUNTS.to_vec() } else { given };
    for count in counts {
        let Some(lines) = counted(count) else {
            eprintln!("valgrind did not count; are it and the maps installed?");
            return ExitCode::FAILURE;
        };
        let per_frame = |lines: u64| lines as f64 / FRAMES as f64;
        let total = per_frame(lines.values().sum());
        let per_client = total / f64::from(count);
        println!(
            "{count} fighting on oa_dm4: {total:.0} lines per frame, {per_client:.1} per client"
        );
        let mut rows: Vec<_> = lines.into_iter().collect();
        rows.sort_by_key(|&(_, lines)| std::cmp::Reverse(lines));
        for (owner, lines) in rows.into_iter().filter(|&(_, lines)| lines >= FRAMES) {
            println!("{:>8.0}  {owner}", per_frame(lines));
        }
    }
    ExitCode::SUCCESS
}

fn run_frames(count: u16) {
    let Some(file) = installed_maps::read("maps/oa_dm4.bsp") else { return };
    let span = JOINING + Millis(FRAME.0 * FRAMES);
    let mut replay = Replay::of(("oa_dm4", &file), count, span);
    replay.run_for(JOINING);
    // Twice the cache, so that nothing else stays in it.
    let evicting = vec![1_u8; 2 * CACHE];
    for _ in 0..FRAMES {
        let read: u64 = evicting.iter().step_by(LINE).map(|&byte| u64::from(byte)).sum();
        black_box(read);
        counted_frame(&mut replay);
    }
}

/// Function that callgrind counts, found by its name.
#[inline(never)]
fn counted_frame(replay: &mut Replay) {
    replay.run_for(FRAME);
}

/// Lines that the counted frames touched, by owner.
fn counted(count: u16) -> Option<BTreeMap<String, u64>> {
    let profile = env::temp_dir().join(format!("fragd-cache-lines-{}", std::process::id()));
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--cache-sim=yes"])
        .arg("--toggle-collect=cache_lines::counted_frame*")
        .arg(format!("--D1={CACHE},16,{LINE}"))
        .arg(format!("--LL={},16,{LINE}", 2 * CACHE))
        .arg(format!("--callgrind-out-file={}", profile.display()));
    // What copies memory counts for its caller. What is left of libc's allocator is mostly the fixture's,
    // which frees the datagrams of the recording.
    for function in ["memcpy", "memmove", "memset", "memcmp", "bcmp"] {
        valgrind.arg(format!("--fn-skip=*{function}*"));
    }
    let output =
        valgrind.arg(env::current_exe().ok()?).args(["--run", &count.to_string()]).output();
    let text = fs::read_to_string(&profile).ok();
    let _ = fs::remove_file(&profile);
    output.ok().filter(|output| output.status.success())?;
    Some(misses_by_owner(&text?)).filter(|lines| !lines.is_empty())
}

/// Misses of the data cache in a profile of callgrind, by owner of the function.
fn misses_by_owner(profile: &str) -> BTreeMap<String, u64> {
    let (mut names, mut lines) = (HashMap::<_, &str>::new(), BTreeMap::<_, u64>::new());
    let (mut columns, mut owner, mut is_call) = (Vec::new(), String::new(), false);
    for line in profile.lines() {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if let Some(events) = line.strip_prefix("events:") {
            let is_miss = |event: &str| event == "D1mr" || event == "D1mw";
            columns = events.split_whitespace().map(is_miss).collect();
        } else if ["fl", "fi", "fe", "cfi", "cfl"].contains(&key) {
            // `(number) name` the first time, `(number)` afterwards.
            let (number, name) = value.split_once(' ').unwrap_or((value, ""));
            let name = *names.entry(number).or_insert(name);
            if key == "fl" {
                owner = owner_of(name);
            }
        } else if key == "calls" {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            // The line behind a call has the costs of what was called.
            if !std::mem::take(&mut is_call) {
                let costs = line.split_whitespace().skip(1).map(|cost| cost.parse().unwrap_or(0));
                let misses: u64 =
                    costs.zip(&columns).filter(|(_, miss)| **miss).map(|(cost, _)| cost).sum();
                *lines.entry(owner.clone()).or_default() += misses;
            }
        }
    }
    lines.retain(|_, misses| *misses > 0);
    lines
}

/// Folder of this package's source that a file is in, or else the end of its path.
fn owner_of(file: &str) -> String {
    let path = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/")).unwrap_or(file);
    let mut parts: Vec<_> = path.split('/').collect();
    if path.starts_with("src/") {
        parts.truncate(2);
        parts.join("/")
    } else {
        parts.split_off(parts.len().saturating_sub(2)).join("/")
    }
}
