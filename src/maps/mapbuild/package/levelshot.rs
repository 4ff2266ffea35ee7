//! Levelshot: a picture of a compiled map from its intermission camera.
//!
//! Triangles of all surfaces are drawn with a depth buffer; a pixel is texture times luxel, as clients draw it. The picture
//! has the aspect 4:3 squeezed into a square, because clients stretch it over the screen.

use super::pixels::{Pyramid, Target};
use crate::mapbuild::{
    image::Image,
    light::{
        Lighting, PAGE_SIZE, Placement, Scene, Shape, Surface, Vector, Vertex, patch_vertex,
        vector::{add, dot, scale, sub},
    },
};

/// Width and height of a levelshot, in pixels.
pub const SHOT_SIZE: usize = 256;
/// Samples of a pixel along one side.
const SAMPLES: usize = 2;
/// Height of the view over its width.
const ASPECT: f64 = 0.75;
/// Nearest visible distance.
const NEAR: f64 = 4.0;
/// Triangles of a patch segment along one side.
const PATCH_STEPS: usize = 6;
/// Factor of a luxel: a texture has its own brightness at 64.
const LUXEL_SCALE: f64 = 4.0;

/// Position and direction of a camera, in degrees. A positive pitch looks down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    /// Position.
    pub origin: Vector,
    /// Pitch.
    pub pitch: f64,
    /// Yaw.
    pub yaw: f64,
}

/// Look of a material.
#[derive(Clone, Debug)]
pub struct Skin<'a> {
    /// Image.
    pub image: &'a Image,
    /// Image that is added.
    pub glow: Option<&'a Image>,
    /// Way of drawing.
    pub drawing: Drawing,
}

/// Way of drawing a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawing {
    /// Image times light map.
    Lit,
    /// Image alone.
    Unlit,
    /// Image over the surfaces behind it, with an opacity of 0 to 1.
    Blended(f64),
    /// Image at a great distance.
    Sky,
}

/// Corner of a triangle: position, texture coordinates, luxel.
#[derive(Clone, Copy, Default)]
struct Corner {
    /// Right, up and forward from the camera.
    view: Vector,
    st: [f64; 2],
    luxel: [f64; 2],
}

/// Draws a scene. Skins are those of the scene's materials; surfaces without one are left out.
pub fn levelshot(
    scene: &Scene,
    lighting: &Lighting,
    skins: &[Option<Skin>],
    camera: &Camera,
) -> Image {
    let side = SHOT_SIZE * SAMPLES;
    let mut painter =
        Painter { view: View::new(camera), lighting, target: Target::new(side, side) };
    let looks: Vec<Option<Look>> = skins.iter().map(|skin| skin.as_ref().map(Look::new)).collect();
    // Surfaces that blend need those behind them.
    for blended in [false, true] {
        for (index, surface) in scene.surfaces.iter().enumerate() {
            let Some(Some(look)) = looks.get(surface.material) else {
                continue;
            };
            if matches!(look.drawing, Drawing::Blended(_)) == blended {
                painter.surface(surface, index, look);
            }
        }
    }
    painter.target.reduced(SAMPLES)
}

/// Images of a skin, prepared for drawing.
struct Look {
    image: Pyramid,
    glow: Option<Pyramid>,
    drawing: Drawing,
}

impl Look {
    fn new(skin: &Skin) -> Self {
        Self {
            image: Pyramid::new(skin.image),
            glow: skin.glow.map(Pyramid::new),
            drawing: skin.drawing,
        }
    }
}

/// Axes of the camera.
struct View {
    origin: Vector,
    right: Vector,
    up: Vector,
    forward: Vector,
}

impl View {
    fn new(camera: &Camera) -> Self {
        let (yaw, pitch) = (camera.yaw.to_radians(), camera.pitch.to_radians());
        let (sy, cy) = (libm::sin(yaw), libm::cos(yaw));
        let (sp, cp) = (libm::sin(pitch), libm::cos(pitch));
        Self {
            origin: camera.origin,
            right: [sy, -cy, 0.0],
            up: [sp * cy, sp * sy, cp],
            forward: [cp * cy, cp * sy, -sp],
        }
    }

