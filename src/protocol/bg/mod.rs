//! Game vocabulary: the numbers and tables that server, clients and tools share.
//!
//! Every value here is compiled into the client game and equal in all games, unless an item says
//! otherwise. Differences between games are in `game::Ruleset`. Source: the interface between server and
//! client game of Quake III 1.32 and OpenArena 0.8.8. Engine names: `bg_public.h`, `bg_misc.c`.

#[macro_use]
mod wire_enum;

pub mod animation;
pub mod chat;
pub mod configstring;
mod entity_type;
mod event;
mod flags;
mod game_type;
pub mod items;
mod means_of_death;
mod persistent;
pub mod player_box;
mod pm_type;
mod powerups;
pub mod scoreboard;
mod stats;
mod team;
mod team_color;
mod weapon_numbers;
pub mod weapons;

pub use crate::model::contents::content as contents;
pub use entity_type::EntityType;
pub use event::Event;
pub use flags::{dm_flag, entity_flag, player_event, pm_flag};
pub use game_type::GameType;
pub use items::ItemList;
pub use means_of_death::MeansOfDeath;
pub use persistent::{Persistent, TIED};
pub use pm_type::PmType;
pub use powerups::{Holdable, Powerup, Rune, UNTIL_LOST};
pub use stats::StatLayout;
pub use team::{Team, TeamSound};
pub use team_color::TeamColor;
pub use weapon_numbers::{UNLIMITED_AMMO, Weapon, WeaponState};
pub use wire_enum::UnknownValue;
