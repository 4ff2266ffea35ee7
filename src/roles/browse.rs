//! Browser role (`fragd browse`).

use std::net::SocketAddr;

use fragd::{
    browser::{
        Browser, BrowserOptions, Filter, Master, MasterOptions, PrintedBrowser, Question,
        ReportFormat, favorites,
        report::{self, Selection},
        view::{LineStyle, LiveBrowser},
    },
    cli::{BrowseOptions, ExitStatus},
    discovery::{Family, Game},
    io::{
        self, Clock, Console, ConsoleOutput, Listen, Options, Progress, Signals, Sockets,
        lan::{LAN_GROUP, broadcast_addresses},
        logging,
        terminal::{Keys, Style, Terminal},
    },
    model::Millis,
};

use super::output::Output;

/// Interval between two drawings of the live table.
const DRAW_INTERVAL: Millis = Millis(50);
/// Time between two rounds of a live table without `--watch`: it waits for a key.
const ON_REQUEST: Millis = Millis::NEVER;
/// Protocol of OpenArena and of servers without the older one.
const PROTOCOL_71: i32 = 71;
/// Public master that lists OpenArena's servers beside Quake III Arena's.
const OPENARENA_MASTER: &str = "dpmaster.deathmask.net";

/// Failure with its exit status.
struct Refusal(String, ExitStatus);

/// Lists servers and prints or shows them.
pub(crate) fn run(options: &BrowseOptions) -> ExitStatus {
    match browse(options) {
        Ok(status) => status,
        Err(Refusal(what, status)) => {
            eprintln!("fragd: {what}");
            status
        }
    }
}

fn browse(options: &BrowseOptions) -> Result<ExitStatus, Refusal> {
    let failed = |what: String| Refusal(what, ExitStatus::Failed);
    let format = match options {
        BrowseOptions { json: true, .. } => Some(ReportFormat::Json),
        BrowseOptions { csv: true, .. } => Some(ReportFormat::Csv),
        BrowseOptions { plain: true, .. } => Some(ReportFormat::Plain),
        _ if !Terminal::is_available() => Some(ReportFormat::Plain),
        _ => None,
    };
    // A log line would land in the middle of the live table, which shows silent masters itself.
    let level = if format.is_some() { log::LevelFilter::Warn } else { log::LevelFilter::Off };
    logging::init(level);
    let signals =
        Signals::install().map_err(|error| failed(format!("signals not available: {error}")))?;
    let (asked, sockets) = prepare(options)?;
    let clock = Clock::start();
    let selection = Selection {
        filter: Filter::parse(&options.filter),
        order: options.sort,
        silent: options.all,
    };
    let status = match format {
        Some(format) => {
            let browser = Browser::new(asked, clock.now());
            let watch = options.watch.is_some();
            let mut browser = PrintedBrowser::new(browser, format, selection, watch);
            let mut output = Output::new();
            let run_options = Options {
                signals: Some(signals),
                output: ConsoleOutput::Writer(Box::new(&mut output)),
                ..Options::default()
            };
            io::run(&mut browser, sockets, &clock, run_options)
                .map_err(|error| failed(format!("event loop failed: {error}")))?;
            let answered = is_answered(browser.browser());
            output.end(if answered { ExitStatus::Done } else { ExitStatus::Failed })
        }
        None => {
            let asked = BrowserOptions { watch: asked.watch.or(Some(ON_REQUEST)), ..asked };
            let browser = Browser::new(asked, clock.now());
            let browser = LiveBrowser::new(browser, selection, &options.filter);
            let answered = show(browser, sockets, signals, &clock)
                .map_err(|error| failed(format!("terminal failed: {error}; try --plain")))?;
            if answered { ExitStatus::Done } else { ExitStatus::Failed }
        }
    };
    Ok(status)
}

/// Whether a server answered, or a master sent all lists that it was asked for.
fn is_answered(browser: &Browser) -> bool {
    let masters = browser.masters().iter().any(Master::is_whole);
    masters || report::counts(browser).0 > 0
}

/// Shows the live table until the operator quits. Returns whether a master or server answered.
fn show(
    mut browser: LiveBrowser,
    sockets: Sockets,
    signals: Signals,
    clock: &Clock,
) -> std::io::Result<bool> {
    let mut terminal = Terminal::open()?;
    let run_options = Options {
        signals: Some(signals),
        console: Console::Reader(Box::new(Keys::default())),
        output: ConsoleOutput::Writer(Box::new(std::io::sink())),
        progress: Some(Progress {
            first: DRAW_INTERVAL,
            interval: DRAW_INTERVAL,
            call: Box::new(move |browser: &LiveBrowser, _, _: &_| {
                let (width, height) = terminal.size();
                let lines = browser.screen(usize::from(width), usize::from(height));
                let style = |style| match style {
                    LineStyle::Plain => Style::Plain,
                    LineStyle::Dim => Style::Dim,
                    LineStyle::Head => Style::Bold,
                    LineStyle::Selected => Style::Reverse,
                };
                let lines = lines.into_iter().map(|line| (style(line.style), line.text)).collect();
                // A terminal that is gone ends the program by its signal.
                let _ = terminal.draw(lines);
            }),
        }),
        ..Options::default()
    };
    io::run(&mut browser, sockets, clock, run_options)?;
    Ok(is_answered(browser.browser()))
}

