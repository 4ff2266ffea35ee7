//! Downloads: plain blocks in reliable messages, one for each request.
//!
//! Source: QuakeWorld protocol 28, plain downloads.

use std::sync::Arc;

use super::QwServer;
use crate::{
    model::Millis,
    observe::LogEvent,
    quakeworld::{
        Extensions, ServerMessage,
        bytes::{Text, Writer},
        channel::MAX_MESSAGE_LEN,
        level::{Download, MAX_BLOCK_LEN},
    },
};

/// Smallest block: slow clients still get ten a second.
const MIN_BLOCK_LEN: usize = 512;

/// Download in progress.
#[derive(Debug)]
pub(super) struct Transfer {
    bytes: Arc<[u8]>,
    sent: usize,
}

/// Starts a download, or refuses it.
pub(super) fn start_download(server: &mut QwServer, now: Millis, slot: usize, name: Text<'_>) {
    let QwServer { clients, level, assets, settings, log, .. } = server;
    let Some(client) = &mut clients[slot] else { return };
    client.transfer = None;
    let text = std::str::from_utf8(name.bytes()).unwrap_or_default();
    let bytes = level.files.open(text, assets.as_ref(), settings);
    let Some(bytes) = bytes else {
        log::debug!("client {slot} download refused: {name}");
        let refused = ServerMessage::Download(Download::Refused);
        return server.queue_message(slot, &refused);
    };
    if let Some(suppressed) = log.allows(LogEvent::ClientChange, now) {
        log::info!("client {slot} downloads {name}: {} bytes{suppressed}", bytes.len());
    }
    client.transfer = Some(Transfer { bytes, sent: 0 });
    continue_download(server, slot);
}

/// Sends the next block.
pub(super) fn continue_download(server: &mut QwServer, slot: usize) {
    let Some(client) = &mut server.clients[slot] else { return };
    let Some(Transfer { bytes, sent }) = &mut client.transfer else { return };
    let room = client.channel.max_message().saturating_sub(6).min(MAX_BLOCK_LEN);
    // A block takes a tenth of a second at most.
    let rate = client.channel.pacer().rate() as usize;
    let len = (rate / 10).clamp(MIN_BLOCK_LEN, room).min(bytes.len() - *sent);
    let block = &bytes[*sent..*sent + len];
    *sent += len;
    let percent = if *sent == bytes.len() {
        100
    } else {
        (*sent as u64 * 100 / bytes.len() as u64).min(99) as u8
    };
    let mut piece = std::mem::take(&mut server.scratch);
    piece.clear();
    let mut writer = Writer::new(&mut piece, MAX_MESSAGE_LEN, Extensions::NONE);
    writer.write(&ServerMessage::Download(Download::Block { percent, bytes: block }));
    client.queue(&piece);
    server.scratch = piece;
    if percent == 100 {
        client.transfer = None;
    }
}
