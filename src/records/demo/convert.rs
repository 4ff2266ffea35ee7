//! Conversion of a demo of an older protocol to one of protocol 68.
//!
//! Every message is encoded again, in numbers and texts of 1.32. A command that 1.32 has no number for is written
//! without its text, because clients expect every number.
//! Invariant: every result is read without an error.

use std::{collections::BTreeMap, fmt, sync::Arc};

use thiserror::Error;

use crate::{
    client::CommandEffect,
    model::{Baselines, ClientNum, PlayerState},
    wire::{Protocol, gamestate::Gamestate, numbers::GameNumbers},
};

use super::{
    reader::{DemoMessage, DemoReader, DemoSnapshot},
    translation::Translation,
    writer::{DemoWriter, Written},
};

/// Most numbers without a form that a report names.
const MAX_LISTED: usize = 256;
/// Number of an event without the bits that change when it repeats.
const EVENT_MASK: i32 = 0xff;

/// Number of an older game that 1.32 has no form for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LackingNumber {
    /// Event of an entity or player.
    Event(i32),
    /// Configstring.
    Configstring(usize),
    /// Persistent value of a player.
    Persistent(usize),
}

impl fmt::Display for LackingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(number) => write!(f, "event {number}"),
            Self::Configstring(index) => write!(f, "configstring {index}"),
            Self::Persistent(at) => write!(f, "persistent value {at}"),
        }
    }
}

/// Result of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertReport {
    /// Messages of the new demo.
    pub messages: usize,
    /// Snapshots of the new demo.
    pub snapshots: usize,
    /// Messages that cannot be decoded or encoded, which were left out.
    pub skipped: usize,
    /// Commands without a number of 1.32, whose text was left out.
    pub commands: usize,
    /// Numbers that were left out, with the messages that hold them.
    pub lacking: BTreeMap<LackingNumber, usize>,
}

/// Errors of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConvertError {
    /// Demo of a current protocol.
    #[error("a demo of protocol {0}, which current clients play (expected protocol 43 to 67)")]
    Current(i32),
    /// Demo of Quake Live.
    #[error(
        "a demo of protocol {0}, whose items, weapons and scores 1.32 lacks (expected protocol 43 to 67)"
    )]
    QuakeLive(i32),
    /// No snapshot.
    #[error("no snapshot")]
    Empty,
    /// Gamestate longer than a message.
    #[error("gamestate exceeds a message")]
    Gamestate,
}

/// Converts a demo to protocol 68.
///
/// # Errors
/// [`ConvertError`].
pub fn convert(
    protocol: &'static Protocol,
    bytes: &[u8],
) -> Result<(Vec<u8>, ConvertReport), ConvertError> {
    if Protocol::CURRENT.contains(&protocol) {
        return Err(ConvertError::Current(protocol.number));
    }
    let translation = Translation::of(protocol);
    let translation = translation.ok_or(ConvertError::QuakeLive(protocol.number))?;
    let mut converter = Converter {
        numbers: protocol.numbers,
        translation,
        demo: DemoWriter::new(Protocol::Q3_68),
        baselines: None,
        report: ConvertReport::default(),
    };
    let mut clients = level_clients(protocol, bytes).into_iter();
    for item in DemoReader::new(protocol, bytes) {
        match item {
            Ok(message) => {
                let client = message.gamestate.as_ref().and_then(|_| clients.next());
                converter.add(&message, client.unwrap_or(ClientNum::FIRST))?;
            }
            Err(error) => {
                let is_lost = error.sequence.is_some() && !error.is_of_a_part();
                converter.report.skipped += usize::from(is_lost);
            }
        }
    }
    if converter.report.snapshots == 0 {
        return Err(ConvertError::Empty);
    }
    let report = ConvertReport { messages: converter.demo.messages(), ..converter.report };
    Ok((converter.demo.finish(), report))
}

