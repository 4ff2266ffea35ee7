//! What one row of the table says: name, kind, default and flags by game, help; and the typed key
//! that reads its value.
//!
//! Invariant: a [`Key<T>`] is made by the table alone, from the same words that make the row's
//! [`Kind`], so that what a key reads and what the row accepts cannot differ.

use std::{fmt, marker::PhantomData};

/// What a setting is, how it travels and who may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Changed freely, seen on the console only.
    pub const PLAIN: Self = Self(0);
    /// Travels in the serverinfo: configstring 0 and status replies.
    pub const SERVERINFO: Self = Self(1);
    /// Travels in the systeminfo, configstring 1: clients set their own variable of that name.
    pub const SYSTEMINFO: Self = Self(1 << 1);
    /// Changes wait for the next map.
    pub const LATCHED: Self = Self(1 << 2);
    /// Written by the server and the game only.
    pub const READ_ONLY: Self = Self(1 << 3);
    /// Never shown to anybody.
    pub const SECRET: Self = Self(1 << 4);
    /// Chosen before the server starts.
    pub const INIT: Self = Self(1 << 5);
    /// Changed only while `sv_cheats` is 1.
    pub const CHEAT: Self = Self(1 << 6);

    /// Both sets of flags.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` is here.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the value travels in one of the two info strings.
    #[must_use]
    pub const fn travels(self) -> bool {
        self.has(Self::SERVERINFO.and(Self::SYSTEMINFO))
    }

    /// The flags as words, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            (Self::SERVERINFO, "serverinfo"),
            (Self::SYSTEMINFO, "systeminfo"),
            (Self::LATCHED, "in force from the next map on"),
            (Self::READ_ONLY, "read only"),
            (Self::SECRET, "secret"),
            (Self::INIT, "chosen at start"),
            (Self::CHEAT, "cheat"),
        ]
        .into_iter()
        .filter_map(move |(flag, word)| self.has(flag).then_some(word))
    }
}

/// The values that a setting takes. Its text completes "it takes …".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `0` or `1`.
    Flag,
    /// A whole number, both ends included.
    Int {
        /// Least.
        min: i32,
        /// Greatest.
        max: i32,
    },
    /// `0` for off, or a whole number, both ends included.
    IntOrOff {
        /// Least but for 0.
        min: i32,
        /// Greatest.
        max: i32,
    },
    /// A finite number, both ends included.
    Float {
        /// Least.
        min: f32,
        /// Greatest.
        max: f32,
    },
    /// Printable ASCII without quotes.
    Text {
        /// Most bytes.
        max: usize,
    },
    /// The name of a file or folder: letters, digits, `.`, `_`, `-`; never `..`. May be empty.
    Name {
        /// Most bytes.
        max: usize,
    },
    /// An address to bind, IPv4.
    Ipv4,
    /// An address to bind, IPv6.
    Ipv6,
    /// Networks, as [`super::Networks`] reads them.
    Networks,
    /// One of these words, in any case.
    Choice(&'static [&'static str]),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("0 or 1"),
            Self::Int { min, max } if min == max => write!(f, "only {min} in this version"),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::IntOrOff { min, max } => {
                write!(f, "0 for off, or a whole number from {min} to {max}")
            }
            Self::Float { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Text { max } => write!(f, "text of at most {max} characters"),
            Self::Name { max } => {
                write!(f, "a name of at most {max} letters, digits, '.', '_' and '-', without '..'")
            }
            Self::Ipv4 => f.write_str("an IPv4 address such as 0.0.0.0"),
            Self::Ipv6 => f.write_str("an IPv6 address such as ::"),
            Self::Networks => f.write_str(
                "networks separated by spaces, such as 10.0.0.0/8 ::1, or private, any or nothing",
            ),
            Self::Choice(names) => match names {
                [] => Ok(()),
                [only] => f.write_str(only),
                [first @ .., last] => write!(f, "{} or {last}", first.join(", ")),
            },
        }
    }
}

/// What a setting is in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The value when nobody says otherwise.
    pub default: &'static str,
    /// How it travels and who may change it.
    pub flags: Flags,
}

/// Heading under which settings are listed; also a table's name in the config file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Table name in the config file.
    pub name: &'static str,
    /// Heading for people.
    pub title: &'static str,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name that administrators know, as it is written.
    pub name: &'static str,
    /// Where it is listed.
    pub group: Group,
    /// What it takes.
    pub kind: Kind,
    /// What it is in each game, in the order of [`GameProfile`].
    pub columns: [Column; 2],
    /// One sentence.
    pub help: &'static str,
}

