//! Table of protocols: number, framing, message encoding and handshake of each.
//!
//! ```text
//! Protocol ─┬ number, name ── handshake, settings, command line
//!           ├ extension ───── demo files
//!           ├ Framing ─────── netchan: header checksum, scrambling
//!           ├ Encoding ────── wire: coder, message form, field tables of entity, player and usercmd
//!           ├ Handshake ───── client: connect packet, answers of servers, fallback
//!           ├ GameNumbers ─── server: numbers of events, configstrings and so on
//!           └ voice, delta_window ── message operations and limits
//! ```
//!
//! A channel has one protocol; its readers and writers carry the protocol's [`Encoding`]. Server
//! and client name no protocol and use the fields of a row. A protocol with known framing and
//! encoding is one more row. A new framing is one more variant of [`Scrambling`], handled in
//! `netchan`; new field tables are rows in [`field_tables`](super::field_tables), a new delta form
//! is a variant of [`DeltaForm`](super::fields::DeltaForm), both handled in `wire`.
//!
//! OpenArena and ioquake3 share number 71. Framing distinguishes them. Whether messages of 66 and 67
//! are scrambled is not proven, so each has two rows. Of protocol 48 only demos are known. Rows of Quake Live are in
//! [`quake_live`](super::quake_live).
//! Source: Quake III protocol 68, ioquake3 protocol 71; protocols 43 to 67 of 1.11 to 1.31. Engine
//! names: `com_protocol`, `com_legacyprotocol`, `netchan_t.compat`.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use super::{
    connect::ConnectForm,
    field_tables::{ENTITY_68, EntityTable, PLAYER_68, PlayerTable, USERCMD_68},
    legacy_fields::{ENTITY_43, ENTITY_48, PLAYER_43, PLAYER_48, USERCMD_43},
    numbers::GameNumbers,
    usercmd::UsercmdCodec,
};

/// Facts of one protocol. Two values are equal if they are the same row.
#[derive(Debug)]
pub struct Protocol {
    /// Name in options and reports.
    pub name: &'static str,
    /// Number in userinfo and server info.
    pub number: i32,
    /// Extension of demo files, without the dot.
    pub extension: &'static str,
    /// Netchan header and scrambling.
    pub framing: Framing,
    /// Encoding of message contents.
    pub encoding: &'static Encoding,
    /// Answers of servers during the handshake.
    pub handshake: Handshake,
    /// Whether server messages may hold voice operations.
    pub voice: bool,
    /// Numbers of the game: events, configstrings and so on.
    pub numbers: GameNumbers,
    /// Whether receivers ignore fragments of a message that they have, so that each may be sent twice.
    pub filters_fragments: bool,
    /// Whether connections use it; else its datagrams are unknown, and only demos are read.
    pub is_live: bool,
    /// Proof of archives to a pure server.
    pub pure_answer: PureAnswer,
    /// Whether it is not known that messages are scrambled as in this row. Peers detect it, between the rows of one
    /// number.
    pub is_scrambling_open: bool,
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
    /// Whole datagrams, each fragment for itself: XOR and exchange of bytes by their sequence, length
    /// and a constant.
    Datagram,
}

/// Form of whole bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coder {
    /// One fixed Huffman code per byte.
    Huffman,
    /// Bits as they are.
    Plain,
}

/// Form of messages around their operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageForm {
    /// Whether the number of the last client command is in front of a server message; else it is in snapshots.
    pub acknowledges_first: bool,
    /// Whether messages and the lists of a gamestate end with an operation.
    ///
    /// Else a message ends with its bytes, and a list with a zero byte.
    pub has_end_mark: bool,
    /// Whether gamestates hold the number of the client.
    pub has_client_number: bool,
    /// Whether texts are UTF-8; else ASCII.
    pub has_utf8: bool,
}

/// Encoding of message contents.
#[derive(Debug)]
pub struct Encoding {
    /// Form of whole bytes.
    pub coder: Coder,
    /// Form of messages.
    pub messages: MessageForm,
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
    /// Form of `connect` packets.
    pub connect: ConnectForm,
    /// Whether servers repeat the client's challenge and name their protocol in `challengeResponse`, and
    /// repeat their own challenge in `connectResponse`.
    pub repeats_challenges: bool,
    /// Protocol that clients use instead with a server that does not know this one.
    pub fallback: Option<&'static Protocol>,
    /// Whether clients send a number and the name of their game with `getchallenge`. Those that do not ignore words
    /// behind the answers.
    pub sends_challenge: bool,
}

