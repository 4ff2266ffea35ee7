//! Map drawing: a top view of a map as SVG or PNG.
//!
//! [`draw`] makes a [`Drawing`]: the ground as a shaded image, and markers as shapes with colors and names; of a map
//! with storeys also each floor apart. [`svg`] and [`png()`] encode it. The size of the picture is bounded by [`MAX_SIDE`] for every map.

mod floors;
mod heightmap;
mod items;
mod legend;
mod markers;
mod raster;
mod svg;
mod tracks;

pub use raster::png;
pub use svg::svg;
pub use tracks::{DeathMark, Track};

use self::floors::Band;
use crate::{
    model::{Vec3, text::counted},
    world::{Bsp, MapEntities, MapSummary, bsp::mesh::Triangle},
};

/// Maximum side of the ground image, in pixels.
pub const MAX_SIDE: usize = 3000;
/// Margin around the ground, in pixels.
const MARGIN: f32 = 24.0;
/// Width of the legend, in pixels.
const LEGEND_WIDTH: f32 = 220.0;
/// Minimum height of the legend, in pixels.
const LEGEND_HEIGHT: f32 = 420.0;
/// Longer side of the ground up to which labels and markers have their least size, in pixels.
const UNSCALED_SIDE: f32 = 1200.0;

/// Color as red, green and blue.
pub(crate) type Color = [u8; 3];

/// Background color.
const BACKGROUND: Color = [24, 27, 34];
/// Text color.
const INK: Color = [222, 220, 212];

/// A point of the drawing, in pixels from its left and upper edge.
type PixelPoint = [f32; 2];

/// Drawing of a map: ground image and shapes.
///
/// Places and lengths are those of a picture without scale; [`svg`] and [`png()`] multiply them by the scale. Only the
/// ground has the pixels of the scaled picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    size: [u32; 2],
    /// Scale of labels, markers, legend and margins, at least 1.
    scale: f32,
    ground: Image,
    ground_at: [u32; 2],
    /// Markers and tracks.
    shapes: Vec<Shape>,
    legend: Vec<Shape>,
    /// Floors from the lowest to the highest; none if there is only one.
    floors: Vec<Floor>,
    /// Left end of the line of the floors in the legend.
    floors_at: PixelPoint,
    projection: Projection,
    /// Number of triangles that are not drawn.
    left_out: usize,
}

/// One floor of a map.
#[derive(Clone, Debug, PartialEq)]
struct Floor {
    ground: Image,
    shapes: Vec<Shape>,
    legend: Vec<Shape>,
    /// Heights, such as `up to 120`.
    heights: String,
}

/// Raster image, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Color>,
}

/// A colored shape with a name.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    primitive: Primitive,
    color: Color,
    /// Opacity, 0 (invisible) to 1 (solid).
    opacity: f32,
    /// Name of the marked entity, shown by SVG viewers.
    name: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Primitive {
    Disc {
        at: PixelPoint,
        radius: f32,
    },
    Polygon(Vec<PixelPoint>),
    Line {
        from: PixelPoint,
        to: PixelPoint,
        width: f32,
    },
    /// One line of ASCII text. `at` is the left end or the center of its baseline.
    Text {
        at: PixelPoint,
        text: String,
        large: bool,
        centered: bool,
        /// Whether a dark rim makes it legible on any ground.
        halo: bool,
    },
}

/// Options of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawOptions {
    /// Longer side of the ground, in pixels, 1 to [`MAX_SIDE`].
    pub side: usize,
    /// Whether to tint the ground by cluster.
    pub clusters: bool,
    /// Whether to draw each floor apart, too.
    pub floors: bool,
}

/// Projection of map coordinates to pixels. North is up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Projection {
    /// West and north edge of the ground, in units.
    west: f32,
    north: f32,
    /// Pixels to the left of and above the ground.
    left: f32,
    top: f32,
    pixels_per_unit: f32,
}

impl Projection {
    fn place(&self, point: Vec3) -> PixelPoint {
        [
            self.left + (point[0] - self.west) * self.pixels_per_unit,
            self.top + (self.north - point[1]) * self.pixels_per_unit,
        ]
    }
}

