//! What a load test is asked, on the command line and in scenario files.
//!
//! Both say the same things in the same words: a scenario file is a TOML table of the long options, `_`
//! for `-`. Invariant: the command line wins over the file, the file over the defaults.

use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};

use clap::Args;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::ServerAddress;
use crate::{
    bots::{self, Behaviors, Expectations, MAX_BOTS, QueryFlood, Stage, Stages},
    client::ProtocolChoice,
    impairment::Impairment,
    model::Millis,
    settings::GameFolder,
};

/// Values that players use.
const COUNT: u16 = 1;
const DURATION: Millis = Millis::seconds(30);

/// What `bots` is asked.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct BotsOptions {
    /// Server to join, or several between commas: bots go to each in turn; the port is 27960 unless given
    #[arg(long, value_name = "HOST[:PORT]", required = true, value_delimiter = ',')]
    pub connect: Vec<ServerAddress>,
    /// File that says what to do, such as config/loadtests/smoke.toml; options here win over it
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// What to do.
    #[command(flatten)]
    pub test: LoadTest,
    /// Process number of the server, if it runs here: tells what it costs. Several between commas are
    /// added up
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub pid: Vec<u32>,
    /// Sum up as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write a line for each second into this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a page with charts into this file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Folders that hold the game's data, for bots that know their map; separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Whose data that is
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = super::serve::game_profile)]
    pub game: GameFolder,
}

/// What the bots are, do, suffer, and must find.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct LoadTest {
    /// How many bots [default: 1]
    #[arg(short = 'n', long = "bots", value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_BOTS)))]
    pub bots: Option<u16>,
    /// How long they stay [default: 30]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: Option<u32>,
    /// Numbers of bots, one after the other, instead of both: 16:30s,32:30s,64:2m
    #[arg(long, value_name = "N:TIME,…", conflicts_with_all = ["bots", "seconds"])]
    #[serde(deserialize_with = "text")]
    pub stages: Option<Stages>,
    /// Bots that begin to join in a second, as 10 or 10/s [default: 20]
    #[arg(long, value_name = "N/s")]
    #[serde(deserialize_with = "text")]
    pub ramp: Option<PerSecond>,
    /// Protocol: 68, compat (71 as OpenArena), native (71 as ioquake3), or auto, which finds out what the
    /// server speaks [default: auto]
    #[arg(long, value_name = "WIRE")]
    #[serde(deserialize_with = "text")]
    pub wire: Option<ProtocolChoice>,
    /// What they do: idle, wander, fight, chat, scores, spectate, storm, mute
    /// [default: wander,fight,scores]
    #[arg(long = "do", value_name = "WORDS")]
    #[serde(rename = "do", deserialize_with = "text")]
    pub behavior: Option<Behaviors>,
    /// What happens to datagrams both ways: latency=40ms,jitter=10ms,loss=1%,dup=1%,reorder=1%,
    /// rate=8000 (bytes a second). jitter is added to latency and keeps the order of datagrams; reorder is
    /// the share that skips both, and lets jitter change the order as well
    #[arg(long, value_name = "SHAPE")]
    #[serde(deserialize_with = "text")]
    pub network: Option<Impairment>,
    /// The same for the way to the server alone
    #[arg(long, value_name = "SHAPE")]
    #[serde(deserialize_with = "text")]
    pub uplink: Option<Impairment>,
    /// The same for the way back alone
    #[arg(long, value_name = "SHAPE")]
    #[serde(deserialize_with = "text")]
    pub downlink: Option<Impairment>,
    /// Mean time until a bot's router gives it another port, such as 30s
    #[arg(long, value_name = "TIME")]
    #[serde(deserialize_with = "text")]
    pub rebind: Option<Duration>,
    /// Silence after which the server counts as lost, such as 30s; so long is waited for a first answer
    /// too [default: 10s]
    #[arg(long, value_name = "TIME")]
    #[serde(deserialize_with = "text")]
    pub timeout: Option<Duration>,
    /// Bots that are thrown out come back
    #[arg(long)]
    pub reconnect: bool,
    /// getinfo queries beside the players, in a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub getinfo_per_second: Option<u32>,
    /// getstatus queries beside the players, in a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub getstatus_per_second: Option<u32>,
    /// Packets that each bot sends in a second [default: 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(15..=125))]
    pub packets_per_second: Option<u16>,
    /// Frames of each bot's game in a second [default: 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(15..=250))]
    pub frames_per_second: Option<u16>,
    /// Bytes a second that each bot asks for [default: 25000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=1_000_000))]
    pub rate: Option<u32>,
    /// Snapshots a second that each bot asks for [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=125))]
    pub snaps: Option<u16>,
    /// What has to hold, or the exit code is 1: snapshot_gap_p99<120ms,loss<1%,drops=0
    #[arg(long, value_name = "LIMITS")]
    #[serde(deserialize_with = "text")]
    pub expect: Option<Expectations>,
    /// Seed of all chance; without it every run is another
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What the bots' names begin with [default: bot]
    #[arg(long, value_name = "TEXT", value_parser = name_prefix)]
    pub name_prefix: Option<String>,
    /// The server's password
    #[arg(long, value_name = "TEXT")]
    pub password: Option<String>,
}

