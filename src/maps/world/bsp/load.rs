//! Loader of map files: tables from lumps, with every reference checked.

use crate::model::{Vec3, block_checksum};

use super::super::pvs::Pvs;
use super::error::{BspError, Lump, LumpFault, RecordFault};
use super::file::{Lumps, Record};
use super::table::{
    AreaNum, BrushNum, BrushSideNum, LeafNum, ModelNum, NodeNum, PlaneNum, ShaderNum, Span,
    SurfaceNum, Table, TableIndex,
};
use super::{
    Brush, BrushSide, Bsp, Child, Leaf, MAX_AREAS, MAX_BRUSHES_TOGETHER, MAX_MODELS,
    MAX_PATCH_POINTS, MAX_PATCH_SIDE, MAX_SURFACES_TOGETHER, Model, Node, PatchGrid, Plane, Shader,
    Surface, tree,
};

/// Largest accepted difference of a normal's length from 1. Compilers' normals are exact to the
/// last bits.
const NORMAL_SLACK: f32 = 0.001;
/// Surface type of a patch.
const PATCH: i32 = 2;

pub(super) fn load(file: &[u8]) -> Result<Bsp, BspError> {
    let lumps = Lumps::split(file)?;
    check_counts(&lumps)?;

    let shaders: Table<_, Shader> = table(&lumps, Lump::Shaders, shader)?;
    let planes: Table<_, Plane> = table(&lumps, Lump::Planes, plane)?;
    let brush_sides = brush_sides(&lumps, &shaders, planes.len())?;
    let brushes = brushes(&lumps, &shaders, &planes, &brush_sides)?;
    let vertices = table(&lumps, Lump::Vertices, |record| record.vec3(0, "position"))?;
    let surfaces = surfaces(&lumps, &shaders, vertices.len())?;
    let leaf_surfaces = table(&lumps, Lump::LeafSurfaces, |record| {
        // Some public maps store -1 here and mean shader 0.
        let surface = if record.int(0) == -1 { 0 } else { record.int(0) };
        record.checked(surface, "surface", surfaces.len())
    })?;
    let leaf_brushes: Table<_, BrushNum> =
        table(&lumps, Lump::LeafBrushes, |record| record.number(0, "brush", brushes.len()))?;
    let leafs = leafs(&lumps, leaf_surfaces.len(), leaf_brushes.len())?;
    let models = models(&lumps, surfaces.len(), brushes.len())?;
    let nodes = nodes(&lumps, &planes)?;
    tree::check(&nodes, leafs.len())?;

    let cluster_count = leafs.iter().filter_map(|leaf| leaf.cluster);
    let cluster_count = cluster_count.max().map_or(0, |highest| highest.index() + 1);
    let area_count = leafs.iter().filter_map(|leaf| leaf.area);
    let area_count = area_count.max().map_or(0, |highest| AreaNum::index(highest) + 1);
    let mut warnings = Vec::new();
    let visibility =
        Pvs::read(lumps.bytes(Lump::Visibility), cluster_count).unwrap_or_else(|fault| {
            warnings
                .push(format!("{}: {fault}; PVS ignored, everything is visible", Lump::Visibility));
            Pvs::unrestricted(cluster_count)
        });

    Ok(Bsp {
        checksum: block_checksum(file),
        entity_text: lumps.bytes(Lump::Entities).into(),
        shaders,
        planes,
        nodes: nodes.into(),
        leafs,
        leaf_surfaces,
        leaf_brushes,
        models,
        brushes,
        brush_sides,
        vertices,
        surfaces,
        visibility,
        area_count,
        warnings,
    })
}

fn brush_sides(
    lumps: &Lumps<'_>,
    shaders: &Table<ShaderNum, Shader>,
    planes: usize,
) -> Result<Table<BrushSideNum, BrushSide>, BspError> {
    table(lumps, Lump::BrushSides, |record| {
        let shader = record.number(4, "shader", shaders.len())?;
        Ok(BrushSide {
            plane: record.number(0, "plane", planes)?,
            shader,
            surface_flags: shaders[shader].surface_flags,
        })
    })
}

