//! Inputs derived from a recorded deathmatch of 17 players, varied by a seed.

use fragd::{
    model::{EntityState, PlayerState},
    wire::{
        field_tables::{ENTITY_68, PLAYER_68},
        fields::{FieldKind, FieldTable},
    },
};
use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};
use serde_json::Value;

use super::recorded_states::RecordedScene;

/// A state and what it becomes.
#[derive(Clone, Copy)]
pub(crate) struct Change<T> {
    pub(crate) from: T,
    pub(crate) to: T,
}

/// Recorded states and commands.
pub(crate) struct Recorded {
    /// Entities of players from one snapshot to the next.
    pub(crate) moving: Vec<Change<EntityState>>,
    /// Entities that were new in a snapshot, players and others, with their baselines.
    pub(crate) appearing: Vec<Change<EntityState>>,
    /// Every entity that was shown.
    pub(crate) shown: Vec<EntityState>,
    pub(crate) players: Vec<Change<PlayerState>>,
    /// Lines of the file.
    pub(crate) cases: Vec<Value>,
    random: Pcg64Mcg,
}

/// Entity type of a player.
const PLAYER: i32 = 1;

impl Recorded {
    pub(crate) fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/snapshots.jsonl");
        let file = std::fs::read_to_string(path).expect("the vectors are in the repository");
        let cases: Vec<Value> =
            file.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let mut recorded = Self {
            moving: Vec::new(),
            appearing: Vec::new(),
            shown: Vec::new(),
            players: Vec::new(),
            random: Pcg64Mcg::seed_from_u64(0x0dd_ba11),
            cases,
        };
        let is_recorded = |case: &&Value| {
            case["kind"] == "snapshot"
                && case["tag"].as_str().is_some_and(|tag| tag.starts_with("recorded"))
        };
        let scenes: Vec<_> =
            recorded.cases.iter().filter(is_recorded).map(RecordedScene::of).collect();
        for scene in scenes {
            recorded.add(&scene);
        }
        recorded
    }

    fn add(&mut self, scene: &RecordedScene) {
        for &to in &scene.new.1 {
            self.shown.push(to);
            let from = scene.old.1.iter().find(|old| old.number == to.number).copied();
            match from {
                Some(from) if from != to && to.e_type == PLAYER => {
                    self.moving.push(Change { from, to });
                }
                Some(_) => {}
                None => self.appearing.push(Change { from: *scene.baseline(to.number), to }),
            }
        }
        if !scene.old.1.is_empty() {
            self.players.push(Change { from: scene.old.0, to: scene.new.0 });
        }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.next_u32() as usize % limit
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: impl Fn(&Self) -> &[T]) -> T {
        let at = self.below(list(self).len());
        list(self)[at]
    }

    /// The same fields change, to other values.
    pub(crate) fn vary_entity(&mut self, change: &mut Change<EntityState>) {
        self.vary(&ENTITY_68, change.from.words(), change.to.words_mut());
    }

    /// The same fields change, to other values.
    pub(crate) fn vary_player(&mut self, change: &mut Change<PlayerState>) {
        self.vary(&PLAYER_68, change.from.words(), change.to.words_mut());
        for i in 0..16 {
            if change.from.stats[i] != change.to.stats[i] {
                change.to.stats[i] = self.below(200) as i32 - 20;
            }
            if change.from.ammo[i] != change.to.ammo[i] {
                change.to.ammo[i] = self.below(200) as i32;
            }
        }
    }

    fn vary<const W: usize>(&mut self, table: &FieldTable<W>, from: &[u32; W], to: &mut [u32; W]) {
        for field in table.fields {
            let word = table.word_of(field.name).expect("a field of this table");
            if from[word] == to[word] {
                continue;
            }
            let value = to[word];
            let random = self.random.next_u32();
            to[word] = match field.kind {
                // A whole number stays one, a fraction gets another.
                FieldKind::Float => match f32::from_bits(value) {
                    whole if whole.fract() == 0.0 => (whole + (random % 17) as f32 - 8.0).to_bits(),
                    _ => value ^ random & 0xfff,
                },
                // Times pass.
                FieldKind::Int(32) => value.wrapping_add(random % 500),
                FieldKind::Int(bits) | FieldKind::Signed(bits) if random.is_multiple_of(4) => {
                    (value ^ random >> 16) & ((1 << (bits - 1)) - 1)
                }
                FieldKind::Int(_) | FieldKind::Signed(_) | FieldKind::Axis => value,
            };
            if to[word] == from[word] {
                to[word] = value;
            }
        }
    }

    /// `count` entities of players on the move.
    pub(crate) fn moving_entities(&mut self, count: usize) -> Vec<Change<EntityState>> {
        (0..count)
            .map(|_| {
                let mut change = self.pick(|recorded| &recorded.moving);
                self.vary_entity(&mut change);
                change
            })
            .collect()
    }
}
