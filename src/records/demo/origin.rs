//! Origin of a file: protocol of a demo, or the other game that wrote it.
//!
//! The name tells the protocol. Without a known extension, and where the messages are of another form, the content
//! tells: the serverinfo of the first gamestate, and the form in which the first messages are read. Source: demo files of games with related engines; their
//! names, first bytes and protocol numbers. Another game is a row of [`GAMES`].

use thiserror::Error;

use crate::{
    model::ConfigIndex,
    wire::{
        Protocol,
        bits::BitReader,
        demo_file::{Records, complete_name, protocol_of},
        info::InfoString,
        server_message::ServerOp,
    },
};

use super::{
    fault::{DemoErrorKind, DemoNoteKind},
    quake_files,
    reader::DemoReader,
};

/// Messages that are decoded to tell whether a file is what its name says.
const TRIED_MESSAGES: usize = 16;

/// Bytes in front of the serverinfo of a message without compression.
const MAX_PLAIN_HEADER: usize = 32;

/// Files that are read.
const EXPECTED: &str = "a demo of Quake III Arena: .dm3, .dm_48, .dm_66 to .dm_68 or .dm_71, of Quake Live: .dm_73, \
                        .dm_90 or .dm_91, or a multi-view recording: .mv";

/// Reason why a file is not a demo that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DemoFileError {
    /// File of another game.
    #[error("a file of {0} (expected {EXPECTED})")]
    OtherGame(&'static str),
    /// Compressed file.
    #[error("a compressed file: {0} (expected the unpacked demo)")]
    Packed(&'static str),
    /// File of another kind.
    #[error("{0} (expected {EXPECTED})")]
    OtherKind(&'static str),
    /// Neither the name nor the content tells.
    #[error("unknown extension, and no demo by its content (expected {EXPECTED})")]
    Unknown,
}

/// Another game.
struct Game {
    name: &'static str,
    /// Extensions of its demos.
    extensions: &'static [&'static str],
    /// Protocol numbers in the serverinfo.
    protocols: &'static [i32],
    /// Begin of the version in the serverinfo.
    versions: &'static [&'static str],
}

const GAMES: &[Game] = &[
    Game {
        name: "Quake III Arena 1.25 or 1.26 (protocol 46 or 47)",
        extensions: &["dm_46", "dm_47"],
        protocols: &[46, 47],
        versions: &[],
    },
    Game {
        name: "Quake Live in an unknown form",
        extensions: &[],
        protocols: &[],
        versions: &["QuakeLive", "Quake Live"],
    },
    Game {
        name: "Return to Castle Wolfenstein (protocol 57 to 60)",
        extensions: &["dm_57", "dm_58", "dm_59", "dm_60"],
        protocols: &[57, 58, 59, 60],
        versions: &["Wolf "],
    },
    Game {
        name: "Wolfenstein: Enemy Territory (protocol 72 to 84)",
        extensions: &["dm_72", "dm_80", "dm_82", "dm_83", "dm_84", "tv_84"],
        protocols: &[72, 80, 82, 83, 84],
        versions: &["ET "],
    },
    Game {
        name: "Tremulous (protocol 69 or 70)",
        extensions: &["dm_69", "dm_70"],
        protocols: &[69, 70],
        versions: &["tremulous"],
    },
    Game {
        name: "Urban Terror 4.2 or later (.urtdemo)",
        extensions: &["urtdemo"],
        protocols: &[],
        versions: &[],
    },
    Game {
        name: "Star Wars Jedi Knight II (protocol 15 or 16)",
        extensions: &["dm_15", "dm_16"],
        protocols: &[15, 16],
        versions: &["JK2MP"],
    },
    Game {
        name: "Star Wars Jedi Knight: Jedi Academy (protocol 25 or 26)",
        extensions: &["dm_25", "dm_26"],
        protocols: &[25, 26],
        versions: &["JAmp"],
    },
    Game {
        name: "Star Trek: Voyager Elite Force (protocol 24)",
        extensions: &["dm_24", "efdemo"],
        protocols: &[24],
        versions: &["ST:V HM", "EF "],
    },
    Game {
        name: "Soldier of Fortune II",
        extensions: &["dm_2001", "dm_2002", "dm_2003", "dm_2004"],
        protocols: &[2001, 2002, 2003, 2004],
        versions: &["SOF2MP"],
    },
    Game {
        name: "Call of Duty",
        extensions: &[
            "dm_1", "dm_2", "dm_4", "dm_5", "dm_6", "dm_21", "dm_22", "dm_115", "dm_117", "dm_118",
        ],
        protocols: &[1, 2, 4, 5, 6, 21, 22, 115, 117, 118],
        versions: &["CoD"],
    },
    Game { name: "Quake II", extensions: &["dm2", "mvd2"], protocols: &[], versions: &[] },
    Game { name: "QuakeWorld", extensions: &["qwd", "mvd", "qtv"], protocols: &[], versions: &[] },
    Game {
        name: "Quake, Half-Life or another game with .dem files",
        extensions: &["dem", "dmo"],
        protocols: &[],
        versions: &[],
    },
];

