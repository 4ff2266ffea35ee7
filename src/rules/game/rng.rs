//! Random numbers: those of a level, and those that clients reproduce from the same seed (`Q_random`).
//!
//! Source of [`SharedRng`]: the generator that the base game's server and client share.

/// Random number generator of a level, deterministic by its seed.
#[derive(Debug, Default)]
pub(in crate::game) struct LevelRng {
    seed: u32,
    /// Value of every random number, of 15 bits.
    fixed: Option<u16>,
}

/// Largest number of the generator of game modules.
const MODULE_MAX: u16 = 0x7fff;

impl LevelRng {
    pub(in crate::game) const fn new(seed: u32) -> Self {
        Self { seed, fixed: None }
    }

    /// Makes every number the one that a game module makes of `value`. Two sets of rules then agree on numbers, even
    /// if one draws more of them.
    pub(in crate::game) fn with_fixed(self, value: Option<u16>) -> Self {
        Self { fixed: value.map(|value| value & MODULE_MAX), ..self }
    }

    /// Returns the next number of 16 bits.
    pub(in crate::game) const fn bits(&mut self) -> u32 {
        if let Some(value) = self.fixed {
            return value as u32;
        }
        self.seed = self.seed.wrapping_mul(69_069).wrapping_add(1);
        self.seed >> 16
    }

    /// Returns the next number in `0..1`.
    pub(in crate::game) fn random(&mut self) -> f32 {
        match self.fixed {
            Some(value) => f32::from(value) / f32::from(MODULE_MAX),
            None => self.bits() as f32 / 65_536.0,
        }
    }

    /// Returns the next number in `−1..1`.
    pub(in crate::game) fn crandom(&mut self) -> f32 {
        2.0 * (self.random() - 0.5)
    }

    /// Returns a random index below `count`; 0 for an empty list.
    pub(in crate::game) fn pick(&mut self, count: usize) -> usize {
        match self.fixed {
            Some(value) => usize::from(value) % count.max(1),
            None => ((self.random() * count as f32) as usize).min(count.saturating_sub(1)),
        }
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
    fn fixed_rng_repeats_number_of_module() {
        let mut rng = LevelRng::new(7).with_fixed(Some(9001));
        assert_eq!((rng.random(), rng.random()), (9001.0 / 32_767.0, 9001.0 / 32_767.0));
        assert_eq!((rng.pick(4), rng.pick(0), rng.bits()), (1, 0, 9001));
    }

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