impl LoadTest {
    /// Reads a scenario file's text.
    ///
    /// # Errors
    /// A sentence with the line where it is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let test: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let in_range =
            |name: &str, value: Option<u64>, range: std::ops::RangeInclusive<u64>| match value
                .filter(|value| !range.contains(value))
            {
                Some(value) => {
                    Err(format!("{name} = {value}: takes {} to {}", range.start(), range.end()))
                }
                None => Ok(()),
            };
        let wide = |value: Option<u16>| value.map(u64::from);
        in_range("bots", wide(test.bots), 1..=u64::from(MAX_BOTS))?;
        in_range("seconds", test.seconds.map(u64::from), 1..=86_400)?;
        in_range("getinfo_per_second", test.getinfo_per_second.map(u64::from), 0..=100_000)?;
        in_range("getstatus_per_second", test.getstatus_per_second.map(u64::from), 0..=100_000)?;
        in_range("packets_per_second", wide(test.packets_per_second), 15..=125)?;
        in_range("frames_per_second", wide(test.frames_per_second), 15..=250)?;
        in_range("rate", test.rate.map(u64::from), 1000..=1_000_000)?;
        in_range("snaps", wide(test.snaps), 1..=125)?;
        if test.stages.is_some() && (test.bots.is_some() || test.seconds.is_some()) {
            return Err("stages stand instead of bots and seconds".to_owned());
        }
        if let Some(prefix) = &test.name_prefix {
            name_prefix(prefix).map_err(|what| format!("name_prefix: {what}"))?;
        }
        Ok(test)
    }

    /// What is said here, and what `other` says of all else.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        // Either way to say how many stands for both.
        let counts = self.bots.is_some() || self.seconds.is_some();
        let stages = self.stages.clone().or(if counts { None } else { other.stages });
        let (bots, seconds) = if self.stages.is_some() {
            (None, None)
        } else {
            (self.bots.or(other.bots), self.seconds.or(other.seconds))
        };
        let expect = match (self.expect, other.expect) {
            (Some(mut own), Some(others)) => {
                own.extend(&others);
                Some(own)
            }
            (own, others) => own.or(others),
        };
        Self {
            bots,
            seconds,
            stages,
            ramp: self.ramp.or(other.ramp),
            wire: self.wire.or(other.wire),
            behavior: self.behavior.or(other.behavior),
            network: self.network.or(other.network),
            uplink: self.uplink.or(other.uplink),
            downlink: self.downlink.or(other.downlink),
            rebind: self.rebind.or(other.rebind),
            timeout: self.timeout.or(other.timeout),
            reconnect: self.reconnect || other.reconnect,
            getinfo_per_second: self.getinfo_per_second.or(other.getinfo_per_second),
            getstatus_per_second: self.getstatus_per_second.or(other.getstatus_per_second),
            packets_per_second: self.packets_per_second.or(other.packets_per_second),
            frames_per_second: self.frames_per_second.or(other.frames_per_second),
            rate: self.rate.or(other.rate),
            snaps: self.snaps.or(other.snaps),
            expect,
            seed: self.seed.or(other.seed),
            name_prefix: self.name_prefix.or(other.name_prefix),
            password: self.password.or(other.password),
        }
    }

    /// The load test, against `servers`, at least one. `seed` is taken when none is said.
    #[must_use]
    pub fn build(self, servers: Vec<SocketAddr>, seed: u64) -> bots::BotsOptions {
        let duration = self.seconds.map_or(DURATION, |seconds| Millis::seconds(seconds.into()));
        let one = Stage { bots: self.bots.unwrap_or(COUNT), duration };
        let wire = self.wire.unwrap_or(ProtocolChoice::Auto);
        let usual = bots::BotsOptions::to_all(servers, wire, one.bots, duration);
        bots::BotsOptions {
            stages: self.stages.map_or_else(|| vec![one], |stages| stages.0),
            seed: self.seed.unwrap_or(seed),
            joins_per_second: self.ramp.map_or(usual.joins_per_second, |PerSecond(ramp)| ramp),
            packets_per_second: self.packets_per_second.map_or(usual.packets_per_second, u32::from),
            frames_per_second: self.frames_per_second.map_or(usual.frames_per_second, u32::from),
            rate_bytes_per_sec: self.rate.unwrap_or(usual.rate_bytes_per_sec),
            snaps: self.snaps.map_or(usual.snaps, u32::from),
            name_prefix: self.name_prefix.unwrap_or(usual.name_prefix),
            behavior: self.behavior.unwrap_or(usual.behavior),
            password: self.password.unwrap_or_default(),
            uplink: self.uplink.or(self.network).unwrap_or_default(),
            downlink: self.downlink.or(self.network).unwrap_or_default(),
            rebind: self.rebind.map_or(Millis(0), |Duration(time)| time),
            timeout: self.timeout.map_or(usual.timeout, |Duration(time)| time),
            reconnects: self.reconnect,
            queries: QueryFlood {
                info_per_second: self.getinfo_per_second.unwrap_or(0),
                status_per_second: self.getstatus_per_second.unwrap_or(0),
            },
            expectations: self.expect.unwrap_or_default(),
            servers: usual.servers,
            wire: usual.wire,
        }
    }
}

