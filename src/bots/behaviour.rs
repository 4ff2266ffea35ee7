//! What bots do, as a set of words that can be combined.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// One thing that bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Behaviour {
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
const WORDS: [(&str, Behaviour); 8] = [
    ("idle", Behaviour::Idle),
    ("wander", Behaviour::Wander),
    ("fight", Behaviour::Fight),
    ("chat", Behaviour::Chat),
    ("scores", Behaviour::Scores),
    ("spectate", Behaviour::Spectate),
    ("storm", Behaviour::Storm),
    ("mute", Behaviour::Mute),
];

/// Everything that a bot does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviours(u16);

impl Behaviours {
    /// What players do.
    pub const PLAYER: Self =
        Self(Behaviour::Wander as u16 | Behaviour::Fight as u16 | Behaviour::Scores as u16);

    /// Whether a bot does this.
    #[must_use]
    pub const fn include(self, behaviour: Behaviour) -> bool {
        self.0 & behaviour as u16 != 0
    }

    /// The same and one more.
    #[must_use]
    pub const fn with(self, behaviour: Behaviour) -> Self {
        Self(self.0 | behaviour as u16)
    }
}

/// A word that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bots cannot '{0}': idle, wander, fight, chat, scores, spectate, storm, mute")]
pub struct UnknownBehaviour(String);

impl FromStr for Behaviours {
    type Err = UnknownBehaviour;

    /// Reads words between commas, such as `wander,fight`.
    fn from_str(text: &str) -> Result<Self, UnknownBehaviour> {
        text.split(',').map(str::trim).try_fold(Self::default(), |all, word| {
            let known = WORDS.iter().find(|(name, _)| *name == word);
            let (_, behaviour) = known.ok_or_else(|| UnknownBehaviour(word.to_owned()))?;
            Ok(all.with(*behaviour))
        })
    }
}

impl fmt::Display for Behaviours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = |&&(_, behaviour): &&(&str, Behaviour)| self.include(behaviour);
        let words: Vec<_> = WORDS.iter().filter(does).map(|(name, _)| *name).collect();
        f.write_str(if words.is_empty() { "idle".to_owned() } else { words.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written() {
        let both: Behaviours = "fight, wander".parse().unwrap();
        assert!(both.include(Behaviour::Fight) && !both.include(Behaviour::Chat));
        assert_eq!(both.to_string(), "wander,fight");
        assert_eq!("idle".parse::<Behaviours>().unwrap().to_string(), "idle");
        assert_eq!(Behaviours::PLAYER.to_string(), "wander,fight,scores");
        let error = "wander,dance".parse::<Behaviours>().unwrap_err();
        assert!(error.to_string().starts_with("bots cannot 'dance'"));
    }
}
