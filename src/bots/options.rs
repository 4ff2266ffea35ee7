//! Load test options: stages, rates, network impairment and expectations.

use std::{fmt, net::SocketAddr, str::FromStr, sync::Arc};

use thiserror::Error;

use super::{
    Conditions, MAX_BOTS,
    behavior::{Behavior, Behaviors},
    expect::Expectations,
    protocol::{BotProtocol, GameProtocol},
    run_info::RunInfo,
};
use crate::{
    impairment::Impairment,
    model::{Millis, installed_packs::InstalledPacks},
};

/// A stage: bot count and duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Bots, 1 to [`MAX_BOTS`].
    pub bots: u16,
    /// Duration of the stage.
    pub duration: Millis,
}

/// List of consecutive stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages(pub Vec<Stage>);

/// Maximum stages.
const MAX_STAGES: usize = 64;
/// Longest stage.
const MAX_DURATION: Millis = Millis::seconds(86_400);

/// An invalid list of stages.
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

/// Parses a time such as `30s`, `2m`, `500ms` or `30` (seconds).
///
/// Returns `None` for invalid text, for 0 and for more than a day.
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

/// Rates of the query load, as of server browsers or a flood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryFlood {
    /// `getinfo` requests per second.
    pub info_per_second: u32,
    /// `getstatus` requests per second.
    pub status_per_second: u32,
}

