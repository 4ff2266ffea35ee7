//! Light that arrives at a point: suns, sky, point lights, surface lights and bounced light.

use super::{
    caster::Caster,
    scene::{Plane, PointLight, Scene, Shape, Sun, Surface},
    vector::{
        Vector, add, along, bounds, brightest, cross, dot, length, major_axis, normalize, scale,
        sub,
    },
};

/// Light that is not worth a shadow ray, full and fast.
const NEGLIGIBLE: [f64; 2] = [0.1, 1.0];
/// Sky directions of a sample, full and fast.
const SKY_DIRECTIONS: [usize; 2] = [40, 8];
/// Factor of a point light's intensity over squared distance.
const POINT_SCALE: f64 = 7500.0;
/// Least squared distance of a point light.
const MIN_SQUARE: f64 = 256.0;
/// Distance between the emitters of a surface light.
const EMITTER_STEP: f64 = 96.0;
/// Distance of an emitter from its surface.
const EMITTER_LIFT: f64 = 4.0;
/// Maximum emitters of surface lights of a scene, full and fast. Their distance doubles until they are not more.
const MAX_TOTAL: [usize; 2] = [2048, 256];
/// Largest distance between the emitters of a surface light.
const MAX_EMITTER_STEP: f64 = 65_536.0;
/// Maximum emitters along one axis of a surface.
const MAX_EMITTERS: f64 = 64.0;

/// Area that sends light away from its front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emitter {
    /// Center, a little above the surface.
    pub(crate) point: Vector,
    /// Front.
    pub(crate) normal: Vector,
    /// Light times area.
    pub(crate) power: Vector,
    /// Area over pi, which bounds the light close to the emitter.
    pub(crate) spread: f64,
}

/// One source's light at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    /// Unit vector to the source.
    pub(crate) direction: Vector,
    /// Light on a surface that faces the source.
    pub(crate) light: Vector,
}

/// Light sources of a scene and the solids between them.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) caster: &'a Caster,
    scene: &'a Scene,
    /// All point lights and surface lights.
    pub(crate) all: LocalSources,
    /// Sets of directions to the sky. Samples of a luxel take different sets.
    sky: Vec<Vec<Vector>>,
    /// Length that leaves the map.
    far: f64,
    /// Light that is not worth a shadow ray.
    negligible: f64,
}

/// Point lights and surface lights.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalSources {
    pub(crate) lights: Vec<Lamp>,
    pub(crate) emitters: Vec<Emitter>,
}

/// Point light, or several that count as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lamp {
    pub(crate) light: PointLight,
    /// Greatest component of the intensity of one light, which determines how far a linear one shines.
    pub(crate) reach: f64,
}

impl Lamp {
    fn new(light: PointLight) -> Self {
        Self { light, reach: brightest(light.intensity) }
    }
}

impl LocalSources {
    /// Returns the number of sources.
    pub(crate) fn count(&self) -> usize {
        self.lights.len() + self.emitters.len()
    }
}

#[cfg(test)]
impl Sources<'_> {
    /// Returns the number of emitters and the sum of their power.
    pub(crate) fn emitter_power(&self) -> (usize, f64) {
        let emitters = &self.all.emitters;
        (emitters.len(), emitters.iter().map(|emitter| emitter.power[0]).sum())
    }
}

/// Share by which a source is taken as brighter when it is left out as negligible.
const CULL_MARGIN: f64 = 1.0 + 1e-6;

/// Height of a region over an emitter's plane that counts as none.
const BEHIND: f64 = 0.01;

/// Points that receive light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Box around the points.
    pub(crate) bounds: [Vector; 2],
    /// Plane of a flat surface. All points are above it and receive no light from below.
    pub(crate) plane: Option<Plane>,
}

impl Region {
    /// Returns the squared distance of a source, 0 inside the box; infinite below the plane.
    fn square(&self, source: Vector) -> f64 {
        if self.plane.is_some_and(|plane| dot(plane.normal, source) <= plane.distance) {
            return f64::INFINITY;
        }
        let [low, high] = &self.bounds;
        let away = std::array::from_fn(|axis| {
            (low[axis] - source[axis]).max(source[axis] - high[axis]).max(0.0)
        });
        dot(away, away)
    }

    /// Whether a point of the box may be in front of an emitter.
    fn is_before(&self, emitter: &Emitter) -> bool {
        let [low, high] = &self.bounds;
        let normal = emitter.normal;
        let parts = (0..3).map(|axis| (normal[axis] * low[axis]).max(normal[axis] * high[axis]));
        parts.sum::<f64>() - dot(normal, emitter.point) > -BEHIND
    }
}

/// Returns the emitters whose light is not negligible everywhere in a region.
pub(crate) fn emitters_near(
    emitters: &[Emitter],
    region: &Region,
    negligible: f64,
) -> Vec<Emitter> {
    let is_near = |emitter: &&Emitter| {
        let most = brightest(emitter.power) / (region.square(emitter.point) + emitter.spread);
        most * CULL_MARGIN > negligible && region.is_before(emitter)
    };
    emitters.iter().filter(is_near).copied().collect()
}

