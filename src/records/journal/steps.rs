//! Journal steps: an input with the answers about files and the datagrams that belong to it.

use super::{
    asset_answer::AssetAnswer,
    format::{Entry, JournalEnd, JournalInput, Sent, Start},
    reader::{Damage, DamageKind, JournalOpenError, Located, Reader},
};
use crate::model::Millis;

/// One input and everything that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayStep {
    /// Number of its first record, from 0.
    pub record: u64,
    /// Offset of that record in bytes.
    pub offset: u64,
    /// Time of the input; 0 for the creation of the node.
    pub at: Millis,
    /// The input; `None` for the creation of the node.
    pub input: Option<JournalInput>,
    /// Answers about files, in order.
    pub answers: Vec<AssetAnswer>,
    /// Datagrams sent, in order.
    pub sent: Vec<Sent>,
    /// Whether the step is complete. The last step of a truncated journal may be incomplete.
    pub is_complete: bool,
}

/// Incremental reader of steps.
#[derive(Debug, Default)]
pub struct Steps {
    reader: Reader,
    start: Option<Start>,
    open: Option<ReplayStep>,
    damage: Option<Damage>,
    end: Option<JournalEnd>,
}

impl Steps {
    /// Creates a reader at the start of a journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the next piece of the journal.
    pub fn feed(&mut self, piece: &[u8]) {
        self.reader.feed(piece);
    }

    /// Returns the start record once it has been read.
    ///
    /// # Errors
    /// The file is not a journal or cannot be used.
    pub fn start(&mut self) -> Result<Option<&Start>, JournalOpenError> {
        if self.start.is_none() && self.reader.read_head()? {
            match self.reader.next_entry().map_err(JournalOpenError::NoStart)? {
                Some(Located { entry: Entry::Start(start), record, offset }) => {
                    self.start = Some(*start);
                    self.open = Some(ReplayStep { record, offset, ..ReplayStep::default() });
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

    /// Returns the first damage once it has been reached.
    #[must_use]
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Returns the reason of the end once it has been reached; `None` for a truncated journal.
    #[must_use]
    pub fn end(&self) -> Option<JournalEnd> {
        self.end
    }

    /// Returns the next complete step, or `None` while more bytes are needed or after damage.
    pub fn next_step(&mut self) -> Option<ReplayStep> {
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

    /// Returns the last step, after the last piece.
    pub fn last_step(&mut self) -> Option<ReplayStep> {
        if self.damage.is_none()
            && let Err(damage) = self.reader.finish()
        {
            self.damage = Some(damage);
        }
        self.open.take()
    }

    /// Adds an entry to the open step, or closes it and opens another.
    fn take(&mut self, Located { record, offset, entry }: Located) -> Option<ReplayStep> {
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
                Some(ReplayStep { record, offset, at, input: Some(input), ..ReplayStep::default() })
            }
        };
        let closed = std::mem::replace(&mut self.open, next)?;
        Some(ReplayStep { is_complete: true, ..closed })
    }
}
