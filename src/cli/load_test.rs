//! Load test options, on the command line and in scenario files.
//!
//! A scenario file is a TOML table of the long options, with `_` for `-`. Each option is one row of [`LoadTest`]:
//! its argument and the field of [`bots::BotsOptions`] that it sets. A scenario becomes command-line arguments,
//! so both accept the same values. Invariant: the command line overrides the file, the file overrides the
//! defaults.

use std::{net::SocketAddr, str::FromStr};

use clap::{Args, FromArgMatches as _};
use toml::de::{DeTable, DeValue};

use super::bots::BotsOptions;
use super::info_text::{info_text, server_password};
use super::number::{ANY_U64, number};
use super::protocol_help::protocol_help;
use crate::{
    bots::{self, Behaviors, BotProtocol, Expectations, GameProtocol, MAX_BOTS, Stages},
    impairment::Impairment,
    model::{
        Millis,
        config_fault::{form_fault, line_of},
    },
};

/// Default number of bots.
const COUNT: u16 = 1;
/// Default jitter of packet times. Real clients are not synchronized.
const STAGGER: Millis = Millis(8);
/// Packets per second of QuakeWorld, and their default jitter.
const QUAKEWORLD_PACKETS: u32 = 50;
const QUAKEWORLD_STAGGER: Millis = Millis(4);
/// Longest jitter of packet times: the longest time between two packets.
const STAGGER_MAX: Millis = Millis(66);
/// Default duration.
const DURATION: Millis = Millis::seconds(30);

/// Field type of an option: `Option`, or `bool` for a switch.
trait Given {
    /// Value that the option sets.
    type Value;

    /// Returns `self` if the option was given, `other` if not.
    fn or_else(self, other: Self) -> Self;

    /// Returns the value if the option was given.
    fn given(self) -> Option<Self::Value>;
}

impl<T> Given for Option<T> {
    type Value = T;

    fn or_else(self, other: Self) -> Self {
        self.or(other)
    }

    fn given(self) -> Self {
        self
    }
}

impl Given for bool {
    type Value = Self;

    fn or_else(self, other: Self) -> Self {
        self || other
    }

    fn given(self) -> Option<Self> {
        self.then_some(true)
    }
}

/// Declares options, each with a function that sets its value, if given, in the options of the load test.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $set:expr,)+
        }
    ) => {
        $(#[$meta])*
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)+ }

        impl $name {
            /// Returns the options given here, and those of `other` that are not.
            fn or_else(self, other: Self) -> Self {
                Self { $($field: Given::or_else(self.$field, other.$field),)+ }
            }

            /// Applies the given options in order of declaration.
            fn apply(self, test: &mut bots::BotsOptions) {
                $(if let Some(value) = self.$field.given() {
                    let set: fn(&mut bots::BotsOptions, <$type as Given>::Value) = $set;
                    set(test, value);
                })+
            }
        }
    };
}

