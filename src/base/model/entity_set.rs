//! A set of entities, a bit for each number.

use super::{EntityNum, limits::MAX_ENTITIES};

/// Words of a set.
const WORDS: usize = MAX_ENTITIES / 64;

/// A set of entities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntitySet([u64; WORDS]);

impl EntitySet {
    /// The empty set.
    pub const EMPTY: Self = Self([0; WORDS]);
    /// The set of all numbers.
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// The set of all numbers below a limit.
    #[must_use]
    pub fn below(limit: usize) -> Self {
        Self(std::array::from_fn(|place| {
            let bits = limit.saturating_sub(place * 64).min(64);
            if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
        }))
    }

    /// Returns the lowest number that is in it and not below a limit.
    #[must_use]
    pub fn first_from(&self, limit: usize) -> Option<EntityNum> {
        let mut place = limit / 64;
        let mut word = self.0.get(place)? & u64::MAX << (limit % 64);
        while word == 0 {
            place += 1;
            word = *self.0.get(place)?;
        }
        EntityNum::new(place * 64 + word.trailing_zeros() as usize)
    }

    /// The set of these bits, lowest number first.
    #[must_use]
    pub const fn of_words(words: [u64; WORDS]) -> Self {
        Self(words)
    }

    /// Its bits, lowest number first.
    #[must_use]
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Puts an entity in.
    pub fn insert(&mut self, number: EntityNum) {
        self.0[number.index() / 64] |= 1 << (number.index() % 64);
    }

    /// Takes an entity out.
    pub fn remove(&mut self, number: EntityNum) {
        self.0[number.index() / 64] &= !(1 << (number.index() % 64));
    }

    /// Whether an entity is in it.
    #[must_use]
    pub fn contains(&self, number: EntityNum) -> bool {
        self.0[number.index() / 64] >> (number.index() % 64) & 1 != 0
    }

    /// Number of entities in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Adds what is in another set.
    pub fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    /// Takes out what is in another set.
    pub fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
    }

    /// Takes out what is not in another set.
    pub fn keep_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }

    /// Takes out all but the `limit` lowest numbers.
    pub fn keep_lowest(&mut self, limit: usize) {
        if self.len() <= limit {
            // The usual case: the words are counted several at a time.
            return;
        }
        let mut left = limit;
        for word in &mut self.0 {
            while word.count_ones() as usize > left {
                *word &= !(1 << (63 - word.leading_zeros()));
            }
            left -= word.count_ones() as usize;
        }
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = EntityNum> {
        self.0.iter().enumerate().flat_map(|(place, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                EntityNum::new(place * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_entities_keep_the_lowest() {
        let mut set = EntitySet::default();
        let numbers = [0, 63, 64, 65, 200, 1023].map(|number| EntityNum::new(number).unwrap());
        numbers.into_iter().for_each(|number| set.insert(number));
        assert!(set.iter().eq(numbers));
        assert_eq!(set.len(), numbers.len());
        set.remove(numbers[2]);
        let mut other = EntitySet::default();
        other.insert(numbers[2]);
        other.add_all(&set);
        assert!(other.iter().eq(numbers));
        other.keep_lowest(4);
        assert!(other.iter().eq(numbers[..4].iter().copied()));
        other.keep_all(&set);
        assert!(other.iter().eq([numbers[0], numbers[1], numbers[3]]));
        let mut rest = set.clone();
        rest.remove_all(&other);
        assert!(rest.iter().eq([numbers[4], numbers[5]]));
        other.keep_lowest(1);
        assert!(other.iter().eq([numbers[0]]));
        other.keep_lowest(0);
        assert!(other.is_empty());
    }

    #[test]
    fn lowest_number_from_a_limit_is_found() {
        let mut set = EntitySet::default();
        let numbers = [5, 63, 64, 300, 1023].map(|number| EntityNum::new(number).unwrap());
        numbers.into_iter().for_each(|number| set.insert(number));
        for limit in 0..=1030 {
            let expected = numbers.into_iter().find(|number| number.index() >= limit);
            assert_eq!(set.first_from(limit), expected, "{limit}");
            assert_eq!(EntitySet::below(limit).len(), limit.min(1024));
            assert_eq!(EntitySet::below(limit).first_from(limit), None);
        }
        assert_eq!(EntitySet::below(1024), EntitySet::ALL);
    }
}
