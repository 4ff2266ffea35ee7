//! Reader of shader scripts.
//!
//! Invariant: a problem ends a value or a shader alone, so that all problems of a script are reported at once.

use super::{Shader, keywords};
use crate::mapbuild::{
    diagnostic::Diagnostic,
    source_form,
    tokens::{Token, Tokens},
};

/// Longest accepted script, in bytes.
const MAX_LEN: usize = 4 * 1024 * 1024;
/// Maximum number of shaders in a script.
const MAX_SHADERS: usize = 8192;
/// Maximum number of problems of a script that are told, and of advice. The others are counted.
const MAX_PROBLEMS: usize = 1000;
/// Maximum number of stages that clients draw.
const MAX_STAGES: usize = 8;

/// Maximum number of words on a line that are searched for the brace behind a shader name.
const MAX_BETWEEN: usize = 8;
/// Problem of a comment that reaches to the end.
const OPEN_COMMENT: &str = "comment not closed (expected */ at its end)";

/// Reaction to a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterProblem {
    /// Reading continues at the next value or shader.
    Continue,
    /// Reading stops.
    Stop,
}

/// Content of a script.
pub(super) struct Script {
    /// Shaders; those with problems too, if reading continued, so that their names are known.
    pub shaders: Vec<Shader>,
    /// First problems in the order of the script.
    pub problems: Vec<Diagnostic>,
    /// Number of the other problems.
    pub more: usize,
    /// First advice.
    pub advice: Vec<Diagnostic>,
}

/// Reads a shader script. The file name is for messages.
pub(super) fn read(file: &str, text: &[u8], after: AfterProblem) -> Script {
    let mut script =
        Script { shaders: Vec::new(), problems: Vec::new(), more: 0, advice: Vec::new() };
    let unusable = if text.len() > MAX_LEN {
        Some(format!("script too long: {} bytes (max {MAX_LEN})", text.len()))
    } else {
        source_form::problem(text)
    };
    if let Some(what) = unusable {
        script.problems.push(Diagnostic::new(file, 0, what));
        return script;
    }
    let text = String::from_utf8_lossy(text);
    let tokens = Tokens::new(&text);
    let mut reader = Reader { file, text: &text, tokens, script: &mut script };
    while reader.script.shaders.len() < MAX_SHADERS {
        let before = reader.script.problem_count();
        let Some(shader) = reader.shader() else {
            if let Some(line) = reader.tokens.at_next().open_comment() {
                reader.problem(line, OPEN_COMMENT);
            }
            break;
        };
        let is_right = reader.script.problem_count() == before;
        if after == AfterProblem::Stop && !is_right {
            break;
        }
        reader.script.shaders.extend(shader);
    }
    if let Some(token) = reader.tokens.peek()
        && reader.script.shaders.len() == MAX_SHADERS
    {
        reader.problem(token.line, format!("too many shaders (max {MAX_SHADERS})"));
    }
    script
}

impl Script {
    fn problem_count(&self) -> usize {
        self.problems.len() + self.more
    }
}

struct Reader<'a, 's> {
    file: &'s str,
    text: &'a str,
    tokens: Tokens<'a>,
    script: &'s mut Script,
}

