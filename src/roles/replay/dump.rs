//! Readable listing of a journal (`fragd replay --dump`).

use std::{collections::BTreeSet, io::Write as _, net::SocketAddr};

use fragd::{
    cli::{AddressFilter, ExitStatus, ReplayOptions},
    journal::{Entry, JournalEnd, JournalInput, Located, Reader},
    model::{Millis, text::escaped},
    settings::{MASK, masked_arguments, masked_line},
};
use serde_json::json;

use super::{super::output::Output, Pieces};

/// Bytes shown of a datagram or line.
const SHOWN: usize = 200;
/// Addresses shown if none is that of the filter.
const ADDRESSES_SHOWN: usize = 8;
/// Most addresses that are remembered.
const MAX_ADDRESSES: usize = 4096;

/// Addresses of a journal, while none has passed the filter.
#[derive(Default)]
struct Unmatched {
    has_matched: bool,
    others: BTreeSet<SocketAddr>,
}

impl Unmatched {
    fn note(&mut self, client: Option<AddressFilter>, located: &Located) {
        let Some(client) = client.filter(|_| !self.has_matched) else { return };
        let Entry::Input(_, JournalInput::Datagram(route, _)) = &located.entry else { return };
        self.has_matched = client.matches(route.remote);
        if self.others.len() < MAX_ADDRESSES {
            self.others.insert(route.remote);
        }
    }

    /// Returns the error of a filter that no address has passed.
    fn check(&self, options: &ReplayOptions, name: &str) -> Result<(), String> {
        let Some(client) = options.client.filter(|_| !self.has_matched) else { return Ok(()) };
        let until = options.until.map_or(String::new(), |until| format!(" until {until}"));
        let shown: Vec<_> =
            self.others.iter().take(ADDRESSES_SHOWN).map(ToString::to_string).collect();
        let others = match self.others.len() - shown.len() {
            0 if shown.is_empty() => "nor of another address".to_owned(),
            0 => format!("expected one of {}", shown.join(", ")),
            more => format!("expected one of {} and {more} more", shown.join(", ")),
        };
        Err(format!("{name}: no datagram of --client {client}{until} ({others})"))
    }
}

/// Lists the inputs of a journal.
pub(super) fn dump(options: &ReplayOptions, file: Pieces) -> Result<ExitStatus, String> {
    let mut output = Output::new();
    let outcome = list(options, file, &mut output)?;
    Ok(output.end(outcome))
}

fn list(options: &ReplayOptions, mut file: Pieces, out: &mut Output) -> Result<ExitStatus, String> {
    let name = file.name.clone();
    let mut reader = Reader::new();
    let mut unmatched = Unmatched::default();
    loop {
        let piece = file.next()?;
        let is_end = piece.is_empty();
        reader.feed(piece);
        if !reader.read_head().map_err(|error| format!("{name}: {error}"))? && is_end {
            return Err(format!("{name}: the journal ends before it begins"));
        }
        let damage = loop {
            match reader.next_entry() {
                Ok(Some(located)) => {
                    if is_over(options, &located) {
                        return unmatched.check(options, &name).map(|()| ExitStatus::Done);
                    }
                    unmatched.note(options.client, &located);
                    let Some(line) = line(options, &located) else { continue };
                    if !out.line(line) {
                        return Ok(ExitStatus::Done);
                    }
                }
                Ok(None) if is_end => break reader.finish().err(),
                Ok(None) => break None,
                Err(damage) => break Some(damage),
            }
        };
        if damage.is_some() || is_end {
            let _ = out.flush();
        }
        if let Some(damage) = damage {
            eprintln!("fragd: {name}: {damage}; rest of the journal ignored");
            return unmatched.check(options, &name).map(|()| super::outcome_of(damage));
        }
        if is_end {
            return unmatched.check(options, &name).map(|()| ExitStatus::Done);
        }
    }
}

fn is_over(options: &ReplayOptions, located: &Located) -> bool {
    match located.entry {
        Entry::Input(at, _) => options.until.is_some_and(|until| at > until),
        _ => false,
    }
}

