//! PNG output: every marker is a polygon, blended by its coverage of each pixel.

use embedded_graphics::{
    Drawable as _, Pixel,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{MonoFont, MonoTextStyle, ascii},
    pixelcolor::{Rgb888, RgbColor as _},
    text::{Alignment, Text},
};

use super::{BACKGROUND, Color, Drawing, Image, PixelPoint, Primitive, Shape, heightmap::mix};

/// Samples per pixel along each axis, for the coverage at a shape's rim.
const SAMPLES: u16 = 4;
/// Offsets of the dark copies around a label.
const HALO: [(i32, i32); 8] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
/// Farthest place of a label, in pixels, far outside of every picture.
const FAR: f32 = 1e6;
/// Largest factor of a font.
const MAX_FACTOR: u32 = 4;
/// Corners of the polygon of a disc.
const DISC_CORNERS: u16 = 24;

/// Encodes a drawing as a PNG file.
///
/// # Errors
///
/// The encoder's error, as a sentence.
pub fn png(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let [width, height] = drawing.picture_size().map(|length| length as usize);
    let mut picture = Image { width, height, pixels: vec![BACKGROUND; width * height] };
    let [left, top] = drawing.ground_at.map(|length| (length as f32 * drawing.scale) as usize);
    for (row, line) in drawing.ground.pixels.chunks_exact(drawing.ground.width).enumerate() {
        let start = (top + row) * width + left;
        picture.pixels[start..start + line.len()].copy_from_slice(line);
    }
    for shape in drawing.shapes.iter().chain(&drawing.legend) {
        picture.add(&scaled(shape, drawing.scale), drawing.scale);
    }
    encode(&picture)
}

impl Drawing {
    /// Width and height of the picture, in pixels.
    pub(super) fn picture_size(&self) -> [u32; 2] {
        self.size.map(|length| (length as f32 * self.scale).ceil() as u32)
    }
}

/// Returns a shape whose places and lengths are multiplied by a scale.
fn scaled(shape: &Shape, scale: f32) -> Shape {
    let mut shape = shape.clone();
    let grow = |at: &mut PixelPoint| *at = at.map(|length| length * scale);
    match &mut shape.primitive {
        Primitive::Disc { at, radius } => {
            grow(at);
            *radius *= scale;
        }
        Primitive::Polygon(corners) => corners.iter_mut().for_each(grow),
        Primitive::Line { from, to, width } => {
            grow(from);
            grow(to);
            *width *= scale;
        }
        Primitive::Text { at, .. } => grow(at),
    }
    shape
}

/// A font of the raster, and the factor by which its pixels grow.
type SizedFont = (&'static MonoFont<'static>, u32);

/// Returns the font whose height comes closest to that of a label at a scale.
fn font_of(scale: f32, halo: bool, large: bool) -> SizedFont {
    let fonts: &[&MonoFont<'_>] = match (halo, large) {
        (true, _) => &[&ascii::FONT_6X13_BOLD, &ascii::FONT_9X18_BOLD],
        (false, true) => &[&ascii::FONT_10X20, &ascii::FONT_9X15],
        (false, false) => &[&ascii::FONT_6X13, &ascii::FONT_9X18],
    };
    let wanted = fonts[0].character_size.height as f32 * scale;
    let all = fonts.iter().flat_map(|font| (1..=MAX_FACTOR).map(move |factor| (*font, factor)));
    let distance =
        |&(font, factor): &SizedFont| ((font.character_size.height * factor) as f32 - wanted).abs();
    all.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or((fonts[0], 1))
}

/// Encodes an image as a PNG file.
pub(super) fn encode(image: &Image) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(image.pixels.as_flattened()))
        .map_err(|error| format!("PNG encoding failed: {error}"))?;
    Ok(bytes)
}

impl Image {
    /// Draws a shape. Texts have the size of the scale.
    fn add(&mut self, shape: &Shape, scale: f32) {
        match &shape.primitive {
            Primitive::Disc { at, radius } => {
                let corner = |corner: u16| {
                    let turn = f32::from(corner) / f32::from(DISC_CORNERS);
                    let (sin, cos) = (turn * std::f32::consts::TAU).sin_cos();
                    [at[0] + radius * cos, at[1] + radius * sin]
                };
                let corners: Vec<PixelPoint> = (0..DISC_CORNERS).map(corner).collect();
                self.fill(&corners, shape.color, shape.opacity);
            }
            Primitive::Polygon(corners) => self.fill(corners, shape.color, shape.opacity),
            Primitive::Line { from, to, width } => {
                let along = [to[0] - from[0], to[1] - from[1]];
                let length = along[0].hypot(along[1]).max(1e-3);
                let aside = [-along[1] / length * width / 2.0, along[0] / length * width / 2.0];
                let corner = |end: &PixelPoint, side: f32| {
                    [end[0] + side * aside[0], end[1] + side * aside[1]]
                };
                let corners =
                    [corner(from, 1.0), corner(to, 1.0), corner(to, -1.0), corner(from, -1.0)];
                self.fill(&corners, shape.color, shape.opacity);
            }
            Primitive::Text { at, text, large, centered, halo } => {
                let (font, factor) = font_of(scale, *halo, *large);
                let alignment = if *centered { Alignment::Center } else { Alignment::Left };
                // Items of a hostile map are anywhere.
                let [x, y] = at.map(|length| length.clamp(-FAR, FAR) as i32);
                let place = Point::new(x, y);
                let rim = scale.round() as i32;
                let mut write = |shift: (i32, i32), [red, green, blue]: Color| {
                    let style = MonoTextStyle::new(font, Rgb888::new(red, green, blue));
                    let origin = place + Point::new(shift.0, shift.1) * rim;
                    let mut grown = Grown { image: self, origin, factor };
                    // Drawing into memory cannot fail.
                    let _ = Text::with_alignment(text, Point::zero(), style, alignment)
                        .draw(&mut grown);
                };
                if *halo {
                    for shift in HALO {
                        write(shift, BACKGROUND);
                    }
                }
                write((0, 0), shape.color);
            }
        }
    }

