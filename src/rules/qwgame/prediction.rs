//! Prediction of the own player of a QuakeWorld client.
//!
//! The answer to a packet holds the player behind its usercmd. The usercmds that were sent since run on it, with the same
//! arithmetic as on the server. Solid are the world, brush entities at their newest place, and other players.
//!
//! Invariant: a prediction does not allocate once its memory has grown.
//! Source: QuakeWorld protocol 28, prediction by the client.

use super::movement::{
    MoveCommand, MoveKind, MoveState, MoveVariants, MoveVars, Scene, SolidEntity, player_move,
};
use crate::{
    bsp29::Bsp29,
    model::Vec3,
    quakeworld::{
        PlayerInfo, Usercmd,
        channel::timing::{FRAMES, frame_index},
        client::{Client, LevelState},
        info,
        players::{MoveType, flag},
    },
};

/// Distance beyond which a prediction is a miss, in units. Packets carry eighths of a unit.
const MISS: f32 = 0.5;
/// Distance beyond which a player was moved by the level and not by usercmds, in units.
const MOVED: f32 = 64.0;

/// Predicted position behind the usercmd of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Predicted {
    sequence: u32,
    origin: Vec3,
}

/// Prediction of one client.
#[derive(Debug, Default)]
pub struct Predictor {
    entities: Vec<SolidEntity>,
    ring: Vec<Predicted>,
    /// Constants of the physics, and the serverinfo that they follow from.
    vars: MoveVars,
    serverinfo: Vec<u8>,
    /// Newest predicted state.
    state: MoveState,
    /// Newest answer that was compared.
    compared: u32,
    checked: u64,
    misses: u64,
}

impl Predictor {
    /// Number of answers that were compared with their prediction.
    #[must_use]
    pub const fn checked(&self) -> u64 {
        self.checked
    }

    /// Number of answers among them that were predicted at another place.
    #[must_use]
    pub const fn misses(&self) -> u64 {
        self.misses
    }

    /// Forgets the predictions, at the start of a level.
    pub fn forget(&mut self) {
        self.ring.clear();
    }

    /// Returns the player behind the newest usercmd; `None` without a player in the newest answer.
    pub fn predict(&mut self, client: &Client, map: &Bsp29) -> Option<MoveState> {
        let (answered, info) = client.own_state()?;
        let level = client.level();
        self.state = state_of(info);
        self.compare(answered, self.state.origin);
        self.find_solid_entities(client, level);
        self.update_vars(level);
        for (sequence, usercmd) in client.commands_after(answered) {
            self.run(map, sequence, usercmd);
        }
        Some(self.state)
    }

    /// Runs the usercmd of a packet that was sent after [`Self::predict`].
    pub fn run(&mut self, map: &Bsp29, sequence: u32, usercmd: &Usercmd) {
        let scene = Scene { map, entities: &self.entities };
        let (vars, state) = (&self.vars, &mut self.state);
        command_of(usercmd).for_each_part(&mut |part, _| {
            state.jump_msec = 0;
            let _ = player_move(&scene, vars, state, &part);
        });
        if self.ring.is_empty() {
            self.ring.resize(FRAMES, Predicted::default());
        }
        self.ring[frame_index(sequence)] = Predicted { sequence, origin: self.state.origin };
    }

    /// Follows changes of the constants. The variants stand in the serverinfo as text, which is read when it changes.
    fn update_vars(&mut self, level: &LevelState) {
        if self.serverinfo != level.serverinfo.as_bytes() {
            self.serverinfo.clear();
            self.serverinfo.extend_from_slice(level.serverinfo.as_bytes());
            self.vars.variants = variants_of(&self.serverinfo);
        }
        self.vars = MoveVars { variants: self.vars.variants, ..constants_of(level) };
    }

    /// Compares an answer with the prediction for it.
    fn compare(&mut self, sequence: u32, origin: Vec3) {
        if sequence <= self.compared {
            return;
        }
        self.compared = sequence;
        let Some(predicted) = self.ring.get(frame_index(sequence)) else { return };
        let distance = (predicted.origin - origin).length();
        if predicted.sequence == sequence && distance < MOVED {
            self.checked += 1;
            self.misses += u64::from(distance > MISS);
        }
    }

