//! Generated files as the field has them: demos, scripts and map sources by seed.
//!
//! Each comes with the values that it must give. Each dialect that was met is one row of a table. `FRAGD_SEED` selects one seed to reproduce a failure.

mod configs;
mod demo_file;
mod demos;
mod map_text;
mod maps;

use fragd::impairment::SeededRng;

/// Seeds of a test: the one of `FRAGD_SEED`, or the first `count`.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let one = std::env::var("FRAGD_SEED").ok().and_then(|text| text.parse().ok());
    match one {
        Some(seed) => seed..seed + 1,
        None => 0..count,
    }
}

/// One of some rows.
fn pick<'a, T>(rng: &mut SeededRng, rows: &'a [T]) -> &'a T {
    &rows[rng.below(rows.len() as u64) as usize]
}
