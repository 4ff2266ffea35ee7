//! Comparison of the entities that clients can see, paired by meaning.
//!
//! Numbers of entities depend on the order of their creation, and equal numbers prove nothing. Players are paired by
//! number, other entities with the nearest one of their type, model and event.

use super::fields::{self, FieldDifference};
use crate::{
    bg::{EntityType, Event},
    model::{EntityNum, EntityShared, EntityState, SvFlags, Vec3, limits::MAX_CLIENTS},
    server::{Server, entity_of},
};

/// Bits of an entity type that count events.
const EVENT_COUNT: i32 = 0x300;
/// Entities farther apart than this are not the same, in units.
const NEAR: f32 = 64.0;

/// An entity that clients can see.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Its place in the list of the server.
    pub(super) slot: u16,
    pub(super) state: EntityState,
    /// Its compared fields; the others are 0.
    pub(super) shared: EntityShared,
}

/// Stores the linked entities of a server that are sent to any client, in the order of their numbers.
pub(super) fn seen(server: &Server, list: &mut Vec<Seen>) {
    list.clear();
    for number in EntityNum::all() {
        let Some(entity) = entity_of(server, number) else { continue };
        let (state, shared) = (entity.state, entity.shared);
        if shared.is_linked() && !shared.sv_flags.contains(SvFlags::NO_CLIENT) {
            let slot = number.index() as u16;
            list.push(Seen { slot, state: *state, shared: compared(shared) });
        }
    }
}

/// Returns the fields that are compared.
fn compared(shared: &EntityShared) -> EntityShared {
    EntityShared {
        sv_flags: shared.sv_flags,
        single_client: shared.single_client,
        bmodel: i32::from(shared.bmodel != 0),
        mins: shared.mins,
        maxs: shared.maxs,
        contents: shared.contents,
        current_origin: shared.current_origin,
        current_angles: shared.current_angles,
        owner_num: shared.owner_num,
        ..EntityShared::default()
    }
}

impl Seen {
    fn number(self) -> i32 {
        self.state.number
    }

    fn is_player(self) -> bool {
        (0..MAX_CLIENTS as i32).contains(&self.state.number)
    }

    fn place(self) -> Vec3 {
        self.shared.current_origin
    }

    /// Type, model and event: entities with different ones are never paired.
    fn kind(self) -> (i32, i32) {
        let state = &self.state;
        let is_temp = state.e_type >= EntityType::Events as i32;
        (state.e_type & !EVENT_COUNT, if is_temp { state.e_type } else { state.modelindex })
    }

    /// Name of its type.
    pub(super) fn name(self) -> String {
        let number = self.state.e_type & !EVENT_COUNT;
        if let Ok(kind) = EntityType::try_from(number)
            && kind != EntityType::Events
        {
            return format!("{kind:?}").to_lowercase();
        }
        match Event::try_from(number - EntityType::Events as i32) {
            Ok(event) => format!("temp {event:?}"),
            Err(_) => format!("type {number}"),
        }
    }

    fn text(self) -> String {
        let place = self.place().0;
        let EntityState { number, modelindex, event, event_parm, .. } = self.state;
        format!("{number} at {place:?} model {modelindex} event {event} parm {event_parm}")
    }
}

/// Compares two lists. `found` receives kind, place and both values; `missing` is `-`.
pub(super) fn compare(
    native: &[Seen],
    module: &[Seen],
    mut found: impl FnMut(&str, &str, &str, &str),
) {
    let mut left: Vec<Seen> = module.to_vec();
    let mut alone = Vec::new();
    let mut pairs = Vec::new();
    for entity in native {
        let same = |other: &Seen| entity.is_player() && other.number() == entity.number();
        match left.iter().position(same) {
            Some(at) => pairs.push((*entity, left.swap_remove(at))),
            None => alone.push(*entity),
        }
    }
    for entity in alone {
        let distance = |other: &Seen| (other.place() - entity.place()).length();
        let candidates = (0..left.len()).filter(|&at| {
            let other = left[at];
            !entity.is_player()
                && !other.is_player()
                && other.kind() == entity.kind()
                && distance(&other) < NEAR
        });
        // Of several at one place, that with the most equal fields; then the order of their numbers.
        let unequal = |other: &Seen| {
            let words = entity.state.words().iter().zip(other.state.words());
            words.filter(|(a, b)| a != b).count()
        };
        let rank = |other: &Seen| (unequal(other), other.number());
        let nearest = candidates.min_by(|&a, &b| {
            let [a, b] = [a, b].map(|at| &left[at]);
            distance(a).total_cmp(&distance(b)).then_with(|| rank(a).cmp(&rank(b)))
        });
        match nearest {
            Some(at) => pairs.push((entity, left.swap_remove(at))),
            None => found(&format!("{} only native", entity.name()), "", &entity.text(), "-"),
        }
    }
    for entity in left {
        found(&format!("{} only module", entity.name()), "", "-", &entity.text());
    }
    for (native, module) in pairs {
        compare_pair(native, module, &mut found);
    }
}

fn compare_pair(native: Seen, module: Seen, found: &mut impl FnMut(&str, &str, &str, &str)) {
    let (name, place) = (native.name(), format!("entity {}", native.number()));
    fields::compare_words(
        fields::ENTITY,
        native.state.words(),
        module.state.words(),
        |FieldDifference { name: field, native, module }| {
            found(&format!("{name}.{field}"), &place, &native, &module);
        },
    );
    let shared = [native.shared, module.shared];
    let numbers = [
        ("sv_flags", shared.map(|shared| shared.sv_flags.0)),
        ("single_client", shared.map(|shared| shared.single_client)),
        ("contents", shared.map(|shared| shared.contents)),
        ("bmodel", shared.map(|shared| shared.bmodel)),
        ("owner_num", shared.map(|shared| shared.owner_num)),
    ];
    for (field, [native, module]) in numbers {
        if native != module {
            let (native, module) = (native.to_string(), module.to_string());
            found(&format!("{name}.shared.{field}"), &place, &native, &module);
        }
    }
    let vectors = [
        ("mins", shared.map(|shared| shared.mins)),
        ("maxs", shared.map(|shared| shared.maxs)),
        ("current_origin", shared.map(|shared| shared.current_origin)),
        ("current_angles", shared.map(|shared| shared.current_angles)),
    ];
    for (field, [native, module]) in vectors {
        if native != module {
            let [native, module] = [native, module].map(|vector| format!("{:?}", vector.0));
            found(&format!("{name}.shared.{field}"), &place, &native, &module);
        }
    }
}
