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

/// Maximum number of leafs of a box that are visited, solid ones included.
pub const MAX_BOX_LEAFS: usize = 128;
/// Maximum number of stored clusters. A cluster with several leafs is stored several times.
pub const MAX_CLUSTERS: usize = 16;

/// Clusters and areas that a box touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PvsLocation {
    clusters: [Option<ClusterNum>; MAX_CLUSTERS],
    /// Cluster of the last leaf, when there are more clusters than fit.
    last_cluster: Option<ClusterNum>,
    areas: [Option<AreaNum>; 2],
}

/// Viewpoint of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewpoint<'a> {
    /// PVS row of its cluster.
    pub row: PvsRow<'a>,
    /// Cluster; none in solid or outside the map.
    pub cluster: Option<ClusterNum>,
    /// Area; none without a cluster.
    pub area: Option<AreaNum>,
}

impl Bsp {
    /// Returns the viewpoint at a point.
    #[must_use]
    pub fn viewpoint(&self, eye: Vec3) -> Viewpoint<'_> {
        let leaf = &self.leafs[self.leaf_at(eye)];
        Viewpoint { row: self.visibility.row(leaf.cluster), cluster: leaf.cluster, area: leaf.area }
    }

    /// Whether one point is visible from another: by PVS, then by areas if given.
    #[must_use]
    pub fn sees(&self, eye: Vec3, target: Vec3, areas: Option<&Areas>) -> bool {
        let (from, to) = (self.viewpoint(eye), self.viewpoint(target));
        to.cluster.is_some_and(|cluster| from.row.contains(cluster))
            && areas.is_none_or(|areas| areas.connected(from.area, to.area))
    }
}

impl PvsLocation {
    /// Returns the clusters and areas that a box in the world touches.
    #[must_use]
    pub fn of_box(map: &Bsp, absmin: Vec3, absmax: Vec3) -> Self {
        let mut touched = Self::default();
        let (mut leafs, mut kept) = (0, 0);
        // Set with the 16th stored cluster; later clusters only change `last`.
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

    /// Any location.
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

    /// Returns the stored clusters, in tree order.
    pub fn clusters(&self) -> impl Iterator<Item = ClusterNum> {
        self.clusters.into_iter().map_while(|cluster| cluster)
    }

    /// Returns the cluster of the last leaf, when there are more clusters than fit.
    #[must_use]
    pub const fn last_cluster(&self) -> Option<ClusterNum> {
        self.last_cluster
    }

    /// Returns the area of the first leaf that has one, and the last area that differs from it.
    #[must_use]
    pub const fn areas(&self) -> [Option<AreaNum>; 2] {
        self.areas
    }

    /// Whether the box is visible from a viewpoint.
    #[must_use]
    pub fn visible_from(&self, from: &Viewpoint<'_>, areas: &Areas) -> bool {
        self.areas.iter().any(|&area| areas.connected(from.area, area))
            && (self.last_cluster.is_some()
                || self.clusters().any(|cluster| from.row.contains(cluster)))
    }
}
