//! What the benchmarks measure: operations by name, each over hundreds of different inputs, since a
//! small set repeated flatters whatever predicts branches. The names are those of the table of peers'
//! figures in README.md.

mod bot_match;
#[path = "../../tests/it/bot_match.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod bot_match_fixture;
mod connect;
mod delta;
mod huffman;
#[path = "../../tests/it/maps.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod maps;
mod movement;
mod netchan;
mod recorded;
#[path = "../../tests/it/recorded_states.rs"]
mod recorded_states;
mod snapshot;
mod visibility;
mod world;

/// How often most operations are counted at least.
const LEAST: u64 = 1200;

/// One thing measured.
pub(crate) struct Operation {
    /// What it is, first word first.
    pub(crate) name: String,
    /// What one operation makes or takes on average.
    pub(crate) size: String,
    /// Over how many different inputs.
    #[allow(dead_code, reason = "what takes time decides itself how often")]
    pub(crate) inputs: u64,
    /// How often it is counted at least.
    #[allow(dead_code, reason = "what takes time decides itself how often")]
    pub(crate) least: u64,
    /// Whether each time goes on where the last one ended, so that the hundredth costs otherwise than the
    /// first: then only a fixed number of times compares with another run's.
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
