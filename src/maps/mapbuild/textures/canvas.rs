//! Layers of procedural textures: color, shade and relief by field.

use super::field::{Field, SIZE};
use crate::mapbuild::image::Image;

/// Color as red, green and blue, 0 to 255.
pub(super) type Color = [u8; 3];

/// One step of a recipe.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layer {
    /// Color between two colors.
    Ramp(&'static Field, Color, Color),
    /// Another color where the field is 1.
    Tint(&'static Field, Color),
    /// Brightness factors where the field is 0 and 1.
    Shade(&'static Field, f64, f64),
    /// Added light where the field is 1.
    Glow(&'static Field, Color),
    /// Height in pixels where the field is 1, for the next [`Layer::Emboss`].
    Raise(&'static Field, f64),
    /// Light from the upper left on the relief.
    Emboss(f64),
    /// Opacity.
    Alpha(&'static Field),
}

/// Recipe of a texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// Name without folder.
    pub(super) name: &'static str,
    /// Width and height in pixels.
    pub(super) size: usize,
    /// Steps in order.
    pub(super) layers: &'static [Layer],
}

/// Paints a recipe.
pub(super) fn paint(recipe: &Recipe) -> Image {
    let size = recipe.size;
    let scale = SIZE / size as f64;
    let points: Vec<[f64; 2]> = (0..size * size)
        .map(|i| {
            let center = |at: usize| (at as f64 + 0.5) * scale;
            [center(i % size), center(i / size)]
        })
        .collect();
    let mut colors = vec![[128.0f64; 3]; points.len()];
    let mut heights = vec![0.0f64; points.len()];
    let mut alpha: Option<Vec<u8>> = None;
    for layer in recipe.layers {
        if let Layer::Alpha(field) = layer {
            let opacity = |[x, y]: &[f64; 2]| (field.at(*x, *y) * 255.0).round() as u8;
            alpha = Some(points.iter().map(opacity).collect());
            continue;
        }
        if let Layer::Raise(field, amount) = layer {
            for (height, [x, y]) in heights.iter_mut().zip(&points) {
                *height += field.at(*x, *y) * amount;
            }
            continue;
        }
        if let Layer::Emboss(strength) = layer {
            emboss(&mut colors, &heights, size, *strength);
            continue;
        }
        for (color, [x, y]) in colors.iter_mut().zip(&points) {
            *color = apply(layer, *color, *x, *y);
        }
    }
    let rgb = colors.iter().map(|color| color.map(|c| c.round().clamp(0.0, 255.0) as u8));
    match alpha {
        None => Image::rgb(size, size, rgb.flatten().collect()),
        Some(alpha) => {
            let rgba = rgb.zip(alpha).flat_map(|([r, g, b], a)| [r, g, b, a]);
            Image::rgba(size, size, rgba.collect())
        }
    }
}

fn apply(layer: &Layer, color: [f64; 3], x: f64, y: f64) -> [f64; 3] {
    let mix = |a: [f64; 3], b: [f64; 3], f: f64| -> [f64; 3] {
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * f)
    };
    match layer {
        Layer::Ramp(field, low, high) => {
            mix(low.map(f64::from), high.map(f64::from), field.at(x, y))
        }
        Layer::Tint(field, to) => mix(color, to.map(f64::from), field.at(x, y)),
        Layer::Shade(field, low, high) => {
            let factor = low + (high - low) * field.at(x, y);
            color.map(|c| c * factor)
        }
        Layer::Glow(field, light) => {
            let value = field.at(x, y);
            std::array::from_fn(|k| color[k] + f64::from(light[k]) * value)
        }
        Layer::Raise(..) | Layer::Emboss(_) | Layer::Alpha(_) => color,
    }
}

/// Brightens slopes toward the upper left and darkens those away from it.
fn emboss(colors: &mut [[f64; 3]], heights: &[f64], size: usize, strength: f64) {
    let height = |x: usize, y: usize| heights[(y % size) * size + x % size];
    let zoom = size as f64 / SIZE;
    for (index, color) in colors.iter_mut().enumerate() {
        let (x, y) = (index % size, index / size);
        let across = height(x + 1, y) - height(x + size - 1, y);
        let down = height(x, y + 1) - height(x, y + size - 1);
        let slope = (across + down) * 0.5 * zoom;
        let factor = (1.0 + slope * strength).clamp(0.45, 1.5);
        *color = color.map(|c| c * factor);
    }
}
