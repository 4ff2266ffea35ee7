//! Entities that a player touched in a move, each once, in the order of the touches.

/// Maximum number of touches of a move: two ground traces and two slides of four collisions.
const MAX_TOUCHED: usize = 10;

/// List of touched entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    entities: [u8; MAX_TOUCHED],
    len: u8,
}

impl Touched {
    /// Appends a entity that is not in the list.
    pub(super) fn add(&mut self, entity: usize) {
        let len = usize::from(self.len);
        let entity = entity as u8;
        if len < MAX_TOUCHED && !self.entities[..len].contains(&entity) {
            self.entities[len] = entity;
            self.len += 1;
        }
    }

    /// Indexes of the entities; 0 is the world.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.entities[..usize::from(self.len)].iter().map(|&entity| usize::from(entity))
    }
}
