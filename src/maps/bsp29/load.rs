//! Loader of QuakeWorld maps: tables from lumps, with every reference checked.

use super::checksum::MapChecksums;
use super::error::{Bsp29Error, Lump, LumpFault, RecordFault};
use super::file::{Lumps, Record};
use super::hull::{Contents, HullChild, HullNode, Plane};
use super::leafs::{Leaf, LeafChild, LeafNode, LeafNum};
use super::visibility::Visibility;
use super::{Bsp29, MAX_MODELS, Model, drawn, trees};

/// Largest accepted difference of a normal's length from 1.
const NORMAL_SLACK: f32 = 0.01;
/// Highest kind of a plane: 0 to 2 axial, 3 to 5 oblique.
const LAST_PLANE_KIND: i32 = 5;
/// Lowest bit pattern of contents in a clip node. Children are 16 bits; maps with more than 32,767 nodes use
/// those below as nodes.
const FIRST_CONTENTS: u16 = 0xFFF0;

pub(super) fn load(file: &[u8]) -> Result<Bsp29, Bsp29Error> {
    let lumps = Lumps::split(file)?;
    check_counts(&lumps)?;
    let planes = collect(&lumps, Lump::Planes, plane)?;
    let leafs = collect(&lumps, Lump::Leafs, leaf)?;
    let leaf_nodes = collect(&lumps, Lump::Nodes, |record| {
        leaf_node(record, &planes, lumps.count(Lump::Nodes), leafs.len())
    })?;
    let clip_nodes = collect(&lumps, Lump::ClipNodes, |record| {
        clip_node(record, &planes, lumps.count(Lump::ClipNodes))
    })?;
    let below_nodes: Vec<_> =
        leaf_nodes.iter().map(|node| node.children.map(|child| child.branch().ok())).collect();
    trees::check(Lump::Nodes, &below_nodes)?;
    let below_nodes: Vec<_> =
        clip_nodes.iter().map(|node| node.children.map(|child| child.branch().ok())).collect();
    trees::check(Lump::ClipNodes, &below_nodes)?;
    let models = collect(&lumps, Lump::Models, |record| {
        model(record, &leafs, leaf_nodes.len(), clip_nodes.len())
    })?;

    let mut warnings = Vec::new();
    let seen = lumps.records(Lump::Models).map(|record| record.int(52)).next();
    let visible_leafs = visible_leafs(seen.unwrap_or(0), &lumps)?;
    let offsets = lumps.records(Lump::Leafs).skip(1).take(visible_leafs).map(|leaf| leaf.int(4));
    let visibility =
        Visibility::read(lumps.bytes(Lump::Visibility), offsets, visible_leafs, &mut warnings);
    drawn::check(&lumps, &mut warnings);

    let entity_text = lumps.bytes(Lump::Entities);
    let entity_text = entity_text.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Bsp29 {
        checksums: MapChecksums::of(&lumps),
        entity_text: entity_text.into(),
        point_nodes: leaf_nodes.iter().map(|node| point_node(node, &leafs)).collect(),
        clip_nodes,
        leaf_nodes,
        leafs,
        models,
        visibility,
        warnings,
    })
}

/// Checks the minimum and maximum record counts of the lumps.
fn check_counts(lumps: &Lumps<'_>) -> Result<(), Bsp29Error> {
    for lump in [Lump::Planes, Lump::Leafs, Lump::Models] {
        if lumps.count(lump) == 0 {
            return Err(Bsp29Error::Lump { lump, fault: LumpFault::Empty });
        }
    }
    let limits = [
        (Lump::Models, MAX_MODELS),
        // Children are 16 bits. The lowest bit patterns of leafs and contents are not nodes.
        (Lump::Leafs, 0x8000),
        (Lump::Nodes, 0x8000),
        (Lump::ClipNodes, FIRST_CONTENTS as usize),
    ];
    for (lump, max) in limits {
        let count = lumps.count(lump);
        if count > max {
            return Err(Bsp29Error::Lump { lump, fault: LumpFault::TooMany { count, max } });
        }
    }
    Ok(())
}

fn collect<'a, T>(
    lumps: &Lumps<'a>,
    lump: Lump,
    read: impl FnMut(Record<'a>) -> Result<T, Bsp29Error>,
) -> Result<Box<[T]>, Bsp29Error> {
    lumps.records(lump).map(read).collect()
}

