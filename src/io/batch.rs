//! Datagram batching: many datagrams per system call where the system supports it.
//!
//! Invariants: all buffers are allocated once; a datagram longer than [`DATAGRAM_BYTES_MAX`] is reported as
//! such and its bytes are discarded; addresses are canonical (see [`canonical`]).
//! Batching saves a quarter of the cost of a receive and a sixth of the cost of a send.

use std::{io, net::SocketAddr};

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

/// The datagrams of one receive.
pub(super) struct ReceiveBatch {
    slots: Box<[[u8; SLOT_BYTES]]>,
    /// Sender and length of each datagram. A length above the maximum means that it was truncated.
    arrived: Vec<(SocketAddr, usize)>,
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

    /// Receives a batch from `socket`. An error concerns one datagram, not the socket.
    pub(super) fn fill(&mut self, socket: &UdpSocket, family: Family) -> io::Result<ReceiveStatus> {
        self.arrived.clear();
        #[cfg(target_os = "linux")]
        if self.batching == Batching::Many {
            match socket
                .try_io(|| self.mmsg.receive(socket, family, &mut self.slots, &mut self.arrived))
            {
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
            match socket.recv_from(&mut self.slots[self.arrived.len()]) {
                Ok((len, from)) => self.arrived.push((canonical(from), len)),
                // Datagrams before the error are delivered; a lasting error repeats.
                Err(error) if self.arrived.is_empty() => return drained_if_would_block(error),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(ReceiveStatus::Drained);
                }
                Err(_) => break,
            }
        }
        Ok(ReceiveStatus::More)
    }

