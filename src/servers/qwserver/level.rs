//! Running level: map, rules, lists of models and sounds, signon, entities that clients see.
//!
//! Invariants: at most 256 models and 256 sounds; entities ascend by number from 33; a level starts completely or
//! not at all.
//! Source: QuakeWorld protocol 28, signon.

use std::sync::Arc;

use thiserror::Error;

use super::{
    files::GameFiles,
    settings::{Settings, key},
    view::LeafList,
};
use crate::{
    bsp29::{
        Bsp29, Bsp29Error, MAX_FILE_LEN,
        compiler::{FRAGQW1, fragqw1},
    },
    model::{
        Millis, Vec3,
        assets::{AssetError, Assets},
    },
    quakeworld::{
        EntityState, Extensions, ServerMessage,
        bytes::{Angle, Writer, round_coord},
        channel::MIN_MESSAGE_LIMIT,
        level::{MoveVars, PlainState},
    },
    qwgame::{
        EntityView, QuakeWorldGame,
        level::{Level as QuakeLevel, LevelError},
        movement,
    },
};

/// Maximum number of models.
const MAX_MODELS: usize = 256;
/// Longest piece of the signon.
const SIGNON_PIECE: usize = 1024;
/// Model of players, which `playerinfo` leaves out.
const PLAYER_MODEL: &str = "progs/player.mdl";
/// Number of light styles.
pub(super) const LIGHT_STYLES: usize = 64;

/// Sounds by their numbers, from 1.
pub(super) const SOUNDS: [&str; 9] = [
    "player/plyrjmp8.wav",
    "player/land2.wav",
    "player/pain1.wav",
    "player/lburn1.wav",
    "player/drown1.wav",
    "player/death1.wav",
    "player/teledth1.wav",
    "misc/r_tele1.wav",
    "misc/talk.wav",
];

