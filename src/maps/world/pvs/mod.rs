//! Potentially visible set (PVS): one bit for each pair of clusters.
//!
//! Invariants: each cluster of the map has its own row, unless the map has no visibility data and all rows are
//! full. A viewer without a cluster (in solid or outside the map) sees everything. An entity without a cluster
//! is visible from no place.
//!
//! Source: IBSP 46. The engine gives viewers outside the map the row of cluster 0, by accident; that is not
//! repeated. Engine names: `CM_ClusterPVS`.

mod index;
mod location;

use thiserror::Error;

use super::bsp::ClusterNum;
use crate::model::text::counted;

pub(super) use index::PvsIndex;
pub use location::{MAX_BOX_LEAFS, MAX_CLUSTERS, PvsLocation, Viewpoint};

/// Clusters and their PVS rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pvs {
    cluster_count: usize,
    /// Length of a row, in bytes; 0 when every cluster is visible from every other.
    row_len: usize,
    rows: Box<[u8]>,
}

/// PVS row of one cluster. Clients in one cluster share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PvsRow<'a> {
    /// Every cluster is visible.
    Everything,
    /// One bit for each cluster, lowest bit first.
    Clusters(&'a [u8]),
}

/// Reasons to ignore the PVS of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PvsError {
    /// Too short for its header.
    #[error("too short: {}", counted(*.0, "byte"))]
    TooShort(usize),
    /// Fewer clusters than the leafs use.
    #[error("{}, but leafs use {wanted}", counted(*.clusters, "cluster"))]
    TooFew {
        /// Clusters in the lump.
        clusters: i32,
        /// Clusters of the leafs.
        wanted: usize,
    },
    /// Rows too short for one bit per cluster.
    #[error("rows of {row_len} bytes for {clusters} clusters")]
    RowTooShort {
        /// Length of a row, in bytes.
        row_len: i32,
        /// Clusters.
        clusters: usize,
    },
    /// Fewer rows than clusters.
    #[error("{clusters} rows of {row_len} bytes exceed {len} bytes")]
    Truncated {
        /// Clusters.
        clusters: usize,
        /// Length of a row, in bytes.
        row_len: usize,
        /// Length of the lump, in bytes.
        len: usize,
    },
}

impl Pvs {
    /// Creates a set in which every cluster is visible from every other.
    #[must_use]
    pub fn unrestricted(cluster_count: usize) -> Self {
        Self { cluster_count, row_len: 0, rows: Box::default() }
    }

    /// Parses the visibility lump of a map whose leafs use `cluster_count` clusters. An empty lump
    /// restricts nothing.
    ///
    /// # Errors
    ///
    /// Rejects a lump that is too short for its clusters, or has too few clusters.
    pub fn read(lump: &[u8], cluster_count: usize) -> Result<Self, PvsError> {
        if lump.is_empty() {
            return Ok(Self::unrestricted(cluster_count));
        }
        let Some((header, rows)) = lump.split_first_chunk::<8>() else {
            return Err(PvsError::TooShort(lump.len()));
        };
        let [clusters, row_len] = [0, 4].map(|at| {
            i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        });
        let count = usize::try_from(clusters).ok().filter(|&count| count >= cluster_count);
        let count = count.ok_or(PvsError::TooFew { clusters, wanted: cluster_count })?;
        let len = usize::try_from(row_len).ok().filter(|&len| len >= count.div_ceil(8));
        let len = len.ok_or(PvsError::RowTooShort { row_len, clusters: count })?;
        let rows = count.checked_mul(len).and_then(|wanted| rows.get(..wanted));
        let truncated = PvsError::Truncated { clusters: count, row_len: len, len: lump.len() };
        let rows = rows.ok_or(truncated)?;
        Ok(Self { cluster_count: count, row_len: len, rows: rows.into() })
    }

    /// Number of clusters.
    #[must_use]
    pub const fn cluster_count(&self) -> usize {
        self.cluster_count
    }

    /// Length of a row, in bytes; 0 without restrictions.
    #[must_use]
    pub const fn row_len(&self) -> usize {
        self.row_len
    }

    /// Returns the row of a cluster, or of no cluster.
    #[must_use]
    pub fn row(&self, from: Option<ClusterNum>) -> PvsRow<'_> {
        let Some(from) = from.filter(|_| self.row_len > 0) else {
            return PvsRow::Everything;
        };
        let start = from.index() * self.row_len;
        self.rows.get(start..start + self.row_len).map_or(PvsRow::Everything, PvsRow::Clusters)
    }

    /// Whether `to` is visible from `from`.
    #[must_use]
    pub fn sees(&self, from: Option<ClusterNum>, to: Option<ClusterNum>) -> bool {
        to.is_some_and(|to| self.row(from).contains(to))
    }

    pub(super) fn memory_len(&self) -> usize {
        self.rows.len()
    }
}

impl PvsRow<'_> {
    /// Whether the row contains a cluster.
    #[must_use]
    pub fn contains(self, cluster: ClusterNum) -> bool {
        match self {
            Self::Everything => true,
            Self::Clusters(bits) => {
                let index = cluster.index();
                bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 != 0)
            }
        }
    }
}
