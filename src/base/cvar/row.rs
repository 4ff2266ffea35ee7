//! Setting rows: name, kind, flags, per-game default, help, typed key.
//!
//! Invariant: only [`setting_rows`](super::setting_rows) makes a [`Key<T>`], from the same words that make
//! the row's [`SettingKind`]. So the type that a key reads is the type that the row accepts.

use std::{fmt, marker::PhantomData};

use super::GameFolder;

/// Properties of a setting: info strings that carry it, and restrictions on changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// No restriction, shown on the console only.
    pub const PLAIN: Self = Self(0);
    /// Sent in the serverinfo: configstring 0 and status responses.
    pub const SERVERINFO: Self = Self(1);
    /// Sent in the systeminfo, configstring 1: clients set their own cvar of that name.
    pub const SYSTEMINFO: Self = Self(1 << 1);
    /// Changes take effect with the next map.
    pub const LATCHED: Self = Self(1 << 2);
    /// Written by the server and the game only.
    pub const READ_ONLY: Self = Self(1 << 3);
    /// Value never shown.
    pub const SECRET: Self = Self(1 << 4);
    /// Changed only before the server starts.
    pub const INIT: Self = Self(1 << 5);
    /// Changed only while `sv_cheats` is 1.
    pub const CHEAT: Self = Self(1 << 6);
    /// Changes are printed to all players.
    pub const ANNOUNCED: Self = Self(1 << 7);
    /// Read by clients and server browsers only: an info string carries it, the server never reads it.
    pub const CLIENT: Self = Self(1 << 8);
    /// Accepted for compatibility, without effect.
    pub const NO_EFFECT: Self = Self(1 << 9);
    /// Archived by other servers: a change by an administrator outlasts the server.
    pub const ARCHIVE: Self = Self(1 << 10);
    /// Sent by clients in their userinfo. A module registers it; it is shown only.
    pub const USERINFO: Self = Self(1 << 11);

    /// Changed only before the first level: also by scripts that run before it.
    pub const EARLY: Self = Self(1 << 12);
    /// Changed by the operator only: neither by a game module nor by scripts and variables that a mod wrote.
    pub const PROTECTED: Self = Self(1 << 13);

    /// The union of two sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set holds any of `other`.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether an info string carries the value.
    #[must_use]
    pub const fn travels(self) -> bool {
        self.has(Self::SERVERINFO.and(Self::SYSTEMINFO))
    }

    /// The flags that operators see, as words in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            (Self::SERVERINFO, "serverinfo"),
            (Self::SYSTEMINFO, "systeminfo"),
            (Self::LATCHED, "latched (next map)"),
            (Self::READ_ONLY, "read only"),
            (Self::SECRET, "secret"),
            (Self::INIT, "startup only"),
            (Self::EARLY, "startup only, also in scripts"),
            (Self::CHEAT, "cheat"),
            (Self::PROTECTED, "operator only"),
            (Self::ANNOUNCED, "announced to players"),
            (Self::ARCHIVE, "archived"),
            (Self::NO_EFFECT, "no effect, accepted for compatibility"),
        ]
        .into_iter()
        .filter_map(move |(flag, word)| self.has(flag).then_some(word))
    }
}

