//! Reliable commands as players hear them: each line that somebody says carries its number, so that one
//! that is lost, doubled or out of order is heard.
//!
//! A line may be missed only by who is sent another gamestate in between, or begins anew.

/// What is said: by whom, in which of its lives, as which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// The speaker's place.
    pub speaker: usize,
    /// Which of its lives.
    pub life: u32,
    /// The line.
    pub line: u32,
}

impl Said {
    /// The words.
    #[must_use]
    pub fn words(self) -> String {
        format!("say from {}.{} line {}", self.speaker, self.life, self.line)
    }

    /// Reads the words in a command that was heard.
    #[must_use]
    pub fn read(command: &str) -> Option<Self> {
        let (_, rest) = command.split_once("from ")?;
        let (who, line) = rest.split_once(" line ")?;
        let (speaker, life) = who.split_once('.')?;
        let line = line.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
        Some(Self { speaker: speaker.parse().ok()?, life: life.parse().ok()?, line })
    }
}

/// What one listener heard of everybody last.
#[derive(Debug, Default)]
pub struct Ears {
    levels: u32,
    /// By speaker: the last line, and whether some may be missing behind it.
    last: Vec<Option<(Said, bool)>>,
}

impl Ears {
    /// Hears what came since the last time, `levels` being the gamestates so far. Who `is_behind`, in a
    /// level that is over, is sent gamestates until one arrives, and each leaves out what waited. How
    /// many of the commands were numbered.
    ///
    /// # Errors
    /// One is lost, doubled, or out of order.
    pub fn hear_all<'a>(
        &mut self,
        levels: u32,
        is_behind: bool,
        commands: impl Iterator<Item = &'a str>,
    ) -> Result<u64, String> {
        let is_new_level = levels != self.levels || is_behind;
        self.levels = levels;
        if is_new_level {
            self.allow_gaps();
        }
        let mut numbered = 0;
        for command in commands {
            numbered += u64::from(self.hear(command)?);
        }
        if is_new_level {
            // Some of them stood before the gamestate, and what it left out follows behind them.
            self.allow_gaps();
        }
        Ok(numbered)
    }

    fn allow_gaps(&mut self) {
        self.last.iter_mut().flatten().for_each(|(_, gap)| *gap = true);
    }

    /// Hears a command. True when it was one that is numbered.
    fn hear(&mut self, command: &str) -> Result<bool, String> {
        let Some(said) = Said::read(command) else { return Ok(false) };
        if self.last.len() <= said.speaker {
            self.last.resize(said.speaker + 1, None);
        }
        if let Some((last, gap)) = self.last[said.speaker]
            && last.life == said.life
        {
            let is_next = said.line == last.line + 1 || gap && said.line > last.line;
            if !is_next {
                return Err(format!("{} is heard after line {}", said.words(), last.line));
            }
        }
        self.last[said.speaker] = Some((said, false));
        Ok(true)
    }

    /// The last that was heard of a speaker.
    #[must_use]
    pub fn last_of(&self, speaker: usize) -> Option<Said> {
        self.last.get(speaker).copied().flatten().map(|(said, _)| said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_doubled_or_late_is_heard() {
        let said = |life, line| {
            let said = Said { speaker: 3, life, line };
            format!("chat \"p: {}\"\n", &said.words()[4..])
        };
        let mut ears = Ears::default();
        let mut hear = |level, text: &str| ears.hear_all(level, false, [text].into_iter());
        assert_eq!(hear(1, "cs 5 x"), Ok(0));
        for line in [7, 8, 9] {
            assert_eq!(hear(1, &said(0, line)), Ok(1));
        }
        assert!(hear(1, &said(0, 9)).is_err(), "doubled");
        assert!(hear(1, &said(0, 8)).is_err(), "late");
        assert!(hear(1, &said(0, 11)).is_err(), "lost");
        assert_eq!(hear(2, &said(0, 12)), Ok(1), "behind a gamestate");
        assert_eq!(hear(2, &said(0, 14)), Ok(1), "or around it");
        assert!(hear(2, &said(0, 16)).is_err(), "lost again");
        assert_eq!(hear(2, &said(1, 1)), Ok(1), "another life");
        assert_eq!(ears.last_of(3), Some(Said { speaker: 3, life: 1, line: 1 }));
    }
}
