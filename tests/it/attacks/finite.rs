//! Non-finite numbers: a game whose states hold NaN and infinities.

use fragd::{
    game::{ConnectError, EntityView, Flight, Game, GameFault, Host, LevelStart, Ruleset},
    model::{
        ClientNum, CommandArgs, EntityNum, EntityShared, EntityState, LevelTime, PlayerState,
        UserCmd, Vec3, assets::MemoryAssets,
    },
    observe::Counter,
    server::Server,
    settings::Settings,
    sim::Actor,
    world::MapEntities,
};

use super::{AttackFixture, SEED};
use crate::sim_fixture::SimFixture;

const ROTTEN: [f32; 4] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX];

/// Free flight whose states come out wrong.
struct Rotten {
    inner: Flight,
    players: Vec<PlayerState>,
    entities: Vec<(EntityState, EntityShared)>,
    frames: usize,
}

impl Rotten {
    /// Copies the inner game's states and spoils them, another part in each frame.
    fn spoil(&mut self) {
        self.frames += 1;
        let rotten = Vec3([0, 1, 2].map(|axis| ROTTEN[(self.frames + axis) % ROTTEN.len()]));
        for (number, player) in ClientNum::all().zip(&mut self.players) {
            *player = *self.inner.player(number);
            let part = [&mut player.velocity, &mut player.grapple_point, &mut player.viewangles];
            *part.into_iter().nth(self.frames % 3).expect("three") = rotten;
        }
        self.entities.clear();
        for number in EntityNum::all().take(self.inner.entity_count()) {
            let view = self.inner.entity(number);
            let mut state = view.map(|view| *view.state).unwrap_or_default();
            let part = [&mut state.pos.delta, &mut state.apos.base, &mut state.angles2];
            *part.into_iter().nth(self.frames % 3).expect("three") = rotten;
            let shared = view.map(|view| *view.shared).unwrap_or_default();
            self.entities.push((state, shared));
        }
    }
}

impl Game for Rotten {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault> {
        self.inner.init(host, start)
    }
    fn shutdown(&mut self, host: &mut dyn Host, restart: bool) -> Result<(), GameFault> {
        self.inner.shutdown(host, restart)
    }
    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), ConnectError> {
        self.inner.client_connect(host, client, first_time, is_bot)
    }
    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault> {
        self.inner.client_begin(host, client)
    }
    fn client_userinfo_changed(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.inner.client_userinfo_changed(host, client)
    }
    fn client_disconnect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.inner.client_disconnect(host, client)
    }
    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault> {
        self.inner.client_command(host, client, words)
    }
    fn client_think(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
    ) -> Result<(), GameFault> {
        self.inner.client_think(host, client, command)
    }
    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        self.inner.run_frame(host, time)?;
        self.spoil();
        Ok(())
    }
    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        self.inner.console_command(host, words)
    }
    fn entity_count(&self) -> usize {
        self.entities.len()
    }
    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        self.inner.entity(number)?;
        let (state, shared) = self.entities.get(number.index())?;
        Some(EntityView { state, shared })
    }
    fn player(&self, client: ClientNum) -> &PlayerState {
        &self.players[client.index()]
    }
    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        self.inner.set_ping(client, ping_ms);
    }

    fn score(&self, client: ClientNum) -> i32 {
        self.inner.score(client)
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        self.inner.has_spawn_point(entities)
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        self.inner.show_restart_countdown(host, at)
    }
}

#[test]
fn m16_non_finite_numbers_are_never_sent() {
    let rules = Box::new(|_| -> Box<dyn Game> {
        Box::new(Rotten {
            inner: Flight::new(Ruleset::BASEOA),
            players: vec![PlayerState::default(); ClientNum::all().count()],
            entities: Vec::new(),
            frames: 0,
        })
    });
    let assets = Box::new(MemoryAssets::default());
    let server = Server::new(Settings::default(), assets, rules, [3; 32]);
    let mut fixture =
        AttackFixture::around(SimFixture::around(SEED, Actor::Server(Box::new(server))));
    let mut looks = 0;
    for _ in 0..40 {
        fixture.run_for(50);
        for honest in 0..fixture.honest.len() {
            let node = fixture.honest[honest].node;
            let Some(snapshot) = fixture.sim.player(node).client().snapshot() else { continue };
            let (sequence, player) = (snapshot.sequence, snapshot.player);
            let number = ClientNum::new(honest).expect("three players");
            let Some(view) = fixture.server().sent_view(number, sequence) else { continue };
            let vectors = |state: &EntityState| {
                [state.pos.base, state.pos.delta, state.apos.base, state.angles2]
            };
            let entities = view.entities.flat_map(vectors);
            let parts = [player.origin, player.velocity, player.grapple_point, player.viewangles];
            for Vec3(vector) in parts.into_iter().chain(entities) {
                assert!(vector.iter().all(|part| part.is_finite()), "{vector:?} was sent");
                looks += 1;
            }
        }
    }
    assert!(looks > 500, "{looks} vectors were seen");
    assert!(fixture.count(Counter::StatesSanitized) > 100);
    fixture.check();
}
