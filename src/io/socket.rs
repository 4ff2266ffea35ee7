//! UDP sockets of a node's ports, IPv4 and IPv6 side by side.
//!
//! One [`LocalPort`] has up to two sockets, one per address family; the remote address selects one.
//! Invariants: IPv6 sockets are IPv6-only, so both families can share a port number; a busy port is an error
//! unless other ports are allowed; the poll is asked for writability only while datagrams are queued.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use mio::{Interest, Registry, Token, net::UdpSocket};
use slab::Slab;
use socket2::{Domain, Protocol, Socket as RawSocket, Type};
use thiserror::Error;

use super::{
    association::Association,
    batch::{self, Batching, Family, canonical},
    on_demand::OnDemand,
    open_files::is_file_limit,
    send_queue::SendQueue,
};
use crate::node::{LocalPort, LoopCounters, Route};

/// Kernel queue for each direction of a listening socket, in bytes.
///
/// It holds one second of a full server's traffic. The kernel may grant less.
pub const LISTEN_BUFFER_BYTES: usize = 4 << 20;

/// Kernel queue for each direction of a client socket, in bytes.
pub const CLIENT_BUFFER_BYTES: usize = 256 << 10;

/// Listening addresses of one [`LocalPort`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// IPv4 address, if any.
    pub ip4: Option<Ipv4Addr>,
    /// IPv6 address, if any. With an IPv4 address, `::` is skipped on a machine without IPv6.
    pub ip6: Option<Ipv6Addr>,
    /// Port for IPv4, and for IPv6 unless `port6` is set; 0 means any free port.
    pub port: u16,
    /// Port for IPv6, if different.
    pub port6: Option<u16>,
    /// Number of following ports to try when one is busy.
    pub next_ports: u16,
    /// Kernel queue for each direction, in bytes. The kernel may grant less.
    pub buffer_bytes: usize,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            ip4: Some(Ipv4Addr::UNSPECIFIED),
            ip6: Some(Ipv6Addr::UNSPECIFIED),
            port: 27960,
            port6: None,
            next_ports: 0,
            buffer_bytes: LISTEN_BUFFER_BYTES,
        }
    }
}

/// Error while opening ports, with the remedy.
#[derive(Debug, Error)]
pub enum BindError {
    /// The port is in use.
    #[error(
        "UDP port {} on {} in use; stop the other server or set net_port (IPv4) / net_port6 (IPv6)",
        .address.port(), .address.ip()
    )]
    Busy {
        /// The address.
        address: SocketAddr,
    },
    /// The address does not belong to an interface.
    #[error(
        "{} is not an address of this machine; set net_ip (IPv4) / net_ip6 (IPv6) to one of its \
         addresses, or to {} for all",
        .address.ip(), if .address.is_ipv4() { "0.0.0.0" } else { "::" }
    )]
    NotOurs {
        /// The address.
        address: SocketAddr,
    },
    /// The port is reserved.
    #[error(
        "UDP port {} on {} not permitted for this user; set a port of 1024 or above",
        .address.port(), .address.ip()
    )]
    Forbidden {
        /// The address.
        address: SocketAddr,
    },
    /// The limit of open files is reached.
    #[error(
        "too few sockets: {opened} (expected {wanted}); raise the limit of open files (ulimit -n)"
    )]
    TooManyFiles {
        /// Sockets opened.
        opened: usize,
        /// Sockets requested.
        wanted: usize,
    },
    /// Both address families are disabled.
    #[error("no address to listen on (expected IPv4, IPv6 or both)")]
    NoFamily,
    /// Other system error.
    #[error("UDP port {} on {} not opened: {source}", .address.port(), .address.ip())]
    Io {
        /// The address.
        address: SocketAddr,
        /// The system error.
        source: io::Error,
    },
}

impl BindError {
    fn new(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::Busy { address },
            io::ErrorKind::AddrNotAvailable => Self::NotOurs { address },
            io::ErrorKind::PermissionDenied => Self::Forbidden { address },
            _ => Self::Io { address, source },
        }
    }
}

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
            let opened = (0..=listen.next_ports)
                .find_map(|offset| match open_pair(listen, offset) {
                    Err(BindError::Busy { .. }) if offset < listen.next_ports => None,
                    result => Some(result),
                })
                .unwrap_or(Err(BindError::NoFamily))?;
            sockets.push(opened);
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

