//! The settings that every game goes by, read once a frame.
//!
//! Numbers are whole and within what travels, whatever an operator wrote.
//! Source: the base game's settings and their limits; OpenArena's defaults.

use crate::game::{
    Host, Profile,
    movement::Acceleration,
    profile::Smoothing,
    values::{decimal, whole},
};

/// Settings whose changes are announced to everybody, besides those of the profile.
const ANNOUNCED: &[&str] = &[
    "dmflags",
    "fraglimit",
    "timelimit",
    "capturelimit",
    "g_friendlyFire",
    "g_doWarmup",
    "g_warmup",
    "g_speed",
    "g_gravity",
    "g_knockback",
    "g_quadfactor",
    "g_forcerespawn",
    "g_weaponrespawn",
    "g_weaponTeamRespawn",
    "g_inactivity",
];
/// Limits of `pmove_msec`.
const FIXED_STEP_MS: (i32, i32) = (8, 33);
/// What travels of speed and gravity: 16 bits.
const TRAVELLING: (i32, i32) = (0, 0xffff);
/// Speed of spectators, units per second.
pub(in crate::game) const SPECTATOR_SPEED: i32 = 400;

/// What the settings say now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::game) struct Rules {
    /// Speed of players, units per second.
    pub(in crate::game) speed: i32,
    /// Gravity, units per second squared: told to clients.
    pub(in crate::game) gravity: i32,
    /// Length of fixed movement steps.
    pub(in crate::game) fixed_step_ms: Option<i32>,
    /// The setting `pmove_msec`, within its limits.
    pub(in crate::game) step_ms: i32,
    /// Velocities keep their fractions.
    pub(in crate::game) float: bool,
    /// The bits of `dmflags`.
    pub(in crate::game) dmflags: i32,
    /// Seconds after which the dead come back by themselves.
    pub(in crate::game) forced_respawn_s: Option<i32>,
    /// Commands run once a frame and not as they come.
    pub(in crate::game) synchronous: bool,
    /// How speed is gained.
    pub(in crate::game) acceleration: Acceleration,
    /// How long player entities go on in a line.
    pub(in crate::game) linear_stop_ms: Option<i32>,
    /// Milliseconds without a move after which a player is dropped.
    pub(in crate::game) inactivity_ms: Option<i32>,
    /// Players at a time; further ones watch.
    pub(in crate::game) max_players: Option<usize>,
    /// Minutes, frags and captures that end the match.
    pub(in crate::game) time_limit_min: Option<i32>,
    pub(in crate::game) frag_limit: Option<i32>,
    pub(in crate::game) capture_limit: Option<i32>,
    /// Whether matches begin with a warm-up, and how long that takes.
    pub(in crate::game) warmup: bool,
    pub(in crate::game) warmup_s: i32,
    /// Nobody may join the stronger team.
    pub(in crate::game) force_balance: bool,
    /// Newcomers join the weaker team.
    pub(in crate::game) auto_join: bool,
    /// What everybody was last told of the announced settings.
    announced: Vec<String>,
    /// The flag that browsers see, as last published.
    needs_password: Option<bool>,
}

impl Rules {
    /// Reads everything, announcing nothing.
    pub(in crate::game) fn read(host: &mut dyn Host, profile: &Profile) -> Self {
        let announced = announced(profile).map(|name| host.setting(name).to_owned()).collect();
        let mut rules = Self { announced, ..Self::default() };
        rules.refresh(host, profile);
        rules
    }

    /// Reads everything again, and says to everybody which of the announced settings changed.
    pub(in crate::game) fn refresh(&mut self, host: &mut dyn Host, profile: &Profile) {
        let number = |name, default| whole(host, name, default);
        self.speed = number("g_speed", 320).clamp(TRAVELLING.0, TRAVELLING.1);
        let lightness = match profile.fights.own_settings {
            true => decimal(host, "g_gravityModifier", 1.0, 100.0),
            false => 1.0,
        };
        let gravity = number("g_gravity", 800) as f32 * lightness;
        self.gravity = (gravity as i32).clamp(TRAVELLING.0, TRAVELLING.1);
        self.synchronous = number("g_synchronousClients", 0) != 0;
        let fixed =
            number("pmove_msec", profile.pmove_msec).clamp(FIXED_STEP_MS.0, FIXED_STEP_MS.1);
        self.fixed_step_ms = (number("pmove_fixed", 0) != 0).then_some(fixed);
        self.step_ms = fixed;
        self.float = number("pmove_float", 1) != 0;
        self.dmflags = number("dmflags", 0);
        self.forced_respawn_s = Some(number("g_forcerespawn", 20)).filter(|&seconds| seconds > 0);
        let no_bunny = number("dmflags", 0) & profile.no_bunny_dmflag != 0;
        self.acceleration = if no_bunny { Acceleration::NoBunny } else { Acceleration::Plain };
        self.linear_stop_ms = match profile.smoothing {
            Smoothing::LinearStop(ms) if number("g_smoothClients", 1) != 0 => Some(ms),
            Smoothing::LinearStop(_) | Smoothing::Interpolate => None,
        };
        let inactivity = number("g_inactivity", 0);
        self.inactivity_ms = (inactivity > 0).then(|| inactivity.saturating_mul(1000));
        self.max_players = usize::try_from(number("g_maxGameClients", 0)).ok().filter(|&n| n > 0);
        let limit = |name| Some(number(name, 0)).filter(|&limit| limit > 0);
        self.time_limit_min = limit("timelimit");
        self.frag_limit = limit("fraglimit");
        self.capture_limit = limit("capturelimit");
        self.warmup = number("g_doWarmup", 0) != 0;
        self.warmup_s = number("g_warmup", 20);
        self.force_balance = number("g_teamForceBalance", 0) != 0;
        self.auto_join = number("g_teamAutoJoin", 0) != 0;
        self.announce_changes(host, profile);
        self.publish_password_flag(host);
    }

