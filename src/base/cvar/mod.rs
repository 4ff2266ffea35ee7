//! Settings schema: rows, kinds, flags, typed keys, and the value of every row.
//!
//! Each owner declares its rows with `setting_rows!`: the engine's are in [`engine`], a game's beside its
//! rules. Keys read [`Values`] without a search. Setting names are those of Quake III cvars.
//!
//! Engine names: `cvar_t`, `CVAR_SERVERINFO`, `CVAR_SYSTEMINFO`, `CVAR_LATCH`, `CVAR_ROM`, `CVAR_INIT`,
//! `CVAR_CHEAT`.

mod choice;
pub mod engine;
mod error;
mod networks;
mod row;
mod value;
mod values;

pub use choice::{
    BallotHolder, Choice, CollisionPrecision, GameCode, GameFaultPolicy, GameFolder, LogLevel,
    MovementChoice, MovementPrecision, Protocol71, RulesMode, ScrambledProtocol, StatusStyle,
};
pub use error::ValueError;
pub(crate) use error::quoted;
pub use networks::Networks;
pub use row::{
    Address, Endpoint, Flag, Flags, Float, Group, Int, Key, PerGame, Setting, SettingKind, Text,
};
pub(crate) use value::{Value, check_text};
pub use values::Values;

/// Declares the rows of one owner: `ROWS`, and a module `key` with a typed key for each row.
///
/// `after N` is the number of rows before them in the whole table. A row is: key, name, kind, defaults and
/// flags per game, help.
macro_rules! setting_rows {
    (after $offset:expr; $(
        [$table:literal, $title:literal]
        $($key:ident, $name:literal, $of:ident::$kind:ident($($bound:expr),*), $per_game:expr,
            $help:literal;)+
    )+) => {
        #[expect(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "named as the keys, whose rows they number"
        )]
        enum Row { $($($key,)+)+ }

        /// Typed keys of these rows.
        pub mod key {
            use super::*;
            $($(
                #[doc = concat!("`", $name, "`: ", $help)]
                pub const $key: $crate::cvar::Key<$of> =
                    $crate::cvar::Key::new($offset + Row::$key as usize, &ROWS[Row::$key as usize]);
            )+)+
        }

        /// The rows, in the order of listings and info strings.
        pub const ROWS: &[$crate::cvar::Setting] = &[$($(
            $crate::cvar::Setting {
                name: $name,
                group: $crate::cvar::Group { name: $table, title: $title },
                kind: $of::$kind($($bound),*),
                per_game: $per_game,
                help: $help,
            },
        )+)+];
    };
}
pub(crate) use setting_rows;
