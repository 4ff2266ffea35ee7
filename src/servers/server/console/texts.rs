//! Console texts that run: lines, scripts and values of variables, innermost last.
//!
//! Invariants: a text within others has no more right than they have; texts that wait are bounded in number and size; a place names the innermost script and its line.
//! Source: the command buffer of Quake III servers. Engine names: `Cbuf_InsertText`, `cmd_wait`.

use std::{collections::VecDeque, rc::Rc};

use super::problems::ProblemCounts;
use crate::{
    model::{CommandArgs, ConsoleCommands},
    settings::Author,
};

/// Maximum number of waiting stacks of texts, and of bytes in them.
const MAX_WAITING: usize = 64;
const MAX_WAITING_LEN: usize = 4 << 20;
/// Longest wait, in frames: an hour at 20 frames per second.
pub(super) const MAX_WAIT_FRAMES: i32 = 72_000;

/// Name of a command. A leading slash is a habit from the console of clients.
pub(super) fn command_name(words: &CommandArgs) -> &str {
    words.command().trim_start_matches(['/', '\\'])
}

/// Counts of the commands of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptCounts {
    /// Settings that were set.
    pub(super) set: u32,
    /// Names outside the table, stored as variables.
    pub(super) variables: u32,
    /// Problems of its commands.
    pub(super) problems: ProblemCounts,
}

/// A script file.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) name: Rc<str>,
    pub(super) counts: ScriptCounts,
    /// Whether the start runs it, or a script of the start. Its summary is printed when it ends, also later.
    pub(super) is_of_start: bool,
}

impl Script {
    pub(super) fn new(name: &str, is_of_start: bool) -> Self {
        Self { name: name.into(), counts: ScriptCounts::default(), is_of_start }
    }
}

/// A text of which commands run one by one.
#[derive(Clone, Debug)]
pub(super) struct OpenText {
    text: Rc<str>,
    author: Author,
    /// Start of the next command.
    at: usize,
    /// Line of the next command, and of the one that runs.
    line: u32,
    running_line: u32,
    pub(super) depth: u8,
    pub(super) script: Option<Script>,
    /// Place of a line that was put off.
    place: Option<Rc<str>>,
    /// Whether the start has put the line off.
    is_put_off: bool,
    /// Line of a comment without end that the last command has.
    open_comment: Option<u32>,
    /// Whether a `//` comment cuts the last word of the last command.
    cuts_word: bool,
    /// Whether the end of its line closes a quote of the last command.
    open_quote: bool,
}

impl OpenText {
    pub(super) fn new(text: &str, author: Author, depth: u8, script: Option<Script>) -> Self {
        let text = text.into();
        Self {
            text,
            author,
            at: 0,
            line: 1,
            running_line: 1,
            depth,
            script,
            place: None,
            is_put_off: false,
            open_comment: None,
            cuts_word: false,
            open_quote: false,
        }
    }

    fn next_command(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..)?;
        let mut commands = ConsoleCommands::new(rest);
        let command = commands.next()?;
        let next = self.text.len() - commands.rest().len();
        let lines = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        self.running_line = self.line;
        self.cuts_word = commands.cuts_word();
        self.open_quote = commands.has_open_quote();
        self.open_comment =
            commands.open_comment().map(|at| self.line + lines(rest.get(..at).unwrap_or_default()));
        self.line += lines(self.text.get(self.at..next).unwrap_or_default());
        self.at = next;
        Some(command.to_owned())
    }

    fn is_over(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Number of lines of the text.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }
}

/// Texts that wait for frames.
#[derive(Debug)]
struct Waiting {
    frames: u64,
    stack: Vec<OpenText>,
}

/// Open texts: the stack that runs, and stacks that wait.
#[derive(Debug, Default)]
pub(in crate::server) struct ConsoleTexts {
    stack: Vec<OpenText>,
    waiting: VecDeque<Waiting>,
}

/// Next step of the stack that runs.
pub(super) enum TextStep {
    /// A command, at the depth of its text.
    Command(String, u8),
    /// The innermost text is over.
    End(OpenText),
}

