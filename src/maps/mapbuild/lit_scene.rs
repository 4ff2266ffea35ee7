//! Scene of the light computation, made from the geometry of a map.

use super::{
    brushes::Brush,
    diagnostic::Findings,
    geometry::Geometry,
    light::{self, Occluder, PointLight, Scene, Vertex},
    map_file::Entity,
    surfaces::{Shape, Surface, texture_coordinates, vertices_of},
    vector::Vector,
};
use crate::model::{
    contents::{content, surface},
    text::counted,
};

/// Surface flags of materials without a light map.
const UNLIT: i32 = surface::NOLIGHTMAP | surface::SKY | surface::NODRAW | surface::POINTLIGHT;
/// Default of an entity's key `light`.
const LIGHT: f64 = 300.0;
/// Default of worldspawn's key `ambient`.
const AMBIENT: f64 = 4.0;
/// Default of worldspawn's key `luxel`: distance of luxels, in units.
const LUXEL: f64 = 16.0;
/// Default of worldspawn's key `gridsize`.
const GRID_CELL: Vector = Vector([64.0, 64.0, 128.0]);
/// Smallest cell of the light grid, per axis.
const MIN_CELL: f64 = 16.0;

/// Maximum doublings of the cells of a light grid.
const MAX_DOUBLINGS: i32 = 12;
/// Largest value of the key `luxel`, in units.
const MAX_LUXEL_KEY: f64 = 64.0;
/// Maximum points of the light grid of a map without the key `gridsize`.
const MAX_POINTS: usize = 1 << 18;

/// Makes the cells of a large map's light grid larger. Clients read their size from worldspawn.
pub(super) fn fit_grid(geometry: &mut Geometry) {
    let bounds = geometry.models[0].bounds();
    let world = &mut geometry.entities[0];
    let max = if world.vector("gridsize").is_some() { usize::MAX } else { MAX_POINTS };
    let default = grid_cell(world);
    let fits = |cell: Vector| {
        light::point_count(cell.0, &[bounds.mins.0, bounds.maxs.0])
            .is_some_and(|count| count <= max)
    };
    let sizes = (0..MAX_DOUBLINGS).map(|doublings| default * f64::from(1 << doublings));
    let Some(cell) = sizes.into_iter().find(|&cell| fits(cell)) else { return };
    if cell != default {
        world.set("gridsize", format!("{} {} {}", cell[0], cell[1], cell[2]));
    }
}

/// Reports luxels that are farther apart than asked for.
pub(super) fn report_luxel(scene: &Scene, lighting: &light::Lighting, findings: &mut Findings) {
    if lighting.luxel > scene.luxel {
        let used = lighting.luxel;
        let remedy =
            if used <= MAX_LUXEL_KEY { " (expected this value for the key \"luxel\")" } else { "" };
        let what = format!(
            "map too large for a light map point every {} units; {used} used{remedy}",
            scene.luxel
        );
        findings.warn(1, what);
    }
}

/// Reports light that is coarser because it would have taken too much work.
pub(super) fn report_savings(lighting: &light::Lighting, fast: bool, findings: &mut Findings) {
    let Some(savings) = lighting.savings else { return };
    let light::Savings { sources, luxels, cell, bounce_cell } = savings;
    if sources > 0 {
        let merged = match cell {
            0.0 => String::new(),
            cell => format!(", lights within {cell:.0} units counted as one"),
        };
        let draft = if fast { "" } else { ", or --fast for a draft" };
        let what = format!(
            "light took too much work: {} on {}; one sample per point{merged} (expected fewer or weaker lights, or \
             a larger value for the key \"luxel\"{draft})",
            counted(sources, "light"),
            counted(luxels, "light map point"),
        );
        findings.warn(1, what);
    }
    if bounce_cell > 0.0 {
        let what = format!(
            "bounced light took too much work: parts of surfaces within {bounce_cell:.0} units counted as one \
             (expected fewer or weaker lights, or a larger value for the key \"luxel\" or \"gridsize\")"
        );
        findings.warn(1, what);
    }
}

/// Returns the cell of a map's light grid.
fn grid_cell(world: &Entity) -> Vector {
    world.vector("gridsize").unwrap_or(GRID_CELL).max(Vector([MIN_CELL; 3]))
}

