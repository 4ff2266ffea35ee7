//! Description of messages: names and values of their parts, for traces.
//!
//! Invariant: parts that are not on the wire are left out. Source: QuakeWorld protocol 28, messages of both sides.

use super::{
    bytes::{Angle, Coord, Text},
    client_message::{ClientVoice, Upload},
    effects::{Nails, NumberedNails, Sound, TempEntity},
    entities::{DeltaList, EntityDelta, EntityState},
    level::{Download, MOVE_VAR_NAMES, NameList, PlainState, ServerData, SetAngle, WideNameList},
    moves::MoveMessage,
    players::{PlayerInfo, flag},
    server_message::ServerVoice,
    usercmd::Usercmd,
};

/// Value of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Number, or the length of bytes.
    Integer(i64),
    /// Number with fraction.
    Float(f32),
    /// Text of the peer.
    Text(Text<'a>),
    /// Name of a kind.
    Name(&'static str),
    /// Coordinates, velocity, or angles in degrees.
    Point([f32; 3]),
    /// Usercmd.
    Usercmd(Usercmd),
    /// Usercmds of a move.
    Move(MoveMessage<'a>),
    /// Entity with all fields.
    Entity(EntityState),
    /// Change of one entity.
    Delta(EntityDelta),
    /// Changes of entities.
    Deltas(DeltaList<'a>),
    /// Names with their numbers.
    Names(NameList<'a>),
}

/// Receiver of parts.
pub type Visit<'v, 'a> = &'v mut dyn FnMut(&'static str, Value<'a>);

/// Type of a part. One part may consist of several.
pub(super) trait Described<'a> {
    /// Calls `visit` with each part. `name` is that of the whole.
    fn describe(&self, name: &'static str, visit: Visit<'_, 'a>);
}

macro_rules! integers {
    ($($kind:ty)*) => {
        $(impl Described<'_> for $kind {
            fn describe(&self, name: &'static str, visit: Visit<'_, '_>) {
                visit(name, Value::Integer(i64::from(*self)));
            }
        })*
    };
}
integers!(u8 u16 u32 i16 i32);

impl Described<'_> for f32 {
    fn describe(&self, name: &'static str, visit: Visit<'_, '_>) {
        visit(name, Value::Float(*self));
    }
}

impl<'a> Described<'a> for Text<'a> {
    fn describe(&self, name: &'static str, visit: Visit<'_, 'a>) {
        visit(name, Value::Text(*self));
    }
}

impl Described<'_> for [Coord; 3] {
    fn describe(&self, name: &'static str, visit: Visit<'_, '_>) {
        visit(name, Value::Point(self.map(|coord| coord.0)));
    }
}

impl Described<'_> for [Angle; 3] {
    fn describe(&self, name: &'static str, visit: Visit<'_, '_>) {
        visit(name, Value::Point(self.map(Angle::degrees)));
    }
}

impl Described<'_> for SetAngle {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        if self.reason != 0 {
            self.reason.describe("reason", visit);
        }
        self.angles.describe("angles", visit);
    }
}

impl Described<'_> for Sound {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        self.entity.describe("entity", visit);
        self.channel.describe("channel", visit);
        self.sound.describe("sound", visit);
        for (name, byte) in [("volume", self.volume), ("attenuation", self.attenuation)] {
            if let Some(byte) = byte {
                byte.describe(name, visit);
            }
        }
        self.origin.describe("origin", visit);
    }
}

impl<'a> Described<'a> for ServerData<'a> {
    fn describe(&self, _: &'static str, visit: Visit<'_, 'a>) {
        let extensions = self.extensions;
        for (name, flags) in
            [("fte", extensions.fte), ("fte2", extensions.fte2), ("mvd1", extensions.mvd1)]
        {
            if flags != 0 {
                flags.describe(name, visit);
            }
        }
        self.server_count.describe("server_count", visit);
        self.game_folder.describe("game_folder", visit);
        self.player.describe("player", visit);
        u8::from(self.is_spectator).describe("spectator", visit);
        self.level_name.describe("level_name", visit);
        for (name, value) in MOVE_VAR_NAMES.into_iter().zip(self.move_vars.values()) {
            value.describe(name, visit);
        }
    }
}

