//! Allocation-free hot path: movement, traces, shots, linking, visibility, and whole server frames.
//!
//! Runs on OpenArena's maps, if installed.

use allocation_counter::measure;
use fragd::{
    game::movement::{
        Arithmetic, PmoveInput, PmoveRules, PmoveSettings, PmoveVariant, PmoveWorld, angles,
        move_player,
    },
    model::{
        EntityNum, EntityShared, EntityState, Millis, PlayerState, Trace, UserCmd, Vec3,
        contents::{content, mask},
    },
    world::{Bsp, TracePrecision, TraceQuery, World, links::EntityViews},
};

use crate::{bot_match::BotMatch, installed_maps};

const PLAYERS: usize = 64;
const MINS: Vec3 = Vec3::new(-15.0, -15.0, -24.0);
const MAXS: Vec3 = Vec3::new(15.0, 15.0, 32.0);
/// Frames that every player moves through.
const FRAMES: usize = 40;

/// Everybody's entity, by number.
struct Entities(Vec<(EntityState, EntityShared)>);

impl EntityViews for Entities {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        self.0.get(number.index()).map(|(state, shared)| (state, shared))
    }
}

/// The world as one player meets it.
struct TestWorld<'a> {
    world: &'a World,
    entities: &'a Entities,
    number: EntityNum,
    questions: &'a mut usize,
}

impl PmoveWorld for TestWorld<'_> {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        *self.questions += 1;
        self.world.scene(self.entities, self.number).trace(query)
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        self.world.scene(self.entities, self.number).point_contents(point)
    }
}

fn spawn_points(bsp: &Bsp) -> Vec<Vec3> {
    let entities = fragd::world::MapEntities::parse(&bsp.entity_text).unwrap();
    let origin = |text: &str| -> Option<Vec3> {
        let parts: Vec<f32> = text.split(' ').filter_map(|part| part.parse().ok()).collect();
        Some(Vec3(parts.try_into().ok()?))
    };
    let spots = entities.of_class("info_player_deathmatch");
    spots.filter_map(|spot| origin(spot.field("origin")?)).collect()
}

/// 64 players run about, shoot and look around. What was asked: traces, and pairs that see each other.
fn play(world: &mut World, players: &mut [PlayerState], entities: &mut Entities) -> [usize; 2] {
    let settings = PmoveSettings {
        fixed: false,
        fixed_step_ms: 8,
        float: false,
        dmflags: 0,
        arithmetic: Arithmetic::Bytecode,
    };
    let rules = PmoveRules::new(PmoveVariant::OPENARENA, settings);
    let conditions = PmoveInput { mask: mask::PLAYER_SOLID, gauntlet_hit: false };
    let (mut questions, mut seen) = (0, 0);
    for frame in 0..FRAMES {
        for (at, state) in players.iter_mut().enumerate() {
            let number = EntityNum::new(at).unwrap();
            let command = UserCmd {
                server_time: state.command_time + 33,
                angles: [0, (at * 1000 + frame * 700) as i32 & 0xffff, 0],
                forwardmove: 127,
                upmove: if frame % 16 == at % 16 { 127 } else { 0 },
                ..UserCmd::default()
            };
            let mut scene = TestWorld { world, entities, number, questions: &mut questions };
            move_player(state, &command, &rules, conditions, &mut scene);
            let eye = state.origin + Vec3::new(0.0, 0.0, state.viewheight as f32);
            let end = eye.add_scaled(angles::axes(state.viewangles).forward, 8192.0);
            scene.trace(&TraceQuery::line(eye, end, mask::SHOT));
            let (entity, shared) = &mut entities.0[at];
            shared.current_origin = state.origin;
            world.link(number, entity, shared);
        }
        world.update_pvs_index();
        for state in players.iter() {
            seen += world.visible_from(&world.bsp().viewpoint(state.origin)).iter().count();
        }
    }
    [questions, seen]
}

#[test]
fn usercmds_traces_and_snapshots_do_not_allocate() {
    for map in ["oa_dm1", "oa_dm4"] {
        let Some(bsp) = installed_maps::load(map) else { continue };
        let spots = spawn_points(&bsp);
        let mut world = World::new(bsp, TracePrecision::Single).unwrap();
        let mut players: Vec<_> = (0..PLAYERS)
            .map(|at| {
                let mut state = PlayerState {
                    origin: spots[at % spots.len()] + Vec3::new(0.0, 0.0, 9.0),
                    client_num: at as i32,
                    gravity: 800,
                    speed: 320,
                    ..PlayerState::default()
                };
                state.stats[0] = 100;
                state
            })
            .collect();
        let body = EntityShared {
            mins: MINS,
            maxs: MAXS,
            contents: content::BODY,
            owner_num: EntityNum::NONE.index() as i32,
            ..EntityShared::default()
        };
        let mut entities = Entities(vec![(EntityState::default(), body); PLAYERS]);
        let mut asked = [0; 2];
        let cost = measure(|| asked = play(&mut world, &mut players, &mut entities));
        let [traces, seen] = asked;
        assert!(traces > PLAYERS * FRAMES * 3, "{map}: {traces} traces");
        assert!(seen > PLAYERS * FRAMES, "{map}: {seen} seen");
        assert_eq!(cost.count_total, 0, "{map}: allocations over {traces} traces");
    }
    // The counter does count.
    assert_eq!(measure(|| drop(std::hint::black_box(Box::new(7)))).count_total, 1);
}

/// Number of fighting clients and of observed server frames.
const FIGHTERS: u16 = 16;
const SERVER_FRAMES: usize = 400;

#[test]
fn server_frame_of_fighting_bots_does_not_allocate() {
    let Some(file) = installed_maps::read("maps/oa_dm4.bsp") else { return };
    let set = [("fraglimit", "0"), ("g_log", "")];
    let mut fighters = BotMatch::on(("oa_dm4", &file), FIGHTERS, 3, &set);
    // All clients are in the game, and every buffer has its size.
    fighters.run_for(Millis::seconds(30));
    assert_eq!(fighters.server().active_clients(), usize::from(FIGHTERS));
    let mut costs = Vec::new();
    for _ in 0..SERVER_FRAMES {
        fighters.next_frame(|frame| costs.push(measure(frame).count_total));
    }
    let busy: Vec<_> = costs.iter().filter(|&&count| count > 0).collect();
    // What is said to clients, as after a death, takes memory; fighting does not.
    assert!(busy.len() < SERVER_FRAMES / 4, "{} of {SERVER_FRAMES} frames: {busy:?}", busy.len());
}
