//! Entity and player events. The numbers are the same in every game.
//!
//! Source: the base game's event list; the events of mines and kamikaze are OpenArena's and the team arena's.
//! Engine names: `EV_*`.

wire_enum! {
    /// An event (`EV_*`): an effect that clients show or play at an entity.
    pub enum Event {
        /// No event; footstep on a silent surface.
        None = 0,
        /// Footstep.
        Footstep = 1,
        /// Footstep on metal.
        FootstepMetal = 2,
        /// Footstep in shallow water.
        FootSplash = 3,
        /// Footstep in water up to the waist.
        FootWade = 4,
        /// Swimming stroke.
        Swim = 5,
        /// Step-up of less than 7 units.
        Step4 = 6,
        /// Step-up of less than 11 units.
        Step8 = 7,
        /// Step-up of less than 15 units.
        Step12 = 8,
        /// Step-up of 15 units or more.
        Step16 = 9,
        /// Landing without damage.
        FallShort = 10,
        /// Landing with damage.
        FallMedium = 11,
        /// Landing with more damage.
        FallFar = 12,
        /// Push by a jump pad; parameter 0 when rather flat, 1 when steep.
        JumpPad = 13,
        /// Jump.
        Jump = 14,
        /// Feet enter water.
        WaterTouch = 15,
        /// Feet leave water.
        WaterLeave = 16,
        /// Head submerges.
        WaterUnder = 17,
        /// Head surfaces.
        WaterClear = 18,
        /// Item pickup; the parameter is its item number.
        ItemPickup = 19,
        /// Item pickup that every client hears; the parameter is its item number.
        GlobalItemPickup = 20,
        /// Out of ammunition.
        NoAmmo = 21,
        /// Weapon change begins.
        ChangeWeapon = 22,
        /// Weapon fires.
        FireWeapon = 23,
        /// Use button with no holdable.
        UseItem0 = 24,
        /// Holdable with tag 1 used.
        UseItem1 = 25,
        /// Holdable with tag 2 used.
        UseItem2 = 26,
        /// Holdable with tag 3 used.
        UseItem3 = 27,
        /// Holdable with tag 4 used.
        UseItem4 = 28,
        /// Holdable with tag 5 used.
        UseItem5 = 29,
        /// Holdable with tag 6 used.
        UseItem6 = 30,
        /// Holdable with tag 7 used.
        UseItem7 = 31,
        /// Holdable with tag 8 used.
        UseItem8 = 32,
        /// Holdable with tag 9 used.
        UseItem9 = 33,
        /// Holdable with tag 10 used.
        UseItem10 = 34,
        /// Holdable with tag 11 used.
        UseItem11 = 35,
        /// Holdable with tag 12 used.
        UseItem12 = 36,
        /// Holdable with tag 13 used.
        UseItem13 = 37,
        /// Holdable with tag 14 used.
        UseItem14 = 38,
        /// Holdable with tag 15 used.
        UseItem15 = 39,
        /// Item respawns.
        ItemRespawn = 40,
        /// Item removed by a mover.
        ItemPop = 41,
        /// Player appears.
        PlayerTeleportIn = 42,
        /// Player disappears.
        PlayerTeleportOut = 43,
        /// Grenade bounces.
        GrenadeBounce = 44,
        /// Sound at the entity; the parameter is its sound index.
        GeneralSound = 45,
        /// Sound that every client hears; the parameter is its sound index.
        GlobalSound = 46,
        /// Team sound; the parameter is a [`TeamSound`](super::TeamSound).
        GlobalTeamSound = 47,
        /// Bullet hits a player; the parameter is its client number.
        BulletHitFlesh = 48,
        /// Bullet hits a wall; the parameter is a direction byte.
        BulletHitWall = 49,
        /// Projectile or lightning hits a player; the parameter is a direction byte.
        MissileHit = 50,
        /// Projectile or lightning hits a wall; the parameter is a direction byte.
        MissileMiss = 51,
        /// Projectile or lightning hits metal; the parameter is a direction byte.
        MissileMissMetal = 52,
        /// Rail trail from `origin2`; the parameter is a direction byte, or 255 without an impact.
        RailTrail = 53,
        /// Shotgun fires; the parameter is the seed of its pattern.
        Shotgun = 54,
        /// Bullet fires.
        Bullet = 55,
        /// Pain; the parameter is the health left.
        Pain = 56,
        /// Death with the first of three sounds; the parameter is the killer.
        Death1 = 57,
        /// Death with the second of three sounds; the parameter is the killer.
        Death2 = 58,
        /// Death with the third of three sounds; the parameter is the killer.
        Death3 = 59,
        /// Obituary; the parameter is the means of death.
        Obituary = 60,
        /// Attack with quad damage.
        PowerupQuad = 61,
        /// Damage absorbed by the battle suit.
        PowerupBattleSuit = 62,
        /// Regeneration tick.
        PowerupRegen = 63,
        /// Player or corpse gibs; the parameter is the killer.
        GibPlayer = 64,
        /// Score number that floats up.
        ScorePlum = 65,
        /// Proximity mine attaches.
        ProximityMineStick = 66,
        /// Proximity mine triggers.
        ProximityMineTrigger = 67,
        /// Kamikaze explosion.
        Kamikaze = 68,
        /// Obelisk destroyed.
        ObeliskExplode = 69,
        /// Obelisk damaged.
        ObeliskPain = 70,
        /// Shot deflected by an invulnerability sphere.
        InvulnerabilityImpact = 71,
        /// Proximity mine kills an invulnerable player.
        Juiced = 72,
        /// Lightning deflected by a sphere, from here to `origin2`.
        LightningBolt = 73,
        /// Debug line.
        DebugLine = 74,
        /// Looping sound ends.
        StopLoopingSound = 75,
        /// Taunt.
        Taunt = 76,
    }
}

impl Event {
    /// Uses of a holdable, by tag.
    const USE_ITEMS: [Self; 16] = [
        Self::UseItem0,
        Self::UseItem1,
        Self::UseItem2,
        Self::UseItem3,
        Self::UseItem4,
        Self::UseItem5,
        Self::UseItem6,
        Self::UseItem7,
        Self::UseItem8,
        Self::UseItem9,
        Self::UseItem10,
        Self::UseItem11,
        Self::UseItem12,
        Self::UseItem13,
        Self::UseItem14,
        Self::UseItem15,
    ];

    /// Returns the event of a used holdable; the tag is taken modulo 16.
    #[must_use]
    pub const fn use_item(tag: i32) -> Self {
        Self::USE_ITEMS[(tag & 15) as usize]
    }

    /// Returns the tag of the used holdable, 1 to 15. `None` for other events.
    #[must_use]
    pub const fn used_item(number: i32) -> Option<i32> {
        let tag = number - Self::UseItem0 as i32;
        if tag > 0 && tag < 16 { Some(tag) } else { None }
    }

    /// Returns a death event; the number is taken modulo 3.
    #[must_use]
    pub const fn death(number: i32) -> Self {
        [Self::Death1, Self::Death2, Self::Death3][number.rem_euclid(3) as usize]
    }
}