/// Returns what light needs to know of a map. Surfaces keep their order.
pub(super) fn of_geometry(geometry: &Geometry) -> Scene {
    let world = &geometry.models[0];
    let bounds = world.bounds();
    let materials = geometry.materials.all().iter();
    let entity = &geometry.entities[0];
    let cell = grid_cell(entity);
    let suns = materials.clone().filter_map(|material| material.shader.sun);
    let sky = materials.clone().find(|material| material.shader.sky_light > 0.0);
    let sky = sky.map_or(Vector::ZERO, |sky| {
        sky.shader.light_color.unwrap_or(sky.color) * sky.shader.sky_light
    });
    Scene {
        occluders: world.brushes.iter().filter_map(|brush| occluder(brush, geometry)).collect(),
        materials: materials.map(material).collect(),
        surfaces: geometry.surfaces.iter().map(|surface| lit_surface(surface, geometry)).collect(),
        lights: geometry.entities.iter().filter_map(point_light).collect(),
        suns: suns.map(|sun| sun_light(&sun)).collect(),
        sky: sky.0,
        ambient: (color(entity) * entity.number("ambient", AMBIENT).max(0.0)).0,
        luxel: entity.number("luxel", LUXEL).clamp(8.0, MAX_LUXEL_KEY),
        grid_cell: cell.0,
        bounds: [bounds.mins.0, bounds.maxs.0],
    }
}

fn occluder(brush: &Brush, geometry: &Geometry) -> Option<Occluder> {
    if brush.number.is_none() || brush.contents & content::SOLID == 0 {
        return None;
    }
    let sides = brush.sides.iter().filter(|side| side.winding.is_some());
    let planes = sides.map(|side| {
        let plane = geometry.planes[side.plane];
        light::Plane { normal: plane.normal.0, distance: plane.dist }
    });
    Some(Occluder {
        planes: planes.collect(),
        bounds: [brush.bounds.mins.0, brush.bounds.maxs.0],
        sky: brush.has_sky,
        casts_shadow: brush.is_opaque(),
    })
}

fn material(material: &super::materials::Material) -> light::Material {
    let shader = &material.shader;
    let emitted = shader.light_color.unwrap_or_else(|| brightened(material.color));
    light::Material {
        color: material.color.0,
        emission: (emitted * shader.surface_light).0,
        lit: shader.surface_flags & UNLIT == 0,
    }
}

fn lit_surface(surface: &Surface, geometry: &Geometry) -> light::Surface {
    let vertex = |point: Vector, st| Vertex { point: point.0, st };
    let shape = match &surface.shape {
        Shape::Polygon { winding, plane, .. } => {
            let (points, _) = vertices_of(surface);
            let st = texture_coordinates(&geometry.materials, surface, &points);
            let mut ring: Vec<Vertex> =
                points.into_iter().zip(st).map(|(point, st)| vertex(point, st)).collect();
            let extra = ring.split_off(winding.points().len());
            light::Shape::Polygon { ring, extra, normal: geometry.planes[*plane].normal.0 }
        }
        Shape::Patch(patch) => light::Shape::Patch {
            width: patch.width,
            height: patch.height,
            points: patch.points.iter().map(|p| vertex(p.position, p.texture)).collect(),
        },
    };
    light::Surface { shape, material: surface.material, model: surface.model }
}

fn point_light(entity: &Entity) -> Option<PointLight> {
    if !entity.class().eq_ignore_ascii_case("light") {
        return None;
    }
    let intensity = color(entity) * entity.number("light", LIGHT).max(0.0);
    let linear = entity.number("spawnflags", 0.0) as i64 & 1 != 0;
    Some(PointLight { origin: entity.vector("origin")?.0, intensity: intensity.0, linear })
}

fn sun_light(sun: &super::shaders::Sun) -> light::Sun {
    let (turn, height) = (sun.degrees.to_radians(), sun.elevation.to_radians());
    let flat = libm::cos(height);
    light::Sun {
        direction: [libm::cos(turn) * flat, libm::sin(turn) * flat, libm::sin(height)],
        intensity: (sun.color * sun.light).0,
    }
}

/// Returns an entity's `_color`; white without one. The largest component is 1.
fn color(entity: &Entity) -> Vector {
    let color = entity.vector("_color").unwrap_or(Vector([1.0; 3]));
    brightened(color.max(Vector::ZERO))
}

/// Returns a color with the largest component 1.
fn brightened(color: Vector) -> Vector {
    let largest = color[color.main_axis()];
    if largest > 0.0 { color * (1.0 / largest) } else { Vector([1.0; 3]) }
}
