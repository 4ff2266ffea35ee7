//! Entity state sent to clients, and entity data of the server.
//!
//! The layout of [`EntityState`] (208 bytes) and [`EntityShared`] (100 bytes) equals that of the
//! game interface, so a game module's memory can be viewed as them. The bits on the wire are in
//! `wire`.

use bytemuck::{Pod, Zeroable};

use super::{EntityNum, LevelTime, Vec3};

/// Kind of motion over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum TrajectoryKind {
    /// At rest at the base.
    Stationary = 0,
    /// The client interpolates between snapshots.
    Interpolate = 1,
    /// Base plus velocity times time.
    Linear = 2,
    /// Linear until the end of the duration.
    LinearStop = 3,
    /// Oscillates about the base by the delta, once per duration.
    Sine = 4,
    /// Falls with gravity.
    Gravity = 5,
}

/// A moving position or angle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Trajectory {
    /// A [`TrajectoryKind`] as received; other numbers are invalid.
    pub kind: i32,
    /// Level time of the base.
    pub time: i32,
    /// Duration or period in ms, for kinds that have one.
    pub duration: i32,
    /// Value at `time`.
    pub base: Vec3,
    /// Change per second, or amplitude.
    pub delta: Vec3,
}

impl Trajectory {
    /// Creates a trajectory that clients interpolate between snapshots.
    #[must_use]
    pub const fn interpolate(base: Vec3, delta: Vec3) -> Self {
        Self { kind: TrajectoryKind::Interpolate as i32, time: 0, duration: 0, base, delta }
    }
}

/// Entity state, as sent in snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the field's standard names; meanings depend on the entity type")]
pub struct EntityState {
    pub number: i32,
    pub e_type: i32,
    pub e_flags: i32,
    pub pos: Trajectory,
    pub apos: Trajectory,
    pub time: i32,
    pub time2: i32,
    pub origin: Vec3,
    pub origin2: Vec3,
    pub angles: Vec3,
    pub angles2: Vec3,
    pub other_entity_num: i32,
    pub other_entity_num2: i32,
    pub ground_entity_num: i32,
    pub constant_light: i32,
    pub loop_sound: i32,
    pub modelindex: i32,
    pub modelindex2: i32,
    pub client_num: i32,
    pub frame: i32,
    pub solid: i32,
    pub event: i32,
    pub event_parm: i32,
    pub powerups: i32,
    pub weapon: i32,
    pub legs_anim: i32,
    pub torso_anim: i32,
    pub generic1: i32,
}

const _: () = assert!(size_of::<EntityState>() == 208);

impl EntityState {
    /// Number of words of the struct, its number included.
    pub const WORDS: usize = size_of::<Self>() / 4;

    /// Returns the all-zero state of an entity.
    #[must_use]
    pub fn numbered(number: EntityNum) -> Self {
        Self { number: number.index() as i32, ..Self::default() }
    }

    /// Returns the number of the entity; `None` if no entity has it.
    #[must_use]
    pub fn entity_num(&self) -> Option<EntityNum> {
        usize::try_from(self.number).ok().and_then(EntityNum::new)
    }

    /// Returns the state with 0 for each vector component that is not finite; `None` if all are.
    #[must_use]
    pub fn sanitized(&self) -> Option<Self> {
        let vectors = [
            self.pos.base,
            self.pos.delta,
            self.apos.base,
            self.apos.delta,
            self.origin,
            self.origin2,
            self.angles,
            self.angles2,
        ];
        // Without a branch for each number, and without a copy of the usual state.
        let is_finite = |vector: &Vec3| vector.0.map(f32::is_finite) == [true; 3];
        if vectors.iter().fold(true, |all, vector| all & is_finite(vector)) {
            return None;
        }
        let mut state = *self;
        let vectors = [
            &mut state.pos.base,
            &mut state.pos.delta,
            &mut state.apos.base,
            &mut state.apos.delta,
            &mut state.origin,
            &mut state.origin2,
            &mut state.angles,
            &mut state.angles2,
        ];
        vectors.into_iter().for_each(|vector| *vector = vector.finite_or_zero());
        Some(state)
    }

    /// Words of the struct, in memory order.
    #[must_use]
    pub fn words(&self) -> &[u32; Self::WORDS] {
        bytemuck::must_cast_ref(self)
    }

    /// Words of the struct, mutable.
    pub fn words_mut(&mut self) -> &mut [u32; Self::WORDS] {
        bytemuck::must_cast_mut(self)
    }
}

/// Server flags of an entity, which restrict its recipients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct SvFlags(pub i32);

impl SvFlags {
    /// Never sent.
    pub const NO_CLIENT: Self = Self(0x1);
    /// Sent only to clients whose bit is set in `single_client`.
    pub const CLIENT_MASK: Self = Self(0x2);
    /// Entity of a bot.
    pub const BOT: Self = Self(0x8);
    /// Sent to every client, visible or not.
    pub const BROADCAST: Self = Self(0x20);
    /// Adds the entities visible from `origin2`.
    pub const PORTAL: Self = Self(0x40);
    /// Linked at `current_origin` instead of the state's origin.
    pub const USE_CURRENT_ORIGIN: Self = Self(0x80);
    /// Sent only to client `single_client`.
    pub const SINGLE_CLIENT: Self = Self(0x100);
    /// The client is not sent serverinfo changes.
    pub const NO_SERVERINFO: Self = Self(0x200);
    /// Collides as a capsule.
    pub const CAPSULE: Self = Self(0x400);
    /// Sent to every client except `single_client`.
    pub const NOT_SINGLE_CLIENT: Self = Self(0x800);

    /// Whether all bits of `flags` are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl std::ops::BitOr for SvFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Entity data of the server, never sent to clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct EntityShared {
    /// Non-zero while linked.
    pub linked: i32,
    /// Number of links so far.
    pub linkcount: i32,
    /// Flags that restrict its recipients.
    pub sv_flags: SvFlags,
    /// Client number or mask, depending on the flags.
    pub single_client: i32,
    /// Non-zero for a brush model of the map.
    pub bmodel: i32,
    /// Lower corner of the box, relative to the origin.
    pub mins: Vec3,
    /// Upper corner of the box, relative to the origin.
    pub maxs: Vec3,
    /// Contents that traces test.
    pub contents: i32,
    /// Lower corner of the box in the world; set by linking.
    pub absmin: Vec3,
    /// Upper corner of the box in the world; set by linking.
    pub absmax: Vec3,
    /// Origin for collision.
    pub current_origin: Vec3,
    /// Angles for collision.
    pub current_angles: Vec3,
    /// Owner. Traces of the owner pass through the entity.
    pub owner_num: i32,
}

const _: () = assert!(size_of::<EntityShared>() == 516 - 416);

impl EntityShared {
    /// Whether the entity is linked.
    #[must_use]
    pub const fn is_linked(&self) -> bool {
        self.linked != 0
    }
}

impl Trajectory {
    /// Creates a trajectory at rest since `time`.
    #[must_use]
    pub const fn stationary(base: Vec3, time: LevelTime) -> Self {
        Self {
            kind: TrajectoryKind::Stationary as i32,
            time: time.0,
            duration: 0,
            base,
            delta: Vec3::ZERO,
        }
    }
}
