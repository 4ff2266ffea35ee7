//! Writer of map files: IBSP, version 46.
//!
//! Invariants: every lump starts on four bytes; leaf 0 is an unused one, by custom; indexes of triangles are
//! relative to the first vertex of their surface.

use super::{
    geometry::Geometry,
    light::{Lighting, SurfaceLight},
    map_file::{Entity, Pair},
    surfaces::{Shape, Surface, texture_coordinates, vertices_of},
    tree::Child,
    vector::{Bounds, Vector},
};
use crate::world::bsp::Lump;

const HEADER_LEN: usize = 8 + 8 * Lump::ALL.len();
const VERSION: i32 = 46;
/// Bytes of a shader's name, with a zero byte.
const NAME_LEN: usize = 64;
const POLYGON: i32 = 1;
const PATCH: i32 = 2;
const WHITE: [u8; 4] = [255; 4];
/// Order of the lumps in the file. Light maps come first: engines may read a page too many.
const ORDER: [Lump; 17] = [
    Lump::LightMaps,
    Lump::Shaders,
    Lump::Planes,
    Lump::Nodes,
    Lump::Leafs,
    Lump::LeafSurfaces,
    Lump::LeafBrushes,
    Lump::Models,
    Lump::Brushes,
    Lump::BrushSides,
    Lump::Vertices,
    Lump::Indexes,
    Lump::Fogs,
    Lump::Surfaces,
    Lump::LightGrid,
    Lump::Visibility,
    Lump::Entities,
];

/// Writes a map file.
#[must_use]
pub(super) fn write(geometry: &Geometry, lighting: &Lighting) -> Vec<u8> {
    let mut lumps = Lumps::default();
    lumps.entities(&geometry.entities);
    lumps.shaders(geometry);
    lumps.planes(geometry);
    lumps.tree(geometry);
    lumps.models(geometry);
    lumps.brushes(geometry);
    lumps.fogs(geometry);
    lumps.surfaces(geometry, lighting);
    for page in &lighting.pages {
        lumps.of(Lump::LightMaps).extend(page);
    }
    lumps.of(Lump::LightGrid).extend(&lighting.grid);
    lumps.visibility(geometry);
    lumps.into_file()
}

#[derive(Default)]
struct Lumps([Vec<u8>; Lump::ALL.len()]);

impl Lumps {
    fn of(&mut self, lump: Lump) -> &mut Vec<u8> {
        &mut self.0[lump as usize]
    }

    fn count(&self, lump: Lump) -> usize {
        self.0[lump as usize].len() / lump.record_len()
    }

    fn ints(&mut self, lump: Lump, ints: &[i32]) {
        self.of(lump).extend(ints.iter().flat_map(|int| int.to_le_bytes()));
    }

    fn numbers(&mut self, lump: Lump, numbers: &[usize]) {
        // Counts are bounded by the limits of the source, far below the range.
        self.of(lump).extend(numbers.iter().flat_map(|&number| (number as i32).to_le_bytes()));
    }

    fn floats(&mut self, lump: Lump, floats: &[f32]) {
        self.of(lump).extend(floats.iter().flat_map(|float| (float + 0.0).to_le_bytes()));
    }

    /// Writes a box in whole units, rounded outward.
    fn whole_bounds(&mut self, lump: Lump, bounds: &Bounds) {
        if bounds.is_empty() {
            return self.ints(lump, &[0; 6]);
        }
        let (mins, maxs) = (bounds.mins.0, bounds.maxs.0);
        self.ints(lump, &mins.map(|part| part.floor() as i32));
        self.ints(lump, &maxs.map(|part| part.ceil() as i32));
    }

    fn entities(&mut self, entities: &[Entity]) {
        self.of(Lump::Entities).extend(entity_text(entities));
        self.of(Lump::Entities).push(0);
    }

    fn shaders(&mut self, geometry: &Geometry) {
        for material in geometry.materials.all() {
            self.name(Lump::Shaders, &material.shader.name);
            self.ints(Lump::Shaders, &[material.shader.surface_flags, material.shader.contents]);
        }
    }

    /// Writes the name of a shader.
    fn name(&mut self, lump: Lump, name: &str) {
        let mut padded = [0; NAME_LEN];
        let bytes = name.as_bytes();
        let len = bytes.len().min(NAME_LEN - 1);
        padded[..len].copy_from_slice(&bytes[..len]);
        self.of(lump).extend(padded);
    }