/// Declares the options with their defaults.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty = $default:expr,)+ }
    ) => {
        $(#[$meta])*
        pub struct $name { $($(#[$doc])* pub $field: $type,)+ }

        impl $name {
            fn defaults() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
}

options! {
    /// Options of a load test.
    #[derive(Clone, Debug)]
    pub struct BotsOptions {
        /// Servers, at least one. Bots are assigned to them in turn.
        pub servers: Vec<SocketAddr> = Vec::new(),
        /// Protocol of the bots.
        pub protocol: BotProtocol = BotProtocol::Auto,
        /// Bot counts over time. Not empty.
        pub stages: Vec<Stage> = Vec::new(),
        /// Random seed of input, identities and impairment.
        pub seed: u64 = 0,
        /// Joins per second, at least 1.
        pub joins_per_second: u32 = 20,
        /// Packets per second of each bot, 15 to 125.
        pub packets_per_second: u32 = 30,
        /// Longest random delay of a packet behind its regular time.
        pub stagger: Millis = Millis(0),
        /// Client frames per second, each with one usercmd, 15 to 250.
        pub frames_per_second: u32 = 60,
        /// Userinfo `rate` of each bot, in bytes per second.
        pub rate_bytes_per_sec: u32 = 25_000,
        /// Userinfo `snaps` of each bot, in snapshots per second.
        pub snaps: u32 = 20,
        /// Prefix of the bots' names; a number follows.
        pub name_prefix: String = "bot".to_owned(),
        /// Behavior of the bots.
        pub behavior: Behaviors = Behaviors::PLAYER,
        /// Password of the server; empty for none.
        pub password: String = String::new(),
        /// Impairment of datagrams to the server.
        pub uplink: Impairment = Impairment::default(),
        /// Impairment of datagrams from the server.
        pub downlink: Impairment = Impairment::default(),
        /// Mean time between NAT rebindings of a bot; 0 disables them.
        pub rebind: Millis = Millis(0),
        /// Silence after which the server counts as lost, and maximum wait for a first answer.
        pub timeout: Millis = Millis::seconds(10),
        /// Whether a dropped bot, or one that lost the server, reconnects.
        pub reconnects: bool = false,
        /// Installed archives, which bots prove to pure servers.
        pub packs: Option<Arc<dyn InstalledPacks>> = None,
        /// Query load beside the players.
        pub queries: QueryFlood = QueryFlood::default(),
        /// Time at the beginning that is left out of all metrics but the joins; 0 for none.
        pub warmup: Millis = Millis(0),
        /// Program, machine and command line, for the results.
        pub run: RunInfo = RunInfo::default(),
        /// Pass criteria of each stage. A stage that fails is the last.
        pub expectations: Expectations = Expectations::default(),
    }
}

impl BotsOptions {
    /// Creates options for `count` bots that join `server` for `duration`, with the defaults of players.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        protocol: impl Into<BotProtocol>,
        count: u16,
        duration: Millis,
    ) -> Self {
        Self::to_all(vec![server], protocol, count, duration)
    }

    /// Creates options for several servers.
    #[must_use]
    pub fn to_all(
        servers: Vec<SocketAddr>,
        protocol: impl Into<BotProtocol>,
        count: u16,
        duration: Millis,
    ) -> Self {
        let stages = vec![Stage { bots: count, duration }];
        Self { servers, protocol: protocol.into(), stages, ..Self::defaults() }
    }

    /// Returns the index of a bot's server in `servers`, by the bot's number.
    pub(super) fn server_index(&self, number: u16) -> usize {
        usize::from(number) % self.servers.len().max(1)
    }

    /// Returns the protocol of a bot, by its number: each server gets every protocol.
    pub(super) fn protocol_of(&self, number: u16) -> BotProtocol {
        self.protocol.of_bot(usize::from(number) / self.servers.len().max(1))
    }

    /// Returns the server of a bot, by its number.
    #[must_use]
    pub fn server_of(&self, number: u16) -> SocketAddr {
        self.servers
            .get(self.server_index(number))
            .copied()
            .unwrap_or_else(|| ([127, 0, 0, 1], 27_960).into())
    }

    /// Returns why bots of a stage would never start: the ramp takes longer than the stage.
    ///
    /// Such bots would not be measured, and the test would pass without them.
    #[must_use]
    pub fn ramp_fault(&self) -> Option<String> {
        let mut before = 0;
        for (place, stage) in self.stages.iter().enumerate() {
            let joins = u64::from(stage.bots.saturating_sub(before));
            before = stage.bots;
            let starts = (stage.duration.0 * u64::from(self.joins_per_second)).div_ceil(1000);
            if starts >= joins {
                continue;
            }
            let (prefix, more) = match self.stages.len() {
                1 => (String::new(), ""),
                _ => (format!("stage {}: ", place + 1), " more"),
            };
            return Some(format!(
                "{prefix}--ramp {}/s starts {starts} of {joins}{more} bots in {} s (expected a faster ramp or a longer time)",
                self.joins_per_second,
                stage.duration.0 as f64 / 1000.0
            ));
        }
        None
    }

    /// Whether the bots are expected to enter the game.
    #[must_use]
    pub fn enters(&self) -> bool {
        !self.behavior.contains(Behavior::Mute)
    }

    /// Returns the conditions that select default expectations.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        let links = [self.uplink, self.downlink];
        let round_trip_ms = links.iter().map(|one| (one.latency.0 + one.jitter.0) as f64).sum();
        let loses = links.iter().any(|one| {
            one.loss.max(one.corruption).max(one.truncation).max(one.rate_bytes_per_sec) > 0
        });
        let interval_ms = self.snapshot_interval().0 as f64;
        Conditions { enters: self.enters(), round_trip_ms, loses, interval_ms }
    }

    /// Returns the largest bot count of all stages.
    #[must_use]
    pub fn most_bots(&self) -> u16 {
        let most = self.stages.iter().map(|stage| stage.bots).max();
        most.unwrap_or(1).clamp(1, MAX_BOTS)
    }

    /// Returns the interval of packets.
    #[must_use]
    pub fn packet_interval(&self) -> Millis {
        Millis(1000 / u64::from(self.packets_per_second.clamp(15, 125)))
    }

    /// Returns the requested interval between snapshots. A server of QuakeWorld answers each packet.
    #[must_use]
    pub fn snapshot_interval(&self) -> Millis {
        if self.protocol == BotProtocol::Fixed(GameProtocol::QuakeWorld) {
            return self.packet_interval();
        }
        Millis(1000 / u64::from(self.snaps.clamp(1, 1000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_ramp_is_a_fault_in_each_stage() {
        let fault = |stages: &str, joins_per_second| {
            let stages = stages.parse::<Stages>().unwrap().0;
            BotsOptions { stages, joins_per_second, ..BotsOptions::defaults() }.ramp_fault()
        };
        assert_eq!(
            fault("16:5s", 1).as_deref(),
            Some("--ramp 1/s starts 5 of 16 bots in 5 s (expected a faster ramp or a longer time)")
        );
        assert!(
            fault("4:5s,16:5s", 1).unwrap().starts_with("stage 2: --ramp 1/s starts 5 of 12 more")
        );
        // The last bot starts a second before the end, and at the end.
        assert_eq!(fault("5:5s", 1), None);
        assert!(fault("6:5s", 1).is_some());
        assert_eq!(fault("16:36s,32:36s,8:1s,40:40s", 1), None);
        assert!(fault("5:200ms", 20).is_some() && fault("4:200ms", 20).is_none());
    }

    #[test]
    fn stages_parse_and_display() {
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
