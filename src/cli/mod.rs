//! The command line: what the program can be asked to do, and what a server is started with.
//!
//! [`parse`] turns arguments into a [`Command`]; [`ServeOptions::build`] turns a server's options and
//! its config file into settings. The text of the file is an argument: nothing here touches a file.
//! Invariant: whatever the arguments are, they are parsed or refused with a sentence and an exit code.

mod address;
mod bots;
mod plus;
mod replay;
mod serve;
mod sim;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

pub use address::ServerAddress;
pub use bots::{BotsOptions, Duration, LoadTest, PerSecond};
pub use plus::{PlusCommands, split};
pub use replay::ReplayOptions;
pub use serve::ServeOptions;
pub use sim::SimOptions;

use crate::settings::{GameFolder, SETTINGS};

/// How a run of the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked for was done.
    Done = 0,
    /// It failed, or nobody answered.
    Failed = 1,
    /// The command line or the config file is wrong.
    Misused = 2,
    /// The server did not answer.
    NoAnswer = 3,
    /// The server let nobody in, and said why.
    Refused = 4,
    /// The server threw somebody out, or went away.
    Lost = 5,
    /// The server sent what cannot be read.
    Unreadable = 6,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}

/// What the program is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Host a server.
    Serve(ServeOptions),
    /// Ask a server what it plays.
    Query(QueryOptions),
    /// Send bots to a server.
    Bots(Box<BotsOptions>),
    /// List the maps that are installed, or draw one.
    Maps(MapsOptions),
    /// Explain the settings.
    Settings(SettingsOptions),
    /// Live through a journal again.
    Replay(ReplayOptions),
    /// Let a server and players live through bad weather.
    Sim(SimOptions),
}

const EXAMPLES: &str = "\
Examples:
  fragd                                        host OpenArena's oa_dm1 on UDP 27960
  fragd --config fragd.toml                    with the settings of a file
  fragd +set sv_hostname \"My server\" +map oa_dm3
  fragd query 127.0.0.1                        ask a server what it plays
  fragd bots --connect 127.0.0.1 -n 16 --seconds 30
  fragd maps oa_dm1 --draw oa_dm1.svg          draw a map from above
  fragd settings sv_fps                        explain a setting
  fragd serve --journal server.journal         write down all that the server is told
  fragd replay server.journal                  have that run again, bit for bit
  fragd sim --seed 7 --minutes 60              a server and players in bad weather

Exit codes: 0 done, 1 failed or no answer, 2 wrong command line or config file.";

const SERVE_EXAMPLES: &str = "\
Examples:
  fragd serve --config fragd.toml
  fragd serve --port 27961 --map oa_dm3
  fragd serve --game baseq3 --map q3dm6
  fragd serve --map oa_dm1 --journal /var/lib/fragd/server.journal
  fragd serve +set dedicated 2 +set sv_hostname \"My server\" +map oa_dm1 +say hello

From the first word that begins with + on, the line holds console commands as other servers of the
family take them. +set, +seta, +sets and +setu change settings and win over the file; +map names the
first map; all others run in order once the server is up.";

const QUERY_EXAMPLES: &str = "\
Examples:
  fragd query 127.0.0.1
  fragd query dm.example.org:27961 --settings
  fragd query [::1]:27960 --json --timeout 500";

const BOTS_EXAMPLES: &str = "\
Examples:
  one bot for half a minute, with lines about how it goes
    fragd bots --connect 127.0.0.1
  64 players, a page with charts, and what the server's process costs
    fragd bots --connect 127.0.0.1 -n 64 --seconds 60 --report report.html --pid $(pidof fragd)
  how many does it hold? The first stage that is not as expected is the last
    fragd bots --connect 127.0.0.1 --stages 16:30s,32:30s,64:30s \\
      --expect 'snapshot_gap_p99<120ms,drops=0'
  players on bad lines, whose routers change ports
    fragd bots --connect 127.0.0.1 -n 16 --network latency=80ms,jitter=20ms,loss=2% --rebind 30s
  ioquake3's server, which answers ten handshakes of an address at once and then few
    fragd bots --connect 127.0.0.1 -n 32 --ramp 5/s
  the same run each time, for a machine
    fragd bots --connect [::1] -n 8 --seed 42 --json --csv seconds.csv
  all servers of one machine at once
    fragd bots --connect 127.0.0.1,127.0.0.1:27961 -n 128
  a file that says what to do
    fragd bots --connect 127.0.0.1 --scenario config/loadtests/smoke.toml

