//! Compiler of small QuakeWorld maps: convex brushes become a BSP29 file.
//!
//! Invariants: the same source gives the same bytes on every machine: only additions, products, quotients and
//! square roots in double precision. Faces are at most [`FACE_SIZE`] units wide, within the limit of clients'
//! light maps. No node has the same leaf on both sides, which clients reject.
//!
//! Visibility is given by boxes that the author names ([`Zone`]); [`MapSource::hints`] cut the space at their
//! borders. Maps have no light maps: clients draw them at full brightness.
//!
//! Source: QuakeWorld protocol 28.

mod brush;
mod faces;
mod fragqw1;
mod output;
mod solid;
mod textures;
mod tree;
mod winding;
mod writer;

pub use brush::{Brush, BrushSide, Direction};
pub use fragqw1::{FRAGQW1, fragqw1};
pub use textures::Texture;

use super::hull::Contents;
use output::Output;

/// A point or a direction of the compiler.
pub type Point = [f64; 3];

/// Maximum width of a face, in units; a texel is one unit.
pub const FACE_SIZE: f64 = 192.0;

/// Source of a map.
#[derive(Clone, Debug)]
pub struct MapSource<'a> {
    /// Corners of the space; everything beyond is solid.
    pub inner: [Point; 2],
    /// Axis and distance of planes that cut the space before all others.
    pub hints: &'a [(usize, f64)],
    /// Parts of the space with the same visibility.
    pub zones: &'a [Zone<'a>],
    /// Textures; brushes name them by index.
    pub textures: &'a [Texture],
    /// Brushes of the world.
    pub world: &'a [Brush],
    /// Brushes of the other models, from model 1.
    pub models: &'a [Vec<Brush>],
    /// Entity string.
    pub entities: &'a str,
}

/// A box of the space and the zones that are visible from it.
#[derive(Clone, Copy, Debug)]
pub struct Zone<'a> {
    /// Lower and upper corner.
    pub corners: [Point; 2],
    /// Numbers of the visible zones, with its own.
    pub sees: &'a [usize],
}

/// Compiles a map.
#[must_use]
pub fn compile(source: &MapSource<'_>) -> Vec<u8> {
    let mut output = Output::new(source);
    output.add_model(source.world, true);
    for brushes in source.models {
        output.add_model(brushes, false);
    }
    writer::write(&output)
}

/// Returns the dot product.
fn dot(a: &Point, b: &Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the axis of the largest component.
fn main_axis(normal: &Point) -> usize {
    let mut best = 0;
    for axis in 1..3 {
        if normal[axis].abs() > normal[best].abs() {
            best = axis;
        }
    }
    best
}

/// Whether a brush of these contents is a wall.
fn is_wall(contents: Contents) -> bool {
    contents == Contents::SOLID
}
