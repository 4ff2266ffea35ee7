//! The short answer about a server: the keys of `infoResponse`, as a table that both writes and reads.

use crate::{
    model::text::leading_int,
    wire::{info::InfoString, text::Text},
};

/// What `infoResponse` says about a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary<'a> {
    /// The game, for masters and clients of many games; empty when the server does not say.
    pub gamename: &'a str,
    /// The protocol number.
    pub protocol: i32,
    /// The server's name.
    pub hostname: &'a str,
    /// The level.
    pub mapname: &'a str,
    /// Players and bots, at least connected, in public slots.
    pub clients: u32,
    /// Those of them who are people; `None` when the server does not say.
    pub humans: Option<u32>,
    /// Public slots.
    pub max_clients: u32,
    /// The game type's number.
    pub gametype: i32,
    /// Whether clients may only use the server's files.
    pub pure: bool,
    /// Whether a password is asked for; `None` when the server does not say.
    pub needs_password: Option<bool>,
    /// The voice codec, empty for none.
    pub voip: &'a str,
    /// Smallest ping allowed, in milliseconds; 0 for any.
    pub min_ping: u32,
    /// Largest ping allowed, in milliseconds; 0 for any.
    pub max_ping: u32,
    /// The mod, empty for the base game.
    pub game: &'a str,
}

/// One key: how its value is made (empty: left out) and taken.
struct Key {
    name: &'static str,
    get: fn(&Summary<'_>) -> String,
    set: for<'a> fn(&mut Summary<'a>, &'a str),
}

/// The keys in the order in which they are written.
const KEYS: &[Key] = &[
    Key { name: "gamename", get: |s| s.gamename.into(), set: |s, v| s.gamename = v },
    Key {
        name: "protocol",
        get: |s| s.protocol.to_string(),
        set: |s, v| s.protocol = leading_int(v),
    },
    Key { name: "hostname", get: |s| s.hostname.into(), set: |s, v| s.hostname = v },
    Key { name: "mapname", get: |s| s.mapname.into(), set: |s, v| s.mapname = v },
    Key { name: "clients", get: |s| s.clients.to_string(), set: |s, v| s.clients = count(v) },
    Key {
        name: "g_humanplayers",
        get: |s| s.humans.map(|humans| humans.to_string()).unwrap_or_default(),
        set: |s, v| s.humans = Some(count(v)),
    },
    Key {
        name: "sv_maxclients",
        get: |s| s.max_clients.to_string(),
        set: |s, v| s.max_clients = count(v),
    },
    Key {
        name: "gametype",
        get: |s| s.gametype.to_string(),
        set: |s, v| s.gametype = leading_int(v),
    },
    Key { name: "pure", get: |s| flag(s.pure), set: |s, v| s.pure = leading_int(v) != 0 },
    Key {
        name: "g_needpass",
        get: |s| s.needs_password.map(flag).unwrap_or_default(),
        set: |s, v| s.needs_password = Some(leading_int(v) != 0),
    },
    Key { name: "voip", get: |s| s.voip.into(), set: |s, v| s.voip = v },
    Key { name: "minPing", get: |s| nonzero(s.min_ping), set: |s, v| s.min_ping = count(v) },
    Key { name: "maxPing", get: |s| nonzero(s.max_ping), set: |s, v| s.max_ping = count(v) },
    Key { name: "game", get: |s| s.game.into(), set: |s, v| s.game = v },
];

impl<'a> Summary<'a> {
    /// The info string of an answer, with the asker's challenge if it is to be echoed. Values that do
    /// not fit any more are left out.
    #[must_use]
    pub fn to_info(&self, challenge: Option<Text<'_>>) -> InfoString {
        let mut info = InfoString::normal();
        if let Some(challenge) = challenge {
            // Refused only when it could not be echoed anyway.
            let _ = info.set("challenge", &challenge.to_string());
        }
        for key in KEYS {
            let value = (key.get)(self);
            if !value.is_empty() {
                // Refused only when there is no room, which shorter values may still have.
                let _ = info.set_cleaned(key.name, &value);
            }
        }
        info
    }

    /// What an answer says. Missing keys are as in the default.
    #[must_use]
    pub fn from_info(info: &'a InfoString) -> Self {
        let mut summary = Self::default();
        for key in KEYS {
            if let Some(value) = info.get(key.name) {
                (key.set)(&mut summary, value);
            }
        }
        summary
    }
}

fn count(value: &str) -> u32 {
    leading_int(value).max(0).unsigned_abs()
}

fn flag(value: bool) -> String {
    u8::from(value).to_string()
}

fn nonzero(value: u32) -> String {
    if value == 0 { String::new() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: Summary<'static> = Summary {
        gamename: "Quake3Arena",
        protocol: 71,
        hostname: "wiretest",
        mapname: "oa_dm1",
        clients: 0,
        humans: Some(0),
        max_clients: 8,
        gametype: 0,
        pure: false,
        needs_password: Some(false),
        voip: "opus",
        min_ping: 0,
        max_ping: 0,
        game: "",
    };

    /// As an ioquake3 server sent it.
    const MEASURED: &str = "\\voip\\opus\\g_needpass\\0\\pure\\0\\gametype\\0\\sv_maxclients\\8\
        \\g_humanplayers\\0\\clients\\0\\mapname\\oa_dm1\\hostname\\wiretest\\protocol\\71\
        \\gamename\\Quake3Arena\\challenge\\xyz";

    #[test]
    fn a_measured_answer_is_read_and_made() {
        let measured = InfoString::parse(MEASURED);
        assert_eq!(Summary::from_info(&measured), SERVER);
        let made = SERVER.to_info(Some(Text::from("xyz")));
        let sorted = |info: &InfoString| {
            let mut pairs: Vec<_> =
                info.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            pairs.sort();
            pairs
        };
        assert_eq!(sorted(&made), sorted(&measured));
        assert!(made.as_str().starts_with("\\challenge\\xyz\\gamename\\"));
    }

    #[test]
    fn every_key_survives() {
        let full = Summary {
            clients: 3,
            humans: Some(2),
            gametype: 4,
            pure: true,
            needs_password: Some(true),
            min_ping: 10,
            max_ping: 200,
            game: "osp",
            ..SERVER
        };
        let info = full.to_info(None);
        assert_eq!(info.iter().count(), KEYS.len());
        assert_eq!(Summary::from_info(&info), full);
    }

    #[test]
    fn an_operators_words_cannot_add_keys() {
        let server = Summary { hostname: "a\\pure\\1;\"b\n", ..SERVER };
        let info = server.to_info(None);
        assert_eq!(info.get("hostname"), Some("a.pure.1..b."));
        assert_eq!(info.get("pure"), Some("0"));
        let long = "x".repeat(2000);
        let server = Summary { hostname: &long, ..SERVER };
        let info = server.to_info(None);
        assert_eq!((info.get("hostname"), info.get("mapname")), (None, Some("oa_dm1")));
    }
}
