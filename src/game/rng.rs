//! Random numbers: those of a level, and those that clients reproduce from the same seed (`Q_random`).
//!
//! Source of [`SharedRng`]: the generator that the base game's server and client share.

/// Random number generator of a level, deterministic by its seed.
#[derive(Debug, Default)]
pub(in crate::game) struct LevelRng {
    seed: u32,
}

impl LevelRng {
    pub(in crate::game) const fn new(seed: u32) -> Self {
        Self { seed }
    }

    /// Returns the next number of 16 bits.
    pub(in crate::game) const fn bits(&mut self) -> u32 {
        self.seed = self.seed.wrapping_mul(69_069).wrapping_add(1);
        self.seed >> 16
    }

    /// Returns the next number in `0..1`.
    pub(in crate::game) fn random(&mut self) -> f32 {
        self.bits() as f32 / 65_536.0
    }

    /// Returns the next number in `−1..1`.
    pub(in crate::game) fn crandom(&mut self) -> f32 {
        2.0 * (self.random() - 0.5)
    }

    /// Returns a random index below `count`; 0 for an empty list.
    pub(in crate::game) fn pick(&mut self, count: usize) -> usize {
        ((self.random() * count as f32) as usize).min(count.saturating_sub(1))
    }
}

/// Random number generator with the sequence of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) struct SharedRng(pub(in crate::game) i32);

impl SharedRng {
    /// Returns the next number in `0..1`.
    pub(in crate::game) fn random(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(69_069).wrapping_add(1);
        (self.0 & 0xffff) as f32 / 65_536.0
    }

    /// Returns the next number in `−1..1`.
    pub(in crate::game) fn crandom(&mut self) -> f32 {
        2.0 * (self.random() - 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rng_follows_documented_sequence() {
        let mut rng = SharedRng(0);
        let first = rng.random();
        assert_eq!((rng.0, first), (1, 1.0 / 65_536.0));
        assert_eq!(rng.crandom(), 2.0 * (3534.0 / 65_536.0 - 0.5));
        assert_eq!(rng.0, 69_070);
        let mut far = SharedRng(i32::MAX);
        assert!((-1.0..1.0).contains(&far.crandom()));
    }
}
