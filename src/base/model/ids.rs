//! Typed numbers: clients, entities, configstrings, sequences, challenges.

use std::fmt;

use super::limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS, MAX_ENTITIES};

macro_rules! bounded_id {
    ($(#[$doc:meta])* $name:ident($repr:ty) < $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            /// Returns the number, or `None` when it is out of range.
            #[must_use]
            pub const fn new(number: usize) -> Option<Self> {
                if number < $limit { Some(Self(number as $repr)) } else { None }
            }

            /// Returns the number as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Iterates over all numbers in range, ascending.
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
    /// Client slot, `0..64`. Also the number of the player's entity.
    ClientNum(u8) < MAX_CLIENTS
}
bounded_id! {
    /// Entity number, `0..1024`. The last two are reserved.
    EntityNum(u16) < MAX_ENTITIES
}
bounded_id! {
    /// Configstring index, `0..1024`.
    ConfigIndex(u16) < MAX_CONFIGSTRINGS
}

impl ClientNum {
    /// The first slot.
    pub const FIRST: Self = Self(0);
}

impl EntityNum {
    /// The world, as ground entity or attacker.
    pub const WORLD: Self = Self(1022);
    /// No entity; on the wire also the end of an entity list.
    pub const NONE: Self = Self(1023);

    /// Returns the client of a player's entity.
    #[must_use]
    pub const fn client(self) -> Option<ClientNum> {
        ClientNum::new(self.index())
    }
}

impl From<ClientNum> for EntityNum {
    fn from(client: ClientNum) -> Self {
        Self(u16::from(client.0))
    }
}

impl ConfigIndex {
    /// Serverinfo, written by the server only.
    pub const SERVERINFO: Self = Self(0);
    /// Systeminfo, written by the server only.
    pub const SYSTEMINFO: Self = Self(1);

    /// Creates an index known at compile time; out of range does not compile in a `const`.
    #[must_use]
    pub const fn at(number: u16) -> Self {
        assert!((number as usize) < MAX_CONFIGSTRINGS);
        Self(number)
    }
}

/// Sequence number of a netchan message, 31 bits, from 1 on; 0 means "none yet". The highest bit of
/// its word on the wire is a flag and never part of the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u32);

impl Sequence {
    /// Mask of the number's bits.
    pub const MASK: u32 = 0x7fff_ffff;

    /// Returns the next number; 0 follows the highest.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1) & Self::MASK)
    }

    /// Returns `self - other` by the shorter way around, negative when `self` is older.
    #[must_use]
    pub const fn distance(self, other: Self) -> i32 {
        // Shifted left, the 31-bit difference gets its sign from its own highest bit.
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
    /// Returns the next number.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Returns `self - other`, negative when `self` is older. These numbers do not wrap.
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

/// Challenge: proves an address and is part of the connection's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Challenge(pub i32);

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Id chosen by a client at start, by which it keeps its connection after NAT rebinding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qport(pub u16);

impl fmt::Display for Qport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Level and restart that a client message belongs to. Positive and increasing.
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
    fn ids_out_of_range_are_rejected() {
        assert_eq!(ClientNum::new(63).map(ClientNum::index), Some(63));
        assert_eq!(ClientNum::new(64), None);
        assert_eq!(EntityNum::new(1023), Some(EntityNum::NONE));
        assert_eq!(EntityNum::new(1024), None);
        assert_eq!(ConfigIndex::new(1024), None);
    }

    #[test]
    fn entities_below_64_are_players() {
        assert!(ClientNum::all().all(|client| EntityNum::from(client).client() == Some(client)));
        assert_eq!(
            [EntityNum(64), EntityNum::WORLD, EntityNum::NONE].map(EntityNum::client),
            [None; 3]
        );
    }

    #[test]
    fn sequences_compare_by_difference_across_wrap() {
        assert_eq!(Sequence(5).distance(Sequence(9)), -4);
        assert_eq!(Sequence(2).distance(Sequence(Sequence::MASK)), 3);
        assert_eq!(Sequence(Sequence::MASK).distance(Sequence(2)), -3);
        assert_eq!(Sequence(Sequence::MASK).next(), Sequence(0));
        assert_eq!(Sequence(0x3fff_ffff).distance(Sequence(0)), 0x3fff_ffff);
        assert_eq!(Sequence(0x4000_0000).distance(Sequence(0)), -0x4000_0000);
    }
}
