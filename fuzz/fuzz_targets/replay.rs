//! Replay of a recorded run with a modified journal.
#![no_main]

use std::sync::LazyLock;

use fragd::{
    journal::{Answers, Replay, ReplayStep, ReplayedAssets, StepResult, Steps},
    model::Millis,
    settings::GameFolder,
};
use fragd_fuzz::{
    YARD,
    journal::{self, Writer, bodies},
    pieces, server_with,
};
use libfuzzer_sys::fuzz_target;

/// The bodies of a sound journal.
static RECORDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let journal = journal::recorded();
    assert_eq!(replay(&journal), Some(StepResult::Same), "the journal itself is sound");
    bodies(&journal)
});

fuzz_target!(|data: &[u8]| {
    let mut records = RECORDS.clone();
    let mut is_cut = false;
    // Each piece: a record's number, what happens there, and bytes for it.
    for piece in pieces(data, 32) {
        let [low, high, what, bytes @ ..] = piece else { continue };
        let at = usize::from(u16::from_le_bytes([*low, *high])) % records.len();
        match what % 6 {
            0 => records[at] = bytes.to_vec(),
            1 => records.insert(at, bytes.to_vec()),
            2 if records.len() > 1 => drop(records.remove(at)),
            3 => {
                let again = records[at].clone();
                records.insert((at + usize::from(*what)) % records.len(), again);
            }
            4 => {
                // Bytes in the middle of it.
                let [offset, bytes @ ..] = bytes else { continue };
                let place = records[at].iter_mut().skip(usize::from(*offset)).zip(bytes);
                place.for_each(|(old, new)| *old = *new);
            }
            _ => is_cut = true,
        }
    }
    let mut writer = Writer::new();
    records.iter().for_each(|body| writer.record(body));
    if is_cut {
        let len = writer.bytes.len();
        writer.bytes.truncate(len - len / 3);
    }
    let result = replay(&writer.bytes);
    if data.is_empty() {
        assert_eq!(result, Some(StepResult::Same));
    }
});

/// Replays a journal up to its first error.
fn replay(journal: &[u8]) -> Option<StepResult> {
    let mut steps = Steps::new();
    steps.feed(journal);
    let start = steps.start().ok()??;
    let _ = start.arguments.len();
    let answers = Answers::default();
    let first = steps.next_step().or_else(|| steps.last_step())?;
    answers.expect(first.answers.iter().cloned());
    let find = |name: &str, _, _| (name == "maps/yard.bsp").then(|| YARD.clone());
    let read_pack = |_: &_, _| None;
    let assets = ReplayedAssets::new(answers.clone(), Box::new(find), Box::new(read_pack));
    let mut replay = Replay::new(server_with(GameFolder::BaseOa, Box::new(assets)));
    let mut result = replay.step(ReplayStep { answers: Vec::new(), ..first }, &answers);
    while result == StepResult::Same
        && let Some(step) = steps.next_step().or_else(|| steps.last_step())
    {
        result = replay.step(step, &answers);
    }
    if let StepResult::Differs(difference) = &result {
        let _ = difference.to_string();
    }
    if result == StepResult::Same && steps.damage().is_none() {
        result = replay.finish(Millis(0));
    }
    Some(result)
}
