//! Filter of a server table: words that a server must match.
//!
//! | word | servers |
//! |---|---|
//! | `dm6` | with that text in name, map, mod, game type, game, address or a player's name |
//! | `-dm6` | without it |
//! | `map:dm6` | with that text in the map; likewise `name`, `mod`, `type`, `game`, `address`, `player` |
//! | `ping<80`, `players>3`, `free>=1`, `max=16` | with such a number; `<`, `>`, `<=`, `>=`, `=` |
//! | `empty`, `full`, `password` | in that state; `-empty` for the others |
//!
//! Invariant: any text is a filter; a word with an unknown key or number is plain text.

use super::server::{Server, ServerState};

/// Maximum number of words of a filter; the rest is ignored.
const MAX_WORDS: usize = 16;

/// Filter of a server table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    negated: bool,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Text(Option<Field>, String),
    Number(Number, Comparison, u64),
    Empty,
    Full,
    Password,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Map,
    Mod,
    GameType,
    Game,
    Address,
    Player,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Ping,
    Players,
    Free,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    MoreOrEqual,
    More,
}

const FIELDS: &[(&str, Field)] = &[
    ("name", Field::Name),
    ("map", Field::Map),
    ("mod", Field::Mod),
    ("type", Field::GameType),
    ("game", Field::Game),
    ("address", Field::Address),
    ("player", Field::Player),
];

const NUMBERS: &[(&str, Number)] = &[
    ("ping", Number::Ping),
    ("players", Number::Players),
    ("free", Number::Free),
    ("max", Number::Max),
];

/// Longer signs first, because a shorter one is their start.
const COMPARISONS: &[(&str, Comparison)] = &[
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::MoreOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

impl Filter {
    /// Parses the words of `text`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let words = text.split_whitespace().take(MAX_WORDS).filter_map(Word::parse);
        Self { words: words.collect() }
    }

    /// Whether every server matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the server matches every word.
    #[must_use]
    pub fn matches(&self, server: &Server) -> bool {
        self.words.iter().all(|word| word.test.matches(server) != word.negated)
    }
}

impl Word {
    fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (negated, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        (!text.is_empty()).then(|| Self { negated, test: Test::parse(text) })
    }
}

impl Test {
    fn parse(text: &str) -> Self {
        match text {
            "empty" => return Self::Empty,
            "full" => return Self::Full,
            "password" => return Self::Password,
            _ => {}
        }
        if let Some((key, value)) = text.split_once(':')
            && let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == key)
        {
            return Self::Text(Some(*field), value.to_owned());
        }
        for (name, number) in NUMBERS {
            let Some(rest) = text.strip_prefix(name) else { continue };
            for (sign, comparison) in COMPARISONS {
                let value = rest.strip_prefix(sign).and_then(|value| value.parse().ok());
                if let Some(value) = value {
                    return Self::Number(*number, *comparison, value);
                }
            }
        }
        Self::Text(None, text.to_owned())
    }

    fn matches(&self, server: &Server) -> bool {
        let details = server.shown();
        let answered = server.state == ServerState::Answered;
        match self {
            Self::Text(Some(field), text) => field.holds(server, text),
            Self::Text(None, text) => FIELDS.iter().any(|(_, field)| field.holds(server, text)),
            Self::Number(Number::Ping, comparison, value) => {
                server.ping.is_some_and(|ping| comparison.holds(ping.0, *value))
            }
            Self::Number(number, comparison, value) => {
                let shown = match number {
                    Number::Players => details.clients,
                    Number::Free => details.max_clients.saturating_sub(details.clients),
                    Number::Max | Number::Ping => details.max_clients,
                };
                answered && comparison.holds(u64::from(shown), *value)
            }
            Self::Empty => answered && details.clients == 0,
            Self::Full => answered && details.clients >= details.max_clients,
            Self::Password => details.password,
        }
    }
}

impl Field {
    fn holds(self, server: &Server, text: &str) -> bool {
        let details = server.shown();
        let holds = |shown: &str| shown.to_ascii_lowercase().contains(text);
        match self {
            Self::Name => holds(&details.name),
            Self::Map => holds(&details.map),
            Self::Mod => holds(&details.game_mod),
            Self::GameType => holds(&details.gametype),
            Self::Game => holds(server.game.word) || holds(server.game.title),
            Self::Address => holds(&server.address.to_string()),
            Self::Player => details.players.iter().any(|player| holds(&player.name)),
        }
    }
}

impl Comparison {
    const fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Equal => left == right,
            Self::MoreOrEqual => left >= right,
            Self::More => left > right,
        }
    }
}
