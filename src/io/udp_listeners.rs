//! UDP addresses that another process listens on, for health checks of a server on any port.
//!
//! Source: the files `fd`, `net/udp` and `net/udp6` of a process in the proc file system of Linux.

use std::{
    collections::BTreeSet,
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// Maximum open files that are searched.
const MAX_FILES: usize = 65_536;

/// Returns the addresses to reach the UDP sockets of a process of this machine, IPv4 first. A socket of all addresses
/// is reached by loopback.
///
/// # Errors
/// The process does not exist, belongs to another user, or the system is not Linux.
pub fn udp_listeners(pid: u32) -> io::Result<Vec<SocketAddr>> {
    let mut sockets = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))?.take(MAX_FILES).flatten() {
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        let name = target.to_string_lossy();
        let inode = name.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        sockets.extend(inode.and_then(|inode| inode.parse::<u64>().ok()));
    }
    let mut found = BTreeSet::new();
    for table in ["udp", "udp6"] {
        // A kernel without IPv6 has no such table.
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        found.extend(text.lines().filter_map(|line| listener(line, &sockets)));
    }
    Ok(found.into_iter().collect())
}

/// Returns the address of a line of the table, if it is that of an unconnected socket among `sockets`.
fn listener(line: &str, sockets: &BTreeSet<u64>) -> Option<SocketAddr> {
    let mut columns = line.split_ascii_whitespace().skip(1);
    let (local, remote) = (columns.next()?, columns.next()?);
    let inode = columns.nth(6)?.parse().ok()?;
    let (_, remote_port) = remote.split_once(':')?;
    if !sockets.contains(&inode) || u16::from_str_radix(remote_port, 16).ok()? != 0 {
        return None;
    }
    let (address, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let ip = match address_of(address)? {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Some(SocketAddr::new(ip, port))
}

/// Parses an address: words of 32 bits in the byte order of the machine, as hexadecimal digits.
fn address_of(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let word = u32::from_str_radix(digits.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    match digits.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Some(IpAddr::from(bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_sockets_are_skipped() {
        let sockets = BTreeSet::from([77]);
        let line = |local: &str, remote: &str, inode: u64| {
            let text = format!(
                "  12: {local} {remote} 07 00000000:00000000 00:00000000 00000000     0        0 {inode} 2 0 0"
            );
            listener(&text, &sockets)
        };
        let any = "00000000:0000";
        assert_eq!(line("00000000:6D38", any, 77), Some(([127, 0, 0, 1], 27960).into()));
        assert_eq!(line("00000000:6D38", any, 78), None);
        assert_eq!(line("00000000:6D38", "0100007F:0035", 77), None, "connected");
        let long = "0".repeat(32);
        let six = line(&format!("{long}:6D39"), &format!("{long}:0000"), 77);
        assert_eq!(six, Some((Ipv6Addr::LOCALHOST, 27961).into()));
        for broken in ["", "sl local_address rem_address", "1: x y", "1: 0:0 0:0 a b c d e f g"] {
            assert_eq!(listener(broken, &sockets), None, "{broken}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sockets_of_this_process_are_found() {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = udp_listeners(std::process::id()).unwrap();
        assert!(found.contains(&SocketAddr::from(([127, 0, 0, 1], port))), "{found:?}");
        assert!(udp_listeners(u32::MAX).is_err());
    }
}