fn brushes(
    lumps: &Lumps<'_>,
    shaders: &Table<ShaderNum, Shader>,
    planes: &Table<PlaneNum, Plane>,
    brush_sides: &Table<BrushSideNum, BrushSide>,
) -> Result<Table<BrushNum, Brush>, BspError> {
    let mut claims = Claims::new("sides", brush_sides.len());
    table(lumps, Lump::Brushes, |record| {
        let sides = record.span(0, "sides", brush_sides.len())?;
        claims.add(record, sides)?;
        if (1..6).contains(&sides.len()) {
            return Err(record.fault(RecordFault::FewSides { sides: sides.len() }));
        }
        let shader = record.number(8, "shader", shaders.len())?;
        let (mins, maxs) = brush_bounds(&brush_sides[sides], planes);
        Ok(Brush { sides, shader, contents: shaders[shader].contents, mins, maxs })
    })
}

fn surfaces(
    lumps: &Lumps<'_>,
    shaders: &Table<ShaderNum, Shader>,
    vertices: usize,
) -> Result<Table<SurfaceNum, Surface>, BspError> {
    let mut claims = Claims::new("control points", vertices);
    table(lumps, Lump::Surfaces, |record| {
        if record.int(8) != PATCH {
            return Ok(Surface { patch: None });
        }
        let patch = patch(record, shaders, vertices)?;
        claims.add(record, patch.points)?;
        Ok(Surface { patch: Some(patch) })
    })
}

fn leafs(
    lumps: &Lumps<'_>,
    leaf_surfaces: usize,
    leaf_brushes: usize,
) -> Result<Table<LeafNum, Leaf>, BspError> {
    let mut surface_claims = Claims::new("leaf surfaces", leaf_surfaces);
    let mut brush_claims = Claims::new("leaf brushes", leaf_brushes);
    let leaf_count = lumps.count(Lump::Leafs);
    table(lumps, Lump::Leafs, |record| {
        let leaf = Leaf {
            // Every cluster has a leaf, so the number of leafs limits the number of clusters.
            cluster: record.optional(0, "cluster", leaf_count)?,
            area: record.optional(4, "area", MAX_AREAS)?,
            surfaces: record.span(32, "leaf surfaces", leaf_surfaces)?,
            brushes: record.span(40, "leaf brushes", leaf_brushes)?,
        };
        limit(record, "leaf surfaces", leaf.surfaces, MAX_SURFACES_TOGETHER)?;
        limit(record, "leaf brushes", leaf.brushes, MAX_BRUSHES_TOGETHER)?;
        surface_claims.add(record, leaf.surfaces)?;
        brush_claims.add(record, leaf.brushes)?;
        Ok(leaf)
    })
}

fn models(
    lumps: &Lumps<'_>,
    surfaces: usize,
    brushes: usize,
) -> Result<Table<ModelNum, Model>, BspError> {
    let mut surface_claims = Claims::new("surfaces", surfaces);
    let mut brush_claims = Claims::new("brushes", brushes);
    let mut is_world = true;
    table(lumps, Lump::Models, |record| {
        let grown = Vec3::new(1.0, 1.0, 1.0);
        let model = Model {
            mins: record.vec3(0, "lower bound")? - grown,
            maxs: record.vec3(12, "upper bound")? + grown,
            surfaces: record.span(24, "surfaces", surfaces)?,
            brushes: record.span(32, "brushes", brushes)?,
        };
        // Traces meet the world by its leafs.
        if !std::mem::take(&mut is_world) {
            limit(record, "surfaces", model.surfaces, MAX_SURFACES_TOGETHER)?;
            limit(record, "brushes", model.brushes, MAX_BRUSHES_TOGETHER)?;
        }
        surface_claims.add(record, model.surfaces)?;
        brush_claims.add(record, model.brushes)?;
        Ok(model)
    })
}

fn nodes(
    lumps: &Lumps<'_>,
    planes: &Table<PlaneNum, Plane>,
) -> Result<Table<NodeNum, Node>, BspError> {
    let (node_count, leaf_count) = (lumps.count(Lump::Nodes), lumps.count(Lump::Leafs));
    table(lumps, Lump::Nodes, |record| {
        Ok(Node {
            plane: planes[record.number::<PlaneNum>(0, "plane", planes.len())?],
            children: [
                child(record, 4, node_count, leaf_count)?,
                child(record, 8, node_count, leaf_count)?,
            ],
        })
    })
}

/// Checks the minimum and maximum record counts of the lumps.
fn check_counts(lumps: &Lumps<'_>) -> Result<(), BspError> {
    for lump in [Lump::Shaders, Lump::Planes, Lump::Nodes, Lump::Leafs, Lump::Models] {
        if lumps.count(lump) == 0 {
            return Err(BspError::Lump { lump, fault: LumpFault::Empty });
        }
    }
    let (lump, count, max) = (Lump::Models, lumps.count(Lump::Models), MAX_MODELS);
    if count > max {
        return Err(BspError::Lump { lump, fault: LumpFault::TooMany { count, max } });
    }
    Ok(())
}

