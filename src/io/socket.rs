//! UDP sockets of a node's ports, IPv4 and IPv6 side by side.
//!
//! One [`LocalPort`] has up to two sockets, one per address family; the remote address selects one.
//! Invariants: IPv6 sockets are IPv6-only, so both families can share a port number; a busy port is an error
//! unless other ports are allowed; the poll is asked for writability only while datagrams are queued.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mio::{Interest, Registry, Token, net::UdpSocket};
use slab::Slab;
use socket2::SockRef;

use super::{
    association::Association,
    batch::{self, Batching, Family, canonical},
    bind::{BindError, CLIENT_BUFFER_BYTES, Listen, open, open_pair},
    on_demand::OnDemand,
    open_files::is_file_limit,
    send_queue::SendQueue,
    steering::connectionless_socket,
};
use crate::node::{LocalPort, LoopCounters, Route};

/// Sockets of one node, numbered by [`LocalPort`].
pub struct Sockets {
    pub(super) sockets: Slab<Socket>,
    pub(super) ports: Vec<Port>,
    pub(super) batching: Batching,
    pub(super) on_demand: OnDemand,
}

/// Sockets of one port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    pub(super) v4: Option<usize>,
    pub(super) v6: Option<usize>,
}

impl Sockets {
    fn new() -> Self {
        Self {
            sockets: Slab::new(),
            ports: Vec::new(),
            batching: Batching::BEST,
            on_demand: OnDemand::default(),
        }
    }

    /// Opens one port for each of `listens`, in order.
    ///
    /// Raises the process's limit of open files as far as necessary and allowed.
    pub fn listen(listens: &[Listen]) -> Result<Self, BindError> {
        #[cfg(unix)]
        super::open_files::raise_open_files(2 * listens.len() as u64 + 64);
        let mut sockets = Self::new();
        for listen in listens {
            let [v4, v6] = (0..=listen.next_ports)
                .find_map(|offset| match open_pair(listen, offset) {
                    Err(BindError::Busy { .. }) if offset < listen.next_ports => None,
                    result => Some(result),
                })
                .unwrap_or(Err(BindError::NoFamily))?;
            sockets.push([v4, v6]);
            if listen.separates_connectionless {
                sockets.separate_connectionless(listen.buffer_bytes);
            }
        }
        for (_, socket) in &sockets.sockets {
            // A socket on one address replies from it.
            if socket.udp.local_addr().is_ok_and(|address| address.ip().is_unspecified()) {
                batch::ask_local_addresses(&socket.udp, socket.family);
            }
        }
        Ok(sockets)
    }

