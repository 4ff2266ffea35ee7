//! Userinfo: the info string of a client, with its name and settings.
//!
//! Invariant: a userinfo accepted by [`check_userinfo`] is normalized, so every reader sees one
//! value for each key. Numbers are not clamped here but where they are used.
//! Source: Quake III protocol 68, userinfo keys and the texts of refusals.

use crate::model::{
    Challenge, Qport,
    limits::{MAX_INFO_LEN, MAX_NAME_LEN},
    text::{atoi, truncated},
};

use super::info::{InfoError, InfoString, is_forbidden, pairs};

/// Maximum number of pairs of a userinfo from the network. Clients send about 20, and 40 with
/// settings of mods.
pub const MAX_USERINFO_PAIRS: usize = 96;

/// Validates and normalizes the userinfo of a client.
///
/// The key `ip` is removed: only the server sets it.
///
/// # Errors
/// Bytes that no correct client sends, more than [`MAX_USERINFO_PAIRS`] pairs, and text over the
/// limit.
pub fn check_userinfo(text: &str) -> Result<InfoString, InfoError> {
    let forbidden = |byte| byte != b'\\' && is_forbidden(byte);
    if let Some(at) = text.bytes().position(forbidden) {
        return Err(InfoError::Forbidden { byte: text.as_bytes()[at], at });
    }
    if text.len() > MAX_INFO_LEN {
        return Err(InfoError::TooLong { len: text.len(), limit: MAX_INFO_LEN });
    }
    let pairs = pairs(text).count();
    if pairs > MAX_USERINFO_PAIRS {
        return Err(InfoError::TooManyPairs { pairs, limit: MAX_USERINFO_PAIRS });
    }
    let mut info = InfoString::parse(text);
    info.remove("ip");
    Ok(info)
}

/// Typed access to the engine's keys of a userinfo. Numbers are unchecked, unless said otherwise;
/// `None` where a key is missing.
#[derive(Clone, Copy, Debug)]
pub struct Userinfo<'a>(pub &'a InfoString);

impl<'a> Userinfo<'a> {
    /// Value of any key, empty when it is missing.
    #[must_use]
    pub fn text(self, key: &str) -> &'a str {
        self.0.get(key).unwrap_or("")
    }

    /// Player name, truncated to the engine's limit.
    #[must_use]
    pub fn name(self) -> &'a str {
        truncated(self.text("name"), MAX_NAME_LEN)
    }

    /// Requested rate, in bytes per second.
    #[must_use]
    pub fn rate(self) -> Option<i32> {
        self.0.int("rate")
    }

    /// Requested snapshots per second.
    #[must_use]
    pub fn snaps(self) -> Option<i32> {
        self.0.int("snaps")
    }

    /// Initial health in percent, `1..=100`. Other values, and text of more than four characters,
    /// count as 100.
    #[must_use]
    pub fn handicap(self) -> i32 {
        let text = self.text("handicap");
        let handicap = atoi(text);
        if text.len() <= 4 && (1..=100).contains(&handicap) { handicap } else { 100 }
    }

    /// Password for the server or for its private slots.
    #[must_use]
    pub fn password(self) -> &'a str {
        self.text("password")
    }

    /// Protocol number.
    #[must_use]
    pub fn protocol(self) -> Option<i32> {
        self.0.int("protocol")
    }

    /// Client-chosen id that survives NAT rebinding: the low 16 bits of the number sent.
    #[must_use]
    pub fn qport(self) -> Option<Qport> {
        self.0.int("qport").map(|qport| Qport(qport as u16))
    }

    /// Challenge that the client echoes.
    #[must_use]
    pub fn challenge(self) -> Option<Challenge> {
        self.0.int("challenge").map(Challenge)
    }

    /// Address of the client, added by the server.
    #[must_use]
    pub fn ip(self) -> &'a str {
        self.text("ip")
    }

    /// Permanent id of the player, 32 hexadecimal digits where a game requires it.
    #[must_use]
    pub fn guid(self) -> &'a str {
        self.text("cl_guid")
    }

    /// Name and version of the client program, sent by some engines only.
    #[must_use]
    pub fn client(self) -> &'a str {
        self.text("client")
    }

    /// Player model.
    #[must_use]
    pub fn model(self) -> &'a str {
        self.text("model")
    }

    /// Head model.
    #[must_use]
    pub fn head_model(self) -> &'a str {
        self.text("headmodel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn userinfo_is_validated_and_normalized() {
        let info = check_userinfo("\\name\\a b\\ip\\1.2.3.4\\rate\\1\\Name\\c").expect("honest");
        assert_eq!(info.as_str(), "\\name\\a b\\rate\\1");
        for hostile in ["\\name\\a\"b", "\\name\\a;quit", "\\name\\\x01", "\\n\0\\a", "\\\x7f\\a"] {
            assert!(
                matches!(check_userinfo(hostile), Err(InfoError::Forbidden { .. })),
                "{hostile:?}"
            );
        }
        let of_pairs = |n: usize| (0..n).map(|i| format!("\\{i}\\1")).collect::<String>();
        assert!(check_userinfo(&of_pairs(96)).is_ok());
        for pairs in [97, 150] {
            let error = InfoError::TooManyPairs { pairs, limit: 96 };
            assert_eq!(check_userinfo(&of_pairs(pairs)), Err(error));
        }
        let of_len = |len: usize| format!("\\a\\{}", "x".repeat(len - 3));
        assert!(check_userinfo(&of_len(1023)).is_ok());
        for len in [1024, 2000] {
            let error = InfoError::TooLong { len, limit: 1023 };
            assert_eq!(check_userinfo(&of_len(len)), Err(error));
        }
    }

    #[test]
    fn userinfo_numbers_are_parsed_and_abuse_is_reported() {
        let info = InfoString::parse(
            "\\rate\\-1\\snaps\\nan\\handicap\\101\\qport\\65537\\challenge\\-5\\name\\\
             0123456789012345678901234567890123",
        );
        let user = Userinfo(&info);
        assert_eq!((user.rate(), user.snaps(), user.protocol()), (Some(-1), Some(0), None));
        assert_eq!((user.qport(), user.challenge()), (Some(Qport(1)), Some(Challenge(-5))));
        assert_eq!(user.name().len(), 31);
        for (text, handicap) in [("0", 100), ("1", 1), ("50", 50), ("00050", 100), ("x", 100)] {
            let info = InfoString::parse(&format!("\\handicap\\{text}"));
            assert_eq!(Userinfo(&info).handicap(), handicap, "{text}");
        }
    }
}