impl<'a> Reader<'a, '_> {
    fn problem(&mut self, line: u32, what: impl Into<String>) {
        if self.script.problems.len() < MAX_PROBLEMS {
            self.script.problems.push(Diagnostic::new(self.file, line, what));
        } else {
            self.script.more += 1;
        }
    }

    /// Reads the next shader, or what is in its place. Returns nothing at the end.
    fn shader(&mut self) -> Option<Option<Shader>> {
        let name = self.tokens.next()?;
        if name.is("}") {
            self.problem(name.line, "unexpected \"}\" (expected the name of a shader)");
            return Some(None);
        }
        if name.is("{") || name.text.is_empty() {
            let what = "shader without a name (expected textures/folder/name { ... })";
            self.problem(name.line, what);
            if name.is("{") || self.tokens.peek().is_some_and(|token| token.is("{")) {
                self.skip_body(usize::from(name.is("{")));
            }
            return Some(None);
        }
        let is_joined = !name.quoted && name.text.ends_with('{');
        if is_joined {
            let what = format!(
                "no space between shader name and brace: {} (expected name {{ ... }})",
                name.shown()
            );
            self.problem(name.line, what);
        }
        let quotes = 2 * usize::from(name.quoted);
        let start = self.tokens.offset().saturating_sub(name.text.len() + quotes);
        let lower = name.text.to_ascii_lowercase();
        let mut shader =
            Shader { place: Some((self.file.to_owned(), name.line)), ..Shader::plain(&lower) };
        if is_joined || self.open(&name) {
            self.body(&name, &mut shader);
        }
        let text = self.text.get(start..self.tokens.offset()).unwrap_or_default();
        text.clone_into(&mut shader.text);
        Some(Some(shader))
    }

    /// Consumes the opening brace of a shader. Returns false if it is missing, behind what seems to be the shader.
    fn open(&mut self, name: &Token<'a>) -> bool {
        let open = self.tokens.peek();
        if open.is_some_and(|token| token.is("{")) {
            let _ = self.tokens.next();
            return true;
        }
        let line = open.map_or(name.line, |token| token.line);
        let what =
            format!("no '{{' after the shader name {} (expected name {{ ... }})", name.shown());
        self.problem(line, what);
        let Some(word) = open else { return false };
        let mut between = self.tokens.rest_of_line().take(MAX_BETWEEN);
        if word.line == name.line && between.any(|token| token.is("{")) {
            // Words between the name and the brace.
            while self.tokens.next().is_some_and(|token| !token.is("{")) {}
            return true;
        }
        // Another shader follows, or the body.
        if !is_shader_name(&word) {
            self.skip_body(1);
        }
        false
    }

    /// Continues behind the brace that closes a shader, or at the next shader.
    fn skip_body(&mut self, mut depth: usize) {
        while let Some(token) = self.tokens.peek() {
            if self.begins_shader(&token) {
                return;
            }
            let _ = self.tokens.next();
            match token {
                _ if token.is("{") => depth += 1,
                _ if token.is("}") => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Whether the next token is the name of a shader with its brace. Keywords have no slash.
    fn begins_shader(&self, token: &Token<'_>) -> bool {
        is_shader_name(token) && self.tokens.ahead().nth(1).is_some_and(|open| open.is("{"))
    }

    /// Reads a shader behind its opening brace.
    fn body(&mut self, name: &Token<'a>, shader: &mut Shader) {
        let (mut in_stage, mut stages) = (false, 0);
        loop {
            let next = self.tokens.peek();
            let Some(keyword) = next.filter(|token| !self.begins_shader(token)) else {
                self.not_closed(name, next);
                return;
            };
            let _ = self.tokens.next();
            if keyword.is("}") {
                if !in_stage {
                    self.check_stages(name, stages);
                    return;
                }
                in_stage = false;
            } else if keyword.is("{") {
                if in_stage {
                    let what = "'{' inside a stage (expected '}' of the stage first)";
                    self.problem(keyword.line, what);
                }
                in_stage = true;
                stages += 1;
            } else {
                let words = self.words();
                if in_stage {
                    keywords::stage_keyword(&keyword, &words, shader);
                } else if let Err(what) = keywords::shader_keyword(&keyword, &words, shader) {
                    self.problem(keyword.line, what);
                } else if let Some(what) = keywords::misspelled(&keyword, &words) {
                    self.advise(keyword.line, what);
                }
            }
        }
    }

    /// Warns of a shader with more stages than clients draw.
    fn check_stages(&mut self, name: &Token<'_>, stages: usize) {
        if stages > MAX_STAGES {
            let shown = name.shown();
            let what = format!(
                "shader {shown} has {stages} stages (expected at most {MAX_STAGES}, as clients draw)"
            );
            self.advise(name.line, what);
        }
    }

    fn advise(&mut self, line: u32, what: String) {
        if self.script.advice.len() < MAX_PROBLEMS {
            self.script.advice.push(Diagnostic::new(self.file, line, what));
        }
    }

    /// Reports a shader whose brace is missing before a token, or before the end.
    fn not_closed(&mut self, name: &Token<'_>, next: Option<Token<'_>>) {
        if let Some(line) = self.tokens.at_next().open_comment() {
            self.problem(line, OPEN_COMMENT);
            // It is told once.
            self.tokens = Tokens::new("");
            return;
        }
        let place = next.map_or("the end".to_owned(), |next| format!("line {}", next.line));
        let what = format!("shader {} is not closed (expected '}}' before {place})", name.shown());
        self.problem(name.line, what);
    }

    /// Consumes the words behind a keyword, up to a brace: stages may be written on one line.
    fn words(&mut self) -> Vec<Token<'a>> {
        let is_word = |word: &Token<'_>| !word.is("}") && !word.is("{");
        let words: Vec<_> = self.tokens.rest_of_line().take_while(is_word).collect();
        for _ in &words {
            let _ = self.tokens.next();
        }
        words
    }
}

fn is_shader_name(token: &Token<'_>) -> bool {
    token.text.contains('/')
}
