//! Triangle mesh of the map surfaces, for map drawing only.
//!
//! Invariant: at most [`MAX_TRIANGLES`], for every file. A surface with an invalid reference is
//! skipped and missing from the drawing only.

use crate::model::Vec3;

use super::error::{BspError, Lump};
use super::file::{Lumps, Record};
use super::table::{ShaderNum, SurfaceNum};
use super::{Bsp, PatchGrid};

/// Limit of the number of triangles.
pub const MAX_TRIANGLES: usize = 4_000_000;
/// Subdivisions of each 3×3 part of a patch, along each side.
const PATCH_STEPS: usize = 4;

/// One triangle of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Corners.
    pub corners: [Vec3; 3],
    /// Normal of the visible side.
    pub normal: Vec3,
    /// Shader of the surface.
    pub shader: ShaderNum,
}

/// Returns the triangles of the world model, without those of brush entities.
///
/// # Errors
///
/// Rejects a `file` that is not a map. `map` is the result of [`Bsp::load`] for it.
pub fn triangles(file: &[u8], map: &Bsp) -> Result<Vec<Triangle>, BspError> {
    let lumps = Lumps::split(file)?;
    let indexes: Vec<i32> = lumps.records(Lump::Indexes).map(|record| record.int(0)).collect();
    let normals: Vec<Vec3> = lumps
        .records(Lump::Vertices)
        .map(|record| record.vec3(28, "normal").unwrap_or(Vec3::ZERO))
        .collect();
    let mut triangles = Vec::new();
    for (number, record) in map.surfaces.numbered().zip(lumps.records(Lump::Surfaces)) {
        let (number, surface) = number;
        if !is_of_world(map, number) || triangles.len() >= MAX_TRIANGLES {
            continue;
        }
        let mut add = |corners: [usize; 3], shader| {
            let placed = corners.map(|corner| map.vertices.get(corner).copied());
            let [Some(a), Some(b), Some(c)] = placed else { return };
            let facing = corners.map(|corner| normals.get(corner).copied().unwrap_or(Vec3::ZERO));
            triangles.push(facing_as([a, b, c], facing[0] + facing[1] + facing[2], shader));
        };
        match &surface.patch {
            Some(grid) => triangles.extend(patch_triangles(map, grid, &normals)),
            None => flat(record, &indexes, map.shaders.len(), &mut add),
        }
    }
    triangles.truncate(MAX_TRIANGLES);
    Ok(triangles)
}

fn is_of_world(map: &Bsp, number: SurfaceNum) -> bool {
    let own = map.world().surfaces;
    // A world model without a surface range of its own has all surfaces.
    own.is_empty()
        || own.numbers().next().is_some_and(|first| {
            (first.index()..first.index() + own.len()).contains(&number.index())
        })
}

/// Returns the triangles of a surface with an index list.
fn flat(
    record: Record<'_>,
    indexes: &[i32],
    shaders: usize,
    add: &mut impl FnMut([usize; 3], ShaderNum),
) {
    let Ok(shader) = record.number::<ShaderNum>(0, "shader", shaders) else { return };
    let [first_vertex, first, count] = [12, 20, 24].map(|at| usize::try_from(record.int(at)));
    let (Ok(first_vertex), Ok(first), Ok(count)) = (first_vertex, first, count) else { return };
    let listed = first.checked_add(count).and_then(|end| indexes.get(first..end));
    for corners in listed.unwrap_or_default().as_chunks::<3>().0 {
        let corner = |index: i32| usize::try_from(index).ok()?.checked_add(first_vertex);
        if let [Some(a), Some(b), Some(c)] = corners.map(corner) {
            add([a, b, c], shader);
        }
    }
}

/// Returns the triangles of a patch, subdivided evenly.
fn patch_triangles<'a>(
    map: &'a Bsp,
    grid: &'a PatchGrid,
    normals: &'a [Vec3],
) -> impl Iterator<Item = Triangle> + 'a {
    let (width, height) = (usize::from(grid.width), usize::from(grid.height));
    let points = &map.vertices[grid.points];
    let first = grid.points.numbers().next().map_or(0, |first| first.index());
    let facing = normals.get(first..first + points.len()).unwrap_or_default();
    let total = facing.iter().fold(Vec3::ZERO, |total, &normal| total + normal);
    let pieces =
        (0..height / 2).flat_map(move |row| (0..width / 2).map(move |column| (row, column)));
    pieces.flat_map(move |(row, column)| {
        let control = move |r: usize, c: usize| points[(2 * row + r) * width + 2 * column + c];
        let at = move |v: usize, u: usize| {
            let (v, u) = (weights(v), weights(u));
            let mut point = Vec3::ZERO;
            for (r, v) in v.into_iter().enumerate() {
                for (c, u) in u.into_iter().enumerate() {
                    point = point.add_scaled(control(r, c), v * u);
                }
            }
            point
        };
        (0..PATCH_STEPS * PATCH_STEPS).flat_map(move |cell| {
            let (v, u) = (cell / PATCH_STEPS, cell % PATCH_STEPS);
            let [a, b, c, d] = [at(v, u), at(v, u + 1), at(v + 1, u), at(v + 1, u + 1)];
            [[a, b, c], [c, b, d]].map(|corners| facing_as(corners, total, grid.shader))
        })
    })
}

/// Returns the weights of a quadratic curve's three control points at a step.
fn weights(step: usize) -> [f32; 3] {
    let t = step as f32 / PATCH_STEPS as f32;
    [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t]
}

/// Returns the triangle with its own normal, flipped to the side of `facing`.
fn facing_as(corners: [Vec3; 3], facing: Vec3, shader: ShaderNum) -> Triangle {
    let [a, b, c] = corners;
    let (u, v) = (b - a, c - a);
    let cross =
        Vec3::new(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    let length = cross.length();
    let unit = if length > 0.0 { cross * (1.0 / length) } else { Vec3::ZERO };
    let normal = if unit.dot(facing) < 0.0 { unit * -1.0 } else { unit };
    Triangle { corners, normal, shader }
}