options! {
    /// Options of a load test.
    #[derive(Args, Clone, Debug, Default, PartialEq)]
    pub struct LoadTest {
        /// Number of bots [default: 1]
        #[arg(short = 'n', long = "bots", alias = "count", value_name = "N",
            value_parser = number::<u16>(1..=i128::from(MAX_BOTS)))]
        pub bots: Option<u16> =
            |test, bots| test.stages.iter_mut().for_each(|stage| stage.bots = bots),
        /// Duration, e.g. 60, 60s or 1m [default: 30]
        #[arg(long, alias = "duration", value_name = "S", value_parser = whole_seconds)]
        pub seconds: Option<u32> =
            |test, seconds| {
            let duration = Millis::seconds(seconds.into());
            test.stages.iter_mut().for_each(|stage| stage.duration = duration);
        },
        /// Stages instead of --bots and --seconds, e.g. 16:30s,32:30s,64:2m
        #[arg(long, value_name = "N:TIME,…", conflicts_with_all = ["bots", "seconds"])]
        pub stages: Option<Stages> =
            |test, Stages(stages)| test.stages = stages,
        /// Ramp-up in joins per second, e.g. 10 or 10/s [default: 20]
        #[arg(long, value_name = "N/s")]
        pub ramp: Option<PerSecond> =
            |test, PerSecond(ramp)| test.joins_per_second = ramp,
        /// Time at the beginning that is left out of all metrics but the joins, e.g. 10s [default: none]
        #[arg(long, value_name = "TIME")]
        pub warmup: Option<Duration> =
            |test, Duration(warmup)| test.warmup = warmup,
        /// Protocol.
        #[arg(long, alias = "wire", value_name = "PROTOCOL", help = protocol_help(
            "each (all in turn), quakeworld or auto, that of the server [default: auto]"))]
        pub protocol: Option<BotProtocol> =
            |test, protocol| test.protocol = protocol,
        /// Behavior
        #[arg(long = "do", value_name = "WORDS",
            help = format!("Behavior: {} [default: {}]", Behaviors::words(), Behaviors::PLAYER))]
        pub behavior: Option<Behaviors> =
            |test, behavior| test.behavior = behavior,
        /// Impair both directions: latency=40ms,jitter=10ms,loss=1%,dup=1%,reorder=1%,rate=8000 (bytes/s).
        /// jitter adds to latency and keeps the order; reorder is the share that skips both, and lets jitter
        /// change the order too
        #[arg(long, value_name = "IMPAIRMENT")]
        pub network: Option<Impairment> =
            |test, both| (test.uplink, test.downlink) = (both, both),
        /// Impair the client-to-server direction only
        #[arg(long, value_name = "IMPAIRMENT")]
        pub uplink: Option<Impairment> =
            |test, uplink| test.uplink = uplink,
        /// Impair the server-to-client direction only
        #[arg(long, value_name = "IMPAIRMENT")]
        pub downlink: Option<Impairment> =
            |test, downlink| test.downlink = downlink,
        /// Mean time between NAT rebindings per bot, e.g. 30s
        #[arg(long, value_name = "TIME")]
        pub rebind: Option<Duration> =
            |test, Duration(mean)| test.rebind = mean,
        /// Silence after which a server counts as lost, e.g. 30s; also the wait for a first reply
        /// [default: 10s]
        #[arg(long, value_name = "TIME")]
        pub timeout: Option<Duration> =
            |test, Duration(silence)| test.timeout = silence,
        /// Reconnect dropped bots
        #[arg(long)]
        pub reconnect: bool =
            |test, on| test.reconnects = on,
        /// Additional getinfo queries per second; quakeworld: status of the settings
        #[arg(long, value_name = "N", value_parser = number::<u32>(0..=100_000))]
        pub getinfo_per_second: Option<u32> =
            |test, rate| test.queries.info_per_second = rate,
        /// Additional getstatus queries per second; quakeworld: status
        #[arg(long, value_name = "N", value_parser = number::<u32>(0..=100_000))]
        pub getstatus_per_second: Option<u32> =
            |test, rate| test.queries.status_per_second = rate,
        /// Packets per second of each bot [default: 30; quakeworld: 50]
        #[arg(long, value_name = "N", value_parser = number::<u16>(15..=125))]
        pub packets_per_second: Option<u16> =
            |test, rate| test.packets_per_second = rate.into(),
        /// Jitter of the packet times of each bot, which keeps its own phase, e.g. 8ms; 0 for none
        /// [default: 8ms]
        #[arg(long, value_name = "TIME", value_parser = stagger)]
        pub stagger: Option<Millis> =
            |test, jitter| test.stagger = jitter,
        /// Client frames per second of each bot [default: 60]
        #[arg(long, value_name = "N", value_parser = number::<u16>(15..=250))]
        pub frames_per_second: Option<u16> =
            |test, rate| test.frames_per_second = rate.into(),
        /// Rate that each bot requests, in bytes per second [default: 25000]
        #[arg(long, value_name = "N", value_parser = number::<u32>(1000..=1_000_000))]
        pub rate: Option<u32> =
            |test, rate| test.rate_bytes_per_sec = rate,
        /// Snapshots per second that each bot requests [default: 20]
        #[arg(long, value_name = "N", value_parser = number::<u16>(1..=125))]
        pub snaps: Option<u16> =
            |test, snaps| test.snaps = snaps.into(),
        /// Fail unless all hold, e.g. snapshot_gap_p99<120ms,loss<1%,drops=0; metrics below
        #[arg(long, value_name = "LIMITS")]
        pub expect: Option<Expectations> =
            |test, limits| test.expectations = limits,
        /// Random seed [default: random]
        #[arg(long, value_name = "N", value_parser = number::<u64>(ANY_U64))]
        pub seed: Option<u64> =
            |test, seed| test.seed = seed,
        /// Prefix of bot names [default: bot]
        #[arg(long, value_name = "TEXT", value_parser = name_prefix)]
        pub name_prefix: Option<String> =
            |test, prefix| test.name_prefix = prefix,
        /// Password of the server
        #[arg(long, value_name = "TEXT", value_parser = server_password)]
        pub password: Option<String> =
            |test, password| test.password = password,
    }
}

