//! File of `g_sprees`: announcements of series of frags and deaths.
//!
//! ```text
//! [kspree]                 // or [dspree], or [mkill] with kills instead of level and printpos
//! level = 1
//! printpos = 2
//! message = [n] is on a killing spree with [k] kills
//! sound = sound/feedback/excellent.wav
//! ```
//!
//! Invariants: length, number of entries and texts are bounded; a text has no quotes and no control characters; an
//! error names its line. Source: OpenArena 0.8.8. Engine names: `G_ReadAltKillSettings`, `sprees.dat`.

use crate::model::text;

/// Longest file in bytes, and most announcements of a kind.
const MAX_LEN: usize = 64 << 10;
const MAX_ENTRIES: usize = 32;
/// Longest message, in bytes, also with name and number.
pub(super) const MAX_MESSAGE: usize = 149;
/// Longest name of a sound, in bytes.
const MAX_SOUND: usize = 63;
/// Largest level, and number of kills of a series.
const MAX_LEVEL: i32 = 9999;
/// Value of `printpos` for a message in the center.
const CENTER: i32 = 1;

/// Announcement of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Announcement {
    /// Level of a spree, or number of frags of a multiple kill.
    pub(super) level: i32,
    /// Text with `[n]` for the name and `[k]` for the number.
    pub(super) message: String,
    /// Name of the sound; empty for none.
    pub(super) sound: String,
    /// Whether the message of a death spree is in the center.
    pub(super) is_centered: bool,
}

/// Kind of a series: the section of its announcements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    /// Frags without a death.
    Kills,
    /// Deaths without a frag.
    Deaths,
    /// Frags in quick succession.
    Multiple,
}

impl Series {
    const SECTIONS: [(&str, Self); 3] =
        [("[kspree]", Self::Kills), ("[dspree]", Self::Deaths), ("[mkill]", Self::Multiple)];

    /// Key of the number, and whether `printpos` exists.
    const fn keys(self) -> (&'static str, bool) {
        match self {
            Self::Kills | Self::Deaths => ("level", true),
            Self::Multiple => ("kills", false),
        }
    }
}

/// Announcements by series, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpreeFile([Vec<Announcement>; 3]);

