//! Pmove tests beyond the vectors: special floors, movers, flags, runes and invalid states.

mod weapons;

use proptest::prelude::*;

use super::*;
use crate::bg::{
    Event, PmType, Powerup, UNLIMITED_AMMO, Weapon, WeaponState, animation, contents, entity_flag,
    pm_flag,
};
use crate::model::{
    Buttons, EntityNum, PlayerState, Trace, TracePlane, UserCmd, Vec3,
    contents::{mask, surface},
};
use crate::world::TraceQuery;

/// Infinite floor at height 0, with contents above it.
struct Floor {
    surface_flags: i32,
    entity: EntityNum,
    /// Contents between two heights.
    layers: Vec<(f32, f32, i32)>,
}

impl Floor {
    fn with(surface_flags: i32) -> Self {
        Self { surface_flags, entity: EntityNum::WORLD, layers: Vec::new() }
    }
}

impl PmoveWorld for Floor {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        let TraceQuery { start, mins, end, .. } = *query;
        let (from, to) = (start[2] + mins[2], end[2] + mins[2]);
        if to > 0.0 {
            return Trace::free(end);
        }
        // Engines stop an eighth of a unit before a hit surface.
        let fraction = if from > to { ((from - 0.125) / (from - to)).max(0.0) } else { 0.0 };
        Trace {
            fraction,
            endpos: start + (end - start) * fraction,
            plane: TracePlane { normal: Vec3::new(0.0, 0.0, 1.0), dist: 0.0 },
            allsolid: from <= 0.0,
            startsolid: from <= 0.0,
            contents: 1,
            surface_flags: self.surface_flags,
            entity: self.entity,
        }
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        let here = |&&(from, to, _): &&(f32, f32, i32)| (from..to).contains(&point[2]);
        self.layers.iter().filter(here).fold(0, |bits, (.., contents)| bits | contents)
    }
}

const SETTINGS: PmoveSettings = PmoveSettings {
    fixed: false,
    fixed_step_ms: 8,
    float: false,
    dmflags: 0,
    arithmetic: Arithmetic::Bytecode,
};
const CONDITIONS: PmoveInput = PmoveInput { mask: mask::PLAYER_SOLID, gauntlet_hit: false };

/// Returns a player standing on the floor, with a machine gun.
fn standing(rules: &PmoveRules) -> PlayerState {
    let mut state = PlayerState {
        command_time: 1000,
        origin: Vec3::new(0.0, 0.0, 24.125),
        gravity: 800,
        speed: 320,
        weapon: Weapon::Machinegun as i32,
        viewheight: 26,
        ground_entity_num: EntityNum::WORLD.index() as i32,
        legs_anim: animation::LEGS_IDLE,
        torso_anim: animation::TORSO_STAND,
        ..PlayerState::default()
    };
    state.stats[HEALTH] = 100;
    state.stats[rules.variant.stats.max_health] = 100;
    state.stats[rules.variant.stats.weapons] = 0b11_1111_1111_1110;
    state.ammo = [50; 16];
    state.ammo[Weapon::Gauntlet] = UNLIMITED_AMMO;
    state
}

/// A player with its world, rules and usercmd.
struct Scene {
    state: PlayerState,
    rules: PmoveRules,
    conditions: PmoveInput,
    floor: Floor,
    command: UserCmd,
}

impl Scene {
    fn new(variant: &'static PmoveVariant, settings: PmoveSettings, floor: Floor) -> Self {
        let rules = PmoveRules::new(variant, settings);
        let state = standing(&rules);
        let command = UserCmd { weapon: 2, ..UserCmd::default() };
        Self { state, rules, conditions: CONDITIONS, floor, command }
    }

    /// Runs one usercmd of `ms`.
    fn step(&mut self, ms: i32) -> PmoveResult {
        self.command.server_time = self.state.command_time + ms;
        let Self { state, rules, conditions, floor, command } = self;
        move_player(state, command, rules, *conditions, floor)
    }

    /// Runs usercmds and returns the events raised.
    fn events(&mut self, steps: u32, ms: i32) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..steps {
            let before = self.state.event_sequence;
            self.step(ms);
            events.extend(
                (before..self.state.event_sequence)
                    .map(|sequence| self.state.events[(sequence & 1) as usize])
                    .map(|number| Event::try_from(number).expect("an event")),
            );
        }
        events
    }
}

