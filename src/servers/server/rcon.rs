//! Remote console (rcon): password check, and output in packets.
//!
//! [`PasswordGuard`] decides which passwords are compared and which refusals are answered.
//! Source: Quake III protocol 68, rcon. Engine names: `SVC_RemoteCommand`.

use std::net::SocketAddr;

use subtle::ConstantTimeEq;

use crate::{
    limits::{BucketLimit, PasswordGuard, PasswordLimits, PasswordVerdict},
    model::{Millis, text},
    settings::{Settings, key},
    wire::{connectionless::MAX_RCON_OUTPUT, text::WireText},
};

/// Maximum packets of output of one command. A whole `cvarlist` takes a dozen.
const MAX_PACKETS: usize = 64;
/// Last packet of output that was truncated.
const CUT: &str = "... the rest is left out\n";

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RconDecision {
    /// The command runs.
    Granted,
    /// The request is answered with a text, or not at all, as if no server were listening.
    Refused(Option<&'static str>),
}

/// Decides about a request. `is_client`: a client in the game has that address. `is_right` compares its proof with our
/// password.
pub(super) fn decide(
    guard: &mut PasswordGuard,
    settings: &Settings,
    now: Millis,
    from: SocketAddr,
    is_client: impl FnOnce() -> bool,
    is_right: impl FnOnce(&[u8]) -> bool,
) -> RconDecision {
    if !settings.networks(key::SV_RCON_ALLOW).contains(from.ip()) {
        return RconDecision::Refused(None);
    }
    let ours = settings.text(key::RCON_PASSWORD).as_bytes();
    let number = |name| u64::from(settings.int(name).unsigned_abs());
    let limits = PasswordLimits {
        requests: BucketLimit {
            burst: settings.int(key::SV_RCON_BURST).unsigned_abs(),
            period: Millis(number(key::SV_RCON_PERIOD)),
        },
        lockout_seconds: number(key::SV_RCON_LOCKOUT),
    };
    match guard.decide(limits, now, from, is_client(), || is_right(ours)) {
        PasswordVerdict::Granted => RconDecision::Granted,
        PasswordVerdict::Wrong { is_answered: true } if ours.is_empty() => {
            RconDecision::Refused(Some("No rconpassword set on the server.\n"))
        }
        PasswordVerdict::Wrong { is_answered: true } => {
            RconDecision::Refused(Some("Bad rconpassword.\n"))
        }
        PasswordVerdict::Wrong { is_answered: false } | PasswordVerdict::Ignored => {
            RconDecision::Refused(None)
        }
    }
}

/// Whether a word is our password. The time that this takes tells nothing about the right one.
pub(super) fn is_password(ours: &[u8], password: WireText<'_>) -> bool {
    let theirs: Vec<u8> = password.bytes().collect();
    !ours.is_empty() && bool::from(ours.ct_eq(&theirs))
}

/// Packs prints into few packets. A print is split only if it exceeds a packet, at a line end if there is one. There is at
/// least one packet, so that every request is answered.
pub(super) fn packets(prints: &[String]) -> Vec<String> {
    let mut packets = vec![String::new()];
    for part in prints.iter().flat_map(|print| parts(print)) {
        let full = packets.len() == MAX_PACKETS;
        match packets.last_mut() {
            Some(last) if last.len() + part.len() <= MAX_RCON_OUTPUT => last.push_str(part),
            _ if full => {
                packets.push(CUT.to_owned());
                break;
            }
            _ => packets.push(part.to_owned()),
        }
    }
    packets
}

/// Splits a print into parts that fit a packet.
fn parts(print: &str) -> impl Iterator<Item = &str> {
    let mut rest = print;
    std::iter::from_fn(move || {
        let longest = text::truncated(rest, MAX_RCON_OUTPUT);
        let end = match longest.rfind('\n') {
            Some(at) if longest.len() < rest.len() => at + 1,
            _ => longest.len(),
        };
        let (part, behind) = rest.split_at(end);
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_packed_without_loss() {
        assert_eq!(packets(&[]), [""]);
        let prints = vec!["x".repeat(600), "y".repeat(400), "z".repeat(100), "w".repeat(2000)];
        let lens: Vec<_> = packets(&prints).iter().map(String::len).collect();
        assert_eq!(lens, [1000, 100, 1007, 993]);
        let lines: String = (0..300).map(|line| format!("line {line}\n")).collect();
        let sent = packets(std::slice::from_ref(&lines));
        assert!(sent.len() == 3 && sent.iter().all(|packet| packet.ends_with('\n')), "{sent:?}");
        assert_eq!(sent.concat(), lines);
        let accents = packets(&["é".repeat(1000)]);
        assert_eq!(accents.concat(), "é".repeat(1000));
        let endless = packets(&vec!["x".repeat(1000); 5000]);
        assert_eq!(endless.len(), MAX_PACKETS + 1);
        assert_eq!(endless.last().map(String::as_str), Some(CUT));
    }
}
