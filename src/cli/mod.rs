//! Command line: subcommands and their options.
//!
//! [`parse`] turns arguments into a [`Command`]. [`ServeOptions::build`] turns the options of `serve` and a
//! config file into settings. The text of the file is an argument: no file is accessed here.
//! Invariant: any arguments are accepted, or rejected with an error message and an exit code.

mod address;
mod bind;
mod bots;
mod browse;
mod check;
mod console;
mod decoy;
mod demo;
mod demo_play;
mod game_data;
mod info_text;
mod load_test;
mod maps;
mod master;
mod master_config;
mod number;
mod plus_commands;
mod protocol_help;
mod proxy;
mod query;
mod qvm;
mod qw;
mod rcon;
mod relay;
mod replay;
mod secret;
mod serve;
mod settings;
mod sim;
mod trace;
mod trace_files;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

pub use address::ServerAddress;
pub use bind::BindAddresses;
pub use bots::ProcessIds;
pub use demo::{
    ConvertOptions, CutOptions, DemoDrawOptions, DemoEvents, DemoFiles, DemoInfo, DemoJson,
    DemoNames, DemoPosition, DemoRange, DemoTask, ExtractOptions,
};
pub use demo_play::PlayOptions;
pub use game_data::GameDataArguments;
pub use load_test::{Duration, LoadTest, PerSecond};
pub use maps::{BuildOptions, MapsCommand};
pub use master::MasterSettings;
pub use plus_commands::{PlusCommands, split};
pub use proxy::SessionNetworkChoice;
pub use qvm::{
    AsmOptions, CheckOptions, CompareOptions, DisasmOptions, EngineChoice, ModuleFile, QvmTask,
    RunOptions,
};
pub use relay::{RelayFrom, ViewerOptions};
pub use replay::AddressFilter;
pub use trace::ShownView;
pub use trace_files::TraceFiles;

use crate::settings::{Choice as _, GameFolder, SETTINGS, SettingKind};

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Success.
    Done = 0,
    /// Failure, or no reply to a query.
    Failed = 1,
    /// Invalid command line or config file.
    UsageError = 2,
    /// The server did not answer.
    NoAnswer = 3,
    /// The server rejected all bots.
    Refused = 4,
    /// The server dropped a bot, or stopped.
    Lost = 5,
    /// The server sent invalid messages.
    Unreadable = 6,
    /// The load generator was too late for reliable results.
    GeneratorLate = 7,
    /// A signal ended the run early.
    Interrupted = 8,
    /// A replay had no datagram to compare.
    NothingCompared = 9,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

const EXAMPLES: &str = "\
Examples:
  fragd                                        host OpenArena's oa_dm1 on UDP 27960
  fragd --config fragd.toml                    with settings from a file
  fragd +set sv_hostname \"My server\" +map oa_dm3
  fragd query 127.0.0.1                        query status and players
  fragd rcon 127.0.0.1 status                  run a command on a server
  fragd browse --master 127.0.0.1              list the servers of a master
  fragd bots --connect 127.0.0.1 -n 16 --seconds 30
  fragd maps oa_dm1 --draw oa_dm1.svg          draw a top view of a map
  fragd maps build arena.map                   compile a map from its source
  fragd master --allow-loopback                list the servers of this machine
  fragd settings sv_fps                        explain a setting
  fragd check fragd.toml server.cfg            check configuration files
  fragd serve --journal server.journal         record every server input to a journal
  fragd replay server.journal                  replay that run and compare every datagram
  fragd relay --from 127.0.0.1 --port 27970    show a server to hundreds of viewers
  fragd demo info match.dm_68                  show players and frags of a demo
  fragd sim --seed 7 --minutes 60              simulate a server and clients with faults
  fragd decoy --count 1000 --master 127.0.0.1  announce a thousand servers without games
  fragd trace server.pcapng --show net         show bytes and fields of captured messages
  fragd proxy --listen 27970 --to 127.0.0.1    decode and impair the traffic of clients
  fragd qvm check vm/qagame.qvm                verify a game module
  fragd qw --basedir /opt/quake --map dm6      host a QuakeWorld server on UDP 27500