/// So many in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerSecond(pub u32);

impl FromStr for PerSecond {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix("/s").unwrap_or(text).trim().parse().ok();
        let number = number.filter(|number| (1..=1000).contains(number));
        number.map(Self).ok_or_else(|| "takes 1 to 1000 a second, as 10 or 10/s".to_owned())
    }
}

/// A time such as `30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duration(pub Millis);

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        bots::duration(text)
            .map(Self)
            .ok_or_else(|| "takes a time such as 500ms, 30s or 2m".to_owned())
    }
}

/// Reads a value from the text that the command line would take; a number stands for itself.
fn text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Text(String),
        Number(u64),
    }
    let value = match Value::deserialize(deserializer)? {
        Value::Text(text) => text,
        Value::Number(number) => number.to_string(),
    };
    value.parse().map(Some).map_err(D::Error::custom)
}

/// A prefix that leaves room for a number in a player's name.
fn name_prefix(text: &str) -> Result<String, String> {
    let legal = |c: char| matches!(c, ' '..='~') && !"\\\";%".contains(c);
    if text.is_empty() || text.len() > 24 || !text.chars().all(legal) {
        return Err("1 to 24 printable ASCII characters without \\, \", ; and %".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Vec<SocketAddr> {
        vec![([127, 0, 0, 1], 27_960).into()]
    }

    #[test]
    fn a_file_says_what_the_command_line_says_and_gives_way_to_it() {
        let file = LoadTest::parse(
            "stages = \"16:30s,32:30s\"\nramp = 5\ndo = \"wander,chat\"\nnetwork = \"latency=40ms,loss=1%\"\n\
             expect = \"loss<2%\"\nrebind = \"30s\"\ngetinfo_per_second = 50\n",
        );
        let file = file.unwrap();
        let built = LoadTest::default().or(file.clone()).build(server(), 7);
        assert_eq!((built.stages.len(), built.joins_per_second, built.seed), (2, 5, 7));
        assert_eq!((built.uplink.latency, built.downlink.loss), (Millis(40), 10));
        assert_eq!((built.rebind, built.queries.info_per_second), (Millis::seconds(30), 50));
        assert_eq!(built.behavior.to_string(), "wander,chat");

        let line = LoadTest {
            bots: Some(3),
            seed: Some(1),
            expect: "drops=0".parse().ok(),
            ..LoadTest::default()
        };
        let built = line.or(file).build(server(), 7);
        assert_eq!(built.stages, [Stage { bots: 3, duration: DURATION }]);
        assert_eq!((built.seed, built.joins_per_second), (1, 5));
        assert_eq!(built.expectations, "drops=0,loss<2%".parse().unwrap());
    }

    #[test]
    fn mistakes_in_a_file_are_named_with_their_place() {
        for (text, because) in [
            ("bots = 0", "bots = 0: takes 1 to 4096"),
            ("speed = 1", "unknown field `speed`"),
            ("bots = 4\nexpect = \"loss<\"", "line 2"),
            ("stages = \"4:5s\"\nbots = 3", "instead of"),
            ("network = \"latency=x\"", "0 to 10000 ms"),
            ("ramp = 0", "1 to 1000"),
            ("name_prefix = \"a;b\"", "printable"),
            ("[bots", "line 1"),
        ] {
            let error = LoadTest::parse(text).unwrap_err();
            assert!(error.contains(because), "{text}: {error}");
        }
    }
}