/// Form of the command by which a client proves its archives to a pure server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PureAnswer {
    /// `cl_paks`: checksums as the server lists them.
    PakChecksums,
    /// `cp`: checksums mixed with the feed of the gamestate, and their sum.
    Mixed,
    /// `cp` with the id of the level in front.
    MixedOfLevel,
}

/// Form of messages of protocols 66 to 71.
pub(super) const MESSAGES_68: MessageForm = MessageForm {
    acknowledges_first: true,
    has_end_mark: true,
    has_client_number: true,
    has_utf8: false,
};
/// Form of messages of protocols 43 and 45.
const MESSAGES_43: MessageForm = MessageForm {
    acknowledges_first: false,
    has_end_mark: false,
    has_client_number: false,
    has_utf8: false,
};

/// Message encoding of protocols 66 to 71.
pub static ENCODING_68: Encoding = Encoding {
    coder: Coder::Huffman,
    messages: MESSAGES_68,
    entity: &ENTITY_68,
    player: &PLAYER_68,
    usercmd: &USERCMD_68,
};

/// Message encoding of protocols 43 and 45.
pub static ENCODING_43: Encoding = Encoding {
    coder: Coder::Plain,
    messages: MESSAGES_43,
    entity: &ENTITY_43,
    player: &PLAYER_43,
    usercmd: &USERCMD_43,
};

/// Message encoding of protocol 48. Its usercmds are unknown.
pub static ENCODING_48: Encoding = Encoding {
    coder: Coder::Plain,
    messages: MessageForm { acknowledges_first: true, ..MESSAGES_43 },
    entity: &ENTITY_48,
    player: &PLAYER_48,
    usercmd: &USERCMD_43,
};

/// Framing of protocol 68, which OpenArena's 71 shares.
const SCRAMBLED: Framing = Framing { checksum: false, scrambling: Scrambling::CommandText };
/// Framing of protocols 66 and 67 without scrambling.
const CLEAR: Framing = Framing { checksum: false, scrambling: Scrambling::None };
/// Framing of protocols 43 and 45.
const SCRAMBLED_DATAGRAMS: Framing = Framing { checksum: false, scrambling: Scrambling::Datagram };
/// Framing of ioquake3's protocol 71.
const CHECKSUMMED: Framing = Framing { checksum: true, scrambling: Scrambling::None };

/// Delta window of 1.32 and OpenArena 0.8.8. These clients store 2048 parsed entities in one ring
/// and refuse a base older than 1920 entities. Clients of ioquake3 store 8192, more than their ring
/// of snapshots can hold.
const DELTA_WINDOW_68: Option<u32> = Some(2048 - 128);

/// Handshake of protocols before ioquake3's 71.
const SHORT: Handshake = Handshake {
    connect: ConnectForm::Compressed,
    repeats_challenges: false,
    fallback: None,
    sends_challenge: true,
};
/// Handshake of protocols 66 and 67, without arguments of `getchallenge`.
const SHORT_BARE: Handshake = Handshake { sends_challenge: false, ..SHORT };
/// Handshake of protocols 43 and 45.
const SHORT_PLAIN: Handshake = Handshake { connect: ConnectForm::Plain, ..SHORT_BARE };

/// Facts of protocol 68 that others share.
pub(super) const ROW_68: Protocol = Protocol {
    name: "68",
    number: 68,
    extension: "dm_68",
    framing: SCRAMBLED,
    encoding: &ENCODING_68,
    handshake: SHORT,
    voice: false,
    numbers: GameNumbers::Current,
    filters_fragments: true,
    is_live: true,
    pure_answer: PureAnswer::MixedOfLevel,
    is_scrambling_open: false,
    delta_window: DELTA_WINDOW_68,
};

/// Facts of protocols 66 and 67 that their rows share.
const ROW_66: Protocol = Protocol {
    name: "66",
    number: 66,
    extension: "dm_66",
    handshake: SHORT_BARE,
    pure_answer: PureAnswer::Mixed,
    filters_fragments: false,
    ..ROW_68
};
const ROW_67: Protocol = Protocol { name: "67", number: 67, extension: "dm_67", ..ROW_66 };

/// Facts of protocol 43 that others share.
const ROW_43: Protocol = Protocol {
    name: "43",
    number: 43,
    extension: "dm3",
    framing: SCRAMBLED_DATAGRAMS,
    encoding: &ENCODING_43,
    handshake: SHORT_PLAIN,
    numbers: GameNumbers::Release116,
    pure_answer: PureAnswer::PakChecksums,
    filters_fragments: false,
    ..ROW_68
};

