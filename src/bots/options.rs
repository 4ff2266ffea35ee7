//! Load test options: stages, rates, network impairment and expectations.

use std::{fmt, net::SocketAddr, str::FromStr};

use thiserror::Error;

use super::{MAX_BOTS, behavior::Behaviors, expect::Expectations};
use crate::{client::ProtocolChoice, impairment::Impairment, model::Millis};

/// A number of bots for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Bots, 1 to [`MAX_BOTS`].
    pub bots: u16,
    /// How long.
    pub duration: Millis,
}

/// Stages, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages(pub Vec<Stage>);

/// Stages at most.
const MAX_STAGES: usize = 64;
/// Longest stage.
const MAX_DURATION: Millis = Millis::seconds(86_400);

/// Stages that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid stage '{0}' (expected BOTS:TIME with 1 to {MAX_BOTS} bots, e.g. 16:30s)")]
pub struct StageError(String);

impl FromStr for Stages {
    type Err = StageError;

    fn from_str(text: &str) -> Result<Self, StageError> {
        let stages: Result<Vec<_>, _> = text
            .split(',')
            .map(str::trim)
            .map(|part| stage(part).ok_or_else(|| StageError(part.to_owned())))
            .collect();
        let stages = stages?;
        if stages.len() > MAX_STAGES {
            return Err(StageError(format!("{} stages", stages.len())));
        }
        Ok(Self(stages))
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |stage: &Stage| format!("{}:{}s", stage.bots, stage.duration.0 / 1000);
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

fn stage(text: &str) -> Option<Stage> {
    let (bots, time) = text.split_once(':')?;
    let bots = bots.trim().parse().ok().filter(|bots| (1..=MAX_BOTS).contains(bots))?;
    Some(Stage { bots, duration: duration(time)? })
}

/// A time such as `30s`, `2m`, `500ms` or `30`, which are seconds. None for what is none, for nothing
/// and for more than a day.
#[must_use]
pub fn duration(text: &str) -> Option<Millis> {
    let text = text.trim();
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1000));
    let ms = number.trim().parse::<u64>().ok()?.checked_mul(unit)?;
    Some(Millis(ms)).filter(|&time| time > Millis(0) && time <= MAX_DURATION)
}

/// Queries that are sent beside the players: browsers, or a flood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryFlood {
    /// `getinfo` a second.
    pub info_per_second: u32,
    /// `getstatus` a second.
    pub status_per_second: u32,
}

/// A load test.
#[derive(Clone, Debug)]
pub struct BotsOptions {
    /// The servers, at least one; bots go to each in turn.
    pub servers: Vec<SocketAddr>,
    /// What the bots speak with it.
    pub wire: ProtocolChoice,
    /// How many bots there are, and when. Not empty.
    pub stages: Vec<Stage>,
    /// What the bots' behaviour, names and numbers grow from.
    pub seed: u64,
    /// Bots that begin to join in a second, at least 1.
    pub joins_per_second: u32,
    /// Packets a second of each bot, 15 to 125.
    pub packets_per_second: u32,
    /// Frames a second of each bot's game, each of which makes a usercmd, 15 to 250.
    pub frames_per_second: u32,
    /// Bytes a second that each bot asks for.
    pub rate_bytes_per_sec: u32,
    /// Snapshots a second that each bot asks for.
    pub snaps: u32,
    /// What the bots' names begin with; a number follows.
    pub name_prefix: String,
    /// What bots do.
    pub behavior: Behaviors,
    /// The server's password; empty for none.
    pub password: String,
    /// What happens to datagrams on their way to the server, and on their way back.
    pub uplink: Impairment,
    /// See `uplink`.
    pub downlink: Impairment,
    /// Mean time until a bot's router gives it another port; never when zero.
    pub rebind: Millis,
    /// Silence after which the server counts as lost; so long is waited for a first answer, too.
    pub timeout: Millis,
    /// Whether a bot that lost the server, or was thrown out, comes back after a while.
    pub reconnects: bool,
    /// Queries beside the players.
    pub queries: QueryFlood,
    /// What has to hold. A stage that does not keep to it is the last.
    pub expectations: Expectations,
}

impl BotsOptions {
    /// `count` bots join `server` for `duration`, with the values that players use.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        wire: impl Into<ProtocolChoice>,
        count: u16,
        duration: Millis,
    ) -> Self {
        Self::to_all(vec![server], wire, count, duration)
    }

    /// The same for several servers.
    #[must_use]
    pub fn to_all(
        servers: Vec<SocketAddr>,
        wire: impl Into<ProtocolChoice>,
        count: u16,
        duration: Millis,
    ) -> Self {
        Self {
            servers,
            wire: wire.into(),
            stages: vec![Stage { bots: count, duration }],
            seed: 0,
            joins_per_second: 20,
            packets_per_second: 30,
            frames_per_second: 60,
            rate_bytes_per_sec: 25_000,
            snaps: 20,
            name_prefix: "bot".to_owned(),
            behavior: Behaviors::PLAYER,
            password: String::new(),
            uplink: Impairment::default(),
            downlink: Impairment::default(),
            rebind: Millis(0),
            timeout: Millis::seconds(10),
            reconnects: false,
            queries: QueryFlood::default(),
            expectations: Expectations::default(),
        }
    }

    /// Place of a bot's server in `servers`, by the bot's number.
    pub(super) fn server_place(&self, number: u16) -> usize {
        usize::from(number) % self.servers.len().max(1)
    }

    /// The server of a bot, by its number.
    #[must_use]
    pub fn server_of(&self, number: u16) -> SocketAddr {
        self.servers
            .get(self.server_place(number))
            .copied()
            .unwrap_or_else(|| ([127, 0, 0, 1], 27_960).into())
    }

    /// The most bots of any stage.
    #[must_use]
    pub fn most_bots(&self) -> u16 {
        let most = self.stages.iter().map(|stage| stage.bots).max();
        most.unwrap_or(1).clamp(1, MAX_BOTS)
    }

    /// Time between two snapshots that a bot asks for.
    #[must_use]
    pub fn snapshot_interval(&self) -> Millis {
        Millis(1000 / u64::from(self.snaps.clamp(1, 1000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read_and_written() {
        let stages: Stages = "16:30s, 32:2m,64:45".parse().unwrap();
        assert_eq!(stages.0[1], Stage { bots: 32, duration: Millis::seconds(120) });
        assert_eq!(stages.to_string(), "16:30s,32:120s,64:45s");
        for bad in ["", "16", "0:5s", "5000:1s", "4:0s", "4:-1s", "4:25h", "4:5s,,", "x:5"] {
            assert!(bad.parse::<Stages>().is_err(), "{bad}");
        }
        assert_eq!(duration("1500ms"), Some(Millis(1500)));
        assert_eq!(duration("99999999999999999999h"), None);
    }
}