Figures for --expect:
  bots in_game refused drops faults walked_per_second scored snapshots_per_second
  join_p50 join_p99 join_max snapshot_gap_p50 snapshot_gap_p90 snapshot_gap_p99 snapshot_gap_max
  jitter_p99 ping_p50 ping_p99 command_p99 (ms)   loss late rate_delayed delta (%)
  bytes_per_snapshot bytes_in_per_second   cpu_per_client_second (ms) memory (MB), with --pid
That everybody gets in, nobody is dropped and nothing is unreadable is expected unless in_game or
refused, drops, or faults are named.

Exit codes: 0 all as expected, 1 not as expected, 2 wrong command line or scenario, 3 no answer,
4 refused, 5 thrown out or lost, 6 the server sent what cannot be read.";

const MAPS_EXAMPLES: &str = "\
Examples:
  fragd maps                                   all maps that are installed
  fragd maps oa_dm1 --json                     one of them
  fragd maps oa_dm1 --draw oa_dm1.png          from above, with spawn points and items
  fragd maps oa_dm1 --draw oa_dm1.svg --clusters
  fragd maps --basepath \"/srv/quake3:/home/me/.q3a\" --game baseq3

Without --basepath, data is looked for where FRAGD_BASEPATH says, else in the usual places.
Exit codes: 0 all sound, 1 nothing found or a map is not sound, 2 wrong command line.";

const SETTINGS_EXAMPLES: &str = "\
Examples:
  fragd settings                               all, with values, ranges and defaults
  fragd settings sv_maxRate                    one of them
  fragd settings --json --game baseq3
  fragd settings --toml >fragd.toml            a config file to start from";

#[derive(Debug, Parser)]
#[command(
    name = "fragd",
    version,
    about = "A headless Quake III Arena dedicated server, load tester and protocol toolbox",
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    serve: ServeOptions,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Host a server (also without a subcommand)
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeOptions),
    /// Ask a server what it plays and who is there
    #[command(after_help = QUERY_EXAMPLES)]
    Query(QueryOptions),
    /// Send bots to a server, measure, and sum up
    #[command(after_help = BOTS_EXAMPLES)]
    Bots(Box<BotsOptions>),
    /// List the maps that are installed, or draw one
    #[command(after_help = MAPS_EXAMPLES)]
    Maps(MapsOptions),
    /// Explain the settings
    #[command(after_help = SETTINGS_EXAMPLES)]
    Settings(SettingsOptions),
    /// Live through a server's journal again, and compare all that it sends
    #[command(after_help = replay::EXAMPLES)]
    Replay(ReplayOptions),
    /// Let a server and players live through seeded faults in virtual time
    #[command(after_help = sim::EXAMPLES)]
    Sim(SimOptions),
}

/// What `query` is asked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct QueryOptions {
    /// Server to ask; the port is 27960 unless given
    #[arg(value_name = "HOST[:PORT]")]
    pub server: ServerAddress,
    /// Answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Milliseconds to wait for an answer
    #[arg(long = "timeout", value_name = "MS", default_value_t = 2000,
        value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub timeout_ms: u32,
    /// List every setting too
    #[arg(long)]
    pub settings: bool,
}

