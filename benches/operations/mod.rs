//! Benchmark operations by name, each over hundreds of different inputs.
//!
//! A small set of inputs would flatter the branch predictor. `docs/performance.md` lists the results by
//! these names.

mod bot_match;
mod connect;
mod delta;
mod huffman;
mod master;
mod movement;
mod netchan;
mod proxy;
mod recorded;
mod snapshot;
mod visibility;
mod world;

use fragd::testing::{bot_match as bot_match_fixture, installed_maps, recorded_states};

/// Minimum count of most operations.
const LEAST: u64 = 1200;

/// One thing measured.
pub(crate) struct Operation {
    /// Name; its first word is the group.
    pub(crate) name: String,
    /// Average output or input of one operation, in words.
    pub(crate) size: String,
    /// Number of different inputs.
    #[allow(dead_code, reason = "what takes time decides itself how often")]
    pub(crate) inputs: u64,
    /// Minimum count.
    #[allow(dead_code, reason = "what takes time decides itself how often")]
    pub(crate) least: u64,
    /// Whether each iteration continues where the last one ended. Then only a fixed number of
    /// iterations is comparable with another run.
    #[allow(dead_code, reason = "what counts instructions does it a fixed number of times anyway")]
    pub(crate) goes_on: bool,
    /// Makes ready to do it that many times.
    pub(crate) prepare: Box<dyn FnMut(u64)>,
    /// Does it that many times, on one input after the other.
    pub(crate) run: Box<dyn FnMut(u64)>,
}

impl Operation {
    /// `work` on one input after the other, again and again.
    fn over<T: 'static>(
        name: impl Into<String>,
        size: impl Into<String>,
        inputs: Vec<T>,
        mut work: impl FnMut(&T) + 'static,
    ) -> Self {
        assert!(inputs.len() >= 64, "too few inputs to be varied");
        let count = inputs.len() as u64;
        let run = move |times: u64| {
            inputs.iter().cycle().take(times as usize).for_each(&mut work);
        };
        Self {
            name: name.into(),
            size: size.into(),
            inputs: count,
            least: LEAST,
            goes_on: false,
            prepare: Box::new(|_| {}),
            run: Box::new(run),
        }
    }
}

/// All operations, in groups that are made at once.
pub(crate) const GROUPS: &[fn() -> Vec<Operation>] = &[
    huffman::operations,
    delta::operations,
    snapshot::operations,
    netchan::operations,
    connect::operations,
    master::operations,
    proxy::operations,
    movement::operations,
    world::operations,
    visibility::operations,
    bot_match::operations,
];

/// The average of what `size` says of the inputs, in words.
fn average<T>(inputs: &[T], unit: &str, size: impl FnMut(&T) -> usize) -> String {
    let total: usize = inputs.iter().map(size).sum();
    format!("{:.0} {unit}", total as f64 / inputs.len() as f64)
}
