//! Recordings of game modules, also with valid checksums, and plays judged by them.
#![no_main]

use std::sync::LazyLock;

use fragd::{
    model::{
        assets::MemoryAssets,
        encoding::{Cursor, DecodeError, put_bytes, put_number},
    },
    settings::{Choice as _, GameFolder},
    sim::comparison::{Play, Recording, Reference, Rules, compare, record},
};
use libfuzzer_sys::fuzz_target;

/// First bytes of a recording.
const MAGIC_LEN: usize = 8;
/// Longest entries: a stored block of deflate.
const MAX_ENTRIES: usize = 0xffff;

static PLAY: LazyLock<Play> = LazyLock::new(|| {
    let plays =
        Play::parse("play fuzzed\nplayer\nplayer\nwait 100\nkeys 0 forward attack\nwait 300\n");
    plays.expect("a play").remove(0)
});

/// Recording of the native rules in the play, up to the length of its entries.
static HEAD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let data = MemoryAssets::default();
    let reference = Reference::Module { image: &[], symbols: &[], engine: "0" };
    let rules = Rules { game: GameFolder::BaseOa, reference, data: &data };
    let mut recording = Recording::new(GameFolder::BaseOa, &[]);
    record(&PLAY, &rules, &mut recording).expect("a recording");
    let bytes = recording.to_bytes();
    let mut rest = Cursor(&bytes[MAGIC_LEN..]);
    skip_head(&mut rest).expect("a head");
    bytes[..bytes.len() - rest.0.len()].to_vec()
});

/// Reads version, game, module, count, and the play up to the length of its entries.
fn skip_head(from: &mut Cursor<'_>) -> Result<(), DecodeError> {
    from.number()?;
    from.text()?;
    from.number()?;
    from.word()?;
    from.number()?;
    from.text()?;
    from.word()?;
    from.word()?;
    from.number()?;
    from.number()?;
    Ok(())
}

/// Appends the checksum of all before.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Compresses without compression.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len() as u16;
    let mut block = vec![1];
    block.extend(len.to_le_bytes());
    block.extend((!len).to_le_bytes());
    block.extend(bytes);
    block
}

fn check(bytes: &[u8]) -> Option<Recording> {
    let recording = Recording::parse(bytes).ok()?;
    assert_eq!(Recording::parse(&recording.to_bytes()).as_ref(), Ok(&recording));
    Some(recording)
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let recording = match choice % 3 {
        0 => check(body),
        1 => {
            let mut bytes = HEAD[..MAGIC_LEN].to_vec();
            bytes.extend(body);
            check(&sealed(bytes))
        }
        _ => {
            let entries = &body[..body.len().min(MAX_ENTRIES)];
            let mut bytes = HEAD.clone();
            put_number(&mut bytes, entries.len() as u64);
            put_bytes(&mut bytes, &stored(entries));
            check(&sealed(bytes))
        }
    };
    let Some(recording) = recording.filter(|known| known.game() == GameFolder::BaseOa.name())
    else {
        return;
    };
    let data = MemoryAssets::default();
    let reference = Reference::Recording(&recording);
    let rules = Rules { game: GameFolder::BaseOa, reference, data: &data };
    let _ = compare(&PLAY, &rules);
});
