//! Constraints between settings: info string lengths, rcon password, password of the live stream, pmove variant.
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
    cvar::{Flags, GameFolder, MovementChoice, SettingKind},
    model::limits::{MAX_BIG_STRING_LEN, MAX_INFO_LEN},
};

/// Checks the constraints of a row after its change.
pub(super) fn check_row(settings: &Settings, row: usize) -> Result<(), SettingError> {
    check_info(settings, SETTINGS[row].name, settings.row_flags(row))?;
    // The order of changes before the start must not matter.
    if settings.started { check_combinations(settings) } else { Ok(()) }
}

/// Passwords of examples and templates, in lower case and without separators.
const PLACEHOLDERS: [&str; 8] = [
    "changeme",
    "changethis",
    "password",
    "rconpass",
    "rconpassword",
    "yourpassword",
    "yourrconpassword",
    "mypassword",
];

/// Whether a password is one of examples.
fn is_placeholder(password: &str) -> bool {
    let letters = password.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = letters.collect::<String>().to_ascii_lowercase();
    PLACEHOLDERS.contains(&plain.as_str())
}

/// Checks combinations of settings.
pub(super) fn check_combinations(settings: &Settings) -> Result<(), SettingError> {
    let password = settings.text(key::RCON_PASSWORD);
    let is_short = !password.is_empty() && password.len() < MIN_PUBLIC_RCON_PASSWORD_LEN;
    let reachable =
        settings.int(key::DEDICATED) == 2 || !settings.networks(key::SV_RCON_ALLOW).is_loopback();
    if is_short && reachable {
        return Err(SettingError::RconPasswordShort { min: MIN_PUBLIC_RCON_PASSWORD_LEN });
    }
    if reachable && is_placeholder(password) {
        return Err(SettingError::RconPasswordPlaceholder);
    }
    let (game, movement) = (settings.choice(key::GAME), settings.choice(key::G_MOVEMENT));
    let known = movements(game);
    if movement != MovementChoice::Auto && !known.contains(&movement) {
        return Err(SettingError::Movement { movement, game, known });
    }
    Ok(())
}

/// Checks what scripts may set until the first level.
///
/// # Errors
/// An error that names place, setting and value.
pub fn check_first_level(settings: &Settings) -> Result<(), String> {
    let Some(address) = settings.endpoint(key::SV_RELAY_ADDRESS) else { return Ok(()) };
    if !settings.text(key::SV_RELAY_PASSWORD).is_empty() {
        return Ok(());
    }
    let place = settings.origin_of(key::SV_RELAY_ADDRESS);
    let expected = key::SV_RELAY_PASSWORD.setting().kind;
    Err(format!(
        "{place}sv_relayAddress: \"{address}\" needs a password; set sv_relayPassword (expected {})",
        expected.to_string().trim_end_matches(", or nothing")
    ))
}

/// Place of the settings that an error of [`Settings::start`] is about, in front of the error.
#[must_use]
pub fn place_of_error(settings: &Settings, error: &SettingError) -> String {
    match error {
        SettingError::RconPasswordShort { .. } | SettingError::RconPasswordPlaceholder => {
            settings.origin_of(key::RCON_PASSWORD)
        }
        SettingError::Movement { .. } => settings.origin_of(key::G_MOVEMENT),
        _ => String::new(),
    }
}

/// Checks that the info strings of `flags` still fit after a change of `name`.
pub(super) fn check_info(
    settings: &Settings,
    name: &str,
    flags: Flags,
) -> Result<(), SettingError> {
    for (flag, info, max) in [
        (Flags::SERVERINFO, "serverinfo", MAX_INFO_LEN),
        (Flags::SYSTEMINFO, "systeminfo", MAX_BIG_STRING_LEN),
    ] {
        let len = if flags.has(flag) { longest_info(settings, flag) } else { 0 };
        if len > max {
            return Err(SettingError::InfoFull { name: name.to_owned(), info, len, max });
        }
    }
    Ok(())
}

/// Maximum length of an info string, in bytes.
fn longest_info(settings: &Settings, flag: Flags) -> usize {
    let rows = (0..settings.slots.len()).filter(|&row| settings.row_flags(row).has(flag));
    let rows = rows.map(|row| {
        let (slot, setting) = (&settings.slots[row], &SETTINGS[row]);
        let latched = slot.latched.as_ref().map_or(0, |value| value.text.len());
        let ours = match setting.kind {
            // Written by the running server; the version is constant.
            SettingKind::Text { max } | SettingKind::Name { max }
                if flag == Flags::SERVERINFO
                    && settings.row_flags(row).has(Flags::READ_ONLY)
                    && row != key::VERSION.row() =>
            {
                max
            }
            _ => 0,
        };
        let value_len = settings.row_text(row).len().max(latched).max(ours);
        let left_out = value_len == 0 && flag == Flags::SERVERINFO;
        if left_out { 0 } else { pair_len(setting.name, value_len) }
    });
    let own =
        settings.variables.iter().filter(|own| own.flags.has(flag) && !own.longest().is_empty());
    rows.sum::<usize>() + own.map(|own| pair_len(&own.name, own.longest().len())).sum::<usize>()
}

/// Current length of the serverinfo, in bytes.
pub(super) fn shown_len(settings: &Settings) -> usize {
    settings.serverinfo().map(|(name, value)| pair_len(name, value.len())).sum()
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