impl LoadTest {
    /// Parses a scenario file.
    ///
    /// # Errors
    /// An error message with the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| {
            let (line, what) = form_fault(text, error.span(), error.message());
            format!("line {line}: {what}")
        })?;
        let mut command = Self::augment_args(clap::Command::new("scenario")).no_binary_name(true);
        let mut arguments = Vec::new();
        for (key, value) in table.get_ref() {
            let error = |what: String| format!("line {}: {what}", line_of(text, key.span().start));
            let Some(argument) =
                argument(&command, key.get_ref(), value.get_ref()).map_err(error)?
            else {
                continue;
            };
            command
                .try_get_matches_from_mut([&argument])
                .map_err(|refusal| error(first_line(&refusal)))?;
            arguments.push(argument);
        }
        let matches =
            command.try_get_matches_from(arguments).map_err(|error| first_line(&error))?;
        Self::from_arg_matches(&matches).map_err(|error| first_line(&error))
    }

    /// Returns these options, and those of the scenario `file` that are not given here.
    ///
    /// Expectations of both apply. A duration alone is that of each stage of the file; a bot count replaces them.
    #[must_use]
    pub fn merged_with(mut self, mut file: Self) -> Self {
        // Stages and a bot count with a duration exclude each other.
        if self.stages.is_some() {
            (file.bots, file.seconds) = (None, None);
        } else if self.bots.is_some() {
            file.stages = None;
        } else if let Some(Stages(stages)) = &mut file.stages
            && let Some(seconds) = self.seconds.take()
        {
            let duration = Millis::seconds(seconds.into());
            stages.iter_mut().for_each(|stage| stage.duration = duration);
        }
        if let (Some(own), Some(more)) = (&mut self.expect, &file.expect) {
            own.extend(more);
        }
        self.or_else(file)
    }

    /// Returns the load test against `servers`, at least one. `seed` is the default of `--seed`.
    #[must_use]
    pub fn build(self, servers: Vec<SocketAddr>, seed: u64) -> bots::BotsOptions {
        let mut test = bots::BotsOptions::to_all(servers, BotProtocol::Auto, COUNT, DURATION);
        (test.seed, test.stagger) = (seed, STAGGER);
        if self.protocol == Some(BotProtocol::Fixed(GameProtocol::QuakeWorld)) {
            (test.packets_per_second, test.stagger) = (QUAKEWORLD_PACKETS, QUAKEWORLD_STAGGER);
        }
        self.apply(&mut test);
        test
    }
}