fn quake3(floor: Floor) -> Scene {
    Scene::new(PmoveVariant::QUAKE3, SETTINGS, floor)
}

fn openarena(dmflags: i32) -> Scene {
    let settings = PmoveSettings { dmflags, ..SETTINGS };
    Scene::new(PmoveVariant::OPENARENA, settings, Floor::with(0))
}

#[test]
fn slick_ground_has_no_friction_and_little_acceleration() {
    let speeds = [0, surface::SLICK].map(|flags| {
        let mut scene = quake3(Floor::with(flags));
        scene.state.velocity = Vec3::new(200.0, 0.0, 0.0);
        scene.step(8);
        let coasting = scene.state.velocity[0];
        let mut scene = quake3(Floor::with(flags));
        scene.command.forwardmove = 127;
        scene.step(8);
        (coasting, scene.state.velocity[0])
    });
    // 200 − 200·6·0.008 = 190.4; 320·10·0.008 = 25.6, or a tenth of that. On slick ground gravity's 6.4
    // per sub-step turn along the ground too: √(2.56² + 6.4²) = 6.9.
    assert_eq!(speeds, [(190.0, 26.0), (200.0, 7.0)]);
}

#[test]
fn footstep_events_depend_on_surface() {
    let steps = |flags, dmflags, buttons| {
        let settings = PmoveSettings { dmflags, ..SETTINGS };
        let mut scene = Scene::new(PmoveVariant::QUAKE3, settings, Floor::with(flags));
        scene.command.forwardmove = if buttons == 0 { 127 } else { 64 };
        scene.command.buttons = Buttons(buttons);
        scene.events(60, 20)
    };
    // 1.2 s at 0.4 per millisecond: 480 of 256 a cycle, from 0: feet at 64, 192, 320, 448.
    assert_eq!(steps(0, 0, 0), [Event::Footstep; 4]);
    assert_eq!(steps(surface::METALSTEPS, 0, 0), [Event::FootstepMetal; 4]);
    assert_eq!(steps(surface::NOSTEPS, 0, 0), [Event::None; 4]);
    assert_eq!(steps(surface::NOSTEPS | surface::METALSTEPS, 0, 0), [Event::None; 4]);
    assert_eq!(steps(0, 32, 0), [0; 0]);
    assert_eq!(steps(0, 0, Buttons::WALKING.0), [0; 0]);
}

#[test]
fn fall_events_depend_on_speed_and_surface() {
    let fall = |flags, speed: f32, dead: bool| {
        let mut scene = quake3(Floor::with(flags));
        scene.state.ground_entity_num = EntityNum::NONE.index() as i32;
        scene.state.velocity[2] = -speed;
        if dead {
            scene.state.stats[HEALTH] = 0;
            scene.state.pm_type = PmType::Dead as i32;
        }
        let events = scene.events(1, 8);
        assert_eq!(scene.state.pm_time, if speed > 200.0 { 250 - 8 } else { 0 });
        events
    };
    // Speed² / 10000 decides: 1, 7, 40, 60.
    assert_eq!(fall(0, 90.0, false), [0; 0]);
    assert_eq!(fall(0, 200.0, false), [Event::Footstep]);
    assert_eq!(fall(0, 300.0, false), [Event::FallShort]);
    assert_eq!(fall(0, 700.0, false), [Event::FallMedium]);
    assert_eq!(fall(0, 700.0, true), [0; 0]);
    assert_eq!(fall(0, 800.0, false), [Event::FallFar]);
    assert_eq!(fall(surface::NODAMAGE, 800.0, false), [0; 0]);
}

#[test]
fn player_touches_entity_it_stands_on() {
    let lift = EntityNum::new(77).expect("in range");
    let mut scene = quake3(Floor { entity: lift, ..Floor::with(0) });
    let outcome = scene.step(8);
    assert_eq!(scene.state.ground_entity_num, 77);
    assert_eq!(outcome.touched.as_slice(), [lift]);
    scene.floor.entity = EntityNum::WORLD;
    assert!(scene.step(8).touched.as_slice().is_empty());
}

#[test]
fn held_jump_jumps_once_without_slowing_run() {
    let mut scene = quake3(Floor::with(0));
    scene.command.upmove = 127;
    assert_eq!(scene.events(1, 50), [Event::Jump]);
    // 270, less 50 ms of gravity.
    assert_eq!(scene.state.velocity[2], 230.0);
    scene.command.forwardmove = 127;
    let landed = scene.events(100, 16);
    assert!(!landed.contains(&Event::Jump), "{landed:?}");
    assert_eq!(scene.state.velocity[0], 320.0);
}

