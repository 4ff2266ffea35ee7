//! Scene: all entities and players of one server frame, and the frame record that changes it.
//!
//! ```text
//! frame     time | players: { (gap·4 + how) + 1 | mask | values }* 0
//!           removed: { gap + 1 }* 0 | entities: { (gap·2 + new) + 1 | mask | values }* 0
//! ```
//!
//! A gap is the count of skipped numbers. A player that is not listed moved as predicted, and so did an
//! entity. New players start from zero, new entities from their baseline.
//!
//! Invariant: writer and reader hold the same words after each record.

use super::{
    format::{put_time, time},
    predict,
    words::{Columns, ENTITY_WORDS, EntityWords, PLAYER_WORDS, PlayerWords},
};
use crate::model::{
    Baselines, ClientNum, EntityNum, EntitySet, EntityState, LevelTime, PlayerState, SvFlags,
    encoding::{Cursor, DecodeError, put_number},
    limits::{MAX_CLIENTS, MAX_ENTITIES},
};

/// Changes of a player's presence.
mod how {
    pub(super) const CHANGED: u64 = 0;
    pub(super) const NEW: u64 = 1;
    pub(super) const GONE: u64 = 2;
}

/// An entity as the server has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneEntity<'a> {
    /// State that clients are sent.
    pub state: &'a EntityState,
    /// Flags that restrict its recipients.
    pub flags: SvFlags,
    /// Client of those flags.
    pub single_client: i32,
}

/// Columns of both structs.
#[derive(Clone, Debug)]
pub(super) struct Codec {
    player: Columns<PLAYER_WORDS>,
    entity: Columns<ENTITY_WORDS>,
}

impl Codec {
    pub(super) fn new() -> Self {
        Self { player: Columns::player(), entity: Columns::entity() }
    }

    /// Appends an entity as the difference to the zero state.
    pub(super) fn write_entity(&self, out: &mut Vec<u8>, words: &EntityWords) {
        let nothing = [0; ENTITY_WORDS];
        let changed = self.entity.changed(&nothing, words);
        self.entity.write_mask(out, changed);
        self.entity.write_values(out, changed, &nothing, words);
    }

    /// Reads an entity as the difference to the zero state.
    pub(super) fn read_entity(&self, from: &mut Cursor<'_>) -> Result<EntityState, DecodeError> {
        let mut words = [0; ENTITY_WORDS];
        let mask = self.entity.read_mask(from)?;
        self.entity.read_values(from, mask, &mut words)?;
        Ok(*entity_of(&words).state)
    }

    /// Columns of a playerstate.
    pub(super) fn player(&self) -> &Columns<PLAYER_WORDS> {
        &self.player
    }
}

/// All entities and players of one server frame.
#[derive(Clone, Debug)]
pub struct Scene {
    time: LevelTime,
    present: EntitySet,
    /// By number. Those that are not present are stale.
    entities: Vec<EntityWords>,
    /// Bit `n` for client `n`.
    playing: u64,
    players: Vec<PlayerWords>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            time: LevelTime(0),
            present: EntitySet::default(),
            entities: vec![[0; ENTITY_WORDS]; MAX_ENTITIES],
            playing: 0,
            players: vec![[0; PLAYER_WORDS]; MAX_CLIENTS],
        }
    }
}

impl Scene {
    /// Server time of the frame.
    #[must_use]
    pub fn time(&self) -> LevelTime {
        self.time
    }

    /// Entities of the frame.
    #[must_use]
    pub fn present(&self) -> &EntitySet {
        &self.present
    }

    /// Entities of the frame, ascending.
    pub fn entities(&self) -> impl Iterator<Item = (EntityNum, SceneEntity<'_>)> {
        self.present.iter().map(|number| (number, entity_of(&self.entities[number.index()])))
    }

    /// Returns the playerstate of a client that is in the game.
    #[must_use]
    pub fn player(&self, client: ClientNum) -> Option<&PlayerState> {
        self.player_words(client).map(bytemuck::must_cast_ref)
    }

    pub(super) fn player_words(&self, client: ClientNum) -> Option<&PlayerWords> {
        (self.playing >> client.index() & 1 != 0).then(|| &self.players[client.index()])
    }

