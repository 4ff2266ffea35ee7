//! Send queue of one socket, for datagrams that the kernel did not accept at once.
//!
//! Invariants: datagrams keep their order; at most [`WAITING_MAX`] are queued, later ones are dropped and
//! counted; nothing is allocated unless the kernel's own queue is full.

use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, SocketAddr},
};

use crate::node::LoopCounters;

/// Maximum queued datagrams.
pub(super) const WAITING_MAX: usize = 256;

/// Queued datagrams, the oldest first.
#[derive(Default)]
pub(super) struct SendQueue {
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    to: SocketAddr,
    /// Local address that it leaves from, if it matters.
    local_ip: Option<IpAddr>,
    datagram: Box<[u8]>,
}

impl SendQueue {
    /// Whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends each datagram to its address in `to`, or queues it with the local address `local_ip`.
    ///
    /// `send` sends any number of them from the front and returns it. Its error is that of the first one.
    pub(super) fn offer(
        &mut self,
        datagrams: &[Vec<u8>],
        to: &[SocketAddr],
        local_ip: Option<IpAddr>,
        mut send: impl FnMut(&[Vec<u8>], &[SocketAddr]) -> io::Result<usize>,
        counters: &mut LoopCounters,
    ) {
        debug_assert_eq!(datagrams.len(), to.len(), "each has its address");
        let mut done = 0;
        while done < to.len() && self.waiting.is_empty() {
            match send(&datagrams[done..], &to[done..]) {
                Ok(sent) => {
                    // A sender that reports success without a datagram would cause an endless loop.
                    let sent = sent.clamp(1, to.len() - done);
                    for datagram in &datagrams[done..done + sent] {
                        went(datagram, counters);
                    }
                    done += sent;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    _ => {
                        refused(to[done], &error, counters);
                        done += 1;
                    }
                },
            }
        }
        for (datagram, to) in datagrams[done..].iter().zip(&to[done..]) {
            if self.waiting.len() < WAITING_MAX {
                let datagram = datagram.as_slice().into();
                self.waiting.push_back(Waiting { to: *to, local_ip, datagram });
            } else {
                counters.send_queue_full += 1;
            }
        }
    }

    /// Sends queued datagrams one by one until `send` reports a full kernel queue.
    pub(super) fn retry(
        &mut self,
        mut send: impl FnMut(&[u8], SocketAddr, Option<IpAddr>) -> io::Result<usize>,
        counters: &mut LoopCounters,
    ) {
        while let Some(Waiting { to, local_ip, datagram }) = self.waiting.front() {
            match send(datagram, *to, *local_ip) {
                Ok(_) => went(datagram, counters),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    io::ErrorKind::WouldBlock => return,
                    _ => refused(*to, &error, counters),
                },
            }
            self.waiting.pop_front();
        }
    }
}

fn went(datagram: &[u8], counters: &mut LoopCounters) {
    counters.sent += 1;
    counters.sent_bytes += datagram.len() as u64;
}

/// Counts a datagram that the system rejected: no route, unreachable or too large.
fn refused(to: SocketAddr, error: &io::Error, counters: &mut LoopCounters) {
    counters.send_errors += 1;
    log::debug!("datagram to {to} not sent: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel queue with room for `room` datagrams, which rejects those to port 13.
    #[derive(Default)]
    struct Kernel {
        room: usize,
        took: Vec<u8>,
    }

    impl Kernel {
        fn one(&mut self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
            if to.port() == 13 {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            if self.room == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.room -= 1;
            self.took.push(datagram[0]);
            Ok(datagram.len())
        }

        fn many(&mut self, datagrams: &[Vec<u8>], to: &[SocketAddr]) -> io::Result<usize> {
            for (number, (datagram, to)) in datagrams.iter().zip(to).enumerate() {
                match self.one(datagram, *to) {
                    Err(error) if number == 0 => return Err(error),
                    Err(_) => return Ok(number),
                    Ok(_) => {}
                }
            }
            Ok(datagrams.len())
        }
    }

    fn batch(numbers: std::ops::Range<u8>) -> (Vec<Vec<u8>>, Vec<SocketAddr>) {
        let address = |n: u8| SocketAddr::from(([10, 0, 0, 1], u16::from(n)));
        numbers.map(|n| (vec![n; 10], address(n))).unzip()
    }

    #[test]
    fn full_kernel_queue_delays_and_keeps_order() {
        let mut queue = SendQueue::default();
        let mut kernel = Kernel { room: 3, ..Kernel::default() };
        let mut counters = LoopCounters::default();
        let (datagrams, to) = batch(0..5);
        queue.offer(&datagrams, &to, None, |d, t| kernel.many(d, t), &mut counters);
        assert_eq!((counters.sent, counters.sent_bytes), (3, 30));
        assert!(!queue.is_empty());

        // With room again, the order is kept.
        kernel.room = 2;
        let (datagrams, to) = batch(5..7);
        queue.offer(&datagrams, &to, None, |d, t| kernel.many(d, t), &mut counters);
        assert_eq!(kernel.took, [0, 1, 2]);
        queue.retry(|d, t, _| kernel.one(d, t), &mut counters);
        assert_eq!(kernel.took, [0, 1, 2, 3, 4]);
        assert!(!queue.is_empty());
        kernel.room = 9;
        queue.retry(|d, t, _| kernel.one(d, t), &mut counters);
        assert_eq!(kernel.took, [0, 1, 2, 3, 4, 5, 6]);
        assert!(queue.is_empty());
        assert_eq!((counters.sent, counters.send_queue_full, counters.send_errors), (7, 0, 0));
    }

    #[test]
    fn unreachable_peer_does_not_affect_others() {
        let mut queue = SendQueue::default();
        let mut kernel = Kernel { room: 100, ..Kernel::default() };
        let mut counters = LoopCounters::default();
        let (datagrams, to) = batch(11..16);
        queue.offer(&datagrams, &to, None, |d, t| kernel.many(d, t), &mut counters);
        assert_eq!(kernel.took, [11, 12, 14, 15]);
        assert_eq!((counters.sent, counters.send_errors), (4, 1));

        kernel.room = 0;
        queue.offer(&datagrams, &to, None, |d, t| kernel.many(d, t), &mut counters);
        kernel.room = 100;
        queue.retry(|d, t, _| kernel.one(d, t), &mut counters);
        assert_eq!(kernel.took, [11, 12, 14, 15, 11, 12, 14, 15]);
        assert_eq!(counters.send_errors, 2);
    }

    #[test]
    fn send_queue_is_bounded_and_counts_drops() {
        let mut queue = SendQueue::default();
        let mut counters = LoopCounters::default();
        let full = |_: &[Vec<u8>], _: &[SocketAddr]| Err(io::ErrorKind::WouldBlock.into());
        let (datagrams, to) = batch(0..64);
        for _ in 0..5 {
            queue.offer(&datagrams, &to, None, full, &mut counters);
        }
        assert_eq!(queue.waiting.len(), WAITING_MAX);
        assert_eq!(counters.send_queue_full, 5 * 64 - WAITING_MAX as u64);
        assert_eq!(counters.sent, 0);
    }

    #[test]
    fn sender_that_accepts_nothing_does_not_block() {
        let mut queue = SendQueue::default();
        let mut counters = LoopCounters::default();
        let (datagrams, to) = batch(0..3);
        queue.offer(&datagrams, &to, None, |_, _| Ok(0), &mut counters);
        assert!(queue.is_empty());
    }
}
