//! Clients of a recording: the numbers that each message repeats, and the message records.
//!
//! ```text
//! message   tag and client: 1 byte | bits: 1 byte | changed numbers | body
//! ```
//!
//! A message is described by the difference to the one before: sequence, acknowledgement, commands,
//! flags, areas, visible entities. A quiet snapshot takes three bytes.
//!
//! Invariant: at most 64 commands wait for the acknowledgement of a client.

use std::{collections::VecDeque, sync::Arc};

use super::words::{Columns, PLAYER_WORDS, PlayerWords};
use crate::{
    model::{
        CommandNum, EntityNum, EntitySet, LevelTime, Sequence,
        encoding::{Cursor, DecodeError, put_bytes, put_number, put_text, unzigzag, zigzag},
        limits::{MAX_RELIABLE_COMMANDS, MAX_STRING_LEN},
    },
    wire::{
        Protocol,
        snapshot::{AreaMask, SnapFlags},
    },
};

/// Bits of a message: values that differ from the expected ones.
mod bit {
    pub(super) const SEQUENCE: u8 = 1;
    pub(super) const ACKNOWLEDGE: u8 = 2;
    pub(super) const COMMANDS: u8 = 4;
    pub(super) const FLAGS: u8 = 8;
    pub(super) const AREAS: u8 = 16;
    pub(super) const PLAYER: u8 = 32;
    pub(super) const SEEN: u8 = 64;
    pub(super) const TIME: u8 = 128;
}

/// Recent texts that a record names by their age.
const TEXTS: usize = 64;

/// Texts of reliable commands, of which many clients are sent the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(VecDeque<Arc<str>>);

impl Texts {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends a text, or its age among the recent ones.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, text: &Arc<str>) {
        let age = self.0.iter().rev().position(|known| Arc::ptr_eq(known, text) || known == text);
        match age {
            Some(age) => put_number(out, age as u64 + 1),
            None => {
                out.push(0);
                put_text(out, text);
                self.push(Arc::clone(text));
            }
        }
    }

    /// Reads a text.
    pub(super) fn read(&mut self, from: &mut Cursor<'_>) -> Result<Arc<str>, DecodeError> {
        match from.small::<usize>()? {
            0 => {
                let text = from.bytes()?;
                if text.len() > MAX_STRING_LEN {
                    return Err("a command that is too long");
                }
                let text = std::str::from_utf8(text).map_err(|_| "text that is not UTF-8")?;
                let text = Arc::from(text);
                self.push(Arc::clone(&text));
                Ok(text)
            }
            age => {
                let text = self.0.len().checked_sub(age).and_then(|at| self.0.get(at));
                text.cloned().ok_or("a text that is not known")
            }
        }
    }

    fn push(&mut self, text: Arc<str>) {
        if self.0.len() == TEXTS {
            self.0.pop_front();
        }
        self.0.push_back(text);
    }
}

/// Reliable commands that a client has not acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandWindow {
    acknowledged: CommandNum,
    texts: VecDeque<Arc<str>>,
}

impl CommandWindow {
    /// Creates an empty window behind `acknowledged`.
    #[must_use]
    pub fn new(acknowledged: CommandNum) -> Self {
        Self { acknowledged, texts: VecDeque::new() }
    }

    /// Newest command.
    #[must_use]
    pub fn last(&self) -> CommandNum {
        CommandNum(self.acknowledged.0.wrapping_add(self.texts.len() as i32))
    }

    /// Number of commands.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether all commands are acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Commands with their numbers, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (CommandNum, &Arc<str>)> {
        let first = self.acknowledged.0.wrapping_add(1);
        self.texts.iter().zip(0..).map(move |(text, at)| (CommandNum(first.wrapping_add(at)), text))
    }
}

/// Numbers of a client that its messages repeat.
#[derive(Clone, Debug)]
pub struct ClientTrack {
    /// Name of the player when the recording of it started.
    pub name: Arc<str>,
    /// Protocol of its messages.
    pub protocol: &'static Protocol,
    /// Sequence of the last message.
    pub sequence: Sequence,
    /// Last command of the client that the server has executed.
    pub acknowledge: CommandNum,
    /// Commands to the client in its last message.
    pub commands: CommandWindow,
    /// Flags of the last snapshot.
    pub flags: SnapFlags,
    /// Areas of the last snapshot.
    pub areas: AreaMask,
    /// Entities of the last snapshot.
    pub seen: EntitySet,
}

/// Values of a message, besides its commands.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageHead {
    /// Sequence of the message.
    pub(super) sequence: Sequence,
    /// Last command of the client that the server has executed.
    pub(super) acknowledge: CommandNum,
    /// Last command that the client has acknowledged.
    pub(super) commands_acknowledged: CommandNum,
}

/// Snapshot of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotBody<'a> {
    /// Server time.
    pub(super) time: LevelTime,
    /// Distance of the delta base in messages; 0 for a full snapshot.
    pub(super) delta_num: u8,
    /// Flags.
    pub(super) flags: SnapFlags,
    /// Areas that are hidden.
    pub(super) areas: &'a AreaMask,
    /// Visible entities.
    pub(super) seen: &'a EntitySet,
    /// Words of the playerstate.
    pub(super) player: &'a PlayerWords,
}

