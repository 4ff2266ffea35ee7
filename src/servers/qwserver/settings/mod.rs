//! Settings of a QuakeWorld server: typed values, serverinfo, localinfo, config file.
//!
//! Invariants: every value is one that its row accepts; secrets never appear in texts.
//! Source: QuakeWorld protocol 28, serverinfo.

mod rows;

use thiserror::Error;
use toml::Value as TomlValue;

pub use rows::{ROWS, key};

use crate::{
    cvar::{Flags, GameFolder, Key, Setting, ValueError, Values},
    model::spelling::{did_you_mean, near_names},
    quakeworld::info::{Info, InfoError},
};

/// Longest serverinfo and localinfo.
const MAX_SERVERINFO_LEN: usize = 768;
/// Extensions of ZQuake that the server has.
///
/// They are move types, view height, server time, pitch limits, join and observe, on ground, solid.
pub const Z_EXTENSIONS: u32 = 1 | 2 | 4 | 8 | 16 | 32 | 64 | 256;
/// Bit of clients that change between player and spectator.
pub const Z_JOIN_OBSERVE: u32 = 32;
/// Text in place of a secret.
const HIDDEN: &str = "(hidden)";

/// Reasons to reject a change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No row of that name.
    #[error("unknown setting: {name}{hint}")]
    Unknown {
        /// Name.
        name: String,
        /// Names like it.
        hint: String,
    },
    /// The row does not accept the value.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Changed only at the start.
    #[error("{0} is set at the start only")]
    Init(&'static str),
    /// The info string does not take the pair.
    #[error("{key}: {error}")]
    Info {
        /// Key.
        key: String,
        /// Reason.
        error: InfoError,
    },
    /// The config file is not TOML.
    #[error("{0}")]
    Toml(String),
    /// The config file has a value of another type.
    #[error("{0}: expected a number, a text or a Boolean")]
    Type(String),
}

/// Effect of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Nothing beyond the value.
    Value,
    /// The value takes effect with the next map.
    Latched,
    /// A key of the serverinfo has a new value, which clients are told.
    Serverinfo(&'static str),
}

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Values,
    serverinfo: Info,
    localinfo: Info,
    is_started: bool,
    is_game_chosen: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let mut this = Self {
            values: Values::new(ROWS, GameFolder::BaseOa),
            serverinfo: Info::new(MAX_SERVERINFO_LEN),
            localinfo: Info::new(MAX_SERVERINFO_LEN),
            is_started: false,
            is_game_chosen: false,
        };
        for row in ROWS.iter().filter(|row| is_told(row)) {
            this.refresh(row);
        }
        this.tell("*version", concat!("fragd ", env!("CARGO_PKG_VERSION")));
        this.tell("*z_ext", &Z_EXTENSIONS.to_string());
        this
    }
}

/// Whether the serverinfo carries a setting.
fn is_told(row: &Setting) -> bool {
    flags(row).has(Flags::SERVERINFO) || rows::VARIANTS.contains(&row.name)
}

fn flags(row: &Setting) -> Flags {
    row.in_game(GameFolder::BaseOa).flags
}

impl Settings {
    /// Typed values.
    #[must_use]
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the serverinfo.
    #[must_use]
    pub fn serverinfo(&self) -> &[u8] {
        self.serverinfo.as_bytes()
    }

    /// Returns the info string that only the server sees.
    #[must_use]
    pub fn localinfo(&self) -> &[u8] {
        self.localinfo.as_bytes()
    }

    /// Fixes the game folder, whose files scripts come from.
    pub const fn choose_game(&mut self) {
        self.is_game_chosen = true;
    }

    /// Ends the start: settings of the start are fixed from now on.
    pub const fn begin(&mut self) {
        self.is_started = true;
    }

    /// Puts the values of the next map into the serverinfo.
    pub fn begin_map(&mut self) {
        for row in ROWS.iter().filter(|row| is_told(row) && flags(row).has(Flags::LATCHED)) {
            self.refresh(row);
        }
    }

