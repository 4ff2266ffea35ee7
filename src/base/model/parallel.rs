//! Scoped threads over independent items, with results in order.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Computes one result per item. The number of threads has no influence on the results; if the system refuses
/// threads, the others do the work.
pub fn map_parallel<T: Send>(
    items: usize,
    threads: usize,
    compute: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 || items <= 1 {
        return (0..items).map(compute).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= items {
                return done;
            }
            done.push((item, compute(item)));
        }
    };
    let mut results: Vec<(usize, T)> = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(items)).map_while(start).collect();
        let mut results = work();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(item, _)| *item);
    results.into_iter().map(|(_, result)| result).collect()
}