/// Number of a sound.
pub(super) const fn sound_number(name: &str) -> u8 {
    let mut at = 0;
    while at < SOUNDS.len() {
        if is_same(SOUNDS[at].as_bytes(), name.as_bytes()) {
            return at as u8 + 1;
        }
        at += 1;
    }
    0
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    if a.len() != b.len() {
        return false;
    }
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Reasons why a map does not start.
#[derive(Debug, Error)]
pub enum MapError {
    /// Invalid name.
    #[error("map name invalid: \"{0}\"")]
    Name(String),
    /// Missing or unreadable file.
    #[error("map {name} not loaded: {error}")]
    File {
        /// Name.
        name: String,
        /// Reason.
        error: AssetError,
    },
    /// File that is not a valid map.
    #[error("map file {path} invalid: {error}")]
    Map {
        /// File.
        path: String,
        /// Reason.
        error: Box<Bsp29Error>,
    },
    /// Entities that the rules do not take.
    #[error("map file {path} invalid: {error}")]
    Entities {
        /// File.
        path: String,
        /// Reason.
        error: LevelError,
    },
    /// More submodels than clients know.
    #[error("map file {path} has too many models: {count} (max {MAX_MODELS})")]
    Models {
        /// File.
        path: String,
        /// Number of models.
        count: usize,
    },
}

/// Entity that clients see.
#[derive(Debug)]
pub(super) struct Visible {
    pub(super) number: u16,
    pub(super) state: EntityState,
    pub(super) leafs: LeafList,
    /// Center of its box, for the distance.
    pub(super) center: Vec3,
}

/// A running level.
pub(super) struct Level {
    pub(super) name: String,
    /// Name that clients show.
    pub(super) title: Vec<u8>,
    pub(super) map: Arc<Bsp29>,
    pub(super) game: Box<dyn QuakeWorldGame>,
    /// Number of the level since the server's start.
    pub(super) server_count: i32,
    /// Models by their numbers, from 1.
    pub(super) models: Vec<String>,
    /// Number of the model that `playerinfo` leaves out.
    pub(super) player_model: u16,
    /// Pieces of statics and baselines.
    pub(super) signon: Vec<Vec<u8>>,
    pub(super) baselines: Vec<(u16, EntityState)>,
    pub(super) entities: Vec<Visible>,
    pub(super) vars: MoveVars,
    pub(super) music: u8,
    pub(super) started: Millis,
    pub(super) physics_at: Millis,
    /// Time of the level, in seconds, since which there are players: the time limit counts from it.
    pub(super) populated_since: f64,
    /// Whether a limit of the match is reached: the scoreboard is shown.
    pub(super) is_over: bool,
    pub(super) over_at: Millis,
    /// Time of the pause, of a paused level.
    pub(super) paused_at: Option<Millis>,
    pub(super) files: GameFiles,
    views: Vec<EntityView>,
}

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Level").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the baseline of an entity, of a list that ascends by number.
pub(super) fn baseline(baselines: &[(u16, EntityState)], number: u16) -> EntityState {
    let at = baselines.binary_search_by_key(&number, |(number, _)| *number);
    at.map_or_else(|_| EntityState::default(), |at| baselines[at].1)
}

/// Returns a state as clients know it from its baseline, which has eighths of a unit.
fn sent_baseline(state: EntityState) -> EntityState {
    EntityState { origin: state.origin.map(round_coord), ..state }
}

/// Whether a word may be the name of a map.
pub(super) fn is_map_name(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(&byte);
    (1..=48).contains(&name.len()) && !name.contains("..") && name.bytes().all(is_legal)
}

/// Returns the file of a map: that of the game data, else the one in the program.
fn map_file(name: &str, path: &str, assets: &dyn Assets) -> Result<(Vec<u8>, bool), MapError> {
    match assets.read(path, MAX_FILE_LEN as u64) {
        Ok(bytes) => Ok((bytes, false)),
        Err(AssetError::Missing { .. }) if name == FRAGQW1 => Ok((fragqw1(), true)),
        Err(error) => Err(MapError::File { name: name.to_owned(), error }),
    }
}

impl Level {
    /// Loads a map and starts its level.
    ///
    /// # Errors
    /// See [`MapError`].
    pub(super) fn start(
        name: &str,
        assets: &dyn Assets,
        settings: &Settings,
        server_count: i32,
        now: Millis,
    ) -> Result<Self, MapError> {
        if !is_map_name(name) {
            return Err(MapError::Name(crate::model::text::shown_name(name.as_bytes())));
        }
        let path = format!("maps/{name}.bsp");
        let (bytes, is_embedded) = map_file(name, &path, assets)?;
        let map = Bsp29::load(&bytes)
            .map_err(|error| MapError::Map { path: path.clone(), error: Box::new(error) })?;
        for warning in map.warnings() {
            log::warn!("map {name}: {warning}");
        }
        let entities = |error| MapError::Entities { path: path.clone(), error };
        let all = map.entities().map_err(|error| entities(LevelError::from(error)))?;
        let world = all.all().first();
        let title = world.and_then(|world| world.field("message")).unwrap_or(name);
        let (title, music) = (latin(title), world.and_then(|world| world.field("sounds")));
        let music = music.and_then(|track| track.parse().ok()).unwrap_or(0);
        let map = Arc::new(map);
        let moves = move_vars(settings);
        let game = QuakeLevel::new(&path, Arc::clone(&map), moves).map_err(entities)?;
        let models: Vec<String> = game.models().iter().map(ToString::to_string).collect();
        if models.len() >= MAX_MODELS {
            return Err(MapError::Models { path, count: models.len() });
        }
        let player_model = models.iter().position(|name| name == PLAYER_MODEL);
        let player_model = player_model.map_or(0, |at| at as u16 + 1);
        let embedded = is_embedded.then(|| (path, Arc::from(bytes)));
        let files = GameFiles::new(embedded, &models, &SOUNDS);
        let mut level = Self {
            name: name.to_owned(),
            title,
            map,
            game: Box::new(game),
            server_count,
            player_model,
            models,
            signon: Vec::new(),
            baselines: Vec::new(),
            entities: Vec::new(),
            vars: told_vars(&moves),
            music,
            started: now,
            physics_at: now,
            populated_since: 0.0,
            is_over: false,
            over_at: now,
            paused_at: None,
            files,
            views: Vec::new(),
        };
        level.update_entities();
        level.baselines =
            level.entities.iter().map(|one| (one.number, sent_baseline(one.state))).collect();
        level.write_signon();
        Ok(level)
    }

    /// Moves what clients see to the places of the rules.
    pub(super) fn update_entities(&mut self) {
        let Self { views, entities, map, game, .. } = self;
        views.clear();
        game.entities(views);
        entities.truncate(views.len());
        for (at, view) in views.iter().enumerate() {
            let model = view.map_model.and_then(|model| map.models().get(model));
            let (low, high) = model.map_or((Vec3::ZERO, Vec3::ZERO), |model| model.grown_box());
            let (low, high) = (low + view.origin, high + view.origin);
            if entities.len() == at {
                entities.push(Visible {
                    number: view.number,
                    state: EntityState::default(),
                    leafs: LeafList::default(),
                    center: Vec3::ZERO,
                });
            }
            let entity = &mut entities[at];
            entity.number = view.number;
            entity.state = EntityState {
                model: view.look.model,
                frame: view.look.frame,
                colormap: view.look.colormap,
                skin: view.look.skin,
                effects: view.look.effects,
                alpha: 0,
                origin: view.origin.0,
                angles: view.angles.0.map(Angle::from_degrees),
            };
            entity.center = (low + high) * 0.5;
            entity.leafs.find(map, low, high);
        }
    }

    /// Seconds since the start of the level, without pauses.
    pub(super) fn seconds(&self, now: Millis) -> f64 {
        self.paused_at.unwrap_or(now).since(self.started).0 as f64 / 1000.0
    }

    /// Whether nothing moves: paused or over.
    pub(super) const fn is_still(&self) -> bool {
        self.is_over || self.paused_at.is_some()
    }

    fn write_signon(&mut self) {
        let mut piece = Vec::new();
        for (number, state) in &self.baselines {
            let mut writer = Writer::new(&mut piece, MIN_MESSAGE_LIMIT, Extensions::NONE);
            writer.write(&ServerMessage::SpawnBaseline {
                entity: number.cast_signed(),
                state: PlainState::from(state),
            });
            if piece.len() > SIGNON_PIECE {
                self.signon.push(std::mem::take(&mut piece));
            }
        }
        // The last piece may be empty: it asks the client to continue.
        self.signon.push(piece);
    }
}

/// Returns a text of the map in bytes.
fn latin(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| *byte >= b' ').take(64).collect()
}

