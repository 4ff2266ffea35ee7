//! Weapon numbers and weapon states.
//!
//! Source: the base game's interface between server and client game. Engine names: `WP_*`, `WEAPON_*`.

wire_enum! {
    /// A weapon.
    pub enum Weapon {
        /// No weapon.
        None = 0,
        /// The saw on the hand.
        Gauntlet = 1,
        /// The machine gun.
        Machinegun = 2,
        /// The shotgun.
        Shotgun = 3,
        /// The grenade launcher.
        GrenadeLauncher = 4,
        /// The rocket launcher.
        RocketLauncher = 5,
        /// The lightning gun.
        Lightning = 6,
        /// The railgun.
        Railgun = 7,
        /// The plasma gun.
        PlasmaGun = 8,
        /// The big one.
        Bfg = 9,
        /// The hook.
        Grapple = 10,
        /// The nailgun.
        Nailgun = 11,
        /// The launcher of mines.
        ProxLauncher = 12,
        /// The chaingun.
        Chaingun = 13,
    }
}

index_by!(Weapon);

wire_enum! {
    /// A weapon state.
    pub enum WeaponState {
        /// May fire.
        Ready = 0,
        /// On its way up.
        Raising = 1,
        /// On its way down.
        Dropping = 2,
        /// Fires.
        Firing = 3,
    }
}

/// Ammunition count of a weapon that never runs out.
pub const UNLIMITED_AMMO: i32 = -1;
