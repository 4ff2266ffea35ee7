//! Random numbers that clients reproduce from the same seed (`Q_random`).
//!
//! Source: the generator that the base game's server and client share.

/// A seed, and the numbers that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) struct Chance(pub(in crate::game) i32);

impl Chance {
    /// The next number, from 0 up to 1.
    pub(in crate::game) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(69_069).wrapping_add(1);
        (self.0 & 0xffff) as f32 / 65_536.0
    }

    /// The next number, from −1 up to 1.
    pub(in crate::game) fn both_ways(&mut self) -> f32 {
        2.0 * (self.unit() - 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_followed_by_the_documented_one() {
        let mut chance = Chance(0);
        let first = chance.unit();
        assert_eq!((chance.0, first), (1, 1.0 / 65_536.0));
        assert_eq!(chance.both_ways(), 2.0 * (3534.0 / 65_536.0 - 0.5));
        assert_eq!(chance.0, 69_070);
        let mut far = Chance(i32::MAX);
        assert!((-1.0..1.0).contains(&far.both_ways()));
    }
}
