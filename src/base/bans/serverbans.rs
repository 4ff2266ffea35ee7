//! Ban list of ioquake3 (`serverbans.dat`).
//!
//! A line for each network, `1` for exceptions and `0` for bans: `0 10.0.0.0 8`. Source: ioquake3, ban commands.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{
    entry::{Draft, EntryKind},
    file::FileFault,
    list::{BanList, MAX_ENTRIES},
    subject::{Subject, parse_network},
};
use crate::model::text;

/// Longest part of a line that an error shows, in bytes.
const MAX_SHOWN_LEN: usize = 80;
/// Most lines, those that repeat others included.
const MAX_LINES: usize = 4 * MAX_ENTRIES;

/// Reads the networks of a file, bans and exceptions. As there, a prefix length out of range means one address.
///
/// # Errors
/// The first line with a fault.
pub fn parse_serverbans(text: &str) -> Result<Vec<(EntryKind, Subject)>, FileFault> {
    let mut read = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parsed = network_of(line).ok_or_else(|| {
            let shown = text::escaped(text::truncated(line, MAX_SHOWN_LEN).as_bytes());
            let fault = format!(
                "{shown} (expected 0 or 1, address and prefix length, e.g. 0 192.0.2.0 24)"
            );
            FileFault { line: at + 1, fault }
        })?;
        if read.len() >= MAX_LINES {
            let fault = format!("too many lines (expected at most {MAX_LINES})");
            return Err(FileFault { line: at + 1, fault });
        }
        read.push(parsed);
    }
    Ok(read)
}

fn network_of(line: &str) -> Option<(EntryKind, Subject)> {
    let mut words = line.split_ascii_whitespace();
    let kind = match words.next()? {
        "0" => EntryKind::Ban,
        "1" => EntryKind::Exception,
        _ => return None,
    };
    let address: IpAddr = words.next()?.parse().ok()?;
    let prefix: i64 = words.next()?.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = if (0..=longest).contains(&prefix) { prefix } else { longest };
    let network = parse_network(&format!("{address}/{prefix}"))?;
    words.next().is_none().then_some((kind, Subject::Network(network)))
}

/// Returns the text of a file with the networks of the list, and the number of entries left out.
///
/// The file cannot hold bans that end, and those of GUIDs and names.
#[must_use]
pub fn serverbans_text(list: &BanList) -> (String, usize) {
    let (mut text, mut left_out) = (String::new(), 0);
    let bans = list.of_kind(EntryKind::Ban).chain(list.of_kind(EntryKind::Exception));
    for (_, content) in bans {
        match content {
            Draft { subject: Subject::Network(network), expires: None, .. } => {
                let (kind, IpParts(address, prefix)) = (content.kind, IpParts::of(network));
                let mark = u8::from(kind == EntryKind::Exception);
                text.push_str(&format!("{mark} {address} {prefix}\n"));
            }
            _ => left_out += 1,
        }
    }
    (text, left_out)
}

/// Address and prefix length of a network.
struct IpParts(IpAddr, u8);

impl IpParts {
    fn of(network: &IpNet) -> Self {
        Self(network.addr(), network.prefix_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serverbans_are_read_and_written() {
        let text = "0 10.0.0.0 8\n1 10.1.2.3 32\n0 2001:db8:: 32\n0 192.0.2.7 99\n";
        let mut list = BanList::default();
        for (kind, subject) in parse_serverbans(text).unwrap() {
            let (reason, author) = (String::new(), String::new());
            list.add(Draft { kind, subject, reason, author, made: 0, expires: None }).unwrap();
        }
        let name = Subject::name("a").unwrap();
        let (reason, author) = (String::new(), String::new());
        let kind = EntryKind::Ban;
        list.add(Draft { kind, subject: name, reason, author, made: 0, expires: None }).unwrap();
        let written = "0 10.0.0.0 8\n0 2001:db8:: 32\n0 192.0.2.7 32\n1 10.1.2.3 32\n";
        assert_eq!(serverbans_text(&list), (written.to_owned(), 1));
    }

    #[test]
    fn serverbans_faults_name_their_line() {
        for line in ["2 10.0.0.0 8", "0 10.0.0 8", "0 10.0.0.0", "0 10.0.0.0 8 9", "x\u{1b}"] {
            let fault = parse_serverbans(&format!("0 ::1 128\n{line}\n")).unwrap_err();
            assert_eq!(fault.line, 2);
            assert!(fault.fault.contains("(expected 0 or 1, address"), "{fault}");
            assert!(!fault.to_string().contains('\u{1b}'));
        }
    }
}
