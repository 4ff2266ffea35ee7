//! Second socket of a port, for connectionless packets.
//!
//! Both sockets share address and port, and a filter in the kernel chooses by the first four bytes. The
//! datagrams of connections can then wait in their queue while queries and handshakes are answered at once.
//!
//! Invariant: the first socket of a port is bound alone, so a port in use is still an error.
//! Source: socket(7), SO_ATTACH_REUSEPORT_CBPF.

use std::io;

use mio::net::UdpSocket;

/// Opens a second socket on the address of `first`. It receives the connectionless packets from then on.
///
/// # Errors
/// The system cannot separate datagrams. All arrive at `first`.
#[cfg(target_os = "linux")]
pub(super) fn connectionless_socket(
    first: &UdpSocket,
    buffer_bytes: usize,
) -> io::Result<UdpSocket> {
    use nix::{
        libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog},
        sys::socket::{setsockopt, sockopt},
    };
    use socket2::SockRef;

    /// Filter instruction: operation, jumps if true and false, operand.
    const fn row(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
        sock_filter { code: code as u16, jt, jf, k }
    }
    // The result is the number of a socket, in the order in which they joined the port. A datagram of less
    // than four bytes ends the filter with 0.
    let mut rows = [
        row(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        row(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, u32::MAX),
        row(BPF_RET | BPF_K, 0, 0, 1),
        row(BPF_RET | BPF_K, 0, 0, 0),
    ];
    let filter = sock_fprog { len: rows.len() as u16, filter: rows.as_mut_ptr() };

    let address = first.local_addr()?;
    SockRef::from(first).set_reuse_port(true)?;
    let second = super::bind::unbound(address, buffer_bytes)?;
    second.set_reuse_port(true)?;
    second.bind(&address.into())?;
    setsockopt(&second, sockopt::AttachReusePortCbpf, &filter)?;
    Ok(UdpSocket::from_std(second.into()))
}

/// See the function for Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn connectionless_socket(_: &UdpSocket, _: usize) -> io::Result<UdpSocket> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::{io::ErrorKind, net, time::Duration};

    fn receive(socket: &UdpSocket) -> Option<Vec<u8>> {
        let mut bytes = [0; 64];
        for _ in 0..100 {
            match socket.recv_from(&mut bytes) {
                Ok((len, _)) => return Some(bytes[..len].to_vec()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
        }
        None
    }

    #[test]
    fn connectionless_packets_arrive_at_the_second_socket() {
        for ip in ["127.0.0.1:0", "[::1]:0"] {
            // Skip a machine without IPv6 loopback.
            let Ok(first) = super::super::bind::open(ip.parse().unwrap(), 1 << 16) else {
                continue;
            };
            let second = connectionless_socket(&first, 1 << 16).unwrap();
            let sender = net::UdpSocket::bind(ip).unwrap();
            let to = first.local_addr().unwrap();
            for bytes in [&b"\xff\xff\xff\xffgetinfo"[..], b"\xff\xff\xff\xff"] {
                sender.send_to(bytes, to).unwrap();
                assert_eq!(receive(&second).as_deref(), Some(bytes));
            }
            for bytes in [&b"\xff\xff\xff\xfegetinfo"[..], b"\x01\0\0\0\xff", b"\xff\xff\xff", b""]
            {
                sender.send_to(bytes, to).unwrap();
                assert_eq!(receive(&first).as_deref(), Some(bytes));
            }
        }
    }

    #[test]
    fn port_with_two_sockets_is_in_use() {
        let first = super::super::bind::open("127.0.0.1:0".parse().unwrap(), 1 << 16).unwrap();
        let _second = connectionless_socket(&first, 1 << 16).unwrap();
        let error = super::super::bind::open(first.local_addr().unwrap(), 1 << 16).unwrap_err();
        assert!(error.to_string().contains("in use"), "{error}");
    }
}
