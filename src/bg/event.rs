//! Entity and player events. The numbers are the same in every game.
//!
//! Source: the base game's event list; the events of mines and kamikaze are OpenArena's and the team arena's.
//! Engine names: `EV_*`.

wire_enum! {
    /// An event of an entity: an effect that clients show or play.
    pub enum Event {
        /// Nothing; a step on a silent surface.
        None = 0,
        /// A step.
        Footstep = 1,
        /// A step on metal.
        FootstepMetal = 2,
        /// A step in shallow water.
        FootSplash = 3,
        /// A step through water up to the waist.
        FootWade = 4,
        /// A stroke.
        Swim = 5,
        /// Up a stair of less than 7 units; the three that follow are for less than 11, less than 15, more.
        Step4 = 6,
        /// Up a stair of less than 11.
        Step8 = 7,
        /// Up a stair of less than 15.
        Step12 = 8,
        /// Up a higher stair.
        Step16 = 9,
        /// Fell a bit.
        FallShort = 10,
        /// Fell and hurts.
        FallMedium = 11,
        /// Fell and hurts more.
        FallFar = 12,
        /// Thrown by a jump pad; parameter 0 when rather flat, 1 when steep.
        JumpPad = 13,
        /// Jumps.
        Jump = 14,
        /// Feet get wet.
        WaterTouch = 15,
        /// Feet leave the water.
        WaterLeave = 16,
        /// Head goes under.
        WaterUnder = 17,
        /// Head comes up.
        WaterClear = 18,
        /// Took something; the parameter is its item number.
        ItemPickup = 19,
        /// Somebody took something that everybody hears of; the parameter is its item number.
        GlobalItemPickup = 20,
        /// Out of ammunition.
        NoAmmo = 21,
        /// Puts the weapon away.
        ChangeWeapon = 22,
        /// Fires.
        FireWeapon = 23,
        /// The use button with no holdable.
        UseItem0 = 24,
        /// A holdable with tag 1 is used.
        UseItem1 = 25,
        /// A holdable with tag 2 is used.
        UseItem2 = 26,
        /// A holdable with tag 3 is used.
        UseItem3 = 27,
        /// A holdable with tag 4 is used.
        UseItem4 = 28,
        /// A holdable with tag 5 is used.
        UseItem5 = 29,
        /// A holdable with tag 6 is used.
        UseItem6 = 30,
        /// A holdable with tag 7 is used.
        UseItem7 = 31,
        /// A holdable with tag 8 is used.
        UseItem8 = 32,
        /// A holdable with tag 9 is used.
        UseItem9 = 33,
        /// A holdable with tag 10 is used.
        UseItem10 = 34,
        /// A holdable with tag 11 is used.
        UseItem11 = 35,
        /// A holdable with tag 12 is used.
        UseItem12 = 36,
        /// A holdable with tag 13 is used.
        UseItem13 = 37,
        /// A holdable with tag 14 is used.
        UseItem14 = 38,
        /// A holdable with tag 15 is used.
        UseItem15 = 39,
        /// Something to take is back.
        ItemRespawn = 40,
        /// Something was removed by a door.
        ItemPop = 41,
        /// Somebody appears here.
        PlayerTeleportIn = 42,
        /// Somebody vanishes here.
        PlayerTeleportOut = 43,
        /// A missile bounces.
        GrenadeBounce = 44,
        /// A sound from this place; the parameter is its number.
        GeneralSound = 45,
        /// A sound that is heard everywhere.
        GlobalSound = 46,
        /// What happened to the teams; the parameter is one of [`super::team_sound`].
        GlobalTeamSound = 47,
        /// A bullet hits somebody; the parameter is who.
        BulletHitFlesh = 48,
        /// A bullet hits a wall; the parameter is its direction byte.
        BulletHitWall = 49,
        /// A missile or a bolt hits somebody; the parameter is a direction byte.
        MissileHit = 50,
        /// The same for a wall.
        MissileMiss = 51,
        /// The same for metal.
        MissileMissMetal = 52,
        /// A rail shot ends here, which began at `origin2`; the parameter is a direction byte, or 255 where nothing was hit.
        RailTrail = 53,
        /// A shotgun fires from here; the parameter is the seed of its pattern.
        Shotgun = 54,
        /// A bullet is fired.
        Bullet = 55,
        /// Hurt; the parameter is the health left.
        Pain = 56,
        /// Dies, with the first of three sounds; the parameter is the killer.
        Death1 = 57,
        /// Dies, with the second of three sounds; the parameter is the killer.
        Death2 = 58,
        /// Dies, with the third of three sounds; the parameter is the killer.
        Death3 = 59,
        /// Somebody died; the parameter is the means.
        Obituary = 60,
        /// Hits with fourfold strength.
        PowerupQuad = 61,
        /// The battle suit took something.
        PowerupBattleSuit = 62,
        /// Regenerates.
        PowerupRegen = 63,
        /// A body goes to pieces; the parameter is the killer.
        GibPlayer = 64,
        /// Points that somebody gets or loses.
        ScorePlum = 65,
        /// A mine sticks to something.
        ProximityMineStick = 66,
        /// A mine was triggered.
        ProximityMineTrigger = 67,
        /// A kamikaze explodes here.
        Kamikaze = 68,
        /// An obelisk is destroyed.
        ObeliskExplode = 69,
        /// An obelisk is damaged.
        ObeliskPain = 70,
        /// A shell of invulnerability turns a shot away.
        InvulnerabilityImpact = 71,
        /// A mine goes off on somebody in a shell of invulnerability.
        Juiced = 72,
        /// A bolt that a shell turned away, from here to `origin2`.
        LightningBolt = 73,
        /// A line for debugging.
        DebugLine = 74,
        /// The entity falls silent.
        StopLoopingSound = 75,
        /// Taunts.
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

    /// The use of a holdable; the tag is taken modulo 16.
    #[must_use]
    pub const fn use_item(tag: i32) -> Self {
        Self::USE_ITEMS[(tag & 15) as usize]
    }

    /// The tag of the holdable that the event uses, 1 to 15. None for other events.
    #[must_use]
    pub const fn used_item(number: i32) -> Option<i32> {
        let tag = number - Self::UseItem0 as i32;
        if tag > 0 && tag < 16 { Some(tag) } else { None }
    }

    /// A death sound; the number is taken modulo 3.
    #[must_use]
    pub const fn death(number: i32) -> Self {
        [Self::Death1, Self::Death2, Self::Death3][number.rem_euclid(3) as usize]
    }
}
