//! Configstrings of the level, and the commands that send a change of one.
//!
//! Invariants: no string holds a quote or is longer than a client stores; all of them, with the
//! baselines, fit one message and the memory of a client; each slot keeps room for a player entry
//! of [`LEAST_ENTRY`].
//! Source: Quake III protocol 68, configstrings. Engine names: `SV_SetConfigstring`, `bcs0`,
//! `bcs1`, `bcs2`.

use std::{borrow::Cow, sync::Arc};

use crate::{
    bg::configstring::PLAYERS,
    model::{
        ConfigIndex,
        limits::{
            MAX_BIG_STRING_LEN, MAX_CLIENTS, MAX_CONFIGSTRINGS, MAX_GAMESTATE_CHARS,
            MAX_MESSAGE_LEN,
        },
        text,
    },
    wire::{Protocol, gamestate, protocol::Coder, server_message},
};

/// Size of a part of the gamestate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
struct Size {
    /// Bits in the message.
    bits: usize,
    /// Characters that a client stores.
    chars: usize,
}

/// Room for all configstrings and baselines: a message without header and end, and the memory of a
/// client.
const MOST: Size = Size { bits: (MAX_MESSAGE_LEN - 64) * 8, chars: MAX_GAMESTATE_CHARS - 1 };
/// Part of it that player entries leave to strings that grow during the level.
const SPARE: Size = Size { bits: 640 * 8, chars: 640 };
/// Room of a player entry that no other string may use: a short name without further fields.
const LEAST_ENTRY: Size = Size { bits: 104 * 8, chars: 120 };

impl Size {
    fn of(index: ConfigIndex, text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        Self {
            bits: gamestate::configstring_bits(Coder::Huffman, index, text.as_bytes()),
            chars: text.len() + 1,
        }
    }

    fn map(self, other: Self, each: impl Fn(usize, usize) -> usize) -> Self {
        Self { bits: each(self.bits, other.bits), chars: each(self.chars, other.chars) }
    }

    fn plus(self, other: Self) -> Self {
        self.map(other, usize::saturating_add)
    }

    fn minus(self, other: Self) -> Self {
        self.map(other, usize::saturating_sub)
    }

    const fn times(self, count: usize) -> Self {
        Self { bits: self.bits * count, chars: self.chars * count }
    }

    const fn fits(self, most: Self) -> bool {
        self.bits <= most.bits && self.chars <= most.chars
    }
}

/// All configstrings of a level.
#[derive(Debug)]
pub(crate) struct Configstrings {
    texts: Vec<Arc<str>>,
    /// Size of the player entries.
    players: Size,
    /// Size of everything else, baselines included.
    others: Size,
    /// Number of slots whose entries have room.
    slots: usize,
}

/// Result of setting a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetOutcome {
    /// The string had that value.
    Unchanged,
    /// Clients must be sent the change.
    Changed,
    /// The gamestate would exceed a message or the memory of clients: the old value stays.
    Rejected,
}

impl Configstrings {
    /// Creates an empty set for a level with `slots` client slots.
    pub(crate) fn new(slots: usize) -> Self {
        let texts = vec![Arc::from(""); MAX_CONFIGSTRINGS];
        Self { texts, players: Size::default(), others: Size::default(), slots: slots.max(1) }
    }

    /// Whether none is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.players.plus(self.others).chars == 0
    }

    pub(crate) fn get(&self, index: ConfigIndex) -> &str {
        &self.texts[index.index()]
    }

    /// Replaces a string. Quotes become apostrophes, since a quote would end the string in a command.
    pub(crate) fn set(&mut self, index: ConfigIndex, value: &str) -> SetOutcome {
        let value = text::truncated(value, MAX_BIG_STRING_LEN);
        let value = if value.contains('"') { value.replace('"', "'") } else { value.to_owned() };
        let old = self.get(index);
        if *old == *value {
            return SetOutcome::Unchanged;
        }
        let (old, new) = (Size::of(index, old), Size::of(index, &value));
        let grows = !new.fits(old);
        let reserved = LEAST_ENTRY.times(self.slots);
        let (size, most) = if is_player(index) {
            (&mut self.players, MOST.minus(self.others))
        } else {
            (&mut self.others, MOST.minus(self.players.map(reserved, usize::max)))
        };
        let size_then = size.minus(old).plus(new);
        if grows && !size_then.fits(most) {
            return SetOutcome::Rejected;
        }
        *size = size_then;
        self.texts[index.index()] = Arc::from(value);
        SetOutcome::Changed
    }

    /// Whether every slot could have a player entry of this size.
    pub(crate) fn is_fair(&self, index: ConfigIndex, text: &str) -> bool {
        let all = Size::of(index, text).times(self.slots);
        all.plus(self.others).plus(SPARE).fits(MOST)
    }

    /// Counts baselines of these sizes while there is room. Returns their number.
    pub(crate) fn add_baselines(&mut self, bits: impl Iterator<Item = usize>) -> usize {
        let reserved = self.players.map(LEAST_ENTRY.times(self.slots), usize::max).plus(SPARE);
        let most = MOST.minus(reserved).bits;
        let mut count = 0;
        for bits in bits {
            if self.others.bits + bits > most {
                break;
            }
            self.others.bits += bits;
            count += 1;
        }
        count
    }

    /// Strings that are not empty, by ascending index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConfigIndex, &str)> {
        ConfigIndex::all()
            .zip(&self.texts)
            .filter(|(_, text)| !text.is_empty())
            .map(|(index, text)| (index, &**text))
    }

    /// Reliable commands that send the current value of a string to a client of a protocol.
    pub(crate) fn commands(&self, index: ConfigIndex, protocol: &Protocol) -> Vec<Arc<str>> {
        if protocol.numbers.is_current() {
            let sent = protocol.sent_configstring(index, self.get(index));
            let text = sent.map_or(Cow::Borrowed(""), |(_, text)| text);
            return server_message::configstring_commands(index, &text);
        }
        let change = protocol.sent_change(index, self.get(index));
        change.into_iter().map(Arc::from).collect()
    }
}

