//! Remote console (rcon): password check, lockout, and output in packets.
//!
//! Wrong passwords lock a site out, for twice as long each time. During a lockout ten passwords
//! a second are compared, so guesses get no further, nor do guesses with the forged address of an
//! administrator. Four kinds of senders have a share of their own, so a forger has to name the port, too: clients in
//! the game, ports that sent the right password before, ports that ask again after a second, and all others.
//! Rejections are rate limited.
//! Source: Quake III protocol 68, rcon; known attacks on it. Engine names: `SVC_RemoteCommand`.

use std::{collections::HashMap, net::SocketAddr};

use subtle::ConstantTimeEq;

use crate::{
    limits::{AddressKey, AddressLimiter, Bucket, BucketLimit, RETURN_TIME, ReturningSenders},
    model::{Millis, text},
    settings::{Settings, key},
    wire::{connectionless::MAX_RCON_OUTPUT, text::WireText},
};

/// Maximum number of sites with wrong passwords; the oldest is evicted.
const MAX_LOCKOUTS: usize = 256;
/// Maximum packets of output of one command. A whole `cvarlist` takes a dozen.
const MAX_PACKETS: usize = 64;
/// Last packet of output that was truncated.
const CUT: &str = "... the rest is left out\n";
/// Passwords compared during the lockout of an address.
const ATTEMPTS_LOCKED_OUT: BucketLimit = BucketLimit { burst: 10, period: Millis(100) };
/// Maximum number of addresses and ports that sent the right password; the oldest is evicted.
const MAX_KNOWN: usize = 64;
/// Silence after which a port counts as new.
const PORT_LIFE: Millis = Millis::seconds(600);
/// Wrong passwords before an address is locked out.
const FREE_FAILURES: u32 = 3;

/// Wrong passwords of one site.
#[derive(Clone, Copy, Debug, Default)]
struct Lockout {
    failures: u32,
    last: Millis,
    until: Millis,
}

/// Rate limits and lockouts of rcon.
#[derive(Debug)]
pub(super) struct RconGuard {
    requests: AddressLimiter,
    failures_global: Bucket,
    attempts: AddressLimiter,
    attempts_of_clients: Bucket,
    /// Ports that ask again, and the passwords that are compared for those of one site.
    ports: ReturningSenders,
    attempts_of_ports: AddressLimiter,
    lockouts: HashMap<AddressKey, Lockout>,
    /// Addresses and ports that sent the right password, with its time and passwords compared since.
    known: HashMap<SocketAddr, (Millis, Bucket)>,
}

