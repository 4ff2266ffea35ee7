//! Heightmap: the highest floor at each pixel, shaded by height and slope, with liquids and ledges.
//!
//! The heightmap has twice the resolution of the image, which averages it.

use crate::{
    model::{
        Vec3,
        contents::content::{LAVA, SLIME, WATER},
        contents::surface::SKY,
    },
    world::{Bsp, bsp::mesh::Triangle},
};

use super::{BACKGROUND, Color, Image, Projection, floors::Band};

/// Samples per pixel along each axis.
const SAMPLES: usize = 2;
/// Maximum visits of a sample by the boxes of triangles, on average. Real maps have less than 20; a file with a million
/// triangles over the whole map would take hours.
const MAX_VISITS: usize = 200;
/// Minimum z of a floor's normal. Steeper surfaces are walls.
const FLOOR_SLOPE: f32 = 0.3;
/// Step-up height of players, in units. Higher steps are drawn as edges.
const CLIMBABLE: f32 = 18.0;
/// Height above a floor at which its cluster is looked up, in units.
const EYE: f32 = 7.3;
/// Offsets of the samples that decide about an edge, in rows and columns.
const EDGE_REACH: [(isize, isize); 8] =
    [(0, 1), (0, -1), (1, 0), (-1, 0), (0, 3), (0, -3), (3, 0), (-3, 0)];
/// Surface flag of surfaces that are not drawn.
const NODRAW: i32 = 0x80;

/// Colors from the lowest floor to the highest.
const HEIGHTS: [Color; 6] = [
    [48, 58, 92],
    [58, 92, 118],
    [92, 130, 122],
    [152, 160, 116],
    [206, 184, 128],
    [240, 226, 190],
];
const WATER_COLOR: Color = [64, 132, 196];
const SLIME_COLOR: Color = [112, 176, 56];
const LAVA_COLOR: Color = [226, 92, 36];
/// Liquids in the order of the legend.
const LIQUIDS: [(&str, Color); 3] =
    [("water", WATER_COLOR), ("slime", SLIME_COLOR), ("lava", LAVA_COLOR)];
/// Share of the background in the ground of other floors.
const DIMMED: f32 = 0.8;

/// Returns the triangles that are visible from above: floors and surfaces of liquids.
pub(super) fn floors<'a>(
    map: &'a Bsp,
    triangles: &'a [Triangle],
) -> impl Iterator<Item = &'a Triangle> {
    triangles.iter().filter(|triangle| {
        triangle.normal[2] > FLOOR_SLOPE
            && map.shaders[triangle.shader].surface_flags & (SKY | NODRAW) == 0
            // Skip scenery outside the world box. It is visible through portals only and would shrink the map.
            && triangle.corners.iter().any(|corner| {
                let world = map.world();
                (0..3).all(|axis| (world.mins[axis]..=world.maxs[axis]).contains(&corner[axis]))
            })
    })
}

/// Floor, light and liquid of each sample.
pub(super) struct Heightmap {
    width: usize,
    height: usize,
    samples: Vec<Sample>,
    projection: Projection,
    lowest: f32,
    highest: f32,
    /// Heights that are drawn.
    band: Band,
    /// Visits of samples that are left, and the number of triangles that were left out for them.
    visits: usize,
    left_out: usize,
}

#[derive(Clone, Copy)]
struct Sample {
    /// Height of the highest floor; NaN without a floor.
    floor: f32,
    /// Brightness of the floor, from its slope.
    light: f32,
    /// Height and color of the highest liquid.
    liquid: Option<(f32, Color)>,
}

impl Heightmap {
    /// Creates the heightmap for an image of `size` pixels.
    pub(super) fn new(
        map: &Bsp,
        floors: &[&Triangle],
        projection: Projection,
        size: [usize; 2],
        band: Band,
    ) -> Self {
        let [width, height] = size.map(|length| length * SAMPLES);
        let empty = Sample { floor: f32::NAN, light: 1.0, liquid: None };
        let mut heightmap = Self {
            width,
            height,
            samples: vec![empty; width * height],
            projection: Projection {
                pixels_per_unit: projection.pixels_per_unit * SAMPLES as f32,
                ..projection
            },
            lowest: f32::INFINITY,
            highest: f32::NEG_INFINITY,
            band,
            visits: (width * height).saturating_mul(MAX_VISITS),
            left_out: 0,
        };
        for triangle in floors {
            heightmap.add(map, triangle);
        }
        for sample in heightmap.samples.iter().filter(|sample| !sample.floor.is_nan()) {
            heightmap.lowest = heightmap.lowest.min(sample.floor);
            heightmap.highest = heightmap.highest.max(sample.floor);
        }
        if heightmap.lowest > heightmap.highest {
            (heightmap.lowest, heightmap.highest) = (0.0, 0.0);
        }
        heightmap
    }

    /// Heights of the lowest and the highest floor, in units.
    pub(super) const fn heights(&self) -> [f32; 2] {
        [self.lowest, self.highest]
    }

