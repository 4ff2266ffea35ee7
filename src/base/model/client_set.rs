//! A set of clients, a bit for each number.

use super::{ClientNum, limits::MAX_CLIENTS};

const _: () = assert!(MAX_CLIENTS == u64::BITS as usize);

/// A set of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientSet(u64);

impl ClientSet {
    /// The set of all clients.
    pub const ALL: Self = Self(u64::MAX);

    /// The set of the clients for whom an array, by client number, says true.
    #[inline]
    #[must_use]
    pub fn of_flags(flags: &[bool; MAX_CLIENTS]) -> Self {
        let mut set = 0;
        for (at, eight) in flags.map(u8::from).as_chunks::<8>().0.iter().enumerate() {
            // The lowest bit of each byte moves to the top byte, the last one's to its top bit.
            let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            set |= bits << (at * 8);
        }
        Self(set)
    }

    /// Puts a client in.
    pub const fn insert(&mut self, client: ClientNum) {
        self.0 |= 1 << client.index();
    }

    /// Takes a client out.
    pub const fn remove(&mut self, client: ClientNum) {
        self.0 &= !(1 << client.index());
    }

    /// Whether a client is in it.
    #[must_use]
    pub const fn contains(self, client: ClientNum) -> bool {
        self.0 >> client.index() & 1 != 0
    }

    /// Returns the clients of this set that are not in another one.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the clients of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The clients, ascending.
    pub fn iter(self) -> impl Iterator<Item = ClientNum> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            ClientNum::new(bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_sets_hold_the_clients_put_in() {
        let [first, middle, last] = [0, 31, 63].map(|number| ClientNum::new(number).unwrap());
        let mut flags = [false; MAX_CLIENTS];
        (flags[0], flags[63]) = (true, true);
        let mut set = ClientSet::of_flags(&flags);
        assert!(set.iter().eq([first, last]));
        let ends = set;
        set.insert(middle);
        set.remove(last);
        assert!(set.iter().eq([first, middle]));
        assert_eq!((set.contains(middle), set.contains(last)), (true, false));
        assert!(set.without(ends).iter().eq([middle]));
        assert!(set.with(ends).iter().eq([first, middle, last]));
    }
}