impl Setting {
    /// What the setting is in `game`.
    #[must_use]
    pub const fn column(&self, game: GameProfile) -> &Column {
        &self.columns[game as usize]
    }
}

/// Reads one setting's value, which is a `T`.
pub struct Key<T> {
    row: u16,
    kind: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    pub(super) const fn new(row: u16) -> Self {
        Self { row, kind: PhantomData }
    }

    pub(super) const fn row(self) -> usize {
        self.row as usize
    }

    /// The row that the key reads.
    #[must_use]
    pub fn setting(self) -> &'static Setting {
        &super::SETTINGS[self.row()]
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
        write!(f, "Key({})", self.setting().name)
    }
}

/// A value that is 0 or 1.
#[derive(Debug)]
pub enum Flag {}

impl Flag {
    pub(super) const fn either() -> Kind {
        Kind::Flag
    }
}

/// A value that is a whole number.
#[derive(Debug)]
pub enum Int {}

impl Int {
    pub(super) const fn range(min: i32, max: i32) -> Kind {
        Kind::Int { min, max }
    }

    pub(super) const fn or_off(min: i32, max: i32) -> Kind {
        Kind::IntOrOff { min, max }
    }
}

/// A value that is a finite number.
#[derive(Debug)]
pub enum Float {}

impl Float {
    pub(super) const fn range(min: f32, max: f32) -> Kind {
        Kind::Float { min, max }
    }
}

/// A value that is text.
#[derive(Debug)]
pub enum Text {}

impl Text {
    pub(super) const fn up_to(max: usize) -> Kind {
        Kind::Text { max }
    }

    pub(super) const fn name(max: usize) -> Kind {
        Kind::Name { max }
    }
}

/// A value that is an address to bind.
#[derive(Debug)]
pub enum Address {}

impl Address {
    pub(super) const fn v4() -> Kind {
        Kind::Ipv4
    }

    pub(super) const fn v6() -> Kind {
        Kind::Ipv6
    }
}

/// A value that is one of a few words.
pub trait Choice: Copy + Eq + 'static {
    /// Every choice, in the order of [`Choice::NAMES`].
    const ALL: &'static [Self];
    /// The words.
    const NAMES: &'static [&'static str];

    /// The choice's word.
    fn name(self) -> &'static str {
        Self::ALL.iter().position(|&other| other == self).map_or("", |at| Self::NAMES[at])
    }

    /// The choice of that word, in any case.
    fn named(word: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|name| name.eq_ignore_ascii_case(word))?;
        Some(Self::ALL[at])
    }
}

macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            pub(super) const fn one_of() -> Kind {
                Kind::Choice(<Self as Choice>::NAMES)
            }
        }

        impl Choice for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            const NAMES: &'static [&'static str] = &[$($word,)+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )+};
}

choices! {
    /// Whose game data the clients have; the columns of the table.
    GameProfile {
        /// OpenArena 0.8.8.
        BaseOa = "baseoa",
        /// Quake III Arena.
        BaseQ3 = "baseq3",
    }
    /// What protocol number 71 means.
    Wire71 {
        /// Each client's first packet tells.
        Auto = "auto",
        /// The wire of protocol 68, as OpenArena has it.
        Compat = "compat",
        /// The wire of ioquake3.
        Native = "native",
    }
    /// Which rules a level is played by.
    Rules {
        /// Players walk where the map's file is at hand, and fly where it is not.
        Auto = "auto",
        /// Players fly, and no map file is read.
        Flight = "flight",
    }
    /// Whose movement players' programs compute.
    Movement {
        /// What the game's released data does.
        Auto = "auto",
        /// Quake III Arena, release 1.32.
        Quake3 = "quake3",
        /// Quake III Arena as ioquake3 builds it.
        IoQuake3 = "ioquake3",
        /// OpenArena 0.8.8.
        OpenArena = "openarena",
        /// OpenArena's sources after 0.8.8.
        OpenArenaNext = "openarena-next",
    }
    /// Which engines' arithmetic collisions are computed in.
    Precision {
        /// ioquake3 and OpenArena.
        Single = "single",
        /// Quake3e, and nearly 1.32.
        Double = "double",
    }
    /// Columns of the console's `status`.
    StatusStyle {
        /// ioquake3.
        Ioq3 = "ioq3",
        /// Quake III Arena 1.32.
        Q3 = "q3",
        /// Quake3e.
        Quake3e = "quake3e",
    }
    /// Least important log line that is written.
    LogLevel {
        /// What keeps the server from working.
        Error = "error",
        /// What the operator should look at.
        Warn = "warn",
        /// One line for each event of the day.
        Info = "info",
        /// What helps to find a fault.
        Debug = "debug",
        /// Every datagram.
        Trace = "trace",
    }
}
