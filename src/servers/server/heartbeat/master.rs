//! One master server: its name, its addresses, and what it asked.

use std::{fmt::Write as _, net::SocketAddr};

use super::MASTER_PORT;
use crate::{
    limits::{Bucket, BucketLimit},
    model::Millis,
    node::{Lookup, LookupAnswer},
    server::host_name::HostName,
    wire::connectionless::CommandKind,
};

/// Time in which a master answers its first heartbeat.
const FIRST_ANSWER: Millis = Millis::seconds(30);
/// Silence after which a master is reported: it has forgotten the server by then.
const SILENCE: Millis = Millis::seconds(930);
/// Questions of a master that are answered in any case. Masters ask three at once. The address may be
/// forged, so there is a limit.
const PROBES: BucketLimit = BucketLimit { burst: 12, period: Millis(500) };
/// Contact with a master at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contact {
    /// It may still answer its first heartbeat.
    New,
    /// It asks.
    Heard,
    /// It does not ask.
    Silent,
}

/// An address of a master.
#[derive(Clone, Debug)]
struct MasterAddress {
    address: SocketAddr,
    contact: Contact,
    /// Time of the first heartbeat and of the last one.
    told: Option<(Millis, Millis)>,
    /// Last question of each kind.
    asked: Vec<(CommandKind, Millis)>,
    probes: Bucket,
}

impl MasterAddress {
    fn new(address: SocketAddr) -> Self {
        let (contact, asked) = (Contact::New, Vec::new());
        Self { address, contact, told: None, asked, probes: Bucket::default() }
    }

    fn heard_at(&self) -> Option<Millis> {
        self.asked.iter().map(|&(_, at)| at).max()
    }
}

/// A master server of the settings.
#[derive(Debug, Default)]
pub(super) struct Master {
    host: HostName,
    addresses: Vec<MasterAddress>,
    /// Whether a heartbeat is due as soon as an address is known.
    owes_heartbeat: bool,
}

impl Master {
    pub(super) fn has_address(&self, from: SocketAddr) -> bool {
        self.addresses.iter().any(|one| one.address == from)
    }

    /// Addresses that were sent a heartbeat.
    pub(super) fn addresses_told(&self) -> impl Iterator<Item = SocketAddr> {
        self.addresses.iter().filter(|one| one.told.is_some()).map(|one| one.address)
    }

    /// Schedules a heartbeat to the master that the setting names now.
    pub(super) fn begin_round(&mut self, name: &str) {
        if self.host.name() != name {
            *self = Self { host: HostName::new(name, MASTER_PORT), ..Self::default() };
            self.take_addresses();
        }
        self.owes_heartbeat = !self.host.is_none();
    }

    /// Lookup that is due, if any.
    pub(super) fn lookup_due(&mut self, now: Millis) -> Option<Lookup> {
        self.host.lookup_due(now)
    }

    /// Stores the answer to a lookup. A new address is told at once.
    pub(super) fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        self.host.handle_lookup(now, "master", answer);
        self.take_addresses();
        self.owes_heartbeat |= self.addresses.iter().any(|one| one.told.is_none());
    }

    /// Takes the addresses of the host, and keeps what is known of old ones.
    fn take_addresses(&mut self) {
        let known = |address| self.addresses.iter().find(|one| one.address == address);
        let addresses = self.host.addresses().iter();
        let with_state =
            addresses.map(|&one| known(one).cloned().unwrap_or_else(|| MasterAddress::new(one)));
        self.addresses = with_state.collect();
    }

    /// Addresses that are sent a heartbeat now. `families`: 1 for IPv4, 2 for IPv6, 3 for both.
    pub(super) fn take_heartbeats(&mut self, now: Millis, families: i32) -> Vec<SocketAddr> {
        if !self.owes_heartbeat || self.addresses.is_empty() {
            return Vec::new();
        }
        self.owes_heartbeat = false;
        let has_socket =
            |one: &&mut MasterAddress| families & if one.address.is_ipv4() { 1 } else { 2 } != 0;
        let told = self.addresses.iter_mut().filter(has_socket).map(|one| {
            one.told = Some((one.told.map_or(now, |(first, _)| first), now));
            one.address
        });
        told.collect()
    }

    /// Records a question of the master. Returns whether it is answered in any case.
    pub(super) fn take_probe(&mut self, now: Millis, from: SocketAddr, asked: CommandKind) -> bool {
        let name = self.host.name();
        let Some(one) = self.addresses.iter_mut().find(|one| one.address == from) else {
            return false;
        };
        if one.told.is_none() || !one.probes.allows(now, PROBES) {
            return false;
        }
        if one.contact != Contact::Heard {
            log::info!("master {name} ({from}) answered the heartbeat with {}", asked.name());
            one.contact = Contact::Heard;
        }
        match one.asked.iter_mut().find(|(kind, _)| *kind == asked) {
            Some((_, at)) => *at = now,
            None => one.asked.push((asked, now)),
        }
        true
    }

    /// Logs each address that has become silent.
    pub(super) fn report_silence(&mut self, now: Millis) {
        for one in &mut self.addresses {
            let Some((first, _)) = one.told else { continue };
            let limit = match one.contact {
                Contact::New => FIRST_ANSWER,
                Contact::Heard => SILENCE,
                Contact::Silent => continue,
            };
            let silence = now.since(one.heard_at().unwrap_or(first));
            if silence >= limit {
                one.contact = Contact::Silent;
                log::warn!(
                    "master {} ({}) silent for {} s: not listed there; heartbeats continue",
                    self.host.name(),
                    one.address,
                    silence.0 / 1000
                );
            }
        }
    }

    /// Line for each address, or one about the name.
    pub(super) fn lines(&self, now: Millis) -> Vec<String> {
        if self.host.is_none() {
            return Vec::new();
        }
        let ago = |at: Millis| format!("{} s ago", now.since(at).0 / 1000);
        if self.addresses.is_empty() {
            let state = match self.host.failure() {
                Some((at, error)) => format!("not resolved {}: {error}", ago(at)),
                None => "name lookup running".to_owned(),
            };
            return vec![format!("master {}: {state}", self.host.name())];
        }
        let line = |one: &MasterAddress| {
            let mut line = format!("master {} ({}): ", self.host.name(), one.address);
            line += &match one.told {
                Some((_, last)) => format!("heartbeat {}", ago(last)),
                None => "no heartbeat sent".to_owned(),
            };
            if one.asked.is_empty() {
                line += ", never heard";
            }
            for (kind, at) in &one.asked {
                let _ = write!(line, ", asked {} {}", kind.name(), ago(*at));
            }
            line
        };
        self.addresses.iter().map(line).collect()
    }
}
