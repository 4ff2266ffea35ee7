//! Viewers of a broadcast, by key and by address.
//!
//! Invariants: a viewer is found under its host and qport exactly while it is stored; at most as many are
//! stored as the options allow.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use slab::Slab;

use super::viewer::Viewer;
use crate::{
    model::{Challenge, Millis, Qport},
    netchan::AddressMatch,
};

/// Key of a viewer.
pub(super) type ViewerKey = usize;

/// All viewers.
#[derive(Debug, Default)]
pub(super) struct Viewers {
    slots: Slab<Box<Viewer>>,
    /// Keys by host and qport. Clients of one host rarely share a qport.
    by_host: HashMap<(IpAddr, u16), Vec<ViewerKey>>,
}

impl Viewers {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Number of viewers that are not zombies.
    pub(super) fn present(&self) -> usize {
        self.iter().filter(|(_, viewer)| !viewer.is_zombie()).count()
    }

    pub(super) fn get(&self, key: ViewerKey) -> Option<&Viewer> {
        self.slots.get(key).map(|viewer| &**viewer)
    }

    pub(super) fn get_mut(&mut self, key: ViewerKey) -> Option<&mut Viewer> {
        self.slots.get_mut(key).map(|viewer| &mut **viewer)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ViewerKey, &Viewer)> {
        self.slots.iter().map(|(key, viewer)| (key, &**viewer))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (ViewerKey, &mut Viewer)> {
        self.slots.iter_mut().map(|(key, viewer)| (key, &mut **viewer))
    }

    /// Fills `keys` with the keys in use.
    pub(super) fn collect_keys(&self, keys: &mut Vec<ViewerKey>) {
        keys.clear();
        keys.extend(self.slots.iter().map(|(key, _)| key));
    }

    pub(super) fn insert(&mut self, viewer: Viewer) -> ViewerKey {
        let index = index_of(viewer.remote.address().ip(), viewer.remote.qport());
        let key = self.slots.insert(Box::new(viewer));
        self.by_host.entry(index).or_default().push(key);
        key
    }

    pub(super) fn remove(&mut self, key: ViewerKey) {
        let Some(viewer) = self.slots.try_remove(key) else { return };
        let index = index_of(viewer.remote.address().ip(), viewer.remote.qport());
        if let Some(keys) = self.by_host.get_mut(&index) {
            keys.retain(|&other| other != key);
            if keys.is_empty() {
                self.by_host.remove(&index);
            }
        }
    }

    /// Finds the viewer of a datagram by address and qport, or else by host and qport. Of several of
    /// the latter it is the one with the last message.
    pub(super) fn find(&self, from: SocketAddr, qport: Qport) -> Option<ViewerKey> {
        let mut other_port: Option<(Millis, ViewerKey)> = None;
        for &key in self.by_host.get(&index_of(from.ip(), qport))? {
            let Some(viewer) = self.get(key) else { continue };
            match viewer.remote.match_source(from, qport) {
                AddressMatch::Exact => return Some(key),
                AddressMatch::PortChanged => {
                    if other_port.is_none_or(|(at, _)| viewer.received_at > at) {
                        other_port = Some((viewer.received_at, key));
                    }
                }
                AddressMatch::Mismatch => {}
            }
        }
        other_port.map(|(_, key)| key)
    }

    /// Finds the viewer with this address and port.
    pub(super) fn at_address(&self, address: SocketAddr) -> Option<ViewerKey> {
        self.iter().find(|(_, viewer)| viewer.remote.address() == address).map(|(key, _)| key)
    }

    /// Whether datagrams with a challenge may be on the network.
    pub(super) fn has_used(&self, challenge: Challenge) -> bool {
        self.iter()
            .any(|(_, viewer)| viewer.has_sent_message() && viewer.channel.challenge() == challenge)
    }

    /// Whether the index is complete and the channels are consistent, for simulations.
    pub(super) fn check_invariants(&self) -> Result<(), String> {
        for (key, viewer) in self.iter() {
            viewer.channel.check_invariants().map_err(|what| format!("viewer {key}: {what}"))?;
            let index = index_of(viewer.remote.address().ip(), viewer.remote.qport());
            if !self.by_host.get(&index).is_some_and(|keys| keys.contains(&key)) {
                return Err(format!("viewer {key} is not found by its address"));
            }
        }
        let indexed: usize = self.by_host.values().map(Vec::len).sum();
        if indexed != self.len() {
            return Err(format!("{indexed} viewers by address, {} stored", self.len()));
        }
        Ok(())
    }
}

fn index_of(ip: IpAddr, qport: Qport) -> (IpAddr, u16) {
    (ip.to_canonical(), qport.0)
}