    /// Sets a value by its name, without regard to case.
    ///
    /// # Errors
    /// See [`SettingsError`]. Nothing changes.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Changed, SettingsError> {
        let row = self.row(name)?;
        let is_fixed =
            self.is_started || self.is_game_chosen && row.name == key::GAMEDIR.setting().name;
        if is_fixed && flags(row).has(Flags::INIT) {
            return Err(SettingsError::Init(row.name));
        }
        let old = self.values.get(row.name).unwrap_or_default().to_owned();
        self.values.set(row.name, value)?;
        if self.is_started && flags(row).has(Flags::LATCHED) {
            return Ok(Changed::Latched);
        }
        if !is_told(row) {
            self.refresh_needpass();
            return Ok(Changed::Value);
        }
        if let Err(error) = self.set_told(row) {
            self.values.set(row.name, &old)?;
            return Err(error);
        }
        Ok(Changed::Serverinfo(row.name))
    }

    /// Shown value of a setting, with secrets hidden.
    ///
    /// # Errors
    /// Unknown name.
    pub fn shown(&self, name: &str) -> Result<(&'static Setting, &str), SettingsError> {
        let row = self.row(name)?;
        let value = self.values.get(row.name).unwrap_or_default();
        let is_hidden = flags(row).has(Flags::SECRET) && !value.is_empty();
        Ok((row, if is_hidden { HIDDEN } else { value }))
    }

    /// Sets a key of the serverinfo that is not a setting. An empty value removes it.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn set_serverinfo(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        self.serverinfo.set(key.as_bytes(), value.as_bytes()).map_err(|error| info(key, error))
    }

    /// Sets a key of the localinfo. An empty value removes it.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn set_localinfo(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        self.localinfo.set(key.as_bytes(), value.as_bytes()).map_err(|error| info(key, error))
    }

    /// Sets a key of the serverinfo that only the program sets.
    pub fn tell(&mut self, key: &str, value: &str) {
        if let Err(error) = self.serverinfo.set_any(key.as_bytes(), value.as_bytes()) {
            log::warn!("serverinfo {key} not set: {error}");
        }
    }

    /// Value of a password; `None` when it is not set.
    #[must_use]
    pub fn password(&self, key: Key<crate::cvar::Text>) -> Option<&str> {
        let text = self.values.text(key);
        (!text.is_empty() && text != "none").then_some(text)
    }

    /// Takes over the values of a config file in TOML. Tables group settings and have no other meaning.
    ///
    /// # Errors
    /// The first error, with the setting.
    pub fn read_config(&mut self, text: &str) -> Result<(), SettingsError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            SettingsError::Toml(error.to_string().trim_end().to_owned())
        })?;
        for (name, value) in &table {
            match value {
                TomlValue::Table(inner) => {
                    for (name, value) in inner {
                        self.set_toml(name, value)?;
                    }
                }
                value => self.set_toml(name, value)?,
            }
        }
        Ok(())
    }

    fn set_toml(&mut self, name: &str, value: &TomlValue) -> Result<(), SettingsError> {
        let text = match value {
            TomlValue::String(text) => text.clone(),
            TomlValue::Integer(number) => number.to_string(),
            TomlValue::Float(number) => number.to_string(),
            TomlValue::Boolean(flag) => u8::from(*flag).to_string(),
            _ => return Err(SettingsError::Type(name.to_owned())),
        };
        self.set(name, &text).map(drop)
    }

    fn row(&self, name: &str) -> Result<&'static Setting, SettingsError> {
        let row = self.values.row_named(name).map(|row| &ROWS[row]);
        row.ok_or_else(|| {
            let near = near_names(name, ROWS.iter().map(|row| row.name), 3);
            SettingsError::Unknown { name: shown(name), hint: did_you_mean(&near) }
        })
    }

    fn refresh(&mut self, row: &'static Setting) {
        if let Err(error) = self.set_told(row) {
            log::warn!("serverinfo not changed: {error}");
        }
    }

    fn set_told(&mut self, row: &'static Setting) -> Result<(), SettingsError> {
        let value = self.values.get(row.name).unwrap_or_default();
        // Clients assume 1 for `pm_ktjump`, and 0 for others, when they are absent.
        let is_left_out =
            value == "0" && !matches!(row.name, "pm_ktjump" | "deathmatch" | "teamplay");
        let value = if is_left_out { "" } else { value }.as_bytes().to_vec();
        let set = self.serverinfo.set_any(row.name.as_bytes(), &value);
        set.map_err(|error| info(row.name, error))
    }

    fn refresh_needpass(&mut self) {
        let bits = u8::from(self.password(key::PASSWORD).is_some())
            | u8::from(self.password(key::SPECTATOR_PASSWORD).is_some()) << 1;
        if self.values.int(key::NEEDPASS) != i32::from(bits) {
            // The row takes 0 to 3.
            let _ = self.values.set(key::NEEDPASS.setting().name, &bits.to_string());
            self.refresh(key::NEEDPASS.setting());
        }
    }
}

fn info(key: &str, error: InfoError) -> SettingsError {
    SettingsError::Info { key: shown(key), error }
}

fn shown(name: &str) -> String {
    crate::model::text::shown_name(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_announce_what_predicts_moves() {
        let settings = Settings::default();
        let value = |key| crate::quakeworld::info::value(settings.serverinfo(), key);
        assert_eq!(value("pm_ktjump"), Some(&b"0"[..]));
        assert_eq!(value("*z_ext"), Some(&b"383"[..]));
        assert_eq!(value("maxfps"), Some(&b"77"[..]));
        assert_eq!(value("rcon_password"), None);
        assert_eq!(value("pm_airstep"), None);
    }

    #[test]
    fn secrets_are_hidden_and_needpass_follows() {
        let mut settings = Settings::default();
        settings.set("Password", "sesame").unwrap();
        assert_eq!(settings.shown("password").unwrap().1, "(hidden)");
        assert_eq!(settings.values().int(key::NEEDPASS), 1);
        assert!(!settings.serverinfo().escape_ascii().to_string().contains("sesame"));
        settings.set("password", "none").unwrap();
        assert_eq!(settings.values().int(key::NEEDPASS), 0);
    }

    #[test]
    fn errors_name_setting_and_values() {
        let mut settings = Settings::default();
        let error = settings.set("hostnam", "x").unwrap_err().to_string();
        assert!(error.starts_with("unknown setting: hostnam"), "{error}");
        assert!(error.contains("hostname"), "{error}");
        let error = settings.set("maxclients", "33").unwrap_err().to_string();
        assert_eq!(error, "maxclients: invalid value \"33\" (expected an integer from 1 to 32)");
        assert!(settings.read_config("[server]\nmaxclients = [1]").is_err());
        settings.read_config("hostname = \"a\"\n[rules]\nfraglimit = 20").unwrap();
        assert_eq!(settings.values().int(key::FRAGLIMIT), 20);
        settings.begin();
        assert_eq!(settings.set("net_port", "1"), Err(SettingsError::Init("net_port")));
        assert_eq!(settings.set("pm_ktjump", "0.5"), Ok(Changed::Latched));
        let told = |settings: &Settings| {
            crate::quakeworld::info::value(settings.serverinfo(), "pm_ktjump").map(<[u8]>::to_vec)
        };
        assert_eq!(told(&settings), Some(b"0".to_vec()));
        settings.begin_map();
        assert_eq!(told(&settings), Some(b"0.5".to_vec()));
    }
}
