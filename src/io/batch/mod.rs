//! Datagram batching: many datagrams per system call where the system supports it.
//!
//! Invariants: buffers are reused, those to send by exchange with the node; a datagram longer than
//! [`DATAGRAM_BYTES_MAX`] is reported as such and its bytes are discarded; addresses are canonical (see
//! [`canonical`]); datagrams of a batch to send leave from one address.
//! Batching saves a quarter of the cost of a receive and a sixth of the cost of a send.

#[cfg(target_os = "linux")]
mod linux;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use mio::net::UdpSocket;

/// Datagrams per system call.
pub(super) const BATCH: usize = 64;

/// Maximum length of a datagram, in bytes. Those of the protocol end at 1400.
pub(super) const DATAGRAM_BYTES_MAX: usize = 2048;

/// Buffer size of one datagram. The extra bytes reveal a datagram that is too long.
const SLOT_BYTES: usize = DATAGRAM_BYTES_MAX + 64;

const _: () = assert!(SLOT_BYTES > DATAGRAM_BYTES_MAX);

/// Datagrams per system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batching {
    /// Up to [`BATCH`] datagrams per system call.
    #[cfg(target_os = "linux")]
    Many,
    /// One datagram per system call.
    One,
}

impl Batching {
    /// The fastest method of this platform.
    pub(super) const BEST: Self = {
        #[cfg(target_os = "linux")]
        {
            Self::Many
        }
        #[cfg(not(target_os = "linux"))]
        {
            Self::One
        }
    };
}

/// Result of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveStatus {
    /// The socket may hold more.
    More,
    /// The socket is empty. The poll reports the next arrival.
    Drained,
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Number of its socket.
    socket: usize,
    from: SocketAddr,
    /// Local address that it was sent to, if the kernel told.
    local_ip: Option<IpAddr>,
    /// Slot with its bytes.
    slot: usize,
    /// Length; above the maximum if it was truncated.
    len: usize,
    /// Calendar time of its arrival, since 1970, if the kernel told.
    stamp: Option<Duration>,
}

/// A received datagram and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram<'a> {
    /// Number of its socket.
    pub(super) socket: usize,
    /// Sender.
    pub(super) from: SocketAddr,
    /// Local address that it was sent to, if the kernel told.
    pub(super) local_ip: Option<IpAddr>,
    /// Bytes; `None` if they were too many.
    pub(super) bytes: Option<&'a [u8]>,
    /// Calendar time of its arrival, since 1970, if the kernel told.
    pub(super) stamp: Option<Duration>,
}

/// Datagrams of one or more sockets.
pub(super) struct ReceiveBatch {
    slots: Box<[[u8; SLOT_BYTES]]>,
    arrived: Vec<Arrived>,
    batching: Batching,
    #[cfg(target_os = "linux")]
    mmsg: linux::Headers,
}

impl ReceiveBatch {
    pub(super) fn new(batching: Batching) -> Self {
        Self {
            slots: vec![[0; SLOT_BYTES]; BATCH].into_boxed_slice(),
            arrived: Vec::with_capacity(BATCH),
            batching,
            #[cfg(target_os = "linux")]
            mmsg: linux::Headers::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.arrived.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Adds datagrams of a socket while there is room. An error concerns one datagram, not the socket.
    pub(super) fn fill(
        &mut self,
        number: usize,
        socket: &UdpSocket,
        family: Family,
    ) -> io::Result<ReceiveStatus> {
        let before = self.arrived.len();
        #[cfg(target_os = "linux")]
        if self.batching == Batching::Many {
            let room = &mut self.slots[before..];
            let received = socket.try_io(|| {
                self.mmsg.receive(socket, family, room, |index, from, len, told| {
                    let (slot, linux::Told { local_ip, stamp }) = (before + index, told);
                    let arrived = Arrived { socket: number, from, local_ip, slot, len, stamp };
                    self.arrived.push(arrived);
                })
            });
            match received {
                // Emulated kernels may lack the call.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    self.batching = Batching::One;
                }
                Err(error) => return drained_if_would_block(error),
                // A short batch means that the queue is empty. Later arrivals wake the poll.
                Ok(()) if self.arrived.len() < BATCH => return Ok(ReceiveStatus::Drained),
                Ok(()) => return Ok(ReceiveStatus::More),
            }
        }
        // Only batched receives use the length.
        let _ = (family, self.batching);
        while self.arrived.len() < BATCH {
            let slot = self.arrived.len();
            match socket.recv_from(&mut self.slots[slot]) {
                Ok((len, from)) => {
                    let from = canonical(from);
                    let (local_ip, stamp) = (None, None);
                    let arrived = Arrived { socket: number, from, local_ip, slot, len, stamp };
                    self.arrived.push(arrived);
                }
                // Datagrams before the error are delivered; a lasting error repeats.
                Err(error) if slot == before => return drained_if_would_block(error),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(ReceiveStatus::Drained);
                }
                Err(_) => break,
            }
        }
        Ok(ReceiveStatus::More)
    }

    /// Orders datagrams of several sockets by their arrival.
    pub(super) fn order_by_arrival(&mut self) {
        if self.arrived.windows(2).any(|pair| pair[0].socket != pair[1].socket) {
            // Those without a time stay together, before the others.
            self.arrived.sort_by_key(|arrived| arrived.stamp);
        }
    }

