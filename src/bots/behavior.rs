//! Bot behaviors: a set of words such as `wander,fight`.
//!
//! Invariant: one table holds every behavior with its word; errors and help list them from there.

use std::{fmt, str::FromStr};

use thiserror::Error;

macro_rules! behaviors {
    ($($(#[$doc:meta])* $behavior:ident = $word:literal,)*) => {
        /// One behavior of a bot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Behavior {
            $($(#[$doc])* $behavior,)*
        }

        impl Behavior {
            /// All behaviors with their words, in the order of the enum.
            pub const ALL: &[(Self, &str)] = &[$((Self::$behavior, $word),)*];
        }
    };
}

behaviors! {
    /// No movement.
    Idle = "idle",
    /// Random walk around the obstacles of the map, or around those that stop the bot.
    Wander = "wander",
    /// Aiming and firing at visible players.
    Fight = "fight",
    /// Chat lines at random intervals.
    Chat = "chat",
    /// Chat lines every two seconds.
    Talk = "talk",
    /// Scoreboard requests at random intervals.
    Scores = "scores",
    /// Spectating instead of playing.
    Spectate = "spectate",
    /// Repeated disconnects and joins, seconds apart.
    Storm = "storm",
    /// Join without any acknowledgment.
    Mute = "mute",
}

/// Set of behaviors. [`Behavior::Idle`] is the empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviors(u16);

impl Behaviors {
    /// Behaviors of a player.
    pub const PLAYER: Self =
        Self(0).with(Behavior::Wander).with(Behavior::Fight).with(Behavior::Scores);

    /// Whether the set contains a behavior.
    #[must_use]
    pub const fn contains(self, behavior: Behavior) -> bool {
        self.0 & bit(behavior) != 0
    }

    /// Returns the set with one more behavior.
    #[must_use]
    pub const fn with(self, behavior: Behavior) -> Self {
        Self(self.0 | bit(behavior))
    }

    /// Returns all words, separated by commas, for help and errors.
    #[must_use]
    pub fn words() -> String {
        Behavior::ALL.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
    }
}

const fn bit(behavior: Behavior) -> u16 {
    match behavior {
        Behavior::Idle => 0,
        other => 1 << (other as u16 - 1),
    }
}

/// An unknown behavior word.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown behavior '{word}' (expected {})", Behaviors::words())]
pub struct UnknownBehavior {
    word: String,
}

impl FromStr for Behaviors {
    type Err = UnknownBehavior;

    /// Parses words separated by commas, such as `wander,fight`.
    fn from_str(text: &str) -> Result<Self, UnknownBehavior> {
        text.split(',').map(str::trim).try_fold(Self::default(), |all, text| {
            let known = Behavior::ALL.iter().find(|(_, word)| *word == text);
            let (behavior, _) = known.ok_or_else(|| UnknownBehavior { word: text.to_owned() })?;
            Ok(all.with(*behavior))
        })
    }
}

impl fmt::Display for Behaviors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = Behavior::ALL
            .iter()
            .filter(|(behavior, _)| self.contains(*behavior))
            .map(|(_, word)| *word)
            .collect();
        f.write_str(if words.is_empty() { "idle".to_owned() } else { words.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviors_parse_and_display_their_words() {
        let both: Behaviors = "fight, wander".parse().unwrap();
        assert!(both.contains(Behavior::Fight) && !both.contains(Behavior::Chat));
        assert_eq!(both.to_string(), "wander,fight");
        assert_eq!("idle".parse::<Behaviors>().unwrap().to_string(), "idle");
        assert_eq!(Behaviors::PLAYER.to_string(), "wander,fight,scores");
        let error = "wander,dance".parse::<Behaviors>().unwrap_err();
        assert!(error.to_string().starts_with("unknown behavior 'dance' (expected idle, wander"));
    }
}
