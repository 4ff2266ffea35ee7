//! Datagrams that the kernel dropped because nobody fetched them in time.
//!
//! Linux counts them for each socket and tells in `/proc/net/udp` and `udp6`, where a socket is known by
//! its inode. Reading takes the kernel some microseconds for each socket of the machine, so it is asked
//! every few seconds, never for a datagram.
//! Source: proc_net_udp(5).

use std::{
    fs::File,
    io::Read as _,
    os::{fd::AsFd, unix::fs::MetadataExt as _},
};

const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];
/// Columns, from 0.
const INODE: usize = 9;
const DROPS: usize = 12;

/// The sockets that are asked about.
pub(super) struct KernelDrops {
    inodes: Vec<u64>,
    /// Memory used again and again.
    text: String,
}

impl KernelDrops {
    pub(super) fn new<S: AsFd>(sockets: impl Iterator<Item = S>) -> Self {
        let inode = |socket: S| {
            let file = File::from(socket.as_fd().try_clone_to_owned().ok()?);
            Some(file.metadata().ok()?.ino())
        };
        Self { inodes: sockets.filter_map(inode).collect(), text: String::new() }
    }

    /// How many of these sockets' datagrams were dropped so far, as far as the system tells.
    pub(super) fn count(&mut self) -> u64 {
        let mut all = 0;
        for table in TABLES {
            self.text.clear();
            // Without IPv6, or in a place without /proc, there is nothing to add.
            if File::open(table).and_then(|mut file| file.read_to_string(&mut self.text)).is_ok() {
                all += sum(&self.text, &self.inodes);
            }
        }
        all
    }
}

/// The drops of those sockets in a table with a headline.
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

    const TABLE: &str = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
        uid  timeout inode ref pointer drops             \n\
         1128: 0100007F:6D38 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 \
        59001 2 0000000000000000 7         \n\
         1129: 00000000:6D39 00000000:0000 07 00000000:00034B00 00:00000000 00000000     0        0 \
        59002 2 0000000000000000 65536     \n\
         1130: cut off\n";

    #[test]
    fn the_sockets_drops_are_summed_and_nobody_elses() {
        assert_eq!(sum(TABLE, &[59001]), 7);
        assert_eq!(sum(TABLE, &[59002, 59001, 5]), 65_543);
        assert_eq!(sum(TABLE, &[]), 0);
        assert_eq!(sum("", &[59001]), 0);
    }

    #[test]
    fn what_nobody_fetches_is_counted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Without IPv6 loopback there is nothing to test.
            let Ok(socket) = UdpSocket::bind(address) else { continue };
            let mut drops = KernelDrops::new([&socket].into_iter());
            if drops.inodes.is_empty() || !std::path::Path::new(TABLES[0]).exists() {
                continue;
            }
            assert_eq!(drops.count(), 0);
            let sender = UdpSocket::bind(address).unwrap();
            let to = socket.local_addr().unwrap();
            // More than any usual queue holds, in datagrams of loopback's size.
            for _ in 0..2000 {
                let _ = sender.send_to(&[0; 8000], to);
            }
            assert!(drops.count() > 0, "{address}");
        }
    }
}
