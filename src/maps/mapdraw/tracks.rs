//! Tracks on a drawing: paths of players, deaths, and their legend.

use super::{
    BACKGROUND, Color, DrawOptions, Drawing, INK, Image, LEGEND_HEIGHT, LEGEND_WIDTH, MARGIN,
    PixelPoint, Primitive, Projection, Shape,
};
use crate::model::{Vec3, text::counted};

/// Colors of players, in the order of their tracks.
const COLORS: [Color; 12] = [
    [255, 99, 99],
    [99, 170, 255],
    [120, 230, 120],
    [255, 210, 80],
    [220, 130, 255],
    [90, 230, 230],
    [255, 150, 60],
    [255, 140, 200],
    [180, 255, 90],
    [160, 160, 255],
    [230, 190, 150],
    [200, 200, 200],
];
/// Longest line that is drawn as one shape, in pixels. A raster fill visits the bounding box of a shape.
const MAX_LINE: f32 = 32.0;
/// Tracks that the legend names.
const MAX_NAMED: usize = 64;
/// Height of a row of the legend, in pixels.
const ROW: f32 = 18.0;

/// Path of one player.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Name in the legend.
    pub name: String,
    /// Connected points.
    pub runs: Vec<Vec<Vec3>>,
}

/// A death on a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct DeathMark {
    /// Index of the victim's track.
    pub victim: usize,
    /// Position.
    pub at: Vec3,
    /// Position of the killer, for a line.
    pub from: Option<Vec3>,
    /// Description, shown by SVG viewers.
    pub text: String,
}

impl Drawing {
    /// Makes an empty drawing of a map that was not found, with room for the points of its tracks.
    #[must_use]
    pub fn without_map(name: &str, tracks: &[Track], options: DrawOptions) -> Self {
        let points = || tracks.iter().flat_map(|track| &track.runs).flatten();
        let finite = |point: &&Vec3| point.is_finite();
        let fold = |axis: usize, begin: f32, pick: fn(f32, f32) -> f32| {
            points().filter(finite).map(|point| point[axis]).fold(begin, pick)
        };
        let low = [0, 1].map(|axis| fold(axis, f32::INFINITY, f32::min));
        let high = [0, 1].map(|axis| fold(axis, f32::NEG_INFINITY, f32::max));
        let is_empty = low[0] > high[0];
        let (low, high) = if is_empty { ([0.0; 2], [1.0; 2]) } else { (low, high) };
        let side = options.side.clamp(1, super::MAX_SIDE) as f32;
        let scale = super::scale_of(side);
        let extent = [high[0] - low[0], high[1] - low[1]].map(|length| length.max(64.0));
        let pixels_per_unit = side / extent[0].max(extent[1]);
        let [width, height] =
            extent.map(|length| (length * pixels_per_unit).ceil().clamp(1.0, side));
        let pixels_per_unit = pixels_per_unit / scale;
        let projection =
            Projection { west: low[0], north: high[1], left: MARGIN, top: MARGIN, pixels_per_unit };
        let ground = Image {
            width: width as usize,
            height: height as usize,
            pixels: vec![BACKGROUND; width as usize * height as usize],
        };
        let [width, height] = [width, height].map(|length| length / scale);
        let full = [width + 3.0 * MARGIN + LEGEND_WIDTH, height.max(LEGEND_HEIGHT) + 2.0 * MARGIN];
        let title = text([width + 2.0 * MARGIN, MARGIN + 16.0], name.to_owned(), true);
        let hint = "map not found";
        let hint = text([width + 2.0 * MARGIN, MARGIN + 36.0], hint.to_owned(), false);
        Self {
            size: full.map(|length| length as u32),
            scale,
            ground,
            ground_at: [MARGIN as u32; 2],
            shapes: Vec::new(),
            legend: vec![title, hint],
            floors: Vec::new(),
            floors_at: [0.0; 2],
            projection,
            left_out: 0,
        }
    }

