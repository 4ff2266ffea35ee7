//! Blocks: planes that cut every map, so that leafs stay small.
//!
//! The key `_blocksize` of worldspawn sets their size: one number for all axes, or three; 0 for no blocks along an
//! axis. By default blocks are 1024 wide and not limited in height; they grow with maps that are wider than eight of them.

use super::{
    diagnostic::Findings,
    map_file::{Entity, Pair},
    planes::{Plane, Planes},
    vector::{Bounds, Vector},
};

/// Keys of the size; compilers know all three.
const KEYS: [&str; 3] = ["_blocksize", "blocksize", "chopsize"];
/// Smallest size by default.
const DEFAULT: f64 = 1024.0;
/// Maximum blocks along an axis by default.
const DEFAULT_BLOCKS: f64 = 8.0;
/// Smallest size.
const MIN: f64 = 64.0;
/// Largest size: beyond any map.
const MAX: f64 = 262_144.0;

/// Size of blocks along each axis; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Blocks([f64; 3]);

impl Blocks {
    /// Returns the blocks of a map. An unusable value is reported.
    pub(super) fn of_map(world: &Entity, bounds: &Bounds, findings: &mut Findings) -> Self {
        let Some(Pair { key, value, line }) = KEYS.iter().find_map(|key| world.pair(key)) else {
            return Self::for_bounds(bounds);
        };
        Self::parse(value).unwrap_or_else(|| {
            let what = format!(
                "unusable {key}: {value:?} (expected one or three numbers, each 0 or {MIN} to {MAX})"
            );
            findings.warn(*line, what);
            Self::for_bounds(bounds)
        })
    }

    /// Returns the default blocks of a map.
    fn for_bounds(bounds: &Bounds) -> Self {
        let width = (0..2).map(|axis| bounds.maxs[axis] - bounds.mins[axis]).fold(0.0, f64::max);
        let mut size = DEFAULT;
        while size * DEFAULT_BLOCKS < width && size < MAX {
            size *= 2.0;
        }
        Self([size, size, 0.0])
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let size = match numbers.ok()?[..] {
            [size] => [size; 3],
            [x, y, z] => [x, y, z],
            _ => return None,
        };
        let is_usable = |size: &f64| *size == 0.0 || (MIN..=MAX).contains(size);
        size.iter().all(is_usable).then_some(Self(size))
    }

    /// Returns the number of the plane of the block border nearest to the middle of a box.
    pub(super) fn plane(&self, bounds: &Bounds, planes: &mut Planes) -> Option<usize> {
        for axis in (0..3).filter(|&axis| self.0[axis] > 0.0) {
            let size = self.0[axis];
            let (low, high) = (bounds.mins[axis], bounds.maxs[axis]);
            let first = size * ((low / size).floor() + 1.0);
            if first < high {
                let last = size * ((high / size).ceil() - 1.0);
                let dist = (size * (bounds.center()[axis] / size).round()).clamp(first, last);
                return Some(planes.find(Plane { normal: Vector::along(axis, 1.0), dist }) & !1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(width: f64) -> Bounds {
        Bounds { mins: Vector::new(0.0, 0.0, 0.0), maxs: Vector::new(width, 64.0, 9000.0) }
    }

    #[test]
    fn key_has_one_or_three_numbers() {
        assert_eq!(Blocks::parse("2048"), Some(Blocks([2048.0; 3])));
        assert_eq!(Blocks::parse(" 512 0 1024.5 "), Some(Blocks([512.0, 0.0, 1024.5])));
        for text in ["", "1024 1024", "1 1 1 1", "big", "-1024", "nan", "inf", "8"] {
            assert_eq!(Blocks::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn default_grows_beyond_eight_blocks() {
        let sizes = [64.0, 8192.0, 8193.0, 24704.0, 131_072.0]
            .map(|width| Blocks::for_bounds(&wide(width)).0);
        assert_eq!(sizes.map(|size| size[0]), [1024.0, 1024.0, 2048.0, 4096.0, 16384.0]);
        assert!(sizes.iter().all(|size| size[1] == size[0] && size[2] == 0.0));
    }

    #[test]
    fn plane_is_found_only_across_the_box() {
        let mut planes = Planes::default();
        let blocks = Blocks([1024.0, 0.0, 0.0]);
        assert_eq!(blocks.plane(&wide(1024.0), &mut planes), None);
        let plane = blocks.plane(&wide(3000.0), &mut planes).expect("a border");
        assert_eq!((planes[plane].dist, planes[plane].axis()), (1024.0, Some(0)));
    }
}
