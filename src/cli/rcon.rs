//! Options of `rcon`.

use std::path::PathBuf;

use clap::Args;

use super::ServerAddress;
use super::number::number;
use crate::{
    discovery::{Family, GAMES, Game},
    rcon::SecureMode,
};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd rcon 127.0.0.1 status                             asks for the password
  fragd rcon dm.example.org:27961 --password-file ~/.rcon map oa_dm3
  fragd rcon [::1] --json status < /dev/null
  fragd rcon 127.0.0.1 < commands.txt                     one command per line
  fragd rcon 127.0.0.1:27500 --game qw users              QuakeWorld
  fragd rcon dm.example.org --secure challenge status     no password on the wire

The password is read from --password-file, FRAGD_RCON_PASSWORD or the terminal, in this order. Without a \
command, those of standard input are sent, one per line. Without a port, the server is sought at 27960 and \
27500. Quake III passwords travel in clear text, unless --secure is given.
Exit codes: 0 answered, 1 failure, 2 usage or file error, 3 no answer, 4 password refused.";

/// Options of `rcon`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct RconArguments {
    /// Server; default port that of each game
    #[arg(value_name = "HOST[:PORT]")]
    pub server: ServerAddress,
    /// Command to run; without one, those of standard input
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Game of the server: q3, rtcw, et or qw [default: found by a request]
    #[arg(long, value_name = "GAME", value_parser = game)]
    pub game: Option<&'static Game>,
    /// Send a QuakeWorld password in clear text (sv_crypt_rcon 0)
    #[arg(long)]
    pub plain: bool,
    /// Sign commands instead of sending the password, as DarkPlaces does: time or challenge
    #[arg(long, value_name = "PROOF", conflicts_with = "plain", value_parser = secure_mode)]
    pub secure: Option<SecureMode>,
    /// Print one JSON object per command
    #[arg(long)]
    pub json: bool,
    /// Milliseconds to wait for an answer
    #[arg(long = "timeout", value_name = "MS", default_value_t = 2000,
        value_parser = number::<u32>(1..=60_000))]
    pub timeout_ms: u32,
    /// Milliseconds of silence that end an answer
    #[arg(long = "silence", value_name = "MS", default_value_t = 300,
        value_parser = number::<u32>(1..=10_000))]
    pub silence_ms: u32,
}

impl RconArguments {
    /// Returns the ports at which the server is sought.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        if self.server.has_port {
            return vec![self.server.port];
        }
        let families = [Family::Quake3, Family::QuakeWorld].into_iter();
        let default =
            |family| GAMES.iter().find(|game| game.family == family).map(|game| game.server_port);
        match self.game {
            Some(game) => vec![game.server_port],
            None => families.filter_map(default).collect(),
        }
    }
}

/// Parses the proof of signed commands.
fn secure_mode(word: &str) -> Result<SecureMode, String> {
    match word {
        "time" => Ok(SecureMode::Time),
        "challenge" => Ok(SecureMode::Challenge),
        _ => Err("expected time or challenge".to_owned()),
    }
}

/// Parses the word of a game whose rcon is known.
fn game(word: &str) -> Result<&'static Game, String> {
    Game::by_word(word)
        .filter(|game| game.family != Family::Quake4)
        .ok_or_else(|| "expected q3, rtcw, et or qw".to_owned())
}