/// Returns the line of an entry, if it is selected.
fn line(options: &ReplayOptions, located: &Located) -> Option<String> {
    let Located { record, offset, entry } = located;
    let (at, kind, route, what) = match entry {
        Entry::Start(start) => {
            let config = start.config.as_ref().map_or("", |(name, _)| name.as_str());
            let what = format!(
                "fragd {}: {} {config}",
                start.program,
                masked_arguments(&start.arguments).join(" ")
            );
            (None, "start", None, what)
        }
        Entry::Input(at, JournalInput::Datagram(route, bytes)) => {
            (Some(*at), "datagram", Some(route), datagram(bytes))
        }
        Entry::Input(at, JournalInput::Frame) => (Some(*at), "frame", None, String::new()),
        Entry::Input(at, JournalInput::Line(line)) => {
            (Some(*at), "line", None, shown(masked_line(line).as_bytes()))
        }
        Entry::Input(at, JournalInput::Counted(_)) => (Some(*at), "counted", None, String::new()),
        Entry::Input(at, JournalInput::Calendar(to)) => {
            (Some(*at), "calendar", None, to.0.to_string())
        }
        Entry::Input(at, JournalInput::Lookup(answer)) => {
            let found = match &answer.found {
                Ok(found) => found.iter().map(|address| format!(" {address}")).collect(),
                Err(error) => format!(" {error}"),
            };
            (Some(*at), "lookup", None, shown(format!("{}{found}", answer.lookup.name).as_bytes()))
        }
        Entry::Input(at, JournalInput::PortFailed(port)) => {
            (Some(*at), "port failed", None, port.0.to_string())
        }
        Entry::Input(at, JournalInput::Stop(why)) => {
            (Some(*at), "stop", None, shown(why.as_bytes()))
        }
        // Output of the server is not listed.
        Entry::Sent(_) => return None,
        Entry::Asset(answer) => (None, "file", None, answer.to_string()),
        Entry::End(JournalEnd::Run) => (None, "end", None, String::new()),
        Entry::End(JournalEnd::Limit) => (None, "end", None, "at its limit".to_owned()),
    };
    if let Some(client) = options.client
        && !route.is_some_and(|route| client.matches(route.remote))
    {
        return None;
    }
    if options.json {
        let from = route.map(|route| route.remote.to_string());
        let at = at.map(|at| at.0);
        let json = json!({
            "record": record, "offset": offset, "time_ms": at, "kind": kind, "from": from, "what": what,
        });
        return Some(json.to_string());
    }
    let time = at.map_or(String::new(), |Millis(ms)| format!("{}.{:03}", ms / 1000, ms % 1000));
    let from = route.map_or(String::new(), |route| format!("{} ", route.remote));
    Some(format!("{record:>8} {time:>12} {kind:<8} {from}{what}").trim_end().to_owned())
}

/// Describes a datagram: a connectionless one by its command, a message by its sequence.
fn datagram(bytes: &[u8]) -> String {
    let len = bytes.len();
    match bytes {
        [255, 255, 255, 255, text @ ..] => {
            let is_named = |name: &[u8]| {
                text.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name))
            };
            // The userinfo of a connect is compressed; its name is not. Remote commands hold their password.
            let text = if is_named(b"connect ") {
                "connect".to_owned()
            } else if is_named(b"rcon") {
                format!("rcon {MASK}")
            } else {
                shown(text)
            };
            format!("{len} bytes, connectionless: {text}")
        }
        [a, b, c, d, e, f, ..] => {
            let word = u32::from_le_bytes([*a, *b, *c, *d]);
            let (number, is_fragment) = (word & 0x7fff_ffff, word >> 31 != 0);
            let qport = u16::from_le_bytes([*e, *f]);
            let piece = if is_fragment { "a piece of " } else { "" };
            format!("{len} bytes, {piece}message {number}, qport {qport}")
        }
        _ => format!("{len} bytes: {}", shown(bytes)),
    }
}

fn shown(bytes: &[u8]) -> String {
    let whole = escaped(&bytes[..bytes.len().min(SHOWN)]);
    if bytes.len() > SHOWN { format!("{whole}…") } else { whole }
}
