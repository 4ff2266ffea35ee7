//! Map services of a level: brush models, area portals by entity, tokens of the entity string.
//!
//! Invariant: the token cursor starts again with each level.
//! Source: the engine's game interface, version 8. Engine names: `SV_SetBrushModel`,
//! `SV_AdjustAreaPortalState`, `G_GET_ENTITY_TOKEN`.

use super::World;
use crate::{
    model::{EntityNum, EntityShared, EntityState},
    world::{areas::AreaPortalError, bsp::AreaNum},
};

impl World {
    /// Gives an entity a brush model of the map: model index, bounds and the mark for traces.
    /// Returns whether the map has a model of this name.
    pub fn set_brush_model(
        &self,
        name: &str,
        state: &mut EntityState,
        shared: &mut EntityShared,
    ) -> bool {
        let model = self.bsp.inline_model(name).map(|model| model.index());
        let Some((model, [mins, maxs])) =
            model.and_then(|model| Some((model, self.map.model_bounds(model)?)))
        else {
            return false;
        };
        state.modelindex = model as i32;
        shared.bmodel = 1;
        (shared.mins, shared.maxs) = (mins, maxs);
        true
    }

    /// Opens or closes the area portal between the areas that a linked entity touches. Returns the
    /// areas; an entity within one area changes nothing.
    ///
    /// # Errors
    ///
    /// Rejects counts out of range. Nothing is changed then.
    pub fn set_area_portal(
        &mut self,
        number: EntityNum,
        open: bool,
    ) -> Result<[Option<AreaNum>; 2], AreaPortalError> {
        let areas = self.pvs_location(number).map(|location| location.areas()).unwrap_or_default();
        self.areas.set_portal(areas[0], areas[1], open)?;
        Ok(areas)
    }

    /// Returns the next token of the entity string; `None` at its end.
    pub fn next_entity_token(&mut self) -> Option<&[u8]> {
        self.entity_cursor.next_token(&self.bsp.entity_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::Vec3,
        testing::sample_maps::{TestMap, YARD},
        world::{Bsp, TracePrecision},
    };

    fn yard() -> World {
        let bsp = Bsp::load(&TestMap::test_yard(YARD).file()).expect("a valid map");
        World::new(bsp, TracePrecision::Single).expect("a valid map")
    }

    #[test]
    fn brush_model_sets_index_bounds_and_mark() {
        let world = yard();
        let (mut state, mut shared) = (EntityState::default(), EntityShared::default());
        assert!(world.set_brush_model("*2", &mut state, &mut shared));
        assert_eq!((state.modelindex, shared.bmodel), (2, 1));
        let mins = Vec3::new(-64.0, -320.0, 0.0);
        assert!((shared.mins - mins).length() < 3.0, "{:?}", shared.mins);
        let before = (state, shared);
        for name in ["", "*", "*7", "*-1", "2", "models/x.md3"] {
            assert!(!world.set_brush_model(name, &mut state, &mut shared), "{name:?}");
        }
        assert_eq!((state, shared), before, "an unknown name changes nothing");
    }

    #[test]
    fn entity_tokens_are_read_to_the_end() {
        let mut world = yard();
        let read = |world: &mut World| {
            let mut tokens = Vec::new();
            while let Some(token) = world.next_entity_token() {
                tokens.push(String::from_utf8(token.to_vec()).expect("ASCII"));
            }
            tokens
        };
        let all = read(&mut world);
        assert_eq!(all[..6], ["{", "classname", "worldspawn", "message", "Yard", "}"]);
        assert_eq!(all.last().map(String::as_str), Some("}"));
        assert_eq!(world.next_entity_token(), None);
        world.clear();
        assert_eq!(read(&mut world), all);
    }

    #[test]
    fn area_portal_of_an_unlinked_entity_changes_nothing() {
        let mut world = yard();
        let number = EntityNum::new(70).expect("a number");
        let before = world.areas().clone();
        assert_eq!(world.set_area_portal(number, true), Ok([None, None]));
        assert_eq!(world.set_area_portal(number, false), Ok([None, None]));
        assert_eq!(world.areas(), &before);
    }
}