    /// Opens `count` ports with free port numbers, for traffic with `remote`.
    ///
    /// Raises the process's limit of open files as far as necessary and allowed.
    pub fn ephemeral(count: u16, remote: IpAddr) -> Result<Self, BindError> {
        let wanted = usize::from(count);
        #[cfg(unix)]
        super::open_files::raise_open_files(wanted as u64 + 64);
        let ip: IpAddr = match remote.to_canonical() {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let mut sockets = Self::new();
        for opened in 0..wanted {
            match open(SocketAddr::new(ip, 0), CLIENT_BUFFER_BYTES) {
                Ok(socket) => sockets.push([Some(socket), None]),
                Err(BindError::Io { source, .. }) if is_file_limit(&source) => {
                    return Err(BindError::TooManyFiles { opened, wanted });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(sockets)
    }

    /// Assigns the opened sockets to the next port.
    fn push(&mut self, opened: [Option<UdpSocket>; 2]) {
        let local =
            LocalPort(u16::try_from(self.ports.len()).expect("ports are counted in 16 bits"));
        let mut port = Port::default();
        for udp in opened.into_iter().flatten() {
            let socket = Socket::new(udp, local);
            let family = socket.family;
            let number = Some(self.sockets.insert(socket));
            match family {
                Family::V4 => port.v4 = number,
                Family::V6 => port.v6 = number,
            }
        }
        self.ports.push(port);
    }

    /// Opens a second socket for the connectionless packets of each socket of the last port.
    fn separate_connectionless(&mut self, buffer_bytes: usize) {
        let Some(port) = self.ports.last().copied() else { return };
        for number in [port.v4, port.v6].into_iter().flatten() {
            let first = &mut self.sockets[number];
            match connectionless_socket(&first.udp, buffer_bytes) {
                Ok(udp) => {
                    first.content = Content::Connections;
                    let local = first.local;
                    self.sockets.insert(Socket::new(udp, local));
                }
                Err(error) => log::debug!("connectionless packets not separated: {error}"),
            }
        }
    }

    /// Returns the number of ports.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether the node has no ports.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Returns the addresses that `local` is bound to, IPv4 first.
    pub fn addresses(&self, local: LocalPort) -> impl Iterator<Item = SocketAddr> {
        self.ports
            .get(usize::from(local.0))
            .into_iter()
            .flat_map(|port| [port.v4, port.v6])
            .flatten()
            .filter_map(|number| self.sockets[number].udp.local_addr().ok())
    }

    /// Returns the socket for `route` and the address in the form of that socket.
    pub(super) fn socket_for(&self, route: Route) -> Option<(usize, SocketAddr)> {
        let port = self.ports.get(usize::from(route.local.0))?;
        let remote = canonical(route.remote);
        let number = match Family::of(&remote) {
            Family::V4 => port.v4,
            Family::V6 => port.v6,
        }?;
        Some((number, remote))
    }
}

/// Datagrams that arrive at a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Any, or only connectionless packets: all are handled soon.
    Any,
    /// Only those of connections, which may wait until a frame.
    Connections,
}

/// One socket and its send queue.
pub(super) struct Socket {
    pub(super) udp: UdpSocket,
    pub(super) local: LocalPort,
    pub(super) family: Family,
    pub(super) content: Content,
    /// Whether the poll reports its events. Sockets whose datagrams wait for a frame are read without it.
    is_polled: bool,
    /// Whether it is in the loop's queue of readable sockets.
    pub(super) is_queued: bool,
    /// Whether it was read since it was opened.
    pub(super) has_been_read: bool,
    /// Errors since the last arrival.
    pub(super) errors_in_a_row: u32,
    /// Association that relays its datagrams.
    pub(super) association: Option<Box<Association>>,
    waiting: SendQueue,
}

impl Socket {
    pub(super) fn new(udp: UdpSocket, local: LocalPort) -> Self {
        let family = match udp.local_addr() {
            Ok(SocketAddr::V6(_)) => Family::V6,
            _ => Family::V4,
        };
        let waiting = SendQueue::default();
        Self {
            udp,
            local,
            family,
            content: Content::Any,
            is_polled: true,
            is_queued: false,
            has_been_read: false,
            errors_in_a_row: 0,
            association: None,
            waiting,
        }
    }

    /// Memory of the kernel's receive queue, in bytes.
    pub(super) fn receive_queue(&self) -> usize {
        SockRef::from(&self.udp).recv_buffer_size().unwrap_or(0)
    }

    /// Whether datagrams are queued for room in the kernel's queue.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Sends each datagram to its address in `to`, from `local_ip` if it is given, or queues it.
    pub(super) fn send(
        &mut self,
        datagrams: &[Vec<u8>],
        (to, local_ip): (&[SocketAddr], Option<IpAddr>),
        batching: Batching,
        poll: (&Registry, Token),
        counters: &mut LoopCounters,
    ) {
        let waited = self.is_waiting();
        let send =
            |datagrams: &_, to: &_| batch::send(&self.udp, datagrams, to, local_ip, batching);
        self.waiting.offer(datagrams, to, local_ip, send, counters);
        if self.is_waiting() && !waited {
            self.watch(poll, Interest::READABLE | Interest::WRITABLE);
        }
    }

    /// Sends queued datagrams while there is room.
    pub(super) fn send_waiting(&mut self, poll: (&Registry, Token), counters: &mut LoopCounters) {
        if !self.is_waiting() {
            return;
        }
        let send = |datagram: &_, to, local_ip| batch::send_one(&self.udp, datagram, to, local_ip);
        self.waiting.retry(send, counters);
        if !self.is_waiting() {
            self.watch(poll, Interest::READABLE);
        }
    }

    /// Starts or stops the poll's events.
    pub(super) fn set_polled(&mut self, polled: bool, (registry, token): (&Registry, Token)) {
        if self.is_polled == polled {
            return;
        }
        self.is_polled = polled;
        let result = if polled {
            let writable = self.is_waiting().then_some(Interest::WRITABLE);
            let interest = writable.map_or(Interest::READABLE, |also| also | Interest::READABLE);
            registry.register(&mut self.udp, token, interest)
        } else {
            registry.deregister(&mut self.udp)
        };
        if let Err(error) = result {
            log::warn!("port {} not polled: {error}", self.local.0);
        }
    }

    /// Registers the poll's interest. Permanent interest in writability would wake the loop for every datagram sent.
    fn watch(&mut self, (registry, token): (&Registry, Token), interest: Interest) {
        if self.is_polled
            && let Err(error) = registry.reregister(&mut self.udp, token, interest)
        {
            log::warn!("port {} not polled: {error}", self.local.0);
        }
    }
}

/// Returns why `from` is not a valid unicast source, if so.
///
/// Subnet broadcast addresses are not recognized, because the mask is unknown.
pub(super) fn invalid_source(from: SocketAddr) -> Option<&'static str> {
    let ip = from.ip();
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    if from.port() == 0 {
        Some("sent from port 0")
    } else if ip.is_multicast() || is_broadcast {
        Some("sent from a multicast or broadcast address")
    } else if ip.is_unspecified() {
        Some("sent from no address")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback(port: u16) -> Listen {
        Listen {
            ip4: Some(Ipv4Addr::LOCALHOST),
            ip6: None,
            port,
            buffer_bytes: 1 << 20,
            ..Listen::default()
        }
    }

    fn port_of(sockets: &Sockets) -> u16 {
        sockets.addresses(LocalPort(0)).next().unwrap().port()
    }

    #[test]
    fn busy_port_is_an_error_with_its_number() {
        let first = Sockets::listen(&[loopback(0)]).unwrap();
        let port = port_of(&first);
        let Err(error) = Sockets::listen(&[loopback(port)]) else { panic!("bound twice") };
        let text = error.to_string();
        assert!(text.contains(&format!("port {port} on 127.0.0.1 in use")), "{text}");
        assert!(text.contains("net_port"), "{text}");

        let second = Sockets::listen(&[Listen { next_ports: 9, ..loopback(port) }]).unwrap();
        assert!((port + 1..=port + 9).contains(&port_of(&second)));
    }

    #[test]
    fn foreign_address_is_named_in_the_error() {
        // Address reserved for documentation.
        let listen = Listen { ip4: Some(Ipv4Addr::new(203, 0, 113, 77)), ..loopback(0) };
        let Err(error) = Sockets::listen(&[listen]) else { panic!("bound a foreign address") };
        let text = error.to_string();
        assert!(text.starts_with("203.0.113.77 is not an address of this machine"), "{text}");
        let Err(error) = Sockets::listen(&[Listen { ip4: None, ..loopback(0) }]) else {
            panic!("bound nothing")
        };
        assert!(matches!(error, BindError::NoFamily));
    }

    #[test]
    fn both_families_share_a_port_number() {
        let both = Listen { ip6: Some(Ipv6Addr::LOCALHOST), ..loopback(0) };
        // Skip a machine without IPv6 loopback.
        let Ok(sockets) = Sockets::listen(&[both, loopback(0)]) else { return };
        assert_eq!(sockets.len(), 2);
        let addresses: Vec<_> = sockets.addresses(LocalPort(0)).collect();
        assert_eq!(addresses.len(), 2);
        assert_eq!(addresses[0].port(), addresses[1].port());

        let way = |local, remote: &str| {
            sockets.socket_for(Route::new(LocalPort(local), remote.parse().unwrap()))
        };
        assert_eq!(way(0, "127.0.0.1:9"), Some((0, "127.0.0.1:9".parse().unwrap())));
        assert_eq!(way(0, "[::1]:9"), Some((1, "[::1]:9".parse().unwrap())));
        assert_eq!(way(0, "[::ffff:1.2.3.4]:9"), Some((0, "1.2.3.4:9".parse().unwrap())));
        assert_eq!(way(1, "127.0.0.1:9"), Some((2, "127.0.0.1:9".parse().unwrap())));
        assert_eq!(way(1, "[::1]:9"), None, "the second port has no IPv6");
        assert_eq!(way(2, "127.0.0.1:9"), None, "there is no third port");
    }

    #[test]
    fn invalid_sources_are_recognized() {
        for (source, honest) in [
            ("10.0.0.1:27960", true),
            ("10.0.0.1:0", false),
            ("255.255.255.255:27960", false),
            ("224.0.0.1:27960", false),
            ("0.0.0.0:27960", false),
            ("[ff02::1]:27960", false),
            ("[::]:27960", false),
            ("[fe80::1]:27960", true),
            ("[fe80::1]:0", false),
        ] {
            assert_eq!(invalid_source(source.parse().unwrap()).is_none(), honest, "{source}");
        }
    }
}
