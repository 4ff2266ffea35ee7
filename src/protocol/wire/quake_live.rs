//! Protocols of Quake Live, 73, 90 and 91: demos only.
//!
//! Their messages are those of protocol 68 with more fields. The structs have no member for these; readers pass them
//! to a sink. Writers do not write them, so that these demos are read and not written.
//! Source: demo files of Quake Live.

use super::{
    field_tables::{ENTITY_68, EntityTable, PLAYER_68, PlayerTable, USERCMD_68},
    fields::{
        DeltaForm, Field,
        FieldKind::{self, Int},
        FieldTable,
    },
    numbers::GameNumbers,
    protocol::{Coder, Encoding, MESSAGES_68, MessageForm, Protocol, ROW_68},
};

/// Field without a member, and its place in the extended table.
type Added = (usize, &'static str, FieldKind);

/// Returns the fields of a table and those added, which ascend by place.
const fn extended<const N: usize>(fields: &[Field], added: &[Added]) -> [Field; N] {
    assert!(fields.len() + added.len() == N, "as many as announced");
    let mut all = [fields[0]; N];
    let (mut at, mut taken) = (0, 0);
    while at < N {
        if taken < added.len() && added[taken].0 == at {
            all[at] = Field::spare(added[taken].1, added[taken].2);
            taken += 1;
        } else {
            all[at] = fields[at - taken];
        }
        at += 1;
    }
    all
}

/// Returns the fields with a wider `pm_flags`.
const fn with_wide_flags<const N: usize>(mut fields: [Field; N]) -> [Field; N] {
    fields[PM_FLAGS].kind = Int(24);
    fields
}

/// Place of `pm_flags` in tables of playerstates.
const PM_FLAGS: usize = 19;

static ENTITY_FIELDS_73: [Field; 53] =
    extended(ENTITY_68.fields, &[(9, "pos_gravity", Int(32)), (46, "apos_gravity", Int(32))]);
static ENTITY_FIELDS_90: [Field; 55] =
    extended(&ENTITY_FIELDS_73, &[(53, "jumpTime", Int(32)), (54, "doubleJumped", Int(1))]);
static ENTITY_FIELDS_91: [Field; 58] = extended(
    &ENTITY_FIELDS_90,
    &[(55, "health", Int(16)), (56, "armor", Int(16)), (57, "location", Int(8))],
);
static PLAYER_FIELDS_90: [Field; 50] = with_wide_flags(extended(
    PLAYER_68.fields,
    &[(48, "jumpTime", Int(32)), (49, "doubleJumped", Int(1))],
));
static PLAYER_FIELDS_91: [Field; 58] = extended(
    &PLAYER_FIELDS_90,
    &[
        (42, "weaponPrimary", Int(8)),
        (51, "crouchTime", Int(32)),
        (52, "crouchSlideTime", Int(32)),
        (53, "location", Int(8)),
        (54, "fov", Int(8)),
        (55, "forwardmove", Int(8)),
        (56, "rightmove", Int(8)),
        (57, "upmove", Int(8)),
    ],
);

static ENTITY_73: EntityTable = FieldTable::new(DeltaForm::CountedWithZeroFlags, &ENTITY_FIELDS_73);
static ENTITY_90: EntityTable = FieldTable::new(DeltaForm::CountedWithZeroFlags, &ENTITY_FIELDS_90);
static ENTITY_91: EntityTable = FieldTable::new(DeltaForm::CountedWithZeroFlags, &ENTITY_FIELDS_91);
static PLAYER_90: PlayerTable = FieldTable::new(DeltaForm::Counted, &PLAYER_FIELDS_90);
static PLAYER_91: PlayerTable = FieldTable::new(DeltaForm::Counted, &PLAYER_FIELDS_91);

/// Message encoding with tables of its own. Usercmds are unknown, and not in demos.
const fn encoding(entity: &'static EntityTable, player: &'static PlayerTable) -> Encoding {
    Encoding { coder: Coder::Huffman, messages: MESSAGES_68, entity, player, usercmd: &USERCMD_68 }
}

static ENCODING_73: Encoding = encoding(&ENTITY_73, &PLAYER_68);
static ENCODING_90: Encoding = encoding(&ENTITY_90, &PLAYER_90);
static ENCODING_91: Encoding = Encoding {
    messages: MessageForm { has_utf8: true, ..MESSAGES_68 },
    ..encoding(&ENTITY_91, &PLAYER_91)
};

const ROW_QUAKE_LIVE: Protocol =
    Protocol { numbers: GameNumbers::QuakeLive, is_live: false, ..ROW_68 };

static ROW_73: Protocol = Protocol {
    name: "73",
    number: 73,
    extension: "dm_73",
    encoding: &ENCODING_73,
    ..ROW_QUAKE_LIVE
};
static ROW_90: Protocol = Protocol {
    name: "90",
    number: 90,
    extension: "dm_90",
    encoding: &ENCODING_90,
    ..ROW_QUAKE_LIVE
};
static ROW_91: Protocol = Protocol {
    name: "91",
    number: 91,
    extension: "dm_91",
    encoding: &ENCODING_91,
    ..ROW_QUAKE_LIVE
};

impl Protocol {
    /// Protocol 73 of Quake Live.
    pub const QL_73: &'static Self = &ROW_73;
    /// Protocol 90 of Quake Live.
    pub const QL_90: &'static Self = &ROW_90;
    /// Protocol 91 of Quake Live, with texts in UTF-8.
    pub const QL_91: &'static Self = &ROW_91;

    /// Protocols of Quake Live.
    pub const QUAKE_LIVE: [&'static Self; 3] = [Self::QL_73, Self::QL_90, Self::QL_91];

    /// Returns every protocol of which demos are read.
    pub fn recorded() -> impl Iterator<Item = &'static Self> {
        Self::ALL.into_iter().chain(Self::QUAKE_LIVE)
    }

    /// Whether the protocol is one of Quake Live.
    #[must_use]
    pub const fn is_quake_live(&self) -> bool {
        matches!(self.numbers, GameNumbers::QuakeLive)
    }
}
