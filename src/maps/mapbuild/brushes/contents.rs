//! Contents of a brush from the materials of its sides.

use super::BrushSide;
use crate::{mapbuild::materials::Materials, model::contents::content};

/// Returns the material that decides, and its contents.
///
/// Editors let each side have its own material. The first side decides unless a later one is a liquid, fog, a
/// clip or anything else that is not solid; the first of the strongest kind counts.
pub(super) fn of_sides(sides: &[BrushSide], materials: &Materials) -> Option<(usize, i32)> {
    let strength = |contents: i32| {
        let has = |bits| contents & bits != 0;
        if has(content::WATER | content::SLIME | content::LAVA) {
            4
        } else if has(content::FOG) {
            3
        } else if has(content::PLAYERCLIP | content::MONSTERCLIP) {
            2
        } else {
            i32::from(!has(content::SOLID))
        }
    };
    let mut best: Option<(usize, i32)> = None;
    for side in sides {
        let contents = materials[side.material].shader.contents;
        if best.is_none_or(|(_, known)| strength(contents) > strength(known)) {
            best = Some((side.material, contents));
        }
    }
    best
}
