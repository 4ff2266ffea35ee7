//! Accuracy: shots and hits by weapon.
//!
//! Source: the base game's accuracy; OpenArena's, which counts each weapon.

/// Number of weapon numbers that are counted.
const WEAPONS: usize = 16;
/// Weapon numbers in the order of OpenArena's `accs` command; hook and mines are sent as zero.
const TOLD: [i32; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 0, 13];

/// Shots and hits of one player on one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::game) struct Accuracy {
    shots: [u32; WEAPONS],
    hits: [u32; WEAPONS],
    /// Projectiles and bullets of all weapons.
    fired: u32,
}

impl Accuracy {
    /// Counts one shot of a weapon, with its number of projectiles.
    pub(in crate::game) fn fire(&mut self, weapon: i32, projectiles: usize) {
        if projectiles > 0 {
            count(&mut self.shots, weapon);
            self.fired = self.fired.saturating_add(projectiles as u32);
        }
    }

    /// Counts one hit of a weapon.
    pub(in crate::game) fn hit(&mut self, weapon: i32) {
        count(&mut self.hits, weapon);
    }

    /// Returns shots and hits of one weapon.
    pub(in crate::game) fn of(&self, weapon: i32) -> (u32, u32) {
        let at = usize::try_from(weapon).ok().filter(|&weapon| weapon < WEAPONS);
        at.map_or((0, 0), |weapon| (self.shots[weapon], self.hits[weapon]))
    }

    /// Returns the answer to OpenArena's command `acc`.
    pub(in crate::game) fn command(&self) -> String {
        let mut text = "accs ".to_owned();
        for (shots, hits) in TOLD.map(|weapon| self.of(weapon)) {
            text += &format!("{shots} {hits} ");
        }
        text
    }

    /// Returns the hits in percent of the projectiles.
    pub(in crate::game) fn percent(&self) -> i32 {
        let sum = |counts: &[u32]| counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        (sum(&self.hits) * 100)
            .checked_div(u64::from(self.fired))
            .map_or(0, |percent| percent.min(999) as i32)
    }
}

fn count(counts: &mut [u32; WEAPONS], weapon: i32) {
    let at = usize::try_from(weapon).ok().and_then(|weapon| counts.get_mut(weapon));
    if let Some(counted) = at {
        *counted = counted.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_counts_hits_in_percent_of_shots() {
        let mut accuracy = Accuracy::default();
        assert_eq!(accuracy.percent(), 0);
        for _ in 0..3 {
            accuracy.fire(2, 1);
        }
        accuracy.fire(11, 15);
        accuracy.fire(4, 0);
        accuracy.hit(2);
        accuracy.hit(99);
        assert_eq!(accuracy.percent(), 5);
        assert_eq!(accuracy.command(), "accs 3 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 ");
        assert_eq!((accuracy.of(2), accuracy.of(11), accuracy.of(-7)), ((3, 1), (1, 0), (0, 0)));
    }
}