/// First bytes of files, and what they are.
const MAGIC: &[(&[u8], DemoFileError)] = &[
    (b"\x1f\x8b", DemoFileError::Packed("gzip")),
    (b"BZh", DemoFileError::Packed("bzip2")),
    (b"PK\x03\x04", DemoFileError::Packed("zip or pk3")),
    (b"7z\xbc\xaf\x27\x1c", DemoFileError::Packed("7z")),
    (b"\xfd7zXZ\0", DemoFileError::Packed("xz")),
    (b"Rar!", DemoFileError::Packed("rar")),
    (b"\x28\xb5\x2f\xfd", DemoFileError::Packed("zstd")),
    (b"HLDEMO\0", DemoFileError::OtherGame("Half-Life")),
    (b"HL2DEMO\0", DemoFileError::OtherGame("a game of the Source engine")),
    (b"PBDEMS2\0", DemoFileError::OtherGame("a game of the Source 2 engine")),
    (b"MVD2", DemoFileError::OtherGame("Quake II")),
    // No connection has so large a sequence.
    (b"\x7fELF", DemoFileError::OtherKind("a program (ELF)")),
    (b"IBSP", DemoFileError::OtherKind("a compiled map (IBSP)")),
    (b"\x89PNG", DemoFileError::OtherKind("an image (PNG)")),
    (b"\xff\xd8\xff\xe0", DemoFileError::OtherKind("an image (JPG)")),
    (b"%PDF", DemoFileError::OtherKind("a document (PDF)")),
];

/// Returns the protocol in which a demo is read.
///
/// It is that of the name if the messages are of this form. Else it is the one that the serverinfo names, or any other
/// in which the first messages are read to their ends.
///
/// # Errors
/// [`DemoFileError`], with the game that the file seems to be of.
pub fn recognize(name: &str, bytes: &[u8]) -> Result<&'static Protocol, DemoFileError> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(*what);
    }
    let named = protocol_of(name);
    if named.is_none()
        && let Some(game) = quake_files::name(bytes)
    {
        return Err(DemoFileError::OtherGame(game));
    }
    if named.is_none()
        && let Some(game) = game_of_name(name)
    {
        return Err(DemoFileError::OtherGame(game.name));
    }
    let info = first_serverinfo(bytes);
    let number = InfoString::parse_big(info.as_deref().unwrap_or_default()).int("protocol");
    let told = number.and_then(row_of);
    let is = |wanted: Decoded| move |row: &&'static Protocol| try_decode(row, bytes) == wanted;
    if let Some(named) = named.filter(is(Decoded::Exactly)) {
        // Few messages are alike in forms that differ in fields alone.
        let differs = told.filter(|told| !std::ptr::eq(told.encoding, named.encoding));
        return Ok(differs.filter(is(Decoded::Exactly)).unwrap_or(named));
    }
    let candidates = || told.into_iter().chain(rows());
    if let Some(protocol) = candidates().find(is(Decoded::Exactly)) {
        return Ok(protocol);
    }
    if let Some(game) = other_content(bytes, info.as_deref()) {
        return Err(DemoFileError::OtherGame(game));
    }
    let mut candidates = named.into_iter().chain(candidates());
    candidates.find(is(Decoded::WithRest)).or(named).ok_or(DemoFileError::Unknown)
}

/// Protocols of different messages: the current one of protocol 68 in front, then one of each extension.
fn rows() -> impl Iterator<Item = &'static Protocol> {
    let mut seen: Vec<&str> = Vec::new();
    let all = [Protocol::Q3_68].into_iter().chain(Protocol::recorded());
    all.filter_map(move |protocol| {
        let is_new = !seen.contains(&protocol.extension);
        seen.push(protocol.extension);
        is_new.then(|| protocol_of(&format!(".{}", protocol.extension)))?
    })
}