/// States that a playerstate in a message is written against.
pub(super) struct Expected<'a> {
    pub(super) columns: &'a Columns<PLAYER_WORDS>,
    /// Playerstate of the frame, if the client is in the game.
    pub(super) player: Option<&'a PlayerWords>,
    /// Server time of the frame.
    pub(super) time: LevelTime,
}

impl Expected<'_> {
    fn player(&self) -> PlayerWords {
        self.player.copied().unwrap_or([0; PLAYER_WORDS])
    }
}

impl ClientTrack {
    /// Creates the track of a client at its first message.
    #[must_use]
    pub fn new(
        name: Arc<str>,
        protocol: &'static Protocol,
        sequence: Sequence,
        acknowledge: CommandNum,
        commands: CommandWindow,
    ) -> Self {
        Self {
            name,
            protocol,
            sequence,
            acknowledge,
            commands,
            flags: SnapFlags::default(),
            areas: AreaMask::default(),
            seen: EntitySet::default(),
        }
    }

    /// Appends all values, for the start of a client and for key frames.
    pub(super) fn write(&self, out: &mut Vec<u8>, texts: &mut Texts) {
        put_text(out, &self.name);
        put_text(out, self.protocol.name);
        put_number(out, u64::from(self.sequence.0));
        put_number(out, zigzag(i64::from(self.acknowledge.0)));
        put_number(out, zigzag(i64::from(self.commands.acknowledged.0)));
        put_number(out, self.commands.len() as u64);
        self.commands.texts.iter().for_each(|text| texts.write(out, text));
        out.push(self.flags.0);
        put_bytes(out, self.areas.bytes());
        write_set(out, &self.seen);
    }

    /// Reads all values.
    pub(super) fn read(from: &mut Cursor<'_>, texts: &mut Texts) -> Result<Self, DecodeError> {
        let name = Arc::from(from.text()?);
        let protocol = Protocol::named(&from.text()?).ok_or("an unknown protocol")?;
        let sequence = Sequence(from.small::<u32>()? & Sequence::MASK);
        let (acknowledge, acknowledged) = (command_num(from)?, command_num(from)?);
        let mut commands = CommandWindow::new(acknowledged);
        read_commands(from, texts, &mut commands)?;
        let mut track = Self::new(name, protocol, sequence, acknowledge, commands);
        track.flags = SnapFlags(from.byte()?);
        track.areas = read_areas(from)?;
        track.seen = read_set(from)?;
        Ok(track)
    }

    /// Appends what a message changes, and changes the track to it. `commands` are all that the client has
    /// not acknowledged.
    pub(super) fn write_message<'a>(
        &mut self,
        out: &mut Vec<u8>,
        texts: &mut Texts,
        head: &MessageHead,
        commands: impl Iterator<Item = (CommandNum, &'a Arc<str>)>,
        snapshot: Option<(&SnapshotBody<'_>, &Expected<'_>)>,
    ) {
        let place = out.len();
        out.push(0);
        let mut bits = 0;
        if head.sequence != self.sequence.next() {
            bits |= bit::SEQUENCE;
            put_number(out, u64::from(head.sequence.0));
        }
        self.sequence = head.sequence;
        if head.acknowledge != self.acknowledge {
            bits |= bit::ACKNOWLEDGE;
            let step = i64::from(head.acknowledge.0) - i64::from(self.acknowledge.0);
            put_number(out, zigzag(step));
            self.acknowledge = head.acknowledge;
        }
        if self.write_commands(out, texts, head.commands_acknowledged, commands) {
            bits |= bit::COMMANDS;
        }
        if let Some((snapshot, expected)) = snapshot {
            bits |= self.write_snapshot(out, snapshot, expected);
        }
        out[place] = bits;
    }

    /// Appends the changes of the command window. Returns false if there are none.
    fn write_commands<'a>(
        &mut self,
        out: &mut Vec<u8>,
        texts: &mut Texts,
        acknowledged: CommandNum,
        commands: impl Iterator<Item = (CommandNum, &'a Arc<str>)>,
    ) -> bool {
        let last = self.commands.last();
        let newest = commands.filter(|(number, _)| number.distance(last) > 0);
        let mut newest = newest.peekable();
        let gone = acknowledged.distance(self.commands.acknowledged).max(0);
        if gone == 0 && newest.peek().is_none() {
            return false;
        }
        put_number(out, gone as u64);
        for _ in 0..gone {
            self.commands.texts.pop_front();
        }
        self.commands.acknowledged = acknowledged;
        let new: Vec<_> = newest.map(|(_, text)| Arc::clone(text)).collect();
        put_number(out, new.len() as u64);
        for text in new {
            texts.write(out, &text);
            self.commands.texts.push_back(text);
        }
        true
    }

