//! Journals that are made here: of a short run, and of records that say anything.

use std::{cell::RefCell, rc::Rc};

use fragd::wire::Protocol;
use fragd::{
    journal::{FORMAT_VERSION, Journaled, MAGIC, RecordedAssets, Recorder, Start},
    model::{CommandNum, assets::MemoryAssets},
    node::{Hosted as _, Input},
    settings::GameFolder,
    wire::client_message,
};

use crate::{ENTROPY, RawClient, YARD, head, server_id, server_with};

/// Puts records under right lengths and checksums.
pub struct Writer {
    /// The journal so far.
    pub bytes: Vec<u8>,
    /// Of all lengths and bodies so far.
    running: crc32fast::Hasher,
}

impl Writer {
    /// An empty journal.
    pub fn new() -> Self {
        let bytes = [&MAGIC[..], &FORMAT_VERSION.to_le_bytes()].concat();
        Self { bytes, running: crc32fast::Hasher::new() }
    }

    /// Appends a record of that body.
    pub fn record(&mut self, body: &[u8]) {
        let from = self.bytes.len();
        let mut len = body.len();
        while len >= 0x80 {
            self.bytes.push(len as u8 | 0x80);
            len >>= 7;
        }
        self.bytes.push(len as u8);
        self.bytes.extend_from_slice(body);
        self.running.update(&self.bytes[from..]);
        let sum = self.running.clone().finalize();
        self.bytes.extend(sum.to_le_bytes());
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

/// The bodies of a sound journal's records.
pub fn bodies(journal: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &journal[MAGIC.len() + 4..];
    let mut bodies = Vec::new();
    while !rest.is_empty() {
        let (mut len, mut shift) = (0, 0);
        while let [byte, after @ ..] = rest {
            rest = after;
            len |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        bodies.push(rest[..len].to_vec());
        rest = &rest[len + 4..];
    }
    bodies
}

/// The journal of a run of a second, with a client of each framing, on the yard.
pub fn recorded() -> Vec<u8> {
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&bytes);
    let start = Start { program: "fuzz".to_owned(), entropy: ENTROPY, ..Start::default() };
    let recorder = Recorder::shared(
        &start,
        Box::new(move |piece: &[u8]| sink.borrow_mut().extend_from_slice(piece)),
    );
    let mut files = MemoryAssets::default();
    files.insert("maps/yard.bsp", YARD.clone()).expect("a right name");
    let assets = RecordedAssets::new(Box::new(files), Rc::clone(&recorder));
    let server = server_with(GameFolder::BaseOa, Box::new(assets));
    let mut server = Journaled::new(server, recorder);
    let mut raw = RawClient::new();
    for (port, protocol) in [(27_960, Protocol::Q3_68), (27_961, Protocol::IOQ3_71)] {
        raw.address.set_port(port);
        let mut channel = raw.join(&mut server, protocol).expect("a challenge");
        for number in 0..5 {
            let head = head(server_id(server.node()), number);
            raw.say(&mut server, &mut channel, &head, |writer| {
                client_message::write_command(writer, CommandNum(number + 1), b"score");
            });
            raw.wait(&mut server, 50);
        }
    }
    server.handle_input(raw.now, Input::ConsoleLine("say hello"));
    raw.wait(&mut server, 50);
    server.handle_input(raw.now, Input::ConsoleLine("map yard"));
    raw.wait(&mut server, 50);
    raw.send(&mut server, b"\xff\xff\xff\xffgetstatus x");
    server.handle_input(raw.now, Input::Stop("over"));
    raw.wait(&mut server, 50);
    server.finish();
    bytes.take()
}