fn table<'a, N: TableIndex, T>(
    lumps: &Lumps<'a>,
    lump: Lump,
    read: impl FnMut(Record<'a>) -> Result<T, BspError>,
) -> Result<Table<N, T>, BspError> {
    Ok(Table::new(lumps.records(lump).map(read).collect::<Result<_, _>>()?))
}

fn shader(record: Record<'_>) -> Result<Shader, BspError> {
    let name = record.bytes()[..64].split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Shader {
        name: String::from_utf8_lossy(name).into(),
        surface_flags: record.int(64),
        contents: record.int(68),
    })
}

fn plane(record: Record<'_>) -> Result<Plane, BspError> {
    let plane = Plane::new(record.vec3(0, "normal")?, record.float(12, "distance")?);
    let length = plane.normal.length();
    // The length overflows to infinity, which is out of range too.
    if !(1.0 - NORMAL_SLACK..=1.0 + NORMAL_SLACK).contains(&length) {
        return Err(record.fault(RecordFault::Normal { length }));
    }
    Ok(plane)
}

/// Returns the bounds of a brush, from the planes of its first six sides.
fn brush_bounds(sides: &[BrushSide], planes: &Table<PlaneNum, Plane>) -> (Vec3, Vec3) {
    let &[west, east, south, north, bottom, top, ..] = sides else {
        return (Vec3::ZERO, Vec3::ZERO);
    };
    let dist = |side: BrushSide| planes[side.plane].dist;
    (
        Vec3::new(-dist(west), -dist(south), -dist(bottom)),
        Vec3::new(dist(east), dist(north), dist(top)),
    )
}

fn patch(
    record: Record<'_>,
    shaders: &Table<ShaderNum, Shader>,
    vertex_count: usize,
) -> Result<PatchGrid, BspError> {
    let (width, height) = (record.int(96), record.int(100));
    let side = |points: i32| {
        u16::try_from(points).ok().filter(|&p| p % 2 == 1 && (3..=MAX_PATCH_SIDE).contains(&p))
    };
    let sides = side(width).zip(side(height));
    let (columns, rows) = sides
        .filter(|&(w, h)| usize::from(w) * usize::from(h) <= MAX_PATCH_POINTS)
        .ok_or_else(|| record.fault(RecordFault::PatchSize { width, height }))?;
    let shader = record.number(0, "shader", shaders.len())?;
    Ok(PatchGrid {
        width: columns,
        height: rows,
        points: record.checked_span(record.int(12), width * height, "vertices", vertex_count)?,
        shader,
        contents: shaders[shader].contents,
        surface_flags: shaders[shader].surface_flags,
    })
}

fn child(record: Record<'_>, at: usize, nodes: usize, leafs: usize) -> Result<Child, BspError> {
    let child = record.int(at);
    if child >= 0 {
        record.checked::<NodeNum>(child, "child node", nodes)?;
    } else {
        // -1 is leaf 0. The complement cannot overflow, unlike the difference.
        record.checked::<LeafNum>(!child, "child leaf", leafs)?;
    }
    Ok(Child(child))
}

/// Rejects a range that a trace would test in one step.
fn limit<N: TableIndex>(
    record: Record<'_>,
    field: &'static str,
    span: Span<N>,
    max: usize,
) -> Result<(), BspError> {
    let count = span.len();
    if count > max {
        return Err(record.fault(RecordFault::TooMany { field, count, max }));
    }
    Ok(())
}

/// Sums of the ranges that records reference. Compilers give every entry to one record only. A file
/// that shares entries would make queries slow and derived data large.
struct Claims {
    field: &'static str,
    available: usize,
    claimed: usize,
}

impl Claims {
    const fn new(field: &'static str, available: usize) -> Self {
        Self { field, available, claimed: 0 }
    }

    fn add<N: TableIndex>(&mut self, record: Record<'_>, span: Span<N>) -> Result<(), BspError> {
        self.claimed += span.len();
        if self.claimed > self.available {
            let (field, available) = (self.field, self.available);
            return Err(record.fault(RecordFault::Shared { field, available }));
        }
        Ok(())
    }
}