    /// Clients that are in the game.
    pub fn clients(&self) -> impl Iterator<Item = ClientNum> + use<'_> {
        ClientNum::all().filter(|client| self.playing >> client.index() & 1 != 0)
    }

    pub(super) fn set_time(&mut self, time: LevelTime) {
        self.time = time;
    }

    /// Empties the scene, before a key frame.
    pub(super) fn clear(&mut self) {
        self.present = EntitySet::default();
        self.playing = 0;
    }

    /// Appends the record of a frame and changes the scene to it. `entities` ascend by number.
    pub(super) fn write<'a>(
        &mut self,
        codec: &Codec,
        out: &mut Vec<u8>,
        at: LevelTime,
        baselines: &Baselines,
        player: impl Fn(ClientNum) -> Option<PlayerState>,
        entities: impl Iterator<Item = (EntityNum, SceneEntity<'a>)> + Clone,
    ) {
        put_time(out, LevelTime(at.0.wrapping_sub(self.time.0)));
        let step_ms = at.0.wrapping_sub(self.time.0);
        self.time = at;
        self.write_players(codec, out, step_ms, player);
        self.write_entities(codec, out, baselines, entities);
    }

    fn write_players(
        &mut self,
        codec: &Codec,
        out: &mut Vec<u8>,
        step_ms: i32,
        player: impl Fn(ClientNum) -> Option<PlayerState>,
    ) {
        let mut next = 0;
        let mut place = |out: &mut Vec<u8>, client: ClientNum, how: u64| {
            put_number(out, ((client.index() - next) as u64 * 4 + how) + 1);
            next = client.index() + 1;
        };
        for client in ClientNum::all() {
            let bit = 1 << client.index();
            let was = self.playing & bit != 0;
            let Some(state) = player(client) else {
                if was {
                    place(out, client, how::GONE);
                    self.playing &= !bit;
                }
                continue;
            };
            let words = &mut self.players[client.index()];
            if !was {
                *words = [0; PLAYER_WORDS];
                self.playing |= bit;
            }
            let old = *words;
            predict::lead(words, step_ms);
            let lead = *words;
            // The prediction of the rest is made from the leading columns that are written.
            let leading = codec.player.changed_leading(words, state.words());
            let mut expected = *words;
            codec.player.copy(leading, state.words(), &mut expected);
            predict::follow(&mut expected, &old);
            let rest =
                codec.player.changed(&expected, state.words()) & !codec.player.leading_mask();
            // Words that are not sent are kept too, so that equal states are equal in memory.
            *words = *state.words();
            if was && leading | rest == 0 {
                continue;
            }
            place(out, client, if was { how::CHANGED } else { how::NEW });
            codec.player.write_mask(out, leading | rest);
            codec.player.write_values(out, leading, &lead, words);
            codec.player.write_values(out, rest, &expected, words);
        }
        out.push(0);
    }

    fn write_entities<'a>(
        &mut self,
        codec: &Codec,
        out: &mut Vec<u8>,
        baselines: &Baselines,
        entities: impl Iterator<Item = (EntityNum, SceneEntity<'a>)> + Clone,
    ) {
        let mut now = EntitySet::default();
        entities.clone().for_each(|(number, _)| now.insert(number));
        let mut next = 0;
        for number in self.present.iter().filter(|number| !now.contains(*number)) {
            put_number(out, (number.index() - next) as u64 + 1);
            next = number.index() + 1;
        }
        out.push(0);
        next = 0;
        for (number, entity) in entities {
            let is_new = !self.present.contains(number);
            let words = &mut self.entities[number.index()];
            if is_new {
                *words = fresh(number, baselines);
            }
            let client = number.index();
            if client < MAX_CLIENTS && self.playing >> client & 1 != 0 {
                predict::show(words, &self.players[client]);
            }
            let state = words_of(&entity);
            if *words == state && !is_new {
                continue;
            }
            let changed = codec.entity.changed(words, &state);
            put_number(out, ((number.index() - next) as u64 * 2 + u64::from(is_new)) + 1);
            next = number.index() + 1;
            codec.entity.write_mask(out, changed);
            codec.entity.write_values(out, changed, words, &state);
            *words = state;
        }
        out.push(0);
        self.present = now;
    }

    /// Reads the record of a frame.
    pub(super) fn read(
        &mut self,
        codec: &Codec,
        from: &mut Cursor<'_>,
        baselines: &Baselines,
    ) -> Result<(), DecodeError> {
        let step_ms = time(from)?.0;
        self.time = LevelTime(self.time.0.wrapping_add(step_ms));
        self.read_players(codec, from, step_ms)?;
        self.read_entities(codec, from, baselines)
    }

    fn read_players(
        &mut self,
        codec: &Codec,
        from: &mut Cursor<'_>,
        step_ms: i32,
    ) -> Result<(), DecodeError> {
        let mut next = 0;
        loop {
            let listed = listed(from, next, 4, MAX_CLIENTS)?;
            let (until, how) = listed.unwrap_or((MAX_CLIENTS, 0));
            for at in (next..until).filter(|at| self.playing >> at & 1 != 0) {
                let old = self.players[at];
                predict::lead(&mut self.players[at], step_ms);
                predict::follow(&mut self.players[at], &old);
            }
            if listed.is_none() {
                return Ok(());
            }
            next = until + 1;
            let bit = 1 << until;
            match (how, self.playing & bit != 0) {
                (how::CHANGED, true) => {}
                (how::NEW, false) => {
                    self.playing |= bit;
                    self.players[until] = [0; PLAYER_WORDS];
                }
                (how::GONE, true) => {
                    self.playing &= !bit;
                    continue;
                }
                _ => return Err("a change that does not fit the player"),
            }
            let words = &mut self.players[until];
            let old = *words;
            predict::lead(words, step_ms);
            let mask = codec.player.read_mask(from)?;
            let leading = codec.player.leading_mask();
            codec.player.read_values(from, mask & leading, words)?;
            predict::follow(words, &old);
            codec.player.read_values(from, mask & !leading, words)?;
        }
    }

    fn read_entities(
        &mut self,
        codec: &Codec,
        from: &mut Cursor<'_>,
        baselines: &Baselines,
    ) -> Result<(), DecodeError> {
        let mut next = 0;
        while let Some((at, _)) = listed(from, next, 1, MAX_ENTITIES)? {
            next = at + 1;
            let number = EntityNum::new(at).ok_or("an entity out of range")?;
            if !self.present.contains(number) {
                return Err("the removal of an entity that is absent");
            }
            self.present.remove(number);
        }
        next = 0;
        loop {
            let listed = listed(from, next, 2, MAX_ENTITIES)?;
            let (until, is_new) = listed.unwrap_or((MAX_ENTITIES, 0));
            for client in ClientNum::all().take(until).skip(next) {
                if self.present.contains(client.into()) && self.playing >> client.index() & 1 != 0 {
                    let at = client.index();
                    predict::show(&mut self.entities[at], &self.players[at]);
                }
            }
            if listed.is_none() {
                return Ok(());
            }
            next = until + 1;
            let number = EntityNum::new(until).ok_or("an entity out of range")?;
            if self.present.contains(number) == (is_new != 0) {
                return Err("a change that does not fit the entity");
            }
            self.present.insert(number);
            let words = &mut self.entities[until];
            if is_new != 0 {
                *words = fresh(number, baselines);
            }
            if until < MAX_CLIENTS && self.playing >> until & 1 != 0 {
                predict::show(words, &self.players[until]);
            }
            let mask = codec.entity.read_mask(from)?;
            codec.entity.read_values(from, mask, words)?;
        }
    }
}

