//! Pmove variants: differences between the movement of games, as one table, and server settings.
//!
//! The moves ask for a rule by its name and never which game it is. What is told to clients must be
//! what is done here: `pmove_fixed`, `pmove_msec` and `pmove_float` travel in the systeminfo, `dmflags`
//! in the serverinfo. Source: the base game's release 1.32, ioquake3's sources of it, OpenArena 0.8.8
//! and its later sources.

use super::velocity::{Acceleration, Length};
use crate::{
    bg::{ItemList, StatLayout, player_box},
    game::Ruleset,
};

/// Bit of `dmflags`, in every game: nobody's steps are heard.
const NO_FOOTSTEPS_DMFLAG: i32 = 32;

/// What may be above the edge that a swimmer climbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// Nothing whatever, not even fog.
    Empty,
    /// Anything that does not stop a player.
    Passable,
}

/// One game's movement. Bits of `dmflags` are 0 where the game has no such flag.
#[derive(Debug, PartialEq)]
pub struct PmoveVariant {
    /// Its name in settings and logs.
    pub name: &'static str,
    /// What else is so in the game of clients that move like this.
    pub ruleset: &'static Ruleset,
    /// Where statistics stand.
    pub stats: StatLayout,
    /// Highest weapon number.
    pub last_weapon: i32,
    /// Items that the game knows.
    pub items: ItemList,
    /// What may be above the edge that a swimmer climbs.
    pub headroom: Headroom,
    /// Whether fire shows while flying through walls.
    pub noclip_fires: bool,
    /// What the length of a vector that is brought to length 1 was.
    pub length: Length,
    /// Whether the team's orders have gestures.
    pub team_gestures: bool,
    /// Whether invulnerability holds its owner in place.
    pub invulnerability_holds: bool,
    /// Ammunition from which on none is used up.
    pub endless_from: Option<i32>,
    /// Whether the setting `pmove_float` exists: velocity keeps its fractions.
    pub float_setting: bool,
    /// Whether velocity is rounded on slippery ground in spite of that setting.
    pub rounds_on_slick: bool,
    /// Whether the torso follows the feet within a step, instead of leading them.
    pub torso_last: bool,
    /// Bit of `dmflags`: turning gains no speed.
    pub no_bunny_dmflag: i32,
    /// Bit of `dmflags`: weapons change in no time.
    pub instant_weapons_dmflag: i32,
    /// Bit of `dmflags`: swimming is ten times as fast.
    pub fast_water_dmflag: i32,
}

impl PmoveVariant {
    /// The base game, release 1.32: what the bytecode in its data does.
    pub const QUAKE3: &'static Self = &Self {
        name: "quake3",
        ruleset: Ruleset::BASEQ3,
        stats: Ruleset::BASEQ3.stats,
        last_weapon: Ruleset::BASEQ3.last_weapon,
        items: Ruleset::BASEQ3.items,
        headroom: Headroom::Empty,
        noclip_fires: true,
        length: Length::Root,
        team_gestures: false,
        invulnerability_holds: false,
        endless_from: None,
        float_setting: false,
        rounds_on_slick: false,
        torso_last: false,
        no_bunny_dmflag: 0,
        instant_weapons_dmflag: 0,
        fast_water_dmflag: 0,
    };

    /// The base game as ioquake3 builds it.
    pub const IOQUAKE3: &'static Self = &Self {
        name: "ioquake3",
        headroom: Headroom::Passable,
        noclip_fires: false,
        length: Length::Product,
        ..*Self::QUAKE3
    };

    /// OpenArena 0.8.8.
    pub const OPENARENA: &'static Self = &Self {
        name: "openarena",
        ruleset: Ruleset::BASEOA,
        stats: Ruleset::BASEOA.stats,
        last_weapon: Ruleset::BASEOA.last_weapon,
        items: Ruleset::BASEOA.items,
        headroom: Headroom::Passable,
        team_gestures: true,
        invulnerability_holds: true,
        endless_from: Some(999),
        float_setting: true,
        no_bunny_dmflag: Ruleset::BASEOA.no_bunny_dmflag,
        instant_weapons_dmflag: 64,
        ..*Self::QUAKE3
    };

    /// OpenArena's sources after 0.8.8, as far as they are known.
    pub const OPENARENA_NEXT: &'static Self = &Self {
        name: "openarena-next",
        ruleset: Ruleset::BASEOA_NEXT,
        stats: Ruleset::BASEOA_NEXT.stats,
        rounds_on_slick: true,
        torso_last: true,
        fast_water_dmflag: 4096,
        ..*Self::OPENARENA
    };

    /// Every variant.
    pub const ALL: [&'static Self; 4] =
        [Self::QUAKE3, Self::IOQUAKE3, Self::OPENARENA, Self::OPENARENA_NEXT];

    /// The variant of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|variant| variant.name.eq_ignore_ascii_case(name))
    }

    /// The variant that clients with this ruleset's data run, unless an operator knows better.
    #[must_use]
    pub fn of_ruleset(ruleset: &Ruleset) -> &'static Self {
        let first = Self::ALL.into_iter().find(|variant| variant.ruleset == ruleset);
        first.unwrap_or(Self::QUAKE3)
    }
}

