//! Areas and area portals: closed doors hide the area behind them.
//!
//! Each pair of areas counts its open portals. Areas connected by open portals, directly or through others,
//! form one group. Invariants: counts never go below zero; groups are correct after every change. There are at
//! most 256 areas, so a change costs a bounded walk over their table.
//!
//! Source: the engine's area portals, which doors create at run time; map files list none. Engine names:
//! `CM_AdjustAreaPortalState`, `CM_AreasConnected`.

use thiserror::Error;

use crate::model::limits::MAX_AREA_BYTES;

use super::bsp::{AreaNum, MAX_AREAS, TableIndex};

const _: () = assert!(MAX_AREA_BYTES * 8 == MAX_AREAS);

/// Open state of the area portals of a running level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    count: usize,
    /// Open portals of each pair of areas, row by row.
    open: Vec<u16>,
    /// Group of each area: the lowest area that it is connected to.
    groups: Vec<u16>,
}

/// Errors of an area portal change. The game has lost count of its doors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AreaPortalError {
    /// Closed once more than opened.
    #[error("area portal {0}–{1} closed more often than opened")]
    Shut(AreaNum, AreaNum),
    /// Opened more often than the counter can hold.
    #[error("too many open doors between areas {0} and {1}")]
    Overflow(AreaNum, AreaNum),
    /// Not an area of this map.
    #[error("area {0} is not on this map")]
    NoSuchArea(AreaNum),
}

impl Areas {
    /// Areas of a map, 256 at most, with every portal closed.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let count = count.min(MAX_AREAS);
        Self { count, open: vec![0; count * count], groups: (0..count as u16).collect() }
    }

    /// Number of areas.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Number of the area with this index, if the map has it.
    #[must_use]
    pub fn number(&self, index: usize) -> Option<AreaNum> {
        (index < self.count).then(|| AreaNum::from_checked(index))
    }

    /// Opens or closes an area portal. A portal without a second area changes nothing.
    ///
    /// # Errors
    ///
    /// Rejects unknown areas and counts out of range. Nothing is changed then.
    pub fn set_portal(
        &mut self,
        first: Option<AreaNum>,
        second: Option<AreaNum>,
        open: bool,
    ) -> Result<(), AreaPortalError> {
        let Some((first, second)) = first.zip(second) else {
            return Ok(());
        };
        for area in [first, second] {
            if area.index() >= self.count {
                return Err(AreaPortalError::NoSuchArea(area));
            }
        }
        let [place, mirrored] = [(first, second), (second, first)]
            .map(|(row, column)| row.index() * self.count + column.index());
        let doors = self.open[place];
        let doors = if open {
            doors.checked_add(1).ok_or(AreaPortalError::Overflow(first, second))?
        } else {
            doors.checked_sub(1).ok_or(AreaPortalError::Shut(first, second))?
        };
        self.open[place] = doors;
        self.open[mirrored] = doors;
        self.flood();
        Ok(())
    }

    /// Whether two areas are connected. No area is connected to nothing, not even to itself.
    #[must_use]
    pub fn connected(&self, first: Option<AreaNum>, second: Option<AreaNum>) -> bool {
        let group = |area: AreaNum| self.groups.get(area.index());
        match (first.and_then(group), second.and_then(group)) {
            (Some(first), Some(second)) => first == second,
            _ => false,
        }
    }

    fn flood(&mut self) {
        const NONE: u16 = u16::MAX;
        self.groups.fill(NONE);
        let mut joined = Vec::with_capacity(self.count);
        for first in 0..self.count {
            if self.groups[first] != NONE {
                continue;
            }
            self.groups[first] = first as u16;
            joined.push(first);
            while let Some(area) = joined.pop() {
                let doors = &self.open[area * self.count..][..self.count];
                for (other, _) in doors.iter().enumerate().filter(|(_, doors)| **doors > 0) {
                    if self.groups[other] == NONE {
                        self.groups[other] = first as u16;
                        joined.push(other);
                    }
                }
            }
        }
    }
}

/// Areas visible in a snapshot, collected from one or more viewpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleAreas {
    seen: [u8; MAX_AREA_BYTES],
    len: usize,
}

impl VisibleAreas {
    /// Returns an empty set for these areas.
    #[must_use]
    pub const fn new(areas: &Areas) -> Self {
        Self { seen: [0; MAX_AREA_BYTES], len: areas.count.div_ceil(8) }
    }

    /// Adds the areas that are visible from a viewpoint. A viewpoint without an area sees all.
    pub fn add(&mut self, areas: &Areas, viewer: Option<AreaNum>) {
        let Some(viewer) = viewer else {
            self.seen = [0xff; MAX_AREA_BYTES];
            return;
        };
        for area in 0..areas.count {
            if areas.connected(Some(viewer), areas.number(area)) {
                self.seen[area / 8] |= 1 << (area % 8);
            }
        }
    }

    /// Returns the area bytes of a snapshot, in which a set bit hides its area.
    #[must_use]
    pub fn hidden(&self) -> ([u8; MAX_AREA_BYTES], usize) {
        (self.seen.map(|byte| !byte), self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: usize) -> Option<AreaNum> {
        Areas::new(MAX_AREAS).number(number)
    }

    #[test]
    fn open_doors_connect_areas_transitively() {
        let mut areas = Areas::new(5);
        areas.set_portal(at(3), at(0), true).unwrap();
        areas.set_portal(at(3), at(4), true).unwrap();
        assert!(areas.connected(at(0), at(4)) && areas.connected(at(2), at(2)));
        assert!(!areas.connected(at(1), at(4)) && !areas.connected(None, None));
        areas.set_portal(at(0), at(3), true).unwrap();
        areas.set_portal(at(3), at(0), false).unwrap();
        assert!(areas.connected(at(0), at(4)), "one of two doors is still open");
        areas.set_portal(at(3), at(0), false).unwrap();
        assert!(!areas.connected(at(0), at(4)));
    }

    #[test]
    fn miscounted_doors_are_rejected_without_change() {
        let mut areas = Areas::new(2);
        let before = areas.clone();
        assert_eq!(
            areas.set_portal(at(0), at(1), false),
            Err(AreaPortalError::Shut(at(0).unwrap(), at(1).unwrap()))
        );
        assert_eq!(
            areas.set_portal(at(0), at(2), true),
            Err(AreaPortalError::NoSuchArea(at(2).unwrap()))
        );
        assert_eq!(areas.set_portal(None, at(1), false), Ok(()));
        assert_eq!(areas, before);
        for _ in 0..u16::MAX {
            areas.open[1] = u16::MAX;
        }
        assert!(matches!(areas.set_portal(at(0), at(1), true), Err(AreaPortalError::Overflow(..))));
    }

    #[test]
    fn area_mask_hides_areas_out_of_reach_of_viewpoints() {
        let mut areas = Areas::new(10);
        areas.set_portal(at(1), at(9), true).unwrap();
        let mut mask = VisibleAreas::new(&areas);
        mask.add(&areas, at(9));
        let (hidden, len) = mask.hidden();
        assert_eq!((len, hidden[0], hidden[1], hidden[2]), (2, !0b10, !0b10, 0xff));
        mask.add(&areas, at(0));
        assert_eq!(mask.hidden().0[..2], [!0b11, !0b10]);
        mask.add(&areas, None);
        assert_eq!(mask.hidden().0, [0; MAX_AREA_BYTES]);
    }
}
