//! Things that a player touched in a move, each once, in the order of the touches.

/// Maximum number of touches of a move: two ground traces and two slides of four collisions.
const MAX_TOUCHED: usize = 10;

/// List of touched things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    things: [u8; MAX_TOUCHED],
    len: u8,
}

impl Touched {
    /// Appends a thing that is not in the list.
    pub(super) fn add(&mut self, thing: usize) {
        let len = usize::from(self.len);
        let thing = thing as u8;
        if len < MAX_TOUCHED && !self.things[..len].contains(&thing) {
            self.things[len] = thing;
            self.len += 1;
        }
    }

    /// Indexes of the things; 0 is the world.
    pub fn things(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.things[..usize::from(self.len)].iter().map(|&thing| usize::from(thing))
    }
}