    fn fogs(&mut self, geometry: &Geometry) {
        let world = &geometry.models[0].brushes;
        for fog in &geometry.fogs.0 {
            let brush = &world[fog.brush];
            self.name(Lump::Fogs, &geometry.materials[brush.material].shader.name);
            let numbers = [brush.number, fog.side];
            self.ints(Lump::Fogs, &numbers.map(|number| number.map_or(-1, |number| number as i32)));
        }
    }

    fn planes(&mut self, geometry: &Geometry) {
        for plane in geometry.planes.all() {
            self.floats(Lump::Planes, &plane.normal.to_f32());
            self.floats(Lump::Planes, &[plane.dist as f32]);
        }
    }

    fn tree(&mut self, geometry: &Geometry) {
        let child = |child: Child| match child {
            Child::Node(node) => node as i32,
            // Leaf 0 of the file is the unused one.
            Child::Leaf(leaf) => -2 - leaf as i32,
        };
        for node in &geometry.tree.nodes {
            self.numbers(Lump::Nodes, &[node.plane]);
            self.ints(Lump::Nodes, &node.children.map(child));
            self.whole_bounds(Lump::Nodes, &node.bounds);
        }
        self.ints(Lump::Leafs, &[-1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let world = &geometry.models[0].brushes;
        for leaf in &geometry.tree.leafs {
            let number = |number: Option<usize>| number.map_or(-1, |number| number as i32);
            let brushes: Vec<usize> =
                leaf.brushes.iter().filter_map(|&brush| world[brush].number).collect();
            let first = [self.count(Lump::LeafSurfaces), self.count(Lump::LeafBrushes)];
            self.ints(Lump::Leafs, &[number(leaf.cluster), number(leaf.area)]);
            self.whole_bounds(Lump::Leafs, &leaf.bounds);
            self.numbers(Lump::Leafs, &[first[0], leaf.surfaces.len(), first[1], brushes.len()]);
            self.numbers(Lump::LeafSurfaces, &leaf.surfaces);
            self.numbers(Lump::LeafBrushes, &brushes);
        }
    }

    fn models(&mut self, geometry: &Geometry) {
        let (mut brush, mut surface) = (0, 0);
        for (number, model) in geometry.models.iter().enumerate() {
            let bounds = model.bounds();
            let brushes = model.brushes.iter().filter(|brush| brush.number.is_some()).count();
            let surfaces =
                geometry.surfaces.iter().filter(|surface| surface.model == number).count();
            self.floats(Lump::Models, &bounds.mins.to_f32());
            self.floats(Lump::Models, &bounds.maxs.to_f32());
            self.numbers(Lump::Models, &[surface, surfaces, brush, brushes]);
            brush += brushes;
            surface += surfaces;
        }
    }

    fn brushes(&mut self, geometry: &Geometry) {
        let brushes = geometry.models.iter().flat_map(|model| &model.brushes);
        for brush in brushes.filter(|brush| brush.number.is_some()) {
            let first = self.count(Lump::BrushSides);
            self.numbers(Lump::Brushes, &[first, brush.sides.len(), brush.material]);
            for side in &brush.sides {
                self.numbers(Lump::BrushSides, &[side.plane, side.material]);
            }
        }
    }

    fn surfaces(&mut self, geometry: &Geometry, lighting: &Lighting) {
        let unlit = SurfaceLight::default();
        for (number, surface) in geometry.surfaces.iter().enumerate() {
            let light = lighting.surfaces.get(number).unwrap_or(&unlit);
            let first = [self.count(Lump::Vertices), self.count(Lump::Indexes)];
            let (kind, size) = match &surface.shape {
                Shape::Polygon { .. } => {
                    self.polygon(geometry, surface, light);
                    (POLYGON, [0, 0])
                }
                Shape::Patch(patch) => {
                    self.patch(patch, light);
                    (PATCH, [patch.width, patch.height])
                }
            };
            let count = [Lump::Vertices, Lump::Indexes].map(|lump| self.count(lump));
            let fog = surface.fog.map_or(-1, |fog| fog as i32);
            self.ints(Lump::Surfaces, &[surface.material as i32, fog, kind]);
            self.numbers(
                Lump::Surfaces,
                &[first[0], count[0] - first[0], first[1], count[1] - first[1]],
            );
            self.light_map(geometry, surface, light);
            self.numbers(Lump::Surfaces, &size);
        }
    }

    /// Writes the light map fields of a surface.
    fn light_map(&mut self, geometry: &Geometry, surface: &Surface, light: &SurfaceLight) {
        let (mut origin, mut vectors) = ([0.0; 3], [[0.0; 3]; 3]);
        match &light.placement {
            Some(place) => {
                let page = [place.page, place.x, place.y, place.width, place.height];
                self.numbers(Lump::Surfaces, &page);
                origin = place.origin;
                vectors = place.vectors;
            }
            None => self.ints(Lump::Surfaces, &[-1, 0, 0, 0, 0]),
        }
        match &surface.shape {
            Shape::Polygon { plane, .. } => vectors[2] = geometry.planes[*plane].normal.0,
            // Renderers subdivide patches with equal bounds alike.
            Shape::Patch(patch) => {
                let bounds = Bounds::of(patch.points.iter().map(|point| &point.position));
                origin = [0.0; 3];
                vectors = [bounds.mins.0, bounds.maxs.0, [0.0; 3]];
            }
        }
        self.floats(Lump::Surfaces, &origin.map(|part| part as f32));
        self.floats(
            Lump::Surfaces,
            &vectors.as_flattened().iter().map(|&p| p as f32).collect::<Vec<_>>(),
        );
    }

    fn polygon(&mut self, geometry: &Geometry, surface: &Surface, light: &SurfaceLight) {
        let (points, corners) = vertices_of(surface);
        let st = texture_coordinates(&geometry.materials, surface, &points);
        let Shape::Polygon { plane, .. } = &surface.shape else { return };
        let normal = geometry.planes[*plane].normal;
        for (index, (point, st)) in points.iter().zip(st).enumerate() {
            self.vertex(*point, st, normal, light, index);
        }
        self.numbers(Lump::Indexes, &corners);
    }

    fn patch(&mut self, patch: &super::map_file::Patch, light: &SurfaceLight) {
        let part = |at: usize, count: usize| at as f64 / (count - 1) as f64;
        for (index, point) in patch.points.iter().enumerate() {
            let (column, row) = (index % patch.width, index / patch.width);
            let normal = patch.normal_at(part(column, patch.width), part(row, patch.height));
            self.vertex(point.position, point.texture, normal, light, index);
        }
    }

    fn vertex(
        &mut self,
        point: Vector,
        st: [f64; 2],
        normal: Vector,
        light: &SurfaceLight,
        index: usize,
    ) {
        let place = light.placement.as_ref();
        let uv = place.and_then(|place| place.coordinates.get(index)).copied().unwrap_or_default();
        self.floats(Lump::Vertices, &point.to_f32());
        self.floats(Lump::Vertices, &st.map(|part| part as f32));
        self.floats(Lump::Vertices, &uv.map(|part| part as f32));
        self.floats(Lump::Vertices, &normal.to_f32());
        let color = light.colors.get(index).copied().unwrap_or(WHITE);
        self.of(Lump::Vertices).extend(color);
    }

    fn visibility(&mut self, geometry: &Geometry) {
        let Some(rows) = &geometry.visibility else { return };
        let row_len = geometry.clusters.div_ceil(64) * 8;
        self.numbers(Lump::Visibility, &[geometry.clusters, row_len]);
        for row in rows {
            self.of(Lump::Visibility)
                .extend(row.words().iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    fn into_file(self) -> Vec<u8> {
        let mut file = vec![0; HEADER_LEN];
        file[..4].copy_from_slice(b"IBSP");
        file[4..8].copy_from_slice(&VERSION.to_le_bytes());
        for lump in ORDER {
            let bytes = &self.0[lump as usize];
            let header = 8 + 8 * lump as usize;
            for (at, value) in [(header, file.len()), (header + 4, bytes.len())] {
                file[at..at + 4].copy_from_slice(&(value as i32).to_le_bytes());
            }
            file.extend(bytes);
            file.resize(file.len().next_multiple_of(4), 0);
        }
        file
    }
}

/// Returns the entity string. Keys for compilers and editors and entities that are used up are left out.
fn entity_text(entities: &[Entity]) -> Vec<u8> {
    let mut text = String::new();
    for entity in entities.iter().filter(|entity| entity.is_written()) {
        text.push_str("{\n");
        for Pair { key, value, .. } in entity.written_pairs() {
            text.push_str(&format!("\"{key}\" \"{value}\"\n"));
        }
        text.push_str("}\n");
    }
    text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }).collect()
}
