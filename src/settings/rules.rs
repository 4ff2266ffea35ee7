//! What settings may not be together: more than an info string holds, more private slots than slots,
//! a public remote console with a password that can be guessed, a movement that the game's clients do
//! not have.
//!
//! Invariant: an info string is measured at its worst, with everything that waits for the next map in
//! force and everything that the server writes at its longest; so neither is ever refused for want of
//! room.

use super::{
    MIN_PUBLIC_RCON_PASSWORD_LEN,
    error::SettingError,
    setting::{Flags, GameProfile, Kind, Movement},
    store::Settings,
    table::{SETTINGS, key},
};
use crate::model::limits::{MAX_BIG_STRING_LEN, MAX_INFO_LEN};

impl Settings {
    pub(super) fn check_row(&self, row: usize) -> Result<(), SettingError> {
        self.check_info(SETTINGS[row].name, self.row_flags(row))?;
        if self.started { self.check_together() } else { Ok(()) }
    }

    /// What is wrong only in combination. Before the start, the order of changes must not matter.
    pub(super) fn check_together(&self) -> Result<(), SettingError> {
        let password = self.text(key::RCON_PASSWORD);
        let guessable = !password.is_empty() && password.len() < MIN_PUBLIC_RCON_PASSWORD_LEN;
        let reachable =
            self.int(key::DEDICATED) == 2 || !self.networks(key::SV_RCON_ALLOW).is_loopback();
        if guessable && reachable {
            return Err(SettingError::RconPasswordShort { min: MIN_PUBLIC_RCON_PASSWORD_LEN });
        }
        let (game, movement) = (self.choice(key::GAME), self.choice(key::G_MOVEMENT));
        let known = movements(game);
        if movement != Movement::Auto && !known.contains(&movement) {
            return Err(SettingError::Movement { movement, game, known });
        }
        let private = self.int(key::SV_PRIVATE_CLIENTS);
        let slot = &self.slots[key::SV_MAXCLIENTS.row()];
        let slots = slot.waiting.iter().fold(slot.value.int, |now, next| now.min(next.int));
        if private > slots {
            return Err(SettingError::PrivateClients { private, slots });
        }
        Ok(())
    }

    /// Whether the info strings that `flags` names still fit after a change of `name`.
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

    /// Bytes that an info string takes at worst.
    fn longest_info(&self, flag: Flags) -> usize {
        let rows = (0..self.slots.len()).filter(|&row| self.row_flags(row).has(flag));
        let settings = rows.map(|row| {
            let (slot, setting) = (&self.slots[row], &SETTINGS[row]);
            let waiting = slot.waiting.as_ref().map_or(0, |value| value.text.len());
            let ours = match setting.kind {
                // Written by the server while it runs; the version stays what it is.
                Kind::Text { max } | Kind::Name { max }
                    if flag == Flags::SERVERINFO
                        && self.row_flags(row).has(Flags::READ_ONLY)
                        && row != key::VERSION.row() =>
                {
                    max
                }
                _ => 0,
            };
            let value_len = slot.value.text.len().max(waiting).max(ours);
            let left_out = value_len == 0 && flag == Flags::SERVERINFO;
            if left_out { 0 } else { pair_len(setting.name, value_len) }
        });
        let own = self
            .variables
            .iter()
            .filter(|own| own.shown && !own.value.is_empty() && flag == Flags::SERVERINFO);
        settings.sum::<usize>() + own.map(|own| pair_len(&own.name, own.value.len())).sum::<usize>()
    }

    /// Bytes that the serverinfo takes now.
    pub(super) fn shown_len(&self) -> usize {
        self.serverinfo().map(|(name, value)| pair_len(name, value.len())).sum()
    }
}

/// The movements that programs with a game's data compute.
const fn movements(game: GameProfile) -> [Movement; 2] {
    match game {
        GameProfile::BaseOa => [Movement::OpenArena, Movement::OpenArenaNext],
        GameProfile::BaseQ3 => [Movement::Quake3, Movement::IoQuake3],
    }
}

/// Bytes of one pair in an info string, separators included.
fn pair_len(name: &str, value_len: usize) -> usize {
    name.len() + value_len + 2
}
