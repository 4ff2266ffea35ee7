//! Numbers with names: each identifies one kind of thing, and none can be passed for another.

use std::fmt;

use super::limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS, MAX_ENTITIES};

macro_rules! bounded_id {
    ($(#[$doc:meta])* $name:ident($repr:ty) < $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            /// The number, or `None` when it is out of range.
            #[must_use]
            pub const fn new(number: usize) -> Option<Self> {
                if number < $limit { Some(Self(number as $repr)) } else { None }
            }

            /// The number as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Every number in range, ascending.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> {
                (0..$limit).map(|number| Self(number as $repr))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

bounded_id! {
    /// A player slot, `0..64`. Also the number of the player's entity.
    ClientNum(u8) < MAX_CLIENTS
}
bounded_id! {
    /// An entity, `0..1024`. The last two are no real entity.
    EntityNum(u16) < MAX_ENTITIES
}
bounded_id! {
    /// A configstring's place, `0..1024`.
    ConfigIndex(u16) < MAX_CONFIGSTRINGS
}

impl EntityNum {
    /// The world itself, as something to stand on or be killed by.
    pub const WORLD: Self = Self(1022);
    /// No entity; on the wire also the end of an entity list.
    pub const NONE: Self = Self(1023);
}

impl From<ClientNum> for EntityNum {
    fn from(client: ClientNum) -> Self {
        Self(u16::from(client.0))
    }
}

impl ConfigIndex {
    /// Serverinfo: written by the engine only.
    pub const SERVERINFO: Self = Self(0);
    /// Systeminfo: written by the engine only.
    pub const SYSTEMINFO: Self = Self(1);

    /// A place known at compile time; out of range does not compile in a `const`.
    #[must_use]
    pub const fn at(number: u16) -> Self {
        assert!((number as usize) < MAX_CONFIGSTRINGS);
        Self(number)
    }
}

/// Number of a netchan message, 31 bits, from 1 on; 0 means "none yet". The highest bit of the word
/// it travels in says something else, so it is never part of the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u32);

impl Sequence {
    /// The bits that are the number.
    pub const MASK: u32 = 0x7fff_ffff;

    /// The number after this one; after the highest comes 0.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1) & Self::MASK)
    }

    /// `self - other` by the shorter way around, negative when `self` is older.
    #[must_use]
    pub const fn distance(self, other: Self) -> i32 {
        // Shifted up, the 31-bit difference takes its sign from its own highest bit.
        ((self.0.wrapping_sub(other.0) << 1) as i32) >> 1
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Number of a reliable command of one direction, from 1 on; 0 means "none yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandNum(pub i32);

impl CommandNum {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// `self - other`, negative when `self` is older. These numbers do not go around.
    #[must_use]
    pub const fn distance(self, other: Self) -> i64 {
        self.0 as i64 - other.0 as i64
    }
}

impl fmt::Display for CommandNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The number that proves an address, and keys the connection it opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Challenge(pub i32);

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The number a client chooses at start, so that a router that changes its port does not end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qport(pub u16);

impl fmt::Display for Qport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Which level, and which restart of it, a client message is about. Positive and growing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub i32);

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_do_not_exist() {
        assert_eq!(ClientNum::new(63).map(ClientNum::index), Some(63));
        assert_eq!(ClientNum::new(64), None);
        assert_eq!(EntityNum::new(1023), Some(EntityNum::NONE));
        assert_eq!(EntityNum::new(1024), None);
        assert_eq!(ConfigIndex::new(1024), None);
    }

    #[test]
    fn sequences_are_compared_by_their_difference() {
        assert_eq!(Sequence(5).distance(Sequence(9)), -4);
        assert_eq!(Sequence(2).distance(Sequence(Sequence::MASK)), 3);
        assert_eq!(Sequence(Sequence::MASK).distance(Sequence(2)), -3);
        assert_eq!(Sequence(Sequence::MASK).next(), Sequence(0));
        assert_eq!(Sequence(0x3fff_ffff).distance(Sequence(0)), 0x3fff_ffff);
        assert_eq!(Sequence(0x4000_0000).distance(Sequence(0)), -0x4000_0000);
    }
}
