//! Value of a setting: its text, and the number in it, parsed once.
//!
//! Invariants: the kind accepts the number of a value, which is finite. Text is printable ASCII without quotes, and
//! without `\` and `;` where an info string carries it. The text of a module's setting may be any such text.
//! Source of lenient reading: consoles of Quake III servers, which take the leading number.
//! Engine names: `Cvar_Set2`, `Cvar_CheckRange`, `atoi`, `atof`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use super::{
    Flags, Networks, SettingKind,
    error::{ValueError, quoted},
};
use crate::model::limits::MAX_STRING_LEN;

/// Value of one setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// Text as shown and sent; numbers in canonical form.
    pub(crate) text: String,
    /// Integers; flags as 0 and 1; choices as their index; otherwise 0.
    pub(crate) int: i32,
    /// Numbers; otherwise 0.
    pub(crate) float: f32,
    /// Lists of networks; otherwise empty.
    pub(crate) networks: Networks,
}

impl Value {
    /// Parses a value given for the setting `name`.
    pub(crate) fn parse(
        name: &str,
        kind: &SettingKind,
        flags: Flags,
        given: &str,
    ) -> Result<Self, ValueError> {
        let wrong = || ValueError::Value {
            name: name.to_owned(),
            given: if flags.has(Flags::SECRET) { "(hidden)".to_owned() } else { quoted(given) },
            expected: kind.to_string(),
        };
        let word = given.trim_ascii();
        let whole = |fits: &dyn Fn(i32) -> bool| match word.parse::<i32>() {
            Ok(int) if fits(int) => Ok(Self::whole(int)),
            _ => Err(wrong()),
        };
        match kind {
            SettingKind::Flag if word.eq_ignore_ascii_case("true") => Ok(Self::whole(1)),
            SettingKind::Flag if word.eq_ignore_ascii_case("false") => Ok(Self::whole(0)),
            SettingKind::Flag => whole(&|int| int == 0 || int == 1),
            SettingKind::OnlyZero { .. } => whole(&|int| int == 0),
            // A bit mask is a flag for most operators.
            SettingKind::Int { min: 0, max: i32::MAX } if word.eq_ignore_ascii_case("true") => {
                Ok(Self::whole(1))
            }
            SettingKind::Int { min: 0, max: i32::MAX } if word.eq_ignore_ascii_case("false") => {
                Ok(Self::whole(0))
            }
            SettingKind::Int { min, max } => whole(&|int| (*min..=*max).contains(&int)),
            SettingKind::IntOrOff { min, max } => {
                whole(&|int| int == 0 || (*min..=*max).contains(&int))
            }
            SettingKind::Float { min, max } => match word.parse::<f32>() {
                // No range contains NaN or the infinities.
                Ok(float) if (*min..=*max).contains(&float) => {
                    Ok(Self { float: float + 0.0, ..Self::words(&(float + 0.0).to_string()) })
                }
                _ => Err(wrong()),
            },
            SettingKind::Choice(names) => {
                let at = names.iter().position(|name| name.eq_ignore_ascii_case(word));
                let at = at.ok_or_else(wrong)?;
                Ok(Self { int: at as i32, ..Self::words(names[at]) })
            }
            _ => Self::parse_text(name, kind, flags, given, &wrong),
        }
    }

