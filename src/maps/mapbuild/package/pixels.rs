//! Images for drawing: reduced copies of textures, and a target with depths.

use crate::mapbuild::{image::Image, light::Vector};

/// Maximum number of reduced copies.
const MAX_LEVELS: usize = 12;

/// An image and its reduced copies, each with half the sides.
pub(super) struct Pyramid {
    levels: Vec<Level>,
}

struct Level {
    width: usize,
    height: usize,
    colors: Vec<Vector>,
}

impl Pyramid {
    pub(super) fn new(image: &Image) -> Self {
        let (width, height) = (image.width(), image.height());
        let colors = (0..width * height)
            .map(|i| {
                let [r, g, b, _] = image.pixel(i % width, i / width);
                [r, g, b].map(f64::from)
            })
            .collect();
        let mut levels = vec![Level { width, height, colors }];
        while let Some(next) = levels.last().and_then(Level::half) {
            levels.push(next);
            if levels.len() == MAX_LEVELS {
                break;
            }
        }
        Self { levels }
    }

    /// Color at texture coordinates. `footprint` is the size of a screen pixel in pixels of the image.
    pub(super) fn at(&self, st: [f64; 2], footprint: f64) -> Vector {
        let mut level = 0;
        let mut size = footprint;
        while size > 1.0 && level + 1 < self.levels.len() {
            size /= 2.0;
            level += 1;
        }
        self.levels[level].at(st)
    }
}

impl Level {
    fn at(&self, st: [f64; 2]) -> Vector {
        let place = |value: f64, count: usize| {
            let at = value.rem_euclid(1.0) * count as f64 - 0.5;
            let low = at.floor();
            let index = low.rem_euclid(count as f64) as usize % count;
            (index, (index + 1) % count, at - low)
        };
        let (left, right, u) = place(st[0], self.width);
        let (top, bottom, v) = place(st[1], self.height);
        let color = |x: usize, y: usize| &self.colors[y * self.width + x];
        std::array::from_fn(|k| {
            let upper = color(left, top)[k] * (1.0 - u) + color(right, top)[k] * u;
            let lower = color(left, bottom)[k] * (1.0 - u) + color(right, bottom)[k] * u;
            upper * (1.0 - v) + lower * v
        })
    }

    /// The copy with half the sides; `None` for a single pixel.
    fn half(&self) -> Option<Self> {
        if self.width == 1 && self.height == 1 {
            return None;
        }
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let colors = (0..width * height)
            .map(|i| {
                let (x, y) = (i % width * 2, i / width * 2);
                let (right, bottom) = ((x + 1) % self.width, (y + 1) % self.height);
                std::array::from_fn(|k| {
                    let color = |x: usize, y: usize| self.colors[y * self.width + x][k];
                    (color(x, y) + color(right, y) + color(x, bottom) + color(right, bottom)) / 4.0
                })
            })
            .collect();
        Some(Self { width, height, colors })
    }
}

/// Colors and depths of a picture.
pub(super) struct Target {
    width: usize,
    colors: Vec<Vector>,
    depths: Vec<f64>,
}

impl Target {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            colors: vec![[0.0; 3]; width * height],
            depths: vec![f64::INFINITY; width * height],
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn depth(&self, x: usize, y: usize) -> f64 {
        self.depths[y * self.width + x]
    }

    pub(super) fn color(&self, x: usize, y: usize) -> Vector {
        self.colors[y * self.width + x]
    }

    pub(super) fn set(&mut self, x: usize, y: usize, depth: f64, color: Vector) {
        let at = y * self.width + x;
        self.depths[at] = depth;
        self.colors[at] = color.map(|c| c.min(255.0));
    }

    /// The picture with each square of samples as one pixel.
    pub(super) fn reduced(&self, samples: usize) -> Image {
        let (width, height) = (self.width / samples, self.depths.len() / self.width / samples);
        let mut pixels = Vec::with_capacity(width * height * 3);
        for i in 0..width * height {
            let (x, y) = (i % width * samples, i / width * samples);
            for k in 0..3 {
                let sum: f64 = (0..samples * samples)
                    .map(|s| self.color(x + s % samples, y + s / samples)[k])
                    .sum();
                let mean = sum / (samples * samples) as f64;
                pixels.push(mean.round().clamp(0.0, 255.0) as u8);
            }
        }
        Image::rgb(width, height, pixels)
    }
}