fn move_vars(settings: &Settings) -> movement::MoveVars {
    let values = settings.values();
    movement::MoveVars {
        gravity: values.float(key::SV_GRAVITY),
        stop_speed: values.float(key::SV_STOPSPEED),
        max_speed: values.float(key::SV_MAXSPEED),
        spectator_max_speed: values.float(key::SV_SPECTATORMAXSPEED),
        accelerate: values.float(key::SV_ACCELERATE),
        air_accelerate: values.float(key::SV_AIRACCELERATE),
        water_accelerate: values.float(key::SV_WATERACCELERATE),
        friction: values.float(key::SV_FRICTION),
        water_friction: values.float(key::SV_WATERFRICTION),
        entity_gravity: 1.0,
        variants: movement::MoveVariants {
            bunny_speed_cap: values.float(key::PM_BUNNYSPEEDCAP),
            kt_jump: values.float(key::PM_KTJUMP),
            slide_fix: values.flag(key::PM_SLIDEFIX),
            air_step: values.flag(key::PM_AIRSTEP),
            predict_ground: values.flag(key::PM_PGROUND),
        },
    }
}

const fn told_vars(vars: &movement::MoveVars) -> MoveVars {
    MoveVars {
        gravity: vars.gravity,
        stop_speed: vars.stop_speed,
        max_speed: vars.max_speed,
        spectator_max_speed: vars.spectator_max_speed,
        accelerate: vars.accelerate,
        air_accelerate: vars.air_accelerate,
        water_accelerate: vars.water_accelerate,
        friction: vars.friction,
        water_friction: vars.water_friction,
        ent_gravity: vars.entity_gravity,
    }
}

/// Pattern of a light style, a letter per 0.1 s from dark `a` to bright `z`; empty without one.
pub(super) fn light_style(style: usize) -> &'static str {
    const STYLES: [&str; 12] = [
        // Normal, flickering, slow pulse, candle, fast strobe, gentle pulse.
        "m",
        "mnmmlmnnmmkmmnmlmm",
        "bdfhjlnprtvxzxvtrpnljhfdb",
        "mmmmaammmmabcdefmmmaam",
        "mamamamamama",
        "ijklmnoponmlkji",
        // Flickering, candle, candle, slow strobe, fluorescent, slow pulse without darkness.
        "nmmnommnmmlmnmonmm",
        "mmmaaammmabcdmmmmaaaamm",
        "mmmaabcdefmmmmaammmmmabcd",
        "aaaaaaaazzzzzzzz",
        "mmamammmmamammamamaaamammma",
        "fghijklmnonmlkjihgf",
    ];
    match style {
        0..12 => STYLES[style],
        63 => "a",
        _ => "",
    }
}
