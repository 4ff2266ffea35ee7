//! PVS and PHS of a QuakeWorld map.
//!
//! Every PVS row is decompressed once, at load. Leafs with the same row share it. A PHS row is the union of the
//! PVS rows of the leafs in the PVS row.
//!
//! Invariants: memory of the rows is at most [`MAX_ROW_BYTES`] for each of both sets, and the work for the PHS at
//! most [`MAX_UNION_WORDS`] words; beyond that, everything is visible or audible, with a warning.
//!
//! Source: QuakeWorld protocol 28. Engine names: `CM_LeafPVS`, `CM_LeafPHS`, `CM_FatPVS`.

use std::collections::HashMap;

use super::Bsp29;
use super::error::{Lump, RecordFault};
use super::leafs::LeafNum;
use crate::model::Vec3;

/// Maximum bytes of all PVS rows of a map. The largest public maps need a few million.
pub const MAX_ROW_BYTES: usize = 64 * 1024 * 1024;
/// Maximum words of all unions for the PHS, a second of work.
const MAX_UNION_WORDS: usize = 1 << 30;

/// Visibility of a map.
#[derive(Debug)]
pub struct Visibility {
    /// Leafs that rows have a bit for, from leaf 1.
    leaf_count: usize,
    /// Words of a row.
    words: usize,
    /// Index of each leaf's row; `None` means that everything is visible. Leaf 1 first.
    rows: Box<[Option<u32>]>,
    seen: Box<[u64]>,
    /// Empty when everything is audible.
    heard: Box<[u64]>,
}

/// Leafs that are visible or audible from a leaf.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Every leaf.
    All,
    /// No leaf: the row of the solid leaf and of leafs outside the world.
    None,
    /// Bits by leaf, from leaf 1.
    Bits(&'a [u64]),
}

impl Row<'_> {
    /// Whether a leaf is in the row.
    #[must_use]
    pub fn contains(&self, leaf: LeafNum) -> bool {
        match self {
            Self::All => leaf != LeafNum::SOLID,
            Self::None => false,
            Self::Bits(words) => leaf.index().checked_sub(1).is_some_and(|bit| has_bit(words, bit)),
        }
    }
}

/// A set of leafs, reused from one query to the next.
#[derive(Clone, Debug, Default)]
pub struct LeafSet {
    is_full: bool,
    words: Vec<u64>,
}

impl LeafSet {
    /// Whether a leaf is in the set.
    #[must_use]
    pub fn contains(&self, leaf: LeafNum) -> bool {
        if self.is_full { Row::All } else { Row::Bits(&self.words) }.contains(leaf)
    }

    fn clear(&mut self, words: usize) {
        self.is_full = false;
        self.words.clear();
        self.words.resize(words, 0);
    }

    fn add(&mut self, row: Row<'_>) {
        match row {
            Row::All => self.is_full = true,
            Row::None => {}
            Row::Bits(words) => merge(&mut self.words, words),
        }
    }
}

