//! Session table: sessions by number, client address, and qport for NAT rebinding.
//!
//! Invariants: an address has at most one session; a number that is free may be used by a later session; the
//! indexes name sessions of the table only.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use slab::Slab;

use super::{
    family::Family,
    session::{Session, SessionState},
};
use crate::{
    limits::{AddressKey, same_host},
    model::{Millis, Qport},
};

/// Age at which a session without a connection may give way to a new one.
const EVICTABLE_AFTER: Millis = Millis::seconds(1);

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    slab: Slab<Session>,
    by_client: HashMap<SocketAddr, usize>,
    by_qport: HashMap<(IpAddr, Qport), usize>,
    by_host: HashMap<AddressKey, u16>,
}

impl Sessions {
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slab.is_empty()
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Session> {
        self.slab.get_mut(number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Session)> {
        self.slab.iter()
    }

    /// Number of the session of a client address.
    pub(super) fn of_client(&self, client: SocketAddr) -> Option<usize> {
        self.by_client.get(&client).copied()
    }

    /// Number of the session of a host and qport, from any port.
    pub(super) fn of_qport(&self, client: SocketAddr, qport: Qport) -> Option<usize> {
        self.by_qport.get(&(client.ip(), qport)).copied()
    }

    /// Family of a session.
    pub(super) fn family_of(&self, number: usize) -> Option<Family> {
        self.slab.get(number).map(Session::family)
    }

    /// Sessions of the host of an address.
    pub(super) fn of_host(&self, client: SocketAddr) -> u16 {
        self.by_host.get(&AddressKey::host(client.ip())).copied().unwrap_or(0)
    }

    /// Adds the session that `make` creates for its number.
    pub(super) fn insert(&mut self, make: impl FnOnce(usize) -> Session) -> usize {
        let entry = self.slab.vacant_entry();
        let number = entry.key();
        let session = entry.insert(make(number));
        let client = session.client;
        self.by_client.insert(client, number);
        *self.by_host.entry(AddressKey::host(client.ip())).or_default() += 1;
        number
    }

    /// Stores the qport that a client names in its `connect`.
    pub(super) fn set_qport(&mut self, number: usize, qport: Qport) {
        let Some(session) = self.slab.get_mut(number) else { return };
        let ip = session.client.ip();
        if let Some(old) = session.qport.replace(qport).filter(|old| *old != qport) {
            self.by_qport.remove(&(ip, old));
        }
        self.by_qport.insert((ip, qport), number);
    }

    /// Changes the port of a client. A session that the new address had is removed and returned.
    pub(super) fn rebind(&mut self, number: usize, client: SocketAddr) -> Option<Session> {
        let displaced = self.of_client(client).filter(|other| *other != number);
        let displaced = displaced.and_then(|other| self.remove(other));
        if let Some(session) = self.slab.get_mut(number) {
            self.by_client.remove(&session.client);
            self.by_client.insert(client, number);
            session.client = client;
        }
        displaced
    }

    /// Removes a session.
    pub(super) fn remove(&mut self, number: usize) -> Option<Session> {
        let session = self.slab.try_remove(number)?;
        if self.by_client.get(&session.client) == Some(&number) {
            self.by_client.remove(&session.client);
        }
        if let Some(qport) = session.qport {
            let place = (session.client.ip(), qport);
            if self.by_qport.get(&place) == Some(&number) {
                self.by_qport.remove(&place);
            }
        }
        let host = AddressKey::host(session.client.ip());
        if let Some(count) = self.by_host.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                self.by_host.remove(&host);
            }
        }
        Some(session)
    }

    /// Number of the session that gives way to a new one, of all hosts or of that of a client.
    ///
    /// It has no connection, and asked least recently.
    pub(super) fn evictable(&self, now: Millis, of_host: Option<SocketAddr>) -> Option<usize> {
        let unconnected = self.slab.iter().filter(|(_, session)| {
            session.state != SessionState::Connected
                && now.since(session.opened) >= EVICTABLE_AFTER
                && of_host.is_none_or(|client| same_host(client, session.client))
        });
        unconnected.min_by_key(|(_, session)| session.last_from_client).map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        node::{LocalPort, Route},
        proxy::{ProxyOptions, node::LISTEN},
    };

    fn address(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    fn add(sessions: &mut Sessions, port: u16, qport: u16) -> usize {
        let options = ProxyOptions::new(address(27_960));
        let number = sessions.insert(|number| {
            let local = LocalPort(number as u16);
            Session::new(
                Millis(5),
                &options,
                Route::new(LISTEN, address(port)),
                local,
                Family::Quake3,
                1,
            )
        });
        sessions.set_qport(number, Qport(qport));
        number
    }

    #[test]
    fn indexes_follow_insertion_and_removal() {
        let mut sessions = Sessions::default();
        let (a, b) = (add(&mut sessions, 1, 10), add(&mut sessions, 2, 20));
        assert_eq!((sessions.of_client(address(1)), sessions.of_host(address(9))), (Some(a), 2));
        assert_eq!(sessions.of_qport(address(9), Qport(20)), Some(b));
        sessions.set_qport(a, Qport(11));
        assert_eq!(sessions.of_qport(address(9), Qport(10)), None);
        sessions.remove(a).unwrap();
        assert_eq!((sessions.of_client(address(1)), sessions.of_host(address(9))), (None, 1));
        assert_eq!(sessions.of_qport(address(9), Qport(11)), None);
        assert!(sessions.remove(a).is_none());
        sessions.remove(b).unwrap();
        assert!(sessions.by_client.is_empty() && sessions.by_qport.is_empty());
        assert!(sessions.by_host.is_empty() && sessions.is_empty());
    }

    #[test]
    fn rebinding_displaces_the_session_of_the_new_port() {
        let mut sessions = Sessions::default();
        let (a, b) = (add(&mut sessions, 1, 10), add(&mut sessions, 2, 20));
        let displaced = sessions.rebind(a, address(2)).unwrap();
        assert_eq!(displaced.qport, Some(Qport(20)));
        assert!(sessions.get_mut(b).is_none());
        assert_eq!(
            (sessions.of_client(address(2)), sessions.of_client(address(1))),
            (Some(a), None)
        );
        assert_eq!(sessions.of_host(address(1)), 1);
    }

    #[test]
    fn only_old_sessions_without_connection_give_way() {
        let mut sessions = Sessions::default();
        let a = add(&mut sessions, 1, 10);
        let b = add(&mut sessions, 2, 20);
        sessions.get_mut(a).unwrap().state = SessionState::Connected;
        assert_eq!(sessions.evictable(Millis(900), None), None);
        assert_eq!(sessions.evictable(Millis(1100), Some(address(9))), Some(b));
        let other = ([192, 0, 2, 8], 9).into();
        assert_eq!(sessions.evictable(Millis(1100), Some(other)), None);
    }
}
