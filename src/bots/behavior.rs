//! Bot behaviors: a set of words such as `wander,fight`.
//!
//! Invariant: one table holds every behavior with its word and its help.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// One thing that bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Behavior {
    /// Stands where it is.
    Idle = 0,
    /// Walks about: round what the map or its own feet say is in the way.
    Wander = 1,
    /// Turns to players that it sees and fires.
    Fight = 2,
    /// Says something now and then.
    Chat = 4,
    /// Looks at the scoreboard now and then, as players do.
    Scores = 8,
    /// Watches instead of playing.
    Spectate = 16,
    /// Leaves after some seconds and comes back, again and again.
    Storm = 32,
    /// Joins and never acknowledges anything.
    Mute = 64,
}

/// Words and what they mean.
const WORDS: [(&str, Behavior); 8] = [
    ("idle", Behavior::Idle),
    ("wander", Behavior::Wander),
    ("fight", Behavior::Fight),
    ("chat", Behavior::Chat),
    ("scores", Behavior::Scores),
    ("spectate", Behavior::Spectate),
    ("storm", Behavior::Storm),
    ("mute", Behavior::Mute),
];

/// Everything that a bot does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviors(u16);

impl Behaviors {
    /// What players do.
    pub const PLAYER: Self =
        Self(Behavior::Wander as u16 | Behavior::Fight as u16 | Behavior::Scores as u16);

    /// Whether a bot does this.
    #[must_use]
    pub const fn contains(self, behavior: Behavior) -> bool {
        self.0 & behavior as u16 != 0
    }

    /// The same and one more.
    #[must_use]
    pub const fn with(self, behavior: Behavior) -> Self {
        Self(self.0 | behavior as u16)
    }
}

/// A word that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "unknown behavior '{0}' (expected idle, wander, fight, chat, scores, spectate, storm, mute)"
)]
pub struct UnknownBehavior(String);

impl FromStr for Behaviors {
    type Err = UnknownBehavior;

    /// Reads words between commas, such as `wander,fight`.
    fn from_str(text: &str) -> Result<Self, UnknownBehavior> {
        text.split(',').map(str::trim).try_fold(Self::default(), |all, word| {
            let known = WORDS.iter().find(|(name, _)| *name == word);
            let (_, behavior) = known.ok_or_else(|| UnknownBehavior(word.to_owned()))?;
            Ok(all.with(*behavior))
        })
    }
}

impl fmt::Display for Behaviors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = |&&(_, behavior): &&(&str, Behavior)| self.contains(behavior);
        let words: Vec<_> = WORDS.iter().filter(does).map(|(name, _)| *name).collect();
        f.write_str(if words.is_empty() { "idle".to_owned() } else { words.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written() {
        let both: Behaviors = "fight, wander".parse().unwrap();
        assert!(both.contains(Behavior::Fight) && !both.contains(Behavior::Chat));
        assert_eq!(both.to_string(), "wander,fight");
        assert_eq!("idle".parse::<Behaviors>().unwrap().to_string(), "idle");
        assert_eq!(Behaviors::PLAYER.to_string(), "wander,fight,scores");
        let error = "wander,dance".parse::<Behaviors>().unwrap_err();
        assert!(error.to_string().starts_with("unknown behavior 'dance'"));
    }
}
