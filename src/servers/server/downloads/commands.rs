//! Client commands of downloads: `download`, `nextdl`, `stopdl`, `donedl`.
//!
//! Invariants: a client in the game downloads nothing; requests are limited in number, so that no client
//! keeps a slot by downloading.

use super::{Download, Downloads, window::Acknowledged, window::Window};
use crate::{
    limits::BucketLimit,
    model::{ClientNum, CommandArgs, Millis, text::atoi},
    observe::Counter,
    server::client::Client,
    serving::stats::Stats,
    settings::Settings,
};

/// Limit of requests. A client requests one file and stops when it is refused.
const REQUESTS: BucketLimit = BucketLimit { burst: 4, period: Millis(1000) };
/// Requests of a client before it is in the game, besides one for each offered file.
const MAX_EXTRA_STARTS: u16 = 8;
/// Gamestates that a client may request after downloads before it is in the game.
const MAX_GAMESTATES: u16 = 16;

/// A client that asks, and what its commands about downloads reach.
pub(in crate::server) struct DownloadRequester<'a> {
    pub(in crate::server) number: ClientNum,
    pub(in crate::server) client: &'a mut Client,
    pub(in crate::server) downloads: &'a Downloads,
    pub(in crate::server) settings: &'a Settings,
    pub(in crate::server) stats: &'a mut Stats,
    pub(in crate::server) now: Millis,
}

/// CommandConsequence of a command for the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum CommandConsequence {
    Nothing,
    /// The client is dropped.
    Broken,
    /// The client is dropped, since its protocol has no downloads.
    Unsupported,
    /// The gamestate is sent.
    Gamestate,
}

/// Name and function of each command.
pub(in crate::server) type DownloadCommandRow =
    (&'static str, fn(&mut DownloadRequester<'_>, &CommandArgs) -> CommandConsequence);

/// The commands.
pub(in crate::server) const DOWNLOAD_COMMANDS: [DownloadCommandRow; 4] = [
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
fn handle_download(asking: &mut DownloadRequester<'_>, words: &CommandArgs) -> CommandConsequence {
    let DownloadRequester { number, client, downloads: all, settings, stats, now } = asking;
    let now = *now;
    if client.is_active() || !client.own.buckets.downloads.allows(now, REQUESTS) {
        stats.bump(Counter::CommandsOverLimit);
        return CommandConsequence::Nothing;
    }
    if !client.channel.protocol().numbers.is_current() {
        return CommandConsequence::Unsupported;
    }
    let asked = words.get(1);
    let downloads = &mut client.own.downloads;
    downloads.current = None;
    downloads.refusal = None;
    let offered = all.offer.packs().len() as u16;
    let result = if downloads.starts >= offered + MAX_EXTRA_STARTS {
        Err("Too many downloads on this connection. Reconnect to try again.\n".to_owned())
    } else {
        all.offer.request(asked, settings)
    };
    match result {
        Ok(file) => {
            log::info!("client {number} downloads {}: {} bytes", file.name, file.len);
            stats.bump(Counter::DownloadsStarted);
            downloads.starts += 1;
            // At a thousand bytes per second, and for each file once.
            let longest = Millis(all.offer.total_len());
            downloads.allowance = (downloads.allowance + Millis(file.len)).min(longest);
            let window = Window::new(file.len as u32);
            let download = Download { file, window, began_at: now, progress_at: now, resent: 0 };
            downloads.current = Some(Box::new(download));
        }
        Err(text) => {
            stats.bump(Counter::DownloadsRefused);
            downloads.refusal = Some(text.chars().map(clean).collect());
        }
    }
    CommandConsequence::Nothing
}

/// Replaces what would end or split a text. Line breaks stay.
fn clean(c: char) -> char {
    if c == ';' || c.is_control() && c != '\n' { ' ' } else { c }
}

/// Records the acknowledgement of a block.
fn handle_nextdl(asking: &mut DownloadRequester<'_>, words: &CommandArgs) -> CommandConsequence {
    let DownloadRequester { number, client, stats, now, .. } = asking;
    let now = *now;
    let downloads = &mut client.own.downloads;
    let Some(download) = &mut downloads.current else { return CommandConsequence::Nothing };
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
            stats.bump(Counter::DownloadsCompleted);
            downloads.current = None;
        }
        Acknowledged::Unexpected => {
            downloads.current = None;
            return CommandConsequence::Broken;
        }
    }
    CommandConsequence::Nothing
}

fn handle_stopdl(asking: &mut DownloadRequester<'_>, _: &CommandArgs) -> CommandConsequence {
    if let Some(download) = asking.client.own.downloads.current.take() {
        log::info!("client {} stopped the download of {}", asking.number, download.file.name);
    }
    CommandConsequence::Nothing
}

/// Sends the gamestate again: the client has all files now.
fn handle_donedl(asking: &mut DownloadRequester<'_>, _: &CommandArgs) -> CommandConsequence {
    let DownloadRequester { client, stats, now, .. } = asking;
    client.own.downloads.current = None;
    if client.is_active() || client.own.downloads.gamestates >= MAX_GAMESTATES {
        stats.bump(Counter::CommandsOverLimit);
        return CommandConsequence::Nothing;
    }
    client.own.downloads.gamestates += 1;
    client.await_gamestate(*now);
    if client.channel.is_busy() {
        CommandConsequence::Nothing
    } else {
        CommandConsequence::Gamestate
    }
}
