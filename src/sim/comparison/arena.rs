//! Arenas of plays: boxes and entities, compiled to a map file.
//!
//! Every arena has a closed hall of 2048 by 2048 by 768 units around the origin, with its floor at z = 0 and three
//! spawn points near its walls. A play adds boxes, entities and entities with boxes.

use crate::mapbuild::{self, Effort, Source, image::Image};

/// Half the width of the hall, its height, and the thickness of its walls.
const HALF: f32 = 1024.0;
const HEIGHT: f32 = 768.0;
const WALL: f32 = 16.0;

/// Parameters of the shaders of materials.
const SHADERS: [(&str, &[&str]); 7] = [
    ("water", &["nonsolid", "trans", "water"]),
    ("lava", &["nonsolid", "trans", "lava"]),
    ("slime", &["nonsolid", "trans", "slime"]),
    ("slick", &["slick"]),
    ("steps", &["metalsteps"]),
    ("nodamage", &["nodamage"]),
    ("noimpact", &["noimpact"]),
];

/// Returns the shader script.
fn script() -> String {
    let mut text = String::new();
    for (name, parms) in SHADERS {
        text.push_str(&format!("textures/comparison/{name}\n{{\n"));
        parms.iter().for_each(|parm| text.push_str(&format!("surfaceparm {parm}\n")));
        text.push_str("}\n");
    }
    text
}

/// Material of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Material {
    Solid,
    Water,
    Lava,
    Slime,
    Slick,
    MetalSteps,
    NoDamage,
    NoImpact,
    /// Volume of a trigger.
    Trigger,
    /// Volume in which dropped items vanish.
    NoDrop,
}

impl Material {
    const ALL: [(Self, &str, &str); 10] = [
        (Self::Solid, "solid", "common/caulk"),
        (Self::Water, "water", "comparison/water"),
        (Self::Lava, "lava", "comparison/lava"),
        (Self::Slime, "slime", "comparison/slime"),
        (Self::Slick, "slick", "comparison/slick"),
        (Self::MetalSteps, "metalsteps", "comparison/steps"),
        (Self::NoDamage, "nodamage", "comparison/nodamage"),
        (Self::NoImpact, "noimpact", "comparison/noimpact"),
        (Self::Trigger, "trigger", "common/trigger"),
        (Self::NoDrop, "nodrop", "common/nodrop"),
    ];

    /// Returns the material of a name in plays.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|row| row.0)
    }

    fn shader(self) -> &'static str {
        Self::ALL.iter().find(|(own, ..)| *own == self).map_or("common/caulk", |row| row.2)
    }
}

type Brush = (Material, [f32; 6]);

/// An entity with its keys and boxes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entity {
    pairs: Vec<(String, String)>,
    parts: Vec<Brush>,
}

/// Boxes and entities that a play adds to the hall.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arena {
    boxes: Vec<Brush>,
    entities: Vec<Entity>,
}

impl Arena {
    pub(super) fn add_box(&mut self, material: Material, corners: [f32; 6]) {
        self.boxes.push((material, corners));
    }

    pub(super) fn add_entity(&mut self, pairs: Vec<(String, String)>) {
        self.entities.push(Entity { pairs, parts: Vec::new() });
    }

