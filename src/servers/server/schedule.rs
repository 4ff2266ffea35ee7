//! Schedule of frames on a fixed grid, and the order of what runs in a frame.
//!
//! Engine names: `SV_Frame`.

use super::{
    bots, console, core::Core, info_strings::publish_settings, level, match_recording::StoredFrame,
    send::send_snapshots, state::Server,
};
use crate::{
    model::Millis,
    observe::Counter,
    serving::connection::{Service as _, check_timeouts},
    settings::{Settings, key},
};

/// Longest time whose frames run after a stall. Older frames are skipped, since a burst of frames
/// would stall the server again. A shorter time would lose usercmds: clients advance during a
/// stall, and usercmds too far ahead of level time are ignored.
const MAX_CATCH_UP: Millis = Millis(1000);

/// Length of a frame.
pub(super) fn frame_length(settings: &Settings) -> Millis {
    Millis(1000 / u64::from(settings.int(key::SV_FPS).max(1).unsigned_abs()))
}

/// Returns the number of frames due and schedules the next one.
pub(super) fn schedule_frames(server: &mut Server) -> u64 {
    let now = server.core.now;
    let length = frame_length(&server.core.settings);
    let due = *server.due.get_or_insert(now);
    if now < due {
        return 0;
    }
    let owed = now.since(due).0 / length.0 + 1;
    let most = MAX_CATCH_UP.0 / length.0;
    if owed > most {
        server.core.stats.add(Counter::FramesSkipped, owed - most);
    }
    // Frames stay on a fixed grid and do not drift.
    server.due = Some(due + Millis(owed * length.0));
    owed.min(most)
}

/// Runs due frames: the game, console lines that wait, timeouts, and snapshots of the last frame.
pub(super) fn run_frames(server: &mut Server, frames: u64) {
    let scaled = frame_length(&server.core.settings).0 as f64
        * f64::from(server.core.settings.float(key::TIMESCALE));
    let step = Millis((scaled as u64).max(1));
    publish_settings(&mut server.core);
    for (number, client) in server.core.clients.iter().filter(|(_, client)| client.is_active()) {
        server.game.set_ping(number, client.ping_ms());
    }
    let time = server.core.level.time;
    server.enter_game(|game, host| game.run_bot_frame(host, time));
    for _ in 0..frames {
        server.core.level.time = server.core.level.time + step.0 as i32;
        server.core.frame_time += step;
        let time = server.core.level.time;
        server.enter_game(|game, host| game.run_frame(host, time));
        server.core.stats.bump(Counter::Frames);
    }
    server.process_pending_drops();
    if server.core.level.restart_at.is_some_and(|at| server.core.level.time >= at) {
        console::commands::restart_or_reload(server);
    }
    console::run_queued_lines(server, frames);
    level::continue_after_fault(server);
    console::startup::report_notes(server);
    check_timeouts(server);
    console::drain::step(server);
    server.core.connections().resend_connect_responses();
    level::restart_before_clock_wrap(server);
    record_frame(server);
    send_snapshots(server);
    server.process_pending_drops();
    server.core.quality.record(server.core.now, &mut server.core.clients);
    if !server.finished {
        let (mut connections, _, announcer) = server.core.services();
        announcer.announce(&mut connections);
    }
    let length = frame_length(&server.core.settings);
    server.core.connections().begin_frame(length);
}

/// Records the states of all entities that clients may be sent.
fn record_frame(server: &mut Server) {
    if server.core.clients.is_empty() && server.core.bots.is_empty() {
        return;
    }
    let Server { core, game, .. } = server;
    let Core { clients, frames, level, stats, .. } = core;
    let newest = frames.newest();
    let bases = clients.iter().filter_map(|(_, client)| client.oldest_base(newest));
    frames.release_unneeded(bases);
    let replaced = frames.record(&mut **game, level.world.as_mut());
    stats.add(Counter::StatesSanitized, replaced);
    let Core { bots, clients, frames, level, recordings, settings, now, epoch, .. } = core;
    bots::record_views(bots, frames, level.world.as_ref(), &**game);
    recordings.frame_stored(&StoredFrame {
        clients,
        frames,
        game: &**game,
        level,
        settings,
        now: *now,
        epoch: *epoch,
    });
}