/// Returns the share of a point light's intensity that arrives at a distance.
fn point_factor(lamp: &Lamp, square: f64) -> f64 {
    if lamp.light.linear {
        (POINT_SCALE / 8000.0 - square.sqrt() / lamp.reach).max(0.0)
    } else {
        POINT_SCALE / square.max(MIN_SQUARE)
    }
}

impl<'a> Sources<'a> {
    /// Collects the sources, with a set of sky directions per sample of a luxel.
    pub(crate) fn new(caster: &'a Caster, scene: &'a Scene, fast: bool, sets: usize) -> Self {
        let directions = SKY_DIRECTIONS[usize::from(fast)];
        let emitters = scene_emitters(scene, MAX_TOTAL[usize::from(fast)]);
        let has_sky = brightest(scene.sky) > 0.0;
        let extent = super::vector::bounds(scene.occluders.iter().flat_map(|o| o.bounds));
        let diagonal = length(sub(extent[1], extent[0]));
        Self {
            negligible: NEGLIGIBLE[usize::from(fast)],
            caster,
            scene,
            all: LocalSources {
                lights: scene.lights.iter().copied().map(Lamp::new).collect(),
                emitters,
            },
            sky: (0..sets)
                .map(|set| hemisphere(if has_sky { directions } else { 0 }, set, sets))
                .collect(),
            far: if diagonal.is_finite() { diagonal + 128.0 } else { 1.0 },
        }
    }

    /// Returns the same sources with other solids, and without the sky.
    pub(crate) fn with_caster<'b>(&self, caster: &'b Caster) -> Sources<'b>
    where
        'a: 'b,
    {
        let Self { scene, far, negligible, .. } = *self;
        Sources { caster, scene, all: self.all.clone(), sky: Vec::new(), far, negligible }
    }

    /// Returns the point lights and surface lights that are not negligible everywhere in a region.
    pub(crate) fn near(&self, region: &Region) -> LocalSources {
        let is_near = |lamp: &&Lamp| {
            let factor = point_factor(lamp, region.square(lamp.light.origin));
            brightest(lamp.light.intensity) * factor * CULL_MARGIN > self.negligible
        };
        LocalSources {
            lights: self.all.lights.iter().filter(is_near).copied().collect(),
            emitters: emitters_near(&self.all.emitters, region, self.negligible),
        }
    }

    /// Light on a surface at a point. `set` selects the sky directions.
    pub(crate) fn on_surface(
        &self,
        local: &LocalSources,
        point: Vector,
        normal: Vector,
        set: usize,
    ) -> Vector {
        let mut sum = self.scene.ambient;
        for sun in &self.scene.suns {
            let facing = dot(normal, sun.direction);
            if facing > 0.0 && self.sun_shines(sun, point) {
                sum = along(sum, sun.intensity, facing);
            }
        }
        sum = along(sum, self.scene.sky, self.sky_share(point, normal, set));
        self.local_on_surface(local, point, normal, &mut |ray| {
            sum = along(sum, ray.light, dot(ray.direction, normal).max(0.0));
        });
        sum
    }

    fn sun_shines(&self, sun: &Sun, point: Vector) -> bool {
        !self.caster.blocked(point, along(point, sun.direction, self.far))
    }

    /// Share of the sky's light that a surface receives. A free horizontal surface receives all of it.
    fn sky_share(&self, point: Vector, normal: Vector, set: usize) -> f64 {
        let directions = &self.sky[set % self.sky.len()];
        let mut share = 0.0;
        let mut all = 0.0;
        for direction in directions {
            all += direction[2];
            let facing = dot(normal, *direction);
            if facing > 0.02 && !self.caster.blocked(point, along(point, *direction, self.far)) {
                share += facing;
            }
        }
        if all > 0.0 { share / all } else { 0.0 }
    }

    /// Visits the light of suns, sky and local sources at a point in the open.
    pub(crate) fn around(&self, local: &LocalSources, point: Vector, visit: &mut dyn FnMut(Ray)) {
        for sun in &self.scene.suns {
            if self.sun_shines(sun, point) {
                visit(Ray { direction: sun.direction, light: sun.intensity });
            }
        }
        let directions = &self.sky[0];
        for direction in directions {
            if !self.caster.blocked(point, along(point, *direction, self.far)) {
                visit(Ray {
                    direction: *direction,
                    light: scale(self.scene.sky, 1.0 / directions.len() as f64),
                });
            }
        }
        self.local_around(local, point, visit);
    }

    /// Visits point lights and surface lights on a surface.
    pub(crate) fn local_on_surface(
        &self,
        local: &LocalSources,
        point: Vector,
        normal: Vector,
        visit: &mut dyn FnMut(Ray),
    ) {
        self.local(local, point, self.negligible, Some(normal), visit);
    }

    /// Visits point lights and surface lights in the open.
    pub(crate) fn local_around(
        &self,
        local: &LocalSources,
        point: Vector,
        visit: &mut dyn FnMut(Ray),
    ) {
        self.local(local, point, self.negligible * 2.0, None, visit);
    }

    fn local(
        &self,
        local: &LocalSources,
        point: Vector,
        negligible: f64,
        normal: Option<Vector>,
        visit: &mut dyn FnMut(Ray),
    ) {
        for lamp in &local.lights {
            let light = &lamp.light;
            let to = sub(light.origin, point);
            let square = dot(to, to);
            let distance = square.sqrt();
            let direction = scale(to, 1.0 / distance.max(1e-6));
            let facing = normal.map_or(1.0, |n| dot(n, direction));
            let top = brightest(light.intensity);
            if facing <= 0.0 || top <= 0.0 {
                continue;
            }
            let factor = point_factor(lamp, square);
            if top * factor * facing > negligible && !self.caster.blocked(point, light.origin) {
                visit(Ray { direction, light: scale(light.intensity, factor) });
            }
        }
        from_emitters(self.caster, &local.emitters, point, normal, negligible, visit);
    }
}