    /// Number of triangles that were left out because the others took all the work.
    pub(super) const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Colors the heights as another heightmap does.
    pub(super) const fn with_heights(mut self, [lowest, highest]: [f32; 2]) -> Self {
        (self.lowest, self.highest) = (lowest, highest);
        self
    }

    /// Names and colors of the liquids that are visible.
    pub(super) fn liquids(&self) -> Vec<(&'static str, Color)> {
        let is_visible = |wanted: Color| {
            self.samples.iter().any(|sample| {
                sample.liquid.is_some_and(|(surface, color)| {
                    color == wanted && (sample.floor.is_nan() || surface > sample.floor)
                })
            })
        };
        LIQUIDS.into_iter().filter(|(_, color)| is_visible(*color)).collect()
    }

    fn add(&mut self, map: &Bsp, triangle: &Triangle) {
        let contents = map.shaders[triangle.shader].contents;
        let liquid = [(LAVA, LAVA_COLOR), (SLIME, SLIME_COLOR), (WATER, WATER_COLOR)];
        let liquid =
            liquid.into_iter().find(|(bit, _)| contents & bit != 0).map(|(_, color)| color);
        let towards_light = Vec3::new(-0.45, 0.55, 0.70);
        let light = 0.55 + 0.45 * triangle.normal.dot(towards_light).max(0.0);

        let [a, b, c] = triangle.corners.map(|corner| self.projection.place(corner));
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        if area.abs() < 1e-6 {
            return;
        }
        // Casts saturate at the limits of the range.
        let rows = |value: f32| (value.max(0.0) as usize).min(self.height);
        let columns = |value: f32| (value.max(0.0) as usize).min(self.width);
        let top = rows(a[1].min(b[1]).min(c[1]));
        let bottom = rows(a[1].max(b[1]).max(c[1]) + 1.0);
        let left = columns(a[0].min(b[0]).min(c[0]));
        let right = columns(a[0].max(b[0]).max(c[0]) + 1.0);
        let visits = bottom.saturating_sub(top) * right.saturating_sub(left);
        let Some(visits_left) = self.visits.checked_sub(visits) else {
            self.left_out += 1;
            return;
        };
        self.visits = visits_left;
        let heights = triangle.corners.map(|corner| corner[2]);
        for row in top..bottom {
            for column in left..right {
                let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
                let beside = |from: [f32; 2], to: [f32; 2]| {
                    ((to[0] - from[0]) * (y - from[1]) - (x - from[0]) * (to[1] - from[1])) / area
                };
                let shares = [beside(b, c), beside(c, a), beside(a, b)];
                if shares.iter().any(|&share| share < -1e-4) {
                    continue;
                }
                let height =
                    shares[0] * heights[0] + shares[1] * heights[1] + shares[2] * heights[2];
                if !self.band.contains(height) {
                    continue;
                }
                let sample = &mut self.samples[row * self.width + column];
                if let Some(color) = liquid {
                    if sample.liquid.is_none_or(|(surface, _)| height > surface) {
                        sample.liquid = Some((height, color));
                    }
                } else if sample.floor.is_nan() || height > sample.floor {
                    (sample.floor, sample.light) = (height, light);
                }
            }
        }
    }

