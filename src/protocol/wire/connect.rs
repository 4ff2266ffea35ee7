//! The `connect` packet: compressed userinfo, the only compressed connectionless packet. Protocols 43 and 45 send the
//! text as it is.
//!
//! ```text
//! FF FF FF FF "connect "   12 plain bytes, the space included
//! u16, big endian          bytes of decompressed text
//! bits …                   adaptive Huffman code; at the end maybe a junk byte
//! ```
//!
//! A known byte is its current code; a new one is the escape code and the eight bits of the byte,
//! highest first. Bits fill bytes from the lowest up. The text is the rest of the command line,
//! usually the userinfo between quotes.
//!
//! Byte 12 tells both forms apart: plain text begins with a quote or a backslash, and the high byte of a length is at
//! most 4. Before 1.31 the userinfo has no quotes and is the rest of the text.
//!
//! Reading has three steps of increasing cost: [`Connect::text_len`] reads two bytes,
//! [`Connect::text`] decompresses, [`ConnectText::userinfo`] validates and sorts the pairs.
//! [`ConnectText::claim`] finds the numbers that decide whether the third step is worth its cost.
//!
//! Invariants: a packet over [`MAX_CONNECT_PACKET`] is not decompressed, a packet yields at most
//! [`MAX_CONNECT_TEXT`] bytes, and a stream that ends early is an error.
//! Source: Quake III protocol 68, adaptive stream; protocol 43, handshake; golden packets `tests/vectors/connect_vectors.csv`.

use thiserror::Error;

use crate::model::{Challenge, Qport, limits::MAX_STRING_LEN};

use super::{
    huffman::tree::{Code, Symbol, Tree},
    info::{InfoError, InfoString},
    text::WireText,
    userinfo::check_userinfo,
};

/// Prefix of a `connect` packet. The compressed text follows the space.
pub const CONNECT_PREFIX: &[u8] = b"\xff\xff\xff\xffconnect ";
/// Longest packet that is parsed, in bytes.
pub const MAX_CONNECT_PACKET: usize = 2048;
/// Longest text that is decompressed, in bytes.
pub const MAX_CONNECT_TEXT: usize = 1024;
/// Longest userinfo in bytes: a command line of [`MAX_STRING_LEN`] with quotes and `connect `.
pub const MAX_CONNECT_USERINFO: usize = MAX_STRING_LEN - b"connect \"\"".len();

const _: () = assert!(MAX_CONNECT_USERINFO < MAX_CONNECT_TEXT);

/// Reasons to reject a `connect` packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// Longer than any client's packet.
    #[error("connect packet too long: {0} bytes")]
    PacketTooLong(usize),
    /// Stream that ends before the announced text.
    #[error("stream ends after {0} bytes of text")]
    Truncated(usize),
    /// Fewer bits than bytes of text.
    #[error("connect stream too short: {bits} bits for {announced} bytes of text")]
    TooFewBits {
        /// Bytes announced.
        announced: usize,
        /// Bits of the stream.
        bits: usize,
    },
    /// Userinfo too long for a command line.
    #[error("userinfo too long for a connect packet: {0} bytes or more")]
    UserinfoTooLong(usize),
    /// Invalid userinfo.
    #[error("userinfo: {0}")]
    Userinfo(#[from] InfoError),
}

/// A `connect` packet as received. It is decompressed on request only, so that a rate limiter can
/// come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Bytes after [`CONNECT_PREFIX`].
    compressed: &'a [u8],
}

/// Form of the text of a `connect` packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectForm {
    /// As it is.
    Plain,
    /// In the adaptive Huffman code.
    Compressed,
}

impl<'a> Connect<'a> {
    /// Wraps the bytes after [`CONNECT_PREFIX`].
    #[must_use]
    pub const fn new(compressed: &'a [u8]) -> Self {
        Self { compressed }
    }

    /// Returns the form of the text.
    #[must_use]
    pub fn form(self) -> ConnectForm {
        match self.compressed.first() {
            Some(b'"' | b'\\') => ConnectForm::Plain,
            _ => ConnectForm::Compressed,
        }
    }

    /// Returns the length of text to decompress in bytes, without decompressing; 0 for plain text.
    ///
    /// # Errors
    /// Every problem known so far: see [`decompress`](Self::decompress).
    pub fn text_len(self) -> Result<usize, ConnectError> {
        match self.form() {
            ConnectForm::Plain => Ok(0),
            ConnectForm::Compressed => self.split().map(|(announced, _)| announced),
        }
    }

