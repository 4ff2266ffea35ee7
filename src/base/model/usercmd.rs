//! One step of a player's input.

use bytemuck::{Pod, Zeroable};

/// Buttons held, as the low bits of a usercmd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Buttons(pub i32);

impl Buttons {
    /// Fire.
    pub const ATTACK: Self = Self(1);
    /// A menu or the console is open.
    pub const TALK: Self = Self(2);
    /// Use the holdable item.
    pub const USE_HOLDABLE: Self = Self(4);
    /// Taunt.
    pub const GESTURE: Self = Self(8);
    /// Walk instead of run.
    pub const WALKING: Self = Self(16);
    /// Tell the team "yes".
    pub const AFFIRMATIVE: Self = Self(32);
    /// Tell the team "no".
    pub const NEGATIVE: Self = Self(64);
    /// Tell the team to get the flag.
    pub const GETFLAG: Self = Self(128);
    /// Tell the team to guard the base.
    pub const GUARDBASE: Self = Self(256);
    /// Tell the team to patrol.
    pub const PATROL: Self = Self(512);
    /// Tell the team to follow.
    pub const FOLLOWME: Self = Self(1024);
    /// Any key at all.
    pub const ANY: Self = Self(2048);

    /// Whether all bits of `buttons` are held.
    #[must_use]
    pub const fn contains(self, buttons: Self) -> bool {
        self.0 & buttons.0 == buttons.0
    }
}

/// A player's input for one client frame. Layout (24 bytes) equals the game interface's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct UserCmd {
    /// Level time the input is for, in milliseconds.
    pub server_time: i32,
    /// View angles as 16-bit fractions of a turn: pitch, yaw, roll.
    pub angles: [i32; 3],
    /// Buttons held.
    pub buttons: Buttons,
    /// Weapon wanted.
    pub weapon: u8,
    /// -127 back … 127 forward.
    pub forwardmove: i8,
    /// -127 left … 127 right.
    pub rightmove: i8,
    /// -127 down … 127 up.
    pub upmove: i8,
}

impl UserCmd {
    /// Size of the struct in 32-bit words.
    pub const WORDS: usize = size_of::<Self>() / 4;

    /// Returns the struct as plain words, in memory order.
    #[must_use]
    pub fn words(&self) -> &[u32; Self::WORDS] {
        bytemuck::must_cast_ref(self)
    }

    /// Returns the struct as plain words, for changes.
    pub fn words_mut(&mut self) -> &mut [u32; Self::WORDS] {
        bytemuck::must_cast_mut(self)
    }
}

const _: () = assert!(size_of::<UserCmd>() == 24);
