//! Brushes whose faces make the most openings between leafs: what an author should make detail.

use super::{
    brushes::Brush,
    diagnostic::{Diagnostic, Findings},
    planes::Planes,
    portals::Portals,
    tree::Tree,
    vector::Bounds,
    visibility::VisibleSet,
};

/// Number of brushes that a hint names.
const NAMED: usize = 5;
/// Least number of openings of a brush that is named.
const MIN_OPENINGS: usize = 8;
/// A brush that is longer than this share of the map along two axes is a wall of the map.
const WALL_SHARE: f64 = 0.4;
/// Distance within which a box touches an opening.
const TOUCH: f64 = 1.0;

/// A structural brush and the number of openings on its faces' planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CostlyBrush {
    line: u32,
    openings: usize,
}

/// Returns the brushes that make the most openings, most first. Walls of the whole map are left out.
pub(super) fn costly_brushes(
    tree: &Tree,
    portals: &Portals,
    planes: &Planes,
    brushes: &[Brush],
) -> Vec<CostlyBrush> {
    let map = brushes.iter().fold(Bounds::EMPTY, |bounds, brush| bounds.union(brush.bounds));
    let is_wall = |brush: &Brush| {
        let size = brush.bounds.maxs - brush.bounds.mins;
        let whole = map.maxs - map.mins;
        (0..3).filter(|&k| size[k] > whole[k] * WALL_SHARE).count() > 1
    };
    // Structural brushes with a face on each plane.
    let mut of_plane: Vec<Vec<usize>> = vec![Vec::new(); planes.all().len() / 2];
    for (number, brush) in brushes.iter().enumerate() {
        if brush.is_detail || is_wall(brush) {
            continue;
        }
        for side in brush.sides.iter().filter(|side| side.winding.is_some()) {
            of_plane[side.plane / 2].push(number);
        }
    }
    let mut openings = vec![0; brushes.len()];
    let is_open = |leaf: &Option<usize>| leaf.is_some_and(|leaf| !tree.leafs[leaf].is_opaque);
    for portal in portals.list.iter().filter(|portal| portal.leafs.iter().all(is_open)) {
        let makers = portal.plane.map_or(&[][..], |plane| &of_plane[plane / 2]);
        // Of several brushes with faces in a plane, those at the opening; a single one anywhere.
        let bounds = portal.winding.bounds().grown(TOUCH);
        for &brush in makers {
            let is_near = makers.len() == 1 || brushes[brush].bounds.touches(&bounds);
            openings[brush] += usize::from(is_near);
        }
    }
    let costly = brushes.iter().zip(openings);
    let costly = costly.map(|(brush, openings)| CostlyBrush { line: brush.line, openings });
    let mut costly: Vec<_> = costly.filter(|brush| brush.openings >= MIN_OPENINGS).collect();
    costly.sort_by_key(|brush| (usize::MAX - brush.openings, brush.line));
    costly.truncate(NAMED);
    costly
}

/// Returns a hint for each brush of a set that is exact. Those of others are warnings already.
pub(super) fn hints(file: &str, set: &VisibleSet, costly: &[CostlyBrush]) -> Vec<Diagnostic> {
    if set.rows.is_none() || set.coarse > 0 {
        return Vec::new();
    }
    let hint = |brush: &CostlyBrush| Diagnostic::new(file, brush.line, brush.text());
    costly.iter().map(hint).collect()
}

/// Reports a visible set that is not exact, with the brushes that cause the most work.
pub(super) fn report_budget(set: &VisibleSet, costly: &[CostlyBrush], findings: &mut Findings) {
    let what = match (&set.rows, set.coarse) {
        (Some(_), 0) => return,
        (Some(_), coarse) => format!(
            "visibility took too much work: {coarse} of {} openings see more than needed (expected small brushes as detail)",
            set.portals
        ),
        (None, _) => "too many openings between rooms for visibility data; everything is visible \
                      (expected small brushes as detail, or a larger _blocksize)"
            .to_owned(),
    };
    findings.warn(0, what);
    for brush in costly {
        findings.warn(brush.line, brush.text());
    }
}

impl CostlyBrush {
    fn text(self) -> String {
        format!(
            "structural brush makes {} openings (expected detail if it closes no room)",
            self.openings
        )
    }
}