    /// Decompresses the text.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress).
    pub fn text(self) -> Result<ConnectText, ConnectError> {
        if self.form() == ConnectForm::Plain {
            let text = self.compressed;
            return match text.len() {
                0..=MAX_CONNECT_TEXT => Ok(ConnectText(text.to_vec())),
                len => Err(ConnectError::UserinfoTooLong(len)),
            };
        }
        let mut text = Vec::with_capacity(self.text_len()?);
        self.decompress(&mut text)?;
        Ok(ConnectText(text))
    }

    /// Decompresses the text and parses the userinfo.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn userinfo(self) -> Result<InfoString, ConnectError> {
        self.text()?.userinfo()
    }

    /// Returns the announced length, which is within its limit, and the stream.
    fn split(self) -> Result<(usize, &'a [u8]), ConnectError> {
        let packet_len = CONNECT_PREFIX.len() + self.compressed.len();
        if packet_len > MAX_CONNECT_PACKET {
            return Err(ConnectError::PacketTooLong(packet_len));
        }
        let Some((announced, stream)) = self.compressed.split_first_chunk() else {
            return Err(ConnectError::Truncated(0));
        };
        let announced = usize::from(u16::from_be_bytes(*announced));
        // A byte of text takes at least one bit.
        let bits = stream.len() * 8;
        if bits < announced {
            return Err(ConnectError::TooFewBits { announced, bits });
        }
        if announced > MAX_CONNECT_TEXT {
            return Err(ConnectError::UserinfoTooLong(announced));
        }
        Ok((announced, stream))
    }

    /// Appends the text to `out`, at most [`MAX_CONNECT_TEXT`] bytes.
    ///
    /// # Errors
    /// Before decompression: [`ConnectError::PacketTooLong`], [`ConnectError::TooFewBits`], and
    /// [`ConnectError::UserinfoTooLong`] for too much text. Afterwards [`ConnectError::Truncated`].
    pub fn decompress(self, out: &mut Vec<u8>) -> Result<(), ConnectError> {
        self.decompress_by(&mut Tree::new(), out)
    }

    fn decompress_by(self, tree: &mut Tree, out: &mut Vec<u8>) -> Result<(), ConnectError> {
        let (len, stream) = self.split()?;
        let mut bits = Bits { bytes: stream, at: 0 };
        for number in 0..len {
            let symbol = match tree.decode(|| bits.next()) {
                Some(Symbol::Known(symbol)) => Some(symbol),
                Some(Symbol::New) => bits.byte(),
                None => None,
            };
            let symbol = symbol.ok_or(ConnectError::Truncated(number))?;
            tree.add(symbol);
            out.push(symbol);
        }
        Ok(())
    }

    /// Appends the whole packet to `out`.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(CONNECT_PREFIX);
        out.extend_from_slice(self.compressed);
    }
}

/// Decompressed text of a `connect` packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectText(Vec<u8>);

/// Numbers by which a server validates a `connect` before it reads the rest. They are unchecked;
/// `None` where a key is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Challenge that the client echoes.
    pub challenge: Option<Challenge>,
    /// Protocol number.
    pub protocol: Option<i32>,
    /// Client-chosen id that survives NAT rebinding: the low 16 bits of the number sent.
    pub qport: Option<Qport>,
}

