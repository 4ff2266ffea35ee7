//! The settings that fights go by, read once a frame.
//!
//! Source: the base game's settings and OpenArena's, with their defaults.

use crate::game::{
    Host, Profile,
    values::{decimal, switch, whole},
};

use super::Arms;

/// Most seconds of any setting.
const MAX_S: i32 = 3600;

/// What the settings say now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::game::deathmatch) struct CombatRules {
    /// How strongly hits push.
    pub(in crate::game::deathmatch) knockback: f32,
    /// What the quad multiplies damage by.
    pub(in crate::game::deathmatch) quad_factor: f32,
    /// Team mates hurt each other.
    pub(in crate::game::deathmatch) friendly_fire: bool,
    /// Bodies go to pieces.
    pub(in crate::game::deathmatch) blood: bool,
    /// Protection after a spawn.
    pub(in crate::game::deathmatch) protection_ms: i32,
    /// Frags go to who pushed.
    pub(in crate::game::deathmatch) awards_pushing: bool,
    /// What all damage is multiplied by.
    pub(in crate::game::deathmatch) damage_modifier: Option<f32>,
    /// Percent of damage that each point of lead takes away.
    pub(in crate::game::deathmatch) catch_up: i32,
    /// Part of the damage that an attacker gets as health, and the most health from it.
    pub(in crate::game::deathmatch) vampire: f32,
    pub(in crate::game::deathmatch) vampire_most: i32,
    /// The dead come back together, at multiples of so many milliseconds.
    pub(in crate::game::deathmatch) wave_ms: Option<i32>,
    /// What everybody has, when that is not left to the level.
    pub(in crate::game::deathmatch) arms: Arms,
    /// How long a mine waits for somebody.
    pub(in crate::game::deathmatch) mine_ms: i32,
}

impl CombatRules {
    pub(in crate::game::deathmatch) fn read(host: &dyn Host, profile: &Profile) -> Self {
        let number = |name, default, most| decimal(host, name, default, most);
        let flag = |name, default| switch(host, name, default);
        let rules = Self {
            knockback: number("g_knockback", 1000.0, 100_000.0),
            quad_factor: number("g_quadfactor", 3.0, 100.0),
            friendly_fire: flag("g_friendlyFire", false),
            blood: flag("com_blood", true),
            mine_ms: number("g_proxMineTimeout", 20_000.0, 3_600_000.0) as i32,
            vampire_most: i32::MAX,
            ..Self::default()
        };
        if !profile.fights.own_settings {
            return rules;
        }
        Self {
            protection_ms: number("g_spawnprotect", 500.0, 1000.0 * MAX_S as f32) as i32,
            awards_pushing: flag("g_awardpushing", true),
            damage_modifier: Some(number("g_damageModifier", 0.0, 100.0)).filter(|&by| by > 0.01),
            catch_up: number("g_catchup", 0.0, 100.0) as i32,
            vampire: number("g_vampire", 0.0, 100.0),
            vampire_most: number("g_vampire_max_health", 500.0, 30_000.0) as i32,
            wave_ms: Some(number("g_respawntime", 0.0, MAX_S as f32) as i32 * 1000)
                .filter(|&ms| ms > 0),
            arms: Arms::of(whole(host, "g_instantgib", 0), flag("g_rockets", false)),
            ..rules
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn nothing_set_means_the_games_defaults() {
        let host = TestHost::default();
        let base = CombatRules::read(&host, Profile::BASEQ3);
        assert_eq!((base.knockback, base.quad_factor, base.blood), (1000.0, 3.0, true));
        assert_eq!((base.protection_ms, base.awards_pushing, base.wave_ms), (0, false, None));
        let open = CombatRules::read(&host, Profile::BASEOA);
        assert_eq!((open.protection_ms, open.awards_pushing, open.vampire), (500, true, 0.0));
        assert_eq!((open.damage_modifier, open.catch_up, open.mine_ms), (None, 0, 20_000));
    }

    #[test]
    fn settings_out_of_range_are_brought_back() {
        let mut host = TestHost::default();
        for (name, value) in [
            ("g_knockback", "nan"),
            ("g_quadfactor", "1e30"),
            ("g_respawntime", "99999999999"),
            ("g_spawnprotect", "-5"),
            ("g_vampire_max_health", "inf"),
        ] {
            host.set_setting(name, value);
        }
        let rules = CombatRules::read(&host, Profile::BASEOA);
        assert_eq!((rules.knockback, rules.quad_factor), (1000.0, 100.0));
        assert_eq!((rules.wave_ms, rules.protection_ms), (Some(3_600_000), 0));
        assert_eq!(rules.vampire_most, 500);
    }
}