    /// Returns sender and bytes of each datagram. One that is too long has no bytes.
    pub(super) fn datagrams(&self) -> impl Iterator<Item = (SocketAddr, Option<&[u8]>)> {
        self.arrived
            .iter()
            .zip(&self.slots)
            .map(|(&(from, len), slot)| (from, (len <= DATAGRAM_BYTES_MAX).then(|| &slot[..len])))
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
    slots: Vec<Vec<u8>>,
    to: Vec<SocketAddr>,
}

impl SendBatch {
    pub(super) fn new() -> Self {
        // One more slot than a batch: a datagram is written before its socket is known.
        Self {
            socket: 0,
            slots: (0..=BATCH).map(|_| Vec::with_capacity(SLOT_BYTES)).collect(),
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
/// An error is that of the first datagram.
pub(super) fn send(
    socket: &UdpSocket,
    datagrams: &[Vec<u8>],
    to: &[SocketAddr],
    batching: Batching,
) -> io::Result<usize> {
    debug_assert!(!to.is_empty() && datagrams.len() == to.len());
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

#[cfg(target_os = "linux")]
mod linux {
    use super::{BATCH, DATAGRAM_BYTES_MAX, Family, SLOT_BYTES, canonical};
    use nix::sys::socket::{
        MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, recvmmsg,
    };
    use rustix::net::{
        MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, addr::SocketAddrArg as _, sendmmsg,
    };
    use std::{
        array,
        io::{self, IoSlice, IoSliceMut},
        net::{Ipv4Addr, SocketAddr, SocketAddrV4},
        os::fd::AsRawFd,
    };

    /// Placeholder address for arrays.
    const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

    /// Kernel headers of a receive batch, one set per address family.
    ///
    /// The size of an address is set at creation, and the kernel writes into it.
    pub(super) struct Headers {
        v4: MultiHeaders<SockaddrIn>,
        v6: MultiHeaders<SockaddrIn6>,
    }

    impl Headers {
        pub(super) fn new() -> Self {
            Self {
                v4: MultiHeaders::preallocate(BATCH, None),
                v6: MultiHeaders::preallocate(BATCH, None),
            }
        }

        /// Fills `slots`, and appends sender and length of each datagram to `arrived`.
        pub(super) fn receive(
            &mut self,
            socket: &impl AsRawFd,
            family: Family,
            slots: &mut [[u8; SLOT_BYTES]],
            arrived: &mut Vec<(SocketAddr, usize)>,
        ) -> io::Result<()> {
            match family {
                Family::V4 => receive(&mut self.v4, socket, slots, arrived),
                Family::V6 => receive(&mut self.v6, socket, slots, arrived),
            }
        }
    }

    fn receive<A: SockaddrLike + Copy + Into<SocketAddr>>(
        headers: &mut MultiHeaders<A>,
        socket: &impl AsRawFd,
        slots: &mut [[u8; SLOT_BYTES]],
        arrived: &mut Vec<(SocketAddr, usize)>,
    ) -> io::Result<()> {
        let mut slots = slots.iter_mut();
        let mut buffers: [[IoSliceMut<'_>; 1]; BATCH] =
            array::from_fn(|_| [IoSliceMut::new(slots.next().map_or(&mut [], |slot| slot))]);
        let messages =
            recvmmsg(socket.as_raw_fd(), headers, &mut buffers, MsgFlags::MSG_DONTWAIT, None)?;
        arrived.extend(messages.map(|message| {
            let from = message.address.map_or(NOWHERE, Into::into);
            let cut = message.flags.contains(MsgFlags::MSG_TRUNC);
            (canonical(from), if cut { DATAGRAM_BYTES_MAX + 1 } else { message.bytes })
        }));
        Ok(())
    }

    /// Sends as many as the kernel accepts and returns the count. See [`super::send`].
    pub(super) fn send(
        socket: &mio::net::UdpSocket,
        datagrams: &[Vec<u8>],
        to: &[SocketAddr],
    ) -> io::Result<usize> {
        /// Batch size of the small header array: most batches are short, and long arrays cost time to fill.
        const FEW: usize = 8;
        if to.len() <= FEW {
            send_up_to::<FEW>(socket, datagrams, to)
        } else {
            send_up_to::<BATCH>(socket, datagrams, to)
        }
    }

    fn send_up_to<const N: usize>(
        socket: &mio::net::UdpSocket,
        datagrams: &[Vec<u8>],
        to: &[SocketAddr],
    ) -> io::Result<usize> {
        let count = to.len().min(N);
        let addresses: [SocketAddrAny; N] =
            array::from_fn(|i| to.get(i).unwrap_or(&NOWHERE).as_any());
        let bytes: [[IoSlice<'_>; 1]; N] =
            array::from_fn(|i| [IoSlice::new(datagrams.get(i).map_or(&[], Vec::as_slice))]);
        let mut controls: [SendAncillaryBuffer<'_, '_, '_>; N] =
            array::from_fn(|_| SendAncillaryBuffer::default());
        let mut controls = controls.iter_mut();
        let mut headers: [MMsgHdr<'_>; N] = array::from_fn(|i| {
            let control = controls.next().expect("one for each header");
            MMsgHdr::new_with_addr(&addresses[i], &bytes[i], control)
        });
        Ok(sendmmsg(socket, &mut headers[..count], SendFlags::DONTWAIT)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net, thread, time::Duration};

    fn bound(ip: &str) -> Option<UdpSocket> {
        let socket = net::UdpSocket::bind((ip, 0)).ok()?;
        socket.set_nonblocking(true).unwrap();
        Some(UdpSocket::from_std(socket))
    }

    /// Returns every method of sending and receiving, over both families where available.
    fn ways() -> impl Iterator<Item = (&'static str, Batching)> {
        ["127.0.0.1", "::1"].into_iter().flat_map(|ip| [(ip, Batching::BEST), (ip, Batching::One)])
    }

    fn fill(received: &mut ReceiveBatch, socket: &UdpSocket, family: Family) -> ReceiveStatus {
        for _ in 0..200 {
            let fill = received.fill(socket, family).unwrap();
            if received.datagrams().next().is_some() {
                return fill;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("nothing arrived");
    }

    #[test]
    fn batch_arrives_as_sent() {
        for (ip, batching) in ways() {
            let (Some(a), Some(b)) = (bound(ip), bound(ip)) else { continue };
            let (from, to) = (a.local_addr().unwrap(), b.local_addr().unwrap());
            let mut outgoing = SendBatch::new();
            let mut received = ReceiveBatch::new(batching);
            for round in 0u8..3 {
                for number in 0..BATCH as u8 {
                    // Lengths from 0 to the maximum.
                    let len = DATAGRAM_BYTES_MAX * usize::from(number) / (BATCH - 1);
                    outgoing.next_slot().resize(len, number ^ round);
                    outgoing.commit(to);
                }
                assert!(outgoing.is_full());
                let (datagrams, addresses) = outgoing.datagrams();
                let mut sent = 0;
                while sent < BATCH {
                    sent += send(&a, &datagrams[sent..], &addresses[sent..], batching).unwrap();
                }
                outgoing.sent();
                assert_eq!(outgoing.len(), 0);

                assert_eq!(fill(&mut received, &b, Family::of(&to)), ReceiveStatus::More);
                let mut number = 0;
                for (sender, bytes) in received.datagrams() {
                    assert_eq!(sender, from);
                    let len = DATAGRAM_BYTES_MAX * usize::from(number) / (BATCH - 1);
                    assert_eq!(bytes.unwrap(), vec![number ^ round; len]);
                    number += 1;
                }
                assert_eq!(usize::from(number), BATCH);
                assert_eq!(received.fill(&b, Family::of(&to)).unwrap(), ReceiveStatus::Drained);
                assert_eq!(received.datagrams().count(), 0);
            }
        }
    }

    #[test]
    fn oversize_datagram_is_reported() {
        for (ip, batching) in ways() {
            let (Some(a), Some(b)) = (bound(ip), bound(ip)) else { continue };
            let to = b.local_addr().unwrap();
            let mut received = ReceiveBatch::new(batching);
            for len in [DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX + 1, SLOT_BYTES, 9000] {
                a.send_to(&vec![1; len], to).unwrap();
                fill(&mut received, &b, Family::of(&to));
                let (_, bytes) = received.datagrams().next().unwrap();
                assert_eq!(bytes.map(<[u8]>::len), (len == DATAGRAM_BYTES_MAX).then_some(len));
            }
        }
    }

    #[test]
    fn uncommitted_datagram_survives_a_send() {
        let mut outgoing = SendBatch::new();
        let to = "127.0.0.1:9".parse().unwrap();
        for text in [b"one", b"two"] {
            outgoing.next_slot().extend_from_slice(text);
            outgoing.commit(to);
        }
        outgoing.next_slot().extend_from_slice(b"three");
        outgoing.sent();
        outgoing.commit(to);
        assert_eq!(outgoing.datagrams().0, [b"three"]);
    }

    #[test]
    fn peer_addresses_are_canonical() {
        assert_eq!(
            canonical("[::ffff:10.1.2.3]:5".parse().unwrap()),
            "10.1.2.3:5".parse().unwrap()
        );
        let labelled = net::SocketAddrV6::new("fe80::1".parse().unwrap(), 5, 77, 3);
        let plain = net::SocketAddrV6::new("fe80::1".parse().unwrap(), 5, 0, 3);
        assert_eq!(canonical(labelled.into()), plain.into());
    }
}