macro_rules! protocols {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        impl Protocol {
            $($(#[$doc])* pub const $name: &'static Self = {
                static ROW: Protocol = $row;
                &ROW
            };)+

            /// Every protocol but those of Quake Live, of which demos alone are read.
            pub const ALL: [&'static Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];
        }
    };
}

protocols! {
    /// Protocol 43: Quake III Arena 1.11 to 1.16n, and the Dreamcast.
    Q3_43 = ROW_43;
    /// Protocol 45: 1.17. Its messages are those of 43; that its datagrams are, too, is inferred.
    Q3_45 = Protocol { name: "45", number: 45, ..ROW_43 };
    /// Protocol 48: 1.27g and 1.27h. Demos only.
    Q3_48 = Protocol {
        name: "48",
        number: 48,
        extension: "dm_48",
        encoding: &ENCODING_48,
        is_live: false,
        ..ROW_68
    };
    /// Protocol 66: 1.29f to 1.30. Whether its messages are scrambled is not known.
    Q3_66 = Protocol { is_scrambling_open: true, ..ROW_66 };
    /// Protocol 66 without scrambling.
    Q3_66_CLEAR =
        Protocol { name: "66-clear", framing: CLEAR, ..ROW_66 };
    /// Protocol 67: 1.31, with scrambled messages.
    Q3_67 = ROW_67;
    /// Protocol 67 without scrambling.
    Q3_67_CLEAR =
        Protocol { name: "67-clear", framing: CLEAR, ..ROW_67 };
    /// Protocol 68: Quake III Arena 1.32, and the number that most engines still serve.
    Q3_68 = ROW_68;
    /// OpenArena's protocol 71: protocol 68 with another number.
    OA_71 = Protocol {
        name: "compat",
        number: 71,
        extension: "dm_71",
        handshake: Handshake { fallback: Some(Protocol::Q3_68), ..SHORT },
        ..ROW_68
    };
    /// ioquake3's protocol 71: checksummed headers, payloads that are not scrambled, voice.
    IOQ3_71 = Protocol {
        name: "native",
        number: 71,
        extension: "dm_71",
        framing: CHECKSUMMED,
        handshake: Handshake { repeats_challenges: true, fallback: Some(Protocol::Q3_68), ..SHORT },
        voice: true,
        delta_window: None,
        ..ROW_68
    };
}

impl Protocol {
    /// Protocols of current engines.
    pub const CURRENT: [&'static Self; 3] = [Self::Q3_68, Self::OA_71, Self::IOQ3_71];

    /// Returns the protocol with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name == name)
    }

    /// Returns the protocols of connections.
    pub fn live() -> impl Iterator<Item = &'static Self> {
        Self::ALL.into_iter().filter(|protocol| protocol.is_live)
    }

    /// Returns the protocols of connections that a peer can tell apart: those whose scrambling alone differs count once.
    pub fn distinct() -> impl Iterator<Item = &'static Self> {
        Self::live().filter(|protocol| {
            let first = Self::with_number(protocol.number).next();
            protocol.has_checksummed_sibling() || first == Some(*protocol)
        })
    }

    /// Returns the names of the protocols of connections, for help and errors.
    #[must_use]
    pub fn live_names() -> String {
        Self::live().map(|protocol| protocol.name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the protocols with that number, in the order in which they are guessed.
    pub fn with_number(number: i32) -> impl Iterator<Item = &'static Self> {
        Self::ALL.into_iter().filter(move |protocol| protocol.number == number)
    }

    /// Returns a sentence on the scrambling of its messages, for logs.
    #[must_use]
    pub fn scrambling_text(&self) -> String {
        let found = match self.framing.scrambling {
            Scrambling::None => "not scrambled",
            Scrambling::CommandText | Scrambling::Datagram => "scrambled",
        };
        format!("messages of protocol {} are {found}", self.number)
    }

    /// Whether a protocol with the same number has header checksums, which tell both apart.
    #[must_use]
    pub fn has_checksummed_sibling(&self) -> bool {
        Self::with_number(self.number).any(|other| other.framing.checksum)
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
                .filter(|other| other.framing == protocol.framing);
            assert_eq!(alike.count(), 1, "{protocol}");
        }
        assert_eq!(Protocol::Q3_68.next_with_number(), Protocol::Q3_68);
        assert_eq!(Protocol::OA_71.next_with_number(), Protocol::IOQ3_71);
        assert_eq!(Protocol::IOQ3_71.next_with_number(), Protocol::OA_71);
    }
}
