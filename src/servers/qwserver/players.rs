//! Players as clients see them: `playerinfo`, view height, frames of the model.
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

/// Heights of the eye above the origin, alive and dead, in units.
const VIEW_HEIGHTS: [f32; 2] = [22.0, -8.0];
/// Frames of the model: first and count of running, standing and dying.
const RUN: (u8, u8) = (6, 6);
const STAND: (u8, u8) = (12, 5);
/// Last frame of a death.
const DEAD_FRAME: u8 = 60;
/// Frames of the model per second.
const FRAMES_PER_SECOND: f64 = 10.0;
/// Speed from which a player runs, in units per second.
const RUN_SPEED: f32 = 10.0;

/// Height of the eye of a player.
pub(super) fn view_height(view: &PlayerView) -> f32 {
    VIEW_HEIGHTS[usize::from(view.state.kind == MoveKind::Dead)]
}

/// State of a player for a client; `is_own` for the client's own player.
pub(super) fn player_info(
    now: Millis,
    slot: usize,
    client: &Client,
    view: &PlayerView,
    is_own: bool,
    seconds: f64,
) -> PlayerInfo {
    let state = &view.state;
    let mut info = PlayerInfo {
        player: slot as u8,
        origin: state.origin.0,
        frame: frame(state, seconds),
        velocity: state.velocity.0.map(|speed| speed as i16),
        ..PlayerInfo::default()
    };
    info.set_field_flags();
    info.set_move_type(move_type(state));
    if client.is_spectator {
        // A spectator has no body.
        info.frame = 0;
        return info;
    }
    if is_own {
        info.flags |= flag::WEAPON_FRAME;
    } else {
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

fn frame(state: &MoveState, seconds: f64) -> u8 {
    if state.kind == MoveKind::Dead {
        return DEAD_FRAME;
    }
    let [x, y, _] = state.velocity.0;
    let (first, count) = if x * x + y * y > RUN_SPEED * RUN_SPEED { RUN } else { STAND };
    first + ((seconds * FRAMES_PER_SECOND) as u64 % u64::from(count)) as u8
}
