//! Opening of UDP sockets: listening addresses, kernel options, errors with a remedy.
//!
//! Invariants: IPv6 sockets are IPv6-only, so both families can share a port number; a busy port is an error
//! unless other ports are allowed.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use mio::net::UdpSocket;
use socket2::{Domain, Protocol, Socket as RawSocket, Type};
use thiserror::Error;

/// Kernel queue for each direction of a listening socket, in bytes.
///
/// It holds one second of a full server's traffic. The kernel may grant less.
pub const LISTEN_BUFFER_BYTES: usize = 4 << 20;

/// Kernel queue for each direction of a client socket, in bytes.
pub const CLIENT_BUFFER_BYTES: usize = 256 << 10;

/// Listening addresses of one [`LocalPort`](crate::node::LocalPort).
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
    /// Whether connectionless packets get a socket of their own, where the system can separate them.
    pub separates_connectionless: bool,
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
            separates_connectionless: false,
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
    pub(super) fn new(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::Busy { address },
            io::ErrorKind::AddrNotAvailable => Self::NotOurs { address },
            io::ErrorKind::PermissionDenied => Self::Forbidden { address },
            _ => Self::Io { address, source },
        }
    }
}

/// Opens both families of `listen`, `offset` ports above its first.
pub(super) fn open_pair(listen: &Listen, offset: u16) -> Result<[Option<UdpSocket>; 2], BindError> {
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

/// Opens a socket that is bound to `address`.
pub(super) fn open(address: SocketAddr, buffer_bytes: usize) -> Result<UdpSocket, BindError> {
    let open = || {
        let socket = unbound(address, buffer_bytes)?;
        socket.bind(&address.into())?;
        Ok(UdpSocket::from_std(socket.into()))
    };
    open().map_err(|source| BindError::new(address, source))
}

/// Checks that this machine can send from an address.
///
/// # Errors
/// The error of the system, e.g. [`BindError::NotOurs`].
pub fn check_source(ip: IpAddr) -> Result<(), BindError> {
    let address = SocketAddr::new(ip, 0);
    std::net::UdpSocket::bind(address).map(drop).map_err(|source| BindError::new(address, source))
}

/// Creates a socket with its options: no blocking, large queues, arrival times.
pub(super) fn unbound(address: SocketAddr, buffer_bytes: usize) -> io::Result<RawSocket> {
    let socket = RawSocket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    // Best effort: the kernel applies its own limits, and small queues only cause loss.
    let _ = socket.set_recv_buffer_size(buffer_bytes);
    let _ = socket.set_send_buffer_size(buffer_bytes);
    #[cfg(target_os = "linux")]
    {
        use nix::sys::socket::{setsockopt, sockopt};
        // Root may exceed the limit of the system.
        if socket.recv_buffer_size().is_ok_and(|granted| granted < buffer_bytes) {
            let _ = setsockopt(&socket, sockopt::RcvBufForce, &buffer_bytes);
        }
        // Without it, datagrams count as arrived when they are read.
        let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
    }
    if let Ok(granted) = socket.recv_buffer_size()
        && granted < buffer_bytes
    {
        log::debug!(
            "receive buffer limited: {granted} of {buffer_bytes} bytes; raise net.core.rmem_max"
        );
    }
    Ok(socket)
}