/// A server's settings that movement goes by, as an operator wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmoveSettings {
    /// `pmove_fixed`: everybody moves in steps of the same length.
    pub fixed: bool,
    /// `pmove_msec`: that length, positive.
    pub fixed_step_ms: i32,
    /// `pmove_float`: velocity keeps its fractions, where the game knows that.
    pub float: bool,
    /// `dmflags`.
    pub dmflags: i32,
}

/// The rules of one server's movement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PmoveRules {
    /// The game's.
    pub variant: &'static PmoveVariant,
    /// Length of fixed steps in milliseconds; `None` when steps are as long as commands.
    pub fixed_step_ms: Option<i32>,
    /// Velocity is rounded to whole numbers after each step.
    pub whole_velocity: bool,
    /// How speed is gained.
    pub acceleration: Acceleration,
    /// Weapons change in no time.
    pub instant_weapons: bool,
    /// Part of the walking speed that a swimmer reaches.
    pub swim_scale: f32,
    /// Nobody's steps are heard.
    pub silent_steps: bool,
    /// Height of a standing player's eyes above the origin.
    pub view_height: i32,
}

impl PmoveRules {
    /// The rules of a game under these settings.
    #[must_use]
    pub fn new(variant: &'static PmoveVariant, settings: PmoveSettings) -> Self {
        let flag = |bit: i32| settings.dmflags & bit != 0;
        Self {
            variant,
            fixed_step_ms: settings.fixed.then_some(settings.fixed_step_ms),
            whole_velocity: !(variant.float_setting && settings.float),
            acceleration: if flag(variant.no_bunny_dmflag) {
                Acceleration::NoBunny
            } else {
                Acceleration::Plain
            },
            instant_weapons: flag(variant.instant_weapons_dmflag),
            swim_scale: if flag(variant.fast_water_dmflag) { 5.0 } else { 0.5 },
            silent_steps: flag(NO_FOOTSTEPS_DMFLAG),
            view_height: player_box::VIEW_HEIGHT,
        }
    }

    /// The same rules without fixed steps: a server moves spectators so.
    #[must_use]
    pub const fn with_free_steps(mut self) -> Self {
        self.fixed_step_ms = None;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cvar::{Choice as _, Flags, GameFolder},
        game::settings::key,
    };

    const EVERYTHING: PmoveSettings =
        PmoveSettings { fixed: true, fixed_step_ms: 33, float: true, dmflags: -1 };

    #[test]
    fn a_game_heeds_only_its_own_flags() {
        let base = PmoveRules::new(PmoveVariant::QUAKE3, EVERYTHING);
        assert!(base.whole_velocity && base.silent_steps && !base.instant_weapons);
        assert_eq!((base.acceleration, base.swim_scale), (Acceleration::Plain, 0.5));
        assert_eq!(base.fixed_step_ms, Some(33));
        assert_eq!(base.with_free_steps().fixed_step_ms, None);

        let open = PmoveRules::new(PmoveVariant::OPENARENA, EVERYTHING);
        assert!(!open.whole_velocity && open.instant_weapons);
        assert_eq!((open.acceleration, open.swim_scale), (Acceleration::NoBunny, 0.5));
        assert_eq!(PmoveRules::new(PmoveVariant::OPENARENA_NEXT, EVERYTHING).swim_scale, 5.0);

        let none = PmoveSettings { fixed: false, fixed_step_ms: 1, float: false, dmflags: 0 };
        let open = PmoveRules::new(PmoveVariant::OPENARENA, none);
        assert!(open.whole_velocity && !open.instant_weapons && !open.silent_steps);
        assert_eq!((open.acceleration, open.fixed_step_ms), (Acceleration::Plain, None));
    }

    #[test]
    fn variants_agree_with_the_profiles_of_their_games() {
        let usual = Ruleset::ALL.map(|ruleset| PmoveVariant::of_ruleset(ruleset).name);
        assert_eq!(usual, ["openarena", "quake3", "openarena-next"]);
        for variant in PmoveVariant::ALL {
            let ruleset = variant.ruleset;
            assert_eq!(variant.stats, ruleset.stats, "{}", variant.name);
            assert_eq!(variant.last_weapon, ruleset.last_weapon, "{}", variant.name);
            assert_eq!(variant.no_bunny_dmflag, ruleset.no_bunny_dmflag, "{}", variant.name);
            assert_eq!(PmoveVariant::named(variant.name), Some(variant));
            let game = GameFolder::named(ruleset.folder).unwrap();
            let float = key::PMOVE_FLOAT.setting().in_game(game);
            let sent = float.flags.has(Flags::SYSTEMINFO);
            assert_eq!(variant.float_setting, sent, "{}: clients predict with it", variant.name);
        }
        assert_eq!(PmoveVariant::named("doom"), None);
    }
}
