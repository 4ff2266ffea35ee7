//! Order of a server table: a column and a direction.

use std::{cmp::Ordering, str::FromStr};

use super::server::{Server, ServerState};

/// Column of a server table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// Round-trip time.
    #[default]
    Ping,
    /// Number of players, most first.
    Players,
    /// Game.
    Game,
    /// Game type.
    GameType,
    /// Mod.
    Mod,
    /// Map.
    Map,
    /// Name.
    Name,
    /// Address.
    Address,
}

impl Column {
    /// Columns from left to right, with their names.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("ping", Self::Ping),
        ("players", Self::Players),
        ("game", Self::Game),
        ("type", Self::GameType),
        ("mod", Self::Mod),
        ("map", Self::Map),
        ("name", Self::Name),
        ("address", Self::Address),
    ];

    /// Returns the column `steps` further to the right, around the end.
    #[must_use]
    pub fn moved(self, steps: isize) -> Self {
        let count = Self::ALL.len() as isize;
        let at = Self::ALL.iter().position(|(_, column)| *column == self).unwrap_or(0) as isize;
        Self::ALL[(at + steps).rem_euclid(count) as usize].1
    }

    fn compare(self, a: &Server, b: &Server) -> Ordering {
        let text = |a: &str, b: &str| {
            let lower = |byte: u8| byte.to_ascii_lowercase();
            a.bytes().map(lower).cmp(b.bytes().map(lower))
        };
        let (left, right) = (a.shown(), b.shown());
        match self {
            Self::Ping => a.ping.cmp(&b.ping),
            Self::Players => right.clients.cmp(&left.clients),
            Self::Game => a.game.word.cmp(b.game.word),
            Self::GameType => text(&left.gametype, &right.gametype),
            Self::Mod => text(&left.game_mod, &right.game_mod),
            Self::Map => text(&left.map, &right.map),
            Self::Name => text(&left.name, &right.name),
            Self::Address => a.address.cmp(&b.address),
        }
    }
}

/// Order of a server table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Column.
    pub column: Column,
    /// Whether the order is reversed.
    pub reversed: bool,
}

impl Order {
    /// Compares two servers. Servers without an answer are last in both directions.
    #[must_use]
    pub fn compare(self, a: &Server, b: &Server) -> Ordering {
        let silent = |server: &Server| server.state != ServerState::Answered;
        let column = self.column.compare(a, b);
        let column = if self.reversed { column.reverse() } else { column };
        silent(a).cmp(&silent(b)).then(column).then(a.address.cmp(&b.address))
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (reversed, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        match Column::ALL.iter().find(|(found, _)| *found == name) {
            Some((_, column)) => Ok(Self { column: *column, reversed }),
            None => {
                let names: Vec<_> = Column::ALL.iter().map(|(name, _)| *name).collect();
                Err(format!("expected one of {}, with '-' in front to reverse", names.join(", ")))
            }
        }
    }
}
