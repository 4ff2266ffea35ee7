//! Table of protocols: number, framing, message encoding and handshake of each.
//!
//! ```text
//! Protocol ─┬ number, name ── handshake, settings, command line
//!           ├ Framing ─────── netchan: header checksum, scrambling
//!           ├ Encoding ────── wire: field tables of entity, player and usercmd
//!           ├ Handshake ───── client: answers of servers, fallback
//!           └ voice, delta_window ── message operations and limits
//! ```
//!
//! A channel has one protocol; its readers and writers carry the protocol's [`Encoding`]. Server
//! and client name no protocol and use the fields of a row. A protocol with known framing and
//! encoding is one more row. A new framing is one more variant of [`Scrambling`], handled in
//! `netchan`; new field tables are rows in [`field_tables`](super::field_tables), a new delta form
//! is a variant of [`DeltaForm`](super::fields::DeltaForm), both handled in `wire`.
//!
//! OpenArena and ioquake3 share number 71. Framing distinguishes them.
//! Source: Quake III protocol 68, ioquake3 protocol 71. Engine names: `com_protocol`,
//! `com_legacyprotocol`, `netchan_t.compat`.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use super::{
    field_tables::{ENTITY_68, EntityTable, PLAYER_68, PlayerTable, USERCMD_68},
    usercmd::UsercmdCodec,
};

/// Facts of one protocol. Two values are equal if they are the same row.
#[derive(Debug)]
pub struct Protocol {
    /// Name in options and reports.
    pub name: &'static str,
    /// Number in userinfo and server info.
    pub number: i32,
    /// Netchan header and scrambling.
    pub framing: Framing,
    /// Encoding of message contents.
    pub encoding: &'static Encoding,
    /// Answers of servers during the handshake.
    pub handshake: Handshake,
    /// Whether server messages may hold voice operations.
    pub voice: bool,
    /// Number of entities in snapshots since a delta base after which clients refuse that base.
    /// `None` if no run of snapshots is that long.
    pub delta_window: Option<u32>,
}

/// Form of netchan datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Whether headers carry a checksum of challenge and sequence.
    pub checksum: bool,
    /// Scrambling of message payloads.
    pub scrambling: Scrambling,
}

/// Scrambling of message payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrambling {
    /// Payloads are sent as they are.
    None,
    /// XOR with challenge, message numbers and the text of the acknowledged command.
    CommandText,
}

/// Encoding of message contents. The bits are those of protocol 68: one fixed Huffman code per byte.
#[derive(Debug)]
pub struct Encoding {
    /// Fields of entity states.
    pub entity: &'static EntityTable,
    /// Fields of playerstates.
    pub player: &'static PlayerTable,
    /// Fields of usercmds.
    pub usercmd: &'static UsercmdCodec,
}

/// Answers of servers during the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Whether servers repeat the client's challenge and name their protocol in `challengeResponse`, and
    /// repeat their own challenge in `connectResponse`.
    pub repeats_challenges: bool,
    /// Protocol that clients use instead with a server that does not know this one.
    pub fallback: Option<&'static Protocol>,
}

/// Message encoding of protocols 66 to 71.
pub static ENCODING_68: Encoding =
    Encoding { entity: &ENTITY_68, player: &PLAYER_68, usercmd: &USERCMD_68 };

/// Framing of protocol 68, which OpenArena's 71 shares.
const SCRAMBLED: Framing = Framing { checksum: false, scrambling: Scrambling::CommandText };
/// Framing of ioquake3's protocol 71.
const CHECKSUMMED: Framing = Framing { checksum: true, scrambling: Scrambling::None };

/// Delta window of 1.32 and OpenArena 0.8.8. These clients store 2048 parsed entities in one ring
/// and refuse a base older than 1920 entities. Clients of ioquake3 store 8192, more than their ring
/// of snapshots can hold.
const DELTA_WINDOW_68: Option<u32> = Some(2048 - 128);

macro_rules! protocols {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        impl Protocol {
            $($(#[$doc])* pub const $name: &'static Self = {
                static ROW: Protocol = $row;
                &ROW
            };)+

            /// Every protocol.
            pub const ALL: [&'static Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];
        }
    };
}

protocols! {
    /// Protocol 68: Quake III Arena 1.32, and the number that most engines still serve.
    Q3_68 = Protocol {
        name: "68",
        number: 68,
        framing: SCRAMBLED,
        encoding: &ENCODING_68,
        handshake: Handshake { repeats_challenges: false, fallback: None },
        voice: false,
        delta_window: DELTA_WINDOW_68,
    };
    /// OpenArena's protocol 71: protocol 68 with another number.
    OA_71 = Protocol {
        name: "compat",
        number: 71,
        framing: SCRAMBLED,
        encoding: &ENCODING_68,
        handshake: Handshake { repeats_challenges: false, fallback: Some(Protocol::Q3_68) },
        voice: false,
        delta_window: DELTA_WINDOW_68,
    };
    /// ioquake3's protocol 71: checksummed headers, payloads that are not scrambled, voice.
    IOQ3_71 = Protocol {
        name: "native",
        number: 71,
        framing: CHECKSUMMED,
        encoding: &ENCODING_68,
        handshake: Handshake { repeats_challenges: true, fallback: Some(Protocol::Q3_68) },
        voice: true,
        delta_window: None,
    };
}

impl Protocol {
    /// Returns the protocol with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name == name)
    }

    /// Returns the protocols with that number, in the order in which they are guessed.
    pub fn with_number(number: i32) -> impl Iterator<Item = &'static Self> {
        Self::ALL.into_iter().filter(move |protocol| protocol.number == number)
    }

    /// Returns the next protocol with the same number, or this one if no other has it.
    #[must_use]
    pub fn next_with_number(&'static self) -> &'static Self {
        let behind = Self::with_number(self.number).skip_while(|other| *other != self).nth(1);
        behind.or_else(|| Self::with_number(self.number).next()).unwrap_or(self)
    }
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Protocol {}

impl Hash for Protocol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_names_are_unique() {
        for protocol in Protocol::ALL {
            assert_eq!(Protocol::named(protocol.name), Some(protocol));
        }
        assert_eq!(Protocol::named("71"), None);
    }

    #[test]
    fn framing_tells_protocols_of_one_number_apart() {
        for protocol in Protocol::ALL {
            let alike = Protocol::with_number(protocol.number)
                .filter(|other| other.framing.checksum == protocol.framing.checksum);
            assert_eq!(alike.count(), 1, "{protocol}");
        }
        assert_eq!(Protocol::Q3_68.next_with_number(), Protocol::Q3_68);
        assert_eq!(Protocol::OA_71.next_with_number(), Protocol::IOQ3_71);
        assert_eq!(Protocol::IOQ3_71.next_with_number(), Protocol::OA_71);
    }
}
