//! IP bans: the masks in the setting `g_banIPs`.
//!
//! A mask is up to four numbers with dots between them; `*` and missing numbers at the end match every
//! value. With `g_filterBan` 0 the list is an allow list. Source: the base game's address filters.

use crate::{
    game::{Host, settings::key},
    model::text::counted,
};

/// Name of the setting with the list.
const LIST: &str = key::G_BAN_IPS.setting().name;

/// Mask of IPv4 addresses; `None` matches every byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IpMask([Option<u8>; 4]);

impl IpMask {
    /// Parses a mask. Returns `None` for other text.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = [None; 4];
        let mut given = text.split('.');
        for (at, part) in parts.iter_mut().enumerate() {
            *part = match given.next() {
                None if at > 0 => break,
                None => return None,
                Some("*") => None,
                Some(number) => Some(number.parse().ok()?),
            };
        }
        given.next().is_none().then_some(Self(parts))
    }

    fn matches(self, address: [u8; 4]) -> bool {
        self.0.iter().zip(address).all(|(part, byte)| part.is_none_or(|part| part == byte))
    }
}

impl std::fmt::Display for IpMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            match part {
                Some(byte) => write!(f, "{dot}{byte}")?,
                None => write!(f, "{dot}*")?,
            }
        }
        Ok(())
    }
}

/// Words of a ban list that are not masks, so that they match no address.
pub(crate) fn unreadable_masks(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace().filter(|word| IpMask::parse(word).is_none())
}

/// Whether an address is banned. `ip` is the value of the userinfo key, with or without a port.
pub(super) fn is_banned(host: &dyn Host, ip: &str) -> bool {
    let bans = host.settings().flag(key::G_FILTER_BAN);
    let list = host.settings().text(key::G_BAN_IPS);
    if list.is_empty() && bans {
        return false;
    }
    let address = ip.split(':').next().and_then(|ip| ip.parse::<std::net::Ipv4Addr>().ok());
    let listed = address.is_some_and(|address| {
        let mut masks = list.split_ascii_whitespace().filter_map(IpMask::parse);
        masks.any(|mask| mask.matches(address.octets()))
    });
    listed == bans
}

/// Runs the console command `addip`.
pub(super) fn add(host: &mut dyn Host, word: &str) {
    let Some(mask) = IpMask::parse(word) else {
        return host.reply("Usage: addip <ip-mask>, such as 10.1.2.3 or 10.1.*");
    };
    let mask = mask.to_string();
    let list = host.settings().text(key::G_BAN_IPS);
    if list.split_ascii_whitespace().any(|known| known == mask) {
        return host.reply(&format!("{mask} is on the list already"));
    }
    let longer = format!("{list} {mask}");
    if longer.len() > key::G_BAN_IPS.setting().max_len() {
        return host.reply("the list of addresses is full");
    }
    host.set_setting(LIST, longer.trim_start());
    host.reply(&format!("Added {mask}"));
}

/// Runs the console command `removeip`.
pub(super) fn remove(host: &mut dyn Host, word: &str) {
    let Some(mask) = IpMask::parse(word) else {
        return host.reply("Usage: removeip <ip-mask>");
    };
    let list = host.settings().text(key::G_BAN_IPS).to_owned();
    let kept: Vec<&str> =
        list.split_ascii_whitespace().filter(|known| IpMask::parse(known) != Some(mask)).collect();
    if kept.len() == list.split_ascii_whitespace().count() {
        return host.reply(&format!("Didn't find {word}."));
    }
    host.set_setting(LIST, &kept.join(" "));
    host.reply(&format!("Removed {mask}"));
}

/// Runs the console command `listip`.
pub(super) fn list(host: &mut dyn Host) {
    let list = host.settings().text(key::G_BAN_IPS).to_owned();
    for mask in list.split_ascii_whitespace() {
        match IpMask::parse(mask) {
            Some(_) => host.reply(mask),
            None => host.reply(&format!("{mask} (not an address mask: matches nothing)")),
        }
    }
    let effect = match host.settings().flag(key::G_FILTER_BAN) {
        false => "nobody else may come in",
        true => "they may not come in",
    };
    let count = list.split_ascii_whitespace().filter_map(IpMask::parse).count();
    host.reply(&format!("{} in g_banIPs: {effect}", counted(count, "mask")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn ip_masks_match_their_addresses() {
        for (mask, shown, matching, other) in [
            ("10.1.2.3", "10.1.2.3", [10, 1, 2, 3], [10, 1, 2, 4]),
            ("10.1", "10.1.*.*", [10, 1, 99, 98], [10, 2, 2, 3]),
            ("10.*.2.*", "10.*.2.*", [10, 77, 2, 9], [10, 77, 3, 9]),
        ] {
            let read = IpMask::parse(mask).expect(mask);
            assert_eq!(read.to_string(), shown);
            assert!(read.matches(matching) && !read.matches(other), "{mask}");
        }
        for wrong in ["", "x", "256", "1.2.3.4.5", "1..2", "1.-2", "::1", "1.2.3.4;quit"] {
            assert_eq!(IpMask::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn ban_list_bans_or_admits() {
        let mut host = TestHost::default();
        assert!(!is_banned(&host, "10.1.2.3:27960"));
        add(&mut host, "10.1");
        add(&mut host, "10.1.*.*");
        add(&mut host, "nonsense");
        add(&mut host, "192.168.0.1");
        assert_eq!(host.setting("g_banIPs"), "10.1.*.* 192.168.0.1");
        assert!(is_banned(&host, "10.1.2.3:27960") && is_banned(&host, "192.168.0.1"));
        assert!(!is_banned(&host, "10.2.2.3:27960") && !is_banned(&host, "[::1]:27960"));
        host.set_setting("g_filterBan", "0");
        assert!(!is_banned(&host, "10.1.2.3:27960"));
        assert!(is_banned(&host, "10.2.2.3:27960") && is_banned(&host, "[::1]:27960"));
        remove(&mut host, "10.1");
        remove(&mut host, "10.1");
        assert_eq!(host.setting("g_banIPs"), "192.168.0.1");
    }

    #[test]
    fn ban_list_fits_its_setting() {
        let mut host = TestHost::default();
        for number in 0..200 {
            add(&mut host, &format!("200.100.150.{number}"));
        }
        assert!(host.setting("g_banIPs").len() <= key::G_BAN_IPS.setting().max_len());
    }
}
