//! Types of a lit scene: solids, surfaces, materials and light sources.

use super::vector::Vector;

/// Solids, drawn surfaces and light sources of a map.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Convex solids. Order has no influence on the result.
    pub occluders: Vec<Occluder>,
    /// Materials, by index.
    pub materials: Vec<Material>,
    /// Drawn surfaces, in the order of the file.
    pub surfaces: Vec<Surface>,
    /// Point lights.
    pub lights: Vec<PointLight>,
    /// Suns.
    pub suns: Vec<Sun>,
    /// Light of the whole sky on a horizontal surface.
    pub sky: Vector,
    /// Light that reaches every point.
    pub ambient: Vector,
    /// Distance of luxels in units; 0 for the default of 16.
    pub luxel: f64,
    /// Cell size of the light grid.
    pub grid_cell: Vector,
    /// Bounds of model 0, which determine the extent of the light grid.
    pub bounds: [Vector; 2],
}

/// Convex solid.
#[derive(Clone, Debug, Default)]
pub struct Occluder {
    /// Planes that point out of the solid.
    pub planes: Vec<Plane>,
    /// Exact bounds of the solid.
    pub bounds: [Vector; 2],
    /// Whether a face is sky. Such a solid lets light pass.
    pub sky: bool,
    /// Whether the solid casts shadows. Liquids, clips and movers do not.
    pub casts_shadow: bool,
}

/// Plane: the points `p` with `normal · p = distance`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Unit normal.
    pub normal: Vector,
    /// Distance from the origin along the normal.
    pub distance: f64,
}

/// Light properties of a shader.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Mean color of the image, 0 to 1 per component.
    pub color: Vector,
    /// Light that the surface emits, per unit of area and component. Zero for most.
    pub emission: Vector,
    /// Whether the surface has a light map.
    pub lit: bool,
}

/// Vertex of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Position.
    pub point: Vector,
    /// Texture coordinates.
    pub st: [f64; 2],
}

/// Drawn surface.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Form.
    pub shape: Shape,
    /// Index of its material.
    pub material: usize,
    /// Index of its inline model; 0 is the world.
    pub model: usize,
}

/// Form of a surface.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Convex polygon.
    Polygon {
        /// Corners, clockwise seen from the front.
        ring: Vec<Vertex>,
        /// More vertices in the plane of the polygon, such as the center of a fan.
        extra: Vec<Vertex>,
        /// Unit normal of the front.
        normal: Vector,
    },
    /// Bézier patch.
    Patch {
        /// Control points per row; odd.
        width: usize,
        /// Rows; odd.
        height: usize,
        /// Control points, row by row.
        points: Vec<Vertex>,
    },
}

impl Surface {
    /// Vertices in the order of the file.
    pub fn vertices(&self) -> impl Iterator<Item = &Vertex> {
        let (first, second): (&[Vertex], &[Vertex]) = match &self.shape {
            Shape::Polygon { ring, extra, .. } => (ring, extra),
            Shape::Patch { points, .. } => (points, &[]),
        };
        first.iter().chain(second)
    }
}

/// Point light.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLight {
    /// Position.
    pub origin: Vector,
    /// Key `light` times color, whose greatest component is 1.
    pub intensity: Vector,
    /// Whether the light decreases linearly with distance instead of quadratically.
    pub linear: bool,
}

/// Directional light of the sky.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sun {
    /// Unit vector to the sun.
    pub direction: Vector,
    /// Light on a surface that faces the sun.
    pub intensity: Vector,
}
