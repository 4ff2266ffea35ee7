//! Combat settings, read again after each change of a setting.
//!
//! Defaults and bounds are those of the rows in `game::settings`.

use super::loadout::Loadout;
use crate::game::{Host, Ruleset, settings::key};

/// Values of the combat settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CombatSettings {
    /// Strength of knockback.
    pub(super) knockback: f32,
    /// Damage multiplier of quad damage.
    pub(super) quad_factor: f32,
    /// Whether teammates damage each other.
    pub(super) friendly_fire: bool,
    /// Whether corpses are gibbed.
    pub(super) blood: bool,
    /// Protection after a spawn, in ms.
    pub(super) protection_ms: i32,
    /// Whether a player who knocked the victim into a hazard gets the frag.
    pub(super) awards_pushing: bool,
    /// Multiplier of all damage.
    pub(super) damage_modifier: Option<f32>,
    /// Damage reduction per point of the attacker's lead, in percent.
    pub(super) catch_up: i32,
    /// Fraction of damage that heals the attacker; the maximum health from it follows.
    pub(super) vampire: f32,
    pub(super) vampire_most: i32,
    /// Respawn wave interval, in ms.
    pub(super) wave_ms: Option<i32>,
    /// Fixed weapons of all players.
    pub(super) loadout: Loadout,
    /// Time until a proximity mine explodes by itself, in ms.
    pub(super) mine_ms: i32,
}

impl CombatSettings {
    /// Reads all combat settings.
    pub(super) fn read(host: &dyn Host, ruleset: &Ruleset) -> Self {
        let settings = host.settings();
        let rules = Self {
            knockback: settings.float(key::G_KNOCKBACK),
            quad_factor: settings.float(key::G_QUADFACTOR),
            friendly_fire: settings.flag(key::G_FRIENDLY_FIRE),
            blood: settings.flag(key::COM_BLOOD),
            mine_ms: settings.int(key::G_PROX_MINE_TIMEOUT),
            vampire_most: i32::MAX,
            ..Self::default()
        };
        if !ruleset.combat.has_combat_settings {
            return rules;
        }
        Self {
            protection_ms: settings.int(key::G_SPAWNPROTECT),
            awards_pushing: settings.flag(key::G_AWARDPUSHING),
            damage_modifier: Some(settings.float(key::G_DAMAGE_MODIFIER)).filter(|&by| by > 0.01),
            catch_up: settings.int(key::G_CATCHUP),
            vampire: settings.float(key::G_VAMPIRE),
            vampire_most: settings.int(key::G_VAMPIRE_MAX_HEALTH),
            wave_ms: Some(settings.int(key::G_RESPAWNTIME) * 1000).filter(|&ms| ms > 0),
            loadout: Loadout::of(settings.int(key::G_INSTANTGIB), settings.flag(key::G_ROCKETS)),
            ..rules
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn defaults_match_setting_rows() {
        let host = TestHost::default();
        let base = CombatSettings::read(&host, Ruleset::BASEQ3);
        assert_eq!((base.knockback, base.quad_factor, base.blood), (1000.0, 3.0, true));
        assert_eq!((base.protection_ms, base.awards_pushing, base.wave_ms), (0, false, None));
        let open = CombatSettings::read(&host, Ruleset::BASEOA);
        assert_eq!((open.protection_ms, open.awards_pushing, open.vampire), (500, true, 0.0));
        assert_eq!((open.damage_modifier, open.catch_up, open.mine_ms), (None, 0, 20_000));
    }

    #[test]
    fn rejected_value_keeps_previous_one() {
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
        let rules = CombatSettings::read(&host, Ruleset::BASEOA);
        assert_eq!((rules.knockback, rules.quad_factor), (1000.0, 3.0));
        assert_eq!((rules.wave_ms, rules.protection_ms), (None, 500));
        assert_eq!(rules.vampire_most, 500);
    }
}