impl Described<'_> for PlainState {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        visit("state", Value::Entity(EntityState::from(*self)));
    }
}

impl Described<'_> for EntityDelta {
    fn describe(&self, name: &'static str, visit: Visit<'_, '_>) {
        visit(name, Value::Delta(*self));
    }
}

impl<'a> Described<'a> for DeltaList<'a> {
    fn describe(&self, _: &'static str, visit: Visit<'_, 'a>) {
        visit("entities", Value::Deltas(*self));
    }
}

impl<'a> Described<'a> for NameList<'a> {
    fn describe(&self, _: &'static str, visit: Visit<'_, 'a>) {
        self.first.describe("first", visit);
        visit("names", Value::Names(*self));
        self.next.describe("next", visit);
    }
}

impl<'a> Described<'a> for WideNameList<'a> {
    fn describe(&self, name: &'static str, visit: Visit<'_, 'a>) {
        self.0.describe(name, visit);
    }
}

impl Described<'_> for TempEntity {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        visit("kind", Value::Name(self.name()));
        if self.is_counted() {
            self.count.describe("count", visit);
        }
        self.origin.describe("origin", visit);
        if self.is_beam() {
            self.entity.describe("entity", visit);
            self.end.describe("end", visit);
        }
    }
}

impl<'a> Described<'a> for Download<'a> {
    fn describe(&self, _: &'static str, visit: Visit<'_, 'a>) {
        match self {
            Self::Refused => visit("kind", Value::Name("refused")),
            Self::Block { percent, bytes } => {
                percent.describe("percent", visit);
                length(bytes, visit);
            }
            Self::Size { size, name } => {
                size.describe("size", visit);
                name.describe("name", visit);
            }
            Self::Chunk { number, bytes } => {
                number.describe("chunk", visit);
                length(bytes, visit);
            }
        }
    }
}

impl Described<'_> for PlayerInfo {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        self.player.describe("player", visit);
        self.flags.describe("flags", visit);
        visit("origin", Value::Point(self.origin));
        self.frame.describe("frame", visit);
        if self.has(flag::MSEC) {
            self.msec.describe("msec", visit);
        }
        if self.has(flag::COMMAND) {
            visit("command", Value::Usercmd(self.command));
        }
        if flag::VELOCITY.iter().any(|bit| self.has(*bit)) {
            visit("velocity", Value::Point(self.velocity.map(f32::from)));
        }
        for (name, bit, byte) in [
            ("model", flag::MODEL, self.model),
            ("skin", flag::SKIN, self.skin),
            ("effects", flag::EFFECTS, self.effects),
            ("weapon_frame", flag::WEAPON_FRAME, self.weapon_frame),
        ] {
            if self.has(bit) {
                byte.describe(name, visit);
            }
        }
    }
}

impl Described<'_> for Nails<'_> {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        visit("count", Value::Integer(self.iter().len() as i64));
    }
}

impl Described<'_> for NumberedNails<'_> {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        visit("count", Value::Integer(self.iter().len() as i64));
    }
}

impl Described<'_> for ServerVoice<'_> {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        self.player.describe("player", visit);
        self.sequence.describe("sequence", visit);
        length(self.bytes, visit);
    }
}

impl Described<'_> for ClientVoice<'_> {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        self.sequence.describe("sequence", visit);
        length(self.bytes, visit);
    }
}

impl Described<'_> for Upload<'_> {
    fn describe(&self, _: &'static str, visit: Visit<'_, '_>) {
        self.percent.describe("percent", visit);
        length(self.bytes, visit);
    }
}

impl<'a> Described<'a> for MoveMessage<'a> {
    fn describe(&self, _: &'static str, visit: Visit<'_, 'a>) {
        self.loss.describe("loss", visit);
        visit("usercmds", Value::Move(*self));
    }
}

fn length(bytes: &[u8], visit: Visit<'_, '_>) {
    visit("len", Value::Integer(bytes.len() as i64));
}