fn has_bit(words: &[u64], bit: usize) -> bool {
    words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

fn merge(into: &mut [u64], from: &[u64]) {
    for (word, other) in into.iter_mut().zip(from) {
        *word |= other;
    }
}

impl Visibility {
    /// Visibility in which everything is visible.
    fn unrestricted(leaf_count: usize) -> Self {
        Self {
            leaf_count,
            words: leaf_count.div_ceil(64),
            rows: vec![None; leaf_count].into(),
            seen: Box::default(),
            heard: Box::default(),
        }
    }

    /// Reads the rows at the offsets of all leafs from leaf 1.
    pub(super) fn read(
        bytes: &[u8],
        offsets: impl Iterator<Item = i32>,
        leaf_count: usize,
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut this = Self::unrestricted(leaf_count);
        if bytes.is_empty() {
            return this;
        }
        let mut numbers = HashMap::new();
        let mut seen = Vec::new();
        for (leaf, offset) in offsets.enumerate() {
            if offset == -1 {
                continue;
            }
            let next = numbers.len() as u32;
            let number = *numbers.entry(offset).or_insert(next);
            this.rows[leaf] = Some(number);
            if number != next {
                continue;
            }
            let fault = if 8 * (seen.len() + this.words) > MAX_ROW_BYTES {
                format!("rows exceed {MAX_ROW_BYTES} bytes")
            } else if append_row(bytes, offset, leaf_count, &mut seen) {
                continue;
            } else {
                let (field, available) = ("row", bytes.len());
                let count = leaf_count.div_ceil(8) as i32;
                RecordFault::Range { field, first: offset, count, available }.to_string()
            };
            let lump = Lump::Visibility;
            warnings.push(format!("{lump}, leaf {}: {fault}; everything is visible", leaf + 1));
            return Self::unrestricted(leaf_count);
        }
        this.seen = seen.into();
        this.hear(warnings);
        this
    }

    /// Computes the PHS.
    fn hear(&mut self, warnings: &mut Vec<String>) {
        let count = self.seen.len().checked_div(self.words).unwrap_or(0);
        let bits: usize = self.seen.iter().map(|word| word.count_ones() as usize).sum();
        if bits.saturating_mul(self.words) > MAX_UNION_WORDS {
            let lump = Lump::Visibility;
            warnings.push(format!("{lump}: too many leafs for a PHS; everything is audible"));
            return;
        }
        let mut heard = vec![0; self.seen.len()];
        let mut merged = vec![false; count];
        for (number, into) in heard.chunks_exact_mut(self.words.max(1)).enumerate() {
            merged.fill(false);
            for bit in ones(self.seen_row(number)).take_while(|&bit| bit < self.leaf_count) {
                match self.rows[bit] {
                    // Everything is visible from that leaf.
                    None => into.fill(u64::MAX),
                    Some(row) => {
                        if !std::mem::replace(&mut merged[row as usize], true) {
                            merge(into, self.seen_row(row as usize));
                        }
                    }
                }
            }
        }
        self.heard = heard.into();
    }

    fn seen_row(&self, number: usize) -> &[u64] {
        &self.seen[number * self.words..(number + 1) * self.words]
    }

    /// Number of leafs that rows have a bit for, from leaf 1.
    #[must_use]
    pub const fn leaf_count(&self) -> usize {
        self.leaf_count
    }

    /// Leafs that are visible from a leaf.
    #[must_use]
    pub fn pvs(&self, leaf: LeafNum) -> Row<'_> {
        self.row(leaf, &self.seen)
    }

    /// Leafs that are audible from a leaf.
    #[must_use]
    pub fn phs(&self, leaf: LeafNum) -> Row<'_> {
        match self.row(leaf, &self.heard) {
            Row::Bits([]) if self.words != 0 => Row::All,
            row => row,
        }
    }

    fn row<'a>(&self, leaf: LeafNum, rows: &'a [u64]) -> Row<'a> {
        match leaf.index().checked_sub(1).and_then(|index| self.rows.get(index)) {
            None => Row::None,
            Some(None) => Row::All,
            Some(&Some(number)) => {
                let first = number as usize * self.words;
                Row::Bits(rows.get(first..first + self.words).unwrap_or_default())
            }
        }
    }
}

impl Bsp29 {
    /// Stores the union of the PVS rows of all leafs within a distance of a point on every axis.
    pub fn fat_pvs(&self, point: Vec3, distance: f32, set: &mut LeafSet) {
        let visibility = self.visibility();
        set.clear(visibility.words);
        let reach = Vec3::new(distance, distance, distance);
        self.leafs_in_box(point - reach, point + reach, |leaf| {
            set.add(visibility.pvs(leaf));
            !set.is_full
        });
    }
}

/// Appends a decompressed row. Returns whether the lump holds it completely.
fn append_row(bytes: &[u8], offset: i32, leaf_count: usize, rows: &mut Vec<u64>) -> bool {
    let Some(mut input) = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..))
    else {
        return false;
    };
    let first = rows.len();
    rows.resize(first + leaf_count.div_ceil(64), 0);
    let row = &mut rows[first..];
    let row_len = leaf_count.div_ceil(8);
    let mut at = 0;
    while at < row_len {
        match *input {
            [0, run, ..] => {
                // A run of 0 would not advance. Compilers do not write it.
                if run == 0 {
                    return false;
                }
                at += usize::from(run);
                input = &input[2..];
            }
            [byte, ..] if byte != 0 => {
                row[at / 8] |= u64::from(byte) << (at % 8 * 8);
                at += 1;
                input = &input[1..];
            }
            _ => return false,
        }
    }
    true
}

/// Bits that are set, ascending.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (bit < 64).then(|| index * 64 + bit as usize)
        })
    })
}
