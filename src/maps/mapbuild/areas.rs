//! Clusters and areas of the leafs.

use super::{brushes::Brush, diagnostic::Findings, portals::Portals, tree::Tree};
use crate::{model::contents::content, world::bsp::MAX_AREAS};

/// Numbers the leafs that are not opaque, and returns how many there are.
pub(super) fn number_clusters(tree: &mut Tree) -> usize {
    let mut count = 0;
    for leaf in tree.leafs.iter_mut().filter(|leaf| !leaf.is_opaque) {
        leaf.cluster = Some(count);
        count += 1;
    }
    count
}

/// Divides the open leafs into areas that area portals separate, and returns how many there are.
pub(super) fn number_areas(
    tree: &mut Tree,
    portals: &Portals,
    brushes: &[Brush],
    findings: &mut Findings,
) -> usize {
    let mut areas = 0;
    let mut touched: Vec<Vec<usize>> = vec![Vec::new(); brushes.len()];
    for first in 0..tree.leafs.len() {
        let leaf = &tree.leafs[first];
        if leaf.is_opaque || leaf.area_portal.is_some() || leaf.area.is_some() {
            continue;
        }
        let mut open = vec![first];
        while let Some(number) = open.pop() {
            let leaf = &mut tree.leafs[number];
            if let Some(brush) = leaf.area_portal {
                if !touched[brush].contains(&areas) {
                    touched[brush].push(areas);
                }
                leaf.area.get_or_insert(areas);
                continue;
            }
            if leaf.area.is_some() {
                continue;
            }
            leaf.area = Some(areas);
            let next = portals.of_leaf[number].iter();
            let next = next.filter_map(|&portal| portals.list[portal].other(number));
            open.extend(next.filter(|&next| !tree.leafs[next].is_opaque));
        }
        areas += 1;
    }
    for leaf in tree.leafs.iter_mut().filter(|leaf| !leaf.is_opaque) {
        leaf.area.get_or_insert(0);
    }
    for (brush, touched) in brushes.iter().zip(&touched) {
        let is_portal = brush.contents & content::AREAPORTAL != 0;
        if is_portal && touched.len() != 2 {
            let what = format!(
                "area portal touches {} areas (expected 2: it fills a doorway, and no other way leads around it)",
                touched.len()
            );
            findings.warn(brush.line, what);
        }
    }
    if areas > MAX_AREAS {
        let portal = brushes.iter().find(|brush| brush.contents & content::AREAPORTAL != 0);
        let what = format!(
            "too many areas: {areas} (max {MAX_AREAS}; expected fewer area portals, the first one is here)"
        );
        findings.error(portal.map_or(0, |brush| brush.line), what);
    }
    areas.max(1)
}