    /// Parses a value of a kind without numbers.
    fn parse_text(
        name: &str,
        kind: &SettingKind,
        flags: Flags,
        given: &str,
        wrong: &dyn Fn() -> ValueError,
    ) -> Result<Self, ValueError> {
        let word = given.trim_ascii();
        let checked = |is_right: bool, text: &str| {
            if is_right { Ok(Self::words(text)) } else { Err(wrong()) }
        };
        match kind {
            SettingKind::Text { max } => {
                check_text(name, flags, given, *max)?;
                Ok(Self::words(given))
            }
            SettingKind::Name { max } => {
                let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                let is_legal = word.bytes().all(legal) && !word.contains("..");
                checked(word.len() <= *max && is_legal, word)
            }
            SettingKind::Password { min, max } => {
                check_text(name, flags, given, *max)?;
                checked(given.is_empty() || given.len() >= *min, given)
            }
            SettingKind::UserinfoPassword { max } => {
                check_characters(name, USERINFO_PASSWORD, given, *max)?;
                Ok(Self::words(given))
            }
            SettingKind::Host { max } => {
                check_text(name, flags, word, *max)?;
                checked(word.is_empty() || is_host(word), word)
            }
            SettingKind::Endpoint { .. } if word.is_empty() => Ok(Self::words("")),
            SettingKind::Endpoint { .. } => Self::address::<SocketAddr>(word).ok_or_else(wrong),
            SettingKind::Ipv4 => Self::address::<Ipv4Addr>(word).ok_or_else(wrong),
            SettingKind::Ipv6 => Self::address::<Ipv6Addr>(word).ok_or_else(wrong),
            SettingKind::Networks => {
                check_text(name, flags, given, 1023)?;
                let networks = Networks::parse(word).ok_or_else(wrong)?;
                Ok(Self { networks, ..Self::words(word) })
            }
            SettingKind::Flag
            | SettingKind::OnlyZero { .. }
            | SettingKind::Int { .. }
            | SettingKind::IntOrOff { .. }
            | SettingKind::Float { .. }
            | SettingKind::Choice(_) => Err(wrong()),
        }
    }

    /// An address in canonical form.
    fn address<A: FromStr + ToString>(word: &str) -> Option<Self> {
        word.parse::<A>().ok().map(|address| Self::words(&address.to_string()))
    }

    /// Reads a value as consoles of Quake III servers do. The leading number counts, and the nearest accepted number
    /// replaces one out of range. Returns whether another number than the given one was taken.
    ///
    /// # Errors
    /// As [`Self::parse`], for a number without digits too.
    pub(crate) fn read(
        name: &str,
        kind: &SettingKind,
        flags: Flags,
        given: &str,
    ) -> Result<(Self, bool), ValueError> {
        Self::parse(name, kind, flags, given).map(|value| (value, false)).or_else(|error| {
            let is_float = matches!(kind, SettingKind::Float { .. });
            let (number, is_whole) =
                leading_number(given, is_float).ok_or_else(|| error.clone())?;
            let value = Self::nearest(kind, number).ok_or(error)?;
            let is_same = is_whole && f64::from(value.float) == number;
            Ok((value, !is_same))
        })
    }

    /// Keeps any text for a game module, beside the accepted number nearest to its leading one.
    ///
    /// # Errors
    /// The text has forbidden characters or is too long.
    pub(crate) fn of_module(
        name: &str,
        kind: &SettingKind,
        flags: Flags,
        given: &str,
    ) -> Result<Self, ValueError> {
        check_text(name, flags, given, MAX_STRING_LEN)?;
        let is_float = matches!(kind, SettingKind::Float { .. });
        let number = leading_number(given, is_float).map_or(0.0, |(number, _)| number);
        let value = Self::nearest(kind, number).unwrap_or_else(|| Self::words(given));
        Ok(Self { text: given.to_owned(), ..value })
    }

    /// The number that rules read of the value of a kind, as text. A module may keep another text beside it.
    pub(crate) fn number(&self, kind: &SettingKind) -> String {
        match kind {
            SettingKind::Float { .. } => self.float.to_string(),
            _ => self.int.to_string(),
        }
    }

    /// The accepted number nearest to `number`; `None` for kinds without numbers, and for a feature that does not
    /// exist.
    fn nearest(kind: &SettingKind, number: f64) -> Option<Self> {
        // Saturates; the fraction is cut off as in C.
        let int = number as i32;
        Some(match kind {
            SettingKind::Flag => Self::whole(i32::from(int != 0)),
            SettingKind::OnlyZero { .. } if int == 0 => Self::whole(0),
            SettingKind::Int { min, max } => Self::whole(int.clamp(*min, *max)),
            SettingKind::IntOrOff { .. } if int <= 0 => Self::whole(0),
            SettingKind::IntOrOff { min, max } => Self::whole(int.clamp(*min, *max)),
            SettingKind::Float { min, max } => {
                let float = (number as f32).clamp(*min, *max) + 0.0;
                Self { float, ..Self::words(&float.to_string()) }
            }
            _ => return None,
        })
    }

