//! Pmove variants: differences between the movement of games, as one table, and server settings.
//!
//! Movement code reads the table and never compares variants. Clients predict with the same settings:
//! `pmove_fixed`, `pmove_msec` and `pmove_float` are sent in the systeminfo, `dmflags` in the serverinfo.
//! Source: the base game's release 1.32, ioquake3's sources of it, OpenArena 0.8.8 and its later sources.

use super::{
    Arithmetic,
    velocity::{Acceleration, Length},
};
use crate::{
    bg::{ItemList, StatLayout, dm_flag, player_box},
    game::Ruleset,
};

/// Contents that a water jump accepts above the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// No contents, not even fog.
    Empty,
    /// Any contents that do not stop a player.
    Passable,
}

/// Movement of one game. Bits of `dmflags` are 0 where the game has no such flag.
#[derive(Debug, PartialEq)]
pub struct PmoveVariant {
    /// Name in settings and logs.
    pub name: &'static str,
    /// Ruleset of the clients with this movement.
    pub ruleset: &'static Ruleset,
    /// Indexes of the player's stats.
    pub stats: StatLayout,
    /// Highest weapon number.
    pub last_weapon: i32,
    /// Items of the game.
    pub items: ItemList,
    /// Contents that a water jump accepts above the edge.
    pub headroom: Headroom,
    /// Whether the firing flag is set in noclip.
    pub noclip_fires: bool,
    /// Computation of a vector's length on normalization.
    pub length: Length,
    /// Whether team orders have gestures.
    pub team_gestures: bool,
    /// Whether invulnerability holds the player in place.
    pub invulnerability_holds: bool,
    /// Ammo count from which on ammo is unlimited.
    pub endless_from: Option<i32>,
    /// Whether the setting `pmove_float` exists (velocities keep their fractions).
    pub float_setting: bool,
    /// Whether velocity is rounded on slick surfaces even with `pmove_float`.
    pub rounds_on_slick: bool,
    /// Whether a sub-step runs footsteps before the torso animation.
    pub torso_last: bool,
    /// Bit of `dmflags`: no bunny hopping, turning gains no speed.
    pub no_bunny_dmflag: i32,
    /// Bit of `dmflags`: instant weapon change.
    pub instant_weapons_dmflag: i32,
    /// Bit of `dmflags`: ten times the swimming speed.
    pub fast_water_dmflag: i32,
}

impl PmoveVariant {
    /// The base game, release 1.32, as the bytecode in its data.
    pub const QUAKE3: &'static Self = &Self {
        name: "quake3",
        ruleset: Ruleset::BASEQ3,
        stats: Ruleset::BASEQ3.stats,
        last_weapon: Ruleset::BASEQ3.equipment.last_weapon,
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
        last_weapon: Ruleset::BASEOA.equipment.last_weapon,
        items: Ruleset::BASEOA.items,
        headroom: Headroom::Passable,
        team_gestures: true,
        invulnerability_holds: true,
        endless_from: Some(999),
        float_setting: true,
        no_bunny_dmflag: Ruleset::BASEOA.movement.no_bunny_dmflag,
        instant_weapons_dmflag: 64,
        ..*Self::QUAKE3
    };

    /// OpenArena's sources after 0.8.8.
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

    /// Returns the variant with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|variant| variant.name.eq_ignore_ascii_case(name))
    }

    /// Returns the default variant of a ruleset.
    #[must_use]
    pub fn of_ruleset(ruleset: &Ruleset) -> &'static Self {
        let first = Self::ALL.into_iter().find(|variant| variant.ruleset == ruleset);
        first.unwrap_or(Self::QUAKE3)
    }
}

/// Server settings of the movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmoveSettings {
    /// `pmove_fixed`: sub-steps have a fixed length.
    pub fixed: bool,
    /// `pmove_msec`: length of a fixed sub-step in ms, positive.
    pub fixed_step_ms: i32,
    /// `pmove_float`: velocities keep their fractions, in variants with that setting.
    pub float: bool,
    /// `dmflags`.
    pub dmflags: i32,
    /// `pmove_precision`: arithmetic of the clients' game code.
    pub arithmetic: Arithmetic,
}

