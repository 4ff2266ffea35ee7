//! Parts of a message, and their sizes in bits.

/// Part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Acknowledgements and server id.
    Header,
    /// Reliable commands.
    Commands,
    /// Configstrings of a gamestate, with its numbers.
    Configstrings,
    /// Baselines of a gamestate.
    Baselines,
    /// Server time, flags and area mask of a snapshot.
    Snapshot,
    /// Playerstate of a snapshot.
    Player,
    /// Entity list of a snapshot.
    Entities,
    /// Download blocks.
    Download,
    /// Voice packets.
    Voice,
    /// Usercmds.
    Usercmds,
    /// End of the message, and bits up to the last byte.
    End,
}

impl Part {
    /// Number of parts.
    pub const COUNT: usize = Self::End as usize + 1;
    /// Every part.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Header,
        Self::Commands,
        Self::Configstrings,
        Self::Baselines,
        Self::Snapshot,
        Self::Player,
        Self::Entities,
        Self::Download,
        Self::Voice,
        Self::Usercmds,
        Self::End,
    ];

    /// Name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Commands => "commands",
            Self::Configstrings => "configstrings",
            Self::Baselines => "baselines",
            Self::Snapshot => "snapshot",
            Self::Player => "player",
            Self::Entities => "entities",
            Self::Download => "download",
            Self::Voice => "voice",
            Self::Usercmds => "usercmds",
            Self::End => "end",
        }
    }
}

/// Sizes of the parts of a message, in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartBits([u32; Part::COUNT]);

impl PartBits {
    /// Adds bits to a part.
    pub fn add(&mut self, part: Part, bits: usize) {
        let sum = &mut self.0[part as usize];
        *sum = sum.saturating_add(u32::try_from(bits).unwrap_or(u32::MAX));
    }

    /// Bits of a part.
    #[must_use]
    pub const fn get(&self, part: Part) -> u32 {
        self.0[part as usize]
    }

    /// Parts that are present, with their bits.
    pub fn iter(&self) -> impl Iterator<Item = (Part, u32)> + '_ {
        Part::ALL.into_iter().map(|part| (part, self.get(part))).filter(|(_, bits)| *bits > 0)
    }
}
