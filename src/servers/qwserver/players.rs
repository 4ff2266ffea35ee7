//! Players as clients see them: `playerinfo`.
//!
//! Source: QuakeWorld protocol 28, `playerinfo`.

use super::client::Client;
use crate::{
    model::Millis,
    quakeworld::{
        PlayerInfo, Usercmd,
        bytes::Angle,
        players::{MoveType, flag},
    },
    qwgame::{
        PlayerView,
        movement::{MoveKind, MoveState},
    },
};

/// State of a player for a client; `is_own` for the client's own player.
pub(super) fn player_info(
    now: Millis,
    slot: usize,
    client: &Client,
    view: &PlayerView,
    is_own: bool,
    player_model: u16,
) -> PlayerInfo {
    let state = &view.state;
    let mut info = PlayerInfo {
        player: slot as u8,
        origin: state.origin.0,
        frame: view.look.frame,
        velocity: state.velocity.0.map(|speed| speed as i16),
        model: if view.look.model == player_model { 0 } else { view.look.model as u8 },
        skin: view.look.skin,
        effects: view.look.effects,
        ..PlayerInfo::default()
    };
    if client.is_spectator {
        // A spectator has no body.
        info = PlayerInfo { frame: 0, model: 0, skin: 0, effects: 0, ..info };
    }
    info.set_field_flags();
    info.set_move_type(move_type(state));
    // A speed below 1 is sent too, as 0: so servers do.
    let moving =
        flag::VELOCITY.into_iter().zip(state.velocity.0).filter(|(_, speed)| *speed != 0.0);
    moving.for_each(|(bit, _)| info.flags |= bit);
    if client.is_spectator {
        return info;
    }
    if !is_own {
        info.flags |= flag::MSEC | flag::COMMAND;
        info.msec = now.since(client.command_at).0.min(255) as u8;
        info.command = Usercmd { buttons: 0, impulse: 0, ..client.command };
        if state.kind == MoveKind::Dead {
            info.command.angles[0] = Angle(0);
        }
    }
    if state.kind == MoveKind::Dead {
        info.flags |= flag::DEAD;
    }
    if state.on_ground {
        info.flags |= flag::ON_GROUND;
    }
    if view.is_solid {
        info.flags |= flag::SOLID;
    }
    info
}

const fn move_type(state: &MoveState) -> MoveType {
    match state.kind {
        MoveKind::Normal | MoveKind::Dead if state.jump_held => MoveType::JumpHeld,
        MoveKind::Normal | MoveKind::Dead => MoveType::Normal,
        MoveKind::OldSpectator => MoveType::OldSpectator,
        MoveKind::Spectator => MoveType::Spectator,
        MoveKind::Fly => MoveType::Fly,
        MoveKind::None => MoveType::None,
        MoveKind::Locked => MoveType::Lock,
    }
}
