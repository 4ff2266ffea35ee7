//! Kernel receive drops: datagrams lost because the socket queue was full.
//!
//! Linux counts them per socket in `/proc/net/udp` and `udp6`, keyed by inode. Reading costs a good part of a
//! millisecond, because the kernel walks its whole socket table, so a thread reads every ten seconds.
//! Source: proc_net_udp(5).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use slab::Slab;

use super::socket::Socket;
use crate::model::Millis;

/// Updates of the loop counters per read of the kernel's tables.
#[cfg(target_os = "linux")]
const UPDATES_PER_READ: u64 = 5;

/// Latest count of kernel drops of some sockets. Always 0 except on Linux.
#[derive(Debug, Default)]
pub(super) struct KernelDrops(Arc<AtomicU64>);

impl KernelDrops {
    /// Starts a thread that reads the count. The loop counters are updated once per `interval`;
    /// [`Millis::NEVER`] disables the thread.
    ///
    /// Ports that are opened later are not watched.
    pub(super) fn watch(sockets: &Slab<Socket>, interval: Millis) -> io::Result<Self> {
        let this = Self::default();
        #[cfg(target_os = "linux")]
        if interval != Millis::NEVER {
            let table = linux::Table::of(sockets.iter().map(|(_, socket)| &socket.udp));
            let interval = Millis(UPDATES_PER_READ * interval.0);
            table.read_into(Arc::downgrade(&this.0), interval)?;
        }
        let _ = (sockets, interval);
        Ok(this)
    }

    /// Returns the latest count.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fs::File,
        io::{self, Read as _},
        os::{fd::AsFd, unix::fs::MetadataExt as _},
        sync::{
            Weak,
            atomic::{AtomicU64, Ordering},
        },
        thread,
        time::Duration,
    };

    use crate::model::Millis;

    const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];
    /// Indices of the columns, from 0.
    const INODE: usize = 9;
    const DROPS: usize = 12;

    /// Reader of the kernel's table for some sockets.
    pub(super) struct Table {
        inodes: Vec<u64>,
        /// Text buffer, reused.
        text: String,
    }

    impl Table {
        pub(super) fn of<S: AsFd>(sockets: impl Iterator<Item = S>) -> Self {
            let inode = |socket: S| {
                let file = File::from(socket.as_fd().try_clone_to_owned().ok()?);
                Some(file.metadata().ok()?.ino())
            };
            Self { inodes: sockets.filter_map(inode).collect(), text: String::new() }
        }

        /// Starts the thread.
        pub(super) fn read_into(
            mut self,
            number: Weak<AtomicU64>,
            interval: Millis,
        ) -> io::Result<()> {
            thread::Builder::new().name("kernel drops".to_owned()).spawn(move || {
                while let Some(number) = number.upgrade() {
                    number.store(self.count(), Ordering::Relaxed);
                    drop(number);
                    thread::sleep(Duration::from_millis(interval.0));
                }
            })?;
            Ok(())
        }

        /// Returns the datagrams dropped so far, as reported by the system.
        fn count(&mut self) -> u64 {
            let mut all = 0;
            for table in TABLES {
                self.text.clear();
                // Without IPv6 or without /proc the table does not exist.
                let read = File::open(table).and_then(|mut f| f.read_to_string(&mut self.text));
                if read.is_ok() {
                    all += sum(&self.text, &self.inodes);
                }
            }
            all
        }
    }

    /// Returns the drops of the given sockets in a table with a header line.
    fn sum(table: &str, inodes: &[u64]) -> u64 {
        let drops = |line: &str| {
            let mut columns = line.split_ascii_whitespace();
            let inode = columns.nth(INODE)?.parse().ok()?;
            let drops: u64 = columns.nth(DROPS - INODE - 1)?.parse().ok()?;
            inodes.contains(&inode).then_some(drops)
        };
        table.lines().skip(1).filter_map(drops).sum()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::net::UdpSocket;

        const SAMPLE: &str = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
            uid  timeout inode ref pointer drops             \n\
             1128: 0100007F:6D38 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 \
            59001 2 0000000000000000 7         \n\
             1129: 00000000:6D39 00000000:0000 07 00000000:00034B00 00:00000000 00000000     0        0 \
            59002 2 0000000000000000 65536     \n\
             1130: cut off\n";

        #[test]
        fn kernel_drops_sum_own_sockets_only() {
            assert_eq!(sum(SAMPLE, &[59001]), 7);
            assert_eq!(sum(SAMPLE, &[59002, 59001, 5]), 65_543);
            assert_eq!(sum(SAMPLE, &[]), 0);
            assert_eq!(sum("", &[59001]), 0);
        }

        #[test]
        fn unread_datagrams_are_counted_as_kernel_drops() {
            for address in ["127.0.0.1:0", "[::1]:0"] {
                // Skip a machine without IPv6 loopback.
                let Ok(socket) = UdpSocket::bind(address) else { continue };
                let mut drops = Table::of([&socket].into_iter());
                if drops.inodes.is_empty() || !std::path::Path::new(TABLES[0]).exists() {
                    continue;
                }
                assert_eq!(drops.count(), 0);
                let sender = UdpSocket::bind(address).unwrap();
                let to = socket.local_addr().unwrap();
                // More than a receive queue of the usual size holds.
                for _ in 0..2000 {
                    let _ = sender.send_to(&[0; 8000], to);
                }
                assert!(drops.count() > 0, "{address}");
            }
        }
    }
}
