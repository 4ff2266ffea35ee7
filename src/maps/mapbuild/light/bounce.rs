//! One bounce of light: lit surfaces as emitters.
//!
//! A block of 8 × 8 luxels is one emitter. Bounced light changes slowly, so it is computed at every fourth luxel and
//! interpolated within the surface.

use super::{
    fill::fill_voids,
    gather::{Emitter, Sources, emitters_near, from_emitters, polygon_area},
    layout::Placement,
    samples::{sample, sample_region},
    scene::{Scene, Shape, Surface},
    vector::{Vector, add, along, cross, dot, length, normalize, scale, sub, times},
};

/// Luxels of an emitter along one side.
const BLOCK: usize = 8;
/// Luxels between computed points.
pub(crate) const STRIDE: usize = 4;
/// Bounced light below this is not worth a shadow ray.
pub(crate) const NEGLIGIBLE: f64 = 0.01;
/// Share of the texture's brightness that a surface reflects.
const REFLECTANCE: f64 = 0.9;

/// Makes the emitters of all lit surfaces of the world from their light.
pub(crate) fn emitters(
    sources: &Sources,
    scene: &Scene,
    placements: &[Option<Placement>],
    light: &[Vec<Vector>],
) -> Vec<Emitter> {
    let mut result = Vec::new();
    for ((surface, placement), light) in scene.surfaces.iter().zip(placements).zip(light) {
        let (Some(placement), Some(material)) = (placement, scene.materials.get(surface.material))
        else {
            continue;
        };
        // Movers leave their place.
        if surface.model != 0 || light.len() != placement.luxels() {
            continue;
        }
        surface_emitters(sources, surface, placement, light, material.color, &mut result);
    }
    result
}

fn surface_emitters(
    sources: &Sources,
    surface: &Surface,
    placement: &Placement,
    light: &[Vector],
    color: Vector,
    result: &mut Vec<Emitter>,
) {
    let mut blocks = Vec::new();
    let mut interior = 0;
    for top in (0..placement.height).step_by(BLOCK) {
        for left in (0..placement.width).step_by(BLOCK) {
            let mut block = Block::default();
            for row in top..(top + BLOCK).min(placement.height) {
                for column in left..(left + BLOCK).min(placement.width) {
                    let at = sample(sources.caster, surface, placement, column as f64, row as f64);
                    let Some(at) = at.filter(|s| s.interior) else {
                        continue;
                    };
                    block.point = add(block.point, at.point);
                    block.normal = add(block.normal, at.normal);
                    block.light = add(block.light, light[row * placement.width + column]);
                    block.luxels += 1;
                }
            }
            interior += block.luxels;
            if block.luxels > 0 {
                blocks.push(block);
            }
        }
    }
    if interior == 0 {
        return;
    }
    let luxel_area = surface_area(surface, placement) / f64::from(interior);
    for block in blocks {
        let mean = 1.0 / f64::from(block.luxels);
        let area = luxel_area * f64::from(block.luxels);
        let sent = times(scale(block.light, mean * REFLECTANCE / std::f64::consts::PI), color);
        result.push(Emitter {
            point: scale(block.point, mean),
            normal: normalize(block.normal),
            power: scale(sent, area),
            spread: area / std::f64::consts::PI,
        });
    }
}

/// Sums over the luxels of a block.
#[derive(Clone, Copy, Default)]
struct Block {
    point: Vector,
    normal: Vector,
    light: Vector,
    luxels: u32,
}

/// Area of a surface. That of a patch is the area between its control points.
fn surface_area(surface: &Surface, placement: &Placement) -> f64 {
    let Shape::Patch { width, points, .. } = &surface.shape else {
        return polygon_area(surface)
            .max(length(cross(placement.vectors[0], placement.vectors[1])));
    };
    points
        .windows(*width + 2)
        .enumerate()
        .filter(|(i, _)| i % width + 1 < *width)
        .map(|(_, four)| {
            let across = sub(four[1].point, four[0].point);
            let down = sub(four[*width].point, four[0].point);
            length(cross(across, down))
        })
        .sum()
}

/// Returns the bounced light of each luxel of a surface.
pub(crate) fn surface_bounce(
    sources: &Sources,
    surface: &Surface,
    placement: &Placement,
    emitters: &[Emitter],
) -> Vec<Vector> {
    let columns = coarse(placement.width);
    let rows = coarse(placement.height);
    let emitters = emitters_near(emitters, &sample_region(surface, placement), NEGLIGIBLE);
    let mut values: Vec<Option<Vector>> = Vec::with_capacity(columns.len() * rows.len());
    for row in &rows {
        for column in &columns {
            let at = sample(sources.caster, surface, placement, *column as f64, *row as f64);
            values.push(at.map(|at| {
                let mut sum = [0.0; 3];
                from_emitters(
                    sources.caster,
                    &emitters,
                    at.point,
                    Some(at.normal),
                    NEGLIGIBLE,
                    &mut |ray| {
                        sum = along(sum, ray.light, dot(ray.direction, at.normal));
                    },
                );
                sum
            }));
        }
    }
    let values = fill_voids(values, columns.len());
    let mut result = Vec::with_capacity(placement.luxels());
    for row in 0..placement.height {
        let (j, v) = position(&rows, row);
        for column in 0..placement.width {
            let (i, u) = position(&columns, column);
            let value = |i: usize, j: usize| {
                values[j.min(rows.len() - 1) * columns.len() + i.min(columns.len() - 1)]
            };
            let upper = mix(value(i, j), value(i + 1, j), u);
            let lower = mix(value(i, j + 1), value(i + 1, j + 1), u);
            result.push(mix(upper, lower, v));
        }
    }
    result
}

/// Indices of computed luxels in a row, both ends included.
fn coarse(count: usize) -> Vec<usize> {
    let mut result: Vec<usize> = (0..count).step_by(STRIDE).collect();
    if !(count - 1).is_multiple_of(STRIDE) {
        result.push(count - 1);
    }
    result
}

/// Computed luxel before an index, and the fraction toward the next one.
fn position(indices: &[usize], at: usize) -> (usize, f64) {
    let next = indices.partition_point(|i| *i <= at);
    let before = next.saturating_sub(1);
    let Some(end) = indices.get(next) else {
        return (before, 0.0);
    };
    let start = indices[before];
    (before, (at - start) as f64 / (end - start) as f64)
}

fn mix(a: Vector, b: Vector, fraction: f64) -> Vector {
    add(scale(a, 1.0 - fraction), scale(b, fraction))
}
