//! State of an item entity.

use crate::bg::items::Item;
use crate::model::EntityNum;

/// Action of an item when its think time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemThink {
    /// No action.
    Rest,
    /// Drops to the floor and becomes visible.
    Settle,
    /// Respawns.
    Respawn,
    /// Removes the item for good, or returns a flag to its base.
    Vanish,
}

/// State of an item entity.
#[derive(Clone, Debug)]
pub(crate) struct ItemState {
    /// Index of the item and its row in the table.
    pub(crate) number: i32,
    pub(crate) item: &'static Item,
    /// Quantity override of the map, 0 for none. A weapon with a negative count brings no ammunition.
    pub(crate) count: i32,
    /// Respawn time override in seconds and its random variation. 0 means none, a negative time means never.
    pub(crate) wait: f32,
    pub(crate) random: f32,
    /// Whether only the player who picks it up hears the pickup.
    pub(crate) is_silent: bool,
    /// Team name of its item chain in the map, and the first member of the chain.
    pub(crate) chain: Box<str>,
    pub(crate) captain: Option<EntityNum>,
    pub(crate) step: ItemThink,
    /// Fraction of the speed that is left after a bounce.
    pub(crate) bounce: f32,
    pub(crate) is_dropped: bool,
}

impl ItemState {
    pub(crate) fn new(number: i32, item: &'static Item) -> Self {
        Self {
            number,
            item,
            count: 0,
            wait: 0.0,
            random: 0.0,
            is_silent: false,
            chain: "".into(),
            captain: None,
            step: ItemThink::Rest,
            bounce: 0.0,
            is_dropped: false,
        }
    }
}