Exit codes: 0 success, 1 failure or no reply, 2 usage or config error; others: --help of the subcommand.";

#[derive(Debug, Parser)]
#[command(
    name = "fragd",
    version = env!("FRAGD_VERSION"),
    about = "A headless Quake III Arena dedicated server, load tester and protocol toolbox",
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeOptions,
}

/// Declares the subcommands. A row is the help text, the module and the variant with its options.
macro_rules! subcommands {
    ($($(#[$help:meta])* $module:ident: $variant:ident($options:ident),)+) => {
        $(pub use $module::$options;)+

        /// Subcommand with its options.
        #[derive(Clone, Debug, PartialEq, Subcommand)]
        pub enum Command {
            $($(#[$help])* #[command(after_help = $module::EXAMPLES)] $variant($options),)+
        }
    };
}

subcommands! {
    /// Host a server (the default subcommand)
    serve: Serve(ServeOptions),
    /// Query a server's status and players
    query: Query(QueryOptions),
    /// Send commands to the remote console of a server
    rcon: Rcon(RconArguments),
    /// Attach to the console of a server of this machine
    console: Console(ConsoleOptions),
    /// List the servers of masters, a file or the local network
    browse: Browse(BrowseOptions),
    /// Load-test a server with simulated clients
    bots: Bots(BotsOptions),
    /// List installed maps, draw one, or build one from its source
    maps: Maps(MapsOptions),
    /// Host a master server: list game servers for clients
    master: Master(MasterArguments),
    /// Check config files and scripts without starting a server
    check: Check(ConfigCheckOptions),
    /// Hash a secret for the file of administrators (sv_admins)
    secret: Secret(SecretOptions),
    /// Explain settings, or print a config template
    settings: Settings(SettingsOptions),
    /// Show a server to hundreds of viewers
    relay: Relay(RelayOptions),
    /// Replay a recorded journal and compare every datagram sent
    replay: Replay(ReplayOptions),
    /// Read, check, cut and draw recorded demos
    demo: Demo(DemoOptions),
    /// Simulate a server and clients under seeded network faults
    sim: Sim(SimOptions),
    /// Answer queries as servers that exist only in discovery
    decoy: Decoy(DecoyOptions),
    /// Decode a packet capture: every datagram, message and field
    trace: Trace(TraceOptions),
    /// Proxy between clients and a server: decode, impair and capture traffic
    proxy: Proxy(ProxyArguments),
    /// Verify, assemble, list, run and compare game modules (QVM bytecode)
    qvm: Qvm(QvmOptions),
    /// Host a QuakeWorld server
    qw: Qw(QwOptions),
}

/// Parses the program's arguments, its own name first.
///
/// # Errors
/// Usage to print, including the text of `--help` and `--version`; see `error.exit_code()` and
/// `error.print()`.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let (flags, plus) = split(arguments.into_iter().collect());
    let mut program = program();
    let matches = program.try_get_matches_from_mut(flags)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    // QuakeWorld has other commands.
    if let Some(Command::Qw(options)) = cli.command {
        let checked = options.check_addresses();
        return match checked {
            Ok(()) => Ok(Command::Qw(options.with_plus(&plus))),
            Err(what) => {
                Err(clap::Error::raw(ErrorKind::ArgumentConflict, what).format(&mut program))
            }
        };
    }
    if let Some(what) = plus_commands::find_option(&plus, &serve_options(&program)) {
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what).format(&mut program));
    }
    let mut reject = |kind, what: String| Err(clap::Error::raw(kind, what).format(&mut program));
    let plus = match PlusCommands::read(&plus) {
        Ok(plus) => plus,
        Err(what) => return reject(ErrorKind::InvalidValue, what),
    };
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    if let Err(what) = command.check_addresses() {
        return reject(ErrorKind::ArgumentConflict, what);
    }
    match command {
        Command::Serve(serve) => Ok(Command::Serve(serve.with_plus(plus))),
        other if plus.is_empty() => Ok(other),
        _ => reject(ErrorKind::ArgumentConflict, "+ commands are for serve and qw only".to_owned()),
    }
}

impl Command {
    /// Checks repeated options that name an address to listen on.
    fn check_addresses(&self) -> Result<(), String> {
        match self {
            Self::Master(options) => BindAddresses::check("--bind", &options.bind),
            Self::Relay(options) => BindAddresses::check("--bind", &options.viewers.bind),
            Self::Decoy(options) => BindAddresses::check("--bind", &options.bind),
            Self::Demo(DemoOptions { task: DemoTask::Play(options) }) => {
                BindAddresses::check("--bind", &options.viewers.bind)
            }
            Self::Proxy(options) => options.listen_addresses().map(drop),
            _ => Ok(()),
        }
    }
}

/// Long names of the options of `serve`, the only subcommand with `+` commands.
fn serve_options(program: &clap::Command) -> Vec<String> {
    let serve = program.find_subcommand("serve").unwrap_or(program);
    let long = serve.get_arguments().filter_map(|argument| argument.get_long());
    long.chain(["help", "version"]).map(str::to_owned).collect()
}

/// The program's usage. The long help of `serve` lists all settings, that of `bots` all metrics.
fn program() -> clap::Command {
    let command = Cli::command();
    let command = command.mut_subcommand("bots", |bots| bots.after_help(bots::after_help()));
    command.mut_subcommand("serve", |serve| {
        let width = SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
        let settings: String = SETTINGS
            .iter()
            .map(|setting| {
                let help = wrapped(setting.help, HELP_COLUMNS - width - 4);
                let indent = format!("\n{:at$}", "", at = width + 4);
                format!("  {:width$}  {}\n", setting.name, help.join(&indent))
            })
            .collect();
        serve.after_long_help(format!(
            "{}\n\nSettings (details: fragd settings NAME):\n{settings}",
            serve::EXAMPLES
        ))
    })
}

/// Columns of a table in a help.
const HELP_COLUMNS: usize = 100;

/// Breaks a text between words into lines of at most `columns`.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().filter(|line| line.len() + 1 + word.len() <= columns);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Parses the name of a map or folder, without path separators.
fn folder_or_map(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if text.is_empty() || text.len() > 63 || text.contains("..") || !text.chars().all(legal) {
        return Err("expected 1 to 63 letters, digits, '.', '_' and '-'".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses a game folder.
fn game_folder(word: &str) -> Result<GameFolder, String> {
    GameFolder::named(word)
        .ok_or_else(|| format!("expected {}", SettingKind::Choice(GameFolder::NAMES)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::discovery::Family;

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

    /// Collects the long options of a command and its subcommands, with the command's name.
    fn long_options(command: &clap::Command, found: &mut Vec<(String, String)>) {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            if let Some(long) = argument.get_long() {
                found.push((command.get_name().to_owned(), format!("--{long}")));
            }
        }
        command.get_subcommands().for_each(|command| long_options(command, found));
    }

    #[test]
    fn every_option_is_named_in_the_docs() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let pages = std::fs::read_dir(folder.join("docs")).unwrap();
        let pages = pages.map(|page| page.unwrap().path()).chain([folder.join("README.md")]);
        let text: String = pages.filter_map(|page| std::fs::read_to_string(page).ok()).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let words: std::collections::BTreeSet<&str> = text.split(|c| !is_part(c)).collect();
        let mut options = Vec::new();
        long_options(&program(), &mut options);
        assert!(options.len() > 100, "{options:?}");
        // Examples have its short form.
        options.retain(|(_, option)| option != "--output" && !words.contains(option.as_str()));
        assert_eq!(options, [], "options that no page of docs names");
    }

    #[test]
    fn definitions_are_valid() {
        program().debug_assert();
    }

    #[test]
    fn serve_is_the_default_subcommand() {
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
    fn subcommands_parse_their_options() {
        let Ok(Command::Query(query)) = run("query dm.example.org:27961 --json --timeout 500")
        else {
            panic!("queries")
        };
        let server = query.server.as_ref().expect("a server");
        assert_eq!((server.port, query.timeout_ms, query.json), (27961, 500, true));
        assert_eq!(
            (query.port(server, Family::Quake3), query.port(server, Family::Quake4)),
            (Some(27961), Some(27961))
        );
        let Ok(Command::Query(query)) = run("query dm.example.org --game qw") else {
            panic!("queries")
        };
        let server = query.server.as_ref().expect("a server");
        assert_eq!(
            (query.port(server, Family::Quake3), query.port(server, Family::QuakeWorld)),
            (None, Some(27500))
        );
        let Ok(Command::Rcon(rcon)) = run("rcon --json dm.example.org say --json hello") else {
            panic!("asks")
        };
        assert_eq!((rcon.ports(), rcon.json), (vec![27960, 27500], true));
        assert_eq!(rcon.command, ["say", "--json", "hello"]);
        let Ok(Command::Rcon(rcon)) = run("rcon [::1]:27501 --game qw") else { panic!("asks") };
        assert_eq!((rcon.ports(), rcon.command.len()), (vec![27501], 0));
        let Ok(Command::Bots(bots)) =
            run("bots --connect [::1] -n 64 --seconds 5 --wire 68 --seed 7 --name-prefix probe")
        else {
            panic!("sends bots")
        };
        let test = &bots.test;
        assert_eq!((test.bots, test.seconds), (Some(64), Some(5)));
        assert_eq!(test.protocol, Some(crate::client::Protocol::Q3_68.into()));
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
    fn usage_errors_name_the_accepted_values() {
        refused("--port 70000", "70000");
        refused("serve --game quake2", "baseoa or baseq3");
        refused("query", "HOST[:PORT]");
        refused("rcon", "HOST[:PORT]");
        refused("rcon x --game q4", "q3, rtcw, et or qw");
        refused("query 127.0.0.1:0", "1 to 65535");
        refused("query 127.0.0.1 --pid 1", "cannot be used with");
        refused("query 127.0.0.1 --timeout 0", "1..=60000");
        refused("query 127.0.0.1 --game q2", "q3, rtcw, et, q4 or qw");
        refused("decoy --count 0", "1..=20000");
        for line in ["master", "relay --from x", "decoy", "demo play x.dm_68"] {
            assert!(run(&format!("{line} --bind 127.0.0.1 --bind ::1")).is_ok(), "{line}");
            refused(&format!("{line} --bind 127.0.0.1 --bind 127.0.0.2"), "two IPv4 addresses");
            refused(&format!("{line} --bind ::1 --bind ::1"), "two IPv6 addresses: ::1 and ::1");
        }
        refused("decoy --config x --count 5", "--count");
        let Ok(Command::Bots(bots)) = run("bots --connect a,[::1]:5 --pid 3,4") else {
            panic!("no bots")
        };
        let servers: Vec<_> =
            bots.connect.iter().map(|one| (one.host.as_str(), one.port)).collect();
        assert_eq!(servers, [("a", 27960), ("::1", 5)]);
        assert_eq!(bots.pid, [ProcessIds(vec![3, 4])]);
        for line in ["--pid 3 4 --json", "--pid 3, 4", "--pid 3 --pid 4"] {
            let Ok(Command::Bots(bots)) = run(&format!("bots --connect a {line}")) else {
                panic!("{line}")
            };
            assert_eq!(bots.pid, [ProcessIds(vec![3]), ProcessIds(vec![4])], "{line}");
        }
        assert_eq!("3 4".parse(), Ok(ProcessIds(vec![3, 4])));
        refused("bots --connect x --pid fragd", "expected process ids");
        refused("bots --connect x --pid 0", "expected process ids");
        refused("bots -n 4", "--connect");
        refused("bots --connect x -n 0", "1..=4096");
        refused("bots --connect x --expect loss<", "loss");
        refused("bots --connect x --do dance", "unknown behavior 'dance'");
        refused("bots --connect x --protocol 48", "68");
        refused("bots --connect x --name-prefix a;b", "printable");
        refused("bots --connect x --password a;b", "--password");
        refused("relay --from x --password a;b", "--password");
        refused("browse --game q9", "q3, rtcw, et, q4, qw or all");
        refused("browse --sort color", "ping, players, game");
        refused("browse --json --csv", "cannot be used with");
        refused("browse --outstanding 0", "1..=1024");
        refused("query 127.0.0.1 +map x", "+ commands are for serve and qw only");
        refused("relay", "--from");
        refused("relay --from x --delay 11m", "10m");
        refused("relay --from x --viewers 0", "1..=4096");
        refused("demo draw x.dm_68 -o x.bmp", ".svg or .png");
        refused("demo cut x.dm_68 --from 1:99 -o y.dm_68", "1:30");
        refused("frobnicate", "frobnicate");
        refused("+set sv_fps", "+set: missing value of sv_fps");
        refused("+set rconPassword hunter2 --journal j", "--journal is an option of fragd serve");
        refused("serve +map oa_dm1 --port=28000", "+map: --port is an option");
        refused("+say hi --prot 28000", "+say: --prot: did you mean the option --port?");
        refused("query 127.0.0.1 +set a --json", "+ commands are for serve and qw only");
    }

    #[test]
    fn help_shows_examples_and_settings() {
        for (line, part) in [
            ("--help", "fragd --config fragd.toml"),
            ("serve -h", "+say hello"),
            ("serve --help", "sv_hostname"),
            ("query --help", "--settings"),
            ("browse --help", "--favorites <FILE>"),
            ("rcon --help", "--password-file <FILE>"),
            ("console --help", "Ctrl-D leaves the console"),
            ("bots --help", "--packets-per-second"),
            ("settings --help", "fragd settings --toml"),
            ("master --help", "fragd master --config master.toml"),
            ("replay --help", "fragd replay server.journal --until 90s"),
            ("relay --help", "fragd relay --from 127.0.0.1 --port 27970 --delay 30s"),
            ("sim --help", "fragd sim --seed 7 --minutes 60"),
            ("decoy --help", "[[server]]"),
            ("demo --help", "fragd demo cut match.dm_68"),
            ("proxy --help", "--socks5-login <FILE>"),
        ] {
            let help = run(line).expect_err("help");
            assert_eq!(help.exit_code(), 0, "{line}");
            assert!(help.to_string().contains(part), "{line}: {help}");
        }
    }

    /// Prose of the help is one line per paragraph, since clap breaks it at the width of the terminal.
    #[test]
    fn prose_of_help_has_no_breaks_within_sentences() {
        let program = program();
        let mut open = vec![&program];
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')) {
                assert!(line.ends_with(['.', ':']), "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn settings_of_a_help_keep_their_columns() {
        let mut program = program();
        let serve = program.find_subcommand_mut("serve").expect("serve");
        let help = serve.render_long_help().to_string();
        let (_, settings) = help.split_once("fragd settings NAME):\n").expect("the settings");
        let lines: Vec<_> = settings.lines().filter(|line| !line.is_empty()).collect();
        assert!(lines.len() > SETTINGS.len() && lines.iter().all(|line| line.len() <= 100));
        let named = lines.iter().filter(|line| !line.starts_with("   "));
        assert_eq!(named.count(), SETTINGS.len());
    }

    #[test]
    fn options_behind_a_command_do_not_show_its_value() {
        let error = run("+set rconPassword hunter2 --jornal j").expect_err("an unknown option");
        let text = error.to_string();
        assert!(
            text.contains("+set rconPassword: --jornal: did you mean the option --journal?"),
            "{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
        let Ok(Command::Serve(quoted)) = run("+set g_motd \"--port\" +set x --=clan=--") else {
            panic!("values")
        };
        assert_eq!(quoted.plus.sets[0].2, "--port");
        assert_eq!(quoted.plus.sets[1].2, "--=clan=--");
    }

    proptest! {
        #[test]
        fn arguments_never_panic(words in proptest::collection::vec(
            "\\PC{0,12}|serve|query|bots|settings|--port|--config|--game|-n|\\+set|\\+map|\\+|sv_fps|20", 0..12,
        )) {
            let arguments = std::iter::once("fragd".to_owned()).chain(words).map(OsString::from);
            if let Ok(Command::Serve(options)) = parse(arguments) {
                let _ = options.build(None);
            }
        }
    }
}