    fn place(&self, point: Vector) -> Vector {
        let from = sub(point, self.origin);
        [dot(from, self.right), dot(from, self.up), dot(from, self.forward)]
    }

    /// World direction of a point on the screen, -1 to 1 across and up.
    fn direction(&self, x: f64, y: f64) -> Vector {
        add(add(self.forward, scale(self.right, x)), scale(self.up, y * ASPECT))
    }
}

struct Painter<'a> {
    view: View,
    lighting: &'a Lighting,
    target: Target,
}

impl Painter<'_> {
    fn surface(&mut self, surface: &Surface, index: usize, look: &Look) {
        let light = self.lighting.surfaces.get(index);
        let placement = light.and_then(|l| l.placement.as_ref());
        match &surface.shape {
            Shape::Polygon { ring, .. } => {
                let corners: Vec<Corner> = ring
                    .iter()
                    .enumerate()
                    .map(|(i, vertex)| {
                        let luxel = placement.and_then(|p| p.coordinates.get(i));
                        let size = PAGE_SIZE as f64;
                        self.corner(vertex, luxel.map_or([0.0; 2], |l| l.map(|c| c * size)))
                    })
                    .collect();
                for i in 2..corners.len() {
                    self.triangle([corners[0], corners[i - 1], corners[i]], placement, look);
                }
            }
            Shape::Patch { width, height, points } => {
                if *width >= 3 && *height >= 3 && points.len() == width * height {
                    self.patch(*width, *height, points, placement, look);
                }
            }
        }
    }

    fn patch(
        &mut self,
        width: usize,
        height: usize,
        points: &[Vertex],
        placement: Option<&Placement>,
        look: &Look,
    ) {
        let (columns, rows) = (width / 2 * PATCH_STEPS, height / 2 * PATCH_STEPS);
        let corner = |painter: &Self, column: usize, row: usize| {
            let (s, t) = (column as f64 / columns as f64, row as f64 / rows as f64);
            let luxel = placement.map_or([0.0; 2], |p| {
                [
                    p.x as f64 + 0.5 + (p.width - 1) as f64 * s,
                    p.y as f64 + 0.5 + (p.height - 1) as f64 * t,
                ]
            });
            painter.corner(&patch_vertex(width, height, points, s, t), luxel)
        };
        for row in 0..rows {
            for column in 0..columns {
                let a = corner(self, column, row);
                let b = corner(self, column + 1, row);
                let c = corner(self, column, row + 1);
                let d = corner(self, column + 1, row + 1);
                self.triangle([a, b, c], placement, look);
                self.triangle([b, d, c], placement, look);
            }
        }
    }

    fn corner(&self, vertex: &Vertex, luxel: [f64; 2]) -> Corner {
        Corner { view: self.view.place(vertex.point), st: vertex.st, luxel }
    }

    /// Clips a triangle at the near plane and draws it.
    fn triangle(&mut self, corners: [Corner; 3], placement: Option<&Placement>, look: &Look) {
        let mut kept: Vec<Corner> = Vec::with_capacity(4);
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            let (near_a, near_b) = (a.view[2] >= NEAR, b.view[2] >= NEAR);
            if near_a {
                kept.push(a);
            }
            if near_a != near_b {
                let at = (NEAR - a.view[2]) / (b.view[2] - a.view[2]);
                kept.push(mix(&a, &b, at));
            }
        }
        for i in 2..kept.len() {
            self.fill([kept[0], kept[i - 1], kept[i]], placement, look);
        }
    }

    /// Draws a triangle in front of the camera.
    fn fill(&mut self, corners: [Corner; 3], placement: Option<&Placement>, look: &Look) {
        let side = self.target.width() as f64;
        let screen = corners.map(|c| {
            [
                (1.0 + c.view[0] / c.view[2]) * side / 2.0,
                (1.0 - c.view[1] / c.view[2] / ASPECT) * side / 2.0,
            ]
        });
        let cross = |a: [f64; 2], b: [f64; 2], p: [f64; 2]| {
            (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        };
        let area = cross(screen[0], screen[1], screen[2]);
        if area.abs() < 1e-9 {
            return;
        }
        let range = |k: usize| {
            let low = screen.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
            let high = screen.iter().map(|p| p[k]).fold(0.0, f64::max);
            (low.max(0.0) as usize)..(high.ceil().clamp(0.0, side) as usize)
        };
        for y in range(1) {
            for x in range(0) {
                let center = [x as f64 + 0.5, y as f64 + 0.5];
                let weights: [f64; 3] = std::array::from_fn(|k| {
                    cross(screen[(k + 1) % 3], screen[(k + 2) % 3], center) / area
                });
                if weights.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let inverse: f64 = (0..3).map(|k| weights[k] / corners[k].view[2]).sum();
                let depth = 1.0 / inverse;
                if depth >= self.target.depth(x, y) {
                    continue;
                }
                let share = |k: usize| weights[k] / corners[k].view[2] * depth;
                let of = |value: &dyn Fn(&Corner) -> f64| {
                    (0..3).map(|k| share(k) * value(&corners[k])).sum::<f64>()
                };
                let st = [of(&|c| c.st[0]), of(&|c| c.st[1])];
                let luxel = placement.map(|p| (p, [of(&|c| c.luxel[0]), of(&|c| c.luxel[1])]));
                self.pixel(x, y, depth, st, luxel, look);
            }
        }
    }

    fn pixel(
        &mut self,
        x: usize,
        y: usize,
        depth: f64,
        st: [f64; 2],
        luxel: Option<(&Placement, [f64; 2])>,
        look: &Look,
    ) {
        let side = self.target.width() as f64;
        if look.drawing == Drawing::Sky {
            let across = (x as f64 + 0.5) / side * 2.0 - 1.0;
            let up = 1.0 - (y as f64 + 0.5) / side * 2.0;
            let toward = self.view.direction(across, up);
            let flat = toward[2].abs().max(0.08) * 2.0;
            let color = look.image.at([toward[0] / flat, toward[1] / flat], 0.0);
            self.target.set(x, y, depth, color);
            return;
        }
        // Images usually have two pixels per unit.
        let footprint = depth * 2.0 / side * 2.0;
        let mut color = look.image.at(st, footprint);
        if let (Drawing::Lit, Some((placement, at))) = (look.drawing, luxel) {
            let light = self.luxel(placement, at);
            color = std::array::from_fn(|k| color[k] * light[k]);
        }
        if let Some(glow) = &look.glow {
            color = add(color, glow.at(st, footprint));
        }
        if let Drawing::Blended(opacity) = look.drawing {
            let behind = self.target.color(x, y);
            color = add(scale(color, opacity), scale(behind, 1.0 - opacity));
        }
        self.target.set(x, y, depth, color);
    }

    /// Light of a page between its luxels, 0 to 1 per component.
    fn luxel(&self, placement: &Placement, at: [f64; 2]) -> Vector {
        let Some(page) = self.lighting.pages.get(placement.page) else {
            return [1.0; 3];
        };
        let place = |value: f64, first: usize, count: usize| {
            let value = (value - 0.5).clamp(first as f64, (first + count - 1) as f64);
            let low = value as usize;
            (low, (low + 1).min(first + count - 1), value - low as f64)
        };
        let (left, right, u) = place(at[0], placement.x, placement.width);
        let (top, bottom, v) = place(at[1], placement.y, placement.height);
        let luxel = |x: usize, y: usize| -> Vector {
            let at = (y * PAGE_SIZE + x) * 3;
            std::array::from_fn(|k| f64::from(page[at + k]) * LUXEL_SCALE / 255.0)
        };
        let mix = |a: Vector, b: Vector, f: f64| add(scale(a, 1.0 - f), scale(b, f));
        let light = mix(
            mix(luxel(left, top), luxel(right, top), u),
            mix(luxel(left, bottom), luxel(right, bottom), u),
            v,
        );
        let top = light[0].max(light[1]).max(light[2]);
        scale(light, 1.0 / top.max(1.0))
    }
}

fn mix(a: &Corner, b: &Corner, fraction: f64) -> Corner {
    let pair = |a: [f64; 2], b: [f64; 2]| [0, 1].map(|k| a[k] + (b[k] - a[k]) * fraction);
    Corner {
        view: add(scale(a.view, 1.0 - fraction), scale(b.view, fraction)),
        st: pair(a.st, b.st),
        luxel: pair(a.luxel, b.luxel),
    }
}