impl RconGuard {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            requests: AddressLimiter::new(seed),
            failures_global: Bucket::default(),
            attempts: AddressLimiter::new(seed ^ 1),
            attempts_of_clients: Bucket::default(),
            ports: ReturningSenders::new(seed ^ 2, PORT_LIFE),
            attempts_of_ports: AddressLimiter::new(seed ^ 3),
            lockouts: HashMap::new(),
            known: HashMap::new(),
        }
    }

    fn allowance(settings: &Settings) -> BucketLimit {
        BucketLimit {
            burst: settings.int(key::SV_RCON_BURST).unsigned_abs(),
            period: Millis(u64::from(settings.int(key::SV_RCON_PERIOD).unsigned_abs())),
        }
    }

    fn is_locked_out(&self, now: Millis, from: SocketAddr) -> bool {
        self.lockouts.get(&AddressKey::site(from.ip())).is_some_and(|lockout| now < lockout.until)
    }

    /// Whether a password of an address is compared. `is_client`: a client in the game has that
    /// address.
    fn compares(&mut self, now: Millis, from: SocketAddr, is_client: bool) -> bool {
        if !self.is_locked_out(now, from) {
            return true;
        }
        if is_client {
            return self.attempts_of_clients.allows(now, ATTEMPTS_LOCKED_OUT);
        }
        if let Some((_, bucket)) = self.known.get_mut(&from)
            && bucket.allows(now, ATTEMPTS_LOCKED_OUT)
        {
            return true;
        }
        let site = AddressKey::site(from.ip());
        let Self { ports, attempts_of_ports, .. } = self;
        if self.attempts.allows(now, site, ATTEMPTS_LOCKED_OUT) {
            ports.record_admitted(now, from);
            return true;
        }
        ports.admits(now, from, RETURN_TIME, || {
            attempts_of_ports.allows(now, site, ATTEMPTS_LOCKED_OUT)
        })
    }

    /// Records a wrong password. Returns whether it is answered.
    fn record_failure(&mut self, settings: &Settings, now: Millis, from: SocketAddr) -> bool {
        if self.lockouts.len() >= MAX_LOCKOUTS
            && !self.lockouts.contains_key(&AddressKey::site(from.ip()))
        {
            let oldest = self.lockouts.iter().min_by_key(|(site, lockout)| (lockout.last, **site));
            if let Some(host) = oldest.map(|(site, _)| *site) {
                self.lockouts.remove(&host);
            }
        }
        let lockout = self.lockouts.entry(AddressKey::site(from.ip())).or_default();
        let first_of_second = lockout.failures == 0 || now.since(lockout.last) >= Millis(1000);
        lockout.failures += 1;
        lockout.last = now;
        let longest = u64::from(settings.int(key::SV_RCON_LOCKOUT).unsigned_abs());
        if lockout.failures >= FREE_FAILURES && longest != 0 {
            let doublings = (lockout.failures - FREE_FAILURES).min(16);
            lockout.until = now + Millis::seconds((1 << doublings).min(longest));
        }
        first_of_second && self.failures_global.allows(now, Self::allowance(settings))
    }

    fn record_success(&mut self, now: Millis, from: SocketAddr) {
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&from) {
            let oldest = self.known.iter().min_by_key(|(known, (at, _))| (*at, **known));
            if let Some(oldest) = oldest.map(|(known, _)| *known) {
                self.known.remove(&oldest);
            }
        }
        self.known.entry(from).or_default().0 = now;
        self.lockouts.remove(&AddressKey::site(from.ip()));
    }
}

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RconDecision {
    /// The command runs.
    Granted,
    /// The request is answered with a text, or not at all, as if no server were listening.
    Refused(Option<&'static str>),
}

impl RconGuard {
    /// Decides about a request by its password. `is_client`: a client in the game has that address.
    pub(super) fn decide(
        &mut self,
        settings: &Settings,
        now: Millis,
        from: SocketAddr,
        is_client: impl FnOnce() -> bool,
        password: WireText<'_>,
    ) -> RconDecision {
        let heard = settings.networks(key::SV_RCON_ALLOW).contains(from.ip())
            && self.compares(now, from, is_client());
        let ours = settings.text(key::RCON_PASSWORD).as_bytes();
        let theirs: Vec<u8> = password.bytes().collect();
        let right = heard && !ours.is_empty() && bool::from(ours.ct_eq(&theirs));
        if !heard || self.is_locked_out(now, from) && !right {
            return RconDecision::Refused(None);
        }
        if !right {
            let answered = self.record_failure(settings, now, from);
            let text = if ours.is_empty() {
                "No rconpassword set on the server.\n"
            } else {
                "Bad rconpassword.\n"
            };
            return RconDecision::Refused(answered.then_some(text));
        }
        if !self.requests.allows(now, AddressKey::site(from.ip()), Self::allowance(settings)) {
            return RconDecision::Refused(None);
        }
        self.record_success(now, from);
        RconDecision::Granted
    }
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

    #[test]
    fn wrong_passwords_double_the_lockout() {
        let settings = Settings::default();
        let mut guard = RconGuard::new(1);
        let from: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let mut now = Millis(10_000);
        let mut lengths = Vec::new();
        for _ in 0..8 {
            guard.record_failure(&settings, now, from);
            let until = guard.lockouts[&AddressKey::site(from.ip())].until;
            lengths.push(until.since(now).0 / 1000);
            now = now.max(until);
        }
        assert_eq!(lengths, [0, 0, 1, 2, 4, 8, 16, 32]);
        guard.record_success(now, from);
        assert!(!guard.is_locked_out(now, from));
    }

    #[test]
    fn c19_locked_out_address_has_ten_passwords_a_second_compared() {
        let settings = Settings::default();
        let mut guard = RconGuard::new(1);
        let from: SocketAddr = "192.0.2.1:1".parse().unwrap();
        (0..30).for_each(|_| {
            guard.record_failure(&settings, Millis(1000), from);
        });
        let mut compared = |is_client| {
            (1000..11_000).filter(|&ms| guard.compares(Millis(ms), from, is_client)).count()
        };
        assert_eq!((compared(false), compared(true)), (109, 109));
        assert!(guard.compares(Millis(1000), "192.0.2.2:1".parse().unwrap(), false));
    }

    #[test]
    fn c39_administrator_is_compared_beside_forged_ports() {
        let settings = Settings::default();
        let mut guard = RconGuard::new(1);
        let [known, new]: [SocketAddr; 2] =
            ["192.0.2.1:1", "192.0.2.1:2"].map(|a| a.parse().unwrap());
        guard.record_success(Millis(500), known);
        (0..30).for_each(|_| {
            guard.record_failure(&settings, Millis(1000), new);
        });
        let (mut forged, mut compared) = (0, [0; 2]);
        for ms in 1000..31_000u64 {
            let port = 100 + (ms.wrapping_mul(7919) % 65_000) as u16;
            forged += u32::from(guard.compares(Millis(ms), (known.ip(), port).into(), false));
            if ms % 3000 == 0 {
                compared[0] += u32::from(guard.compares(Millis(ms), known, false));
                compared[1] += u32::from(guard.compares(Millis(ms), new, false));
            }
        }
        assert_eq!((compared[0], compared[1] >= 8), (10, true), "{compared:?}");
        assert!(forged <= 31 * 20, "{forged} guesses in half a minute");
        (0..1000u16).for_each(|port| guard.record_success(Millis(1), (known.ip(), port).into()));
        assert_eq!(guard.known.len(), MAX_KNOWN);
    }

    #[test]
    fn lockouts_are_bounded() {
        let settings = Settings::default();
        let mut guard = RconGuard::new(1);
        for i in 0..10_000u32 {
            let from = SocketAddr::new(std::net::Ipv4Addr::from_bits(i).into(), 1);
            guard.record_failure(&settings, Millis(u64::from(i)), from);
        }
        assert_eq!(guard.lockouts.len(), MAX_LOCKOUTS);
    }
}
