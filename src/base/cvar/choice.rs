//! Settings with a fixed list of words: each choice as an enum.

use std::fmt;

use super::SettingKind;

/// Type of keys whose value is one word of a fixed list.
pub trait Choice: Copy + Eq + 'static {
    /// All choices, in the order of [`Choice::NAMES`].
    const ALL: &'static [Self];
    /// The words.
    const NAMES: &'static [&'static str];

    /// The word of the choice.
    fn name(self) -> &'static str {
        Self::ALL.iter().position(|&other| other == self).map_or("", |at| Self::NAMES[at])
    }

    /// The choice of a word, case-insensitive.
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
            pub(crate) const fn one_of() -> SettingKind {
                SettingKind::Choice(<Self as Choice>::NAMES)
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
    /// Game data folder of the clients (`game`); selects the per-game columns of the table.
    GameFolder {
        /// OpenArena 0.8.8.
        BaseOa = "baseoa",
        /// Quake III Arena.
        BaseQ3 = "baseq3",
    }
    /// Meaning of protocol number 71 (`sv_wire71`).
    Protocol71 {
        /// Detected from the first packet of each client.
        Auto = "auto",
        /// OpenArena: the framing of protocol 68.
        Compat = "compat",
        /// ioquake3: checksummed framing.
        Native = "native",
    }
    /// Whether clients of protocol 66 or 67 are served, and how their messages are scrambled (`sv_protocol66`,
    /// `sv_protocol67`).
    ScrambledProtocol {
        /// Not served.
        Off = "off",
        /// XOR first; a client that does not scramble is told to connect again.
        Auto = "auto",
        /// XOR, as protocol 68.
        Xor = "xor",
        /// Not scrambled.
        None = "none",
    }
    /// Game rules of a level (`g_rules`).
    RulesMode {
        /// Deathmatch where the map file exists, free flight elsewhere.
        Auto = "auto",
        /// Free flight; map files are not read.
        Flight = "flight",
    }
    /// Pmove variant that clients predict with (`g_movement`).
    MovementChoice {
        /// The variant of the released game data.
        Auto = "auto",
        /// Quake III Arena, release 1.32.
        Quake3 = "quake3",
        /// Quake III Arena as ioquake3 builds it.
        IoQuake3 = "ioquake3",
        /// OpenArena 0.8.8.
        OpenArena = "openarena",
        /// OpenArena sources after 0.8.8.
        OpenArenaNext = "openarena-next",
    }
    /// Floating-point precision of collisions (`cm_precision`).
    CollisionPrecision {
        /// ioquake3 and OpenArena.
        Single = "single",
        /// Quake3e, and nearly 1.32.
        Double = "double",
        /// ioquake3 built with `-ffast-math`.
        Fast = "fast",
    }
    /// Floating-point precision of movement (`pmove_precision`).
    MovementPrecision {
        /// Bytecode.
        Single = "single",
        /// Native modules.
        Double = "double",
    }
    /// Rules of the game (`vm_game`).
    GameCode {
        /// Rules of the program.
        Native = "0",
        /// Game module, interpreted.
        Interpreted = "1",
        /// Game module, compiled.
        Compiled = "2",
    }
    /// Action after a fault of the game (`sv_gameFault`).
    GameFaultPolicy {
        /// The level restarts; after too many restarts, connects are refused until one is admitted again.
        Restart = "restart",
        /// The level restarts; after too many restarts, the rules of the program run until the next map.
        Native = "native",
        /// The server stops.
        Stop = "stop",
    }
    /// Holders of ballots in votes (`g_voteBallots`).
    BallotHolder {
        /// Address outside `sv_lanNetworks`; in these, each client.
        Address = "address",
        /// Client.
        Client = "client",
    }
    /// Columns of the console command `status` (`sv_statusStyle`).
    StatusStyle {
        /// ioquake3.
        Ioq3 = "ioq3",
        /// Quake III Arena 1.32.
        Q3 = "q3",
        /// Quake3e.
        Quake3e = "quake3e",
    }
    /// Minimum level of log lines (`sv_logLevel`).
    LogLevel {
        /// Conditions that the operator must act on.
        Error = "error",
        /// Degraded operation.
        Warn = "warn",
        /// State changes.
        Info = "info",
        /// Diagnostics.
        Debug = "debug",
        /// Every datagram.
        Trace = "trace",
    }
}
