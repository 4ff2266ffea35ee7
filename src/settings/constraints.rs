//! Constraints between settings: info string lengths, private slots, rcon password, pmove variant.
//!
//! Invariant: info strings are measured at their maximum length, with all latched values and the longest
//! values that the server writes. So the server's own writes always fit.

use super::{
    MIN_PUBLIC_RCON_PASSWORD_LEN,
    error::SettingError,
    store::Settings,
    table::{SETTINGS, key},
};
use crate::{
    cvar::{Flags, GameFolder, Kind, MovementChoice},
    model::limits::{MAX_BIG_STRING_LEN, MAX_INFO_LEN},
};

impl Settings {
    pub(super) fn check_row(&self, row: usize) -> Result<(), SettingError> {
        self.check_info(SETTINGS[row].name, self.row_flags(row))?;
        if self.started { self.check_combinations() } else { Ok(()) }
    }

    /// Checks combinations of settings. Not before the start, where the order of changes must not matter.
    pub(super) fn check_combinations(&self) -> Result<(), SettingError> {
        let password = self.text(key::RCON_PASSWORD);
        let guessable = !password.is_empty() && password.len() < MIN_PUBLIC_RCON_PASSWORD_LEN;
        let reachable =
            self.int(key::DEDICATED) == 2 || !self.networks(key::SV_RCON_ALLOW).is_loopback();
        if guessable && reachable {
            return Err(SettingError::RconPasswordShort { min: MIN_PUBLIC_RCON_PASSWORD_LEN });
        }
        let (game, movement) = (self.choice(key::GAME), self.choice(key::G_MOVEMENT));
        let known = movements(game);
        if movement != MovementChoice::Auto && !known.contains(&movement) {
            return Err(SettingError::Movement { movement, game, known });
        }
        let private = self.int(key::SV_PRIVATE_CLIENTS);
        let latched = &self.slots[key::SV_MAXCLIENTS.row()].latched;
        let slots = self.int(key::SV_MAXCLIENTS);
        let slots = latched.as_ref().map_or(slots, |next| slots.min(next.int));
        if private > slots {
            return Err(SettingError::PrivateClients { private, slots });
        }
        Ok(())
    }

    /// Checks that the info strings of `flags` still fit after a change of `name`.
    pub(super) fn check_info(&self, name: &str, flags: Flags) -> Result<(), SettingError> {
        for (flag, info, max) in [
            (Flags::SERVERINFO, "serverinfo", MAX_INFO_LEN),
            (Flags::SYSTEMINFO, "systeminfo", MAX_BIG_STRING_LEN),
        ] {
            let len = if flags.has(flag) { self.longest_info(flag) } else { 0 };
            if len > max {
                return Err(SettingError::InfoFull { name: name.to_owned(), info, len, max });
            }
        }
        Ok(())
    }

    /// Maximum length of an info string, in bytes.
    fn longest_info(&self, flag: Flags) -> usize {
        let rows = (0..self.slots.len()).filter(|&row| self.row_flags(row).has(flag));
        let settings = rows.map(|row| {
            let (slot, setting) = (&self.slots[row], &SETTINGS[row]);
            let latched = slot.latched.as_ref().map_or(0, |value| value.text.len());
            let ours = match setting.kind {
                // Written by the running server; the version is constant.
                Kind::Text { max } | Kind::Name { max }
                    if flag == Flags::SERVERINFO
                        && self.row_flags(row).has(Flags::READ_ONLY)
                        && row != key::VERSION.row() =>
                {
                    max
                }
                _ => 0,
            };
            let value_len = self.row_text(row).len().max(latched).max(ours);
            let left_out = value_len == 0 && flag == Flags::SERVERINFO;
            if left_out { 0 } else { pair_len(setting.name, value_len) }
        });
        let own =
            self.variables.iter().filter(|own| own.flags.has(flag) && !own.longest().is_empty());
        settings.sum::<usize>()
            + own.map(|own| pair_len(&own.name, own.longest().len())).sum::<usize>()
    }

    /// Current length of the serverinfo, in bytes.
    pub(super) fn shown_len(&self) -> usize {
        self.serverinfo().map(|(name, value)| pair_len(name, value.len())).sum()
    }
}

/// Pmove variants of a game's clients.
const fn movements(game: GameFolder) -> [MovementChoice; 2] {
    match game {
        GameFolder::BaseOa => [MovementChoice::OpenArena, MovementChoice::OpenArenaNext],
        GameFolder::BaseQ3 => [MovementChoice::Quake3, MovementChoice::IoQuake3],
    }
}

/// Length of one pair in an info string with its separators, in bytes.
fn pair_len(name: &str, value_len: usize) -> usize {
    name.len() + value_len + 2
}
