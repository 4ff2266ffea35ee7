//! Contents of a brush from the materials of its sides.
//!
//! Editors let each side have its own material. Current compilers let the strongest contents count, older ones those of
//! the first side.

use super::BrushSide;
use crate::{
    mapbuild::{diagnostic::Findings, map_file::Entity, materials::Materials},
    model::contents::content,
};

/// Contents that the game treats differently.
const KINDS: i32 = content::SOLID
    | content::WATER
    | content::SLIME
    | content::LAVA
    | content::FOG
    | content::PLAYERCLIP
    | content::MONSTERCLIP
    | content::TRIGGER;

/// Rule for brushes whose sides have different contents, and the brushes where rules differ.
#[derive(Debug, Default)]
pub(in crate::mapbuild) struct MixedContents {
    /// Whether the first side decides.
    is_first_side: bool,
    /// Whether the source chooses the rule.
    is_chosen: bool,
    /// Number of brushes for which the first side would decide otherwise.
    contested: usize,
    /// Line of the first of them.
    line: u32,
}

impl MixedContents {
    /// Reads the key `_contents` of worldspawn.
    pub(in crate::mapbuild) fn of_world(world: &Entity, findings: &mut Findings) -> Self {
        let rule = world.value("_contents").map(|rule| rule.trim().to_ascii_lowercase());
        let (is_first_side, is_chosen) = match rule.as_deref() {
            Some("first") => (true, true),
            Some("strongest") => (false, true),
            None | Some("") => (false, false),
            Some(rule) => {
                let what =
                    format!("unusable _contents: {rule:?} (expected \"strongest\" or \"first\")");
                let line = world.pair("_contents").map_or(world.line, |pair| pair.line);
                findings.warn(line, what);
                (false, false)
            }
        };
        Self { is_first_side, is_chosen, ..Self::default() }
    }

    /// Returns the material that decides for a brush at a line, and its contents.
    pub(super) fn of_sides(
        &mut self,
        sides: &[BrushSide],
        materials: &Materials,
        line: u32,
    ) -> Option<(usize, i32)> {
        let contents = |side: &BrushSide| materials[side.material].shader.contents;
        let first = sides.first()?;
        if self.is_first_side {
            return Some((first.material, contents(first)));
        }
        let mut best = (first.material, contents(first));
        for side in sides {
            if strength(contents(side)) > strength(best.1) {
                best = (side.material, contents(side));
            }
        }
        if (best.1 ^ contents(first)) & KINDS != 0 {
            if self.contested == 0 {
                self.line = line;
            }
            self.contested += 1;
        }
        Some(best)
    }

    /// Reports the brushes for which compilers differ.
    pub(in crate::mapbuild) fn report(&self, findings: &mut Findings) {
        if self.contested > 0 && !self.is_chosen {
            let what = format!(
                "brushes with faces of different contents: {}, the first one here; liquids, then fog, clips and other faces \
                 that are not solid count (expected the key \"_contents\" of worldspawn: \"strongest\" for this rule, \
                 \"first\" for the first face, as in older compilers)",
                self.contested
            );
            findings.warn(self.line, what);
        }
    }
}

/// Returns the strength of contents. The strongest count, and of equal ones the first.
fn strength(contents: i32) -> i32 {
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
}