/// What `maps` is asked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct MapsOptions {
    /// Map to look at; all without it
    #[arg(value_name = "NAME", value_parser = folder_or_map)]
    pub name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the map from above into this file, .svg or .png
    #[arg(long, value_name = "FILE", requires = "name", value_parser = picture_file)]
    pub draw: Option<PathBuf>,
    /// Tint the drawing by the clusters that see the same
    #[arg(long, requires = "draw")]
    pub clusters: bool,
    /// Longer side of the drawing, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, requires = "draw",
        value_parser = clap::value_parser!(u16).range(200..=3000))]
    pub size: u16,
    /// Folders that hold the game's data folder, separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Folder of a mod, searched before the game's own
    #[arg(long = "mod", value_name = "FOLDER", value_parser = folder_or_map)]
    pub mod_folder: Option<String>,
    /// Whose maps
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = serve::game_profile)]
    pub game: GameFolder,
}

/// What `settings` is asked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct SettingsOptions {
    /// Setting to explain; all without it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// As a config file, every setting at its default
    #[arg(long, conflicts_with_all = ["json", "name", "game"])]
    pub toml: bool,
    /// Defaults of this game
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = serve::game_profile)]
    pub game: GameFolder,
}

/// Reads the program's arguments, its own name first.
///
/// # Errors
/// Usage to show, which includes what `--help` and `--version` ask for; `error.exit_code()` and
/// `error.print()` say the rest.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let (flags, plus) = split(arguments.into_iter().collect());
    let mut program = program();
    let matches = program.try_get_matches_from_mut(flags)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    let refuse = |program: &mut clap::Command, kind, what: String| {
        Err(clap::Error::raw(kind, what).format(program))
    };
    let plus = match PlusCommands::read(&plus) {
        Ok(plus) => plus,
        Err(what) => return refuse(&mut program, ErrorKind::InvalidValue, what),
    };
    let command = match cli.role {
        None => Command::Serve(cli.serve.with_plus(plus)),
        Some(Role::Serve(serve)) => Command::Serve(serve.with_plus(plus)),
        Some(_) if !plus.is_empty() => {
            let what = "only a server takes commands that begin with +".to_owned();
            return refuse(&mut program, ErrorKind::ArgumentConflict, what);
        }
        Some(Role::Query(query)) => Command::Query(query),
        Some(Role::Bots(bots)) => Command::Bots(bots),
        Some(Role::Maps(maps)) => Command::Maps(maps),
        Some(Role::Settings(settings)) => Command::Settings(settings),
        Some(Role::Replay(replay)) => Command::Replay(replay),
        Some(Role::Sim(sim)) => Command::Sim(sim),
    };
    Ok(command)
}

/// The program's usage. The long help of `serve` lists the settings from their table.
fn program() -> clap::Command {
    Cli::command().mut_subcommand("serve", |serve| {
        let width = SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
        let settings: String = SETTINGS
            .iter()
            .map(|setting| format!("  {:width$}  {}\n", setting.name, setting.help))
            .collect();
        serve.after_long_help(format!(
            "{SERVE_EXAMPLES}\n\nSettings (more of each: fragd settings NAME):\n{settings}"
        ))
    })
}

/// The name of a map or a folder: nothing that leads elsewhere.
fn folder_or_map(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if text.is_empty() || text.len() > 63 || text.contains("..") || !text.chars().all(legal) {
        return Err("a name has 1 to 63 letters, digits, ., _ and -".to_owned());
    }
    Ok(text.to_owned())
}

