//! Entries put together to steps: an input, what was said of files while it was served, and what was
//! sent upon it.

use super::{
    assets::AssetAnswer,
    format::{Entry, Input, JournalEnd, Sent, Start},
    reader::{Damage, DamageKind, JournalOpenError, Located, Reader},
};
use crate::model::Millis;

/// One input and all that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of its first record.
    pub record: u64,
    /// Byte at which that begins.
    pub offset: u64,
    /// When; 0 for the making of the node.
    pub at: Millis,
    /// The input; none for the making of the node.
    pub input: Option<Input>,
    /// Answers about files, in order.
    pub answers: Vec<AssetAnswer>,
    /// What was sent, in order.
    pub sent: Vec<Sent>,
    /// Whether all of it is known. The last step of a journal that is cut off may lack something.
    pub is_complete: bool,
}

/// Puts steps together.
#[derive(Debug, Default)]
pub struct Steps {
    reader: Reader,
    start: Option<Start>,
    open: Option<Step>,
    damage: Option<Damage>,
    end: Option<JournalEnd>,
}

impl Steps {
    /// Steps of a journal that is fed in pieces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece of the journal.
    pub fn feed(&mut self, piece: &[u8]) {
        self.reader.feed(piece);
    }

    /// What the node was made from, once that is known.
    ///
    /// # Errors
    /// This is no journal, or none that can be used.
    pub fn start(&mut self) -> Result<Option<&Start>, JournalOpenError> {
        if self.start.is_none() && self.reader.read_head()? {
            match self.reader.next_entry().map_err(JournalOpenError::NoStart)? {
                Some(Located { entry: Entry::Start(start), record, offset }) => {
                    self.start = Some(*start);
                    self.open = Some(Step { record, offset, ..Step::default() });
                }
                Some(Located { record, offset, .. }) => {
                    let kind = DamageKind::Senseless("another record stands first");
                    return Err(JournalOpenError::NoStart(Damage { offset, record, kind }));
                }
                None => {}
            }
        }
        Ok(self.start.as_ref())
    }

    /// Where the journal is damaged, once that was reached.
    #[must_use]
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Why the journal ends, once its end was reached; none where it is cut off.
    #[must_use]
    pub fn end(&self) -> Option<JournalEnd> {
        self.end
    }

    /// The next step that is whole; none when another piece is needed, or after damage.
    pub fn next_step(&mut self) -> Option<Step> {
        while self.damage.is_none() && self.start.is_some() {
            match self.reader.next_entry() {
                Ok(None) => break,
                Err(damage) => self.damage = Some(damage),
                Ok(Some(located)) => {
                    if let Some(step) = self.take(located) {
                        return Some(step);
                    }
                }
            }
        }
        None
    }

    /// The step that the journal ends in, after the last piece. It is the last one.
    pub fn last_step(&mut self) -> Option<Step> {
        if self.damage.is_none()
            && let Err(damage) = self.reader.finish()
        {
            self.damage = Some(damage);
        }
        self.open.take()
    }

    /// Adds an entry to the open step, or closes it and opens another.
    fn take(&mut self, Located { record, offset, entry }: Located) -> Option<Step> {
        let next = match entry {
            Entry::Asset(answer) => {
                self.open.iter_mut().for_each(|step| step.answers.push(answer.clone()));
                return None;
            }
            Entry::Sent(mut sent) => {
                self.open.iter_mut().for_each(|step| step.sent.append(&mut sent));
                return None;
            }
            Entry::Start(_) => {
                let kind = DamageKind::Senseless("a second beginning");
                self.damage = Some(Damage { offset, record, kind });
                return None;
            }
            Entry::End(end) => {
                self.end = Some(end);
                None
            }
            Entry::Input(at, input) => {
                Some(Step { record, offset, at, input: Some(input), ..Step::default() })
            }
        };
        let closed = std::mem::replace(&mut self.open, next)?;
        Some(Step { is_complete: true, ..closed })
    }
}
