//! Entries of a recorded play: clients that load, and frames as changes of the frame before.

use super::super::{
    entities::Seen,
    observation::{Observation, SeenPlayer},
};
use crate::model::{
    ClientNum, EntityShared, EntityState, PlayerState,
    encoding::{Cursor, DecodeError, put_number, put_text, unzigzag, zigzag},
    limits::{MAX_CONFIGSTRINGS, MAX_ENTITIES},
};

/// Tags of entries.
const LOADING: u8 = 1;
const FRAME: u8 = 2;
/// Most players of a play.
const MAX_PLAYERS: usize = 64;
/// Most texts of a player or the game log in a frame.
const MAX_TEXTS: usize = 4096;

type SharedWords = [u32; size_of::<EntityShared>() / 4];

/// Entities by number: those of the frame, and the last states of the others.
#[derive(Clone, Debug)]
struct Table {
    states: Vec<Seen>,
    is_there: Vec<bool>,
}

impl Default for Table {
    fn default() -> Self {
        Self { states: vec![Seen::default(); MAX_ENTITIES], is_there: vec![false; MAX_ENTITIES] }
    }
}

/// Appends the words that differ: their number, then the gap and the difference of each.
fn put_changes(out: &mut Vec<u8>, old: &[u32], new: &[u32]) {
    let changed = || old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
    put_number(out, changed().count() as u64);
    let mut next = 0;
    for (at, (old, new)) in changed() {
        put_number(out, (at - next) as u64);
        put_number(out, zigzag(i64::from(new.wrapping_sub(*old) as i32)));
        next = at + 1;
    }
}

/// Applies the changes of [`put_changes`].
fn read_changes(from: &mut Cursor<'_>, words: &mut [u32]) -> Result<(), DecodeError> {
    let count: usize = from.small()?;
    let mut next = 0usize;
    for _ in 0..count {
        let gap: usize = from.small()?;
        let word = next.checked_add(gap).and_then(|at| words.get_mut(at)).ok_or("no such word")?;
        next += gap + 1;
        *word = word.wrapping_add(unzigzag(from.number()?) as u32);
    }
    Ok(())
}

fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_number(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

fn read_texts(from: &mut Cursor<'_>, texts: &mut Vec<String>) -> Result<(), DecodeError> {
    texts.clear();
    let count: usize = from.small()?;
    if count > MAX_TEXTS {
        return Err("too many texts");
    }
    for _ in 0..count {
        texts.push(from.text()?);
    }
    Ok(())
}

/// Writer of the entries of a play.
#[derive(Debug, Default)]
pub(in super::super) struct PlayWriter {
    pub(super) entries: Vec<u8>,
    /// Steps until all players of the start were in the level.
    pub(in super::super) join_steps: u64,
    /// Faults of the module.
    pub(in super::super) faults: u64,
    step: u64,
    loading: u64,
    frame: Observation,
    table: Table,
}

impl PlayWriter {
    fn start(&mut self, tag: u8, step: u64) {
        self.entries.push(tag);
        put_number(&mut self.entries, step - self.step);
        self.step = step;
    }

    /// Adds the clients that load at the start of a step, if they are others than before.
    pub(in super::super) fn loading(&mut self, step: u64, clients: u64) {
        if clients != self.loading {
            self.loading = clients;
            self.start(LOADING, step);
            put_number(&mut self.entries, clients);
        }
    }

    /// Adds a frame.
    pub(in super::super) fn frame(&mut self, step: u64, new: &Observation) {
        self.start(FRAME, step);
        let out = &mut self.entries;
        put_number(out, zigzag(i64::from(new.level_time) - i64::from(self.frame.level_time)));
        put_number(out, new.players.len() as u64);
        self.frame.players.resize(new.players.len(), SeenPlayer::default());
        for (old, new) in self.frame.players.iter_mut().zip(&new.players) {
            put_number(out, new.slot.map_or(0, |slot| slot.index() as u64 + 1));
            out.push(u8::from(new.state.is_some()));
            if let Some(state) = &new.state {
                put_changes(out, old.state.unwrap_or_default().words(), state.words());
            }
            *old = *new;
        }
        put_entities(out, &mut self.table, &new.entities);
        let texts = self.frame.configstrings.iter_mut().zip(&new.configstrings).enumerate();
        let changed: Vec<_> = texts.filter(|(_, (old, new))| old != new).collect();
        put_number(out, changed.len() as u64);
        for (index, (old, new)) in changed {
            put_number(out, index as u64);
            put_text(out, new);
            old.clone_from(new);
        }
        new.commands.iter().for_each(|texts| put_texts(out, texts));
        put_texts(out, &new.log);
        self.frame.level_time = new.level_time;
    }
}

/// Appends the entities that are gone, then those that are new or differ.
fn put_entities(out: &mut Vec<u8>, table: &mut Table, new: &[Seen]) {
    let mut is_there = vec![false; MAX_ENTITIES];
    new.iter().for_each(|entity| is_there[usize::from(entity.slot)] = true);
    let gone = |at: &usize| table.is_there[*at] && !is_there[*at];
    put_number(out, (0..MAX_ENTITIES).filter(gone).count() as u64);
    (0..MAX_ENTITIES).filter(gone).for_each(|at| put_number(out, at as u64));
    let changed = new.iter().filter(|entity| {
        let at = usize::from(entity.slot);
        !table.is_there[at] || table.states[at] != **entity
    });
    let changed: Vec<&Seen> = changed.collect();
    put_number(out, changed.len() as u64);
    for entity in changed {
        let old = &mut table.states[usize::from(entity.slot)];
        put_number(out, u64::from(entity.slot));
        put_changes(out, old.state.words(), entity.state.words());
        let [before, now]: [&SharedWords; 2] =
            [&old.shared, &entity.shared].map(bytemuck::cast_ref);
        put_changes(out, before, now);
        *old = *entity;
    }
    table.is_there = is_there;
}

/// Reader of the entries of a play.
#[derive(Debug)]
pub(in super::super) struct PlayReader {
    entries: Vec<u8>,
    /// Bytes of them that were read.
    at: usize,
    join_steps: u64,
    faults: u64,
    map: u32,
    /// Step of the last entry.
    step: u64,
    /// Clients that load.
    loading: u64,
    table: Table,
}

/// Returns the error of a damaged recording.
fn damaged(what: DecodeError) -> String {
    format!("recording is damaged: {what}")
}

impl PlayReader {
    pub(super) fn new(entries: Vec<u8>, join_steps: u64, faults: u64, map: u32) -> Self {
        let table = Table::default();
        Self { entries, at: 0, join_steps, faults, map, step: 0, loading: 0, table }
    }

    /// Steps until all players of the start were in the level.
    pub(in super::super) const fn join_steps(&self) -> u64 {
        self.join_steps
    }

    /// Faults of the module.
    pub(in super::super) const fn faults(&self) -> u64 {
        self.faults
    }

    /// Checks that the play has the map of the recording, which explains differences.
    pub(in super::super) fn check_map(&self, map: u32) -> Result<(), String> {
        if self.map == map {
            return Ok(());
        }
        Err("differences, and another map than in the recording; record the plays again".to_owned())
    }

    /// Reads the next entry if it has this tag and begins at this step.
    fn next<T>(
        &mut self,
        tag: u8,
        step: u64,
        read: impl FnOnce(&mut Self, &mut Cursor<'_>) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, String> {
        let entries = std::mem::take(&mut self.entries);
        let mut from = Cursor(&entries[self.at..]);
        let result = (|| {
            if from.0.first() != Some(&tag) {
                return Ok(None);
            }
            from.byte()?;
            let at = self.step.checked_add(from.number()?).ok_or("a number out of range")?;
            if at > step {
                return Ok(None);
            }
            if at < step {
                return Err("an entry of an earlier step");
            }
            let value = read(self, &mut from)?;
            self.step = at;
            self.at = entries.len() - from.0.len();
            Ok(Some(value))
        })();
        self.entries = entries;
        result.map_err(damaged)
    }

    /// Returns the clients that load at the start of a step.
    pub(in super::super) fn loading(&mut self, step: u64) -> Result<u64, String> {
        if let Some(clients) = self.next(LOADING, step, |_, from| from.number())? {
            self.loading = clients;
        }
        Ok(self.loading)
    }

    /// Reads the frame of a step. Returns false without one; the observation then has no texts.
    pub(in super::super) fn frame(
        &mut self,
        step: u64,
        seen: &mut Observation,
    ) -> Result<bool, String> {
        seen.commands.iter_mut().for_each(Vec::clear);
        seen.log.clear();
        let found = self.next(FRAME, step, |reader, from| read_frame(from, reader, seen))?;
        Ok(found.is_some())
    }

    /// Checks that all entries were read.
    pub(in super::super) fn end(&self) -> Result<(), String> {
        let left = self.entries.len() - self.at;
        if left == 0 { Ok(()) } else { Err(damaged("entries behind the end of the play")) }
    }
}

fn read_frame(
    from: &mut Cursor<'_>,
    reader: &mut PlayReader,
    seen: &mut Observation,
) -> Result<(), DecodeError> {
    let change = unzigzag(from.number()?) as i32;
    seen.level_time = seen.level_time.wrapping_add(change);
    let players: usize = from.small()?;
    if players > MAX_PLAYERS {
        return Err("too many players");
    }
    seen.players.resize(players, SeenPlayer::default());
    for player in &mut seen.players {
        let slot: usize = from.small()?;
        player.slot = match slot.checked_sub(1) {
            Some(number) => Some(ClientNum::new(number).ok_or("no such slot")?),
            None => None,
        };
        player.state = match from.byte()? {
            0 => None,
            _ => {
                let mut state: PlayerState = player.state.unwrap_or_default();
                read_changes(from, state.words_mut())?;
                Some(state)
            }
        };
    }
    read_entities(from, &mut reader.table)?;
    seen.entities.clear();
    let table = &reader.table;
    seen.entities.extend(
        table.states.iter().zip(&table.is_there).filter(|row| *row.1).map(|(entity, _)| *entity),
    );
    let changed: usize = from.small()?;
    for _ in 0..changed {
        let index: usize = from.small()?;
        let text = seen.configstrings.get_mut(index).filter(|_| index < MAX_CONFIGSTRINGS);
        *text.ok_or("no such configstring")? = from.text()?;
    }
    seen.commands.resize_with(players, Vec::new);
    for texts in &mut seen.commands {
        read_texts(from, texts)?;
    }
    read_texts(from, &mut seen.log)
}

fn read_entities(from: &mut Cursor<'_>, table: &mut Table) -> Result<(), DecodeError> {
    let gone: usize = from.small()?;
    for _ in 0..gone {
        let at: usize = from.small()?;
        *table.is_there.get_mut(at).ok_or("no such entity")? = false;
    }
    let changed: usize = from.small()?;
    for _ in 0..changed {
        let at: u16 = from.small()?;
        let Some(entity) = table.states.get_mut(usize::from(at)) else {
            return Err("no such entity");
        };
        entity.slot = at;
        let state: &mut [u32; EntityState::WORDS] = entity.state.words_mut();
        read_changes(from, state)?;
        let shared: &mut SharedWords = bytemuck::cast_mut(&mut entity.shared);
        read_changes(from, shared)?;
        table.is_there[usize::from(at)] = true;
    }
    Ok(())
}