/// Returns the command-line argument of a scenario entry; `None` for a switch that is off.
fn argument(
    command: &clap::Command,
    key: &str,
    value: &DeValue<'_>,
) -> Result<Option<String>, String> {
    let long = key.replace('_', "-");
    let option = command.get_arguments().find(|option| {
        option.get_long() == Some(&long)
            || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&long.as_str()))
    });
    let Some(option) = option.filter(|_| !key.contains('-')) else {
        return Err(unknown_option(command, key));
    };
    let is_switch = !option.get_action().takes_values();
    let text = match value {
        DeValue::Boolean(on) if is_switch => return Ok(on.then(|| format!("--{long}"))),
        DeValue::String(text) if !is_switch => text.to_string(),
        DeValue::Integer(number) if !is_switch => number.to_string(),
        _ if is_switch => return Err(format!("{key}: invalid value (expected true or false)")),
        _ => {
            let kind = value.type_str();
            return Err(format!(
                "{key}: invalid type {kind} (expected text in quotes, or an integer)"
            ));
        }
    };
    Ok(Some(format!("--{long}={text}")))
}

/// Returns why a key is not an option of scenario files, and where it belongs or what is right.
fn unknown_option(command: &clap::Command, key: &str) -> String {
    let long = key.replace('_', "-");
    let known = |command: &clap::Command| {
        command.get_arguments().find(|option| option.get_long() == Some(&long)).cloned()
    };
    if known(command).is_some() {
        return format!("unknown option '{key}' (expected '{}')", key.replace('-', "_"));
    }
    if let Some(option) = known(&BotsOptions::augment_args(clap::Command::new("bots"))) {
        let values = option.get_value_names().unwrap_or_default();
        let value = values.first().filter(|_| option.get_action().takes_values());
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        return format!(
            "option '{key}' not allowed in a scenario file (expected on the command line: fragd bots --{long}{value})"
        );
    }
    let names = command.get_arguments().filter_map(clap::Arg::get_long);
    let names: Vec<_> = names.map(|name| name.replace('-', "_")).collect();
    format!(
        "unknown option '{}' (expected one of {})",
        crate::model::text::truncated(key, 64),
        names.join(", ")
    )
}

/// Returns the first line of an error, without usage hints.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Events per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerSecond(pub u32);

impl FromStr for PerSecond {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix("/s").unwrap_or(text).trim().parse().ok();
        let number = number.filter(|number| (1..=1000).contains(number));
        number.map(Self).ok_or_else(|| "expected 1 to 1000 per second, e.g. 10 or 10/s".to_owned())
    }
}

/// Duration of the command line, e.g. `30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duration(pub Millis);

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        bots::duration(text)
            .map(Self)
            .ok_or_else(|| "expected a duration, e.g. 500ms, 30s or 2m".to_owned())
    }
}

/// Parses a duration in whole seconds, e.g. `60`, `60s` or `1m`.
fn whole_seconds(text: &str) -> Result<u32, String> {
    let whole = bots::duration(text).filter(|time| time.0.is_multiple_of(1000));
    let seconds = whole.and_then(|time| u32::try_from(time.0 / 1000).ok());
    seconds.ok_or_else(|| "expected 1 to 86400 seconds, e.g. 60, 60s or 1m".to_owned())
}

/// Parses a jitter of packet times; 0 for none.
fn stagger(text: &str) -> Result<Millis, String> {
    match text.trim() {
        "0" => Ok(Millis(0)),
        text => bots::duration(text)
            .filter(|&jitter| jitter <= STAGGER_MAX)
            .ok_or_else(|| format!("expected 0 to {STAGGER_MAX}, e.g. 8ms")),
    }
}