    fn write_snapshot(
        &mut self,
        out: &mut Vec<u8>,
        snapshot: &SnapshotBody<'_>,
        expected: &Expected<'_>,
    ) -> u8 {
        let mut bits = 0;
        out.push(snapshot.delta_num);
        if snapshot.time != expected.time {
            bits |= bit::TIME;
            super::format::put_time(out, snapshot.time);
        }
        if snapshot.flags != self.flags {
            bits |= bit::FLAGS;
            out.push(snapshot.flags.0);
            self.flags = snapshot.flags;
        }
        if *snapshot.areas != self.areas {
            bits |= bit::AREAS;
            put_bytes(out, snapshot.areas.bytes());
            self.areas = *snapshot.areas;
        }
        if *snapshot.seen != self.seen {
            bits |= bit::SEEN;
            write_set(out, &difference(snapshot.seen, &self.seen));
            self.seen = snapshot.seen.clone();
        }
        if expected.player == Some(snapshot.player) {
            return bits;
        }
        let player = expected.player();
        let changed = expected.columns.changed(&player, snapshot.player);
        if changed != 0 {
            bits |= bit::PLAYER;
            expected.columns.write_mask(out, changed);
            expected.columns.write_values(out, changed, &player, snapshot.player);
        }
        bits
    }

    /// Reads what a message changes, and changes the track to it. Returns time, distance of the delta base
    /// and playerstate of a snapshot.
    pub(super) fn read_message(
        &mut self,
        from: &mut Cursor<'_>,
        texts: &mut Texts,
        expected: Option<&Expected<'_>>,
    ) -> Result<Option<(LevelTime, u8, PlayerWords)>, DecodeError> {
        let bits = from.byte()?;
        self.sequence = if bits & bit::SEQUENCE == 0 {
            self.sequence.next()
        } else {
            Sequence(from.small::<u32>()? & Sequence::MASK)
        };
        if bits & bit::ACKNOWLEDGE != 0 {
            let step =
                i32::try_from(unzigzag(from.number()?)).map_err(|_| "a number out of range")?;
            self.acknowledge = CommandNum(self.acknowledge.0.wrapping_add(step));
        }
        if bits & bit::COMMANDS != 0 {
            let gone: usize = from.small()?;
            if gone > i32::MAX as usize {
                return Err("a number out of range");
            }
            self.commands.texts.drain(..gone.min(self.commands.texts.len()));
            let acknowledged = self.commands.acknowledged.0.wrapping_add(gone as i32);
            self.commands.acknowledged = CommandNum(acknowledged);
            read_commands(from, texts, &mut self.commands)?;
        }
        let Some(expected) = expected else {
            let known = bit::SEQUENCE | bit::ACKNOWLEDGE | bit::COMMANDS;
            return if bits & !known == 0 { Ok(None) } else { Err("a bit that is not known") };
        };
        let delta_num = from.byte()?;
        let time = if bits & bit::TIME != 0 { super::format::time(from)? } else { expected.time };
        if bits & bit::FLAGS != 0 {
            self.flags = SnapFlags(from.byte()?);
        }
        if bits & bit::AREAS != 0 {
            self.areas = read_areas(from)?;
        }
        if bits & bit::SEEN != 0 {
            self.seen = difference(&read_set(from)?, &self.seen);
        }
        let mut player = expected.player();
        if bits & bit::PLAYER != 0 {
            let mask = expected.columns.read_mask(from)?;
            expected.columns.read_values(from, mask, &mut player)?;
        }
        Ok(Some((time, delta_num, player)))
    }
}

fn read_commands(
    from: &mut Cursor<'_>,
    texts: &mut Texts,
    window: &mut CommandWindow,
) -> Result<(), DecodeError> {
    let count: usize = from.small()?;
    if count > MAX_RELIABLE_COMMANDS || window.len() + count > MAX_RELIABLE_COMMANDS {
        return Err("more than 64 commands");
    }
    for _ in 0..count {
        window.texts.push_back(texts.read(from)?);
    }
    Ok(())
}

fn command_num(from: &mut Cursor<'_>) -> Result<CommandNum, DecodeError> {
    i32::try_from(unzigzag(from.number()?)).map(CommandNum).map_err(|_| "a number out of range")
}

fn read_areas(from: &mut Cursor<'_>) -> Result<AreaMask, DecodeError> {
    AreaMask::new(from.bytes()?).ok_or("too many areas")
}

/// Returns the entities in one of two sets.
fn difference(one: &EntitySet, other: &EntitySet) -> EntitySet {
    EntitySet::of_words(std::array::from_fn(|at| one.words()[at] ^ other.words()[at]))
}

/// Appends a set: `{ gap + 1 }* 0`.
fn write_set(out: &mut Vec<u8>, set: &EntitySet) {
    let mut next = 0;
    for number in set.iter() {
        put_number(out, (number.index() - next) as u64 + 1);
        next = number.index() + 1;
    }
    out.push(0);
}

fn read_set(from: &mut Cursor<'_>) -> Result<EntitySet, DecodeError> {
    let mut set = EntitySet::default();
    let mut next = 0;
    while let Some((at, _)) = super::scene::listed(from, next, 1, EntityNum::NONE.index())? {
        set.insert(EntityNum::new(at).ok_or("an entity out of range")?);
        next = at + 1;
    }
    Ok(set)
}