/// Values that a setting accepts. The text completes "expected …".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// `0` or `1`.
    Flag,
    /// `0` alone: the feature behind any other value is not implemented.
    OnlyZero {
        /// The reason, as a sentence without a period.
        reason: &'static str,
    },
    /// An integer, both bounds included.
    Int {
        /// Smallest value.
        min: i32,
        /// Largest value.
        max: i32,
    },
    /// `0` for off, or an integer, both bounds included.
    IntOrOff {
        /// Smallest non-zero value.
        min: i32,
        /// Largest value.
        max: i32,
    },
    /// A finite number, both bounds included.
    Float {
        /// Smallest value.
        min: f32,
        /// Largest value.
        max: f32,
    },
    /// Printable ASCII without quotes.
    Text {
        /// Maximum length in bytes.
        max: usize,
    },
    /// File or folder name: letters, digits, `.`, `_`, `-`; never `..`; may be empty.
    Name {
        /// Maximum length in bytes.
        max: usize,
    },
    /// A password: nothing, or text without quotes and `%`.
    Password {
        /// Minimum length in bytes.
        min: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// A password that clients send in their userinfo: nothing, or text without `\`, `"`, `;` and `%`.
    UserinfoPassword {
        /// Maximum length in bytes.
        max: usize,
    },
    /// Name or address of a host, with or without a port; may be empty.
    Host {
        /// Maximum length in bytes.
        max: usize,
    },
    /// IP address and port to listen on; may be empty.
    Endpoint {
        /// Example of a value.
        example: &'static str,
    },
    /// IPv4 address to bind.
    Ipv4,
    /// IPv6 address to bind.
    Ipv6,
    /// List of networks, parsed by [`super::Networks`].
    Networks,
    /// One of these words, case-insensitive.
    Choice(&'static [&'static str]),
}

impl SettingKind {
    /// Whether values are numbers, which files and listings write without quotes.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        match self {
            Self::Flag
            | Self::OnlyZero { .. }
            | Self::Int { .. }
            | Self::IntOrOff { .. }
            | Self::Float { .. } => true,
            Self::Text { .. }
            | Self::Name { .. }
            | Self::Password { .. }
            | Self::UserinfoPassword { .. }
            | Self::Host { .. }
            | Self::Endpoint { .. }
            | Self::Ipv4
            | Self::Ipv6
            | Self::Networks
            | Self::Choice(_) => false,
        }
    }
}

impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("0 or 1"),
            Self::OnlyZero { reason } => write!(f, "0; {reason}"),
            Self::Int { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::IntOrOff { min, max } => {
                write!(f, "0 for off, or an integer from {min} to {max}")
            }
            Self::Float { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Text { max } => write!(f, "text of at most {max} characters"),
            Self::Name { max } => {
                write!(f, "a name of at most {max} letters, digits, '.', '_' and '-', without '..'")
            }
            Self::Password { min, max } => write!(f, "{min} to {max} characters, or nothing"),
            Self::UserinfoPassword { max } => write!(f, "at most {max} characters"),
            Self::Host { .. } => {
                f.write_str("a host name or address, with or without a port; or nothing")
            }
            Self::Endpoint { example } => {
                write!(f, "an IP address and port, e.g. {example}; or nothing")
            }
            Self::Ipv4 => f.write_str("an IPv4 address, e.g. 0.0.0.0"),
            Self::Ipv6 => f.write_str("an IPv6 address, e.g. ::"),
            Self::Networks => f.write_str(
                "networks separated by spaces, e.g. 10.0.0.0/8 ::1; private; any; or nothing",
            ),
            Self::Choice(names) => match names {
                [] => Ok(()),
                [only] => f.write_str(only),
                [first @ .., last] => write!(f, "{} or {last}", first.join(", ")),
            },
        }
    }
}

/// Default and flags of a setting in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerGame {
    /// Default value.
    pub default: &'static str,
    /// Info strings and restrictions.
    pub flags: Flags,
}

impl PerGame {
    /// One default and one set of flags for every game.
    pub(crate) const fn all(default: &'static str, flags: Flags) -> [Self; 2] {
        [Self { default, flags }; 2]
    }

    /// Default and flags for OpenArena, then for Quake III Arena.
    pub(crate) const fn oa_q3(oa: (&'static str, Flags), q3: (&'static str, Flags)) -> [Self; 2] {
        [Self { default: oa.0, flags: oa.1 }, Self { default: q3.0, flags: q3.1 }]
    }
}

/// Heading of a list of settings, and table of the config file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Table name in the config file.
    pub name: &'static str,
    /// Heading of listings.
    pub title: &'static str,
}