    /// Adds tracks, deaths and a legend at the right edge.
    pub fn add_tracks(&mut self, tracks: &[Track], deaths: &[DeathMark]) {
        for (track, color) in tracks.iter().zip(COLORS.iter().cycle()) {
            for run in &track.runs {
                for pair in run.windows(2) {
                    let ends = [pair[0], pair[1]].map(|point| self.projection.place(point));
                    self.add_line(ends, 1.6, *color, 0.75, &track.name);
                }
            }
        }
        for death in deaths {
            let color = COLORS[death.victim % COLORS.len()];
            let at = self.projection.place(death.at);
            if let Some(from) = death.from {
                self.add_line([self.projection.place(from), at], 1.0, INK, 0.45, &death.text);
            }
            for [x, y] in [[5.0, 5.0], [5.0, -5.0]] {
                let ends = [[at[0] - x, at[1] - y], [at[0] + x, at[1] + y]];
                self.add_line(ends, 3.6, [10, 11, 14], 1.0, &death.text);
                self.add_line(ends, 2.0, color, 1.0, &death.text);
            }
        }
        self.add_track_legend(tracks, deaths.len());
    }

    fn add_line(
        &mut self,
        [from, to]: [PixelPoint; 2],
        width: f32,
        color: Color,
        opacity: f32,
        name: &str,
    ) {
        let [x, y] = [to[0] - from[0], to[1] - from[1]];
        // Coordinates of a hostile demo may be far outside.
        let bound = |[x, y]: PixelPoint| x.abs() < 1e5 && y.abs() < 1e5;
        if !bound(from) || !bound(to) {
            return;
        }
        let parts = (x.hypot(y) / MAX_LINE).ceil().clamp(1.0, 400.0);
        let point = |part: f32| [from[0] + x * part / parts, from[1] + y * part / parts];
        for part in 0..parts as u16 {
            let (from, to) = (point(f32::from(part)), point(f32::from(part) + 1.0));
            let primitive = Primitive::Line { from, to, width };
            self.shapes.push(Shape { primitive, color, opacity, name: name.to_owned() });
        }
    }

    fn add_track_legend(&mut self, tracks: &[Track], deaths: usize) {
        let left = self.size[0] as f32;
        let mut line = MARGIN + 16.0;
        self.legend.push(text([left, line], "Players".to_owned(), true));
        for (track, color) in tracks.iter().zip(COLORS.iter().cycle()).take(MAX_NAMED) {
            line += ROW;
            let primitive =
                Primitive::Line { from: [left, line], to: [left + 20.0, line], width: 3.0 };
            self.legend.push(Shape {
                primitive,
                color: *color,
                opacity: 1.0,
                name: track.name.clone(),
            });
            self.legend.push(text([left + 28.0, line + 4.0], track.name.clone(), false));
        }
        line += ROW + 4.0;
        self.legend.push(text(
            [left, line],
            format!("{} (crosses)", counted(deaths, "death")),
            false,
        ));
        self.size[0] += LEGEND_WIDTH as u32;
        self.size[1] = self.size[1].max((line + MARGIN) as u32);
    }
}

fn text(at: PixelPoint, text: String, large: bool) -> Shape {
    let primitive = Primitive::Text { at, text, large, centered: false, halo: false };
    Shape { primitive, color: INK, opacity: 1.0, name: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapdraw;

    #[test]
    fn tracks_are_drawn_without_the_map() {
        let runs = vec![vec![Vec3::new(0.0, 0.0, 0.0), Vec3::new(512.0, 256.0, 0.0)]];
        let mut tracks = vec![Track { name: "Ann <1>".to_owned(), runs }];
        // Coordinates of a hostile demo.
        tracks.push(Track {
            name: "far".to_owned(),
            runs: vec![vec![Vec3::new(f32::NAN, 1.0, 0.0), Vec3::new(1.0, f32::INFINITY, 0.0)]],
        });
        let options = DrawOptions { side: 300, clusters: false, floors: false };
        let mut drawing = Drawing::without_map("lost", &tracks, options);
        let at = Vec3::new(100.0, 100.0, 0.0);
        let mark = DeathMark { victim: 0, at, from: Some(Vec3::ZERO), text: "Ann died".to_owned() };
        drawing.add_tracks(&tracks, &[mark]);
        let svg = mapdraw::svg(&drawing).expect("a picture");
        assert!(svg.contains("<title>Ann &lt;1&gt;</title>") && svg.contains("1 death (crosses)"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(mapdraw::png(&drawing).expect("a picture").starts_with(b"\x89PNG"));
    }

    #[test]
    fn drawing_without_tracks_is_a_picture() {
        let options = DrawOptions { side: 1, clusters: false, floors: false };
        let mut drawing = Drawing::without_map("none", &[], options);
        drawing.add_tracks(&[], &[]);
        assert!(mapdraw::png(&drawing).expect("a picture").starts_with(b"\x89PNG"));
    }
}