impl ConnectText {
    fn userinfo_text(&self) -> WireText<'_> {
        let line = WireText::new(&self.0).first_line();
        if self.0.starts_with(b"\\") {
            return line;
        }
        line.words().next().unwrap_or_default()
    }

    /// Finds the challenge, the protocol and the qport in one pass over the text. They equal those
    /// of [`userinfo`](Self::userinfo) whenever that is valid.
    #[must_use]
    pub fn claim(&self) -> Claim {
        const KEYS: [&str; 3] = ["challenge", "protocol", "qport"];
        let userinfo = self.userinfo_text();
        let mut parts = userinfo.strip_prefix("\\").unwrap_or(userinfo).split(b'\\');
        // Value of each key's first pair.
        let mut values: [Option<WireText<'_>>; KEYS.len()] = [None; KEYS.len()];
        while let Some(key) = parts.next() {
            let value = parts.next().unwrap_or_default();
            if let Some(at) = KEYS.iter().position(|name| key.eq_ignore_case(name)) {
                values[at].get_or_insert(value);
            }
        }
        let [challenge, protocol, qport] =
            values.map(|value| Some(value.filter(|text| !text.is_empty())?.atoi()));
        Claim {
            challenge: challenge.map(Challenge),
            protocol,
            qport: qport.map(|qport| Qport(qport as u16)),
        }
    }

    /// Extracts the userinfo from the text.
    ///
    /// # Errors
    /// [`ConnectError::UserinfoTooLong`] and [`ConnectError::Userinfo`].
    pub fn userinfo(&self) -> Result<InfoString, ConnectError> {
        let userinfo = self.userinfo_text();
        if userinfo.len() > MAX_CONNECT_USERINFO {
            return Err(ConnectError::UserinfoTooLong(userinfo.len()));
        }
        Ok(check_userinfo(&userinfo.to_string())?)
    }
}

/// Appends a complete `connect` packet in plain text to `out`.
///
/// # Errors
/// As [`write_connect`].
pub fn write_plain_connect(userinfo: &InfoString, out: &mut Vec<u8>) -> Result<(), ConnectError> {
    let userinfo = userinfo.as_str();
    if userinfo.len() > MAX_CONNECT_USERINFO {
        return Err(ConnectError::UserinfoTooLong(userinfo.len()));
    }
    out.extend_from_slice(CONNECT_PREFIX);
    out.push(b'"');
    WireText::from(userinfo).push_to(out);
    out.push(b'"');
    Ok(())
}

/// Appends a complete `connect` packet with this userinfo to `out`.
///
/// # Errors
/// [`ConnectError::UserinfoTooLong`]; then nothing is appended.
pub fn write_connect(userinfo: &InfoString, out: &mut Vec<u8>) -> Result<(), ConnectError> {
    let userinfo = userinfo.as_str();
    if userinfo.len() > MAX_CONNECT_USERINFO {
        return Err(ConnectError::UserinfoTooLong(userinfo.len()));
    }
    let mut text = Vec::with_capacity(userinfo.len() + 2);
    text.push(b'"');
    WireText::from(userinfo).push_to(&mut text);
    text.push(b'"');
    out.extend_from_slice(CONNECT_PREFIX);
    compress(&text, out);
    Ok(())
}

/// Appends the length of `text` and its compressed form to `out`.
///
/// # Panics
/// When `text` is longer than [`MAX_CONNECT_TEXT`].
pub fn compress(text: &[u8], out: &mut Vec<u8>) {
    assert!(text.len() <= MAX_CONNECT_TEXT, "{} bytes in a connect packet", text.len());
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    let mut bits = BitSink { out, free: 0 };
    let mut tree = Tree::new();
    for &symbol in text {
        if let Some(code) = tree.code(symbol) {
            bits.push(code);
        } else {
            bits.push(tree.escape());
            bits.push(Code { bits: u32::from(symbol.reverse_bits()), len: 8 });
        }
        tree.add(symbol);
    }
    // Every implementation ends the stream with one byte of less than eight bits, maybe none.
    if bits.free == 0 {
        bits.out.push(0);
    }
}

/// Bits of bytes, lowest first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn next(&mut self) -> Option<bool> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Some(bit == 1)
    }

    /// Reads eight bits, the highest first.
    fn byte(&mut self) -> Option<u8> {
        (0..8).try_fold(0, |byte, _| Some(byte << 1 | u8::from(self.next()?)))
    }
}

/// Writer of bits to bytes, lowest first.
struct BitSink<'a> {
    out: &'a mut Vec<u8>,
    /// Unused bits of the last byte.
    free: u8,
}