/// Visits the light of emitters at a point.
pub(crate) fn from_emitters(
    caster: &Caster,
    emitters: &[Emitter],
    point: Vector,
    normal: Option<Vector>,
    negligible: f64,
    visit: &mut dyn FnMut(Ray),
) {
    for emitter in emitters {
        let to = sub(emitter.point, point);
        let away = -dot(to, emitter.normal);
        if away <= 0.0 {
            continue;
        }
        let toward = normal.map(|n| dot(to, n));
        if toward.is_some_and(|t| t <= 0.0) {
            continue;
        }
        let square = dot(to, to);
        let distance = square.sqrt();
        let factor = away / distance / (square + emitter.spread);
        let facing = toward.map_or(1.0, |t| t / distance);
        if brightest(emitter.power) * factor * facing > negligible
            && !caster.blocked(point, emitter.point)
        {
            visit(Ray {
                direction: scale(to, 1.0 / distance),
                light: scale(emitter.power, factor),
            });
        }
    }
}

/// Divides all surface lights into emitters, as small as their number allows.
fn scene_emitters(scene: &Scene, max: usize) -> Vec<Emitter> {
    let mut step = EMITTER_STEP;
    loop {
        let of_surface = |surface: &Surface| {
            let material = scene.materials.get(surface.material);
            let emission = material.map_or([0.0; 3], |m| m.emission);
            surface_emitters(surface, emission, step)
        };
        let emitters: Vec<Emitter> = scene.surfaces.iter().flat_map(of_surface).collect();
        if emitters.len() <= max || step >= MAX_EMITTER_STEP {
            return emitters;
        }
        step *= 2.0;
    }
}

/// Divides a surface light into emitters.
fn surface_emitters(surface: &Surface, emission: Vector, step: f64) -> Vec<Emitter> {
    let Shape::Polygon { ring, normal, .. } = &surface.shape else {
        return Vec::new();
    };
    if brightest(emission) <= 0.0 || ring.len() < 3 {
        return Vec::new();
    }
    let [low, high] = bounds(ring.iter().map(|v| v.point));
    let area = polygon_area(surface);
    let flat = major_axis(*normal);
    let (u, v) = ((flat + 1) % 3, (flat + 2) % 3);
    let count = |axis: usize| ((high[axis] - low[axis]) / step).round().clamp(1.0, MAX_EMITTERS);
    let (columns, rows) = (count(u), count(v));
    let share = area / (columns * rows);
    let mut emitters = Vec::new();
    for row in 0..rows as usize {
        for column in 0..columns as usize {
            let mut point = scale(add(low, high), 0.5);
            point[u] = low[u] + (column as f64 + 0.5) / columns * (high[u] - low[u]);
            point[v] = low[v] + (row as f64 + 0.5) / rows * (high[v] - low[v]);
            let height = dot(sub(point, ring[0].point), *normal) / normal[flat];
            point[flat] -= height;
            emitters.push(Emitter {
                point: along(point, *normal, EMITTER_LIFT),
                normal: *normal,
                power: scale(emission, share),
                spread: share / std::f64::consts::PI,
            });
        }
    }
    emitters
}

/// Area of a polygon, or 0 for other shapes.
pub(crate) fn polygon_area(surface: &Surface) -> f64 {
    let Shape::Polygon { ring, .. } = &surface.shape else {
        return 0.0;
    };
    let Some(first) = ring.first() else {
        return 0.0;
    };
    let mut sum = [0.0; 3];
    for pair in ring.windows(2) {
        let a = sub(pair[0].point, first.point);
        let b = sub(pair[1].point, first.point);
        sum = add(sum, cross(a, b));
    }
    length(sum) / 2.0
}

/// Directions evenly distributed over the upper hemisphere. The sets are interleaved.
pub(crate) fn hemisphere(count: usize, set: usize, sets: usize) -> Vec<Vector> {
    let golden = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
    (0..count)
        .map(|i| {
            let index = (i * sets + set) as f64 + 0.5;
            let z = 1.0 - index / (count * sets) as f64;
            let radius = (1.0 - z * z).max(0.0).sqrt();
            let turn = index * golden;
            [radius * libm::cos(turn), radius * libm::sin(turn), z]
        })
        .map(normalize)
        .collect()
}