impl ConsoleTexts {
    /// Opens a text, whose commands run before the rest of the others, with the least right of all.
    pub(super) fn open(&mut self, mut text: OpenText) {
        text.author = text.author.least(self.author());
        self.stack.push(text);
    }

    /// Author whose right the running command has. Outside of texts, the program acts for the operator.
    pub(super) fn author(&self) -> Author {
        self.stack.last().map_or(Author::Operator, |text| text.author)
    }

    pub(super) fn next(&mut self) -> Option<TextStep> {
        let text = self.stack.last_mut()?;
        match text.next_command() {
            Some(command) => Some(TextStep::Command(command, text.depth)),
            None => self.stack.pop().map(TextStep::End),
        }
    }

    /// Whether the next command is the first of a text at depth 0.
    pub(super) fn begins_line(&self) -> bool {
        self.stack.last().is_some_and(|text| text.depth == 0 && text.at == 0)
    }

    /// Closes the texts up to the line that the innermost one belongs to.
    pub(super) fn end_line(&mut self) {
        while self.stack.pop().is_some_and(|text| text.depth > 0) {}
    }

    /// Exchanges the stack that runs.
    pub(super) fn exchange(&mut self, stack: Vec<OpenText>) -> Vec<OpenText> {
        std::mem::replace(&mut self.stack, stack)
    }

    /// File and line of the running command, if it belongs to a script.
    pub(super) fn place(&self) -> Option<String> {
        self.stack.iter().rev().find_map(|text| match (&text.script, &text.place) {
            (Some(script), _) => Some(format!("{}:{}", script.name, text.running_line)),
            (None, place) => place.as_deref().map(str::to_owned),
        })
    }

    /// Place and description of a comment without end that the running command has.
    pub(super) fn take_open_comment(&mut self) -> Option<(Option<String>, String)> {
        let text = self.stack.last_mut()?;
        let line = text.open_comment.take()?;
        let Some(script) = &text.script else {
            return Some((self.place(), "rest of the line ignored".to_owned()));
        };
        let place = format!("{}:{line}", script.name);
        let last = text.lines() as u32;
        let ignored = if line < last {
            format!("lines {line} to {last} ignored")
        } else {
            "rest of the line ignored".to_owned()
        };
        Some((Some(place), ignored))
    }

    /// Whether a `//` comment cuts the last word of the running command.
    pub(super) fn cuts_word(&self) -> bool {
        self.stack.last().is_some_and(|text| text.cuts_word)
    }

    /// Whether the running command of a script has a quote that the end of its line closes.
    pub(super) fn has_open_quote(&self) -> bool {
        self.stack.last().is_some_and(|text| text.open_quote && text.script.is_some())
    }

    /// Whether the running command is part of a line: not of a script, a variable or the start.
    pub(super) fn is_direct(&self) -> bool {
        let is_line =
            |text: &OpenText| text.depth == 0 && text.script.is_none() && !text.is_put_off;
        self.place().is_none() && self.stack.last().is_some_and(is_line)
    }

    /// Whether the running command belongs to a script of the start.
    pub(super) fn is_of_start(&self) -> bool {
        self.stack.iter().any(|text| text.script.as_ref().is_some_and(|script| script.is_of_start))
    }

    /// Counts of the innermost script.
    pub(super) fn counts_mut(&mut self) -> Option<&mut ScriptCounts> {
        let script = self.stack.iter_mut().rev().find_map(|text| text.script.as_mut())?;
        Some(&mut script.counts)
    }

    /// Puts off the rest of all open texts. Returns the texts that are over, or nothing if too much waits already.
    pub(super) fn wait(&mut self, frames: i32) -> Option<Vec<OpenText>> {
        let frames = frames.clamp(0, MAX_WAIT_FRAMES).unsigned_abs().into();
        let (over, mut rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.stack).into_iter().partition(OpenText::is_over);
        if !self.has_room(&rest) {
            self.stack = rest;
            return None;
        }
        // A variable that waits and runs itself again does not get deeper.
        for (depth, text) in rest.iter_mut().enumerate() {
            text.depth = depth as u8;
        }
        self.waiting.push_back(Waiting { frames, stack: rest });
        Some(over)
    }

