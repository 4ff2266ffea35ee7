//! Deathmatch through its public entries.

use super::*;
use crate::game::conformance;

#[test]
fn deathmatch_conforms() {
    for profile in Profile::ALL {
        conformance::check(|| Box::new(Deathmatch::new(profile)));
    }
}