    /// Fills a convex polygon.
    fn fill(&mut self, corners: &[PixelPoint], color: Color, opacity: f32) {
        // Casts saturate at the limits of the range.
        let bound = |axis: usize, limit: usize| {
            let values = corners.iter().map(|corner| corner[axis]);
            let low = values.clone().fold(f32::INFINITY, f32::min);
            let high = values.fold(f32::NEG_INFINITY, f32::max);
            (low.max(0.0) as usize).min(limit)..((high + 1.0).max(0.0) as usize).min(limit)
        };
        for y in bound(1, self.height) {
            for x in bound(0, self.width) {
                let share = coverage(corners, x as f32, y as f32);
                if share > 0.0 {
                    let pixel = &mut self.pixels[y * self.width + x];
                    *pixel = mix(*pixel, color, share * opacity);
                }
            }
        }
    }
}

/// Returns the share of a pixel inside a convex polygon.
fn coverage(corners: &[PixelPoint], left: f32, top: f32) -> f32 {
    let is_inside = |x: f32, y: f32| {
        let mut sides = corners.iter().zip(corners.iter().cycle().skip(1)).map(|(from, to)| {
            (to[0] - from[0]) * (y - from[1]) - (x - from[0]) * (to[1] - from[1])
        });
        let first = sides.next().unwrap_or(0.0);
        sides.all(|side| side * first >= 0.0)
    };
    let at = |sample: u16| (f32::from(sample) + 0.5) / f32::from(SAMPLES);
    let hits = (0..SAMPLES)
        .flat_map(|y| (0..SAMPLES).map(move |x| (x, y)))
        .filter(|&(x, y)| is_inside(left + at(x), top + at(y)))
        .count();
    hits as f32 / f32::from(SAMPLES * SAMPLES)
}

/// Part of an image in which each pixel of a text is a square.
struct Grown<'a> {
    image: &'a mut Image,
    /// Place of the pixel 0, 0.
    origin: Point,
    /// Side of the squares, in pixels.
    factor: u32,
}

impl OriginDimensions for Grown<'_> {
    fn size(&self) -> Size {
        Size::new(self.image.width as u32, self.image.height as u32)
    }
}

impl DrawTarget for Grown<'_> {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Self::Error>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        let Image { width, height, pixels: to } = &mut *self.image;
        let factor = self.factor as i32;
        for Pixel(at, color) in pixels {
            let corner = self.origin + at * factor;
            for (x, y) in (0..factor).flat_map(|y| (0..factor).map(move |x| (x, y))) {
                let place = corner + Point::new(x, y);
                let place = usize::try_from(place.x).ok().zip(usize::try_from(place.y).ok());
                if let Some((x, y)) = place.filter(|&(x, y)| x < *width && y < *height) {
                    to[y * *width + x] = [color.r(), color.g(), color.b()];
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_far_outside_of_picture_are_left_out() {
        let mut picture = Image { width: 8, height: 8, pixels: vec![BACKGROUND; 64] };
        for far in [f32::MAX, f32::MIN, f32::NAN, 2.147e9] {
            let primitive = Primitive::Text {
                at: [far, far],
                text: "RL".to_owned(),
                large: false,
                centered: true,
                halo: true,
            };
            let shape = Shape { primitive, color: [9; 3], opacity: 1.0, name: String::new() };
            picture.add(&shape, 2.5);
        }
        let marked = picture.pixels.iter().filter(|&&pixel| pixel != BACKGROUND).count();
        assert!(marked < 64, "{marked}");
    }

    #[test]
    fn labels_grow_with_the_scale() {
        let height = |scale: f32, halo: bool, large: bool| {
            let (font, factor) = font_of(scale, halo, large);
            font.character_size.height * factor
        };
        for (halo, large, heights) in [
            (true, false, [13, 18, 26, 36]),
            (false, false, [13, 18, 26, 36]),
            (false, true, [20, 30, 40, 45]),
        ] {
            let scales = [1.0, 1.5, 2.0, 2.5];
            let grown = scales.map(|scale| height(scale, halo, large));
            assert_eq!(grown, heights, "{halo} {large}");
        }
        let extent = |scale: f32| {
            let mut picture = Image { width: 99, height: 99, pixels: vec![BACKGROUND; 99 * 99] };
            let primitive = Primitive::Text {
                at: [50.0, 60.0],
                text: "RL".to_owned(),
                large: false,
                centered: true,
                halo: false,
            };
            let shape = Shape { primitive, color: [9; 3], opacity: 1.0, name: String::new() };
            picture.add(&shape, scale);
            picture.pixels.iter().filter(|&&pixel| pixel != BACKGROUND).count()
        };
        assert_eq!(extent(2.0), 4 * extent(1.0));
    }
}
