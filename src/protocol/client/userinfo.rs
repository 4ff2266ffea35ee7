//! Userinfo as a client of each protocol sends it.
//!
//! Owners of a client give keys of 1.32. Clients before it have fewer keys, and one of another name.
//! Source: Quake III protocol 43, handshake; protocol 66, differences.

use std::borrow::Cow;

use crate::wire::{info::InfoString, protocol::Protocol};

/// Keys that clients before 1.32 do not send.
const KEYS_OF_132: [&str; 1] = ["cl_guid"];
/// Keys that clients with the numbers of 1.16 do not send besides.
const KEYS_AFTER_116: [&str; 5] =
    ["headmodel", "team_model", "team_headmodel", "color2", "teamtask"];
/// Color of a player: key of 1.32, and of 1.16.
const COLOR: [&str; 2] = ["color1", "color"];

/// Returns the userinfo as a client of the protocol sends it.
pub(super) fn sent<'a>(protocol: &Protocol, userinfo: &'a InfoString) -> Cow<'a, InfoString> {
    if protocol.number >= Protocol::Q3_68.number {
        return Cow::Borrowed(userinfo);
    }
    let mut sent = userinfo.clone();
    for key in KEYS_OF_132 {
        sent.remove(key);
    }
    if !protocol.numbers.is_current() {
        for key in KEYS_AFTER_116 {
            sent.remove(key);
        }
        let [key, older_key] = COLOR;
        if let Some(color) = userinfo.get(key) {
            sent.remove(key);
            // The text is shorter than before.
            let _ = sent.set(older_key, color);
        }
    }
    Cow::Owned(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_clients_send_fewer_keys() {
        let all = r"\name\a\headmodel\sarge\color1\4\color2\5\cl_guid\AB";
        let userinfo = InfoString::parse(all);
        let sent = |protocol| sent(protocol, &userinfo).as_str().to_owned();
        assert_eq!(sent(Protocol::Q3_43), r"\name\a\color\4");
        assert_eq!(sent(Protocol::Q3_67), r"\name\a\headmodel\sarge\color1\4\color2\5");
        for protocol in Protocol::CURRENT {
            assert_eq!(sent(protocol), all);
        }
    }
}
