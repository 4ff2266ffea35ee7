//! Prose of a file: comments, Markdown paragraphs and operator texts, as words with their lines.
//!
//! Code spans, quotations, URLs and fenced code are replaced by a placeholder word.

/// Punctuation in front of a word.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Gap {
    Space,
    Comma,
    Colon,
    Stop,
    Paragraph,
}

/// One word in lower case; code is the word "`".
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) gap: Gap,
}

/// Role of a block of prose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Header,
    Item,
    Comment,
    Log,
    Error,
    Text,
    Paragraph,
    ListItem,
    TableRow,
}

/// Consecutive prose of one role.
pub(super) struct Block {
    pub(super) role: Role,
    pub(super) line: usize,
    pub(super) raw: String,
    pub(super) words: Vec<Word>,
}

impl Block {
    fn new(role: Role, line: usize, raw: String) -> Self {
        let words = words(&raw, line, matches!(role, Role::Log | Role::Error | Role::Text));
        Self { role, line, raw, words }
    }

    /// Lengths of the sentences, in words, with their lines.
    pub(super) fn sentences(&self) -> Vec<(usize, usize)> {
        let mut sentences: Vec<(usize, usize)> = Vec::new();
        for word in &self.words {
            match sentences.last_mut() {
                Some((length, _)) if word.gap < Gap::Stop => *length += 1,
                _ => sentences.push((1, word.line)),
            }
        }
        sentences
    }
}

/// Replaces quoted parts by a placeholder and keeps line ends.
fn without_quoted(text: &str, quote: char) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(quote) {
        clean.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        // A quotation ends in its paragraph, or the mark stands alone.
        match behind.find(quote).filter(|end| !behind[..*end].contains("\n\n")) {
            Some(end) => {
                clean.push('`');
                clean.extend(behind[..end].chars().filter(|c| *c == '\n'));
                rest = &behind[end + 1..];
            }
            None => rest = behind,
        }
    }
    clean + rest
}

/// Replaces `{placeholders}` of format strings.
fn without_placeholders(text: &str) -> String {
    let mut clean = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => {
                depth += 1;
                clean.push('`');
            }
            '}' => depth -= 1,
            c if depth <= 0 => clean.push(c),
            _ => {}
        }
    }
    clean
}

fn words(raw: &str, first_line: usize, is_format: bool) -> Vec<Word> {
    let mut text = without_quoted(raw, '`');
    if is_format {
        text = without_placeholders(&text);
    } else {
        text = without_quoted(&text, '"');
    }
    let mut words = Vec::new();
    let mut gap = Gap::Paragraph;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            gap = Gap::Paragraph;
        }
        for word in line.split_whitespace() {
            if ["|", "#", "##", "###", "-", "*", "–", "·"].contains(&word) {
                gap = Gap::Paragraph;
                continue;
            }
            let is_url = word.contains("://") || word.starts_with("](");
            let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`');
            if core.is_empty() {
                continue;
            }
            if word.starts_with('(') && gap == Gap::Space {
                gap = Gap::Comma;
            }
            let text =
                if is_url || core.contains('`') { "`".to_owned() } else { core.to_lowercase() };
            let end = word.trim_end_matches(['"', ')', '*', '_', '`']).chars().last();
            let closed = word.ends_with(')');
            words.push(Word { text, line: first_line + number, gap });
            gap = match end {
                _ if ["e.g.", "i.e.", "etc.", "vs."].contains(&word) => Gap::Space,
                Some('.' | '!' | '?') => Gap::Stop,
                Some(':' | ';') => Gap::Colon,
                Some(',') => Gap::Comma,
                _ if closed => Gap::Comma,
                _ => Gap::Space,
            };
        }
    }
    words
}

/// A Rust file: its prose, and its code with comments and literals left out.
pub(super) struct Source {
    pub(super) blocks: Vec<Block>,
    pub(super) code: String,
}

/// Splits a Rust file; with `all_texts` every literal with a space counts as an operator text.
pub(super) fn rust(source: &str, all_texts: bool) -> Source {
    let mut blocks: Vec<Block> = Vec::new();
    let mut code = String::new();
    let mut open: Option<(Role, usize, usize, String)> = None;
    let mut rest = source;
    let mut line = 1;
    let in_tests = source.find("#[cfg(test)]\nmod ").unwrap_or(source.len());
    let close = |open: &mut Option<(Role, usize, usize, String)>, blocks: &mut Vec<Block>| {
        if let Some((role, first, _, text)) = open.take() {
            blocks.push(Block::new(role, first, text));
        }
    };
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let comment = &rest[..end];
            let (role, text) = match comment.as_bytes().get(2) {
                Some(b'!') => (Role::Header, &comment[3..]),
                Some(b'/') => (Role::Item, &comment[3..]),
                _ => (Role::Comment, &comment[2..]),
            };
            match &mut open {
                Some((same, _, last, joined)) if *same == role && *last + 1 == line => {
                    *last = line;
                    joined.push('\n');
                    joined.push_str(text);
                }
                _ => {
                    close(&mut open, &mut blocks);
                    open = Some((role, line, line, text.to_owned()));
                }
            }
            rest = &rest[end..];
            continue;
        }
        if let Some(literal) = literal(rest, code.chars().last()) {
            let text = literal.trim_start_matches(['b', 'r', '#']).trim_matches(['#', '"']);
            let offset = source.len() - rest.len();
            if literal.contains('"') && offset < in_tests {
                let role =
                    context(&code).or((all_texts && text.contains(' ')).then_some(Role::Text));
                if let Some(role) = role.filter(|_| text.contains(' ')) {
                    close(&mut open, &mut blocks);
                    let text =
                        text.replace("\\n", " \n").replace("\\\"", "\"").replace("\\\n", "\n");
                    blocks.push(Block::new(role, line, text));
                }
            }
            line += literal.matches('\n').count();
            code.push_str("\"\"");
            rest = &rest[literal.len()..];
            continue;
        }
        line += usize::from(c == '\n');
        code.push(c);
        rest = &rest[c.len_utf8()..];
    }
    close(&mut open, &mut blocks);
    Source { blocks: blocks.into_iter().map(without_fences).collect(), code }
}