/// Protocol with that number. Of the two of number 71, the one with voice reads both.
fn row_of(number: i32) -> Option<&'static Protocol> {
    let with_number = Protocol::recorded().filter(|protocol| protocol.number == number);
    with_number.reduce(|first, next| if next.voice { next } else { first })
}

fn game_of_name(name: &str) -> Option<&'static Game> {
    let (_, extension) = complete_name(name).rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    GAMES.iter().find(|game| game.extensions.contains(&extension.as_str()))
}

/// Result of decoding the first messages of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decoded {
    /// To their ends, with a gamestate in front.
    Exactly,
    /// The same, with bits behind the end of a message.
    WithRest,
    No,
}

fn try_decode(protocol: &'static Protocol, bytes: &[u8]) -> Decoded {
    let mut reader = DemoReader::new(protocol, bytes);
    let is_wrong = reader.by_ref().take(TRIED_MESSAGES).any(|item| {
        item.is_err_and(|error| {
            !matches!(error.kind, DemoErrorKind::Record(_)) && !error.is_of_a_part()
        })
    });
    if is_wrong || reader.counts().gamestates == 0 {
        return Decoded::No;
    }
    let has_rest =
        reader.notes().iter().any(|note| matches!(note.kind, DemoNoteKind::TrailingBits(_)));
    if has_rest { Decoded::WithRest } else { Decoded::Exactly }
}

/// Name of the other game whose content a file has.
fn other_content(bytes: &[u8], info: Option<&str>) -> Option<&'static str> {
    let text = info.unwrap_or_default();
    let info = InfoString::parse_big(text);
    let number = info.int("protocol");
    let version = info.get("version").unwrap_or_default();
    let by_info = GAMES.iter().find(|game| {
        number.is_some_and(|number| game.protocols.contains(&number))
            || game.versions.iter().any(|begin| version.starts_with(begin))
    });
    by_info.map(|game| game.name).or_else(|| {
        let begin = |extension| GAMES.iter().find(|game| game.extensions.contains(&extension));
        let game = match bytes {
            // Length of a block, message with the protocol of the server.
            [_, _, 0, 0, 0x0c, 25..=36, 0, 0, 0, ..] => begin("dm2"),
            _ if is_urban_terror(bytes) => begin("urtdemo"),
            _ => None,
        };
        game.map(|game| game.name).or_else(|| quake_files::name(bytes))
    })
}

/// Whether a file begins with the version of Urban Terror: its length, its text, a protocol, two zeros.
fn is_urban_terror(bytes: &[u8]) -> bool {
    let Some((&[len, 0, 0, 0], rest)) = bytes.split_first_chunk::<4>() else { return false };
    let Some((version, rest)) = rest.split_at_checked(usize::from(len)) else { return false };
    let is_text = version.iter().all(|byte| (0x20..0x7f).contains(byte));
    !version.is_empty() && is_text && matches!(rest, [_, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ..])
}

/// Serverinfo in the first message, which related games encode alike, or without compression before 1.29.
fn first_serverinfo(bytes: &[u8]) -> Option<String> {
    let record = Records::new(bytes).next()?.ok()?;
    compressed_serverinfo(record.message).or_else(|| plain_serverinfo(record.message))
}

fn compressed_serverinfo(message: &[u8]) -> Option<String> {
    let mut reader = BitReader::with_encoding(Protocol::Q3_68.encoding, message);
    let _acknowledge = reader.long().ok()?;
    if ServerOp::read(&mut reader) != Ok(ServerOp::Gamestate) {
        return None;
    }
    let _command = reader.long().ok()?;
    while ServerOp::read(&mut reader) == Ok(ServerOp::Configstring) {
        let index = usize::try_from(reader.short().ok()?).ok().and_then(ConfigIndex::new);
        let text = reader.big_string().ok()?;
        if index == Some(ConfigIndex::SERVERINFO) {
            return Some(text);
        }
    }
    None
}

