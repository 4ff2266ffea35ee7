//! State of a level: rules, names, settings, players, stats, baselines.
//!
//! Invariants: all lists are bounded by the limits of the protocol.
//! Source: QuakeWorld protocol 28, signon.

use super::{
    super::{
        bytes::Text,
        channel::MAX_MESSAGE_LEN,
        entities::EntityState,
        info::{self, Info},
        level::{MoveVars, NameList, ServerData},
    },
    event::ContentError,
};

/// Number of player slots.
pub const MAX_PLAYERS: usize = 32;
/// Number of stats.
pub const MAX_STATS: usize = 32;
/// Number of light styles.
pub const MAX_LIGHT_STYLES: usize = 64;
/// Maximum number of static entities and of static sounds.
const MAX_STATICS: usize = 512;
/// Maximum number of entities, with all extensions.
pub const MAX_ENTITIES: usize = 2048;
/// Maximum number of models, with extensions, and of sounds.
const MAX_NAMES: usize = 4096;

/// Player on the server, as all clients know him.
#[derive(Clone, Debug)]
pub struct Player {
    /// Number of the connection.
    pub user_id: i32,
    /// Settings; empty for a free slot.
    pub info: Info,
    /// Score.
    pub frags: i16,
    /// Round-trip time in ms.
    pub ping: i16,
    /// Loss in percent.
    pub loss: u8,
    /// Seconds on the server when they were sent.
    pub seconds: f32,
}

impl Default for Player {
    fn default() -> Self {
        let info = Info::new(MAX_MESSAGE_LEN);
        Self { user_id: 0, info, frags: 0, ping: 0, loss: 0, seconds: 0.0 }
    }
}

impl Player {
    /// Whether the slot is in use.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        !self.info.as_bytes().is_empty()
    }

    /// Whether the player is a spectator.
    #[must_use]
    pub fn is_spectator(&self) -> bool {
        self.info.get("*spectator").is_some_and(|value| value != b"0")
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.info.get("name").unwrap_or_default()
    }
}

/// State of a level.
#[derive(Debug)]
pub struct LevelState {
    /// Number of the level since the server's start.
    pub server_count: i32,
    /// Folder of the game.
    pub game_folder: Vec<u8>,
    /// Name of the level.
    pub level_name: Vec<u8>,
    /// Own slot.
    pub player: u8,
    /// Whether the client is a spectator.
    pub is_spectator: bool,
    /// Movement rules, with the player's own maximum speed and gravity.
    pub move_vars: MoveVars,
    /// Settings of the server.
    pub serverinfo: Info,
    /// Players by slot.
    pub players: [Player; MAX_PLAYERS],
    /// Stats of the viewed player.
    pub stats: [i32; MAX_STATS],
    /// Light styles.
    pub light_styles: [Vec<u8>; MAX_LIGHT_STYLES],
    /// Whether the game is paused.
    pub is_paused: bool,
    /// Whether the match is over and its scoreboard shown.
    pub is_intermission: bool,
    /// Names of models by number, from 1; the first is the map.
    models: Vec<Vec<u8>>,
    sounds: Vec<Vec<u8>>,
    baselines: Vec<EntityState>,
    statics: Vec<EntityState>,
    static_sounds: usize,
}

impl Default for LevelState {
    fn default() -> Self {
        Self {
            server_count: 0,
            game_folder: Vec::new(),
            level_name: Vec::new(),
            player: 0,
            is_spectator: false,
            move_vars: MoveVars::default(),
            serverinfo: Info::new(MAX_MESSAGE_LEN),
            players: std::array::from_fn(|_| Player::default()),
            stats: [0; MAX_STATS],
            light_styles: std::array::from_fn(|_| Vec::new()),
            is_paused: false,
            is_intermission: false,
            models: Vec::new(),
            sounds: Vec::new(),
            baselines: Vec::new(),
            statics: Vec::new(),
            static_sounds: 0,
        }
    }
}