    fn whole(int: i32) -> Self {
        Self { int, float: int as f32, ..Self::words(&int.to_string()) }
    }

    fn words(text: &str) -> Self {
        Self { text: text.to_owned(), int: 0, float: 0.0, networks: Networks::default() }
    }
}

/// Whether a text is an address or a name, with or without a port.
fn is_host(text: &str) -> bool {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return address.port() != 0;
    }
    if text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return true;
    }
    let (host, port) = text.split_once(':').unwrap_or((text, "1"));
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_name = host.bytes().all(legal) && host.bytes().any(|byte| byte.is_ascii_alphanumeric());
    is_name && port.parse::<u16>().is_ok_and(|port| port != 0)
}

/// The number at the start of a text, and whether it is all of the text. Empty text is 0, as for C. Only a number with
/// fractions has an exponent.
fn leading_number(given: &str, is_float: bool) -> Option<(f64, bool)> {
    let word = given.trim_ascii();
    let bytes = word.as_bytes();
    let digits = |from: usize| {
        bytes.get(from..).unwrap_or(&[]).iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += if whole + fraction > 0 { 1 + fraction } else { 0 };
    }
    if whole + fraction == 0 {
        return word.is_empty().then_some((0.0, false));
    }
    if is_float && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    let number: f64 = word[..end].parse().ok()?;
    Some((number.clamp(-1e18, 1e18), end == word.len()))
}

/// Characters that a text may not have, and how an error shows them.
type Forbidden = (&'static str, &'static str);

/// Forbidden in a password that clients send in their userinfo. They replace `%` by `.` before.
const USERINFO_PASSWORD: Forbidden = ("\"\\;%", "\\, \", ; and %");

/// Checks the characters and the length of a text value.
pub(crate) fn check_text(
    name: &str,
    flags: Flags,
    text: &str,
    max: usize,
) -> Result<(), ValueError> {
    // Clients replace '%' by '.' before they send it: a password with one would never match.
    let forbidden = if flags.has(Flags::SECRET) {
        ("\"%", "\" and %")
    } else if flags.travels() {
        ("\"\\;", "\\, \" and ;")
    } else {
        ("\"", "\"")
    };
    check_characters(name, forbidden, text, max)
}