/// Reads the next number of a list and what it says, one of `kinds`. `None` at the end.
pub(super) fn listed(
    from: &mut Cursor<'_>,
    next: usize,
    kinds: u64,
    limit: usize,
) -> Result<Option<(usize, u64)>, DecodeError> {
    let Some(code) = from.number()?.checked_sub(1) else { return Ok(None) };
    let number = usize::try_from(code / kinds).ok().and_then(|gap| gap.checked_add(next));
    let number = number.filter(|number| *number < limit).ok_or("a number out of range")?;
    Ok(Some((number, code % kinds)))
}

/// State of an entity that appears.
fn fresh(number: EntityNum, baselines: &Baselines) -> EntityWords {
    let index = number.index() as i32;
    let state = EntityState { number: index, ..*baselines.get(index) };
    words_of(&SceneEntity { state: &state, flags: SvFlags::default(), single_client: 0 })
}

fn words_of(entity: &SceneEntity<'_>) -> EntityWords {
    let mut words = [0; ENTITY_WORDS];
    words[..EntityState::WORDS].copy_from_slice(entity.state.words());
    words[EntityState::WORDS] = entity.flags.0 as u32;
    words[EntityState::WORDS + 1] = entity.single_client as u32;
    words
}

fn entity_of(words: &EntityWords) -> SceneEntity<'_> {
    let (state, server) = words.split_at(EntityState::WORDS);
    SceneEntity {
        state: bytemuck::must_cast_ref(
            state.first_chunk::<{ EntityState::WORDS }>().expect("all words"),
        ),
        flags: SvFlags(server[0] as i32),
        single_client: server[1] as i32,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// A frame: clients with a number that their states are made from, and entities likewise.
    type Told = (Vec<(usize, i32)>, Vec<(usize, i32)>);

    fn player(number: usize, seed: i32) -> PlayerState {
        let mut state = PlayerState {
            command_time: seed * 50,
            client_num: number as i32,
            weapon_time: seed % 700,
            ..PlayerState::default()
        };
        state.origin[0] = seed as f32 * 1.7;
        state.velocity[1] = (seed % 320) as f32;
        state.viewangles[1] = seed as f32 * 360.0 / 65_536.0;
        state.stats[0] = seed % 3 * 50;
        state
    }

    fn entity(number: usize, seed: i32) -> EntityState {
        let mut state =
            EntityState { number: number as i32, e_type: seed % 4, ..EntityState::default() };
        state.pos.base[2] = seed as f32 * -0.0;
        state.e_flags = seed << 12;
        state
    }

    proptest! {
        #[test]
        fn scene_of_reader_equals_that_of_writer(
            frames in vec((vec((0..64_usize, 1..2000), 0..12), vec((0..1022_usize, 1..2000), 0..20)), 1..6)
        ) {
            let frames: Vec<Told> = frames;
            let codec = Codec::new();
            let baselines = Baselines::new(vec![entity(7, 4), entity(300, 9)]);
            let (mut written, mut read) = (Scene::default(), Scene::default());
            for (at, (players, entities)) in frames.iter().enumerate() {
                let mut entities: Vec<_> =
                    entities.iter().map(|&(number, seed)| entity(number, seed)).collect();
                entities.sort_by_key(|entity| entity.number);
                entities.dedup_by_key(|entity| entity.number);
                let listed = entities.iter().map(|state| {
                    let number = EntityNum::new(state.number as usize).expect("a number");
                    (number, SceneEntity { state, flags: SvFlags(state.e_type), single_client: -1 })
                });
                let told = |client: ClientNum| {
                    let told = players.iter().find(|(number, _)| *number == client.index());
                    told.map(|&(number, seed)| player(number, seed))
                };
                let mut out = Vec::new();
                written.write(&codec, &mut out, LevelTime(at as i32 * 50), &baselines, told, listed);
                let mut cursor = Cursor(&out);
                prop_assert_eq!(read.read(&codec, &mut cursor, &baselines), Ok(()));
                prop_assert!(cursor.0.is_empty());
                prop_assert_eq!(read.time, written.time);
                for client in ClientNum::all() {
                    let expected = told(client);
                    prop_assert_eq!(read.player(client), expected.as_ref());
                }
                let states: Vec<_> = read.entities().map(|(_, entity)| *entity.state).collect();
                prop_assert_eq!(states, entities.clone());
            }
        }

        #[test]
        fn nothing_panics(bytes in vec(any::<u8>(), 0..200)) {
            let mut scene = Scene::default();
            let _ = scene.read(&Codec::new(), &mut Cursor(&bytes), &Baselines::default());
        }
    }
}
