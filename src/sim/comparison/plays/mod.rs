//! Plays of the program, by subject.

use super::{Play, PlayError};

/// Texts of the plays.
const TEXTS: &[&str] = &[
    include_str!("joins.play"),
    include_str!("movement.play"),
    include_str!("weapons.play"),
    include_str!("items.play"),
    include_str!("movers.play"),
    include_str!("matches.play"),
    include_str!("challenges.play"),
    include_str!("sprees.play"),
    include_str!("flags.play"),
    include_str!("departures.play"),
    include_str!("loadouts.play"),
    include_str!("holdables.play"),
    include_str!("votes.play"),
    include_str!("lag.play"),
];

/// Returns the plays of the program.
///
/// # Errors
/// A text is not valid, which the tests exclude.
pub fn built_in_plays() -> Result<Vec<Play>, PlayError> {
    let mut plays = Vec::new();
    for text in TEXTS {
        plays.extend(Play::parse(text)?);
    }
    Ok(plays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn built_in_plays_are_valid() {
        let plays = built_in_plays().unwrap();
        let names: BTreeSet<_> = plays.iter().map(|play| &play.name).collect();
        assert_eq!(names.len(), plays.len(), "names differ");
        for play in &plays {
            assert!(!play.about.is_empty(), "{}", play.name);
            if play.map.is_empty() {
                play.arena.compile(&play.name).unwrap();
            }
        }
    }
}
