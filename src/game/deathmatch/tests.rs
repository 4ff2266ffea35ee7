//! Deathmatch through its public entries.

use super::*;
use crate::game::conformance;

#[test]
fn deathmatch_conforms() {
    for variant in Variant::ALL {
        conformance::check(|| Box::new(Deathmatch::moving_as(variant)));
    }
}
