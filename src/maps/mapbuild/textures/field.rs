//! Fields of procedural textures: patterns of values from 0 to 1 that repeat at the edges.
//!
//! Invariants: lattice noise comes from an integer hash, sines from `libm`; pixels have the same bits on every machine.

use std::f64::consts::PI;

/// Side of the square in which fields are described.
pub(super) const SIZE: f64 = 256.0;

/// Pattern over the square. Values lie between 0 and 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    /// The same value everywhere.
    Constant(f64),
    /// Sum of octaves of lattice noise.
    Noise {
        /// Lattice cells across and down.
        cells: [u32; 2],
        /// Octaves, each with half the amplitude.
        octaves: u32,
        /// Seed.
        seed: u32,
    },
    /// A random value per block.
    Block(Blocks, u32),
    /// Edges of blocks: 1 at the edge, 0 from the given distance on.
    Joint(Blocks, f64),
    /// Domes on a lattice.
    Dots {
        /// Distance of domes across and down.
        period: [f64; 2],
        /// Center of the first dome.
        center: [f64; 2],
        /// Radius of a dome.
        radius: f64,
    },
    /// Horizontal bands between two rows of a period, with soft edges.
    Band {
        /// Distance of bands.
        period: f64,
        /// First and last row.
        rows: [f64; 2],
    },
    /// Diagonal stripes of equal width.
    Stripes(f64),
    /// Squares around the centers of a lattice: half side and softness.
    Square {
        /// Distance of squares.
        period: f64,
        /// Half of a side.
        half: f64,
        /// Width of the edge.
        soft: f64,
    },
    /// Square distance from the centers of a lattice, 0 at the center and 1 at the cell's edge.
    Distance(f64),
    /// Ring around the center: radius and half width.
    Ring(f64, f64),
    /// Disc around the center, 1 at the center and 0 at the radius.
    Disc(f64),
    /// Three arrow heads that point up.
    Chevrons,
    /// Spiral with arms around the center.
    Spiral {
        /// Arms.
        arms: f64,
        /// Turns from the center to the edge.
        turns: f64,
    },
    /// Lens-shaped studs of tread plate, in alternating directions.
    Studs,
    /// Square lattice of bars: distance and width.
    Bars(f64, f64),
    /// Field above a threshold: `(field − at) · gain`.
    Above(&'static Self, f64, f64),
    /// 1 where the field is at half, 0 at its extremes.
    Ridge(&'static Self),
    /// 1 minus another field.
    Not(&'static Self),
    /// Product of two fields.
    And(&'static Self, &'static Self),
    /// Greater of two fields.
    Or(&'static Self, &'static Self),
    /// A field whose coordinates are shifted by a second one.
    Warp(&'static Self, &'static Self, f64),
}

/// Rows of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Width of a block.
    pub(super) width: f64,
    /// Height of a row.
    pub(super) height: f64,
    /// Whether every second row is shifted by half a block.
    pub(super) shifted: bool,
}

impl Blocks {
    /// Distance to the nearest edge, and the block's column and row.
    fn locate(self, x: f64, y: f64) -> (f64, u32, u32) {
        let row = (y / self.height).floor();
        let shift = if self.shifted && row.rem_euclid(2.0) >= 1.0 { self.width / 2.0 } else { 0.0 };
        let x = (x + shift).rem_euclid(SIZE);
        let (u, v) = (x.rem_euclid(self.width), y.rem_euclid(self.height));
        let distance = u.min(self.width - u).min(v).min(self.height - v);
        (distance, (x / self.width) as u32, row as u32)
    }
}

impl Field {
    /// Value at a point of the square.
    pub(super) fn at(&self, x: f64, y: f64) -> f64 {
        let value = match *self {
            Self::Constant(value) => value,
            Self::Noise { cells, octaves, seed } => noise(x, y, cells, octaves, seed),
            Self::Block(blocks, seed) => {
                let (_, column, row) = blocks.locate(x, y);
                random(column, row, seed)
            }
            Self::Joint(blocks, width) => 1.0 - blocks.locate(x, y).0 / width,
            Self::Dots { period, center, radius } => {
                let u = centered(x - center[0], period[0]) / radius;
                let v = centered(y - center[1], period[1]) / radius;
                (1.0 - u * u - v * v).max(0.0).sqrt()
            }
            Self::Band { period, rows } => {
                let row = y.rem_euclid(period);
                (row - rows[0]).min(rows[1] - row) / 1.5 + 0.5
            }
            Self::Stripes(width) => centered(x + y, width * 2.0).abs() - width / 2.0 + 0.5,
            Self::Square { period, half, soft } => (half - chebyshev(x, y, period)) / soft + 0.5,
            Self::Distance(period) => chebyshev(x, y, period) * 2.0 / period,
            Self::Above(field, at, gain) => (field.at(x, y) - at) * gain,
            Self::Ridge(field) => 1.0 - (field.at(x, y) * 2.0 - 1.0).abs(),
            Self::Not(field) => 1.0 - field.at(x, y),
            Self::And(a, b) => a.at(x, y) * b.at(x, y),
            Self::Or(a, b) => a.at(x, y).max(b.at(x, y)),
            Self::Warp(field, by, amount) => {
                let shift = (by.at(x, y) - 0.5) * amount;
                field.at((x + shift).rem_euclid(SIZE), (y + shift).rem_euclid(SIZE))
            }
            Self::Ring(..)
            | Self::Disc(_)
            | Self::Chevrons
            | Self::Spiral { .. }
            | Self::Studs
            | Self::Bars(..) => self.shape_at(x, y),
        };
        value.clamp(0.0, 1.0)
    }

    /// Value of the patterns with a fixed place.
    fn shape_at(&self, x: f64, y: f64) -> f64 {
        let (u, v) = (x - SIZE / 2.0, y - SIZE / 2.0);
        let radius = (u * u + v * v).sqrt();
        match *self {
            Self::Ring(at, half) => (half - (radius - at).abs()) / 1.5 + 0.5,
            Self::Disc(limit) => 1.0 - radius / limit,
            Self::Chevrons => {
                let across = u.abs();
                let nearest = (0..3)
                    .map(|k| (y - 66.0 - f64::from(k) * 46.0 - across * 0.6).abs())
                    .fold(f64::INFINITY, f64::min);
                ((11.0 - nearest) / 1.5 + 0.5).min((62.0 - across) / 1.5 + 0.5)
            }
            Self::Spiral { arms, turns } => {
                let angle = libm::atan2(v, u) * arms + radius / SIZE * turns * 4.0 * PI;
                0.5 + 0.5 * libm::sin(angle)
            }
            Self::Studs => {
                let cell = 32.0;
                let odd = ((x / cell).floor() + (y / cell).floor()).rem_euclid(2.0) >= 1.0;
                let (u, v) = (centered(x - 16.0, cell), centered(y - 16.0, cell));
                let (long, short) = if odd { (u + v, u - v) } else { (u - v, u + v) };
                (1.0 - (long / 18.0).powi(2) - (short / 6.0).powi(2)) * 2.0
            }
            Self::Bars(period, width) => {
                let (u, v) = (centered(x, period).abs(), centered(y, period).abs());
                (width / 2.0 - u.min(v)) / 1.5 + 0.5
            }
            _ => 0.0,
        }
    }
}

/// Remainder between plus and minus half of the period.
fn centered(value: f64, period: f64) -> f64 {
    (value + period / 2.0).rem_euclid(period) - period / 2.0
}

/// Greater distance across or down from the nearest center of a lattice.
fn chebyshev(x: f64, y: f64, period: f64) -> f64 {
    let half = period / 2.0;
    let (u, v) = (centered(x - half, period), centered(y - half, period));
    u.abs().max(v.abs())
}

/// Value of 0 to 1 for two indices.
fn random(x: u32, y: u32, seed: u32) -> f64 {
    let mut hash = x
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(y.wrapping_mul(0x85EB_CA77))
        .wrapping_add(seed.wrapping_mul(0xC2B2_AE3D));
    for shift in [15, 13, 16] {
        hash = (hash ^ (hash >> shift)).wrapping_mul(0x2C1B_3C6D);
    }
    f64::from(hash >> 8) / f64::from(1u32 << 24)
}

fn noise(x: f64, y: f64, cells: [u32; 2], octaves: u32, seed: u32) -> f64 {
    let mut sum = 0.0;
    let mut total = 0.0;
    let mut amplitude = 1.0;
    for octave in 0..octaves {
        let count = cells.map(|c| c << octave);
        sum += lattice(x, y, count, seed.wrapping_add(octave * 101)) * amplitude;
        total += amplitude;
        amplitude *= 0.5;
    }
    // The sum of octaves rarely comes near its limits.
    (sum / total - 0.5) * 1.4 + 0.5
}

/// Smoothly interpolated random values of a lattice that repeats at the edges.
fn lattice(x: f64, y: f64, count: [u32; 2], seed: u32) -> f64 {
    let split = |value: f64, count: u32| {
        let scaled = value / SIZE * f64::from(count);
        let cell = scaled.floor();
        let fraction = scaled - cell;
        let smooth = fraction * fraction * fraction * (fraction * (fraction * 6.0 - 15.0) + 10.0);
        let index = cell.rem_euclid(f64::from(count)) as u32;
        (index, (index + 1) % count, smooth)
    };
    let (left, right, u) = split(x, count[0]);
    let (top, bottom, v) = split(y, count[1]);
    let mix = |a: f64, b: f64, f: f64| a + (b - a) * f;
    mix(
        mix(random(left, top, seed), random(right, top, seed), u),
        mix(random(left, bottom, seed), random(right, bottom, seed), u),
        v,
    )
}