/// Row of the settings table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Cvar name in its usual spelling.
    pub name: &'static str,
    /// Group of the listings and the config file.
    pub group: Group,
    /// Accepted values.
    pub kind: SettingKind,
    /// Default and flags per game, in the order of [`GameFolder`].
    pub per_game: [PerGame; 2],
    /// Help text: one sentence.
    pub help: &'static str,
}

impl Setting {
    /// Default and flags in `game`.
    #[must_use]
    pub const fn in_game(&self, game: GameFolder) -> &PerGame {
        &self.per_game[game as usize]
    }

    /// Maximum length of a text value, in bytes; 0 for values of other kinds.
    #[must_use]
    pub const fn max_len(&self) -> usize {
        match self.kind {
            SettingKind::Text { max }
            | SettingKind::Name { max }
            | SettingKind::Password { max, .. }
            | SettingKind::UserinfoPassword { max }
            | SettingKind::Host { max } => max,
            _ => 0,
        }
    }
}

/// Typed key of one row: reads its value as a `T` without a search.
pub struct Key<T> {
    row: u16,
    setting: &'static Setting,
    kind: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// The key of `setting`, number `row` of the whole table.
    #[doc(hidden)]
    pub(crate) const fn new(row: usize, setting: &'static Setting) -> Self {
        Self { row: row as u16, setting, kind: PhantomData }
    }

    /// Index of the row in the whole table.
    pub(crate) const fn row(self) -> usize {
        self.row as usize
    }

    /// The row that the key reads.
    #[must_use]
    pub const fn setting(self) -> &'static Setting {
        self.setting
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.setting.name)
    }
}

/// Type of keys whose value is 0 or 1.
#[derive(Debug)]
pub enum Flag {}

impl Flag {
    pub(crate) const fn either() -> SettingKind {
        SettingKind::Flag
    }
}

/// Type of keys whose value is an integer.
#[derive(Debug)]
pub enum Int {}

impl Int {
    pub(crate) const fn only_zero(reason: &'static str) -> SettingKind {
        SettingKind::OnlyZero { reason }
    }

    pub(crate) const fn range(min: i32, max: i32) -> SettingKind {
        SettingKind::Int { min, max }
    }

    pub(crate) const fn or_off(min: i32, max: i32) -> SettingKind {
        SettingKind::IntOrOff { min, max }
    }
}

/// Type of keys whose value is a finite number.
#[derive(Debug)]
pub enum Float {}

impl Float {
    pub(crate) const fn range(min: f32, max: f32) -> SettingKind {
        SettingKind::Float { min, max }
    }
}

/// Type of keys whose value is text.
#[derive(Debug)]
pub enum Text {}

impl Text {
    pub(crate) const fn up_to(max: usize) -> SettingKind {
        SettingKind::Text { max }
    }

    pub(crate) const fn name(max: usize) -> SettingKind {
        SettingKind::Name { max }
    }

    pub(crate) const fn password(min: usize, max: usize) -> SettingKind {
        SettingKind::Password { min, max }
    }

    pub(crate) const fn userinfo_password(max: usize) -> SettingKind {
        SettingKind::UserinfoPassword { max }
    }

    pub(crate) const fn host(max: usize) -> SettingKind {
        SettingKind::Host { max }
    }
}

/// Type of keys whose value is an address and port to listen on, or nothing.
#[derive(Debug)]
pub enum Endpoint {}

impl Endpoint {
    pub(crate) const fn or_none(example: &'static str) -> SettingKind {
        SettingKind::Endpoint { example }
    }
}

/// Type of keys whose value is an address to bind.
#[derive(Debug)]
pub enum Address {}

impl Address {
    pub(crate) const fn v4() -> SettingKind {
        SettingKind::Ipv4
    }

    pub(crate) const fn v6() -> SettingKind {
        SettingKind::Ipv6
    }
}
