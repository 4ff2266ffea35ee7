//! System calls of batches on Linux, with arrival and local address of each datagram.
//!
//! Source: recvmmsg(2), sendmmsg(2), ip(7) and ipv6(7).

use super::{BATCH, DATAGRAM_BYTES_MAX, Family, SLOT_BYTES, canonical};
use nix::{
    cmsg_space,
    libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo},
    sys::{
        socket::{
            ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6,
            SockaddrLike, recvmmsg, sendmsg, setsockopt, sockopt,
        },
        time::TimeSpec,
    },
};
use rustix::net::{
    MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, addr::SocketAddrArg as _, sendmmsg,
};
use std::{
    array,
    io::{self, IoSlice, IoSliceMut},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4},
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

/// Placeholder address for arrays.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// Control messages of a datagram: local address and arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// Local address.
    pub(super) local_ip: Option<IpAddr>,
    /// Calendar time of its arrival, since 1970.
    pub(super) stamp: Option<Duration>,
}

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
            v4: MultiHeaders::preallocate(BATCH, Some(cmsg_space!(TimeSpec, in_pktinfo))),
            v6: MultiHeaders::preallocate(BATCH, Some(cmsg_space!(TimeSpec, in6_pktinfo))),
        }
    }

    /// Fills `slots`, and reports index, sender and length of each datagram, and what the kernel told.
    pub(super) fn receive(
        &mut self,
        socket: &impl AsRawFd,
        family: Family,
        slots: &mut [[u8; SLOT_BYTES]],
        arrived: impl FnMut(usize, SocketAddr, usize, Told),
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
    mut arrived: impl FnMut(usize, SocketAddr, usize, Told),
) -> io::Result<()> {
    let count = slots.len();
    let mut slots = slots.iter_mut();
    let mut buffers: [[IoSliceMut<'_>; 1]; BATCH] =
        array::from_fn(|_| [IoSliceMut::new(slots.next().map_or(&mut [], |slot| slot))]);
    let buffers = buffers.iter_mut().take(count);
    let messages = recvmmsg(socket.as_raw_fd(), headers, buffers, MsgFlags::MSG_DONTWAIT, None)?;
    for (index, message) in messages.enumerate() {
        let from = message.address.map_or(NOWHERE, Into::into);
        let cut = message.flags.contains(MsgFlags::MSG_TRUNC);
        let len = if cut { DATAGRAM_BYTES_MAX + 1 } else { message.bytes };
        let mut told = Told::default();
        for control in message.cmsgs().into_iter().flatten() {
            match control {
                ControlMessageOwned::ScmTimestampns(time) => told.stamp = Some(time.into()),
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    // That of a broadcast is the address of the interface.
                    let ip = Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes());
                    told.local_ip = Some(ip.into());
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                    told.local_ip = (!ip.is_multicast()).then_some(ip.into());
                }
                _ => {}
            }
        }
        arrived(index, canonical(from), len, told);
    }
    Ok(())
}

/// See [`super::ask_local_addresses`].
pub(super) fn ask_local_addresses(socket: &impl AsFd, family: Family) -> nix::Result<()> {
    match family {
        Family::V4 => setsockopt(socket, sockopt::Ipv4PacketInfo, &true),
        Family::V6 => setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &true),
    }
}

/// Sends a datagram from a local address and returns its length.
pub(super) fn send_from(
    socket: &impl AsRawFd,
    datagram: &[u8],
    to: SocketAddr,
    local_ip: IpAddr,
) -> io::Result<usize> {
    let (fd, bytes, flags) = (socket.as_raw_fd(), [IoSlice::new(datagram)], MsgFlags::MSG_DONTWAIT);
    let sent = match (to, local_ip) {
        (SocketAddr::V4(to), IpAddr::V4(ip)) => {
            let address = in_addr { s_addr: u32::from_ne_bytes(ip.octets()) };
            let ipi_addr = in_addr { s_addr: 0 };
            let info = in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: address, ipi_addr };
            let control = [ControlMessage::Ipv4PacketInfo(&info)];
            sendmsg(fd, &bytes, &control, flags, Some(&SockaddrIn::from(to)))
        }
        (SocketAddr::V6(to), IpAddr::V6(ip)) => {
            let ipi6_addr = in6_addr { s6_addr: ip.octets() };
            let info = in6_pktinfo { ipi6_addr, ipi6_ifindex: to.scope_id() };
            let control = [ControlMessage::Ipv6PacketInfo(&info)];
            sendmsg(fd, &bytes, &control, flags, Some(&SockaddrIn6::from(to)))
        }
        // A node mixed up the families.
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    Ok(sent?)
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
    let addresses: [SocketAddrAny; N] = array::from_fn(|i| to.get(i).unwrap_or(&NOWHERE).as_any());
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
