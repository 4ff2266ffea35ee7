//! Files of a map's pk3: map, textures, shader script, arena file and levelshot.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    diagnostic::Findings,
    geometry::Geometry,
    images::{Images, drawn_images},
    light::{Lighting, Scene},
    map_file::Entity,
    materials::Material,
    package::{self, Camera, Drawing, Skin},
    shaders::Shader,
    surfaces::HIDDEN,
    vector::Vector,
};
use crate::model::contents::{content, surface};

/// Quality of the levelshot, in percent.
const SHOT_QUALITY: u8 = 80;
/// Opacity of liquids in the levelshot.
const LIQUID_OPACITY: f64 = 0.5;

/// A map with everything that its pk3 is made of.
pub(super) struct Contents<'a> {
    pub name: &'a str,
    pub geometry: &'a Geometry,
    pub scene: &'a Scene,
    pub lighting: &'a Lighting,
}

impl Contents<'_> {
    /// Returns the pk3. Problems are reported.
    pub(super) fn pack(&self, bsp: &[u8], images: Images<'_>, findings: &mut Findings) -> Vec<u8> {
        let name = self.name;
        let mut files = BTreeMap::from([(format!("maps/{name}.bsp"), bsp.to_vec())]);
        let shot =
            package::levelshot(self.scene, self.lighting, &self.skins(&images), &self.camera());
        match shot.jpg(SHOT_QUALITY) {
            Ok(bytes) => {
                files.insert(format!("levelshots/{name}.jpg"), bytes);
            }
            Err(error) => findings.error(0, format!("levelshot: {error}")),
        }
        let script = self.script();
        if !script.is_empty() {
            files.insert(format!("scripts/{name}.shader"), script.into_bytes());
        }
        files.insert(format!("scripts/{name}.arena"), self.arena().into_bytes());
        let needed: BTreeSet<String> = self.own_shaders().flat_map(drawn_images).collect();
        files.extend(images.into_files(&needed, findings));
        package::write(&files).unwrap_or_else(|error| {
            findings.error(0, error.to_string());
            Vec::new()
        })
    }

    /// Iterates over the materials that clients draw, those of fogs included.
    fn drawn(&self) -> impl Iterator<Item = &Material> {
        let all = self.geometry.materials.all().iter();
        all.filter(|Material { shader, .. }| shader.surface_flags & HIDDEN == 0 || shader.is_fog())
    }

    /// Iterates over the shaders that clients draw and that are not of the game's data.
    fn own_shaders(&self) -> impl Iterator<Item = &Shader> {
        self.drawn().map(|material| &material.shader).filter(|shader| !shader.is_of_game)
    }

    /// Returns the shader script for clients: the definitions in use, by name.
    fn script(&self) -> String {
        let texts: BTreeMap<&str, &str> = self
            .own_shaders()
            .filter(|shader| !shader.text.is_empty())
            .map(|shader| (shader.name.as_str(), shader.text.as_str()))
            .collect();
        texts.values().map(|text| format!("{text}\n")).collect()
    }

    fn arena(&self) -> String {
        let entities = &self.geometry.entities;
        let has = |class: &str| entities.iter().any(|e| e.class().eq_ignore_ascii_case(class));
        let has_flags = has("team_ctf_redflag") && has("team_ctf_blueflag");
        let types = if has_flags { "ffa tourney team ctf" } else { "ffa tourney team" };
        let title = entities[0].value("message").unwrap_or(self.name);
        package::arena_file(self.name, title, types)
    }

    fn skins<'a>(&self, images: &'a Images<'_>) -> Vec<Option<Skin<'a>>> {
        self.geometry
            .materials
            .all()
            .iter()
            .map(|material| skin(&material.shader, images))
            .collect()
    }

    /// Returns the view of the levelshot: that of the intermission, or else of a spawn point.
    fn camera(&self) -> Camera {
        let entities = &self.geometry.entities;
        let first = |class: &str| {
            entities.iter().find(|entity| {
                entity.class().eq_ignore_ascii_case(class) && entity.vector("origin").is_some()
            })
        };
        let Some(entity) = first("info_player_intermission")
            .or_else(|| first("info_player_deathmatch"))
            .or_else(|| first("info_player_start"))
        else {
            return Camera::default();
        };
        let origin = entity.vector("origin").unwrap_or_default();
        let target = entity.value("target").and_then(|target| named(entities, target));
        let [pitch, yaw] =
            match (target.and_then(|target| target.vector("origin")), entity.vector("angles")) {
                (Some(target), _) => angles_to(target - origin),
                (None, Some(angles)) => [angles[0], angles[1]],
                (None, None) => [0.0, entity.number("angle", 0.0)],
            };
        Camera { origin: origin.0, pitch, yaw }
    }
}

fn named<'a>(entities: &'a [Entity], name: &str) -> Option<&'a Entity> {
    let is_named = |entity: &&Entity| {
        entity.value("targetname").is_some_and(|known| known.eq_ignore_ascii_case(name))
    };
    entities.iter().find(is_named)
}

/// Returns pitch and yaw of a direction, in degrees.
fn angles_to(direction: Vector) -> [f64; 2] {
    let [x, y, z] = direction.0;
    let flat = (x * x + y * y).sqrt();
    [-libm::atan2(z, flat).to_degrees(), libm::atan2(y, x).to_degrees()]
}

fn skin<'a>(shader: &Shader, images: &'a Images<'_>) -> Option<Skin<'a>> {
    let has = |flag: i32| shader.surface_flags & flag != 0;
    if has(HIDDEN) {
        return None;
    }
    let drawn = drawn_images(shader);
    let liquid = content::WATER | content::SLIME;
    let drawing = if has(surface::SKY) {
        Drawing::Sky
    } else if shader.contents & liquid != 0 {
        Drawing::Blended(LIQUID_OPACITY)
    } else if has(surface::NOLIGHTMAP) {
        Drawing::Unlit
    } else {
        Drawing::Lit
    };
    let image = drawn.first().and_then(|name| images.get(name));
    let image = image.or_else(|| images.get(shader.main_image()))?;
    let glow = drawn.get(1).filter(|_| drawing == Drawing::Lit).and_then(|name| images.get(name));
    Some(Skin { image, glow, drawing })
}
