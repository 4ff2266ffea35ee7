//! Table of games: one row per game with its words, numbers and ports.

use crate::{model::Millis, wire::text::WireText};

/// Interval of the heartbeats of every game.
pub const HEARTBEAT_INTERVAL: Millis = Millis(300_000);

/// Family of games with one packet format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Quake III Arena, Return to Castle Wolfenstein, Enemy Territory and their descendants.
    Quake3,
    /// Quake 4: two bytes of mark, NUL-terminated strings, little-endian numbers.
    Quake4,
    /// QuakeWorld: one-letter commands, no mark between server and master.
    QuakeWorld,
}

/// One game: what its servers, masters and clients say, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Game {
    /// Word for command lines and files.
    pub word: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Packet format.
    pub family: Family,
    /// Name in list requests and in `infoResponse`.
    pub name: &'static str,
    /// Protocols that mean this game in a list request without a name.
    pub protocols: &'static [i32],
    /// Protocol of the latest release, which a client asks for.
    pub protocol: i32,
    /// Tag of a heartbeat; empty where heartbeats have none.
    pub heartbeat: &'static str,
    /// Tag of the heartbeat at shutdown.
    pub flatline: Option<&'static str>,
    /// Whether lists contain empty and full servers without being asked to.
    pub lists_all: bool,
    /// Host name of the publisher's master.
    pub master_host: &'static str,
    /// Port of masters.
    pub master_port: u16,
    /// Port of the message of the day.
    pub motd_port: Option<u16>,
    /// Port of the update service.
    pub update_port: Option<u16>,
    /// Port of CD-key authorization.
    pub authorize_port: Option<u16>,
    /// Default port of servers.
    pub server_port: u16,
    /// Number of ports from `server_port` up that a scan of the local network covers.
    pub lan_ports: u16,
    /// Number of servers that the game's own browser queries at once.
    pub outstanding: usize,
}

/// Every game, the default of each family first.
pub const GAMES: &[Game] = &[
    Game {
        word: "q3",
        title: "Quake III Arena",
        family: Family::Quake3,
        name: "Quake3Arena",
        protocols: &[43, 45, 48, 66, 67, 68],
        protocol: 68,
        heartbeat: "QuakeArena-1",
        flatline: None,
        lists_all: false,
        master_host: "master.quake3arena.com",
        master_port: 27_950,
        motd_port: Some(27_951),
        update_port: None,
        authorize_port: Some(27_952),
        server_port: 27_960,
        lan_ports: 4,
        outstanding: 32,
    },
    Game {
        word: "rtcw",
        title: "Return to Castle Wolfenstein",
        family: Family::Quake3,
        name: "wolfmp",
        protocols: &[50, 59, 60],
        protocol: 60,
        heartbeat: "Wolfenstein-1",
        flatline: Some("WolfFlatline-1"),
        lists_all: false,
        master_host: "wolfmaster.idsoftware.com",
        master_port: 27_950,
        motd_port: Some(27_951),
        update_port: Some(27_960),
        authorize_port: Some(27_952),
        server_port: 27_960,
        lan_ports: 4,
        outstanding: 16,
    },
    Game {
        word: "et",
        title: "Enemy Territory",
        family: Family::Quake3,
        name: "et",
        protocols: &[72, 80, 83, 84],
        protocol: 84,
        heartbeat: "EnemyTerritory-1",
        flatline: Some("ETFlatline-1"),
        lists_all: true,
        master_host: "etmaster.idsoftware.com",
        master_port: 27_950,
        motd_port: Some(27_951),
        update_port: Some(27_951),
        authorize_port: None,
        server_port: 27_960,
        lan_ports: 4,
        outstanding: 16,
    },
    Game {
        word: "q4",
        title: "Quake 4",
        family: Family::Quake4,
        name: "Quake4",
        protocols: &[],
        protocol: super::quake4::PROTOCOL.cast_signed(),
        heartbeat: "",
        flatline: None,
        lists_all: true,
        master_host: "q4master.idsoftware.com",
        master_port: 27_650,
        motd_port: None,
        update_port: None,
        authorize_port: None,
        server_port: 28_004,
        lan_ports: 8,
        outstanding: 32,
    },
    Game {
        word: "qw",
        title: "QuakeWorld",
        family: Family::QuakeWorld,
        name: "QuakeWorld",
        protocols: &[],
        protocol: 28,
        heartbeat: "",
        flatline: None,
        lists_all: true,
        master_host: "satan.idsoftware.com",
        master_port: 27_000,
        motd_port: None,
        update_port: None,
        authorize_port: None,
        server_port: 27_500,
        lan_ports: 4,
        outstanding: 32,
    },
];

impl Game {
    /// Returns the game of a command-line word, without regard to case.
    #[must_use]
    pub fn by_word(word: &str) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.word.eq_ignore_ascii_case(word))
    }

    /// Returns the first game of a family.
    #[must_use]
    pub fn of_family(family: Family) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.family == family)
    }

    /// Returns the Quake III family's game of a heartbeat's tag, and whether it announces a shutdown.
    #[must_use]
    pub fn by_heartbeat(tag: WireText<'_>) -> Option<(&'static Self, bool)> {
        GAMES.iter().filter(|game| game.family == Family::Quake3).find_map(|game| {
            let is_flatline = game.flatline.is_some_and(|flatline| tag == flatline);
            (is_flatline || tag == game.heartbeat).then_some((game, is_flatline))
        })
    }

    /// Returns the Quake III family's game of a name in requests and responses.
    #[must_use]
    pub fn by_name(name: WireText<'_>) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.family == Family::Quake3 && name == game.name)
    }

    /// Returns the game that a protocol number without a name means.
    #[must_use]
    pub fn by_protocol(protocol: i32) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.protocols.contains(&protocol))
    }
}
