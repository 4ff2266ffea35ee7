//! Descriptions of decoys: from a TOML file, or generated from a seed.
//!
//! ```toml
//! masters = ["127.0.0.1:27950"]
//!
//! [[server]]
//! game = "et"
//! name = "Fun Tennis"
//! map = "fun_tennis"
//! max_clients = 10
//! players = [{ name = "^1Alice", score = 12, ping = 48 }]
//! ```

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    discovery::{Family, GAMES, Game},
    model::config_fault::{form_fault, value_fault},
};

/// Most decoys of a process: one port for each.
pub const MAX_DECOYS: usize = 20_000;
/// Most players of a decoy.
const MAX_PLAYERS: usize = 64;
/// Longest name of a decoy or player, in bytes.
const MAX_NAME: usize = 100;

/// One decoy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoy {
    /// Game that the decoy pretends to be.
    #[serde(deserialize_with = "game", default = "quake3")]
    pub game: &'static Game,
    /// Name of the server.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// Map; `None` for a usual one of the game.
    #[serde(default)]
    pub map: Option<String>,
    /// Number of slots.
    #[serde(default = "sixteen")]
    pub max_clients: u8,
    /// Game type number; `None` for the game's default.
    #[serde(default)]
    pub gametype: Option<i32>,
    /// Protocol number; `None` for the latest release.
    #[serde(default)]
    pub protocol: Option<i32>,
    /// Folder of a mod; empty for none.
    #[serde(default, rename = "mod")]
    pub r#mod: String,
    /// Whether clients may only use the server's files.
    #[serde(default = "yes")]
    pub pure: bool,
    /// Whether a password is required.
    #[serde(default)]
    pub password: bool,
    /// Whether the server runs an anti-cheat.
    #[serde(default)]
    pub punkbuster: bool,
    /// Port; `None` for the next one of the process's range.
    #[serde(default)]
    pub port: Option<u16>,
    /// Players.
    #[serde(default, deserialize_with = "players")]
    pub players: Vec<DecoyPlayer>,
}

/// One player of a decoy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoyPlayer {
    /// Name with color codes.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// Score.
    #[serde(default)]
    pub score: i32,
    /// Round-trip time in ms; 0 for a bot.
    #[serde(default)]
    pub ping: i32,
}

/// Content of a file of decoys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoyFile {
    /// Masters that get heartbeats, as `HOST[:PORT]`.
    #[serde(default)]
    pub masters: Vec<String>,
    /// Decoys.
    #[serde(default, rename = "server")]
    pub servers: Vec<Decoy>,
}

impl DecoyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence with the line, the problem and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let (line, what) = match toml::de::DeTable::parse(text) {
                Ok(_) => value_fault(text, error.span(), error.message()),
                Err(error) => form_fault(text, error.span(), error.message()),
            };
            format!("line {line}: {what}")
        })?;
        if file.servers.is_empty() || file.servers.len() > MAX_DECOYS {
            let count = file.servers.len();
            return Err(format!("{count} [[server]] tables (expected 1 to {MAX_DECOYS})"));
        }
        Ok(file)
    }
}

impl Decoy {
    /// Creates a decoy with the defaults of a game.
    #[must_use]
    pub fn new(game: &'static Game, name: impl Into<String>) -> Self {
        Self {
            game,
            name: name.into(),
            map: None,
            max_clients: sixteen(),
            gametype: None,
            protocol: None,
            r#mod: String::new(),
            pure: yes(),
            password: false,
            punkbuster: false,
            port: None,
            players: Vec::new(),
        }
    }

    /// Returns the map.
    #[must_use]
    pub fn map(&self) -> &str {
        self.map.as_deref().unwrap_or_else(|| maps(self.game)[0])
    }

    /// Returns the protocol number.
    #[must_use]
    pub fn protocol(&self) -> i32 {
        self.protocol.unwrap_or(self.game.protocol)
    }

    /// Returns the game type number.
    #[must_use]
    pub fn gametype(&self) -> i32 {
        // Enemy Territory: objectives.
        self.gametype.unwrap_or(if self.game.word == "et" { 2 } else { 0 })
    }
}

/// Generates `count` decoys. They take turns among `games`, and the same seed gives the same decoys.
#[must_use]
pub fn generate(count: usize, games: &[&'static Game], seed: u64) -> Vec<Decoy> {
    const NAMES: [&str; 8] =
        ["Sarge", "^1Visor", "Grunt", "^2Doom", "Keel", "^4Bones", "Klesk", "Xaero"];
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut below = |limit: u32| random.next_u32() % limit.max(1);
    let one = |(number, game): (usize, &&'static Game)| {
        let mut decoy = Decoy::new(game, format!("{} decoy {}", game.title, number + 1));
        let maps = maps(game);
        decoy.map = Some(maps[below(maps.len() as u32) as usize].to_owned());
        decoy.max_clients = [8, 10, 12, 16, 24, 32][below(6) as usize];
        decoy.gametype = (game.word != "et").then(|| [0, 1, 3, 4][below(4) as usize]);
        // A third of the servers is empty, and few are full.
        let players = below(3).min(1) * below(u32::from(decoy.max_clients) + 1);
        decoy.players = (0..players)
            .map(|slot| DecoyPlayer {
                name: NAMES[(slot % 8) as usize].to_owned(),
                score: below(40).cast_signed() - 2,
                ping: below(200).cast_signed(),
            })
            .collect();
        decoy
    };
    let games = if games.is_empty() { &[&GAMES[0]] } else { games };
    games.iter().cycle().take(count.min(MAX_DECOYS)).enumerate().map(one).collect()
}

/// Maps of a game, the usual one first.
const fn maps(game: &Game) -> &'static [&'static str] {
    match (game.family, game.word.as_bytes()) {
        (Family::Quake3, b"et") => {
            &["goldrush", "fueldump", "oasis", "radar", "railgun", "battery"]
        }
        (Family::Quake3, b"rtcw") => &["mp_beach", "mp_assault", "mp_base", "mp_ice"],
        (Family::Quake3, _) => &["q3dm17", "q3dm6", "q3tourney2", "q3ctf1", "q3dm7", "q3dm13"],
        (Family::Quake4, _) => &["mp/q4dm1", "mp/q4dm2", "mp/q4tourney1", "mp/q4ctf1"],
        (Family::QuakeWorld, _) => &["dm4", "dm2", "dm3", "dm6", "e1m2", "ztndm3"],
    }
}

const fn quake3() -> &'static Game {
    &GAMES[0]
}

const fn sixteen() -> u8 {
    16
}

const fn yes() -> bool {
    true
}

fn game<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Game, D::Error> {
    let word = String::deserialize(deserializer)?;
    Game::by_word(&word).ok_or_else(|| {
        let words: Vec<_> = GAMES.iter().map(|game| game.word).collect();
        D::Error::custom(format!("unknown game: {word} (expected {})", words.join(", ")))
    })
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.is_empty() || name.len() > MAX_NAME {
        let len = name.len();
        return Err(D::Error::custom(format!(
            "name of {len} bytes (expected 1 to {MAX_NAME} bytes)"
        )));
    }
    Ok(name)
}

fn players<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DecoyPlayer>, D::Error> {
    let players = Vec::<DecoyPlayer>::deserialize(deserializer)?;
    if players.len() > MAX_PLAYERS {
        let count = players.len();
        return Err(D::Error::custom(format!("{count} players (expected at most {MAX_PLAYERS})")));
    }
    Ok(players)
}
