//! Sending bots to a server.

use std::io::{IsTerminal as _, Write as _};

use fragd::{
    bots::{self, Bots},
    cli::{BotsOptions, Outcome},
    io::{self, Clock, Options, Progress, Signals, Sockets},
    model::Millis,
};

/// Time between two lines of progress: on a terminal one line is written over again.
const PROGRESS_ON_TERMINAL: Millis = Millis(500);
const PROGRESS_IN_LOG: Millis = Millis::seconds(5);

/// Sends bots to a server and sums up what they saw.
pub(crate) fn run(options: &BotsOptions) -> Outcome {
    io::logging::init(log::LevelFilter::Warn);
    match play(options) {
        Ok(bots) => {
            let summary = bots.summary();
            let text = if options.json { summary.to_json() + "\n" } else { summary.to_string() };
            // A reader that has seen enough, such as `head`, is no failure.
            let _ = std::io::stdout().write_all(text.as_bytes());
            if bots.succeeded() { Outcome::Done } else { Outcome::Failed }
        }
        Err(what) => {
            eprintln!("fragd: {what}");
            Outcome::Failed
        }
    }
}

fn play(options: &BotsOptions) -> Result<Bots, String> {
    let server = io::resolve(&options.connect.to_string(), options.connect.port)?;
    let seed = match options.seed {
        Some(seed) => seed,
        None => u64::from_le_bytes(
            io::random_bytes().map_err(|error| format!("no random numbers: {error}"))?,
        ),
    };
    let duration = Millis::seconds(u64::from(options.seconds));
    let clock = Clock::start();
    let asked = bots::BotsOptions {
        seed,
        joins_per_second: options.ramp,
        packets_per_second: u32::from(options.packets_per_second),
        name_prefix: options.name_prefix.clone(),
        ..bots::BotsOptions::new(server, options.wire, options.count, duration)
    };
    let mut bots = Bots::new(asked, clock.now());
    let sockets =
        Sockets::ephemeral(options.count, server.ip()).map_err(|error| error.to_string())?;
    let signals = Signals::install().map_err(|error| format!("no signals: {error}"))?;

    let terminal = std::io::stderr().is_terminal();
    let interval = if terminal { PROGRESS_ON_TERMINAL } else { PROGRESS_IN_LOG };
    let call = move |bots: &Bots, _, _: &_| {
        let line = bots.progress();
        if terminal { eprint!("\r\x1b[K{line}") } else { eprintln!("{line}") }
    };
    let run_options = Options {
        signals: Some(signals),
        // What bots have to say goes where progress goes: the summary has standard output to itself.
        output: Box::new(std::io::stderr()),
        progress: Some(Progress { interval, call: Box::new(call) }),
        ..Options::default()
    };
    let run = io::run(&mut bots, sockets, &clock, run_options);
    if terminal {
        eprintln!("\r\x1b[K");
    }
    run.map_err(|error| format!("the event loop failed: {error}"))?;
    Ok(bots)
}