#[test]
fn team_orders_have_gestures_in_openarena_only() {
    let shown = |mut scene: Scene, buttons| {
        scene.command.buttons = Buttons(buttons);
        let events = scene.events(1, 8);
        (scene.state.torso_anim & !animation::TOGGLE, scene.state.torso_timer, events)
    };
    let orders = Buttons::PATROL.0 | Buttons::NEGATIVE.0;
    assert_eq!(shown(openarena(0), orders), (animation::TORSO_PATROL, 600, vec![]));
    assert_eq!(shown(quake3(Floor::with(0)), orders), (animation::TORSO_STAND, 0, vec![]));
    let taunt = (animation::TORSO_GESTURE, 2294, vec![Event::Taunt]);
    assert_eq!(shown(openarena(0), orders | Buttons::GESTURE.0), taunt);
    assert_eq!(shown(quake3(Floor::with(0)), Buttons::GESTURE.0), taunt);
}

#[test]
fn invulnerability_holds_player_and_expands_box() {
    let mut scene = openarena(0);
    scene.state.powerups[Powerup::Invulnerability] = 1;
    scene.state.pm_flags |= pm_flag::INVULEXPAND;
    scene.state.origin[2] = 42.125;
    scene.state.velocity = Vec3::new(100.0, 0.0, 0.0);
    scene.command.forwardmove = 127;
    let outcome = scene.step(8);
    assert_eq!((outcome.mins, outcome.maxs), (Vec3([-42.0; 3]), Vec3([42.0; 3])));
    assert_eq!((scene.state.velocity, scene.state.viewheight), (Vec3::ZERO, 12));
}

#[test]
fn no_bunny_flag_reduces_sideways_speed() {
    let run = |dmflags| {
        let mut scene = openarena(dmflags);
        scene.state.velocity = Vec3::new(0.0, 300.0, 0.0);
        scene.command.forwardmove = 127;
        for _ in 0..10 {
            scene.step(16);
        }
        scene.state.velocity[1]
    };
    assert!(run(128) < run(0), "{} {}", run(128), run(0));
}

#[test]
fn firing_flag_in_noclip_depends_on_variant() {
    let fires = |variant| {
        let mut scene = Scene::new(variant, SETTINGS, Floor::with(0));
        scene.state.pm_type = PmType::Noclip as i32;
        scene.command.buttons = Buttons::ATTACK;
        scene.step(8);
        scene.state.e_flags & entity_flag::FIRING != 0
    };
    assert_eq!(PmoveVariant::ALL.map(fires), [true, false, true, true]);
}

#[test]
fn water_jump_requires_free_space() {
    let climbs = |variant, above| {
        let mut scene = Scene::new(variant, SETTINGS, Floor::with(0));
        scene.state.origin[2] = 100.0;
        // Water to the waist, an edge 4 above the origin, and contents 16 above that.
        scene.floor.layers =
            vec![(0.0, 102.0, 0x20), (103.0, 105.0, contents::SOLID), (119.0, 121.0, above)];
        scene.command.forwardmove = 127;
        scene.step(8);
        scene.state.pm_flags & pm_flag::TIME_WATERJUMP != 0
    };
    for (above, everywhere, newer) in [
        (0, true, true),
        (contents::FOG, false, true),
        (contents::PLAYERCLIP, false, false),
        (contents::SOLID, false, false),
    ] {
        assert_eq!(climbs(PmoveVariant::QUAKE3, above), everywhere, "{above:#x}");
        assert_eq!(climbs(PmoveVariant::IOQUAKE3, above), newer, "{above:#x}");
        assert_eq!(climbs(PmoveVariant::OPENARENA, above), newer, "{above:#x}");
    }
}

