//! Send pass of downloads: blocks, probes and refusals, within the rates.
//!
//! Clients take turns, one block each. A pass is bounded, and the next one follows a millisecond later, so
//! that snapshots of other clients are not delayed.

use super::{Download, Downloads, window::Window};
use crate::{
    model::{ClientNum, Millis, limits::MAX_CLIENTS},
    observe::Counter,
    server::{client::Client, core::Core, state::Server},
    serving::{connection::Service as _, pacing::MessageKind},
    settings::{Settings, key},
    wire::{
        download::{self, MAX_BLOCK_LEN},
        server_message::{self, ServerOp},
    },
};

/// Blocks of one pass.
const MAX_PASS_BLOCKS: usize = 64;

/// Sends the blocks, probes and refusals that are due.
pub(in crate::server) fn send_blocks(server: &mut Server) {
    let now = server.core.now;
    if now < server.core.downloads.resume_at || !has_work(&server.core) {
        return;
    }
    let rate = server.core.settings.int(key::SV_DL_RATE);
    server.core.downloads.budget.fill(now, rate);
    let first = server.core.downloads.first_slot;
    let mut left = MAX_PASS_BLOCKS;
    let mut is_done = false;
    while !is_done && left > 0 {
        is_done = true;
        for at in 0..MAX_CLIENTS {
            let Some(number) = ClientNum::new((first + at) % MAX_CLIENTS) else { continue };
            if !may_send(&server.core, number) {
                continue;
            }
            if left == 0 || !server.core.downloads.budget.allows(rate) {
                // It is the first one of the next pass.
                server.core.downloads.first_slot = number.index();
                left = 0;
                break;
            }
            if send_next(server, number) {
                left -= 1;
                is_done = false;
            }
        }
    }
    server.core.downloads.resume_at = now + Millis(1);
    server.process_pending_drops();
}

/// Time of the next pass.
pub(in crate::server) fn next_due(core: &Core) -> Millis {
    let Downloads { budget, resume_at, .. } = &core.downloads;
    let budget_at = budget.next_at(core.settings.int(key::SV_DL_RATE)).max(*resume_at);
    let due = |client: &Client| client_due(&core.settings, client, core.now, budget_at);
    core.clients.iter().filter_map(|(_, client)| due(client)).min().unwrap_or(Millis::NEVER)
}

fn client_due(
    settings: &Settings,
    client: &Client,
    now: Millis,
    budget_at: Millis,
) -> Option<Millis> {
    // Queued fragments have their own time.
    if client.is_zombie() || client.channel.is_busy() {
        return None;
    }
    let work_at = if client.own.downloads.refusal.is_some() {
        Millis(0)
    } else {
        let window = &client.own.downloads.current.as_ref()?.window;
        window.next_block().map_or_else(|| window.probe_at(), |_| Some(budget_at))?
    };
    // Behind the tests, because most clients download nothing.
    Some(work_at.max(now + client.rate_delay(settings, now)))
}

fn has_work(core: &Core) -> bool {
    core.clients.iter().any(|(_, client)| {
        client.own.downloads.current.is_some() || client.own.downloads.refusal.is_some()
    })
}

/// Whether a client is due for a block, a probe or a refusal, apart from the shared rate.
fn may_send(core: &Core, number: ClientNum) -> bool {
    let due = core
        .clients
        .get(number)
        .and_then(|client| client_due(&core.settings, client, core.now, Millis(0)));
    due.is_some_and(|due| due <= core.now)
}

/// Sends one message of a download. Returns false if there is none.
fn send_next(server: &mut Server, number: ClientNum) -> bool {
    let Some(client) = server.core.clients.get_mut(number) else { return false };
    if let Some(text) = client.own.downloads.refusal.take() {
        send_refusal(&mut server.core, number, &text);
        return true;
    }
    let Some(Download { window, .. }) = client.own.downloads.current.as_deref_mut() else {
        return false;
    };
    if let Some(block) = window.next_block() {
        return send_block(server, number, block);
    }
    window.record_probe(server.core.now);
    begin(&mut server.core, number);
    end(&mut server.core, number);
    true
}

/// Sends a block. A file that is not readable any more ends the connection: the client accepts a refusal in
/// place of block 0 only.
fn send_block(server: &mut Server, number: ClientNum, block: u32) -> bool {
    begin(&mut server.core, number);
    let Core { clients, downloads, sender, .. } = &mut server.core;
    let Some(client) = clients.get_mut(number) else { return false };
    let Some(Download { file, .. }) = client.own.downloads.current.as_deref_mut() else {
        return false;
    };
    let offset = u64::from(block) * MAX_BLOCK_LEN as u64;
    let bytes = if offset < file.len {
        downloads.chunks.read(server.maps.assets(), file.pack, file.len, offset, MAX_BLOCK_LEN)
    } else {
        Ok(&[][..])
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            log::error!("download of {} ended: {error}", file.name);
            let reason = format!("{} is not readable on the server", file.name);
            client.own.downloads.current = None;
            server.drop_client(number, &reason);
            return true;
        }
    };
    let len = bytes.len() as u64;
    let writer = sender.writer();
    writer.byte(ServerOp::Download as u8);
    download::write_block(writer, block, file.len as u32, bytes);
    let sequence = client.channel.next_sequence();
    end(&mut server.core, number);
    let Core { clients, stats, now, .. } = &mut server.core;
    stats.bump(Counter::DownloadBlocks);
    stats.add(Counter::DownloadBytes, len);
    let download = clients.get_mut(number).and_then(|c| c.own.downloads.current.as_deref_mut());
    if let Some(Download { window, resent, .. }) = download
        && Window::record_sent(window, sequence, *now)
    {
        *resent += 1;
        stats.bump(Counter::DownloadBlocksResent);
    }
    true
}

fn send_refusal(core: &mut Core, number: ClientNum, text: &str) {
    begin(core, number);
    let writer = core.sender.writer();
    writer.byte(ServerOp::Download as u8);
    download::write_refusal(writer, text.as_bytes());
    end(core, number);
}

/// Begins a message without commands.
fn begin(core: &mut Core, number: ClientNum) {
    let Some(client) = core.clients.get(number) else { return };
    server_message::begin(core.sender.writer(), client.channel.protocol(), client.incoming.last());
}

/// Ends the message and sends it.
fn end(core: &mut Core, number: ClientNum) {
    server_message::end(core.sender.writer());
    core.send_message(number, MessageKind::Download);
    let len = core.clients.get(number).map_or(0, |client| client.channel.last_datagram_len());
    core.downloads.budget.take(len);
}