fn plane(record: Record<'_>) -> Result<Plane, Bsp29Error> {
    let normal = record.vec3(0, "normal")?;
    let dist = record.float(12, "distance")?;
    let kind = record.int(16);
    if !(0..=LAST_PLANE_KIND).contains(&kind) {
        let (min, max) = (0, LAST_PLANE_KIND);
        return Err(record.fault(RecordFault::Value { field: "type", value: kind, min, max }));
    }
    let length = normal.length();
    // The length overflows to infinity, which is out of range too.
    if !(1.0 - NORMAL_SLACK..=1.0 + NORMAL_SLACK).contains(&length) {
        return Err(record.fault(RecordFault::Normal { length }));
    }
    Ok(Plane::new(normal, dist, kind as u8))
}

fn contents(record: &Record<'_>, value: i32) -> Result<Contents, Bsp29Error> {
    Contents::new(value).ok_or_else(|| {
        let (min, max) = (Contents::LOWEST.number(), -1);
        record.fault(RecordFault::Value { field: "contents", value, min, max })
    })
}

fn leaf(record: Record<'_>) -> Result<Leaf, Bsp29Error> {
    Ok(Leaf { contents: contents(&record, record.int(0))? })
}

fn leaf_node(
    record: Record<'_>,
    planes: &[Plane],
    nodes: usize,
    leafs: usize,
) -> Result<LeafNode, Bsp29Error> {
    let child = |at: usize| {
        let child = i32::from(record.signed_short(at));
        if child >= 0 {
            Ok(LeafChild::node(record.index(child, "child node", nodes)?))
        } else {
            // -1 is leaf 0.
            Ok(LeafChild::leaf(LeafNum::from_checked(record.index(!child, "child leaf", leafs)?)))
        }
    };
    Ok(LeafNode {
        plane: planes[record.index(record.int(0), "plane", planes.len())?],
        children: [child(4)?, child(6)?],
    })
}

fn clip_node(record: Record<'_>, planes: &[Plane], nodes: usize) -> Result<HullNode, Bsp29Error> {
    let child = |at: usize| {
        if record.short(at) >= FIRST_CONTENTS {
            let value = i32::from(record.signed_short(at));
            return Ok(HullChild::contents(contents(&record, value)?));
        }
        Ok(HullChild::node(record.index(i32::from(record.short(at)), "child", nodes)?))
    };
    Ok(HullNode {
        plane: planes[record.index(record.int(0), "plane", planes.len())?],
        children: [child(4)?, child(6)?],
    })
}

/// Returns a node of hull 0: leafs become their contents.
fn point_node(node: &LeafNode, leafs: &[Leaf]) -> HullNode {
    let children = node.children.map(|child| match child.branch() {
        Ok(node) => HullChild::node(node),
        Err(leaf) => HullChild::contents(leafs[leaf.index()].contents),
    });
    HullNode { plane: node.plane, children }
}

fn model(
    record: Record<'_>,
    leafs: &[Leaf],
    nodes: usize,
    clip_nodes: usize,
) -> Result<Model, Bsp29Error> {
    let (mins, maxs) = (record.vec3(0, "lower bound")?, record.vec3(12, "upper bound")?);
    let point = record.int(36);
    let point = if point >= 0 {
        HullChild::node(record.index(point, "head node", nodes)?)
    } else {
        HullChild::contents(leafs[record.index(!point, "head leaf", leafs.len())?].contents)
    };
    let clip = |at: usize| match record.int(at) {
        value if value < 0 => Ok(HullChild::contents(contents(&record, value)?)),
        // Models without a hull have head 0 in a map without clip nodes.
        0 if clip_nodes == 0 => Ok(HullChild::contents(Contents::EMPTY)),
        value => Ok(HullChild::node(record.index(value, "head clip node", clip_nodes)?)),
    };
    Ok(Model { mins, maxs, heads: [point, clip(40)?, clip(44)?] })
}

/// Returns the number of leafs that the PVS knows: those of the world, from leaf 1.
fn visible_leafs(count: i32, lumps: &Lumps<'_>) -> Result<usize, Bsp29Error> {
    let max = lumps.count(Lump::Leafs) as i32 - 1;
    if !(0..=max).contains(&count) {
        let fault = RecordFault::Value { field: "visible leafs", value: count, min: 0, max };
        return Err(Bsp29Error::Record { lump: Lump::Models, record: 0, fault });
    }
    Ok(count as usize)
}
