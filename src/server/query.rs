//! Query responses of the server: getinfo and getstatus by the settings and the game.
//!
//! Source: Quake III protocol 68, getinfo and getstatus; the keys are ioquake3's.

use super::{Server, core::Core};
use crate::{
    bg::GameType,
    limits::BucketLimit,
    model::Millis,
    serving::rate_limits::QueryLimits,
    settings::{Settings, key},
    wire::{
        connectionless::{InfoResponse, StatusPlayer},
        info::InfoString,
        text::WireText,
    },
};

/// Game type of a single-player game, which answers no queries.
const SINGLE_PLAYER: i32 = GameType::SinglePlayer as i32;

impl Core {
    /// Response to getinfo, with the challenge that it echoes.
    pub(super) fn info_summary(&self, challenge: Option<WireText<'_>>) -> InfoString {
        let settings = &self.settings;
        let int = |key| settings.int(key).max(0).unsigned_abs();
        let private = int(key::SV_PRIVATE_CLIENTS);
        let public = self.clients.present().filter(|(n, _)| n.index() >= private as usize);
        let humans = public.count() as u32;
        let bots = self.bots.iter().filter(|(n, _)| n.index() >= private as usize);
        let clients = humans + bots.count() as u32;
        let summary = InfoResponse {
            gamename: settings.text(key::COM_GAMENAME),
            protocol: settings.int(key::PROTOCOL),
            hostname: settings.text(key::SV_HOSTNAME),
            mapname: &self.level.map,
            clients,
            humans: Some(humans),
            max_clients: (self.slots() as u32).saturating_sub(private),
            gametype: settings.int(key::G_GAMETYPE),
            pure: settings.flag(key::SV_PURE),
            needs_password: Some(settings.flag(key::G_NEEDPASS)),
            voip: "",
            min_ping: int(key::SV_MIN_PING),
            max_ping: int(key::SV_MAX_PING),
            game: settings.text(key::FS_GAME),
        };
        summary.to_info(challenge)
    }

    /// The systeminfo as an info string.
    pub(super) fn systeminfo(&self) -> InfoString {
        let mut info = InfoString::big();
        for (name, value) in self.settings.systeminfo() {
            let _ = info.set_cleaned(name, value);
        }
        info
    }

    /// The serverinfo as an info string.
    pub(super) fn serverinfo(&self) -> InfoString {
        let mut info = InfoString::normal();
        for (name, value) in self.settings.serverinfo() {
            // The settings reject a value that does not fit.
            let _ = info.set_cleaned(name, value);
        }
        info
    }
}

/// Limits of answers to queries by the settings; `None` if no query is answered.
pub(super) fn limits(settings: &Settings) -> Option<QueryLimits> {
    if settings.int(key::G_GAMETYPE) == SINGLE_PLAYER {
        return None;
    }
    let limit = |burst, period| BucketLimit {
        burst: settings.int(burst).unsigned_abs(),
        period: Millis(u64::from(settings.int(period).unsigned_abs())),
    };
    Some(QueryLimits {
        each: limit(key::SV_QUERY_BURST, key::SV_QUERY_PERIOD),
        all: limit(key::SV_QUERY_GLOBAL_BURST, key::SV_QUERY_GLOBAL_PERIOD),
        bytes_per_second: u64::from(settings.int(key::SV_QUERY_GLOBAL_RATE).unsigned_abs()),
    })
}

/// Players of the response to getstatus.
pub(super) fn players(server: &Server) -> Vec<StatusPlayer<'_>> {
    let Server { core, game, .. } = server;
    core.clients
        .present()
        .map(|(number, client)| StatusPlayer {
            score: game.score(number),
            ping: client.ping_ms(),
            name: client.name.as_str().into(),
        })
        .chain(core.bots.iter().map(|(number, bot)| StatusPlayer {
            score: game.score(number),
            ping: 0,
            name: bot.name.as_str().into(),
        }))
        .collect()
}