/// Parses a name prefix, which leaves room for a number in a player name.
fn name_prefix(text: &str) -> Result<String, String> {
    info_text(text, 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Vec<SocketAddr> {
        vec![([127, 0, 0, 1], 27_960).into()]
    }

    #[test]
    fn command_line_overrides_scenario() {
        let file = LoadTest::parse(
            "stages = \"16:30s,32:30s\"\nramp = 5\ndo = \"wander,chat\"\nnetwork = \"latency=40ms,loss=1%\"\n\
             expect = \"loss<2%\"\nrebind = \"30s\"\ngetinfo_per_second = 50\nreconnect = true\n",
        );
        let file = file.unwrap();
        let built = LoadTest::default().merged_with(file.clone()).build(server(), 7);
        assert_eq!((built.stages.len(), built.joins_per_second, built.seed), (2, 5, 7));
        assert_eq!((built.uplink.latency, built.downlink.loss), (Millis(40), 10));
        assert_eq!((built.rebind, built.queries.info_per_second), (Millis::seconds(30), 50));
        assert_eq!(built.behavior.to_string(), "wander,chat");
        assert!(built.reconnects);

        let line = LoadTest {
            bots: Some(3),
            seed: Some(1),
            expect: "drops=0".parse().ok(),
            ..LoadTest::default()
        };
        let built = line.merged_with(file).build(server(), 7);
        assert_eq!(built.stages, [bots::Stage { bots: 3, duration: DURATION }]);
        assert_eq!((built.seed, built.joins_per_second), (1, 5));
        assert_eq!(built.expectations, "drops=0,loss<2%".parse().unwrap());
    }

    #[test]
    fn duration_alone_shortens_the_stages_of_a_scenario() {
        let file = LoadTest::parse("stages = \"16:30s,32:30s\"").unwrap();
        let line = LoadTest { seconds: Some(4), ..LoadTest::default() };
        let built = line.merged_with(file).build(server(), 7);
        let stages: Vec<_> =
            built.stages.iter().map(|stage| (stage.bots, stage.duration)).collect();
        assert_eq!(stages, [(16, Millis::seconds(4)), (32, Millis::seconds(4))]);
    }

    #[test]
    fn scenario_errors_name_line_and_range() {
        for (text, line, because) in [
            ("bots = 0", "line 1: ", "1..=4096"),
            ("speed = 1", "line 1: ", "unknown option 'speed' (expected one of bots, seconds, "),
            ("bots = 4\nexpect = \"loss<\"", "line 2: ", "loss<"),
            ("stages = \"4:5s\"\nbots = 3", "", "cannot be used with"),
            ("network = \"latency=x\"", "line 1: ", "0 to 10000 ms"),
            ("\nramp = 0", "line 2: ", "1 to 1000"),
            ("name_prefix = \"a;b\"", "line 1: ", "printable"),
            ("password = \"a;b\"", "line 1: ", "printable"),
            ("packets-per-second = 20", "line 1: ", "(expected 'packets_per_second')"),
            (
                "bots = 2\nconnect = \"localhost\"",
                "line 2: option 'connect' not allowed in a scenario file",
                "(expected on the command line: fragd bots --connect HOST[:PORT])",
            ),
            ("pid = 17", "line 1: ", "(expected on the command line: fragd bots --pid PID)"),
            ("json = true", "line 1: ", "(expected on the command line: fragd bots --json)"),
            ("expect = \"\"", "line 1: ", "invalid expectation '' (expected METRIC<LIMIT"),
            ("reconnect = 1", "line 1: ", "true or false"),
            (
                "expect = [1]",
                "line 1: ",
                "expect: invalid type array (expected text in quotes, or an integer)",
            ),
            ("bots = 5\nbots = 6", "line 2: ", "duplicate key bots"),
            ("[bots", "line 1: ", ""),
        ] {
            let error = LoadTest::parse(text).unwrap_err();
            assert!(error.starts_with(line) && error.contains(because), "{text}: {error}");
            assert!(!error.contains('\n'), "{text}: {error}");
        }
        assert_eq!(LoadTest::parse("seconds = 60"), LoadTest::parse("seconds = \"1m\""));
        assert!(LoadTest::parse("seconds = \"1500ms\"").unwrap_err().contains("60s or 1m"));
        assert_eq!(LoadTest::parse("wire = 68"), LoadTest::parse("protocol = \"68\""));
    }
}