/// One socket and its send queue.
pub(super) struct Socket {
    pub(super) udp: UdpSocket,
    pub(super) local: LocalPort,
    pub(super) family: Family,
    /// Whether it is in the loop's queue of readable sockets.
    pub(super) is_queued: bool,
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
        let association = None;
        Self { udp, local, family, is_queued: false, errors_in_a_row: 0, association, waiting }
    }

    /// Whether datagrams are queued for room in the kernel's queue.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Sends each datagram to its address in `to`, or queues it.
    pub(super) fn send(
        &mut self,
        datagrams: &[Vec<u8>],
        to: &[SocketAddr],
        batching: Batching,
        poll: (&Registry, Token),
        counters: &mut LoopCounters,
    ) {
        let waited = self.is_waiting();
        let send = |datagrams: &_, to: &_| batch::send(&self.udp, datagrams, to, batching);
        self.waiting.offer(datagrams, to, send, counters);
        if self.is_waiting() && !waited {
            self.watch(poll, Interest::READABLE | Interest::WRITABLE);
        }
    }

    /// Sends queued datagrams while there is room.
    pub(super) fn send_waiting(&mut self, poll: (&Registry, Token), counters: &mut LoopCounters) {
        if !self.is_waiting() {
            return;
        }
        self.waiting.retry(|datagram, to| self.udp.send_to(datagram, to), counters);
        if !self.is_waiting() {
            self.watch(poll, Interest::READABLE);
        }
    }

    /// Registers the poll's interest. Permanent interest in writability would wake the loop for every datagram sent.
    fn watch(&mut self, (registry, token): (&Registry, Token), interest: Interest) {
        if let Err(error) = registry.reregister(&mut self.udp, token, interest) {
            log::warn!("port {} not polled: {error}", self.local.0);
        }
    }
}

/// Opens both families of `listen`, `offset` ports above its first.
fn open_pair(listen: &Listen, offset: u16) -> Result<[Option<UdpSocket>; 2], BindError> {
    /// Attempts to find a port that is free in both families.
    const FREE_PAIR_TRIES: u32 = 8;

    let shifted = |port: u16| if port == 0 { 0 } else { port.saturating_add(offset) };
    let mut tries_left = FREE_PAIR_TRIES;
    loop {
        let v4 = match listen.ip4 {
            Some(ip) => Some(open((ip, shifted(listen.port)).into(), listen.buffer_bytes)?),
            None => None,
        };
        let Some(ip6) = listen.ip6 else {
            return if v4.is_some() { Ok([v4, None]) } else { Err(BindError::NoFamily) };
        };
        let port4 = v4.as_ref().and_then(|socket| socket.local_addr().ok()).map(|a| a.port());
        let port6 = match listen.port6 {
            Some(port) => shifted(port),
            None => port4.unwrap_or(shifted(listen.port)),
        };
        tries_left -= 1;
        return match open((ip6, port6).into(), listen.buffer_bytes) {
            Ok(v6) => Ok([v4, Some(v6)]),
            Err(BindError::Busy { .. })
                if v4.is_some() && listen.port == 0 && listen.port6.is_none() && tries_left > 0 =>
            {
                continue;
            }
            Err(error) if v4.is_some() && ip6.is_unspecified() && lacks_family(&error) => {
                log::info!("IPv6 not available: listening on IPv4 only");
                Ok([v4, None])
            }
            Err(error) => Err(error),
        };
    }
}

/// Whether the system does not support the address family.
fn lacks_family(error: &BindError) -> bool {
    match error {
        // `::` is valid on every machine with IPv6.
        BindError::NotOurs { .. } => true,
        BindError::Io { source, .. } => {
            #[cfg(unix)]
            {
                let code = source.raw_os_error();
                let known = [rustix::io::Errno::AFNOSUPPORT, rustix::io::Errno::PROTONOSUPPORT];
                known.iter().any(|errno| code == Some(errno.raw_os_error()))
            }
            #[cfg(not(unix))]
            {
                source.kind() == io::ErrorKind::Unsupported
            }
        }
        BindError::Busy { .. }
        | BindError::Forbidden { .. }
        | BindError::TooManyFiles { .. }
        | BindError::NoFamily => false,
    }
}

pub(super) fn open(address: SocketAddr, buffer_bytes: usize) -> Result<UdpSocket, BindError> {
    let open = || {
        let socket =
            RawSocket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_nonblocking(true)?;
        // Best effort: the kernel applies its own limits, and small queues only cause loss.
        let _ = socket.set_recv_buffer_size(buffer_bytes);
        let _ = socket.set_send_buffer_size(buffer_bytes);
        if let Ok(granted) = socket.recv_buffer_size()
            && granted < buffer_bytes
        {
            log::debug!(
                "receive buffer limited: {granted} of {buffer_bytes} bytes; raise net.core.rmem_max"
            );
        }
        socket.bind(&address.into())?;
        Ok(UdpSocket::from_std(socket.into()))
    };
    open().map_err(|source| BindError::new(address, source))
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
            sockets.socket_for(Route { local: LocalPort(local), remote: remote.parse().unwrap() })
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
