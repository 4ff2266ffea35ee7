//! Entity types (`eType`).
//!
//! Source: the base game's interface between server and client game.

use super::Event;

wire_enum! {
    /// What an entity is.
    pub enum EntityType {
        /// A plain model, or nothing.
        General = 0,
        /// A player or a corpse.
        Player = 1,
        /// Something to pick up.
        Item = 2,
        /// A projectile.
        Missile = 3,
        /// A moving part of the map.
        Mover = 4,
        /// A laser.
        Beam = 5,
        /// A mirror or a window.
        Portal = 6,
        /// A repeating sound.
        Speaker = 7,
        /// A jump pad.
        PushTrigger = 8,
        /// A teleporter.
        TeleportTrigger = 9,
        /// Not drawn.
        Invisible = 10,
        /// A hook.
        Grapple = 11,
        /// Base of a team.
        Team = 12,
        /// An event at a place; the event's number is added.
        Events = 13,
    }
}

impl EntityType {
    /// The type number of a temp entity: an entity that shows one event.
    #[must_use]
    pub const fn with_event(event: Event) -> i32 {
        Self::Events as i32 + event as i32
    }
}