#[test]
fn velocity_rounding_follows_settings() {
    let is_whole = |variant, float, flags| {
        let settings = PmoveSettings { float, ..SETTINGS };
        let mut scene = Scene::new(variant, settings, Floor::with(flags));
        scene.state.velocity = Vec3::new(100.25, 0.0, 0.0);
        scene.step(8);
        scene.state.velocity == scene.state.velocity.rounded()
    };
    assert!(is_whole(PmoveVariant::QUAKE3, true, 0));
    assert!(is_whole(PmoveVariant::OPENARENA, false, 0));
    assert!(!is_whole(PmoveVariant::OPENARENA, true, 0));
    assert!(!is_whole(PmoveVariant::OPENARENA, true, surface::SLICK));
    assert!(is_whole(PmoveVariant::OPENARENA_NEXT, true, surface::SLICK));
    assert!(!is_whole(PmoveVariant::OPENARENA_NEXT, true, 0));
}

#[test]
fn dead_player_has_low_box_without_body_collision() {
    struct Asked(i32);
    impl PmoveWorld for Asked {
        fn trace(&mut self, query: &TraceQuery) -> Trace {
            self.0 |= query.mask;
            Trace::free(query.end)
        }
        fn point_contents(&mut self, _: Vec3) -> i32 {
            0
        }
    }
    let rules = PmoveRules::new(PmoveVariant::QUAKE3, SETTINGS);
    let mut state = standing(&rules);
    state.stats[HEALTH] = -5;
    state.pm_type = PmType::Dead as i32;
    let mut asked = Asked(0);
    let command = UserCmd { server_time: 1100, forwardmove: 127, ..UserCmd::default() };
    let outcome = move_player(&mut state, &command, &rules, CONDITIONS, &mut asked);
    assert_eq!(asked.0, mask::DEAD_SOLID);
    assert_eq!((outcome.maxs[2], state.viewheight, state.weapon), (-8.0, -16, Weapon::None as i32));
}

/// World with random results.
struct Chaos(u64);

impl Chaos {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    fn float(&mut self) -> f32 {
        match self.next() % 8 {
            0 => f32::from_bits(self.next() as u32),
            1 => 0.0,
            _ => self.next() as f32 / 1e9 - 1.0,
        }
    }
}

impl PmoveWorld for Chaos {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        let bits = self.next();
        Trace {
            fraction: [0.0, 1.0, self.float()][(bits % 3) as usize],
            endpos: query.end,
            plane: TracePlane {
                normal: Vec3::new(self.float(), self.float(), self.float()),
                dist: 0.0,
            },
            allsolid: bits & 4 != 0,
            startsolid: bits & 8 != 0,
            contents: self.next() as i32,
            surface_flags: self.next() as i32,
            entity: EntityNum::new((self.next() % 1024) as usize).expect("in range"),
        }
    }

    fn point_contents(&mut self, _: Vec3) -> i32 {
        self.next() as i32
    }
}

proptest! {
    /// Random states and usercmds in an inconsistent world: every usercmd ends, and the command time does
    /// not decrease.
    #[test]
    fn pmove_survives_invalid_states_and_worlds(
        words in prop::collection::vec(prop_oneof![Just(0u32), 0..200u32, any::<u32>()], PlayerState::WORDS),
        pm_type in 0..7i32,
        time in any::<i32>(),
        span in prop_oneof![0..2000i32, any::<i32>()],
        angles in any::<[i32; 3]>(),
        buttons in any::<i32>(),
        weapon in any::<u8>(),
        moves in any::<[i8; 3]>(),
        seed in any::<u64>(),
        (variant, dmflags, fixed) in (0..4usize, any::<i32>(), any::<bool>()),
    ) {
        let mut state = PlayerState::default();
        state.words_mut().copy_from_slice(&words);
        state.pm_type = pm_type;
        state.command_time = time;
        let command = UserCmd {
            server_time: time.wrapping_add(span),
            angles,
            buttons: Buttons(buttons),
            weapon,
            forwardmove: moves[0],
            rightmove: moves[1],
            upmove: moves[2],
        };
        let settings = PmoveSettings { fixed, fixed_step_ms: 8, float: fixed, dmflags, arithmetic: Arithmetic::Bytecode };
        let rules = PmoveRules::new(PmoveVariant::ALL[variant], settings);
        let outcome = move_player(&mut state, &command, &rules, CONDITIONS, &mut Chaos(seed));
        prop_assert!(outcome.touched.as_slice().len() <= 32);
        prop_assert_eq!(state.command_time, time.max(command.server_time));
        let mut entity = crate::model::EntityState::default();
        player_entity(&mut state, &mut entity, EntityStateOptions { truncated: true, linear_stop_ms: None });
        events::pending_event(&mut state, 100);
    }
}
