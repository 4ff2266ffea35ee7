//! placeholder
use fragd::cli::{Outcome, SimOptions};
pub(crate) fn run(_options: &SimOptions) -> Outcome { Outcome::Done }
