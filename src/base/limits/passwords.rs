//! Guesses of a password: lockouts of sites, and the senders that are heard during one.
//!
//! Wrong passwords lock a site out, for twice as long each time. During a lockout ten passwords
//! a second are compared, so guesses get no further, nor do guesses with the forged address of an
//! administrator. Four kinds of senders have a share of their own, so a forger has to name the port, too: clients in
//! the game, ports that sent the right password before, ports that ask again after a second, and all others.
//! Rejections are rate limited.
//!
//! Invariants: tables have a fixed size; during a lockout only the right password has an effect.
//! Source: known attacks on rcon. Engine names: `SVC_RemoteCommand`.

use std::{collections::HashMap, net::SocketAddr};

use super::{AddressKey, Bucket, BucketLimit, HostLimiter};
use crate::model::Millis;

/// Maximum number of sites with wrong passwords; the oldest is evicted.
const MAX_LOCKOUTS: usize = 256;
/// Passwords compared during the lockout of an address.
const ATTEMPTS_LOCKED_OUT: BucketLimit = BucketLimit { burst: 10, period: Millis(100) };
/// Maximum number of addresses and ports that sent the right password; the oldest is evicted.
const MAX_KNOWN: usize = 64;
/// Wrong passwords before an address is locked out.
const FREE_FAILURES: u32 = 3;

/// Limits of requests with a password.
#[derive(Clone, Copy, Debug)]
pub struct PasswordLimits {
    /// Commands of one address and port with the right password, and rejections of all sites that are answered.
    pub requests: BucketLimit,
    /// Longest lockout in seconds; 0 locks no site out.
    pub lockout_seconds: u64,
}

/// Wrong passwords of one site.
#[derive(Clone, Copy, Debug, Default)]
struct Lockout {
    failures: u32,
    last: Millis,
    until: Millis,
}

/// An address and port that sent the right password.
#[derive(Debug, Default)]
struct Known {
    /// Time of the last right password.
    at: Millis,
    /// Passwords compared during lockouts.
    attempts: Bucket,
    /// Commands.
    requests: Bucket,
}

/// Decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordVerdict {
    /// The password is right, and the command runs.
    Granted,
    /// The password is wrong.
    Wrong {
        /// Whether the sender is told.
        is_answered: bool,
    },
    /// The request is ignored, as if no server were listening.
    Ignored,
}

/// Rate limits and lockouts of one password.
#[derive(Debug)]
pub struct PasswordGuard {
    failures_global: Bucket,
    attempts: HostLimiter,
    attempts_of_clients: Bucket,
    lockouts: HashMap<AddressKey, Lockout>,
    known: HashMap<SocketAddr, Known>,
}

