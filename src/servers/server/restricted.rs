//! Entities that some clients are not sent, by their flags.
//!
//! Most are events of a fight: for one player, or for all but the player who predicts them. They are sorted into sets
//! when they appear, so that a viewer needs no loop over them.
//!
//! Invariant: the sets have the entities of the list and no others.
//!
//! Source: Quake III protocol 68, snapshot building. Engine names: `SVF_SINGLECLIENT`, `SVF_NOTSINGLECLIENT`,
//! `SVF_CLIENTMASK`.

use crate::model::{ClientNum, EntityNum, EntitySet, EntityShared, SvFlags, limits::MAX_CLIENTS};

/// Flags of entities that some clients are not sent.
const RESTRICTING: [SvFlags; 3] =
    [SvFlags::SINGLE_CLIENT, SvFlags::NOT_SINGLE_CLIENT, SvFlags::CLIENT_MASK];

/// Restricted entities of a frame.
#[derive(Debug)]
pub(super) struct RestrictedEntities {
    /// All of them, with their flags and `single_client`.
    all: Vec<Restriction>,
    /// Entities that only some clients are sent, and which of them each client is sent.
    exclusive: EntitySet,
    own: Box<[EntitySet; MAX_CLIENTS]>,
    /// Entities that each client alone is not sent.
    withheld: Box<[EntitySet; MAX_CLIENTS]>,
}

/// A restricted entity.
#[derive(Clone, Copy, Debug)]
struct Restriction {
    number: EntityNum,
    flags: SvFlags,
    single_client: i32,
}

impl Default for RestrictedEntities {
    fn default() -> Self {
        let nothing = || Box::new([const { EntitySet::EMPTY }; MAX_CLIENTS]);
        Self { all: Vec::new(), exclusive: EntitySet::EMPTY, own: nothing(), withheld: nothing() }
    }
}

impl RestrictedEntities {
    /// Adds an entity if it is restricted.
    pub(super) fn add(&mut self, number: EntityNum, shared: &EntityShared) {
        let EntityShared { sv_flags: flags, single_client, .. } = *shared;
        if !RESTRICTING.into_iter().any(|flag| flags.contains(flag)) {
            return;
        }
        let restriction = Restriction { number, flags, single_client };
        self.all.push(restriction);
        self.change(&restriction, EntitySet::insert);
    }

    /// Removes the entities of a set.
    pub(super) fn remove_all(&mut self, numbers: &EntitySet) {
        let mut all = std::mem::take(&mut self.all);
        all.retain(|restriction| {
            let is_removed = numbers.contains(restriction.number);
            if is_removed {
                self.change(restriction, EntitySet::remove);
            }
            !is_removed
        });
        self.all = all;
    }

    /// Puts an entity into its sets, or takes it out.
    fn change(&mut self, restriction: &Restriction, change: fn(&mut EntitySet, EntityNum)) {
        let Restriction { number, flags, single_client } = *restriction;
        let single = usize::try_from(single_client).ok().and_then(ClientNum::new);
        if flags.contains(SvFlags::CLIENT_MASK) {
            change(&mut self.exclusive, number);
            for client in ClientNum::all().filter(|&client| restriction.permits(Some(client))) {
                change(&mut self.own[client.index()], number);
            }
            return;
        }
        if flags.contains(SvFlags::SINGLE_CLIENT) {
            change(&mut self.exclusive, number);
            if let Some(client) = single {
                change(&mut self.own[client.index()], number);
            }
        }
        if flags.contains(SvFlags::NOT_SINGLE_CLIENT)
            && let Some(client) = single
        {
            change(&mut self.withheld[client.index()], number);
        }
    }

    /// Returns the entities that a viewer is not sent.
    pub(super) fn hidden_from(&self, viewer: Option<ClientNum>) -> EntitySet {
        let Some(viewer) = viewer else {
            let mut hidden = EntitySet::default();
            let denied = self.all.iter().filter(|restriction| !restriction.permits(None));
            denied.for_each(|restriction| hidden.insert(restriction.number));
            return hidden;
        };
        let mut hidden = self.exclusive.clone();
        hidden.remove_all(&self.own[viewer.index()]);
        hidden.add_all(&self.withheld[viewer.index()]);
        hidden
    }
}

impl Restriction {
    /// Whether a viewer is sent the entity.
    fn permits(&self, viewer: Option<ClientNum>) -> bool {
        let Self { flags, single_client: client, .. } = *self;
        let number = viewer.map_or(-1, |viewer| viewer.index() as i32);
        !(flags.contains(SvFlags::SINGLE_CLIENT) && client != number
            || flags.contains(SvFlags::NOT_SINGLE_CLIENT) && client == number
            || flags.contains(SvFlags::CLIENT_MASK) && !(0..32).contains(&number)
            || flags.contains(SvFlags::CLIENT_MASK) && client >> (number & 31) & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [SvFlags; 3] = RESTRICTING;

    #[test]
    fn flags_restrict_entities_to_clients() {
        let check = |flags: SvFlags, single_client, expected: [bool; 3]| {
            let number = EntityNum::new(70).unwrap();
            let restriction = Restriction { number, flags, single_client };
            let told = [0, 5, 40].map(|number| restriction.permits(ClientNum::new(number)));
            assert_eq!(told, expected, "{flags:?} {single_client}");
        };
        check(SvFlags::default(), 0, [true, true, true]);
        check(SvFlags::SINGLE_CLIENT, 5, [false, true, false]);
        check(SvFlags::NOT_SINGLE_CLIENT, 5, [true, false, true]);
        check(SvFlags::CLIENT_MASK, 0b10_0001, [true, true, false]);
        check(SvFlags::CLIENT_MASK, 0b1, [true, false, false]);
        check(SvFlags::BROADCAST, 0, [true, true, true]);
    }

    #[test]
    fn hidden_entities_are_those_that_flags_deny() {
        let mut restricted = RestrictedEntities::default();
        let mut expected = Vec::new();
        for (at, single_client) in [-1, 0, 5, 31, 40, 63, 64, i32::MIN].into_iter().enumerate() {
            for combination in 0..8 {
                let number = EntityNum::new(64 + 8 * at + combination).unwrap();
                let chosen =
                    FLAGS.into_iter().enumerate().filter(|(bit, _)| combination >> bit & 1 != 0);
                let flags = SvFlags(chosen.fold(0, |flags, (_, flag)| flags | flag.0));
                let shared =
                    EntityShared { sv_flags: flags, single_client, ..EntityShared::default() };
                restricted.add(number, &shared);
                expected.push(Restriction { number, flags, single_client });
            }
        }
        let viewers = || ClientNum::all().map(Some).chain([None]);
        for _ in 0..2 {
            for viewer in viewers() {
                let hidden = restricted.hidden_from(viewer);
                for restriction in &expected {
                    let told = (hidden.contains(restriction.number), viewer);
                    assert_eq!(told, (!restriction.permits(viewer), viewer), "{restriction:?}");
                }
            }
            // Again with every third entity.
            let mut removed = EntitySet::default();
            let gone = expected.iter().filter(|gone| gone.number.index() % 3 != 0);
            gone.for_each(|gone| removed.insert(gone.number));
            restricted.remove_all(&removed);
            for restriction in &mut expected {
                if removed.contains(restriction.number) {
                    restriction.flags = SvFlags::default();
                }
            }
        }
        restricted.remove_all(&EntitySet::ALL);
        assert!(viewers().all(|viewer| restricted.hidden_from(viewer).is_empty()));
    }
}
