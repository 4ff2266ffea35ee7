//! Download of a file from the server: blocks in order, or numbered chunks.
//!
//! Invariants: one download at a time; its size is limited, and memory grows with received bytes.
//! Source: QuakeWorld protocol 28, downloads; chunked downloads of FTE.

use super::super::{
    bytes::Writer,
    level::{CHUNK_LEN, Download},
};

/// Largest file.
const MAX_FILE_LEN: usize = 64 << 20;
/// Chunks asked for in one packet.
const REQUESTS_PER_PACKET: usize = 4;
/// Chunks ahead of the first missing one that are asked for.
const WINDOW: usize = 32;

/// Result of a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransferStep {
    /// Ask for the next block.
    Next,
    /// Wait for more.
    Wait,
    /// The file is complete.
    Complete(Vec<u8>),
    /// The server refused the file, or sent an impossible part.
    Failed,
}

/// Download in progress.
#[derive(Debug)]
pub(super) struct Transfer {
    /// Name of the file.
    pub(super) name: Vec<u8>,
    content: Vec<u8>,
    chunks: Option<Chunks>,
}

/// Numbered chunks of a file.
#[derive(Debug)]
struct Chunks {
    id: i32,
    size: usize,
    /// Chunks beyond the content in order, with their numbers.
    early: Vec<(usize, Box<[u8]>)>,
    /// Offset in the window of the next request.
    next: usize,
}

impl Transfer {
    /// Creates a transfer that is asked for.
    pub(super) fn new(name: &[u8]) -> Self {
        Self { name: name.to_vec(), content: Vec::new(), chunks: None }
    }

    /// Takes a part. `id` is the number of the next chunked download.
    pub(super) fn receive(&mut self, part: Download<'_>, id: &mut i32) -> TransferStep {
        match part {
            Download::Refused => TransferStep::Failed,
            Download::Block { percent, bytes } => {
                if self.content.len() + bytes.len() > MAX_FILE_LEN {
                    return TransferStep::Failed;
                }
                self.content.extend_from_slice(bytes);
                if percent < 100 {
                    TransferStep::Next
                } else {
                    TransferStep::Complete(std::mem::take(&mut self.content))
                }
            }
            Download::Size { size, .. } => match usize::try_from(size) {
                Ok(size) if size <= MAX_FILE_LEN => {
                    *id += 1;
                    self.chunks = Some(Chunks { id: *id, size, early: Vec::new(), next: 0 });
                    TransferStep::Wait
                }
                _ => TransferStep::Failed,
            },
            Download::Chunk { number, bytes } => self.receive_chunk(number as usize, bytes),
        }
    }

    fn receive_chunk(&mut self, number: usize, bytes: &[u8]) -> TransferStep {
        let Some(chunks) = &mut self.chunks else { return TransferStep::Wait };
        let wanted = self.content.len() / CHUNK_LEN;
        if number < wanted || number >= wanted + WINDOW || number * CHUNK_LEN >= chunks.size {
            return TransferStep::Wait;
        }
        if number == wanted {
            self.content.extend_from_slice(bytes);
            loop {
                let wanted = self.content.len() / CHUNK_LEN;
                let Some(at) = chunks.early.iter().position(|(at, _)| *at == wanted) else { break };
                self.content.extend_from_slice(&chunks.early.swap_remove(at).1);
            }
        } else if !chunks.early.iter().any(|(at, _)| *at == number) {
            chunks.early.push((number, bytes.into()));
        }
        if self.content.len() < chunks.size {
            return TransferStep::Wait;
        }
        self.content.truncate(chunks.size);
        TransferStep::Complete(std::mem::take(&mut self.content))
    }

    /// Number of the chunked download.
    pub(super) fn chunked_id(&self) -> Option<i32> {
        self.chunks.as_ref().map(|chunks| chunks.id)
    }

    /// Appends requests for missing chunks to the unreliable message of a packet.
    pub(super) fn write_requests(&mut self, writer: &mut Writer<'_>) {
        let Some(chunks) = &mut self.chunks else { return };
        let first = self.content.len() / CHUNK_LEN;
        let last = chunks.size.div_ceil(CHUNK_LEN).min(first + WINDOW);
        let count = last.saturating_sub(first);
        let percent = self.content.len() * 100 / chunks.size.max(1);
        let mut requests = 0;
        for step in 0..count {
            let number = first + (chunks.next + step) % count;
            if requests == REQUESTS_PER_PACKET {
                chunks.next = (chunks.next + step) % count;
                return;
            }
            if !chunks.early.iter().any(|(at, _)| *at == number) {
                let text = format!("\x04nextdl {number} {percent} {}\0", chunks.id);
                writer.attempt(|writer| writer.put(text.as_bytes()));
                requests += 1;
            }
        }
        chunks.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_joined_until_complete() {
        let mut transfer = Transfer::new(b"maps/x.bsp");
        let block = |percent, bytes| Download::Block { percent, bytes };
        assert_eq!(transfer.receive(block(50, b"ab"), &mut 0), TransferStep::Next);
        assert_eq!(
            transfer.receive(block(100, b"cd"), &mut 0),
            TransferStep::Complete(b"abcd".to_vec())
        );
        assert_eq!(transfer.receive(Download::Refused, &mut 0), TransferStep::Failed);
    }

    #[test]
    fn chunks_are_joined_in_any_order() {
        let file: Vec<u8> = (0..CHUNK_LEN * 5 + 100).map(|at| (at / 100) as u8).collect();
        let mut transfer = Transfer::new(b"progs/x.mdl");
        let mut id = 6;
        let size = Download::Size { size: file.len() as i32, name: "progs/x.mdl".into() };
        assert_eq!(transfer.receive(size, &mut id), TransferStep::Wait);
        assert_eq!((id, transfer.chunked_id()), (7, Some(7)));
        for number in [3, 0, 3, 5, 1, 4, 9, 2] {
            let mut bytes = file[(number * CHUNK_LEN).min(file.len())..].to_vec();
            bytes.resize(CHUNK_LEN, 0);
            let step =
                transfer.receive(Download::Chunk { number: number as u32, bytes: &bytes }, &mut id);
            if number == 2 {
                assert_eq!(step, TransferStep::Complete(file.clone()));
            } else {
                assert_eq!(step, TransferStep::Wait);
            }
        }
    }

    #[test]
    fn requests_name_missing_chunks_in_turn() {
        let mut transfer = Transfer::new(b"a/b");
        let mut id = 0;
        let size = Download::Size { size: CHUNK_LEN as i32 * 6, name: "a/b".into() };
        transfer.receive(size, &mut id);
        transfer.receive(Download::Chunk { number: 1, bytes: &[0; CHUNK_LEN] }, &mut id);
        let mut asked = || {
            let mut out = Vec::new();
            let extensions = super::super::super::Extensions::NONE;
            transfer.write_requests(&mut Writer::new(&mut out, 1000, extensions));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            asked(),
            ["0", "2", "3", "4"].map(|at| format!("\x04nextdl {at} 0 1\0")).concat()
        );
        assert_eq!(
            asked(),
            ["5", "0", "2", "3"].map(|at| format!("\x04nextdl {at} 0 1\0")).concat()
        );
    }
}
