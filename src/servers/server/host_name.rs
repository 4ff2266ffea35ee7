//! Host of a setting: its name, its addresses, and when it is looked up.
//!
//! Invariants: there is at most one lookup at a time, daily and after failures; an address in the setting needs
//! none; after a failure the old addresses stay in use.

use std::net::SocketAddr;

use crate::{
    model::Millis,
    node::{Lookup, LookupAnswer},
};

/// Age at which a name is looked up again.
const LOOKUP_AGE: Millis = Millis::seconds(24 * 3600);
/// Time until a failed lookup is repeated.
const LOOKUP_RETRY: Millis = Millis::seconds(60);
/// Addresses of a host: one of each family.
const ADDRESSES_MAX: usize = 2;

/// A host that a setting names.
#[derive(Debug, Default)]
pub(super) struct HostName {
    /// Value of the setting; empty for no host.
    name: String,
    default_port: u16,
    addresses: Vec<SocketAddr>,
    /// Time of the addresses.
    found_at: Option<Millis>,
    is_literal: bool,
    is_asked: bool,
    /// Time and reason of the last failure.
    failure: Option<(Millis, String)>,
}

impl HostName {
    /// Host of a setting whose value is `name`.
    pub(super) fn new(name: &str, default_port: u16) -> Self {
        let addresses: Vec<_> = literal(name, default_port).into_iter().collect();
        let is_literal = !addresses.is_empty();
        Self { name: name.to_owned(), default_port, addresses, is_literal, ..Self::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_none(&self) -> bool {
        self.name.is_empty()
    }

    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Time and reason of the last failure, if no lookup succeeded since.
    pub(super) fn failure(&self) -> Option<(Millis, &str)> {
        self.failure.as_ref().map(|(at, error)| (*at, error.as_str()))
    }

    /// Lookup that is due, if any.
    pub(super) fn lookup_due(&mut self, now: Millis) -> Option<Lookup> {
        if self.is_none() || self.is_asked || self.is_literal {
            return None;
        }
        let is_due = match (&self.failure, self.found_at) {
            (Some((at, _)), _) => now.since(*at) >= LOOKUP_RETRY,
            (None, Some(at)) => now.since(at) >= LOOKUP_AGE,
            (None, None) => true,
        };
        self.is_asked = is_due;
        let (name, default_port) = (&self.name, self.default_port);
        is_due.then(|| Lookup { name: name.clone(), default_port })
    }

    /// Stores the answer to a lookup of this host, and logs a change. `kind`: what the host is.
    pub(super) fn handle_lookup(&mut self, now: Millis, kind: &str, answer: &LookupAnswer) {
        let Lookup { name, default_port } = &answer.lookup;
        if *name != self.name || *default_port != self.default_port {
            return;
        }
        self.is_asked = false;
        match &answer.found {
            Err(error) => {
                if self.failure.is_none() {
                    log::warn!("{kind} {name} not resolved: {error}; trying again every minute");
                }
                self.failure = Some((now, error.clone()));
            }
            Ok(found) => {
                let found: Vec<_> = found.iter().copied().take(ADDRESSES_MAX).collect();
                if self.failure.is_some() || found != self.addresses {
                    let list: Vec<_> = found.iter().map(ToString::to_string).collect();
                    log::info!("{kind} {name} resolved: {}", list.join(", "));
                }
                (self.addresses, self.found_at, self.failure) = (found, Some(now), None);
            }
        }
    }
}

/// Address in a setting, which needs no lookup.
fn literal(name: &str, default_port: u16) -> Option<SocketAddr> {
    let canonical = |at: SocketAddr| SocketAddr::new(at.ip().to_canonical(), at.port());
    let with_port = name.parse().ok().filter(|at: &SocketAddr| at.port() != 0);
    let bare = || name.trim_matches(['[', ']']).parse().ok();
    with_port.or_else(|| bare().map(|ip| SocketAddr::new(ip, default_port))).map(canonical)
}
