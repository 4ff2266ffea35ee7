//! Nanoseconds of each operation: `cargo bench --bench time`, with part of a name behind `--` for some.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

mod operations;

use std::time::Instant;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for mut operation in operations::GROUPS.iter().flat_map(|make| make()) {
        let name = format!("{} ({})", operation.name, operation.size);
        criterion.bench_function(&name, |bencher| {
            bencher.iter_custom(|times| {
                (operation.prepare)(times);
                let start = Instant::now();
                (operation.run)(times);
                start.elapsed()
            });
        });
    }
    criterion.final_summary();
}