/// Draws a top view of the map `name`.
#[must_use]
pub fn draw(
    name: &str,
    map: &Bsp,
    triangles: &[Triangle],
    entities: &MapEntities,
    options: DrawOptions,
) -> Drawing {
    let floors: Vec<&Triangle> = heightmap::floors(map, triangles).collect();
    let (mins, maxs) = extent(map, &floors);
    let side = options.side.clamp(1, MAX_SIDE) as f32;
    let scale = scale_of(side);
    let extent = [maxs[0] - mins[0], maxs[1] - mins[1]].map(|length| length.max(1.0));
    let pixels_per_unit = side / extent[0].max(extent[1]);
    let [width, height] = extent.map(|length| (length * pixels_per_unit).ceil().clamp(1.0, side));

    let flat = Projection { west: mins[0], north: maxs[1], left: 0.0, top: 0.0, pixels_per_unit };
    let pixels_per_unit = pixels_per_unit / scale;
    let projection = Projection { left: MARGIN, top: MARGIN, pixels_per_unit, ..flat };
    let size = [width as usize, height as usize];
    let heightmap = heightmap::Heightmap::new(map, &floors, flat, size, Band::ALL);
    let ground = heightmap.image(map, options.clusters);
    let all = if options.floors {
        floors::bands(floors.iter().map(|triangle| (triangle.corners, triangle.normal[2])))
    } else {
        Vec::new()
    };
    let bands = if all.len() > 1 { all } else { Vec::new() };
    let survey = MapSummary::of(map, entities);
    let [width, height] = [width, height].map(|length| length / scale);
    let legend_of = |band, liquids| {
        let data = legend::LegendData {
            name,
            survey: &survey,
            shown: markers::Shown::of(map, entities, band),
            liquids,
            heights: heightmap.heights(),
            pixels_per_unit,
            has_floors: !bands.is_empty(),
        };
        legend::legend(&data, [width + 2.0 * MARGIN, MARGIN])
    };
    let layers = bands.iter().map(|&band| {
        let layer = heightmap::Heightmap::new(map, &floors, flat, size, band);
        let layer = layer.with_heights(heightmap.heights());
        Floor {
            ground: layer.image_above(map, options.clusters, &ground),
            shapes: markers::of_entities(map, entities, &projection, band),
            legend: legend_of(band, layer.liquids()).shapes,
            heights: band.to_string(),
        }
    });
    let layers: Vec<Floor> = layers.collect();
    let legend = legend_of(Band::ALL, heightmap.liquids());
    let inner = height.max(LEGEND_HEIGHT).max(legend.bottom - MARGIN);
    let full = [width + 3.0 * MARGIN + LEGEND_WIDTH, inner + 2.0 * MARGIN];
    Drawing {
        size: full.map(|length| length as u32),
        scale,
        ground,
        ground_at: [MARGIN as u32; 2],
        shapes: markers::of_entities(map, entities, &projection, Band::ALL),
        legend: legend.shapes,
        floors: layers,
        floors_at: legend.floors_at,
        projection,
        left_out: heightmap.left_out(),
    }
}

impl Drawing {
    /// Returns a warning about surfaces that are not drawn, or `None`.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let count = self.left_out;
        (count > 0).then(|| {
            let triangles = counted(count, "triangle");
            format!("{triangles} not drawn: the surfaces cover the map more than 200 times")
        })
    }

    /// Returns the drawing of one floor, counted from 1, the lowest.
    ///
    /// # Errors
    ///
    /// The map has no such floor.
    pub fn on_floor(mut self, number: usize) -> Result<Self, String> {
        let count = self.floors.len();
        let found = number.checked_sub(1).filter(|&at| at < count);
        let Some(at) = found else {
            let expected = match count {
                0 => "the map has one floor: draw it without --floor".to_owned(),
                _ => format!("expected 1 to {count}"),
            };
            return Err(format!("floor {number} not found ({expected})"));
        };
        let Floor { ground, shapes, legend, heights } = self.floors.swap_remove(at);
        self.legend = legend;
        let text = format!("floor {number} of {count}: heights {heights}");
        let primitive = Primitive::Text {
            at: self.floors_at,
            text,
            large: false,
            centered: false,
            halo: false,
        };
        self.legend.push(Shape { primitive, color: INK, opacity: 1.0, name: String::new() });
        (self.ground, self.shapes) = (ground, shapes);
        self.floors.clear();
        Ok(self)
    }
}

/// Returns the scale of labels for a longer side of the ground, in pixels. Larger pictures are shown reduced.
fn scale_of(side: f32) -> f32 {
    (side / UNSCALED_SIDE).max(1.0)
}

/// Returns the bounding box of all floors, or of the world without floors.
fn extent(map: &Bsp, floors: &[&Triangle]) -> (Vec3, Vec3) {
    let mut corners = floors.iter().flat_map(|triangle| triangle.corners);
    let Some(first) = corners.next() else {
        return (map.world().mins, map.world().maxs);
    };
    let (mut mins, mut maxs) = corners.fold((first, first), |(mut mins, mut maxs), corner| {
        for axis in 0..3 {
            mins[axis] = mins[axis].min(corner[axis]);
            maxs[axis] = maxs[axis].max(corner[axis]);
        }
        (mins, maxs)
    });
    let world = map.world();
    for axis in 0..3 {
        mins[axis] = mins[axis].max(world.mins[axis]);
        maxs[axis] = maxs[axis].min(world.maxs[axis]);
    }
    (mins, maxs)
}
