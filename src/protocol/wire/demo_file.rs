//! Records of a demo file: sequence, length and bytes of each server message.
//!
//! ```text
//! { sequence long | length long | message }* | -1 | -1
//! ```
//!
//! A message is complete, not scrambled, and begins with the acknowledgement. Its sequence counts, because
//! snapshots name their delta base by distance. A length of −1 ends the file, as in a client.
//!
//! Invariant: a record of a parsed file is inside the file and at most one message long.
//! Source: demo files of Quake III protocols 43 to 71 and Quake Live.

use thiserror::Error;

use super::protocol::Protocol;
use crate::model::limits::MAX_MESSAGE_LEN;

/// Length of a record without its message.
pub const RECORD_HEADER_LEN: usize = 8;
/// End mark: a sequence and a length of −1.
pub const END_MARK: [u8; RECORD_HEADER_LEN] = [0xff; RECORD_HEADER_LEN];

/// Appends a record.
pub fn write_record(out: &mut Vec<u8>, sequence: u32, message: &[u8]) {
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&(message.len() as u32).to_le_bytes());
    out.extend_from_slice(message);
}

/// Extension that fragd appends to the name of a recording until it is complete.
pub const PART_SUFFIX: &str = ".part";

/// Returns the name of a recording without the mark of an incomplete file.
#[must_use]
pub fn complete_name(name: &str) -> &str {
    let end = name.len().saturating_sub(PART_SUFFIX.len());
    match (name.get(..end), name.get(end..)) {
        (Some(whole), Some(suffix)) if suffix.eq_ignore_ascii_case(PART_SUFFIX) => whole,
        _ => name,
    }
}

/// Returns the protocol of a demo by its file name, also of an incomplete one.
///
/// Protocols that share an extension have the same messages; the result is the first of them. Of the two of number 71, the result is the one whose
/// messages may hold voice.
#[must_use]
pub fn protocol_of(name: &str) -> Option<&'static Protocol> {
    let name = complete_name(name);
    let extension = name.rsplit_once('.')?.1;
    let alike = |protocol: &&Protocol| protocol.extension.eq_ignore_ascii_case(extension);
    let mut known = Protocol::recorded().filter(alike);
    let first = known.next()?;
    Some(known.find(|other| other.voice).unwrap_or(first))
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Position in the file, in bytes.
    pub offset: usize,
    /// Sequence of the message.
    pub sequence: u32,
    /// The message.
    pub message: &'a [u8],
}

/// Errors of records. Nothing behind one can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// No end mark, as in the demo of a client that has crashed.
    #[error("end mark missing")]
    NoEndMark,
    /// The file ends inside a record.
    #[error("record cut off: {found} of {len} bytes")]
    CutOff {
        /// Length of the record, with its header.
        len: usize,
        /// Bytes of it in the file.
        found: usize,
    },
    /// Length that no message has.
    #[error("invalid message length: {0} (expected 0 to {MAX_MESSAGE_LEN})")]
    Length(i32),
    /// Bytes behind the end mark, which a client does not read.
    #[error("{0} bytes behind the end mark")]
    Trailing(usize),
}

/// Records of a file. An error is the last item, with its offset.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: usize,
    ended: bool,
}

impl<'a> Records<'a> {
    /// Reads the bytes of a file.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0, ended: false }
    }

    /// Position of the next record, in bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    fn read(&self) -> Result<Option<Record<'a>>, RecordError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<RECORD_HEADER_LEN>() else {
            return Err(match rest.len() {
                0 => RecordError::NoEndMark,
                found => RecordError::CutOff { len: RECORD_HEADER_LEN, found },
            });
        };
        let [a, b, c, d, e, f, g, h] = *head;
        let len = i32::from_le_bytes([e, f, g, h]);
        if len == -1 {
            return if rest.is_empty() { Ok(None) } else { Err(RecordError::Trailing(rest.len())) };
        }
        let wanted = usize::try_from(len).ok().filter(|&len| len <= MAX_MESSAGE_LEN);
        let wanted = wanted.ok_or(RecordError::Length(len))?;
        let message = rest.get(..wanted).ok_or(RecordError::CutOff {
            len: RECORD_HEADER_LEN + wanted,
            found: RECORD_HEADER_LEN + rest.len(),
        })?;
        let sequence = u32::from_le_bytes([a, b, c, d]);
        Ok(Some(Record { offset: self.offset, sequence, message }))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, (usize, RecordError)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.read() {
            Ok(Some(record)) => {
                self.offset += RECORD_HEADER_LEN + record.message.len();
                Some(Ok(record))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                let mark =
                    if matches!(error, RecordError::Trailing(_)) { RECORD_HEADER_LEN } else { 0 };
                Some(Err((self.offset + mark, error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut file = Vec::new();
        write_record(&mut file, 7, b"first");
        write_record(&mut file, 8, b"");
        file.extend(END_MARK);
        file
    }

    #[test]
    fn records_are_read_as_written() {
        let file = file();
        let read: Vec<_> = Records::new(&file).map(|record| record.expect("a record")).collect();
        let expected = [
            Record { offset: 0, sequence: 7, message: b"first" },
            Record { offset: 13, sequence: 8, message: b"" },
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn file_cut_anywhere_keeps_whole_records() {
        let file = file();
        for len in 0..file.len() {
            let mut records = Records::new(&file[..len]);
            let whole = records.by_ref().take_while(Result::is_ok).count();
            assert_eq!(whole, usize::from(len >= 13) + usize::from(len >= 21), "{len}");
            let last = Records::new(&file[..len]).last();
            let (offset, error) = last.expect("an error").expect_err("an error");
            assert_eq!(
                offset,
                if len < 13 {
                    0
                } else if len < 21 {
                    13
                } else {
                    21
                },
                "{len}"
            );
            assert_eq!(error == RecordError::NoEndMark, [0, 13, 21].contains(&len), "{len}");
        }
    }

    #[test]
    fn impossible_lengths_and_trailing_bytes_are_errors() {
        for len in [-2, i32::MIN, i32::MAX, 16_385] {
            let mut file = 5_u32.to_le_bytes().to_vec();
            file.extend(len.to_le_bytes());
            file.extend([0; 64]);
            let read: Vec<_> = Records::new(&file).collect();
            assert_eq!(read, [Err((0, RecordError::Length(len)))]);
        }
        let mut file = file();
        file.push(0);
        assert_eq!(Records::new(&file).last(), Some(Err((29, RecordError::Trailing(1)))));
    }

    #[test]
    fn file_names_tell_the_protocol() {
        for (name, protocol) in [
            ("a.dm_68", Some(Protocol::Q3_68)),
            ("demos/a.b.DM_71", Some(Protocol::IOQ3_71)),
            ("a.dm_66", Some(Protocol::Q3_66)),
            ("a.dm3", Some(Protocol::Q3_43)),
            ("A.DM_48", Some(Protocol::Q3_48)),
            ("a.dm_91", Some(Protocol::QL_91)),
            ("a.dm_43", None),
            ("a.dm_6", None),
            ("a.dm_68.part", Some(Protocol::Q3_68)),
            ("a.dm_71.PART", Some(Protocol::IOQ3_71)),
            ("a.dm_68.parts", None),
            ("ä.dm_68.bart", None),
            (".part", None),
            ("dm_68", None),
        ] {
            assert_eq!(protocol_of(name), protocol, "{name}");
        }
    }
}
