//! Journal file reader for `fragd replay`.

use std::{fs::File, io::Read as _, path::Path};

use fragd::journal::{Damage, JournalEnd, ReplayStep, Start, Steps};

/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// A file that is read in pieces.
pub(super) struct Pieces {
    pub(super) name: String,
    file: File,
    piece: Vec<u8>,
}

impl Pieces {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { name, file, piece: vec![0; PIECE] })
    }

    /// The next piece; empty at the end.
    pub(super) fn next(&mut self) -> Result<&[u8], String> {
        let read = self.file.read(&mut self.piece);
        let len = read.map_err(|error| format!("{}: {error}", self.name))?;
        Ok(&self.piece[..len])
    }
}

/// Steps of a journal file.
pub(super) struct Journal {
    file: Pieces,
    steps: Steps,
    start: Start,
    /// Whether the last step was returned.
    is_over: bool,
}

impl Journal {
    /// Opens a journal and reads its start record.
    pub(super) fn open(mut file: Pieces) -> Result<Self, String> {
        let name = file.name.clone();
        let mut steps = Steps::new();
        loop {
            let piece = file.next()?;
            let is_end = piece.is_empty();
            steps.feed(piece);
            match steps.start().map_err(|error| format!("{name}: {error}"))?.cloned() {
                Some(start) => return Ok(Self { file, steps, start, is_over: false }),
                None if is_end => return Err(format!("{name}: the journal ends before it begins")),
                None => {}
            }
        }
    }

    /// Returns the next step, or `None` at the end. The last step may be incomplete.
    pub(super) fn next_step(&mut self) -> Result<Option<ReplayStep>, String> {
        loop {
            if let Some(step) = self.steps.next_step() {
                return Ok(Some(step));
            }
            if self.is_over {
                return Ok(None);
            }
            let piece = self.file.next()?;
            if piece.is_empty() || self.steps.damage().is_some() {
                self.is_over = true;
                return Ok(self.steps.last_step());
            }
            self.steps.feed(piece);
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.file.name
    }

    pub(super) fn start(&self) -> &Start {
        &self.start
    }

    pub(super) fn damage(&self) -> Option<Damage> {
        self.steps.damage()
    }

    pub(super) fn end(&self) -> Option<JournalEnd> {
        self.steps.end()
    }

    /// Whether the whole run was returned.
    pub(super) fn is_whole(&self) -> bool {
        self.is_over && self.damage().is_none() && self.end() == Some(JournalEnd::Run)
    }
}