impl SpreeFile {
    /// Returns the announcements of a series.
    pub(super) fn of(&self, series: Series) -> &[Announcement] {
        &self.0[series as usize]
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Line and problem of the first line that is not valid.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MAX_LEN {
            return Err(format!("file too long: {} bytes (max {MAX_LEN})", bytes.len()));
        }
        let mut file = Self::default();
        let mut section = None;
        for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let text = shown(bytes);
            if !text.is_empty() {
                file.read_line(&text, &mut section).map_err(|why| format!("line {line}: {why}"))?;
            }
        }
        Ok(file)
    }

    fn read_line(&mut self, line: &str, section: &mut Option<Series>) -> Result<(), String> {
        let found = Series::SECTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(line));
        if let Some(&(name, series)) = found {
            let list = &mut self.0[series as usize];
            if list.len() >= MAX_ENTRIES {
                return Err(format!("too many {name} (max {MAX_ENTRIES})"));
            }
            list.push(Announcement::default());
            *section = Some(series);
            return Ok(());
        }
        let unexpected = || format!("unexpected text '{}'", text::truncated(line, 40));
        let series = section.ok_or_else(unexpected)?;
        let (key, value) = line.split_once('=').ok_or_else(unexpected)?;
        let (key, value) = (key.trim_end().to_ascii_lowercase(), value.trim_start());
        let (level, has_position) = series.keys();
        let number = || match value.parse() {
            Ok(number @ 0..=MAX_LEVEL) => Ok(number),
            _ => {
                let value = text::truncated(value, 40);
                Err(format!("invalid {key} '{value}' (expected 0 to {MAX_LEVEL})"))
            }
        };
        let Some(entry) = self.0[series as usize].last_mut() else { return Err(unexpected()) };
        match key.as_str() {
            "message" => entry.message = text::truncated(value, MAX_MESSAGE).to_owned(),
            "sound" if value.len() > MAX_SOUND => {
                return Err(format!("sound too long: {} bytes (max {MAX_SOUND})", value.len()));
            }
            "sound" => entry.sound = value.to_owned(),
            "printpos" if has_position => entry.is_centered = number()? == CENTER,
            key if key == level => entry.level = number()?,
            _ => {
                let position = if has_position { ", printpos" } else { "" };
                let key = text::truncated(&key, 40);
                return Err(format!(
                    "unknown key '{key}' (expected {level}{position}, message or sound)"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the words of a line before a comment: printable ASCII without quotes, with single spaces.
fn shown(line: &[u8]) -> String {
    let keep = |&byte: &u8| match byte {
        b'"' => None,
        b' '..=b'~' => Some(char::from(byte)),
        _ => Some(' '),
    };
    let text: String = line.iter().filter_map(keep).collect();
    let words: Vec<&str> =
        text.split_whitespace().take_while(|word| !word.starts_with("//")).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn file_has_announcements_of_three_series() {
        let text = b"// sprees\n\n[KSpree] // first\r\nlevel = 1\nprintpos = 2\n\
            message = [n]\tis  on http://x \"a\" // spree\nsound = sound/a.wav\n\
            [kspree]\nlevel=2\n[dspree]\nprintpos = 1\n[mkill]\nkills = 3\nmessage = =\n";
        let file = SpreeFile::parse(text).unwrap();
        let first = Announcement {
            level: 1,
            message: "[n] is on http://x a".to_owned(),
            sound: "sound/a.wav".to_owned(),
            is_centered: false,
        };
        let second = Announcement { level: 2, ..Announcement::default() };
        assert_eq!(file.of(Series::Kills), [first, second]);
        let centered = Announcement { is_centered: true, ..Announcement::default() };
        assert_eq!(file.of(Series::Deaths), [centered]);
        let multiple =
            Announcement { level: 3, message: "=".to_owned(), ..Announcement::default() };
        assert_eq!(file.of(Series::Multiple), [multiple]);
        assert_eq!(SpreeFile::parse(b"").unwrap(), SpreeFile::default());
    }

    #[test]
    fn errors_name_line_and_problem() {
        let many = "[kspree]\n".repeat(MAX_ENTRIES + 1);
        let long = format!("[kspree]\nsound = {}", "x".repeat(64));
        for (text, error) in [
            ("level = 1", "line 1: unexpected text 'level = 1'"),
            ("[kspree]\nfoo", "line 2: unexpected text 'foo'"),
            ("[kspree]\n\nlevel = -1", "line 3: invalid level '-1' (expected 0 to 9999)"),
            (
                "[mkill]\nkills = 99999999999",
                "line 2: invalid kills '99999999999' (expected 0 to 9999)",
            ),
            (
                "[mkill]\nlevel = 1",
                "line 2: unknown key 'level' (expected kills, message or sound)",
            ),
            (
                "[dspree]\nx = 1",
                "line 2: unknown key 'x' (expected level, printpos, message or sound)",
            ),
            (&many, "line 33: too many [kspree] (max 32)"),
            (&long, "line 2: sound too long: 64 bytes (max 63)"),
        ] {
            assert_eq!(SpreeFile::parse(text.as_bytes()), Err(error.to_owned()));
        }
        let long = vec![b' '; MAX_LEN + 1];
        let error = "file too long: 65537 bytes (max 65536)";
        assert_eq!(SpreeFile::parse(&long), Err(error.to_owned()));
    }

    #[test]
    fn hostile_bytes_are_bounded() {
        let message = [&b"[kspree]\nmessage = \"\x01\xff"[..], &[b'a'; 5000]].concat();
        let file = SpreeFile::parse(&message).unwrap();
        assert_eq!(file.of(Series::Kills)[0].message, "a".repeat(MAX_MESSAGE));
        assert!(SpreeFile::parse(&[0xff; 1000]).is_ok());
        assert!(SpreeFile::parse(&[b'['; 1000]).is_err());
    }

    /// Bytes in which parts of valid files are frequent.
    fn hostile_file() -> impl Strategy<Value = Vec<u8>> {
        let valid = prop::sample::select(vec![
            &b"[kspree]"[..],
            b"[DSPREE]",
            b"[mkill]",
            b"level",
            b"kills = 3",
            b"printpos=1",
            b"message = [n] [k]",
            b"sound",
            b"=",
            b"//",
            b"\n",
            b"\r\n",
        ]);
        let part = prop_oneof![
            8 => valid.prop_map(<[u8]>::to_vec),
            1 => prop::collection::vec(any::<u8>(), 0..200),
        ];
        prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn texts_of_any_file_are_bounded_and_printable(bytes in hostile_file()) {
            match SpreeFile::parse(&bytes) {
                Ok(SpreeFile(lists)) => for list in lists {
                    prop_assert!(list.len() <= MAX_ENTRIES);
                    for Announcement { level, message, sound, .. } in list {
                        prop_assert!((0..=MAX_LEVEL).contains(&level));
                        prop_assert!(message.len() <= MAX_MESSAGE && sound.len() <= MAX_SOUND);
                        let is_safe = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"';
                        prop_assert!(message.bytes().chain(sound.bytes()).all(is_safe));
                    }
                },
                Err(why) => {
                    prop_assert!(why.starts_with("line ") && why.len() < 200, "{}", why);
                    prop_assert!(why.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", why);
                }
            }
        }
    }
}
