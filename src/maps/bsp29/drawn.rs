//! Checks of the lumps that only clients use: faces, edges, textures.
//!
//! A client that loads such a lump follows its references without a check. The first problem of each lump is a
//! warning, as the game does not need them.

use super::error::{Bsp29Error, Lump, RecordFault};
use super::file::{Lumps, Record};

/// Appends a warning for each lump with a reference that is not in its table.
pub(super) fn check(lumps: &Lumps<'_>, warnings: &mut Vec<String>) {
    type Check = fn(Record<'_>, &Lumps<'_>) -> Result<(), Bsp29Error>;
    let checks: [(Lump, Check); 8] = [
        (Lump::Vertices, vertex),
        (Lump::Edges, edge),
        (Lump::SurfaceEdges, surface_edge),
        (Lump::TextureInfos, texture_info),
        (Lump::Faces, face),
        (Lump::MarkSurfaces, mark_surface),
        (Lump::Nodes, node),
        (Lump::Leafs, leaf),
    ];
    for (lump, check) in checks {
        let first = lumps.records(lump).find_map(|record| check(record, lumps).err());
        warnings.extend(first.map(|error| error.to_string()));
    }
    let models = lumps.records(Lump::Models);
    let first = models.into_iter().find_map(|record| model(record, lumps).err());
    warnings.extend(first.map(|error| error.to_string()));
}

fn vertex(record: Record<'_>, _: &Lumps<'_>) -> Result<(), Bsp29Error> {
    record.vec3(0, "position").map(|_| ())
}

fn edge(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    let vertices = lumps.count(Lump::Vertices);
    for at in [0, 2] {
        record.index(i32::from(record.short(at)), "vertex", vertices)?;
    }
    Ok(())
}

fn surface_edge(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    // The sign is the direction. The lowest number has no absolute value.
    let edge = record.int(0).checked_abs().unwrap_or(-1);
    record.index(edge, "edge", lumps.count(Lump::Edges)).map(|_| ())
}

fn texture_info(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    for at in (0..32).step_by(4) {
        record.float(at, "projection")?;
    }
    let textures = lumps.bytes(Lump::Textures);
    let Some(count) = textures.first_chunk::<4>().map(|bytes| i32::from_le_bytes(*bytes)) else {
        return Ok(());
    };
    let count = usize::try_from(count).unwrap_or(0);
    record.index(record.int(32), "texture", count).map(|_| ())
}

fn face(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    record.index(i32::from(record.short(0)), "plane", lumps.count(Lump::Planes))?;
    let (first, count) = (record.int(4), i32::from(record.short(8)));
    record.range(first, count, "surface edges", lumps.count(Lump::SurfaceEdges))?;
    record.index(i32::from(record.short(10)), "texture info", lumps.count(Lump::TextureInfos))?;
    let light = record.int(16);
    if light != -1 {
        record.range(light, 0, "light", lumps.count(Lump::Lighting))?;
    }
    Ok(())
}

fn mark_surface(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    record.index(i32::from(record.short(0)), "face", lumps.count(Lump::Faces)).map(|_| ())
}

fn node(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    if record.short(4) == record.short(6) && record.signed_short(4) < 0 {
        // ezQuake rejects such a map.
        let fault = RecordFault::Value {
            field: "both children",
            value: i32::from(record.signed_short(4)),
            min: 0,
            max: lumps.count(Lump::Nodes) as i32,
        };
        return Err(record.fault(fault));
    }
    let (first, count) = (i32::from(record.short(20)), i32::from(record.short(22)));
    record.range(first, count, "faces", lumps.count(Lump::Faces)).map(|_| ())
}

fn leaf(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    let (first, count) = (i32::from(record.short(20)), i32::from(record.short(22)));
    let marks = lumps.count(Lump::MarkSurfaces);
    record.range(first, count, "mark surfaces", marks).map(|_| ())
}

fn model(record: Record<'_>, lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    let faces = lumps.count(Lump::Faces);
    record.range(record.int(56), record.int(60), "faces", faces).map(|_| ())
}
