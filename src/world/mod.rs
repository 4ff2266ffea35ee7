//! A map as geometry: what the file says, what is solid, what is seen from where.
//!
//! Imports [`crate::model`] only. Files come in as bytes, time does not exist here, and every answer is
//! the same on every machine: single-precision arithmetic in a fixed order.

pub mod areas;
pub mod bsp;
pub mod collision;
pub mod entities;
pub mod links;
pub mod occupancy;
mod presence;
pub mod survey;
pub mod visibility;

pub use areas::{AreaMask, Areas, PortalError};
pub use bsp::{Bsp, BspError};
pub use collision::{CollisionError, CollisionMap, Family, Hull, Target};
pub use entities::{Entities, EntityTextError};
pub use links::World;
pub use occupancy::{Occupancy, Viewpoint};
pub use survey::{Purpose, Survey};
pub use visibility::{Row, Visibility};