impl PasswordGuard {
    /// Creates a guard without lockouts. `seed` must be secret.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            failures_global: Bucket::default(),
            attempts: HostLimiter::new(seed),
            attempts_of_clients: Bucket::default(),
            lockouts: HashMap::new(),
            known: HashMap::new(),
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
        if let Some(known) = self.known.get_mut(&from)
            && known.attempts.allows(now, ATTEMPTS_LOCKED_OUT)
        {
            return true;
        }
        self.attempts.allows(now, from, AddressKey::site(from.ip()), ATTEMPTS_LOCKED_OUT)
    }

    /// Records a wrong password. Returns whether it is answered.
    fn record_failure(&mut self, limits: PasswordLimits, now: Millis, from: SocketAddr) -> bool {
        if self.lockouts.len() >= MAX_LOCKOUTS
            && !self.lockouts.contains_key(&AddressKey::site(from.ip()))
        {
            let oldest = self.lockouts.iter().min_by_key(|(site, lockout)| (lockout.last, **site));
            if let Some(host) = oldest.map(|(site, _)| *site) {
                self.lockouts.remove(&host);
            }
        }
        let lockout = self.lockouts.entry(AddressKey::site(from.ip())).or_default();
        let first_of_second = now.since(lockout.last) >= Millis(1000);
        lockout.failures = lockout.failures.saturating_add(1);
        lockout.last = now;
        let is_free = lockout.failures < FREE_FAILURES;
        if !is_free && limits.lockout_seconds != 0 {
            let doublings = (lockout.failures - FREE_FAILURES).min(16);
            lockout.until = now + Millis::seconds((1 << doublings).min(limits.lockout_seconds));
        }
        (is_free || first_of_second) && self.failures_global.allows(now, limits.requests)
    }

    /// Records the right password. Returns whether the address and port has room for a command.
    fn record_success(&mut self, limits: PasswordLimits, now: Millis, from: SocketAddr) -> bool {
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&from) {
            let oldest = self.known.iter().min_by_key(|(from, known)| (known.at, **from));
            if let Some(oldest) = oldest.map(|(from, _)| *from) {
                self.known.remove(&oldest);
            }
        }
        self.lockouts.remove(&AddressKey::site(from.ip()));
        let known = self.known.entry(from).or_default();
        known.at = now;
        known.requests.allows(now, limits.requests)
    }

    /// Decides about a request. `is_client`: a client in the game has that address. `is_right` compares the password.
    pub fn decide(
        &mut self,
        limits: PasswordLimits,
        now: Millis,
        from: SocketAddr,
        is_client: bool,
        is_right: impl FnOnce() -> bool,
    ) -> PasswordVerdict {
        if !self.compares(now, from, is_client) {
            return PasswordVerdict::Ignored;
        }
        if !is_right() {
            if self.is_locked_out(now, from) {
                return PasswordVerdict::Ignored;
            }
            let is_answered = self.record_failure(limits, now, from);
            return PasswordVerdict::Wrong { is_answered };
        }
        if self.record_success(limits, now, from) {
            PasswordVerdict::Granted
        } else {
            PasswordVerdict::Ignored
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PasswordLimits = PasswordLimits {
        requests: BucketLimit { burst: 10, period: Millis(1000) },
        lockout_seconds: 600,
    };

    #[test]
    fn first_wrong_passwords_are_answered_at_once() {
        let mut guard = PasswordGuard::new(1);
        let from: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let mut wrong = |ms| guard.decide(LIMITS, Millis(ms), from, false, || false);
        assert_eq!(wrong(1000), PasswordVerdict::Wrong { is_answered: true });
        assert_eq!(wrong(1100), PasswordVerdict::Wrong { is_answered: true });
        assert_eq!(wrong(1200), PasswordVerdict::Wrong { is_answered: false });
        assert_eq!(wrong(1300), PasswordVerdict::Ignored, "locked out");
        assert_eq!(
            guard.decide(LIMITS, Millis(1400), from, false, || true),
            PasswordVerdict::Granted
        );
    }

    #[test]
    fn wrong_passwords_double_the_lockout() {
        let mut guard = PasswordGuard::new(1);
        let from: SocketAddr = "192.0.2.1:1".parse().unwrap();
        let mut now = Millis(10_000);
        let mut lengths = Vec::new();
        for _ in 0..8 {
            guard.record_failure(LIMITS, now, from);
            let until = guard.lockouts[&AddressKey::site(from.ip())].until;
            lengths.push(until.since(now).0 / 1000);
            now = now.max(until);
        }
        assert_eq!(lengths, [0, 0, 1, 2, 4, 8, 16, 32]);
        guard.record_success(LIMITS, now, from);
        assert!(!guard.is_locked_out(now, from));
    }

    #[test]
    fn c19_locked_out_address_has_ten_passwords_a_second_compared() {
        let mut guard = PasswordGuard::new(1);
        let from: SocketAddr = "192.0.2.1:1".parse().unwrap();
        (0..30).for_each(|_| {
            guard.record_failure(LIMITS, Millis(1000), from);
        });
        let mut compared = |is_client| {
            (1000..11_000).filter(|&ms| guard.compares(Millis(ms), from, is_client)).count()
        };
        assert_eq!((compared(false), compared(true)), (109, 109));
        assert!(guard.compares(Millis(1000), "192.0.2.2:1".parse().unwrap(), false));
    }

    #[test]
    fn c39_administrator_is_compared_beside_forged_ports() {
        let mut guard = PasswordGuard::new(1);
        let [known, new]: [SocketAddr; 2] =
            ["192.0.2.1:1", "192.0.2.1:2"].map(|a| a.parse().unwrap());
        guard.record_success(LIMITS, Millis(500), known);
        (0..30).for_each(|_| {
            guard.record_failure(LIMITS, Millis(1000), new);
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
        (0..1000u16).for_each(|port| {
            guard.record_success(LIMITS, Millis(1), (known.ip(), port).into());
        });
        assert_eq!(guard.known.len(), MAX_KNOWN);
    }

    #[test]
    fn lockouts_are_bounded() {
        let mut guard = PasswordGuard::new(1);
        for i in 0..10_000u32 {
            let from = SocketAddr::new(std::net::Ipv4Addr::from_bits(i).into(), 1);
            guard.record_failure(LIMITS, Millis(u64::from(i)), from);
        }
        assert_eq!(guard.lockouts.len(), MAX_LOCKOUTS);
    }
}