fn plain_serverinfo(message: &[u8]) -> Option<String> {
    // Operation, index 0, begin of the text.
    const BEGIN: &[u8] = &[ServerOp::Configstring as u8, 0, 0, b'\\'];
    let at = message.windows(BEGIN.len()).take(MAX_PLAIN_HEADER).position(|at| at == BEGIN)?;
    let text = message[at + BEGIN.len() - 1..].split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample::{self, SampleDemo};

    fn named(name: &str, bytes: &[u8]) -> String {
        match recognize(name, bytes) {
            Ok(protocol) => protocol.number.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn other_games_are_named_by_the_extension() {
        for (name, game) in [
            ("a.dm_47", "a file of Quake III Arena 1.25 or 1.26 "),
            ("A.DM_84", "a file of Wolfenstein: Enemy Territory "),
            ("a.dm_60", "a file of Return to Castle Wolfenstein "),
            ("a.dm_26", "a file of Star Wars Jedi Knight: Jedi Academy "),
            ("a.dm_1", "a file of Call of Duty "),
            ("a.dm2", "a file of Quake II "),
            ("a.qwd", "a file of QuakeWorld "),
            ("a.mvd", "a file of QuakeWorld "),
            ("a.urtdemo", "a file of Urban Terror "),
        ] {
            let text = named(name, b"anything");
            assert!(
                text.starts_with(game) && text.contains("(expected a demo of Quake III"),
                "{text}"
            );
        }
        assert!(!named("a.dm_68", &[0; 100]).contains("Urban"));
        let text = named("a.txt", b"anything");
        assert!(text.starts_with("unknown extension, and no demo by its content"), "{text}");
    }

    #[test]
    fn other_games_are_named_by_the_content() {
        let zip = named("a.dm_68", b"PK\x03\x04....");
        assert_eq!(zip, "a compressed file: zip or pk3 (expected the unpacked demo)");
        let program = named("a.dm_68", b"\x7fELF\x02\x01\x01");
        assert!(program.starts_with("a program (ELF) (expected a demo of"), "{program}");
        let quake2 = [&[0x40, 1, 0, 0, 0x0c, 34, 0, 0, 0][..], &[0; 40]].concat();
        assert!(named("a.dm_68", &quake2).starts_with("a file of Quake II "));
        let urban = [&b"\x03\0\0\x004.3\x44\0\0\0\0\0\0\0\0\0\0\0"[..], &[1; 40]].concat();
        assert!(named("a.dm_68", &urban).starts_with("a file of Urban Terror "));
        let quakeworld = b"\0\x01\x0d\0\0\0\x0b\x1c\0\0\0\x01\0\0\0qw\0\0";
        for name in ["a.dm_68", "a", "a.dem"] {
            let text = named(name, quakeworld);
            assert!(text.starts_with("a file of QuakeWorld: the recording of a server"), "{text}");
        }
    }

    #[test]
    fn serverinfo_names_the_game_of_undecodable_demos() {
        for (protocol, version, game) in [
            ("84", "ET 2.60b", "a file of Wolfenstein: Enemy Territory "),
            ("73", "QuakeLive  0.1.0.500", "a file of Quake Live in an unknown form "),
            ("68", "JAmp: v1.0.1.0", "a file of Star Wars Jedi Knight: Jedi Academy "),
        ] {
            let info = format!("\\mapname\\x\\protocol\\{protocol}\\version\\{version}");
            let mut demo = SampleDemo::with_serverinfo(&info);
            assert_eq!(named("a.dm_68", &demo.bytes), "68", "it can be decoded: {info}");
            demo.record(b"\xff\xff\xff\xff\xff");
            let text = named("a.dm_68", &demo.bytes);
            assert!(text.starts_with(game), "{info}: {text}");
        }
        let mut demo = SampleDemo::new();
        demo.record(b"\xff\xff\xff\xff\xff");
        assert_eq!(named("a.dm_68", &demo.bytes), "68", "damaged, and of this game");
    }

    #[test]
    fn demos_with_other_names_are_read() {
        let demo = sample::duel();
        for (name, protocol) in [
            ("a.dm_68", "68"),
            ("a.dm_71.part", "71"),
            ("a.bak", "68"),
            ("a", "68"),
            ("a.dm_66", "66"),
            ("a.dm3", "68"),
            ("a.dm_91", "68"),
        ] {
            assert_eq!(named(name, &demo), protocol, "{name}");
        }
        for (info, name, protocol) in [
            ("\\protocol\\71", "a.bak", "71"),
            ("\\protocol\\67", "a.dm3", "67"),
            ("\\protocol\\68", "a.dm_67", "67"),
            ("\\protocol\\71", "a.dm_68", "68"),
        ] {
            let mut demo = SampleDemo::with_serverinfo(info);
            demo.snapshot(false, &[]);
            assert_eq!(named(name, &demo.finish()), protocol, "{name}: {info}");
        }
    }
}