/// Resolves addresses and opens the port.
fn prepare(options: &BrowseOptions) -> Result<(BrowserOptions, Sockets), Refusal> {
    let failed = |what: String| Refusal(what, ExitStatus::Failed);
    let games = options.games();
    let entropy = io::random_bytes()
        .map_err(|error| failed(format!("random numbers not available: {error}")))?;
    let favorites = match &options.favorites {
        Some(path) => favorites_of(path, games[0])?,
        None => Vec::new(),
    };
    let only_local = options.lan || options.favorites.is_some();
    let masters = masters_of(options, &games, only_local);
    let lan = if options.lan { lan_targets(&games) } else { Vec::new() };
    if masters.is_empty() && favorites.is_empty() && lan.is_empty() {
        let what = "no address to ask; name a master with --master, or scan with --lan";
        return Err(failed(what.to_owned()));
    }
    let sockets = Sockets::listen(&[Listen { port: 0, ..Listen::default() }])
        .map_err(|error| failed(error.to_string()))?;
    if options.lan {
        sockets
            .allow_broadcast()
            .map_err(|error| failed(format!("broadcast not permitted: {error}")))?;
    }
    let asked = BrowserOptions {
        masters,
        favorites,
        lan,
        outstanding: usize::from(options.outstanding),
        timeout: Millis(u64::from(options.timeout_ms)),
        retries: usize::from(options.retries),
        players: options.players,
        max_servers: options.max_servers as usize,
        round_limit: Millis::seconds(u64::from(options.limit)),
        watch: options.watch.map(|seconds| Millis::seconds(u64::from(seconds))),
        ..BrowserOptions::new(u64::from_le_bytes(entropy))
    };
    Ok((asked, sockets))
}

/// Returns the masters to ask: the named ones, or the public ones of each game. One address is one master.
fn masters_of(
    options: &BrowseOptions,
    games: &[&'static Game],
    only_local: bool,
) -> Vec<MasterOptions> {
    let mut masters: Vec<MasterOptions> = Vec::new();
    for game in games {
        let mut hosts: Vec<&str> = options.masters.iter().map(String::as_str).collect();
        if hosts.is_empty() && !only_local {
            hosts.push(game.master_host);
            if game.word == "q3" {
                hosts.push(OPENARENA_MASTER);
            }
        }
        for host in hosts {
            let address = match io::resolve(host, game.master_port) {
                Ok(address) => address,
                Err(error) => {
                    log::warn!("master {host} skipped: {error}");
                    continue;
                }
            };
            let questions = questions(options, game, address.is_ipv6());
            match masters.iter_mut().find(|master| master.address == address) {
                Some(master) => {
                    let new = |question: &Question| !master.questions.contains(question);
                    let new: Vec<_> = questions.into_iter().filter(new).collect();
                    master.questions.extend(new);
                }
                None => {
                    masters.push(MasterOptions { label: host.to_owned(), address, questions });
                }
            }
        }
    }
    masters
}

/// Returns the questions to a master of `game`.
fn questions(options: &BrowseOptions, game: &'static Game, over_ipv6: bool) -> Vec<Question> {
    let protocols = match &options.protocols[..] {
        [] if game.word == "q3" => vec![game.protocol, PROTOCOL_71],
        [] => vec![game.protocol],
        named => named.to_vec(),
    };
    let mut questions = Vec::new();
    for protocol in protocols {
        questions.push(Question { game, protocol, extended: None });
        if game.family == Family::Quake3 && (over_ipv6 || options.ipv6) {
            questions.push(Question { game, protocol, extended: Some(game.name.to_owned()) });
        }
    }
    questions
}

/// Reads a file of favorites and resolves its names. A name that is not found is skipped.
fn favorites_of(
    path: &std::path::Path,
    default: &'static Game,
) -> Result<Vec<(&'static Game, SocketAddr)>, Refusal> {
    let wrong = |what: String| Refusal(what, ExitStatus::UsageError);
    let text = io::read_config(path).map_err(|error| wrong(error.to_string()))?;
    let parsed = favorites::parse(&text, default)
        .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    let mut found = Vec::new();
    for favorite in parsed {
        match io::resolve(&favorite.address, favorite.game.server_port) {
            Ok(address) => found.push((favorite.game, address)),
            Err(error) => {
                log::warn!("{} line {} skipped: {error}", path.display(), favorite.line);
            }
        }
    }
    Ok(found)
}

/// Returns every address and port of a scan. Games with the same packets share their ports.
fn lan_targets(games: &[&'static Game]) -> Vec<(&'static Game, SocketAddr)> {
    let mut addresses = broadcast_addresses();
    addresses.push(LAN_GROUP.into());
    let mut targets: Vec<(&'static Game, SocketAddr)> = Vec::new();
    for game in games {
        for port in (0..game.lan_ports).map(|offset| game.server_port + offset) {
            for address in addresses.iter().map(|ip| SocketAddr::new(*ip, port)) {
                let multicast = address.is_ipv6() && game.family != Family::Quake3;
                let known =
                    targets.iter().any(|(other, at)| other.family == game.family && *at == address);
                if !multicast && !known {
                    targets.push((game, address));
                }
            }
        }
    }
    targets
}
