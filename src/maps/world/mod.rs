//! Map geometry: BSP file, collision, visibility and linked entities.
//!
//! Imports [`crate::model`] only. Files are given as bytes, and no clock is used. Every result is
//! the same on every machine: single-precision arithmetic in a fixed order.

pub mod areas;
pub mod bsp;
pub mod collision;
pub mod entity_string;
pub mod links;
pub mod map_summary;
pub mod pvs;

pub use areas::{AreaPortalError, Areas, VisibleAreas};
pub use bsp::{Bsp, BspError};
pub use collision::{
    CollisionError, CollisionMap, Hull, TracePrecision, TraceQuery, TraceTarget, TraceWork,
};
pub use entity_string::{EntityStringError, MapEntities};
pub use links::World;
pub use map_summary::{EntityCategory, MapSummary};
pub use pvs::{Pvs, PvsLocation, PvsRow, Viewpoint};
