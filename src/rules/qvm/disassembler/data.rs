//! Data sections of a listing.

use std::fmt::Write as _;

use super::names::Names;
use crate::qvm::{assembler::Section, image::Image};

/// Zero bytes in a row from which `.space` is shorter.
const MIN_SPACE: usize = 16;

/// Bytes in one `.byte` or `.word` line.
const LINE_LEN: usize = 16;

/// Whether a byte of a string is shown as a character or a short escape.
pub(super) fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')
}

/// Writes all sections but the code.
pub(super) fn write(image: &Image, names: &Names<'_>, text: &mut String) {
    for (section, heading, bytes) in [
        (Section::Data, ".data", image.data.as_slice()),
        (Section::Literals, ".lit", image.literals.as_slice()),
    ] {
        if bytes.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{heading}");
        split(names, section, bytes.len(), text, |text, start, end| {
            let part = &bytes[start..end];
            if section == Section::Data { words(part, text) } else { strings(part, text) }
        });
    }
    if image.zero_length > 0 {
        text.push_str("\n.bss\n");
        split(names, Section::Zero, image.zero_length as usize, text, |text, start, end| {
            let _ = writeln!(text, "    .space {}", end - start);
        });
    }
    if let Some(table) = &image.jump_table {
        text.push_str("\n.jumps\n");
        for targets in table.chunks(8) {
            let _ = writeln!(text, "    .word {}", list(targets.iter()));
        }
    }
}

/// Writes the labels of a section and the parts between them.
fn split(
    names: &Names<'_>,
    section: Section,
    len: usize,
    text: &mut String,
    mut write: impl FnMut(&mut String, usize, usize),
) {
    let mut start = 0;
    for (offset, name) in names.labels(section) {
        if offset > start {
            write(text, start, offset);
        }
        start = offset;
        let _ = writeln!(text, "{name}:");
    }
    if start < len {
        write(text, start, len);
    }
}

fn list(items: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let items: Vec<_> = items.map(|item| item.to_string()).collect();
    items.join(", ")
}

/// Number of zero bytes at the start.
fn zeros(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len())
}

fn words(bytes: &[u8], text: &mut String) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = zeros(rest) & !3;
        if space >= MIN_SPACE {
            let _ = writeln!(text, "    .space {space}");
            rest = &rest[space..];
            continue;
        }
        let (line, behind) = rest.split_at(rest.len().min(LINE_LEN));
        let (words, tail) = line.as_chunks::<4>();
        if !words.is_empty() {
            let words = words.iter().map(|word| u32::from_le_bytes(*word));
            let shown = words.map(|word| match word as i32 {
                small @ -0xffff..=0xffff => small.to_string(),
                _ => format!("{word:#x}"),
            });
            let _ = writeln!(text, "    .word {}", list(shown));
        }
        if !tail.is_empty() {
            let _ = writeln!(text, "    .byte {}", list(tail.iter()));
        }
        rest = behind;
    }
}

fn strings(bytes: &[u8], text: &mut String) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = zeros(rest);
        if space >= MIN_SPACE {
            let _ = writeln!(text, "    .space {space}");
            rest = &rest[space..];
            continue;
        }
        let len = rest.iter().position(|&byte| !is_text(byte)).unwrap_or(rest.len());
        if len > 0 && rest.get(len) == Some(&0) {
            string(&rest[..len], text);
            rest = &rest[len + 1..];
            continue;
        }
        // Bytes up to the next string. At least one, so that the loop ends.
        let line = &rest[..rest.len().min(LINE_LEN)];
        let next = line.windows(2).position(|pair| pair[0] == 0 && is_text(pair[1]));
        let (line, behind) = rest.split_at(next.map_or(line.len(), |zero| zero + 1));
        let _ = writeln!(text, "    .byte {}", list(line.iter()));
        rest = behind;
    }
}

fn string(bytes: &[u8], text: &mut String) {
    text.push_str("    .string \"");
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            _ => text.push(char::from(byte)),
        }
    }
    text.push_str("\"\n");
}
