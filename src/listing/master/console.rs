//! Console of a master: commands of the operator, output, completion.

use std::{collections::VecDeque, fmt::Write as _};

use crate::{
    discovery::Family,
    model::{CommandArgs, Millis, TypedLine, text},
    node::{Completion, NodeState},
};

use super::{counters::MasterCounter, node::Master};

/// Longest output that waits for the driver, in bytes; later text is dropped.
const MAX_WAITING: usize = 1 << 20;
/// Most servers that a command lists.
const MAX_LISTED: usize = 500;
/// Longest drain, in seconds: a day.
const MAX_DRAIN_S: u64 = 86_400;
/// Longest command that is repeated, in bytes.
const MAX_SHOWN: usize = 64;
/// Commands and their help.
const HELP: [(&str, &str); 6] = [
    ("drain [SECONDS]", "be not ready for these seconds, then end; without a time end at once"),
    ("help", "list the commands"),
    ("quit", "end the master"),
    ("servers [TEXT]", "list the servers with a text in address, game, map or name"),
    ("status", "show the numbers of servers and datagrams"),
    ("undrain", "end a drain"),
];

/// Output of the console.
#[derive(Debug, Default)]
pub(super) struct Console {
    waiting: VecDeque<String>,
    len: usize,
}

impl Console {
    fn print(&mut self, text: String) {
        if self.len + text.len() <= MAX_WAITING {
            self.len += text.len();
            self.waiting.push_back(text);
        }
    }

    /// Takes the oldest text.
    pub(super) fn take(&mut self) -> Option<String> {
        let text = self.waiting.pop_front()?;
        self.len -= text.len();
        Some(text)
    }
}

/// Runs a console line. Returns whether the master is to end.
pub(super) fn run(master: &mut Master, now: Millis, line: &str) -> bool {
    let words = CommandArgs::parse(line);
    let output = match words.command() {
        "" => return false,
        "quit" => return true,
        "undrain" => undrain(master),
        "drain" if words.get(1).eq_ignore_ascii_case("off") => undrain(master),
        "drain" => match drain(&words) {
            Ok(Millis(0)) => return true,
            Ok(time) => {
                master.ends_at = Some(now + time);
                let line = drain_line(time);
                log::info!("{line}");
                line + "\n"
            }
            Err(error) => error,
        },
        "help" | "?" => help(),
        "servers" => servers(master, now, &words.rest(1)),
        "status" => status(master),
        other => {
            let shown = text::escaped(text::truncated(other, MAX_SHOWN).as_bytes());
            format!("unknown command: {shown}\n{}", help())
        }
    };
    master.console.print(output);
    false
}

/// Candidates for the last word of a line.
pub(super) fn complete(line: &str) -> Completion {
    let typed = TypedLine::parse(line);
    if typed.index > 0 {
        return Completion::default();
    }
    Completion::of(&typed, HELP.iter().filter_map(|(usage, _)| usage.split(' ').next()))
}

/// Time of a drain. A master holds nothing that could end first, so it has none without an argument.
fn drain(words: &CommandArgs) -> Result<Millis, String> {
    let word = words.get(1);
    if words.len() == 1 {
        return Ok(Millis(0));
    }
    let seconds = word.parse().ok().filter(|&seconds| seconds <= MAX_DRAIN_S);
    seconds.map(Millis::seconds).ok_or_else(|| {
        let shown = text::shown_name(word.as_bytes());
        format!("drain: invalid time {shown} (expected seconds from 0 to {MAX_DRAIN_S})\n")
    })
}

fn undrain(master: &mut Master) -> String {
    let was_draining = master.ends_at.take().is_some();
    let text = if was_draining { "drain canceled" } else { "undrain: the master does not drain" };
    format!("{text}\n")
}

fn drain_line(left: Millis) -> String {
    format!("draining: stops in {} s", left.0.div_ceil(1000))
}

/// State for service managers and monitors.
pub(super) fn node_state(master: &Master) -> NodeState {
    let obstacles = if master.ends_at.is_some() { vec!["draining"] } else { Vec::new() };
    let is_draining = !obstacles.is_empty();
    let text = if is_draining { "draining".to_owned() } else { summary(master) };
    NodeState { text, obstacles, is_draining }
}

fn help() -> String {
    HELP.iter().map(|(usage, help)| format!("{usage:16} {help}\n")).collect()
}

/// One line for the operator.
fn summary(master: &Master) -> String {
    format!("{} of {} servers", master.servers(), master.options.max_servers)
}

fn status(master: &Master) -> String {
    let of = |family| master.registry.len_of(family);
    let (quake3, quake4) = (of(Family::Quake3), of(Family::Quake4));
    let quakeworld = of(Family::QuakeWorld);
    let count = |counter| master.counter(counter);
    format!(
        "servers:   {} (Quake III family {quake3}, Quake 4 {quake4}, QuakeWorld {quakeworld}; {} expired)\n\
         datagrams: {} received, {} malformed, {} denied, {} unexpected\n",
        summary(master),
        count(MasterCounter::ServersExpired),
        count(MasterCounter::Datagrams),
        count(MasterCounter::Malformed),
        count(MasterCounter::Denied),
        count(MasterCounter::Unexpected),
    )
}

fn servers(master: &Master, now: Millis, part: &str) -> String {
    let part = part.to_lowercase();
    let (mut output, mut found) = (String::new(), 0);
    for row in master.rows(now) {
        let shown = |text: &str| text::escaped(text::strip_colors(text).as_bytes());
        let line = format!(
            "{:<21} {:<16} {:>3}/{:<3} {:<16} {}\n",
            row.address.to_string(),
            shown(&row.game),
            row.clients,
            row.max_clients,
            shown(&row.map),
            shown(&row.name),
        );
        if line.to_lowercase().contains(&part) {
            found += 1;
            if found <= MAX_LISTED {
                output.push_str(&line);
            }
        }
    }
    let _ = match found {
        0 => writeln!(output, "no servers"),
        found if found > MAX_LISTED => writeln!(output, "{} more", found - MAX_LISTED),
        _ => Ok(()),
    };
    output
}