    fn announce_changes(&mut self, host: &mut dyn Host, profile: &Profile) {
        for (last, name) in self.announced.iter_mut().zip(announced(profile)) {
            let now = host.setting(name);
            if now != last {
                now.clone_into(last);
                let value = crate::game::userinfo::clean_text(last, 64);
                host.send_command(None, &format!("print \"Server: {name} changed to {value}\n\""));
            }
        }
    }

    fn publish_password_flag(&mut self, host: &mut dyn Host) {
        let needed = password(host).is_some();
        if self.needs_password != Some(needed) {
            self.needs_password = Some(needed);
            host.set_setting("g_needpass", if needed { "1" } else { "0" });
        }
    }
}

/// Settings whose changes are announced to everybody in a game.
fn announced(profile: &Profile) -> impl Iterator<Item = &'static str> + use<> {
    ANNOUNCED.iter().chain(profile.announced).copied()
}

/// The password that newcomers must give, if any.
pub(in crate::game) fn password(host: &dyn Host) -> Option<&str> {
    let password = host.setting("g_password");
    (!password.is_empty() && !password.eq_ignore_ascii_case("none")).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn settings_out_of_range_are_brought_back() {
        let mut host = TestHost::default();
        for (name, value) in [("g_speed", "nan"), ("pmove_msec", "100"), ("pmove_fixed", "1")] {
            host.set_setting(name, value);
        }
        host.set_setting("g_gravity", "-99999999999");
        let rules = Rules::read(&mut host, Profile::BASEQ3);
        assert_eq!((rules.speed, rules.gravity, rules.fixed_step_ms), (0, 0, Some(33)));
        assert_eq!(rules.linear_stop_ms, Some(50));
        assert_eq!(Rules::read(&mut host, Profile::BASEOA).linear_stop_ms, None);
    }

    #[test]
    fn nothing_set_means_the_games_defaults() {
        let mut host = TestHost::default();
        let rules = Rules::read(&mut host, Profile::BASEOA);
        assert_eq!((rules.speed, rules.gravity, rules.fixed_step_ms), (320, 800, None));
        assert_eq!((rules.inactivity_ms, rules.max_players), (None, None));
        assert_eq!(host.setting("g_needpass"), "0");
    }

    #[test]
    fn changes_are_announced_once() {
        let mut host = TestHost::default();
        let mut rules = Rules::read(&mut host, Profile::BASEOA);
        host.set_setting("g_speed", "400\"");
        host.set_setting("g_vampire", "0.5");
        host.set_setting("g_password", "secret");
        rules.refresh(&mut host, Profile::BASEOA);
        rules.refresh(&mut host, Profile::BASEOA);
        let told = host.sent_to_all().join("");
        assert_eq!(
            told,
            "print \"Server: g_speed changed to 400\n\"print \"Server: g_vampire changed to 0.5\n\""
        );
        assert_eq!(host.setting("g_needpass"), "1");
        host.set_setting("g_password", "None");
        rules.refresh(&mut host, Profile::BASEOA);
        assert_eq!(host.setting("g_needpass"), "0");

        let mut host = TestHost::default();
        let mut rules = Rules::read(&mut host, Profile::BASEQ3);
        host.set_setting("g_vampire", "0.5");
        host.set_setting("g_knockback", "500");
        rules.refresh(&mut host, Profile::BASEQ3);
        assert_eq!(host.sent_to_all(), ["print \"Server: g_knockback changed to 500\n\""]);
    }
}
