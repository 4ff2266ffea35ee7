//! Clusters and areas that a box touches, for visibility.
//!
//! Invariant: bounded for every box. A box that touches more clusters than fit is visible from every place
//! connected to its areas, nearly as in the engine.
//!
//! Source: the engine's linking of entities and its selection of snapshot entities.

use super::PvsRow;
use crate::{
    model::Vec3,
    world::{
        areas::Areas,
        bsp::{AreaNum, Bsp, ClusterNum},
    },
};

/// Leafs of a box that are looked at, solid ones included.
pub const MAX_BOX_LEAFS: usize = 128;
/// Clusters that are kept. A cluster that several leafs belong to is kept as often.
pub const MAX_CLUSTERS: usize = 16;

/// The clusters and areas that a box touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PvsLocation {
    clusters: [Option<ClusterNum>; MAX_CLUSTERS],
    /// Set when there were clusters beyond those kept: that of the last leaf.
    last_cluster: Option<ClusterNum>,
    areas: [Option<AreaNum>; 2],
}

/// A place to look from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewpoint<'a> {
    /// What may be seen from its cluster.
    pub row: PvsRow<'a>,
    /// The cluster; none in solid rock or outside.
    pub cluster: Option<ClusterNum>,
    /// The area; none where the cluster is none.
    pub area: Option<AreaNum>,
}

impl Bsp {
    /// What may be seen from a point.
    #[must_use]
    pub fn viewpoint(&self, eye: Vec3) -> Viewpoint<'_> {
        let leaf = &self.leafs[self.leaf_at(eye)];
        Viewpoint { row: self.visibility.row(leaf.cluster), cluster: leaf.cluster, area: leaf.area }
    }

    /// Whether one point may be seen from another: clusters first, then doors, unless `areas` is none.
    #[must_use]
    pub fn sees(&self, eye: Vec3, target: Vec3, areas: Option<&Areas>) -> bool {
        let (from, to) = (self.viewpoint(eye), self.viewpoint(target));
        to.cluster.is_some_and(|cluster| from.row.contains(cluster))
            && areas.is_none_or(|areas| areas.connected(from.area, to.area))
    }
}

impl PvsLocation {
    /// What the box between two corners in the world touches.
    #[must_use]
    pub fn of_box(map: &Bsp, absmin: Vec3, absmax: Vec3) -> Self {
        let mut touched = Self::default();
        let (mut leafs, mut kept) = (0, 0);
        // The leaf that the 16th cluster is from, when nothing may follow it in the list.
        let mut full = false;
        let mut last = None;
        map.leafs_in_box(absmin, absmax, |number| {
            let leaf = &map.leafs[number];
            last = leaf.cluster.or(last);
            if leafs == MAX_BOX_LEAFS {
                return true;
            }
            leafs += 1;
            if leaf.area.is_some() {
                match touched.areas[0] {
                    None => touched.areas[0] = leaf.area,
                    first if first != leaf.area => touched.areas[1] = leaf.area,
                    Some(_) => {}
                }
            }
            if leaf.cluster.is_some() && !full {
                touched.clusters[kept] = leaf.cluster;
                kept += 1;
                full = kept == MAX_CLUSTERS;
            }
            true
        });
        if full {
            touched.last_cluster = last;
        }
        touched
    }

    /// Any place at all.
    #[cfg(test)]
    pub(super) fn of_parts(
        kept: &[ClusterNum],
        last_cluster: Option<ClusterNum>,
        areas: [Option<AreaNum>; 2],
    ) -> Self {
        let mut clusters = [None; MAX_CLUSTERS];
        clusters.iter_mut().zip(kept).for_each(|(place, &cluster)| *place = Some(cluster));
        Self { clusters, last_cluster, areas }
    }

    /// The clusters that are kept, in the order the tree gives.
    pub fn clusters(&self) -> impl Iterator<Item = ClusterNum> {
        self.clusters.into_iter().map_while(|cluster| cluster)
    }

    /// The cluster of the last leaf, when there were more than are kept.
    #[must_use]
    pub const fn last_cluster(&self) -> Option<ClusterNum> {
        self.last_cluster
    }

    /// The area of the first leaf that has one, and the last that differs from it.
    #[must_use]
    pub const fn areas(&self) -> [Option<AreaNum>; 2] {
        self.areas
    }

    /// Whether the box may be seen.
    #[must_use]
    pub fn visible_from(&self, from: &Viewpoint<'_>, areas: &Areas) -> bool {
        self.areas.iter().any(|&area| areas.connected(from.area, area))
            && (self.last_cluster.is_some()
                || self.clusters().any(|cluster| from.row.contains(cluster)))
    }
}
