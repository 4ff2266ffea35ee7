//! Changes of settings by console lines, and what they print.

use super::{authority, output::ConsoleStreams, problems::Cause};
use crate::{
    model::Millis,
    serving::stats::Stats,
    settings::{Author, Change, ChangeSource, Note, SetCommand, SettingError, Settings},
};

/// Result of a change by a console line.
#[derive(Debug, Default)]
pub(super) struct ChangeOutcome {
    /// Cause of a refusal.
    pub(super) refusal: Option<Cause>,
    /// Whether the value waits for a level.
    pub(super) is_latched: bool,
    /// Values that were taken in another form.
    pub(super) notes: u32,
    /// Undeclared names that are near a setting.
    pub(super) hints: Vec<Note>,
}

/// Parts that a change of a setting reaches.
pub(in crate::server) struct SettingChanges<'a> {
    pub(in crate::server) settings: &'a mut Settings,
    pub(in crate::server) console: &'a mut ConsoleStreams,
    /// Whether a level runs. Before the first one, a latched value takes effect with that.
    pub(in crate::server) has_level: bool,
    /// Author of the line.
    pub(in crate::server) author: Author,
    pub(in crate::server) stats: &'a mut Stats,
    pub(in crate::server) now: Millis,
}

impl SettingChanges<'_> {
    pub(super) fn set(
        &mut self,
        source: ChangeSource,
        command: SetCommand,
        name: &str,
        value: &str,
    ) -> ChangeOutcome {
        let result = self.settings.set_by(self.author, command, source, name, value);
        self.finish(name, result)
    }

    pub(super) fn reset(&mut self, source: ChangeSource, name: &str) -> ChangeOutcome {
        let result = self.settings.reset(self.author, source, name);
        self.finish(name, result)
    }

    /// Prints the result of a change and its notes.
    fn finish(&mut self, name: &str, result: Result<Change, SettingError>) -> ChangeOutcome {
        let mut outcome = ChangeOutcome::default();
        match result {
            Ok(Change::Latched) => {
                outcome.is_latched = true;
                if self.has_level {
                    self.console.print(format!("{name} will be changed upon restarting."));
                }
            }
            Ok(_) => {}
            Err(error) => {
                let cause = match error {
                    SettingError::TooMany { .. } => Cause::Full,
                    _ => Cause::Refused,
                };
                outcome.refusal = Some(cause);
                if matches!(error, SettingError::Protected { .. }) {
                    let stats = (&mut *self.stats, self.now);
                    authority::report_refusal(self.console, stats, &error.to_string());
                } else {
                    self.console.report(cause, error.to_string());
                }
            }
        }
        while let Some(note) = self.settings.take_note() {
            if note.undeclared.is_some() {
                outcome.hints.push(note);
            } else {
                outcome.notes += 1;
                self.console.report(Cause::Changed, note.text);
            }
        }
        outcome
    }
}
