//! Client commands of downloads: `download`, `nextdl`, `stopdl`, `donedl`.
//!
//! Invariants: a client in the game downloads nothing; requests are limited in number, so that no client
//! keeps a slot by downloading.

use super::{Download, window::Acknowledged, window::Window};
use crate::{
    limits::BucketLimit,
    model::{ClientNum, CommandArgs, Millis, text::atoi},
    observe::Counter,
    server::state::Server,
    serving::connection::Service as _,
};

/// Limit of requests. A client requests one file and stops when it is refused.
const REQUESTS: BucketLimit = BucketLimit { burst: 4, period: Millis(1000) };
/// Requests of a client before it is in the game, besides one for each offered file.
const MAX_EXTRA_STARTS: u16 = 8;
/// Gamestates that a client may request after downloads before it is in the game.
const MAX_GAMESTATES: u16 = 16;

/// Name and function of each command. A function returns false if the client must resend the command.
pub(in crate::server) type Row = (&'static str, fn(&mut Server, ClientNum, &CommandArgs) -> bool);

/// The commands.
pub(in crate::server) const ROWS: [Row; 4] = [
    ("download", handle_download),
    ("nextdl", handle_nextdl),
    ("stopdl", handle_stopdl),
    ("donedl", handle_donedl),
];

/// Whether a command belongs to a download, which continues while the level changes.
pub(in crate::server) fn is_download_command(text: &str) -> bool {
    text == "donedl" || text.starts_with("download ")
}

/// Begins a download, or queues its refusal. A client that gets no answer would wait forever.
fn handle_download(server: &mut Server, number: ClientNum, words: &CommandArgs) -> bool {
    let core = &mut server.core;
    let now = core.now;
    let Some(client) = core.clients.get_mut(number) else { return true };
    if client.is_active() || !client.own.buckets.downloads.allows(now, REQUESTS) {
        core.stats.bump(Counter::CommandsOverLimit);
        return true;
    }
    let asked = words.get(1);
    let downloads = &mut client.own.downloads;
    downloads.current = None;
    downloads.refusal = None;
    let offered = core.downloads.offer.packs().len() as u16;
    let result = if downloads.starts >= offered + MAX_EXTRA_STARTS {
        Err("Too many downloads on this connection. Reconnect to try again.\n".to_owned())
    } else {
        core.downloads.offer.request(asked, &core.settings)
    };
    match result {
        Ok(file) => {
            log::info!("client {number} downloads {}: {} bytes", file.name, file.len);
            core.stats.bump(Counter::DownloadsStarted);
            downloads.starts += 1;
            // At a thousand bytes per second, and for each file once.
            let all = core.downloads.offer.total_len();
            downloads.allowance = (downloads.allowance + Millis(file.len)).min(Millis(all));
            let window = Window::new(file.len as u32);
            let download = Download { file, window, began_at: now, progress_at: now, resent: 0 };
            downloads.current = Some(Box::new(download));
        }
        Err(text) => {
            core.stats.bump(Counter::DownloadsRefused);
            downloads.refusal = Some(text.chars().map(clean).collect());
        }
    }
    true
}

/// Replaces what would end or split a text. Line breaks stay.
fn clean(c: char) -> char {
    if c == ';' || c.is_control() && c != '\n' { ' ' } else { c }
}

/// Records the acknowledgement of a block.
fn handle_nextdl(server: &mut Server, number: ClientNum, words: &CommandArgs) -> bool {
    let core = &mut server.core;
    let now = core.now;
    let Some(downloads) = core.clients.get_mut(number).map(|client| &mut client.own.downloads)
    else {
        return true;
    };
    let Some(download) = &mut downloads.current else { return true };
    let block = u32::try_from(atoi(words.get(1))).unwrap_or(u32::MAX);
    match download.window.acknowledge(block, now) {
        Acknowledged::Block => download.progress_at = now,
        Acknowledged::End => {
            let Download { file, began_at, resent, .. } = &**download;
            log::info!(
                "client {number} downloaded {} in {} ms: {resent} blocks sent again",
                file.name,
                now.since(*began_at).0
            );
            core.stats.bump(Counter::DownloadsCompleted);
            downloads.current = None;
        }
        Acknowledged::Unexpected => {
            downloads.current = None;
            server.drop_client(number, "broken download");
        }
    }
    true
}

fn handle_stopdl(server: &mut Server, number: ClientNum, _: &CommandArgs) -> bool {
    if let Some(client) = server.core.clients.get_mut(number)
        && let Some(download) = client.own.downloads.current.take()
    {
        log::info!("client {number} stopped the download of {}", download.file.name);
    }
    true
}

/// Sends the gamestate again: the client has all files now.
fn handle_donedl(server: &mut Server, number: ClientNum, _: &CommandArgs) -> bool {
    let now = server.core.now;
    let Some(client) = server.core.clients.get_mut(number) else { return true };
    client.own.downloads.current = None;
    if client.is_active() || client.own.downloads.gamestates >= MAX_GAMESTATES {
        server.core.stats.bump(Counter::CommandsOverLimit);
        return true;
    }
    client.own.downloads.gamestates += 1;
    client.await_gamestate(now);
    if !client.channel.is_busy() {
        server.send_gamestate(number);
    }
    true
}
