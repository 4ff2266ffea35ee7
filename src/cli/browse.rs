//! Options of `browse`.

use std::path::PathBuf;

use clap::Args;

use super::ServerAddress;
use super::number::{ANY_I32, number};
use crate::{
    browser::Order,
    discovery::{GAMES, Game},
};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd browse                                      live table of Quake III Arena servers
  fragd browse --game all --master 127.0.0.1:27950  every game of one master
  fragd browse --lan --game q3,et                   servers of the local network
  fragd browse --favorites servers.txt --players    servers of a file, with players
  fragd browse --filter 'ctf players>3 ping<80' --sort -players --plain
  fragd browse --json > servers.json
  fragd browse --watch 60 --csv >> history.csv

Filter words: TEXT, -TEXT, name:TEXT, map:, mod:, type:, game:, address:, player:, ping<80, \
players>3, free>=1, max=16, empty, full, password.
Favorites: lines of '[GAME] HOST[:PORT]'; '#' starts a comment.
Exit codes: 0 a server answered or a master sent its lists, 1 no answer or failure, 2 usage or file error.";

/// Options of `browse`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct BrowseOptions {
    /// Games to list: q3, rtcw, et, q4, qw or all
    #[arg(long = "game", value_name = "GAME", value_delimiter = ',', default_value = "q3",
        value_parser = game_words)]
    games: Vec<GameWord>,
    /// Masters to ask [default: each game's public masters]
    #[arg(long = "master", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host)]
    pub masters: Vec<String>,
    /// Protocols to ask masters for [default: latest of each game; q3 also 71]
    #[arg(long = "protocol", value_name = "NUMBER", value_delimiter = ',', value_parser = number::<i32>(ANY_I32))]
    pub protocols: Vec<i32>,
    /// Ask masters for IPv6 servers, too
    #[arg(long)]
    pub ipv6: bool,
    /// Scan the local network
    #[arg(long)]
    pub lan: bool,
    /// Query the servers of a file
    #[arg(long = "favorites", visible_alias = "favourites", value_name = "FILE")]
    pub favorites: Option<PathBuf>,
    /// Query players, too
    #[arg(long)]
    pub players: bool,
    /// Show only matching servers
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub filter: String,
    /// Sort by ping, players, game, type, mod, map, name or address; '-' reverses
    #[arg(long, value_name = "COLUMN", default_value = "ping", allow_hyphen_values = true)]
    pub sort: Order,
    /// Show servers without an answer, too
    #[arg(long)]
    pub all: bool,
    /// Repeat at this interval and keep a history
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60",
        value_parser = number::<u32>(1..=86_400))]
    pub watch: Option<u32>,
    /// Print one JSON object, one per line with --watch
    #[arg(long, conflicts_with_all = ["csv", "plain"])]
    pub json: bool,
    /// Print CSV rows
    #[arg(long, conflicts_with = "plain")]
    pub csv: bool,
    /// Print plain lines in a terminal, too
    #[arg(long)]
    pub plain: bool,
    /// Servers queried at once
    #[arg(long, value_name = "N", default_value_t = 16,
        value_parser = number::<u16>(1..=1024))]
    pub outstanding: u16,
    /// Milliseconds to wait for a server's answer
    #[arg(long = "timeout", value_name = "MS", default_value_t = 800,
        value_parser = number::<u32>(1..=60_000))]
    pub timeout_ms: u32,
    /// Further requests to a silent server
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = number::<u8>(0..=3))]
    pub retries: u8,
    /// Servers to list at most
    #[arg(long, value_name = "N", default_value_t = 16_384,
        value_parser = number::<u32>(1..=65_536))]
    pub max_servers: u32,
    /// Seconds that one round may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
        value_parser = number::<u32>(1..=3600))]
    pub limit: u32,
}

/// Word of `--game`: one game or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GameWord(Option<&'static Game>);

impl BrowseOptions {
    /// Returns the games, each once, in the order of the table.
    #[must_use]
    pub fn games(&self) -> Vec<&'static Game> {
        let named = |game: &'static Game| {
            self.games.iter().any(|GameWord(word)| word.is_none_or(|word| word == game))
        };
        GAMES.iter().filter(|game| named(game)).collect()
    }
}

/// Parses one word of `--game`.
fn game_words(word: &str) -> Result<GameWord, String> {
    if word.eq_ignore_ascii_case("all") {
        return Ok(GameWord(None));
    }
    match Game::by_word(word) {
        Some(game) => Ok(GameWord(Some(game))),
        None => {
            let words: Vec<_> = GAMES.iter().map(|game| game.word).collect();
            Err(format!("expected {} or all", words.join(", ")))
        }
    }
}

/// Checks an address whose default port is the game's.
fn host(text: &str) -> Result<String, String> {
    match text.parse::<ServerAddress>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