    /// Draws the ground, optionally tinted by cluster.
    pub(super) fn image(&self, map: &Bsp, clusters: bool) -> Image {
        let colors: Vec<Color> = (0..self.samples.len())
            .map(|index| {
                let color = self.color(index);
                if clusters { self.tinted(map, index, color) } else { color }
            })
            .collect();
        let (width, height) = (self.width / SAMPLES, self.height / SAMPLES);
        let mut pixels = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let mut sum = [0_u32; 3];
                for y in 0..SAMPLES {
                    for x in 0..SAMPLES {
                        let at = (row * SAMPLES + y) * self.width + column * SAMPLES + x;
                        for (sum, part) in sum.iter_mut().zip(colors[at]) {
                            *sum += u32::from(part);
                        }
                    }
                }
                pixels.push(sum.map(|sum| (sum / (SAMPLES * SAMPLES) as u32) as u8));
            }
        }
        Image { width, height, pixels }
    }

    /// Draws the ground, with the ground of other floors dimmed where there is none.
    pub(super) fn image_above(&self, map: &Bsp, clusters: bool, others: &Image) -> Image {
        let mut image = self.image(map, clusters);
        for (at, (pixel, other)) in image.pixels.iter_mut().zip(&others.pixels).enumerate() {
            let (row, column) = (at / image.width * SAMPLES, at % image.width * SAMPLES);
            let sample = &self.samples[row * self.width + column];
            if sample.floor.is_nan() && sample.liquid.is_none() {
                *pixel = mix(*other, BACKGROUND, DIMMED);
            }
        }
        image
    }

    fn color(&self, index: usize) -> Color {
        let sample = self.samples[index];
        let edge = self.edge(index);
        let ground = if sample.floor.is_nan() {
            // Walls have no floor. They are brighter beside one.
            mix(BACKGROUND, [150, 146, 134], edge * 0.6)
        } else {
            let share = (sample.floor - self.lowest) / (self.highest - self.lowest).max(1.0);
            let lit = gradient(share).map(|part| (f32::from(part) * sample.light) as u8);
            mix(lit, [12, 14, 18], edge)
        };
        match sample.liquid {
            Some((surface, color)) if sample.floor.is_nan() || surface > sample.floor => {
                mix(ground, color, 0.62)
            }
            _ => ground,
        }
    }

    /// Returns the edge strength of a sample: 0 on even ground, up to 0.85 beside a drop or wall.
    fn edge(&self, index: usize) -> f32 {
        let (row, column) = (index / self.width, index % self.width);
        let here = self.samples[index].floor;
        let mut edge = 0.0_f32;
        for (y, x) in EDGE_REACH {
            let (y, x) = (row.wrapping_add_signed(y), column.wrapping_add_signed(x));
            if y >= self.height || x >= self.width {
                continue;
            }
            let there = self.samples[y * self.width + x].floor;
            let step = match (here.is_nan(), there.is_nan()) {
                (true, true) => 0.0,
                // The lower side is darkened like a shadow.
                (false, false) => there - here,
                _ => 2000.0,
            };
            if step > CLIMBABLE {
                edge = edge.max((0.35 + step / 400.0).min(0.85));
            }
        }
        edge
    }

    /// Returns the color tinted by the cluster above the floor, darker at cluster borders.
    fn tinted(&self, map: &Bsp, index: usize, color: Color) -> Color {
        let Some(cluster) = self.cluster(map, index) else { return color };
        let tint = hue(cluster);
        let beside = |other: usize| {
            other < self.samples.len() && self.cluster(map, other).is_some_and(|own| own != cluster)
        };
        if beside(index + 1) || beside(index + self.width) {
            return mix(tint, [0, 0, 0], 0.55);
        }
        mix(color, tint, 0.42)
    }

    fn cluster(&self, map: &Bsp, index: usize) -> Option<usize> {
        let floor = self.samples[index].floor;
        if floor.is_nan() {
            return None;
        }
        let (row, column) = (index / self.width, index % self.width);
        let Projection { west, north, pixels_per_unit, .. } = self.projection;
        let x = west + (column as f32 + 0.5) / pixels_per_unit;
        let y = north - (row as f32 + 0.5) / pixels_per_unit;
        let leaf = map.leaf_at(Vec3::new(x, y, floor + EYE));
        map.leafs[leaf].cluster.map(|cluster| cluster.index())
    }
}

/// Returns the color of a height, 0 for the lowest floor and 1 for the highest.
pub(super) fn gradient(share: f32) -> Color {
    let at = share.clamp(0.0, 1.0) * (HEIGHTS.len() - 1) as f32;
    let step = (at as usize).min(HEIGHTS.len() - 2);
    mix(HEIGHTS[step], HEIGHTS[step + 1], at - step as f32)
}

/// Blends two colors. `share` is the part of `to`, 0 to 1.
pub(super) fn mix(from: Color, to: Color, share: f32) -> Color {
    let mut mixed = from;
    for (mixed, to) in mixed.iter_mut().zip(to) {
        let from = f32::from(*mixed);
        *mixed = (from + (f32::from(to) - from) * share) as u8;
    }
    mixed
}

/// Returns a color for a number, clearly different from those of adjacent numbers.
fn hue(number: usize) -> Color {
    // Steps of the golden ratio spread any number of hues evenly.
    let turn = (number as f32 * 0.618_034).fract() * 6.0;
    let wave = |shift: f32| {
        let distance = ((turn + shift) % 6.0 - 3.0).abs();
        (70.0 + 170.0 * (distance - 1.0).clamp(0.0, 1.0)) as u8
    };
    [wave(0.0), wave(4.0), wave(2.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Block, TestMap};

    #[test]
    fn triangles_beyond_the_work_limit_are_left_out() {
        let block = Block { mins: [-64.0; 3], maxs: [64.0; 3], contents: 1, surface_flags: 0 };
        let map = Bsp::load(&TestMap::from_boxes("", &[block], &[]).file()).expect("a sound map");
        let shader = map.brushes.iter().next().expect("a brush").shader;
        let corners = [[-64.0, -64.0], [64.0, -64.0], [-64.0, 64.0]];
        let corners = corners.map(|[x, y]| Vec3::new(x, y, 64.0));
        let triangle = Triangle { corners, normal: Vec3::new(0.0, 0.0, 1.0), shader };
        let projection =
            Projection { west: -64.0, north: 64.0, left: 0.0, top: 0.0, pixels_per_unit: 0.25 };
        let left_out = |count| {
            let floors = vec![&triangle; count];
            Heightmap::new(&map, &floors, projection, [32, 32], Band::ALL).left_out()
        };
        assert_eq!((left_out(MAX_VISITS), left_out(1000)), (0, 1000 - MAX_VISITS));
    }
}
