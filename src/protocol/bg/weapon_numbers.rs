//! Weapon numbers and weapon states.
//!
//! Source: the base game's interface between server and client game. Engine names: `WP_*`, `WEAPON_*`.

wire_enum! {
    /// A weapon (`WP_*`).
    pub enum Weapon {
        /// No weapon.
        None = 0,
        /// Gauntlet.
        Gauntlet = 1,
        /// Machine gun.
        Machinegun = 2,
        /// Shotgun.
        Shotgun = 3,
        /// Grenade launcher.
        GrenadeLauncher = 4,
        /// Rocket launcher.
        RocketLauncher = 5,
        /// Lightning gun.
        Lightning = 6,
        /// Railgun.
        Railgun = 7,
        /// Plasma gun.
        PlasmaGun = 8,
        /// BFG10K.
        Bfg = 9,
        /// Grappling hook.
        Grapple = 10,
        /// Nailgun.
        Nailgun = 11,
        /// Proximity mine launcher.
        ProxLauncher = 12,
        /// Chaingun.
        Chaingun = 13,
    }
}

index_by!(Weapon);

wire_enum! {
    /// A weapon state.
    pub enum WeaponState {
        /// Ready to fire.
        Ready = 0,
        /// Raising.
        Raising = 1,
        /// Dropping.
        Dropping = 2,
        /// Firing.
        Firing = 3,
    }
}

/// Ammunition count of a weapon that never runs out.
pub const UNLIMITED_AMMO: i32 = -1;
