//! Checker for reliable commands: each numbered chat line arrives once and in order.
//!
//! A client may miss lines only around a new gamestate, or after it joined again.

/// Numbered chat line: its speaker, the speaker's connection and the line number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedLine {
    /// Index of the speaker.
    pub speaker: usize,
    /// Number of the speaker's connection.
    pub life: u32,
    /// Number of the line in that connection.
    pub line: u32,
}

impl NumberedLine {
    /// Returns the line as a chat command.
    #[must_use]
    pub fn words(self) -> String {
        format!("say from {}.{} line {}", self.speaker, self.life, self.line)
    }

    /// Parses the line in a received command.
    #[must_use]
    pub fn read(command: &str) -> Option<Self> {
        let (_, rest) = command.split_once("from ")?;
        let (sender, line) = rest.split_once(" line ")?;
        let (speaker, life) = sender.split_once('.')?;
        let line = line.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
        Some(Self { speaker: speaker.parse().ok()?, life: life.parse().ok()?, line })
    }
}

/// Order checker of one receiver: the last line of each speaker.
#[derive(Debug, Default)]
pub struct CommandOrderChecker {
    levels: u32,
    /// Last line of each speaker, and whether a gap may follow it.
    last: Vec<Option<(NumberedLine, bool)>>,
}

impl CommandOrderChecker {
    /// Checks the commands since the last call and returns the number of numbered lines.
    ///
    /// `levels` is the number of gamestates received so far. A receiver that `is_behind` does not have the
    /// current level. It is sent gamestates until one arrives, and each may skip lines: gaps are allowed
    /// before, between and after its commands. The same holds for commands that arrive with a gamestate.
    /// Duplicated and late lines are errors there, too.
    ///
    /// # Errors
    /// A line that is lost, duplicated or out of order.
    pub fn check_all<'a>(
        &mut self,
        levels: u32,
        is_behind: bool,
        commands: impl Iterator<Item = &'a str>,
    ) -> Result<u64, String> {
        let may_miss = levels != self.levels || is_behind;
        self.levels = levels;
        let mut numbered = 0;
        for command in commands {
            if may_miss {
                self.allow_gaps();
            }
            numbered += u64::from(self.check(command)?);
        }
        if may_miss {
            self.allow_gaps();
        }
        Ok(numbered)
    }

    fn allow_gaps(&mut self) {
        self.last.iter_mut().flatten().for_each(|(_, gap)| *gap = true);
    }

    /// Checks one command. Returns whether it is a numbered line.
    fn check(&mut self, command: &str) -> Result<bool, String> {
        let Some(line) = NumberedLine::read(command) else { return Ok(false) };
        if self.last.len() <= line.speaker {
            self.last.resize(line.speaker + 1, None);
        }
        if let Some((last, gap)) = self.last[line.speaker]
            && last.life == line.life
        {
            let is_next = line.line == last.line + 1 || gap && line.line > last.line;
            if !is_next {
                return Err(format!("{} received after line {}", line.words(), last.line));
            }
        }
        self.last[line.speaker] = Some((line, false));
        Ok(true)
    }

    /// Returns the last line received from a speaker.
    #[must_use]
    pub fn last_of(&self, speaker: usize) -> Option<NumberedLine> {
        self.last.get(speaker).copied().flatten().map(|(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_duplicated_and_late_lines_are_errors() {
        let said = |life, line| {
            let line = NumberedLine { speaker: 3, life, line };
            format!("chat \"p: {}\"\n", &line.words()[4..])
        };
        let mut command_order = CommandOrderChecker::default();
        let mut hear =
            |level, text: &str| command_order.check_all(level, false, [text].into_iter());
        assert_eq!(hear(1, "cs 5 x"), Ok(0));
        for line in [7, 8, 9] {
            assert_eq!(hear(1, &said(0, line)), Ok(1));
        }
        assert!(hear(1, &said(0, 9)).is_err(), "duplicated");
        assert!(hear(1, &said(0, 8)).is_err(), "late");
        assert!(hear(1, &said(0, 11)).is_err(), "lost");
        assert_eq!(hear(2, &said(0, 12)), Ok(1), "after a gamestate");
        assert_eq!(hear(2, &said(0, 14)), Ok(1), "or around it");
        assert!(hear(2, &said(0, 16)).is_err(), "lost again");
        assert_eq!(hear(2, &said(1, 1)), Ok(1), "another connection");
        assert_eq!(command_order.last_of(3), Some(NumberedLine { speaker: 3, life: 1, line: 1 }));
    }

    #[test]
    fn gap_inside_a_batch_needs_a_missing_level() {
        let said = |line| NumberedLine { speaker: 3, life: 0, line }.words();
        let hear = |batches: &[(u32, bool, &[u32])]| {
            let mut command_order = CommandOrderChecker::default();
            let mut heard = |&(levels, is_behind, lines): &(u32, bool, &[u32])| {
                let lines: Vec<_> = lines.iter().map(|&line| said(line)).collect();
                command_order.check_all(levels, is_behind, lines.iter().map(String::as_str))
            };
            batches.iter().try_fold(0, |sum, batch| Ok::<_, String>(sum + heard(batch)?))
        };
        // Two gamestates were lost, and line 5 was sent before the second.
        assert_eq!(hear(&[(0, true, &[4, 6])]), Ok(2));
        assert_eq!(hear(&[(0, true, &[4, 6]), (1, false, &[8])]), Ok(3), "and around the third");
        assert_eq!(hear(&[(1, false, &[4]), (2, false, &[5, 7])]), Ok(3), "together with one");
        for [first, second] in [[5, 5], [5, 4], [6, 4]] {
            assert!(hear(&[(0, true, &[first, second])]).is_err(), "{first} {second}");
        }
        assert_eq!(hear(&[(1, false, &[4])]), Ok(1));
        assert!(hear(&[(1, false, &[4]), (1, false, &[5, 7])]).is_err(), "lost in the level");
    }
}
