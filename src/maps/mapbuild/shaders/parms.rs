//! Values of `surfaceparm`, and the shaders of `textures/common/`.

use super::Shader;
use crate::model::contents::{content, surface};

/// Effect of a `surfaceparm`: name, surface flags, contents, and whether it clears solid.
const PARMS: &[(&str, i32, i32, bool)] = &[
    ("water", 0, content::WATER, true),
    ("slime", 0, content::SLIME, true),
    ("lava", 0, content::LAVA, true),
    ("playerclip", 0, content::PLAYERCLIP, true),
    ("monsterclip", 0, content::MONSTERCLIP, true),
    ("nodrop", 0, content::NODROP, true),
    ("nonsolid", surface::NONSOLID, 0, true),
    ("origin", 0, content::ORIGIN, true),
    ("areaportal", 0, content::AREAPORTAL, true),
    ("clusterportal", 0, content::CLUSTERPORTAL, true),
    ("donotenter", 0, content::DONOTENTER, true),
    ("botclip", 0, content::BOTCLIP, true),
    ("fog", 0, content::FOG, true),
    ("trigger", 0, content::TRIGGER, true),
    ("trans", 0, content::TRANSLUCENT, false),
    ("detail", 0, content::DETAIL, false),
    ("structural", 0, content::STRUCTURAL, false),
    ("nobotclip", 0, content::NOBOTCLIP, false),
    ("sky", surface::SKY, 0, false),
    ("hint", surface::HINT, 0, false),
    ("skip", surface::SKIP, 0, false),
    ("slick", surface::SLICK, 0, false),
    ("noimpact", surface::NOIMPACT, 0, false),
    ("nomarks", surface::NOMARKS, 0, false),
    ("nodamage", surface::NODAMAGE, 0, false),
    ("metalsteps", surface::METALSTEPS, 0, false),
    ("flesh", surface::FLESH, 0, false),
    ("nosteps", surface::NOSTEPS, 0, false),
    ("nodraw", surface::NODRAW, 0, false),
    ("pointlight", surface::POINTLIGHT, 0, false),
    ("nolightmap", surface::NOLIGHTMAP, 0, false),
    ("nodlight", surface::NODLIGHT, 0, false),
    ("dust", surface::DUST, 0, false),
    ("lightfilter", surface::LIGHTFILTER, 0, false),
    ("alphashadow", surface::ALPHASHADOW, 0, false),
];

/// Shaders of editors that are never drawn, each with its `surfaceparm` values. Clients need no file for them.
const BUILT_IN: &[(&str, &str)] = &[
    ("caulk", "nodraw nomarks"),
    ("clip", "nodraw playerclip trans nomarks noimpact"),
    ("fullclip", "nodraw playerclip trans nomarks noimpact"),
    ("weapclip", "nodraw trans nomarks"),
    ("trigger", "nodraw trigger trans nolightmap"),
    ("hint", "nodraw nonsolid structural trans noimpact hint"),
    ("skip", "nodraw nonsolid structural trans noimpact skip"),
    ("areaportal", "nodraw areaportal structural trans noimpact"),
    ("nodrop", "nodraw nodrop trans nonsolid noimpact"),
    ("origin", "nodraw origin trans nonsolid"),
    ("nodraw", "nodraw nonsolid trans nomarks"),
    ("nodrawnonsolid", "nodraw nonsolid trans nomarks"),
    ("donotenter", "nodraw donotenter trans nonsolid"),
    ("clusterportal", "nodraw clusterportal trans nonsolid"),
    ("botclip", "nodraw botclip trans noimpact"),
];

/// Applies one `surfaceparm`. Unknown ones have no effect.
pub(super) fn apply(parm: &str, shader: &mut Shader) {
    let Some(&(_, flags, contents, clears)) = PARMS.iter().find(|row| row.0 == parm) else {
        return;
    };
    shader.surface_flags |= flags;
    shader.contents |= contents;
    if clears {
        shader.contents &= !content::SOLID;
    }
}

/// Returns the known `surfaceparm` that is nearest to an unknown one. Names that are near to none may be those of mods.
pub(super) fn nearest(parm: &str) -> Option<&'static str> {
    super::keywords::nearest(parm, PARMS.iter().map(|row| row.0))
}

/// Iterates over the shaders of `textures/common/` that need no script.
pub fn built_in() -> impl Iterator<Item = Shader> {
    BUILT_IN.iter().map(|(name, parms)| {
        let mut shader = Shader::plain(&format!("textures/common/{name}"));
        parms.split(' ').for_each(|parm| apply(parm, &mut shader));
        shader
    })
}
