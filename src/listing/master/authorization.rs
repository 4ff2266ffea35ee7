//! CD-key authorization: verdicts about clients, by rules of the operator.
//!
//! A client announces its key, later a server asks about the client's address. Keys are secrets: compared,
//! never stored or logged. Invariant: a fixed table holds the last announcements, one per IPv4 address.

use std::net::{IpAddr, Ipv4Addr};

use crate::{cvar::Networks, limits::AddressKey, model::Millis};

use super::hosts::{HashKey, HostTable};

/// Time in which a server asks about an announced key.
const ANNOUNCEMENT_LIFE: Millis = Millis::seconds(3600);
/// Sets of four addresses whose announcements are kept.
const SETS: usize = 1024;

/// Verdict about a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// The client may join.
    Accept,
    /// The client may not join.
    Deny,
    /// The client has the demo.
    Demo,
    /// The client is not known yet.
    #[default]
    Unknown,
}

/// Rule for clients. All of its conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationRule {
    /// Key, letters and digits without regard to case.
    pub key: Option<String>,
    /// Networks of the client.
    pub networks: Option<Networks>,
    /// Game folder of the server.
    pub game: Option<String>,
    /// Verdict.
    pub answer: Answer,
    /// Text for the player; empty for the game's own.
    pub reason: String,
}

/// Rules of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationPolicy {
    /// Rules; the first that holds decides.
    pub rules: Vec<AuthorizationRule>,
    /// Verdict about a client with a key that no rule names.
    pub with_key: Answer,
    /// Verdict about a client without a key.
    pub without_key: Answer,
}

/// Announced key of an address.
#[derive(Clone, Copy, Debug, Default)]
struct Announced {
    /// Hash of the key, so that no key is kept.
    key: u64,
    at: Option<Millis>,
}

/// Authorization service.
#[derive(Debug)]
pub(super) struct Authorization {
    policy: AuthorizationPolicy,
    /// Hashes of the keys of the rules, in the same order.
    keys: Vec<Option<u64>>,
    announced: HostTable<Announced>,
    key: HashKey,
}

impl Authorization {
    /// Creates a service without announcements.
    pub(super) fn new(policy: AuthorizationPolicy, key: HashKey) -> Self {
        let hash =
            |rule: &AuthorizationRule| rule.key.as_ref().map(|text| hash_key(key, text.bytes()));
        let keys = policy.rules.iter().map(hash).collect();
        Self { policy, keys, announced: HostTable::new(SETS, key), key }
    }

    /// Keeps the key that a client announces.
    pub(super) fn announce(&mut self, now: Millis, from: IpAddr, key: impl Iterator<Item = u8>) {
        let announced = Announced { key: hash_key(self.key, key), at: Some(now) };
        *self.announced.entry(now.0, AddressKey::host(from)) = announced;
    }

    /// Returns the verdict about a client, and a text for the player.
    pub(super) fn verdict(&self, now: Millis, client: Ipv4Addr, game: &[u8]) -> (Answer, &str) {
        let announced = self
            .announced
            .peek(AddressKey::host(client.into()))
            .filter(|one| one.at.is_some_and(|at| now.since(at) <= ANNOUNCEMENT_LIFE));
        for (rule, key) in self.policy.rules.iter().zip(&self.keys) {
            let has_key = key.is_none_or(|key| announced.is_some_and(|one| one.key == key));
            let in_network =
                rule.networks.as_ref().is_none_or(|networks| networks.contains(client.into()));
            let of_game =
                rule.game.as_ref().is_none_or(|name| name.as_bytes().eq_ignore_ascii_case(game));
            if has_key && in_network && of_game {
                return (rule.answer, &rule.reason);
            }
        }
        match announced {
            Some(_) => (self.policy.with_key, ""),
            None => (self.policy.without_key, ""),
        }
    }
}

fn hash_key(key: HashKey, text: impl Iterator<Item = u8>) -> u64 {
    let legal = |byte: &u8| byte.is_ascii_alphanumeric();
    let folded: Vec<u8> =
        text.filter(legal).take(64).map(|byte| byte.to_ascii_lowercase()).collect();
    key.hash(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rule_that_holds_decides() {
        let policy = AuthorizationPolicy {
            rules: vec![
                AuthorizationRule {
                    key: Some("aaaa-BBBB".to_owned()),
                    answer: Answer::Deny,
                    reason: "Key is blocked".to_owned(),
                    ..AuthorizationRule::default()
                },
                AuthorizationRule {
                    networks: Networks::parse("192.0.2.0/24"),
                    answer: Answer::Accept,
                    ..AuthorizationRule::default()
                },
                AuthorizationRule {
                    game: Some("demota".to_owned()),
                    answer: Answer::Demo,
                    ..AuthorizationRule::default()
                },
            ],
            with_key: Answer::Accept,
            without_key: Answer::Unknown,
        };
        let mut service = Authorization::new(policy, HashKey::new([1; 16]));
        let (lan, far, other) = ([192, 0, 2, 1], [198, 51, 100, 1], [198, 51, 100, 2]);
        let ask = |service: &Authorization, at, ip: [u8; 4], game: &[u8]| {
            let (answer, reason) = service.verdict(Millis(at), ip.into(), game);
            (answer, reason.to_owned())
        };
        let none = String::new();
        assert_eq!(ask(&service, 5, lan, b"baseq3"), (Answer::Accept, none.clone()));
        assert_eq!(ask(&service, 5, far, b"DEMOTA"), (Answer::Demo, none.clone()));
        assert_eq!(ask(&service, 5, far, b"baseq3"), (Answer::Unknown, none.clone()));
        service.announce(Millis(5), IpAddr::from(far), b"AAAAbbbb".iter().copied());
        service.announce(Millis(5), IpAddr::from(other), b"cccc".iter().copied());
        let blocked = (Answer::Deny, "Key is blocked".to_owned());
        assert_eq!(ask(&service, 6, far, b"baseq3"), blocked);
        assert_eq!(ask(&service, 6, other, b"baseq3"), (Answer::Accept, none.clone()));
        assert_eq!(ask(&service, 4_000_000, far, b"baseq3"), (Answer::Unknown, none));
    }
}