    /// Adds a box to the last entity.
    pub(super) fn add_part(
        &mut self,
        material: Material,
        corners: [f32; 6],
    ) -> Result<(), &'static str> {
        let entity = self.entities.last_mut().ok_or("part without an entity")?;
        entity.parts.push((material, corners));
        Ok(())
    }

    /// Compiles the map file. `name` is that of messages.
    ///
    /// # Errors
    /// The first problem of the arena.
    pub(super) fn compile(&self, name: &str) -> Result<Vec<u8>, String> {
        let scripts = [("comparison.shader".to_owned(), script().into_bytes())];
        let text = self.source();
        let image = Image::rgb(8, 8, vec![128; 8 * 8 * 3]).tga();
        let source = Source {
            name,
            file: name,
            text: text.as_bytes(),
            scripts: &scripts,
            game: None,
            files: &|name| name.ends_with(".tga").then(|| image.clone()),
            effort: Effort::Dark,
            threads: 1,
        };
        let built = mapbuild::build(&source, &mut |_, _, _| {});
        built.map(|built| built.bsp).map_err(|error| format!("arena of {name}: {error}"))
    }

    /// Returns the `.map` text.
    fn source(&self) -> String {
        let mut text = "{\n\"classname\" \"worldspawn\"\n\"message\" \"Arena\"\n".to_owned();
        for corners in walls() {
            push_brush(&mut text, (Material::Solid, corners));
        }
        self.boxes.iter().for_each(|brush| push_brush(&mut text, *brush));
        text.push_str("}\n");
        let has = |class: &str| {
            let is_class = |(key, value): &(String, String)| key == "classname" && value == class;
            self.entities.iter().any(|entity| entity.pairs.iter().any(is_class))
        };
        if !has("info_player_deathmatch") {
            spawn_points(&mut text);
        }
        for entity in &self.entities {
            text.push_str("{\n");
            for (key, value) in &entity.pairs {
                text.push_str(&format!("\"{key}\" \"{value}\"\n"));
            }
            entity.parts.iter().for_each(|brush| push_brush(&mut text, *brush));
            text.push_str("}\n");
        }
        text
    }
}

/// Boxes around the hall.
fn walls() -> [[f32; 6]; 6] {
    let out = HALF + WALL;
    [
        [-out, -out, -WALL, out, out, 0.0],
        [-out, -out, HEIGHT, out, out, HEIGHT + WALL],
        [-out, -out, 0.0, -HALF, out, HEIGHT],
        [HALF, -out, 0.0, out, out, HEIGHT],
        [-HALF, -out, 0.0, HALF, -HALF, HEIGHT],
        [-HALF, HALF, 0.0, HALF, out, HEIGHT],
    ]
}

/// Appends spawn points and the view of the intermission. The games choose among the farther half of the free
/// points; of three points at different distances, that is one.
fn spawn_points(text: &mut String) {
    for (x, y, yaw) in [(-960, -900, 0), (960, 700, 180), (-960, 400, 0)] {
        text.push_str(&format!(
            "{{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"{x} {y} 32\"\n\"angle\" \"{yaw}\"\n}}\n"
        ));
    }
    text.push_str(
        "{\n\"classname\" \"info_player_intermission\"\n\"origin\" \"0 0 600\"\n\"angles\" \"60 0 0\"\n}\n",
    );
}

/// Appends a box as six planes, each by three points in clockwise order seen from outside.
fn push_brush(text: &mut String, (material, [x0, y0, z0, x1, y1, z1]): Brush) {
    let shader = material.shader();
    let faces = [
        [[x0, y0, z0], [x0, y1, z0], [x0, y0, z1]],
        [[x1, y0, z0], [x1, y0, z1], [x1, y1, z0]],
        [[x0, y0, z0], [x0, y0, z1], [x1, y0, z0]],
        [[x0, y1, z0], [x1, y1, z0], [x0, y1, z1]],
        [[x0, y0, z0], [x1, y0, z0], [x0, y1, z0]],
        [[x0, y0, z1], [x0, y1, z1], [x1, y0, z1]],
    ];
    text.push_str("{\n");
    for face in faces {
        for [x, y, z] in face {
            text.push_str(&format!("( {x} {y} {z} ) "));
        }
        text.push_str(&format!("{shader} 0 0 0 0.5 0.5 0 0 0\n"));
    }
    text.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Bsp;

    #[test]
    fn arena_of_every_material_is_a_valid_map() {
        let mut arena = Arena::default();
        for (number, (material, ..)) in (0..).zip(Material::ALL) {
            let x = number as f32 * 96.0 - 500.0;
            arena.add_box(material, [x, 0.0, 0.0, x + 64.0, 64.0, 32.0]);
        }
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        arena.add_entity(vec![pair("classname", "func_door"), pair("angle", "-1")]);
        arena.add_part(Material::Solid, [0.0, 200.0, 0.0, 64.0, 216.0, 96.0]).unwrap();
        let file = arena.compile("every").unwrap();
        Bsp::load(&file).unwrap();
    }
}