fn check_characters(
    name: &str,
    (forbidden, shown): Forbidden,
    text: &str,
    max: usize,
) -> Result<(), ValueError> {
    let is_bad = |c: &char| !matches!(c, ' '..='~') || forbidden.contains(*c);
    if let Some(character) = text.chars().find(is_bad) {
        return Err(ValueError::Character {
            name: name.to_owned(),
            character: match character {
                '!'..='~' => character.to_string(),
                _ => character.escape_unicode().to_string(),
            },
            forbidden: shown,
        });
    }
    if text.len() > max {
        return Err(ValueError::TooLong { name: name.to_owned(), len: text.len(), max });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: SettingKind, flags: Flags, given: &str) -> Result<String, String> {
        match Value::parse("x", &kind, flags, given) {
            Ok(value) => Ok(value.text),
            Err(error) => Err(error.to_string()),
        }
    }

    #[track_caller]
    fn accept(kind: SettingKind, given: &str, text: &str) {
        assert_eq!(read(kind, Flags::PLAIN, given).as_deref(), Ok(text));
    }

    #[track_caller]
    fn refuse(kind: SettingKind, flags: Flags, given: &str, sentence: &str) {
        assert_eq!(read(kind, flags, given), Err(sentence.to_owned()));
    }

    #[test]
    fn values_take_canonical_form() {
        let int = SettingKind::Int { min: -5, max: 500 };
        accept(int, " 007 ", "7");
        accept(int, "+12", "12");
        accept(int, "-5", "-5");
        accept(SettingKind::IntOrOff { min: 10, max: 20 }, "0", "0");
        accept(SettingKind::Float { min: 0.0, max: 1e3 }, "8e2", "800");
        accept(SettingKind::Float { min: 0.0, max: 1e3 }, "-0", "0");
        accept(SettingKind::Flag, "TRUE", "1");
        accept(SettingKind::Choice(&["auto", "native"]), "NATIVE", "native");
        accept(SettingKind::Ipv6, "0:0::1", "::1");
        accept(SettingKind::Text { max: 4 }, " a\\;", " a\\;");
        let endpoint = SettingKind::Endpoint { example: "192.0.2.1:27960" };
        accept(endpoint, " [0:0::1]:80", "[::1]:80");
        accept(endpoint, " ", "");
        for host in
            ["", "master.example.org", "a_b.c-d:27950", "1.2.3.4", "::1", "[::1]:9", "[::1]"]
        {
            accept(SettingKind::Host { max: 99 }, host, host);
        }
        accept(SettingKind::Password { min: 4, max: 9 }, "", "");
        accept(SettingKind::Password { min: 4, max: 9 }, " a b", " a b");
    }

    #[test]
    fn console_values_take_leading_number_within_bounds() {
        let int = SettingKind::Int { min: -5, max: 500 };
        let off = SettingKind::IntOrOff { min: 1000, max: 2000 };
        let float = SettingKind::Float { min: 0.5, max: 10.0 };
        for (kind, given, text, is_other) in [
            (int, "10.5", "10", true),
            (int, "5.0", "5", false),
            (int, "10s", "10", true),
            (int, "99999999999999999999", "500", true),
            (int, "-7", "-5", true),
            (int, ".5", "0", true),
            (int, "", "0", true),
            (off, "500", "1000", true),
            (off, "-1", "0", true),
            (off, "3000", "2000", true),
            (float, "2.5x", "2.5", true),
            (float, "1e3", "10", true),
            (float, "0.1", "0.5", true),
            (SettingKind::Flag, "2", "1", true),
            (SettingKind::Flag, "0.0", "0", false),
            (SettingKind::Flag, "true", "1", false),
        ] {
            let read = Value::read("x", &kind, Flags::PLAIN, given);
            let read = read.map(|(value, is_other)| (value.text, is_other));
            assert_eq!(read, Ok((text.to_owned(), is_other)), "{given:?}");
        }
        for given in ["x", "-", ".", "nan", "+x1"] {
            assert!(Value::read("x", &int, Flags::PLAIN, given).is_err(), "{given:?}");
        }
        let zero = SettingKind::OnlyZero { reason: "not implemented" };
        assert!(Value::read("x", &zero, Flags::PLAIN, "1").is_err());
    }

    #[test]
    fn module_values_keep_their_text() {
        let of = |kind, given| Value::of_module("x", &kind, Flags::PLAIN, given);
        let value = of(SettingKind::IntOrOff { min: 1, max: 9999 }, "-3.5 a").expect("text");
        assert_eq!((value.text.as_str(), value.int), ("-3.5 a", 0));
        let value = of(SettingKind::Float { min: 0.0, max: 10.0 }, "99").expect("text");
        assert_eq!((value.text.as_str(), value.float), ("99", 10.0));
        assert!(of(SettingKind::Flag, "a\"b").is_err());
    }

    #[test]
    fn errors_name_accepted_values() {
        let plain = Flags::PLAIN;
        let int = SettingKind::Int { min: 10, max: 125 };
        for given in ["9", "126", "", "20fps", "2 0", "20.5", "99999999999", "nan"] {
            let sentence =
                format!("x: invalid value \"{given}\" (expected an integer from 10 to 125)");
            refuse(int, plain, given, &sentence);
        }
        let float = SettingKind::Float { min: -1.0, max: 1e4 };
        for given in ["nan", "-NaN", "inf", "-infinity", "1e39", "0x10", "", "-1.5"] {
            let sentence =
                format!("x: invalid value \"{given}\" (expected a number from -1 to 10000)");
            refuse(float, plain, given, &sentence);
        }
        refuse(SettingKind::Flag, plain, "2", "x: invalid value \"2\" (expected 0 or 1)");
        refuse(
            SettingKind::IntOrOff { min: 1000, max: 2000 },
            plain,
            "5",
            "x: invalid value \"5\" (expected 0 for off, or an integer from 1000 to 2000)",
        );
        refuse(
            SettingKind::OnlyZero { reason: "pure servers are not implemented" },
            plain,
            "1",
            "x: invalid value \"1\" (expected 0; pure servers are not implemented)",
        );
        refuse(
            SettingKind::Choice(&["auto", "compat", "native"]),
            plain,
            "71",
            "x: invalid value \"71\" (expected auto, compat or native)",
        );
        refuse(
            SettingKind::Ipv4,
            plain,
            "localhost",
            "x: invalid value \"localhost\" (expected an IPv4 address, e.g. 0.0.0.0)",
        );
        refuse(
            SettingKind::Ipv6,
            plain,
            "1.2.3.4",
            "x: invalid value \"1.2.3.4\" (expected an IPv6 address, e.g. ::)",
        );
        refuse(
            SettingKind::Networks,
            plain,
            "10.0.0.0/40",
            "x: invalid value \"10.0.0.0/40\" (expected networks separated by spaces, e.g. 10.0.0.0/8 ::1; private; any; or nothing)",
        );
        let endpoint = SettingKind::Endpoint { example: "192.0.2.1:27960" };
        for given in ["foo", "1.2.3.4", "localhost:80", "1.2.3.4:99999", ":80", "::1:80"] {
            let sentence = format!(
                "x: invalid value \"{given}\" (expected an IP address and port, e.g. 192.0.2.1:27960; or nothing)"
            );
            refuse(endpoint, plain, given, &sentence);
        }
        let host = "a host name or address, with or without a port; or nothing";
        for given in ["a b", "a:0", "a:x", "a:", ":1", "http://a", "1.2.3.4:0", "a:1:2"] {
            let sentence = format!("x: invalid value \"{given}\" (expected {host})");
            refuse(SettingKind::Host { max: 20 }, plain, given, &sentence);
        }
        refuse(SettingKind::Host { max: 2 }, plain, "abc", "x too long: 3 bytes (max 2)");
        for (given, character) in [("a;b", ';'), ("a\\b", '\\'), ("a%b", '%')] {
            let sentence = format!(
                "x: invalid character {character} (expected printable ASCII without \\, \", ; and %)"
            );
            refuse(SettingKind::UserinfoPassword { max: 10 }, Flags::SECRET, given, &sentence);
        }
        let password = SettingKind::Password { min: 8, max: 10 };
        let sentence = "x: invalid value (hidden) (expected 8 to 10 characters, or nothing)";
        refuse(password, Flags::SECRET, "1234567", sentence);
        refuse(password, Flags::SECRET, "12345678901", "x too long: 11 bytes (max 10)");
        for given in ["../x", "a/b", "a b", "x;touch y", "a..b", "abcdefghi"] {
            let sentence = format!(
                "x: invalid value \"{given}\" (expected a name of at most 8 letters, digits, '.', '_' and '-', without '..')"
            );
            refuse(SettingKind::Name { max: 8 }, plain, given, &sentence);
        }
    }

    #[test]
    fn forbidden_characters_depend_on_flags() {
        let text = SettingKind::Text { max: 5 };
        let info = "x: invalid character ; (expected printable ASCII without \\, \" and ;)";
        refuse(text, Flags::SERVERINFO, "a;b", info);
        let backslash = "x: invalid character \\ (expected printable ASCII without \\, \" and ;)";
        refuse(text, Flags::SYSTEMINFO, "a\\b", backslash);
        let quote = "x: invalid character \" (expected printable ASCII without \")";
        refuse(text, Flags::PLAIN, "a\"b", quote);
        let bell = "x: invalid character \\u{7} (expected printable ASCII without \")";
        refuse(text, Flags::PLAIN, "a\u{7}", bell);
        let accent = "x: invalid character \\u{e9} (expected printable ASCII without \")";
        refuse(text, Flags::PLAIN, "é", accent);
        let percent = "x: invalid character % (expected printable ASCII without \" and %)";
        refuse(text, Flags::SECRET, "a%b", percent);
        let long = "x too long: 6 bytes (max 5)";
        refuse(text, Flags::PLAIN, "abcdef", long);
    }

    #[test]
    fn errors_truncate_long_values() {
        let error = read(SettingKind::Flag, Flags::PLAIN, &"\u{1b}z".repeat(5000)).unwrap_err();
        assert!(error.len() < 400, "{error}");
        assert!(error.contains("\\x1b"), "{error}");
    }
}