/// Client number of each level, which a snapshot behind its gamestate tells.
fn level_clients(protocol: &'static Protocol, bytes: &[u8]) -> Vec<ClientNum> {
    let mut clients = Vec::new();
    let mut reader = DemoReader::new(protocol, bytes);
    while let Some(item) = reader.next() {
        if item.is_ok_and(|message| message.gamestate.is_some()) {
            clients.push(ClientNum::FIRST);
        }
        if let (Some(last), Some(client)) = (clients.last_mut(), reader.client_num()) {
            *last = client;
        }
    }
    clients
}

struct Converter {
    numbers: GameNumbers,
    translation: Translation,
    demo: DemoWriter,
    /// Baselines of the level in numbers of 1.32.
    baselines: Option<Baselines>,
    report: ConvertReport,
}

impl Converter {
    fn add(&mut self, message: &DemoMessage<'_>, client: ClientNum) -> Result<(), ConvertError> {
        let mut new = DemoMessage {
            commands: Vec::with_capacity(message.commands.len()),
            gamestate: message.gamestate.as_ref().map(|state| self.gamestate(state, client)),
            snapshot: message.snapshot.as_ref().map(|snapshot| self.snapshot(snapshot)),
            ..message.clone()
        };
        for command in &message.commands {
            let text = self.translation.command(&command.text);
            if text.is_none() && command.is_new {
                self.report.commands += 1;
                if let Some(CommandEffect::Configstring(index)) = command.effect {
                    self.lacks(LackingNumber::Configstring(index.index()));
                }
            }
            let mut command = command.clone();
            command.text = text.unwrap_or_default().into_owned();
            new.commands.push(command);
        }
        let written = self.demo.write(&new, self.baselines.as_ref());
        if written == Written::Part {
            if new.gamestate.is_some() {
                return Err(ConvertError::Gamestate);
            }
            self.report.skipped += 1;
        } else if new.snapshot.is_some() {
            self.report.snapshots += 1;
        }
        Ok(())
    }

    fn gamestate(&mut self, state: &Gamestate, client: ClientNum) -> Arc<Gamestate> {
        let baselines = self.translation.entities(&state.baselines);
        self.baselines = Some(Baselines::new(baselines.clone()));
        let mut configstrings = Vec::with_capacity(state.configstrings.len());
        for (index, text) in &state.configstrings {
            match self.translation.configstring(*index, text) {
                Some((index, text)) => configstrings.push((index, text.into_owned())),
                None => self.lacks(LackingNumber::Configstring(index.index())),
            }
        }
        Arc::new(Gamestate {
            command_num: state.command_num,
            configstrings,
            baselines,
            client_num: state.client_num.or(Some(client)),
            checksum_feed: state.checksum_feed,
        })
    }

    fn snapshot(&mut self, snapshot: &Arc<DemoSnapshot>) -> Arc<DemoSnapshot> {
        if !self.numbers.is_current() {
            self.find_lacking(snapshot);
        }
        self.translation.snapshot(snapshot)
    }

    fn find_lacking(&mut self, snapshot: &DemoSnapshot) {
        let PlayerState { persistant, events, external_event, .. } = &snapshot.player;
        let first = self.numbers.first_event_type();
        let of_entities = snapshot.entities.iter().flat_map(|entity| {
            let of_type = entity.e_type.checked_sub(first).filter(|event| *event > 0);
            [of_type.unwrap_or(0), entity.event & EVENT_MASK]
        });
        let of_player = events.iter().chain([external_event]).map(|event| event & EVENT_MASK);
        for event in of_entities.chain(of_player) {
            if self.numbers.received_event(event).is_none() {
                self.lacks(LackingNumber::Event(event));
            }
        }
        for (at, value) in persistant.iter().enumerate() {
            if *value != 0 && self.numbers.received_persistent(at).is_none() {
                self.lacks(LackingNumber::Persistent(at));
            }
        }
    }

    fn lacks(&mut self, number: LackingNumber) {
        let lacking = &mut self.report.lacking;
        if lacking.len() < MAX_LISTED || lacking.contains_key(&number) {
            *lacking.entry(number).or_default() += 1;
        }
    }
}