/// Drops fenced code from documentation.
fn without_fences(block: Block) -> Block {
    if !block.raw.contains("```") {
        return block;
    }
    let mut fenced = false;
    let kept: Vec<_> = block
        .raw
        .lines()
        .map(|line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            if fenced || fence { "" } else { line }
        })
        .collect();
    Block::new(block.role, block.line, kept.join("\n"))
}

/// The string or character literal that a text begins with.
fn literal(text: &str, before: Option<char>) -> Option<&str> {
    let bytes = text.as_bytes();
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return if bytes[0] == b'"' { quoted(text, 0) } else { None };
    }
    let start = match bytes {
        [b'b', b'"' | b'\'', ..] => 1,
        _ => 0,
    };
    let raw = text.trim_start_matches('b');
    if let Some(marked) = raw.strip_prefix('r')
        && let hashes = marked.len() - marked.trim_start_matches('#').len()
        && marked[hashes..].starts_with('"')
    {
        let end = format!("\"{}", "#".repeat(hashes));
        let head = text.len() - marked.len() + hashes + 1;
        return text[head..].find(&end).map(|at| &text[..head + at + end.len()]);
    }
    match bytes.get(start)? {
        b'"' => quoted(text, start),
        b'\'' => {
            let inside = &text[start + 1..];
            let length = match inside.as_bytes().first()? {
                b'\\' => 2 + inside[2..].find('\'')?,
                _ => inside.chars().next()?.len_utf8(),
            };
            inside[length..].starts_with('\'').then(|| &text[..start + length + 2])
        }
        _ => None,
    }
}

fn quoted(text: &str, start: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    text.get(..=at)
}

/// The role of a literal by the code in front of it: in a log macro or in an error's text.
fn context(code: &str) -> Option<Role> {
    let mut tail = code.len().saturating_sub(200);
    while !code.is_char_boundary(tail) {
        tail += 1;
    }
    let tail = &code[tail..];
    let (mut depth, mut start) = (0, None);
    for (at, c) in tail.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth == 0 => {
                start = Some(at);
                break;
            }
            '(' => depth -= 1,
            '{' | '}' | ';' => return None,
            _ => {}
        }
    }
    let (head, inside) = tail.split_at(start?);
    let target = inside.trim_start_matches('(').trim();
    let first = target.is_empty()
        || (target.starts_with("target:")
            && target.ends_with(',')
            && target.matches(',').count() == 1);
    let logs = ["error!", "warn!", "info!", "debug!"].iter().any(|name| head.ends_with(name));
    match head {
        _ if logs && first => Some(Role::Log),
        head if head.ends_with("#[error") && first => Some(Role::Error),
        _ => None,
    }
}

/// Paragraphs, list items and table rows of Markdown.
pub(super) fn markdown(source: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Role, usize, String)> = None;
    let mut fenced = false;
    let mut after_blank = true;
    for (number, raw) in source.lines().enumerate().map(|(n, line)| (n + 1, line)) {
        let line = raw.trim_start();
        let fence = line.starts_with("```");
        fenced ^= fence;
        let indented_code = raw.starts_with("    ") && after_blank && open.is_none();
        let skip = fenced || fence || indented_code || line.is_empty();
        let starts_item = line.starts_with("- ")
            || line.starts_with("* ")
            || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        let role = match line {
            _ if line.starts_with('|') => Role::TableRow,
            _ if starts_item => Role::ListItem,
            _ => Role::Paragraph,
        };
        let joins = !skip && role == Role::Paragraph && !line.starts_with('#');
        match &mut open {
            Some((Role::Paragraph | Role::ListItem, _, text)) if joins => {
                text.push('\n');
                text.push_str(line);
            }
            _ => {
                blocks.extend(open.take().map(|(role, at, text)| Block::new(role, at, text)));
                if !skip {
                    open = Some((role, number, line.replace('|', " | ")));
                }
                if line.starts_with('#') {
                    blocks.extend(open.take().map(|(role, at, text)| Block::new(role, at, text)));
                }
            }
        }
        after_blank = skip;
    }
    blocks.extend(open.map(|(role, at, text)| Block::new(role, at, text)));
    blocks
}

/// Comments of shell, TOML, YAML and unit files.
pub(super) fn hash_comments(source: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    for (number, line) in source.lines().enumerate().map(|(n, line)| (n + 1, line)) {
        let own = line.trim_start().strip_prefix('#').filter(|text| !text.starts_with('!'));
        let comment = own.or_else(|| line.split_once(" # ").map(|(_, text)| text));
        let Some(comment) = comment else { continue };
        match &mut open {
            Some((_, last, text)) if own.is_some() && *last + 1 == number => {
                *last = number;
                text.push('\n');
                text.push_str(comment);
            }
            _ => {
                blocks.extend(open.take().map(|(at, _, text)| Block::new(Role::Comment, at, text)));
                open = Some((number, number, comment.to_owned()));
            }
        }
    }
    blocks.extend(open.map(|(at, _, text)| Block::new(Role::Comment, at, text)));
    blocks
}
