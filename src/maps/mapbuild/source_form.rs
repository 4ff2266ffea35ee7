//! Form of a source that is not text: another encoding, or a file of another kind.
//!
//! Source: first bytes of file formats; byte order marks of Unicode.

/// Bytes at the start of a source in which zero bytes tell its encoding.
const SAMPLE: usize = 4096;

/// First bytes of files, and what they are.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (EXE or DLL)"),
    (b"\xfe\xed\xfa", "a program (Mach-O)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"PK\x03\x04", "an archive (pk3 or zip)"),
    (b"\x1f\x8b", "a compressed file (gzip)"),
    (b"BZh", "a compressed file (bzip2)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"\xfd7zXZ\0", "a compressed file (xz)"),
    (b"Rar!", "an archive (rar)"),
    (b"\x28\xb5\x2f\xfd", "a compressed file (zstd)"),
    (b"PACK", "an archive (PACK)"),
    (b"IBSP", "a compiled map (IBSP)"),
    (b"RBSP", "a compiled map (RBSP)"),
    (b"VBSP", "a compiled map (VBSP)"),
    (b"\x1d\0\0\0", "a compiled map (BSP 29)"),
    (b"\x1e\0\0\0", "a compiled map (BSP 30)"),
    (b"\x44\x14\x72\x12", "a game module (QVM)"),
    (b"\x89PNG", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPG)"),
    (b"GIF8", "an image (GIF)"),
    (b"%PDF-", "a document (PDF)"),
    (b"IDP3", "a model (MD3)"),
    (b"RIFF", "a sound (WAV)"),
    (b"OggS", "a sound (Ogg)"),
];

/// Returns what is wrong with the form of a source, and what would be right; nothing for text.
pub(super) fn problem(bytes: &[u8]) -> Option<String> {
    let text = "expected text in UTF-8 or ASCII";
    if let Some(encoding) = encoding(bytes) {
        return Some(format!("source is text in {encoding} ({text}; save it in that encoding)"));
    }
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // A text may begin with the letters of a signature.
        let is_binary = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace() || *byte > 0x7e;
        let sample = &bytes[..bytes.len().min(SAMPLE)];
        if sample.iter().any(is_binary) {
            return Some(format!("source is {kind} ({text})"));
        }
    }
    let at = bytes.iter().position(|byte| *byte == 0)?;
    // Some tools write a zero byte behind the text.
    if bytes[at..].iter().all(|byte| *byte == 0) {
        return None;
    }
    Some(format!("source is a binary file: zero byte at offset {at} ({text})"))
}

/// Returns the encoding of a text that is neither ASCII nor UTF-8, by its mark or its zero bytes.
fn encoding(bytes: &[u8]) -> Option<&'static str> {
    const LITTLE: &str = "UTF-16, little endian";
    const BIG: &str = "UTF-16, big endian";
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => return Some("UTF-32, little endian"),
        [0, 0, 0xfe, 0xff, ..] => return Some("UTF-32, big endian"),
        [0xff, 0xfe, ..] => return Some(LITTLE),
        [0xfe, 0xff, ..] => return Some(BIG),
        _ => {}
    }
    let pairs = bytes[..bytes.len().min(SAMPLE)].chunks_exact(2);
    let (mut count, mut low, mut high) = (0, 0, 0);
    for pair in pairs {
        count += 1;
        // A character of ASCII with a zero byte.
        low += usize::from(pair[0] != 0 && pair[0] < 0x7f && pair[1] == 0);
        high += usize::from(pair[0] == 0 && pair[1] != 0 && pair[1] < 0x7f);
    }
    let most = |part: usize| count > 0 && part * 10 >= count * 9;
    match (most(low), most(high)) {
        (true, _) => Some(LITTLE),
        (_, true) => Some(BIG),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_and_kinds_of_files_are_named() {
        let text = "{\n\"classname\" \"worldspawn\"\n}\n";
        let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [&[0xff, 0xfe][..], &low].concat();
        for (bytes, expected) in [
            (&low[..], "source is text in UTF-16, little endian ("),
            (&high, "source is text in UTF-16, big endian ("),
            (&marked, "source is text in UTF-16, little endian ("),
            (b"\x7fELF\x02\x01\x01\0", "source is a program (ELF) (expected text"),
            (b"IBSP\x2e\0\0\0", "source is a compiled map (IBSP) ("),
            (b"{\n\0}", "source is a binary file: zero byte at offset 2 ("),
        ] {
            let what = problem(bytes).unwrap_or_default();
            assert!(what.starts_with(expected), "{what}");
        }
        for text in [text, "", "{ }\0", "MZ { }", "PACK", "// Gr\u{fc}n\n{ }"] {
            assert_eq!(problem(text.as_bytes()), None, "{text:?}");
        }
    }
}