    fn find_solid_entities(&mut self, client: &Client, level: &LevelState) {
        self.entities.clear();
        if let Some(frame) = client.frames().newest_valid() {
            self.entities.extend(frame.entities().iter().filter_map(|(_, entity)| {
                let model = submodel(level.model(usize::from(entity.model)))?;
                Some(SolidEntity::model(model, Vec3(entity.origin)))
            }));
        }
        if let Some(frame) = client.frames().newest() {
            let others = frame.players().iter().filter(|info| info.player != level.player);
            let solid = others.filter(|info| info.has(flag::SOLID));
            self.entities.extend(solid.map(|info| SolidEntity::player(Vec3(info.origin))));
        }
    }
}

/// Returns the number of a model of the map by its name, e.g. `*2`.
fn submodel(name: &[u8]) -> Option<usize> {
    std::str::from_utf8(name.strip_prefix(b"*")?).ok()?.parse().ok()
}

/// Returns the state of a player in an answer.
#[must_use]
pub fn state_of(info: &PlayerInfo) -> MoveState {
    let move_type = info.move_type();
    let kind = match move_type {
        _ if info.has(flag::DEAD) => MoveKind::Dead,
        MoveType::Normal | MoveType::JumpHeld | MoveType::Reserved => MoveKind::Normal,
        MoveType::OldSpectator => MoveKind::OldSpectator,
        MoveType::Spectator => MoveKind::Spectator,
        MoveType::Fly => MoveKind::Fly,
        MoveType::None => MoveKind::None,
        MoveType::Lock => MoveKind::Locked,
    };
    MoveState {
        origin: Vec3(info.origin),
        velocity: Vec3(info.velocity.map(f32::from)),
        kind,
        on_ground: info.has(flag::ON_GROUND),
        jump_held: move_type == MoveType::JumpHeld,
        ..MoveState::default()
    }
}

/// Returns a usercmd as a command of the move.
#[must_use]
pub fn command_of(usercmd: &Usercmd) -> MoveCommand {
    MoveCommand {
        angles: usercmd.angles.map(|angle| angle.0.cast_signed()),
        moves: [usercmd.forward, usercmd.side, usercmd.up],
        buttons: usercmd.buttons,
        msec: usercmd.msec,
    }
}

/// Returns the constants of the physics on a level, without variants.
fn constants_of(level: &LevelState) -> MoveVars {
    let rules = &level.move_vars;
    MoveVars {
        gravity: rules.gravity,
        stop_speed: rules.stop_speed,
        max_speed: rules.max_speed,
        spectator_max_speed: rules.spectator_max_speed,
        accelerate: rules.accelerate,
        air_accelerate: rules.air_accelerate,
        water_accelerate: rules.water_accelerate,
        friction: rules.friction,
        water_friction: rules.water_friction,
        entity_gravity: rules.ent_gravity,
        variants: MoveVariants::default(),
    }
}

/// Returns the variants of the move that a serverinfo names. Without its key, `pm_ktjump` is on.
#[must_use]
pub fn variants_of(serverinfo: &[u8]) -> MoveVariants {
    let number = |key| {
        let text = std::str::from_utf8(info::value(serverinfo, key)?).ok()?;
        text.trim().parse::<f32>().ok()
    };
    let is_on = |key| number(key).is_some_and(|value| value != 0.0);
    MoveVariants {
        bunny_speed_cap: number("pm_bunnyspeedcap").unwrap_or(0.0),
        kt_jump: number("pm_ktjump").unwrap_or(1.0),
        slide_fix: is_on("pm_slidefix"),
        air_step: is_on("pm_airstep"),
        predict_ground: is_on("pm_pground"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_follow_the_serverinfo() {
        let plain = variants_of(b"\\maxfps\\77");
        assert_eq!(plain, MoveVariants { kt_jump: 1.0, ..MoveVariants::default() });
        let all =
            b"\\pm_ktjump\\0\\pm_slidefix\\1\\pm_airstep\\1\\pm_pground\\1\\pm_bunnyspeedcap\\1.5";
        let expected = MoveVariants {
            bunny_speed_cap: 1.5,
            kt_jump: 0.0,
            slide_fix: true,
            air_step: true,
            predict_ground: true,
        };
        assert_eq!(variants_of(all), expected);
    }

    #[test]
    fn submodels_are_named_by_number() {
        assert_eq!(
            (submodel(b"*2"), submodel(b"maps/b.bsp"), submodel(b"*x")),
            (Some(2), None, None)
        );
    }
}
