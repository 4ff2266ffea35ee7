//! Bounding box and view height of a player, relative to its origin.
//!
//! Source: the base game's interface between server and client game.

use crate::model::Vec3;

/// Lower corner.
pub const MINS: Vec3 = Vec3::new(-15.0, -15.0, -24.0);
/// Upper corner, standing.
pub const MAXS: Vec3 = Vec3::new(15.0, 15.0, 32.0);
/// Upper corner, ducked.
pub const CROUCHED_MAXS: Vec3 = Vec3::new(15.0, 15.0, 16.0);
/// Upper corner, dead.
pub const DEAD_MAXS: Vec3 = Vec3::new(15.0, 15.0, -8.0);
/// View height, standing.
pub const VIEW_HEIGHT: i32 = 26;
/// View height, ducked.
pub const CROUCHED_VIEW_HEIGHT: i32 = 12;
/// View height, dead.
pub const DEAD_VIEW_HEIGHT: i32 = -16;