/// Movement rules of a server: variant and settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PmoveRules {
    /// Variant of the game.
    pub variant: &'static PmoveVariant,
    /// Length of a fixed sub-step, in ms; `None` without `pmove_fixed`.
    pub fixed_step_ms: Option<i32>,
    /// Whether velocity is rounded to whole numbers after each sub-step.
    pub whole_velocity: bool,
    /// Kind of acceleration.
    pub acceleration: Acceleration,
    /// Whether weapon changes are instant.
    pub instant_weapons: bool,
    /// Swimming speed as a fraction of the running speed.
    pub swim_scale: f32,
    /// Whether footstep events are omitted.
    pub silent_steps: bool,
    /// View height of a standing player above the origin.
    pub view_height: i32,
    /// Arithmetic of the clients' game code.
    pub arithmetic: Arithmetic,
}

impl PmoveRules {
    /// Combines a variant with the settings of a server.
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
            silent_steps: flag(dm_flag::NO_FOOTSTEPS),
            view_height: player_box::VIEW_HEIGHT,
            arithmetic: settings.arithmetic,
        }
    }

    /// Returns the rules without fixed sub-steps, as servers move spectators.
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

    const EVERYTHING: PmoveSettings = PmoveSettings {
        fixed: true,
        fixed_step_ms: 33,
        float: true,
        dmflags: -1,
        arithmetic: Arithmetic::Bytecode,
    };

    #[test]
    fn pmove_rules_ignore_flags_of_other_games() {
        let base = PmoveRules::new(PmoveVariant::QUAKE3, EVERYTHING);
        assert!(base.whole_velocity && base.silent_steps && !base.instant_weapons);
        assert_eq!((base.acceleration, base.swim_scale), (Acceleration::Plain, 0.5));
        assert_eq!(base.fixed_step_ms, Some(33));
        assert_eq!(base.with_free_steps().fixed_step_ms, None);

        let open = PmoveRules::new(PmoveVariant::OPENARENA, EVERYTHING);
        assert!(!open.whole_velocity && open.instant_weapons);
        assert_eq!((open.acceleration, open.swim_scale), (Acceleration::NoBunny, 0.5));
        assert_eq!(PmoveRules::new(PmoveVariant::OPENARENA_NEXT, EVERYTHING).swim_scale, 5.0);

        let none = PmoveSettings {
            fixed: false,
            fixed_step_ms: 1,
            float: false,
            dmflags: 0,
            arithmetic: Arithmetic::Bytecode,
        };
        let open = PmoveRules::new(PmoveVariant::OPENARENA, none);
        assert!(open.whole_velocity && !open.instant_weapons && !open.silent_steps);
        assert_eq!((open.acceleration, open.fixed_step_ms), (Acceleration::Plain, None));
    }

    #[test]
    fn pmove_variants_agree_with_their_rulesets() {
        let usual = Ruleset::ALL.map(|ruleset| PmoveVariant::of_ruleset(ruleset).name);
        assert_eq!(usual, ["openarena", "quake3", "openarena-next"]);
        for variant in PmoveVariant::ALL {
            let ruleset = variant.ruleset;
            assert_eq!(variant.stats, ruleset.stats, "{}", variant.name);
            assert_eq!(variant.last_weapon, ruleset.equipment.last_weapon, "{}", variant.name);
            assert_eq!(
                variant.no_bunny_dmflag, ruleset.movement.no_bunny_dmflag,
                "{}",
                variant.name
            );
            assert_eq!(PmoveVariant::named(variant.name), Some(variant));
            let game = GameFolder::named(ruleset.folder).unwrap();
            let float = key::PMOVE_FLOAT.setting().in_game(game);
            let sent = float.flags.has(Flags::SYSTEMINFO);
            assert_eq!(variant.float_setting, sent, "{}: clients predict with it", variant.name);
        }
        assert_eq!(PmoveVariant::named("doom"), None);
    }
}
