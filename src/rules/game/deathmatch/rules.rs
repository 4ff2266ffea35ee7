//! Deathmatch rules behind client commands: begin, kill, teleport, give, leave play.

use super::{
    context::Context, context::Frame, damage::death::suicide,
    damage::death::suicide_on_team_change, entities::Entities, match_frame::begin_intermission,
    pickups::give_new_item, systems::Systems, teleport::teleport, think::spawn,
};
use crate::bg::Event;
use crate::game::clients::{ClientContext, ClientRules, Clients};
use crate::game::{Host, rng::LevelRng};
use crate::model::{ClientNum, PlayerState, Vec3};

/// Game without its clients and its host.
pub(super) struct DeathmatchRules<'a> {
    pub(super) entities: &'a mut Entities,
    pub(super) frame: &'a mut Frame,
    pub(super) rng: &'a mut LevelRng,
    pub(super) sys: &'a mut Systems,
}

impl DeathmatchRules<'_> {
    fn split<'b>(
        &'b mut self,
        clients: &'b mut Clients,
        host: &'b mut dyn Host,
    ) -> (Context<'b>, &'b mut Systems) {
        let Self { entities, frame, rng, sys } = self;
        (Context { host, clients, entities, frame, rng }, sys)
    }
}

/// Runs client code with the rules of this game.
pub(super) fn client_context<R>(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    run: impl FnOnce(&mut ClientContext<'_>) -> R,
) -> R {
    let Context { host, clients, entities, frame, rng } = cx;
    let mut rules = DeathmatchRules { entities, frame, rng, sys };
    run(&mut ClientContext { host: *host, clients, rules: &mut rules })
}

impl ClientRules for DeathmatchRules<'_> {
    fn begin(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        let (mut cx, sys) = self.split(clients, host);
        begin(&mut cx, sys, client);
    }

    fn kill(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        let (mut cx, sys) = self.split(clients, host);
        suicide(&mut cx, &mut sys.fight, client);
    }

    fn teleport(
        &mut self,
        clients: &mut Clients,
        host: &mut dyn Host,
        client: ClientNum,
        origin: Vec3,
        angles: Vec3,
    ) {
        let (mut cx, sys) = self.split(clients, host);
        teleport(&mut cx, &mut sys.fight, client, origin, angles);
    }

    fn give_item(
        &mut self,
        clients: &mut Clients,
        host: &mut dyn Host,
        client: ClientNum,
        item: i32,
    ) {
        let (mut cx, sys) = self.split(clients, host);
        give_new_item(&mut cx, &mut sys.fight, client, item);
    }

    fn begin_intermission(&mut self, clients: &mut Clients, host: &mut dyn Host) {
        let (mut cx, sys) = self.split(clients, host);
        begin_intermission(&mut cx, sys);
    }

    fn leave_play(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        let (mut cx, sys) = self.split(clients, host);
        if cx.is_dead(client) {
            sys.body_queue.copy_to_body_queue(&mut cx, client);
        } else {
            suicide_on_team_change(&mut cx, &mut sys.fight, client);
        }
    }
}

/// Enters a client into the level and spawns it.
pub(super) fn begin(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    cx.clients.enter(client);
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.unlink(cx.host);
        // A team change resets the score as well, unless the ruleset keeps it.
        let e_flags = player.state.e_flags;
        player.state = PlayerState { e_flags, ..PlayerState::default() };
    }
    cx.clients.restore_score(cx.host, client);
    spawn(cx, sys, client, true);
    if !cx.clients.ruleset.spawning.effect_at_spot && cx.clients.role(client).plays() {
        let at = cx.clients.player(client).map(|player| player.shared.current_origin);
        let at = at.unwrap_or(Vec3::ZERO);
        cx.show_teleport(client, at, Event::PlayerTeleportIn);
    }
    cx.clients.entered(cx.host, client);
}
