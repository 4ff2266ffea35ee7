//! Shares of hosts, sites and networks in the places of a list.
//!
//! One IPv6 line has 256 to 65,536 hosts, so sites and networks have limits of their own. On a full list the largest
//! network gives way to servers of smaller ones, with its newest server first.
//! Invariants: counts agree with the listed servers; every operation takes logarithmic time at most.

use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
};

use super::{Limits, NotListed, Slot};
use crate::{limits::AddressKey, master::hosts::HashKey};

/// Servers of one IPv6 site and network, for each server that one host may have.
const PER_SITE: usize = 2;
const PER_NETWORK: usize = 4;

/// Places by host, site and network.
#[derive(Debug)]
pub(super) struct Shares {
    hosts: HashMap<AddressKey, u32, HashKey>,
    sites: HashMap<AddressKey, u32, HashKey>,
    networks: HashMap<AddressKey, u32, HashKey>,
    /// Servers by network and age, the newest last.
    members: BTreeSet<(AddressKey, u64, Slot)>,
    /// Networks by their number of places, of IPv6 and of IPv4.
    sizes: [BTreeSet<(u32, AddressKey)>; 2],
    /// Servers of IPv6 and of IPv4.
    totals: [usize; 2],
}

impl Shares {
    pub(super) fn new(key: HashKey) -> Self {
        Self {
            hosts: HashMap::with_hasher(key),
            sites: HashMap::with_hasher(key),
            networks: HashMap::with_hasher(key),
            members: BTreeSet::new(),
            sizes: [BTreeSet::new(), BTreeSet::new()],
            totals: [0; 2],
        }
    }

    /// Whether a host has a server.
    pub(super) fn has_host(&self, ip: IpAddr) -> bool {
        self.hosts.contains_key(&AddressKey::host(ip))
    }

    /// Number of servers with IPv6 addresses.
    pub(super) const fn ipv6(&self) -> usize {
        self.totals[0]
    }

    /// Adds a server with its rank of age.
    pub(super) fn add(&mut self, ip: IpAddr, born: u64, slot: Slot) {
        *self.hosts.entry(AddressKey::host(ip)).or_default() += 1;
        *self.sites.entry(AddressKey::site(ip)).or_default() += 1;
        self.members.insert((AddressKey::network(ip), born, slot));
        self.resize(AddressKey::network(ip), 1);
    }

    /// Removes a server.
    pub(super) fn remove(&mut self, ip: IpAddr, born: u64, slot: Slot) {
        decrease(&mut self.hosts, AddressKey::host(ip));
        decrease(&mut self.sites, AddressKey::site(ip));
        self.members.remove(&(AddressKey::network(ip), born, slot));
        self.resize(AddressKey::network(ip), -1);
    }

    /// Checks the limits of a new server's host, site and network, besides reserved places of its host.
    pub(super) fn check(
        &self,
        ip: IpAddr,
        limits: Limits,
        reserved: usize,
    ) -> Result<(), NotListed> {
        let most = limits.per_host;
        let is_below = |count: usize, most: usize| most == 0 || count < most;
        if !is_below(count(&self.hosts, AddressKey::host(ip)) + reserved, most) {
            return Err(NotListed::HostFull);
        }
        // A provider has many customers in an IPv4 /24, and one in an IPv6 /48.
        let network = AddressKey::network(ip);
        let fits = network.is_ipv4()
            || is_below(count(&self.sites, AddressKey::site(ip)), most.saturating_mul(PER_SITE))
                && is_below(count(&self.networks, network), most.saturating_mul(PER_NETWORK));
        if fits { Ok(()) } else { Err(NotListed::NetworkFull) }
    }

    /// Server that gives way to a new one on a full list. `only_ipv6`: the places of IPv6 are full.
    pub(super) fn yielding(&self, ip: IpAddr, only_ipv6: bool) -> Option<Slot> {
        let own = count(&self.networks, AddressKey::network(ip));
        let families = if only_ipv6 { &self.sizes[..1] } else { &self.sizes[..] };
        let (size, network) = families.iter().filter_map(|sizes| sizes.last()).max()?;
        if own + 1 >= *size as usize {
            return None;
        }
        let mut of_network = self.members.range((*network, 0, 0)..=(*network, u64::MAX, Slot::MAX));
        of_network.next_back().map(|(_, _, slot)| *slot)
    }

    fn resize(&mut self, network: AddressKey, change: i32) {
        let family = usize::from(network.is_ipv4());
        let count = self.networks.entry(network).or_default();
        let sizes = &mut self.sizes[family];
        sizes.remove(&(*count, network));
        *count = count.saturating_add_signed(change);
        self.totals[family] = self.totals[family].saturating_add_signed(change as isize);
        if *count > 0 {
            sizes.insert((*count, network));
        } else {
            self.networks.remove(&network);
        }
    }
}

fn count(counts: &HashMap<AddressKey, u32, HashKey>, key: AddressKey) -> usize {
    counts.get(&key).copied().unwrap_or(0) as usize
}

fn decrease(counts: &mut HashMap<AddressKey, u32, HashKey>, key: AddressKey) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}
