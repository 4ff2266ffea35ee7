//! Packets of clients: acceptance, messages, usercmds with those of lost packets.
//!
//! Source: QuakeWorld protocol 28, running commands.

use super::{
    QwCounter, QwServer,
    client::{Client, Stage},
    drop::DropReason,
    level::Level,
};
use crate::{
    model::{Millis, Vec3},
    node::Route,
    observe::LogEvent,
    quakeworld::{
        ClientMessage, ClientMessages, Extensions, Usercmd, channel::DropReason as Rejected,
        moves::MoveMessage,
    },
    qwgame::movement::MoveCommand,
};

/// Pitch that usercmds may have, in 65,536ths of a turn: -70 to 80 degrees.
const PITCH: [i16; 2] = [-12743, 14563];
/// Maximum number of string commands in a packet; later ones are ignored.
const MAX_COMMANDS: usize = 64;

/// Handles a packet of a client. Returns whether it was accepted.
pub(super) fn receive(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    route: Route,
    bytes: &[u8],
) -> bool {
    let Some(client) = &mut server.clients[slot] else { return false };
    let received = match client.channel.receive(bytes) {
        Ok(received) => received,
        Err(error) => {
            if matches!(error, Rejected::Old { .. } | Rejected::FarAhead { .. }) {
                server.counters.bump(QwCounter::Old);
            } else {
                server.counters.bump(QwCounter::BadMessages);
            }
            log::debug!("client {slot} packet ignored: {error}");
            return false;
        }
    };
    // A zombie only acknowledges its disconnect message.
    let is_zombie = client.stage == Stage::Zombie;
    let messages = if is_zombie {
        ClientMessages::checked(&[], Extensions::NONE)
    } else {
        ClientMessages::checked(received.payload, Extensions::NONE)
    };
    let messages = match messages {
        Ok(messages) => messages,
        Err(error) => {
            server.counters.bump(QwCounter::BadMessages);
            if let Some(suppressed) = server.log.allows(LogEvent::ClientFault, now) {
                log::warn!("client {slot} packet invalid: {error}{suppressed}");
            }
            // Only the client's own port may end its session.
            if client.address() == route.remote {
                client.channel.commit(&received, now);
                super::drop::drop_client(server, now, slot, DropReason::Fault);
                return true;
            }
            return false;
        }
    };
    let lost = received.lost;
    let sequence = received.header.sequence;
    client.channel.commit(&received, now);
    client.timing.accepted(client.channel.acknowledged(), client.channel.outgoing(), now);
    if client.peer.accept(route.remote) {
        log::info!("client {slot} address changed to {}", route.remote);
    }
    client.local_ip = route.local_ip;
    client.last_packet = now;
    client.has_spoken = true;
    client.wanted_base = None;
    server.counters.bump(QwCounter::Accepted);
    server.counters.add(QwCounter::Lost, u64::from(lost));
    run_messages(server, now, slot, messages, (sequence, lost));
    true
}

fn run_messages(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    messages: ClientMessages<'_>,
    (sequence, lost): (u32, u32),
) {
    let (mut has_moved, mut commands) = (false, 0);
    for message in messages.flatten() {
        let Some(client) = &mut server.clients[slot] else { return };
        if !client.is_connected() {
            return;
        }
        match message {
            ClientMessage::StringCommand { text } => {
                commands += 1;
                if commands <= MAX_COMMANDS {
                    super::commands::run_command(server, now, slot, text);
                }
            }
            ClientMessage::Move(message) if !has_moved => {
                has_moved = true;
                client.loss = message.loss;
                if client.is_playing() && !message.is_valid(sequence) {
                    // The rest of the packet is not trusted either.
                    server.counters.bump(QwCounter::BadChecksums);
                    return;
                }
                if client.is_playing() {
                    run_move(server, now, slot, &message, lost);
                }
            }
            ClientMessage::Delta { sequence } => client.wanted_base = Some(sequence),
            ClientMessage::TeleportMove { origin } if client.is_spectator => {
                let origin = Vec3(origin.map(|coord| coord.0));
                if client.is_playing() && origin.is_finite() {
                    server.level.game.place(slot, origin);
                }
            }
            _ => {}
        }
    }
}

fn run_move(server: &mut QwServer, now: Millis, slot: usize, message: &MoveMessage<'_>, lost: u32) {
    if server.level.is_still() {
        if server.level.is_over {
            super::intermission::take_usercmd(server, now, message.newest());
        }
        return;
    }
    let QwServer { clients, level, .. } = server;
    let Some(client) = &mut clients[slot] else { return };
    let remembered = client.command;
    message.run_after_loss(lost, &remembered, |command| {
        run_usercmd(now, slot, client, level, command)
    });
    client.command = *message.newest();
    client.command_at = now;
    client.encoded.forget();
    super::events::handle_events(server, now);
}

/// Runs a usercmd, within the time that the clock allows.
fn run_usercmd(
    now: Millis,
    slot: usize,
    client: &mut Client,
    level: &mut Level,
    command: &Usercmd,
) {
    let mut angles = command.angles.map(|angle| angle.0.cast_signed());
    angles[0] = angles[0].clamp(PITCH[0], PITCH[1]);
    let whole = MoveCommand {
        angles,
        moves: [command.forward, command.side, command.up],
        buttons: command.buttons,
        msec: command.msec,
    };
    let allowed = client.speed.allowed(now, whole);
    allowed.for_each_part(&mut |part, is_first| {
        level.game.run_command(slot, &part, if is_first { command.impulse } else { 0 });
    });
}
