//! Writer of BSP29 files.

use super::super::error::Lump;
use super::super::file::{HEADER_LEN, VERSION};
use super::super::hull::Contents;
use super::output::{LeafRecord, Output};
use super::solid::{self, SolidFace};
use super::{MapSource, Point};

/// Order of the lumps in the file.
const ORDER: [Lump; 15] = [
    Lump::Planes,
    Lump::Leafs,
    Lump::Vertices,
    Lump::Nodes,
    Lump::TextureInfos,
    Lump::Faces,
    Lump::ClipNodes,
    Lump::MarkSurfaces,
    Lump::SurfaceEdges,
    Lump::Edges,
    Lump::Models,
    Lump::Lighting,
    Lump::Visibility,
    Lump::Entities,
    Lump::Textures,
];

/// Largest coordinate of boxes of nodes and leafs.
const MAX_COORD: f64 = 4096.0;

/// Bytes of a lump.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn int(&mut self, value: i64) {
        self.0.extend((value as i32).to_le_bytes());
    }

    fn short(&mut self, value: i64) {
        self.0.extend((value as u16).to_le_bytes());
    }

    fn float(&mut self, value: f64) {
        self.0.extend((value as f32).to_le_bytes());
    }

    fn point(&mut self, point: &Point) {
        point.iter().for_each(|&part| self.float(part));
    }

    /// Writes the box of a region in whole units.
    fn region_box(&mut self, region: &[SolidFace]) {
        for (pick, round) in
            [(f64::min as fn(f64, f64) -> f64, f64::floor as fn(f64) -> f64), (f64::max, f64::ceil)]
        {
            for axis in 0..3 {
                let all = solid::corners(region);
                let all = all.map(|corner| corner[axis].clamp(-MAX_COORD, MAX_COORD));
                self.short(round(all.reduce(pick).unwrap_or(0.0)) as i64);
            }
        }
    }
}

