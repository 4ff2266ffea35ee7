//! Settings of every game type, read again after each change of a setting.
//!
//! Defaults and bounds are those of the rows in `game::settings`.

use crate::{
    cvar::{MovementPrecision, engine},
    game::{
        Host, Ruleset,
        movement::{Acceleration, Arithmetic},
        ruleset::Smoothing,
        settings::key,
    },
};

/// Largest gravity that a playerstate carries: 16 bits.
const MAX_GRAVITY: i32 = 0xffff;
/// Speed of spectators, units per second.
pub(in crate::game) const SPECTATOR_SPEED: i32 = 400;

/// Values of the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::game) struct GameSettings {
    /// Running speed of players, in units per second.
    pub(in crate::game) speed: i32,
    /// Gravity that clients predict with, in units per second squared.
    pub(in crate::game) gravity: i32,
    /// Fixed pmove step in ms, if `pmove_fixed` is on.
    pub(in crate::game) fixed_step_ms: Option<i32>,
    /// The setting `pmove_msec`.
    pub(in crate::game) step_ms: i32,
    /// Whether velocities keep their fractions.
    pub(in crate::game) float: bool,
    /// The bits of `dmflags`.
    pub(in crate::game) dmflags: i32,
    /// Arithmetic of the clients' game code.
    pub(in crate::game) arithmetic: Arithmetic,
    /// Seconds after which dead players respawn without input.
    pub(in crate::game) forced_respawn_s: Option<i32>,
    /// Whether usercmds run once per frame instead of on arrival.
    pub(in crate::game) synchronous: bool,
    /// Acceleration of players.
    pub(in crate::game) acceleration: Acceleration,
    /// Time that player entities are extrapolated, in ms.
    pub(in crate::game) linear_stop_ms: Option<i32>,
    /// Whether the server extrapolates players whose usercmds are missing.
    pub(in crate::game) extrapolates: bool,
    /// Milliseconds without input after which a player is dropped.
    pub(in crate::game) inactivity_ms: Option<i32>,
    /// Maximum players; further clients are spectators.
    pub(in crate::game) max_players: Option<usize>,
    /// Minutes that end the match; frags and captures follow.
    pub(in crate::game) time_limit_min: Option<i32>,
    pub(in crate::game) frag_limit: Option<i32>,
    pub(in crate::game) capture_limit: Option<i32>,
    /// Whether matches start with a warm-up; its seconds follow.
    pub(in crate::game) warmup: bool,
    pub(in crate::game) warmup_s: i32,
    /// Whether players may not join the larger team.
    pub(in crate::game) force_balance: bool,
    /// Whether joining clients are put into the weaker team.
    pub(in crate::game) auto_join: bool,
    /// Minimum time between two name changes of a player in seconds, and their maximum number.
    pub(in crate::game) rename_period_s: Option<i32>,
    pub(in crate::game) max_renames: Option<i32>,
    /// Last announced values, in the order of [`crate::cvar::Values::announced`].
    announced: Vec<String>,
    /// Last published value of `g_needpass`.
    needs_password: Option<bool>,
}

impl GameSettings {
    /// Reads all settings without announcing them.
    pub(in crate::game) fn read(host: &mut dyn Host, ruleset: &Ruleset) -> Self {
        let announced = host.settings().announced().map(|(_, value)| value.to_owned()).collect();
        let mut settings = Self { announced, ..Self::default() };
        settings.refresh(host, ruleset);
        settings
    }

    /// Reads all settings again, and prints changes of announced settings to all players.
    pub(in crate::game) fn refresh(&mut self, host: &mut dyn Host, ruleset: &Ruleset) {
        let settings = host.settings();
        let positive = |key| Some(settings.int(key)).filter(|&value| value > 0);
        self.speed = settings.int(key::G_SPEED);
        let modifier = match ruleset.combat.has_combat_settings {
            true => settings.float(key::G_GRAVITY_MODIFIER),
            false => 1.0,
        };
        let gravity = settings.float(key::G_GRAVITY).trunc() * modifier;
        self.gravity = (gravity as i32).clamp(0, MAX_GRAVITY);
        self.synchronous = settings.flag(key::G_SYNCHRONOUS_CLIENTS);
        self.step_ms = settings.int(key::PMOVE_MSEC);
        self.fixed_step_ms = settings.flag(key::PMOVE_FIXED).then_some(self.step_ms);
        self.float = settings.flag(key::PMOVE_FLOAT);
        self.arithmetic = match settings.choice(key::PMOVE_PRECISION) {
            MovementPrecision::Single => Arithmetic::Bytecode,
            MovementPrecision::Double => Arithmetic::Native,
        };
        self.dmflags = settings.int(key::DMFLAGS);
        self.forced_respawn_s = positive(key::G_FORCERESPAWN);
        let no_bunny = self.dmflags & ruleset.movement.no_bunny_dmflag != 0;
        self.acceleration = if no_bunny { Acceleration::NoBunny } else { Acceleration::Plain };
        self.linear_stop_ms = match ruleset.movement.smoothing {
            Smoothing::LinearStop(ms) if settings.flag(key::G_SMOOTH_CLIENTS) => Some(ms),
            Smoothing::LinearStop(_) | Smoothing::Interpolate => None,
        };
        self.extrapolates = ruleset.movement.smoothing == Smoothing::Interpolate
            && settings.flag(key::G_SMOOTH_CLIENTS);
        self.inactivity_ms = positive(key::G_INACTIVITY).map(|seconds| seconds * 1000);
        self.max_players = positive(key::G_MAX_GAME_CLIENTS).map(|players| players as usize);
        self.time_limit_min = positive(key::TIMELIMIT);
        self.frag_limit = positive(key::FRAGLIMIT);
        self.capture_limit = positive(key::CAPTURELIMIT);
        self.warmup = settings.flag(key::G_DO_WARMUP);
        self.warmup_s = settings.int(key::G_WARMUP);
        self.force_balance = settings.flag(key::G_TEAM_FORCE_BALANCE);
        self.auto_join = settings.flag(key::G_TEAM_AUTO_JOIN);
        let limited = |key| positive(key).filter(|_| ruleset.players.limits_renames);
        self.rename_period_s = limited(key::G_MIN_NAME_CHANGE_PERIOD);
        self.max_renames = limited(key::G_MAX_NAME_CHANGES);
        self.announce_changes(host);
        self.publish_password_flag(host);
    }