    /// Returns a datagram by its index, which is below [`Self::len`].
    pub(super) fn datagram(&self, index: usize) -> Datagram<'_> {
        let Arrived { socket, from, local_ip, slot, len, stamp } = self.arrived[index];
        let bytes = self.slots[slot].get(..len).filter(|_| len <= DATAGRAM_BYTES_MAX);
        Datagram { socket, from, local_ip, bytes, stamp }
    }
}

fn drained_if_would_block(error: io::Error) -> io::Result<ReceiveStatus> {
    if error.kind() == io::ErrorKind::WouldBlock { Ok(ReceiveStatus::Drained) } else { Err(error) }
}

/// Address family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// IPv4.
    V4,
    /// IPv6 only.
    V6,
}

impl Family {
    pub(super) const fn of(address: &SocketAddr) -> Self {
        match address {
            SocketAddr::V4(_) => Self::V4,
            SocketAddr::V6(_) => Self::V6,
        }
    }
}

/// Returns the canonical form of an address, so that the sources of one peer compare equal.
///
/// IPv4-mapped addresses become IPv4, and the flow label is cleared.
pub(super) fn canonical(mut address: SocketAddr) -> SocketAddr {
    address.set_ip(address.ip().to_canonical());
    if let SocketAddr::V6(v6) = &mut address {
        v6.set_flowinfo(0);
    }
    address
}

/// Datagrams to send through one socket.
pub(super) struct SendBatch {
    /// Number of the socket; meaningless while the batch is empty.
    pub(super) socket: usize,
    /// Local address that all leave from; `None` for the one that the system chooses.
    pub(super) local_ip: Option<IpAddr>,
    slots: Vec<Vec<u8>>,
    to: Vec<SocketAddr>,
}

impl SendBatch {
    pub(super) fn new() -> Self {
        // One more slot than a batch: a datagram is written before its socket is known.
        Self {
            socket: 0,
            local_ip: None,
            slots: vec![Vec::new(); BATCH + 1],
            to: Vec::with_capacity(BATCH),
        }
    }

    /// Buffer of the next datagram, which belongs to the batch once it is committed.
    pub(super) fn next_slot(&mut self) -> &mut Vec<u8> {
        let slot = &mut self.slots[self.to.len()];
        slot.clear();
        slot
    }

    /// Returns the datagram that was written into [`Self::next_slot`].
    pub(super) fn slot(&mut self) -> &mut Vec<u8> {
        &mut self.slots[self.to.len()]
    }

    /// Sets the address of the datagram in [`Self::next_slot`]. The batch must not be full.
    pub(super) fn commit(&mut self, to: SocketAddr) {
        debug_assert!(self.to.len() < BATCH, "a full batch is sent first");
        self.to.push(to);
    }

    pub(super) fn len(&self) -> usize {
        self.to.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.to.len() == BATCH
    }

    /// Returns the committed datagrams.
    pub(super) fn datagrams(&self) -> (&[Vec<u8>], &[SocketAddr]) {
        (&self.slots[..self.to.len()], &self.to)
    }

    /// Clears the committed datagrams and keeps the content of the next slot.
    pub(super) fn sent(&mut self) {
        self.slots.swap(0, self.to.len());
        self.to.clear();
    }
}

/// Sends the first of `datagrams`, each to its address in `to`, and returns their number, at least one.
///
/// They leave from `local_ip` if it is given. An error is that of the first datagram.
pub(super) fn send(
    socket: &UdpSocket,
    datagrams: &[Vec<u8>],
    to: &[SocketAddr],
    local_ip: Option<IpAddr>,
    batching: Batching,
) -> io::Result<usize> {
    debug_assert!(!to.is_empty() && datagrams.len() == to.len());
    if local_ip.is_some() {
        return send_one(socket, &datagrams[0], to[0], local_ip).map(|_| 1);
    }
    #[cfg(target_os = "linux")]
    if batching == Batching::Many && to.len() > 1 {
        match socket.try_io(|| linux::send(socket, datagrams, to)) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            result => return result,
        }
    }
    let _ = batching;
    socket.send_to(&datagrams[0], to[0]).map(|_| 1)
}

/// Sends a datagram, from `local_ip` if it is given, and returns its length.
pub(super) fn send_one(
    socket: &UdpSocket,
    datagram: &[u8],
    to: SocketAddr,
    local_ip: Option<IpAddr>,
) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    if let Some(local_ip) = local_ip {
        return socket.try_io(|| linux::send_from(socket, datagram, to, local_ip));
    }
    let _ = local_ip;
    socket.send_to(datagram, to)
}

/// Asks the kernel for the local address of each datagram. Without it, replies leave from the one that it chooses.
pub(super) fn ask_local_addresses(socket: &UdpSocket, family: Family) {
    #[cfg(target_os = "linux")]
    if let Err(error) = linux::ask_local_addresses(socket, family) {
        log::debug!("local addresses of datagrams not known: {error}");
    }
    let _ = (socket, family);
}

#[cfg(test)]
pub(super) mod tests;