/// Returns the file.
pub(super) fn write(output: &Output<'_>) -> Vec<u8> {
    let (visibility, rows) = visibility(output);
    let mut file = vec![0; HEADER_LEN];
    file[..4].copy_from_slice(&VERSION.to_le_bytes());
    for lump in ORDER {
        let bytes = match lump {
            Lump::Entities => [output.source.entities.as_bytes(), b"\0"].concat(),
            Lump::Textures => textures(output.source),
            Lump::Visibility => visibility.clone(),
            Lump::Lighting => Vec::new(),
            Lump::Leafs => leafs(output, &rows),
            Lump::Models => models(output),
            Lump::Planes | Lump::Nodes | Lump::ClipNodes | Lump::MarkSurfaces => {
                tree_lump(output, lump)
            }
            Lump::Vertices
            | Lump::TextureInfos
            | Lump::Faces
            | Lump::SurfaceEdges
            | Lump::Edges => face_lump(output, lump),
        };
        let at = 4 + 8 * lump as usize;
        let place = [file.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        file[at..at + 8].copy_from_slice(&place);
        file.extend(&bytes);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

fn tree_lump(output: &Output<'_>, lump: Lump) -> Vec<u8> {
    let mut out = Bytes::default();
    match lump {
        Lump::Planes => {
            for plane in &output.planes {
                out.point(&plane.side.normal);
                out.float(plane.side.dist);
                out.int(plane.kind as i64);
            }
        }
        Lump::Nodes => {
            for node in &output.nodes {
                out.int(node.plane as i64);
                node.children.iter().for_each(|&child| out.short(child.into()));
                out.region_box(&node.region);
                node.faces.iter().for_each(|&number| out.short(number as i64));
            }
        }
        Lump::ClipNodes => {
            for &(plane, children) in &output.clip_nodes {
                out.int(plane as i64);
                children.iter().for_each(|&child| out.short(child.into()));
            }
        }
        _ => {
            let marks = output.leafs.iter().flat_map(|leaf| &leaf.marks);
            marks.for_each(|&face| out.short(face as i64));
        }
    }
    out.0
}

fn face_lump(output: &Output<'_>, lump: Lump) -> Vec<u8> {
    let mut out = Bytes::default();
    let faces = &output.faces;
    match lump {
        Lump::Vertices => faces.vertices.iter().for_each(|vertex| out.point(vertex)),
        Lump::TextureInfos => {
            for projection in &faces.projections {
                for (axis, sign) in projection.axes.into_iter().zip([1.0, -1.0]) {
                    let unit = |i: usize| if i == axis { sign } else { 0.0 };
                    (0..3).for_each(|i| out.float(unit(i)));
                    out.float(0.0);
                }
                out.int(projection.texture as i64);
                out.int(output.source.textures[projection.texture].is_liquid().into());
            }
        }
        Lump::Faces => {
            for face in &faces.records {
                out.short(face.plane as i64);
                out.short(face.is_flipped.into());
                // Edge 0 is unused.
                out.int(face.first_edge as i64);
                out.short(face.edges as i64);
                out.short(face.texture_info as i64);
                // Style 0 of light, no light map.
                out.0.extend([0, 255, 255, 255]);
                out.int(-1);
            }
        }
        Lump::Edges => {
            let all = [[0, 0]].into_iter().chain(faces.edges.iter().copied());
            all.flatten().for_each(|vertex| out.short(vertex as i64));
        }
        _ => (1..=faces.edges.len()).for_each(|edge| out.int(edge as i64)),
    }
    out.0
}

fn textures(source: &MapSource<'_>) -> Vec<u8> {
    let textures: Vec<_> = source.textures.iter().map(super::Texture::bytes).collect();
    let mut out = Bytes::default();
    out.int(textures.len() as i64);
    let mut offset = 4 + 4 * textures.len();
    for texture in &textures {
        out.int(offset as i64);
        offset += texture.len();
    }
    out.0.extend(textures.concat());
    out.0
}

fn leafs(output: &Output<'_>, rows: &[usize]) -> Vec<u8> {
    let mut out = Bytes::default();
    let mut marks = 0;
    for (number, leaf) in output.leafs.iter().enumerate() {
        let row = number.checked_sub(1).and_then(|index| rows.get(index));
        out.int(leaf.contents.number().into());
        out.int(row.map_or(-1, |&row| row as i64));
        out.region_box(&leaf.region);
        out.short(marks as i64);
        out.short(leaf.marks.len() as i64);
        out.0.extend([0; 4]);
        marks += leaf.marks.len();
    }
    out.0
}

fn models(output: &Output<'_>) -> Vec<u8> {
    let mut out = Bytes::default();
    for model in &output.models {
        model.corners.iter().for_each(|corner| out.point(corner));
        out.point(&[0.0; 3]);
        model.heads.iter().for_each(|&head| out.int(head.into()));
        out.int(0);
        out.int(model.leafs as i64);
        model.faces.iter().for_each(|&number| out.int(number as i64));
    }
    out.0
}

/// Returns the compressed rows and the offset of each leaf's row, from leaf 1.
fn visibility(output: &Output<'_>) -> (Vec<u8>, Vec<usize>) {
    let count = output.models.first().map_or(0, |world| world.leafs);
    let seen = &output.leafs[1..][..count];
    let zones: Vec<usize> = seen.iter().map(|leaf| zone(output.source, leaf)).collect();
    let (mut bytes, mut rows) = (Vec::new(), Vec::new());
    for &zone in &zones {
        let mut row = vec![0_u8; count.div_ceil(8)];
        let sees = output.source.zones.get(zone).map_or(&[][..], |zone| zone.sees);
        for (leaf, other) in zones.iter().enumerate() {
            if sees.contains(other) {
                row[leaf / 8] |= 1 << (leaf % 8);
            }
        }
        rows.push(bytes.len());
        compress(&row, &mut bytes);
    }
    (bytes, rows)
}

/// Returns the zone of a leaf's middle; the last one for leafs outside all.
fn zone(source: &MapSource<'_>, leaf: &LeafRecord) -> usize {
    debug_assert!(leaf.contents != Contents::SOLID);
    let middle = solid::middle(&leaf.region);
    let is_in = |zone: &super::Zone<'_>| {
        let [low, high] = zone.corners;
        (0..3).all(|i| low[i] <= middle[i] && middle[i] <= high[i])
    };
    source.zones.iter().position(is_in).unwrap_or(source.zones.len().saturating_sub(1))
}

/// Appends a row; a run of zero bytes becomes its length.
fn compress(row: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < row.len() {
        out.push(row[at]);
        let mut run = 1;
        if row[at] == 0 {
            run = row[at..].iter().take(255).take_while(|&&byte| byte == 0).count();
            out.push(run as u8);
        }
        at += run;
    }
}