    fn announce_changes(&mut self, host: &mut dyn Host) {
        let mut changed = Vec::new();
        for (last, (name, now)) in self.announced.iter_mut().zip(host.settings().announced()) {
            if now != last {
                now.clone_into(last);
                changed.push((name, crate::game::userinfo::clean_text(now, 64)));
            }
        }
        for (name, value) in changed {
            host.send_command(None, &format!("print \"Server: {name} changed to {value}\n\""));
        }
    }

    fn publish_password_flag(&mut self, host: &mut dyn Host) {
        let needed = password(host).is_some();
        if self.needs_password != Some(needed) {
            self.needs_password = Some(needed);
            let name = engine::key::G_NEEDPASS.setting().name;
            host.set_setting(name, if needed { "1" } else { "0" });
        }
    }
}

/// The password of the server, if it has one.
pub(in crate::game) fn password(host: &dyn Host) -> Option<&str> {
    let password = host.settings().text(engine::key::G_PASSWORD);
    (!password.is_empty() && !password.eq_ignore_ascii_case("none")).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn rejected_values_keep_the_old_ones() {
        let mut host = TestHost::of_ruleset(Ruleset::BASEQ3);
        for (name, value) in [("g_speed", "nan"), ("pmove_msec", "100"), ("pmove_fixed", "1")] {
            host.set_setting(name, value);
        }
        host.set_setting("g_gravity", "-99999999999");
        let settings = GameSettings::read(&mut host, Ruleset::BASEQ3);
        assert_eq!((settings.speed, settings.gravity, settings.fixed_step_ms), (320, 800, Some(8)));
        assert_eq!(settings.linear_stop_ms, Some(50));
        assert_eq!(GameSettings::read(&mut host, Ruleset::BASEOA).linear_stop_ms, None);
    }

    #[test]
    fn gravity_is_limited_to_16_bits() {
        let mut host = TestHost::default();
        host.set_setting("g_gravity", "60000");
        host.set_setting("g_gravityModifier", "100");
        assert_eq!(GameSettings::read(&mut host, Ruleset::BASEOA).gravity, 0xffff);
    }

    #[test]
    fn defaults_are_those_of_the_rows() {
        let mut host = TestHost::default();
        let settings = GameSettings::read(&mut host, Ruleset::BASEOA);
        assert_eq!((settings.speed, settings.gravity, settings.fixed_step_ms), (320, 800, None));
        assert_eq!((settings.inactivity_ms, settings.max_players), (None, None));
        assert_eq!(host.setting("g_needpass"), "0");
    }

    #[test]
    fn changes_are_announced_once() {
        let mut host = TestHost::default();
        let mut settings = GameSettings::read(&mut host, Ruleset::BASEOA);
        host.set_setting("g_speed", "400");
        host.set_setting("g_vampire", "0.5");
        host.set_setting("g_password", "secret");
        settings.refresh(&mut host, Ruleset::BASEOA);
        settings.refresh(&mut host, Ruleset::BASEOA);
        let told = host.sent_to_all().join("");
        assert_eq!(
            told,
            "print \"Server: g_speed changed to 400\n\"print \"Server: g_vampire changed to 0.5\n\""
        );
        assert_eq!(host.setting("g_needpass"), "1");
        host.set_setting("g_password", "None");
        settings.refresh(&mut host, Ruleset::BASEOA);
        assert_eq!(host.setting("g_needpass"), "0");

        let mut host = TestHost::of_ruleset(Ruleset::BASEQ3);
        let mut settings = GameSettings::read(&mut host, Ruleset::BASEQ3);
        host.set_setting("g_vampire", "0.5");
        host.set_setting("g_knockback", "500");
        settings.refresh(&mut host, Ruleset::BASEQ3);
        assert_eq!(host.sent_to_all(), ["print \"Server: g_knockback changed to 500\n\""]);
    }
}
