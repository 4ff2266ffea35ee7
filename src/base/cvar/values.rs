//! Current value of every row, read by typed keys.
//!
//! Invariant: `values[row]` belongs to `rows[row]`, and the row accepts it.

use std::net::{IpAddr, SocketAddr};

use super::{
    Address, Choice, Endpoint, Flag, Flags, Float, GameFolder, Int, Key, Networks, Setting, Text,
    Value, ValueError,
};

/// Current value of every row of a table.
#[derive(Clone, Debug)]
pub struct Values {
    game: GameFolder,
    rows: &'static [Setting],
    values: Vec<Value>,
}

impl Values {
    /// The defaults of `game`.
    #[must_use]
    pub fn new(rows: &'static [Setting], game: GameFolder) -> Self {
        Self { game, rows, values: rows.iter().map(|row| default_value(row, game)).collect() }
    }

    /// The game whose defaults and flags apply.
    #[must_use]
    pub fn game(&self) -> GameFolder {
        self.game
    }

    /// Value of an integer setting.
    #[must_use]
    pub fn int(&self, key: Key<Int>) -> i32 {
        self.values[key.row()].int
    }

    /// Value of a flag.
    #[must_use]
    pub fn flag(&self, key: Key<Flag>) -> bool {
        self.values[key.row()].int != 0
    }

    /// Value of a number, finite.
    #[must_use]
    pub fn float(&self, key: Key<Float>) -> f32 {
        self.values[key.row()].float
    }

    /// Value of a text setting.
    #[must_use]
    pub fn text(&self, key: Key<Text>) -> &str {
        &self.values[key.row()].text
    }

    /// Value of a setting with a list of words.
    #[must_use]
    pub fn choice<C: Choice>(&self, key: Key<C>) -> C {
        C::ALL[self.values[key.row()].int as usize]
    }

    /// Value of an address to bind.
    #[must_use]
    pub fn address(&self, key: Key<Address>) -> IpAddr {
        self.values[key.row()].text.parse().expect("checked when it was set")
    }

    /// Value of an address and port to listen on; `None` for an empty one.
    #[must_use]
    pub fn endpoint(&self, key: Key<Endpoint>) -> Option<SocketAddr> {
        let text = &self.values[key.row()].text;
        (!text.is_empty()).then(|| text.parse().expect("checked when it was set"))
    }

    /// Value of a list of networks.
    #[must_use]
    pub fn networks(&self, key: Key<Networks>) -> &Networks {
        &self.values[key.row()].networks
    }

    /// Name and text of the settings whose changes are announced to players, in the order of the table.
    pub fn announced(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let rows = self.rows.iter().zip(&self.values);
        rows.filter(|(row, _)| row.in_game(self.game).flags.has(Flags::ANNOUNCED))
            .map(|(row, value)| (row.name, value.text.as_str()))
    }

    /// Index of a row by its name, case-insensitive.
    #[must_use]
    pub fn row_named(&self, name: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.name.eq_ignore_ascii_case(name))
    }

    /// Text of a value by its name, case-insensitive.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.row_named(name).map(|row| self.values[row].text.as_str())
    }

    /// Sets a value by name, ignoring the flags of its row. False for an unknown name.
    ///
    /// # Errors
    /// When the row does not accept the value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<bool, ValueError> {
        let Some(row) = self.row_named(name) else { return Ok(false) };
        let setting = &self.rows[row];
        let flags = setting.in_game(self.game).flags;
        self.values[row] = Value::parse(setting.name, &setting.kind, flags, text)?;
        Ok(true)
    }

    pub(crate) fn value(&self, row: usize) -> &Value {
        &self.values[row]
    }

    /// Replaces the value of a row, and returns the old one.
    pub(crate) fn replace(&mut self, row: usize, value: Value) -> Value {
        std::mem::replace(&mut self.values[row], value)
    }

    /// Changes the game. Rows that `keeps` rejects take its defaults.
    pub(crate) fn change_game(&mut self, game: GameFolder, keeps: impl Fn(usize) -> bool) {
        self.game = game;
        for (at, row) in self.rows.iter().enumerate().filter(|&(at, _)| !keeps(at)) {
            self.values[at] = default_value(row, game);
        }
    }
}

/// The default of a row, parsed.
fn default_value(setting: &Setting, game: GameFolder) -> Value {
    let column = setting.in_game(game);
    Value::parse(setting.name, &setting.kind, column.flags, column.default)
        .expect("rows accept their defaults")
}
