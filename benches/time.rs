//! Nanoseconds of each operation: `cargo bench --bench time`, with part of a name behind `--` for some.
//!
//! Server frames of a match are left out. Criterion repeats an operation as often as time allows, and
//! would average another part of the match in each run. `cargo bench --bench instructions -- fighting`
//! counts the same hundred frames each time, and `benches/compare_servers.sh` measures a whole server.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

mod operations;

use std::time::Instant;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let operations = operations::GROUPS.iter().flat_map(|make| make());
    for mut operation in operations.filter(|operation| !operation.goes_on) {
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