/// A file whose name says what kind of picture it is.
fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("svg" | "png") => Ok(path),
        _ => Err("a picture is a .svg or a .png".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(line: &str) -> Result<Command, clap::Error> {
        parse(std::iter::once("fragd").chain(line.split_whitespace()).map(OsString::from))
    }

    #[track_caller]
    fn refused(line: &str, because: &str) {
        let error = run(line).expect_err("refused");
        assert_eq!(error.exit_code(), 2, "{line}");
        let text = error.to_string();
        assert!(text.contains(because), "{line}: {text}");
    }

    #[test]
    fn the_definitions_are_sound() {
        program().debug_assert();
    }

    #[test]
    fn no_subcommand_serves() {
        let Ok(Command::Serve(plain)) = run("") else { panic!("serves") };
        assert_eq!(plain, ServeOptions::default());
        let Ok(Command::Serve(bare)) = run("--port 28000 +map oa_dm3") else { panic!("serves") };
        let Ok(Command::Serve(named)) = run("serve --port 28000 +map oa_dm3") else {
            panic!("serves")
        };
        assert_eq!(bare, named);
        assert_eq!(bare.port, Some(28000));
    }

    #[test]
    fn roles_take_their_options() {
        let Ok(Command::Query(query)) = run("query dm.example.org:27961 --json --timeout 500")
        else {
            panic!("queries")
        };
        assert_eq!((query.server.port, query.timeout_ms, query.json), (27961, 500, true));
        let Ok(Command::Bots(bots)) =
            run("bots --connect [::1] -n 64 --seconds 5 --wire 68 --seed 7 --name-prefix probe")
        else {
            panic!("sends bots")
        };
        let test = &bots.test;
        assert_eq!((test.bots, test.seconds), (Some(64), Some(5)));
        assert_eq!(test.wire, Some(crate::client::Protocol::Q3_68.into()));
        assert_eq!((test.seed, test.name_prefix.as_deref()), (Some(7), Some("probe")));
        let [server] = bots.connect.as_slice() else { panic!("{:?}", bots.connect) };
        assert_eq!((server.host.as_str(), server.port), ("::1", 27960));
        let Ok(Command::Settings(settings)) = run("settings sv_fps --game baseq3 --json") else {
            panic!("explains")
        };
        assert_eq!(settings.name.as_deref(), Some("sv_fps"));
        assert_eq!(settings.game, GameFolder::BaseQ3);
    }

    #[test]
    fn misuse_is_refused_with_a_sentence() {
        refused("--port 70000", "70000");
        refused("serve --game quake2", "baseoa or baseq3");
        refused("query", "HOST[:PORT]");
        refused("query 127.0.0.1:0", "1 to 65535");
        refused("query 127.0.0.1 --timeout 0", "1..=60000");
        let Ok(Command::Bots(bots)) = run("bots --connect a,[::1]:5 --pid 3,4") else {
            panic!("no bots")
        };
        let servers: Vec<_> =
            bots.connect.iter().map(|one| (one.host.as_str(), one.port)).collect();
        assert_eq!((servers, bots.pid), (vec![("a", 27960), ("::1", 5)], vec![3, 4]));
        refused("bots -n 4", "--connect");
        refused("bots --connect x -n 0", "1..=4096");
        refused("bots --connect x --expect loss<", "loss");
        refused("bots --connect x --do dance", "unknown behavior 'dance'");
        refused("bots --connect x --wire 66", "68");
        refused("bots --connect x --name-prefix a;b", "printable");
        refused("query 127.0.0.1 +map x", "only a server takes commands that begin with +");
        refused("frobnicate", "frobnicate");
        refused("+set sv_fps", "+set takes a name and a value");
    }

    #[test]
    fn help_shows_examples_and_settings() {
        for (line, part) in [
            ("--help", "fragd --config fragd.toml"),
            ("serve -h", "+say hello"),
            ("serve --help", "sv_hostname"),
            ("query --help", "--settings"),
            ("bots --help", "--packets-per-second"),
            ("settings --help", "fragd settings --toml"),
            ("replay --help", "fragd replay server.journal --until 90s"),
            ("sim --help", "fragd sim --seed 7 --minutes 60"),
        ] {
            let help = run(line).expect_err("help");
            assert_eq!(help.exit_code(), 0, "{line}");
            assert!(help.to_string().contains(part), "{line}: {help}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(words in proptest::collection::vec(
            "\\PC{0,12}|serve|query|bots|settings|--port|--config|--game|-n|\\+set|\\+map|\\+|sv_fps|20", 0..12,
        )) {
            let arguments = std::iter::once("fragd".to_owned()).chain(words).map(OsString::from);
            if let Ok(Command::Serve(options)) = parse(arguments) {
                let _ = options.build(None);
            }
        }
    }
}