impl LevelState {
    /// Creates the state at the start of a level. Players and settings come again.
    pub(super) fn new(data: &ServerData<'_>) -> Self {
        Self {
            server_count: data.server_count,
            game_folder: data.game_folder.bytes().to_vec(),
            level_name: data.level_name.bytes().to_vec(),
            player: data.player,
            is_spectator: data.is_spectator,
            move_vars: data.move_vars,
            ..Self::default()
        }
    }

    /// Returns the path of the map.
    #[must_use]
    pub fn map_path(&self) -> &[u8] {
        self.model(1)
    }

    /// Returns the name of a model; empty for an unknown number.
    #[must_use]
    pub fn model(&self, number: usize) -> &[u8] {
        number.checked_sub(1).and_then(|at| self.models.get(at)).map_or(&[], Vec::as_slice)
    }

    /// Returns the name of a sound; empty for an unknown number.
    #[must_use]
    pub fn sound(&self, number: usize) -> &[u8] {
        number.checked_sub(1).and_then(|at| self.sounds.get(at)).map_or(&[], Vec::as_slice)
    }

    /// Returns the static entities.
    #[must_use]
    pub fn statics(&self) -> &[EntityState] {
        &self.statics
    }

    /// Returns the first state of an entity.
    #[must_use]
    pub fn baseline(&self, entity: u16) -> EntityState {
        self.baselines.get(usize::from(entity)).copied().unwrap_or_default()
    }

    /// Returns a setting of the server as a number.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<i64> {
        info::number(self.serverinfo.as_bytes(), key)
    }

    pub(super) fn add_models(&mut self, list: NameList<'_>) -> Result<(), ContentError> {
        add_names(&mut self.models, list)
    }

    pub(super) fn add_sounds(&mut self, list: NameList<'_>) -> Result<(), ContentError> {
        add_names(&mut self.sounds, list)
    }

    pub(super) fn set_baseline(
        &mut self,
        entity: i32,
        state: EntityState,
    ) -> Result<(), ContentError> {
        let at = usize::try_from(entity).ok().filter(|at| *at < MAX_ENTITIES);
        let at = at.ok_or(ContentError::Entity(entity))?;
        if self.baselines.len() <= at {
            self.baselines.resize(at + 1, EntityState::default());
        }
        self.baselines[at] = state;
        Ok(())
    }

    pub(super) fn add_static(&mut self, state: EntityState) -> Result<(), ContentError> {
        if self.statics.len() >= MAX_STATICS {
            return Err(ContentError::Statics(MAX_STATICS));
        }
        self.statics.push(state);
        Ok(())
    }

    pub(super) const fn add_static_sound(&mut self) -> Result<(), ContentError> {
        self.static_sounds += 1;
        if self.static_sounds > MAX_STATICS {
            return Err(ContentError::Statics(MAX_STATICS));
        }
        Ok(())
    }

    pub(super) fn player_mut(&mut self, slot: u8) -> Result<&mut Player, ContentError> {
        self.players.get_mut(usize::from(slot)).ok_or(ContentError::Slot(slot))
    }

    pub(super) fn set_stat(&mut self, stat: u8, value: i32) -> Result<(), ContentError> {
        *self.stats.get_mut(usize::from(stat)).ok_or(ContentError::Stat(stat))? = value;
        Ok(())
    }

    pub(super) fn set_light_style(
        &mut self,
        style: u8,
        values: Text<'_>,
    ) -> Result<(), ContentError> {
        let place = self.light_styles.get_mut(usize::from(style));
        let place = place.ok_or(ContentError::Stat(style))?;
        place.clear();
        place.extend_from_slice(values.bytes());
        Ok(())
    }
}

/// Adds a part of a list. A repeated part replaces the same names.
fn add_names(names: &mut Vec<Vec<u8>>, list: NameList<'_>) -> Result<(), ContentError> {
    for (number, name) in list.iter() {
        let at = number - 1;
        if at >= MAX_NAMES || at > names.len() {
            return Err(ContentError::Names(number));
        }
        names.truncate(at);
        names.push(name.bytes().to_vec());
    }
    Ok(())
}
