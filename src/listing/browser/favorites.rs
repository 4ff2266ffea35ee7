//! File of favorites: one server per line, with its game.
//!
//! ```text
//! # comment
//! 192.0.2.1            Quake III Arena, default port
//! et  et.example.org:27961
//! ```
//!
//! Invariant: a file has at most [`MAX_FAVOURITES`] servers; an error names its line.

use thiserror::Error;

use crate::discovery::{GAMES, Game};

/// Maximum number of servers of a file.
pub const MAX_FAVOURITES: usize = 4096;
/// Maximum length of an address, in bytes.
const MAX_ADDRESS_LEN: usize = 261;

/// Favorite with an unresolved host name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Favorite {
    /// Game.
    pub game: &'static Game,
    /// Host name or address, with its port if it is not the game's default.
    pub address: String,
    /// Line of the file, from 1.
    pub line: usize,
}

/// Reason for rejecting a file of favorites.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FavoritesError {
    /// Word that is neither a game nor the only one.
    #[error("line {line}: unknown game '{word}' (expected {})", game_words())]
    Game {
        /// Line, from 1.
        line: usize,
        /// Word.
        word: String,
    },
    /// Address with illegal characters or length.
    #[error("line {line}: invalid address '{address}' (expected HOST[:PORT])")]
    Address {
        /// Line, from 1.
        line: usize,
        /// Address.
        address: String,
    },
    /// More servers than the limit.
    #[error("line {line}: too many servers (max {MAX_FAVOURITES})")]
    TooMany {
        /// Line, from 1.
        line: usize,
    },
}

/// Returns the words of the games.
fn game_words() -> String {
    GAMES.iter().map(|game| game.word).collect::<Vec<_>>().join(", ")
}

/// Parses a file of favorites. Addresses without a game are of `default`.
///
/// # Errors
/// See [`FavoritesError`].
pub fn parse(text: &str, default: &'static Game) -> Result<Vec<Favorite>, FavoritesError> {
    let mut found = Vec::new();
    for (number, text) in text.lines().enumerate() {
        let line = number + 1;
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { continue };
        let (game, address) = match words.next() {
            None => (default, first),
            Some(address) => match Game::by_word(first) {
                Some(game) => (game, address),
                None => {
                    let word = first.escape_default().take(40).collect();
                    return Err(FavoritesError::Game { line, word });
                }
            },
        };
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:%[]".contains(&byte);
        if address.len() > MAX_ADDRESS_LEN || !address.bytes().all(legal) || words.next().is_some()
        {
            let address = text.trim().escape_default().take(60).collect();
            return Err(FavoritesError::Address { line, address });
        }
        if found.len() == MAX_FAVOURITES {
            return Err(FavoritesError::TooMany { line });
        }
        found.push(Favorite { game, address: address.to_owned(), line });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn favorites_have_game_and_address() {
        let text = "# mine\n\n192.0.2.1\n et  et.example.org:27961  # clan\nqw [::1]:27500\r\n";
        let found: Vec<_> = parse(text, &GAMES[0])
            .unwrap()
            .into_iter()
            .map(|one| (one.game.word, one.address, one.line))
            .collect();
        assert_eq!(
            found,
            [
                ("q3", "192.0.2.1".to_owned(), 3),
                ("et", "et.example.org:27961".to_owned(), 4),
                ("qw", "[::1]:27500".to_owned(), 5),
            ]
        );
    }

    #[test]
    fn favorites_errors_name_their_line() {
        let error = |text: &str| parse(text, &GAMES[0]).unwrap_err().to_string();
        assert_eq!(
            error("10.0.0.1\nq9 10.0.0.1"),
            "line 2: unknown game 'q9' (expected q3, rtcw, et, q4, qw)"
        );
        assert!(error("\n\na;b").starts_with("line 3: invalid address 'a;b'"));
        assert!(error("et 10.0.0.1 10.0.0.2").starts_with("line 1: invalid address"));
        assert!(error("\u{9b}2J x").contains("'\\u{9b}2J'"), "no control characters");
        let many = "10.0.0.1\n".repeat(MAX_FAVOURITES + 1);
        assert_eq!(error(&many), "line 4097: too many servers (max 4096)");
    }
}