    /// Puts off one command until the next frame. Returns whether there is room for it.
    pub(super) fn put_off(&mut self, command: &str) -> bool {
        let mut text = OpenText::new(command, self.author(), 0, None);
        text.place = self.place().map(Into::into);
        text.is_put_off = true;
        let stack = vec![text];
        let has_room = self.has_room(&stack) || self.waiting.len() < 16 * MAX_WAITING;
        if has_room {
            self.waiting.push_back(Waiting { frames: 0, stack });
        }
        has_room
    }

    /// Whether a command of that name is put off until the next frame.
    pub(super) fn puts_off(&self, name: &str) -> bool {
        let due = self.waiting.iter().filter(|waiting| waiting.frames == 0);
        due.flat_map(|waiting| &waiting.stack).any(|text| {
            ConsoleCommands::new(&text.text).any(|command| {
                command_name(&CommandArgs::parse(command)).eq_ignore_ascii_case(name)
            })
        })
    }

    fn has_room(&self, stack: &[OpenText]) -> bool {
        let len = |stack: &[OpenText]| stack.iter().map(|text| text.text.len()).sum::<usize>();
        let held: usize = self.waiting.iter().map(|waiting| len(&waiting.stack)).sum();
        self.waiting.len() < MAX_WAITING && held + len(stack) <= MAX_WAITING_LEN
    }

    /// Whether a text waits.
    pub(in crate::server) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Advances the waiting texts by frames. Returns the stacks that are due, in order.
    pub(super) fn take_due(&mut self, frames: u64) -> Vec<Vec<OpenText>> {
        let mut due = Vec::new();
        for mut waiting in std::mem::take(&mut self.waiting) {
            if waiting.frames <= frames {
                due.push(waiting.stack);
            } else {
                waiting.frames -= frames;
                self.waiting.push_back(waiting);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(texts: &mut ConsoleTexts) -> Vec<(String, Option<String>)> {
        let mut all = Vec::new();
        while let Some(step) = texts.next() {
            if let TextStep::Command(command, _) = step {
                all.push((command, texts.place()));
            }
        }
        all
    }

    #[test]
    fn place_is_line_of_innermost_script() {
        let mut texts = ConsoleTexts::default();
        texts.open(OpenText::new(
            "a\n/* x\n y */ b; c\nd",
            Author::Operator,
            0,
            Some(Script::new("s.cfg", true)),
        ));
        let seen = commands(&mut texts);
        let places: Vec<_> = seen.iter().map(|(_, place)| place.as_deref().unwrap()).collect();
        assert_eq!(places, ["s.cfg:1", "s.cfg:2", "s.cfg:3", "s.cfg:4"]);
        texts.open(OpenText::new("x; y", Author::Operator, 0, None));
        assert!(commands(&mut texts).iter().all(|(_, place)| place.is_none()));
    }

    #[test]
    fn rest_of_texts_waits_for_frames() {
        let mut texts = ConsoleTexts::default();
        texts.open(OpenText::new("a; b", Author::Operator, 0, None));
        texts.next();
        texts.open(OpenText::new("c; d", Author::Operator, 1, None));
        texts.next();
        assert_eq!(texts.wait(2).map(|over| over.len()), Some(0));
        assert!(texts.next().is_none());
        assert!(texts.take_due(1).is_empty() && texts.waits());
        let stack = texts.take_due(1).remove(0);
        texts.exchange(stack);
        let rest: Vec<_> = commands(&mut texts).into_iter().map(|(command, _)| command).collect();
        assert_eq!(rest, [" d", " b"]);
        assert!(!texts.waits());
    }

    #[test]
    fn waiting_texts_are_bounded() {
        let mut texts = ConsoleTexts::default();
        let large = "x".repeat(1 << 20);
        for _ in 0..100 {
            texts.open(OpenText::new(&large, Author::Operator, 0, None));
            let _ = texts.wait(9);
            texts.exchange(Vec::new());
        }
        assert_eq!(texts.waiting.len(), MAX_WAITING_LEN >> 20);
        (0..5000)
            .for_each(|_| assert!(texts.put_off("x") || texts.waiting.len() == 16 * MAX_WAITING));
        assert_eq!(texts.waiting.len(), 16 * MAX_WAITING);
    }
}
