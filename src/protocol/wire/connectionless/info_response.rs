//! Info response: keys of `infoResponse`, as one table for reading and writing.

use crate::{
    model::text::atoi,
    wire::{info::InfoString, text::WireText},
};

/// Fields of an `infoResponse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfoResponse<'a> {
    /// Game, for masters and clients of several games; empty when not sent.
    pub gamename: &'a str,
    /// Protocol number.
    pub protocol: i32,
    /// Server name.
    pub hostname: &'a str,
    /// Map name.
    pub mapname: &'a str,
    /// Number of players and bots, connected or connecting, in public slots.
    pub clients: u32,
    /// Human players among them; `None` when not sent.
    pub humans: Option<u32>,
    /// Number of public slots.
    pub max_clients: u32,
    /// Game type number.
    pub gametype: i32,
    /// Whether clients may only use the server's files.
    pub pure: bool,
    /// Whether a password is required; `None` when not sent.
    pub needs_password: Option<bool>,
    /// Voice codec, empty for none.
    pub voip: &'a str,
    /// Minimum ping, in ms; 0 for any.
    pub min_ping: u32,
    /// Maximum ping, in ms; 0 for any.
    pub max_ping: u32,
    /// Mod, empty for the base game.
    pub game: &'a str,
}

/// One key: how its value is written (empty: left out) and read.
struct Key {
    name: &'static str,
    get: fn(&InfoResponse<'_>) -> String,
    set: for<'a> fn(&mut InfoResponse<'a>, &'a str),
}

/// Keys in the order in which they are written.
const KEYS: &[Key] = &[
    Key { name: "gamename", get: |s| s.gamename.into(), set: |s, v| s.gamename = v },
    Key { name: "protocol", get: |s| s.protocol.to_string(), set: |s, v| s.protocol = atoi(v) },
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
    Key { name: "gametype", get: |s| s.gametype.to_string(), set: |s, v| s.gametype = atoi(v) },
    Key { name: "pure", get: |s| flag(s.pure), set: |s, v| s.pure = atoi(v) != 0 },
    Key {
        name: "g_needpass",
        get: |s| s.needs_password.map(flag).unwrap_or_default(),
        set: |s, v| s.needs_password = Some(atoi(v) != 0),
    },
    Key { name: "voip", get: |s| s.voip.into(), set: |s, v| s.voip = v },
    Key { name: "minPing", get: |s| nonzero(s.min_ping), set: |s, v| s.min_ping = count(v) },
    Key { name: "maxPing", get: |s| nonzero(s.max_ping), set: |s, v| s.max_ping = count(v) },
    Key { name: "game", get: |s| s.game.into(), set: |s, v| s.game = v },
];

impl<'a> InfoResponse<'a> {
    /// Builds the info string of a response, with the challenge to echo, if any. Values that do not
    /// fit are left out.
    #[must_use]
    pub fn to_info(&self, challenge: Option<WireText<'_>>) -> InfoString {
        let mut info = InfoString::normal();
        if let Some(challenge) = challenge {
            // Fails only for a challenge that must not be echoed.
            let _ = info.set("challenge", &challenge.to_string());
        }
        for key in KEYS {
            let value = (key.get)(self);
            if !value.is_empty() {
                // Fails only when the value does not fit; shorter ones may still do.
                let _ = info.set_cleaned(key.name, &value);
            }
        }
        info
    }

    /// Parses a response. Missing keys are as in the default.
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
    atoi(value).max(0).unsigned_abs()
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

    const SERVER: InfoResponse<'static> = InfoResponse {
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

    /// A response of an ioquake3 server.
    const MEASURED: &str = "\\voip\\opus\\g_needpass\\0\\pure\\0\\gametype\\0\\sv_maxclients\\8\
        \\g_humanplayers\\0\\clients\\0\\mapname\\oa_dm1\\hostname\\wiretest\\protocol\\71\
        \\gamename\\Quake3Arena\\challenge\\xyz";

    #[test]
    fn captured_info_response_is_parsed_and_rebuilt() {
        let measured = InfoString::parse(MEASURED);
        assert_eq!(InfoResponse::from_info(&measured), SERVER);
        let made = SERVER.to_info(Some(WireText::from("xyz")));
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
    fn info_response_keys_round_trip() {
        let full = InfoResponse {
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
        assert_eq!(InfoResponse::from_info(&info), full);
    }

    #[test]
    fn info_response_values_cannot_add_keys() {
        let server = InfoResponse { hostname: "a\\pure\\1;\"b\n", ..SERVER };
        let info = server.to_info(None);
        assert_eq!(info.get("hostname"), Some("a.pure.1..b."));
        assert_eq!(info.get("pure"), Some("0"));
        let long = "x".repeat(2000);
        let server = InfoResponse { hostname: &long, ..SERVER };
        let info = server.to_info(None);
        assert_eq!((info.get("hostname"), info.get("mapname")), (None, Some("oa_dm1")));
    }
}