/// Whether a string is a player entry.
fn is_player(index: ConfigIndex) -> bool {
    let first = usize::from(PLAYERS);
    (first..first + MAX_CLIENTS).contains(&index.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: ConfigIndex = ConfigIndex::at(5);

    #[test]
    fn long_change_is_split_into_parts() {
        let mut strings = Configstrings::new(1);
        for (len, kinds) in [
            (0, vec!["cs"]),
            (999, vec!["cs"]),
            (1000, vec!["bcs0", "bcs2"]),
            (1998, vec!["bcs0", "bcs2"]),
            (1999, vec!["bcs0", "bcs1", "bcs2"]),
            (8000, vec!["bcs0", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs2"]),
        ] {
            strings.set(INDEX, &"x".repeat(len));
            let commands = strings.commands(INDEX, Protocol::Q3_68);
            let heads: Vec<_> = commands.iter().map(|c| c.split(' ').next().unwrap()).collect();
            assert_eq!(heads, kinds, "{len}");
            let joined: usize = commands.iter().map(|c| c.split('"').nth(1).unwrap().len()).sum();
            assert_eq!(joined, len);
            assert!(commands.iter().all(|c| c.len() <= 1022));
        }
    }

    #[test]
    fn configstrings_of_a_level_are_bounded() {
        let mut strings = Configstrings::new(1);
        assert_eq!(strings.set(ConfigIndex::at(100), &"x".repeat(8000)), SetOutcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(101), &"x".repeat(8000)), SetOutcome::Rejected);
        assert_eq!(strings.set(ConfigIndex::at(101), &"x".repeat(7000)), SetOutcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(100), ""), SetOutcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(100), ""), SetOutcome::Unchanged);
        assert_eq!(strings.set(ConfigIndex::at(102), &"x".repeat(8000)), SetOutcome::Changed);
        assert_eq!(strings.iter().count(), 2);
    }

    #[test]
    fn configstring_room_is_counted_in_bits() {
        let player = |at: u16| ConfigIndex::at(PLAYERS + at);
        let mut strings = Configstrings::new(64);
        // Ten bits each.
        let costly = "XWVUTSRQ".repeat(26);
        let set = (0..64).filter(|&at| strings.set(player(at), &costly) == SetOutcome::Changed);
        let set = set.count();
        assert!((60..64).contains(&set), "{set} entries of 208 characters");
        assert!(!strings.is_fair(player(0), &costly));
        // Room of removed entries is for other entries only.
        (0..64).for_each(|at| assert_ne!(strings.set(player(at), ""), SetOutcome::Rejected));
        let others = (0..30).filter(|&at| {
            strings.set(ConfigIndex::at(100 + at), &costly.repeat(6)) == SetOutcome::Changed
        });
        assert!((6..9).contains(&others.count()));
        let least = "X".repeat(LEAST_ENTRY.bits / 10 - 4);
        (0..64).for_each(|at| assert_eq!(strings.set(player(at), &least), SetOutcome::Changed));
        assert_eq!(strings.add_baselines(std::iter::repeat(100)), 0);
    }

    #[test]
    fn baselines_leave_room_for_players() {
        let mut strings = Configstrings::new(64);
        let count = strings.add_baselines((0..1023).map(|_| 200));
        assert!((350..400).contains(&count), "{count}");
        let least = "X".repeat(LEAST_ENTRY.bits / 10 - 4);
        let entries = (0..64).map(|at| ConfigIndex::at(PLAYERS + at));
        assert!(entries.clone().all(|index| strings.is_fair(index, &least)));
        assert!(entries.clone().all(|index| strings.set(index, &least) == SetOutcome::Changed));
    }

    #[test]
    fn quotes_become_apostrophes() {
        let mut strings = Configstrings::new(1);
        strings.set(INDEX, "a \"b\"");
        assert_eq!(strings.commands(INDEX, Protocol::Q3_68)[0].as_ref(), "cs 5 \"a 'b'\"\n");
    }
}
