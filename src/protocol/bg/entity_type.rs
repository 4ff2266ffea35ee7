//! Entity types (`eType`).
//!
//! Source: the base game's interface between server and client game. Engine names: `ET_*`.

use super::Event;

wire_enum! {
    /// An entity type (`eType`).
    pub enum EntityType {
        /// General: a model, or nothing.
        General = 0,
        /// Player or corpse.
        Player = 1,
        /// Item.
        Item = 2,
        /// Projectile.
        Missile = 3,
        /// Mover: door, plat, train and other brush models.
        Mover = 4,
        /// Laser beam.
        Beam = 5,
        /// Portal surface: mirror or window.
        Portal = 6,
        /// Repeating sound.
        Speaker = 7,
        /// Jump pad.
        PushTrigger = 8,
        /// Teleporter.
        TeleportTrigger = 9,
        /// Invisible entity.
        Invisible = 10,
        /// Grappling hook.
        Grapple = 11,
        /// Team base.
        Team = 12,
        /// Temp entity; the number of its event is added.
        Events = 13,
    }
}

impl EntityType {
    /// Returns the type number of a temp entity for an event.
    #[must_use]
    pub const fn with_event(event: Event) -> i32 {
        Self::Events as i32 + event as i32
    }
}