impl BitSink<'_> {
    fn push(&mut self, code: Code) {
        for number in 0..code.len {
            if self.free == 0 {
                self.out.push(0);
                self.free = 8;
            }
            let bit = (code.bits >> number & 1) as u8;
            if let Some(last) = self.out.last_mut() {
                *last |= bit << (8 - self.free);
            }
            self.free -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decompressed(compressed: &[u8]) -> Result<Vec<u8>, ConnectError> {
        let mut text = Vec::new();
        Connect::new(compressed).decompress(&mut text).map(|()| text)
    }

    fn userinfo_of(text: &[u8]) -> Result<String, ConnectError> {
        let mut compressed = Vec::new();
        compress(text, &mut compressed);
        Connect::new(&compressed).userinfo().map(|info| info.as_str().to_owned())
    }

    #[test]
    fn userinfo_is_first_word_of_connect_text() {
        assert_eq!(userinfo_of(b"\"\\name\\a b\"").as_deref(), Ok("\\name\\a b"));
        assert_eq!(userinfo_of(b"\"\\name\\a b\" more\nlines").as_deref(), Ok("\\name\\a b"));
        assert_eq!(userinfo_of(b"\"\\name\\100%\xff\"").as_deref(), Ok("\\name\\100.."));
        assert_eq!(userinfo_of(b"\"\\name\\a\0\\b\\1\"").as_deref(), Ok("\\name\\a"));
        assert_eq!(userinfo_of(b"").as_deref(), Ok(""));
        assert!(matches!(userinfo_of(b"\"\\name\\a;b\""), Err(ConnectError::Userinfo(_))));
    }

    #[test]
    fn plain_connect_is_told_by_its_first_byte() {
        let info = InfoString::parse("\\challenge\\5\\protocol\\43\\name\\a b");
        let mut packet = Vec::new();
        write_plain_connect(&info, &mut packet).expect("short enough");
        let plain = Connect::new(&packet[CONNECT_PREFIX.len()..]);
        assert_eq!((plain.form(), plain.text_len()), (ConnectForm::Plain, Ok(0)));
        assert_eq!(plain.userinfo().as_ref(), Ok(&info));
        let bare = Connect::new(&packet[CONNECT_PREFIX.len() + 1..packet.len() - 1]);
        assert_eq!(bare.userinfo().as_ref(), Ok(&info), "without quotes, the rest of the text");
        assert_eq!(userinfo_of(b"\\name\\a b").as_deref(), Ok("\\name\\a b"));
        let long = [b'"'; MAX_CONNECT_TEXT + 1];
        assert_eq!(
            Connect::new(&long).text(),
            Err(ConnectError::UserinfoTooLong(MAX_CONNECT_TEXT + 1))
        );
        packet.clear();
        write_connect(&info, &mut packet).expect("short enough");
        let compressed = Connect::new(&packet[CONNECT_PREFIX.len()..]);
        assert_eq!(compressed.form(), ConnectForm::Compressed);
    }

    #[test]
    fn truncated_stream_yields_no_more_than_its_bits() {
        let mut stub = Vec::new();
        compress(b"\"\\protocol\\68", &mut stub);
        stub[..2].copy_from_slice(&[0xff, 0xff]);
        let bits = 8 * (stub.len() - 2);
        assert_eq!(decompressed(&stub), Err(ConnectError::TooFewBits { announced: 65535, bits }));
        // The most that its bits allow.
        stub[..2].copy_from_slice(&(bits as u16).to_be_bytes());
        assert!(matches!(decompressed(&stub), Err(ConnectError::Truncated(13..=32))));
        assert_eq!(decompressed(&[]), Err(ConnectError::Truncated(0)));
        assert_eq!(decompressed(&[1]), Err(ConnectError::Truncated(0)));
        assert_eq!(decompressed(&[0, 0]), Ok(vec![]));
    }

    #[test]
    fn decompressed_text_is_bounded() {
        let mut many = vec![0xff; MAX_CONNECT_PACKET - CONNECT_PREFIX.len()];
        many[..2].copy_from_slice(&[4, 1]);
        let mut text = Vec::new();
        let result = Connect::new(&many).decompress(&mut text);
        assert_eq!(result, Err(ConnectError::UserinfoTooLong(1025)));
        assert!(text.is_empty(), "nothing is decompressed in vain");
        many[..2].copy_from_slice(&[4, 0]);
        assert_eq!(decompressed(&many).map(|text| text.len()), Ok(MAX_CONNECT_TEXT));
        many.push(0xff);
        assert_eq!(decompressed(&many), Err(ConnectError::PacketTooLong(2049)));
    }

    #[test]
    fn overlong_userinfo_is_rejected_by_reader_and_writer() {
        let of_len = |len: usize| format!("\\a\\{}", "x".repeat(len - 3));
        let mut packet = Vec::new();
        for (len, result) in [(1013, Ok(())), (1014, Err(ConnectError::UserinfoTooLong(1014)))] {
            packet.clear();
            let info = InfoString::parse(&of_len(len));
            assert_eq!(write_connect(&info, &mut packet), result);
            assert_eq!(packet.is_empty(), result.is_err());
            let read = userinfo_of(format!("\"{}\"", of_len(len)).as_bytes());
            assert_eq!(read.map(|text| assert_eq!(text, of_len(len))), result);
        }
        let longest = userinfo_of(format!("\"{}", of_len(1023)).as_bytes());
        assert_eq!(longest, Err(ConnectError::UserinfoTooLong(1023)));
    }

    /// Texts whose byte order takes the most steps of an adaptive tree.
    fn costly_texts() -> Vec<Vec<u8>> {
        let bytes = |of: &dyn Fn(usize) -> usize| (0..1024).map(|n| of(n) as u8).collect();
        vec![
            bytes(&|n| n),
            bytes(&|n| if n / 256 % 2 == 0 { n } else { 255 - n % 256 }),
            bytes(&|n| usize::from((n as u8).reverse_bits())),
            bytes(&|n| n * 101),
            // Weights as powers of two: the deepest tree of so few bytes.
            bytes(&|n| n.trailing_zeros() as usize),
            vec![b'a'; 1024],
        ]
    }

    #[test]
    fn connect_decoding_cost_is_bounded_by_its_bits() {
        for text in costly_texts() {
            let mut packet = Vec::new();
            compress(&text, &mut packet);
            let mut decoded = Vec::new();
            let mut tree = Tree::new();
            assert_eq!(Connect::new(&packet).decompress_by(&mut tree, &mut decoded), Ok(()));
            assert_eq!(decoded, text);
            let visits = tree.visits();
            // A node for each bit of the byte's code, and the leaf.
            let bits = (packet.len() - 2) * 8 + text.len();
            assert!(visits <= bits as u64, "{visits} nodes for {bits} bits");
            assert!(visits <= 14 * MAX_CONNECT_TEXT as u64, "{visits} nodes");
        }
    }

    #[test]
    fn claim_uses_first_value_of_each_key() {
        let claim = |text: &[u8]| ConnectText(text.to_vec()).claim();
        let known =
            Claim { challenge: Some(Challenge(-7)), protocol: Some(71), qport: Some(Qport(1)) };
        assert_eq!(claim(b"\"\\challenge\\-7\\qport\\65537\\protocol\\71\""), known);
        assert_eq!(claim(b"Challenge\\-7x\\QPORT\\1\\protocol\\71\\qport\\2"), known);
        assert_eq!(claim(b"\"\\challenge\\\\challenge\\5\\name\\qport\""), Claim::default());
        assert_eq!(claim(b""), Claim::default());
    }

    proptest! {
        #[test]
        fn a_claim_says_what_the_userinfo_says(
            text in "\"(\\\\{0,2}(challenge|QPORT|protocol|x|)\\\\(-?[0-9]{0,11}|\u{e9}%;)){0,6}\"?"
        ) {
            let text = ConnectText(text.into_bytes());
            if let Ok(info) = text.userinfo() {
                let user = crate::wire::userinfo::Userinfo(&info);
                let (challenge, protocol, qport) = (user.challenge(), user.protocol(), user.qport());
                prop_assert_eq!(text.claim(), Claim { challenge, protocol, qport });
            }
        }

        #[test]
        fn any_text_survives(text in prop::collection::vec(any::<u8>(), 0..=MAX_CONNECT_TEXT)) {
            let mut compressed = Vec::new();
            compress(&text, &mut compressed);
            // New bytes cost more than they save, so only repetitive text fits a packet.
            if compressed.len() + CONNECT_PREFIX.len() <= MAX_CONNECT_PACKET {
                prop_assert_eq!(decompressed(&compressed), Ok(text));
            }
        }

        #[test]
        fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..2100)) {
            if let Ok(text) = decompressed(&bytes) {
                prop_assert!(text.len() <= MAX_CONNECT_TEXT);
            }
            let _ = Connect::new(&bytes).userinfo();
        }

        #[test]
        fn a_cut_stream_is_an_error(text in prop::collection::vec(b'a'..=b'z', 1..80)) {
            let mut compressed = Vec::new();
            compress(&text, &mut compressed);
            // The last byte may be the empty one.
            for len in 0..compressed.len() - 1 {
                prop_assert!(decompressed(&compressed[..len]).is_err());
            }
        }
    }
}
