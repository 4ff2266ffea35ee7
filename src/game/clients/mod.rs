//! Clients of a game: names, teams, chat, spectators, ranks, scoreboard.
//!
//! [`Clients`] is what every game keeps of its clients; [`ClientRules`] is what the rest asks of a game
//! (how one enters, how one dies), so that each command is written once.
//!
//! Invariants: a slot without a player has no entity and an empty player entry; sessions survive level
//! changes as long as this value lives. Source: the base game's client lifecycle; OpenArena's.

mod accuracy;
mod chat;
mod cheats;
mod commands;
mod console;
mod game_log;
mod game_settings;
mod ip_bans;
mod locations;
mod player;
mod proposal;
mod rejoin_stats;
mod scores;
mod spectators;
mod team_overlay;
mod teams;
#[cfg(test)]
mod tests;
mod votes;

pub(in crate::game) use self::{
    accuracy::Accuracy,
    game_settings::{GameSettings, SPECTATOR_SPEED, password},
    locations::Locations,
    player::{JoinState, Placement, Player, Role, Session},
};
use super::{
    Host, LevelStart, Ruleset,
    modes::Mode,
    ruleset::ConnectionIconDelay,
    settings::{SettingsVersion, key},
    userinfo::{Detail, PlayerEntryFields, PlayerUserinfo, player_entry},
};
use crate::bg::{GameType, Team, configstring, entity_flag};
use crate::model::{ClientNum, LevelTime, UserCmd, Vec3, limits::MAX_CLIENTS};

/// Shows clients the countdown to a restart at `at`. Returns false while warm-up is on: its own
/// countdown follows the restart.
pub(super) fn show_restart_countdown(host: &mut dyn Host, at: LevelTime) -> bool {
    if host.settings().flag(key::G_DO_WARMUP) {
        return false;
    }
    host.set_configstring(configstring::WARMUP, &at.to_string());
    true
}

/// The rules of a game, as client commands ask them.
///
/// Each call gets the clients and the host; what else the game needs stands behind the trait.
pub(in crate::game) trait ClientRules {
    /// Puts a client into the level, or puts it there again: a place, a new state, and what the client is
    /// told.
    fn begin(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum);

    /// A player asks to die.
    fn kill(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum);

    /// Teleports a client.
    fn teleport(
        &mut self,
        clients: &mut Clients,
        host: &mut dyn Host,
        client: ClientNum,
        origin: Vec3,
        angles: Vec3,
    );

    /// Gives a player an item by its number. Games without items give none.
    fn give_item(
        &mut self,
        _clients: &mut Clients,
        _host: &mut dyn Host,
        _client: ClientNum,
        _item: i32,
    ) {
    }

    /// A player is about to become a spectator, or to change teams.
    fn leave_play(&mut self, _clients: &mut Clients, _host: &mut dyn Host, _client: ClientNum) {}
}

/// Context of a call that concerns clients: the engine, the clients, and the rules of their game.
pub(in crate::game) struct ClientContext<'a> {
    pub(in crate::game) host: &'a mut dyn Host,
    pub(in crate::game) clients: &'a mut Clients,
    pub(in crate::game) rules: &'a mut dyn ClientRules,
}

/// Everybody who is connected, and what all games know of them.
#[derive(Debug)]
pub(in crate::game) struct Clients {
    pub(in crate::game) ruleset: &'static Ruleset,
    pub(in crate::game) settings: GameSettings,
    /// The settings that the rules were read from.
    pub(in crate::game) settings_version: SettingsVersion,
    /// What is played on this level.
    pub(in crate::game) game_type: GameType,
    /// Scores of red and blue.
    pub(in crate::game) team_scores: [i32; 2],
    /// The level is over: everybody sees the scoreboard.
    pub(in crate::game) intermission: bool,
    /// Level time of the last frame.
    pub(in crate::game) now: LevelTime,
    pub(in crate::game) started: LevelTime,
    /// Named places of the level.
    pub(in crate::game) locations: Locations,
    /// When team mates are told of each other next.
    overlay_at: LevelTime,
    votes: votes::Votes,
    rejoin_stats: rejoin_stats::RejoinStats,
    /// From when on the log's clock counts.
    logged_from: LevelTime,
    /// By client number; `None` for a free slot.
    pub(in crate::game) players: Vec<Option<Player>>,
    /// By client number; kept over level changes.
    pub(in crate::game) sessions: [Session; MAX_CLIENTS],
    /// Order number of the next client that starts to watch.
    next_waiting: u32,
}

impl Clients {
    /// Nobody.
    pub(in crate::game) fn new(ruleset: &'static Ruleset) -> Self {
        Self {
            ruleset,
            settings: GameSettings::default(),
            settings_version: SettingsVersion::default(),
            game_type: GameType::default(),
            team_scores: [0; 2],
            intermission: false,
            now: LevelTime::default(),
            started: LevelTime::default(),
            locations: Locations::default(),
            overlay_at: LevelTime::default(),
            votes: votes::Votes::default(),
            rejoin_stats: rejoin_stats::RejoinStats::default(),
            logged_from: LevelTime::default(),
            players: vec![None; MAX_CLIENTS],
            sessions: [Session::NEW; MAX_CLIENTS],
            next_waiting: 0,
        }
    }

    /// A level begins: sessions stay, players have to connect again.
    pub(in crate::game) fn start(&mut self, host: &mut dyn Host, start: &LevelStart) {
        self.now = start.time;
        self.started = start.time;
        if !(start.restart && self.ruleset.log_clock_runs_on) {
            self.logged_from = start.time;
        }
        self.team_scores = [0; 2];
        self.intermission = false;
        self.overlay_at = start.time;
        self.votes = votes::Votes::default();
        self.rejoin_stats = rejoin_stats::RejoinStats::default();
        self.locations.clear();
        self.players.fill(None);
        self.settings = GameSettings::read(host, self.ruleset);
        self.settings_version = SettingsVersion::default();
    }

    /// What is played from now on. Another game has other sides: everybody chooses anew.
    pub(in crate::game) fn play_game_type(&mut self, game_type: GameType) {
        if self.game_type != game_type {
            self.sessions.fill(Session::NEW);
        }
        self.game_type = game_type;
    }

    /// The mode of the level's game type.
    pub(in crate::game) const fn mode(&self) -> &'static Mode {
        Mode::of(self.game_type)
    }

    pub(in crate::game) fn player(&self, client: ClientNum) -> Option<&Player> {
        self.players[client.index()].as_ref()
    }

    /// A player that is in the game.
    pub(in crate::game) fn active(&self, client: ClientNum) -> Option<&Player> {
        self.player(client).filter(|player| player.join_state == JoinState::Active)
    }

    pub(in crate::game) fn role(&self, client: ClientNum) -> Role {
        self.sessions[client.index()].role
    }

    /// Players in the game that can be followed.
    pub(in crate::game) fn plays(&self, client: ClientNum) -> bool {
        self.active(client).is_some() && self.role(client).plays()
    }

    /// The team that a client is in.
    pub(in crate::game) fn team(&self, client: ClientNum) -> Team {
        self.role(client).team()
    }

    /// Whether two clients fight on the same side. Nobody does outside the games of teams.
    pub(in crate::game) fn are_mates(&self, one: ClientNum, other: ClientNum) -> bool {
        self.game_type.has_teams() && self.team(one) == self.team(other)
    }

    /// Changes a role; who starts to watch goes to the end of those who wait.
    pub(in crate::game) fn set_role(&mut self, client: ClientNum, role: Role) {
        let session = &mut self.sessions[client.index()];
        if session.role.plays() && !role.plays() {
            self.next_waiting += 1;
            session.waiting_since = self.next_waiting;
        }
        session.role = role;
    }

    /// Whether no further player may take part, not counting `client`.
    pub(in crate::game) fn is_full(&self, client: ClientNum) -> bool {
        let others = ClientNum::all()
            .filter(|&other| other != client && self.player(other).is_some())
            .filter(|&other| self.role(other).plays())
            .count();
        let most = self.settings.max_players.into_iter().chain(self.mode().max_players).min();
        most.is_some_and(|most| others >= most)
    }

    /// Who waits for a game and has waited longest.
    pub(in crate::game) fn next_challenger(&self) -> Option<ClientNum> {
        let waits = |role| matches!(role, Role::Spectating | Role::Following(_));
        ClientNum::all()
            .filter(|&client| self.active(client).is_some() && waits(self.role(client)))
            .min_by_key(|client| self.sessions[client.index()].waiting_since)
    }

    /// Counts a tournament game that was won, for all to see.
    pub(in crate::game) fn count_win(&mut self, host: &mut dyn Host, client: ClientNum) {
        let wins = &mut self.sessions[client.index()].wins;
        *wins = wins.saturating_add(1);
        self.read_userinfo(host, client, false);
    }

    /// Counts a tournament game that was lost.
    pub(in crate::game) fn count_loss(&mut self, host: &mut dyn Host, client: ClientNum) {
        let losses = &mut self.sessions[client.index()].losses;
        *losses = losses.saturating_add(1);
        self.read_userinfo(host, client, false);
    }

    /// What everybody who enters begins with, before a spot is found.
    pub(in crate::game) fn enter(&mut self, client: ClientNum) {
        let now = self.now;
        if let Some(player) = self.players[client.index()].as_mut() {
            player.join_state = JoinState::Active;
            player.team_is_new = true;
            player.entered = now;
            player.heard_at = now;
            player.frames_missed = 0;
        }
    }

    /// Tells everybody that somebody has entered, who stands in the ranking from then on.
    pub(in crate::game) fn entered(&mut self, host: &mut dyn Host, client: ClientNum) {
        if let Some(player) = self.player(client).filter(|_| self.role(client).plays()) {
            host.send_command(None, &format!("print \"{}^7 entered the game\n\"", player.name));
        }
        for command in self.ruleset.entry_commands {
            host.send_command(Some(client), command);
        }
        self.log(host, &format!("ClientBegin: {client}"));
        self.list_new_team(host, client);
        self.list_custom_votes(host, client);
        self.rank(host);
    }

    /// A command has come. True when it runs now, and not with the next frame.
    pub(in crate::game) fn receive_usercmd(
        &mut self,
        client: ClientNum,
        command: &UserCmd,
    ) -> bool {
        let (synchronous, now) = (self.settings.synchronous, self.now);
        let active = self.players[client.index()].as_mut();
        let Some(player) = active.filter(|player| player.join_state == JoinState::Active) else {
            return false;
        };
        player.command = *command;
        player.heard_at = now;
        player.frames_missed = 0;
        !synchronous && !player.is_bot
    }

    /// A frame ends: shows whose connection is interrupted.
    pub(in crate::game) fn update_connection_flag(&mut self, client: ClientNum) {
        let (silence, now) = (self.ruleset.connection_icon_delay, self.now);
        let Some(player) = self.players[client.index()].as_mut() else { return };
        let silent = match silence {
            ConnectionIconDelay::Millis(ms) => now.distance(player.heard_at) > ms,
            ConnectionIconDelay::Frames(frames) => player.frames_missed > frames,
        };
        player.frames_missed = player.frames_missed.saturating_add(1);
        player.state.e_flags &= !entity_flag::CONNECTION;
        if silent {
            player.state.e_flags |= entity_flag::CONNECTION;
        }
    }

    /// Reads the userinfo and publishes the player entry. `announce` tells everybody of a new name.
    pub(in crate::game) fn read_userinfo(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        announce: bool,
    ) {
        let text = host.userinfo(client).to_owned();
        let Some(info) = PlayerUserinfo::parse(&text) else {
            host.drop_client(client, "Invalid userinfo");
            return;
        };
        let role = self.role(client);
        let shows_overlay = self.ruleset.team_lists && self.game_type.has_teams();
        let (default_name, limit, now) =
            (self.ruleset.default_name, self.ruleset.rename_limit, self.now);
        let Some(player) = self.players[client.index()].as_mut() else { return };

        let mut name = info.name(client, default_name);
        if role == Role::Scoreboard {
            "scoreboard".clone_into(&mut name);
        }
        if announce && player.join_state == JoinState::Active && name != player.name {
            let refusal = limit.and_then(|limit| {
                let too_soon =
                    player.renamed_at.is_some_and(|last| now.distance(last) < limit.period_ms);
                let too_many = player.renames >= limit.most;
                too_many.then_some(limit.too_many).or(too_soon.then_some(limit.too_soon))
            });
            if let Some(refusal) = refusal {
                host.send_command(Some(client), &format!("print \"{refusal}\n\""));
                host.set_userinfo(client, &info.with("name", &player.name));
                name.clone_from(&player.name);
            } else {
                player.renamed_at = Some(now);
                player.renames = player.renames.saturating_add(1);
                let old = &player.name;
                host.send_command(None, &format!("print \"{old}^7 renamed to {name}\n\""));
            }
        }
        player.name = name;
        player.max_health = info.handicap();
        player.team_overlay = shows_overlay || info.wants_overlay();
        self.publish_entry(host, client);
    }

    /// Remembers what somebody who leaves a team or the server has counted.
    pub(super) fn save_score(&mut self, host: &dyn Host, client: ClientNum) {
        let counts = self.player(client).map(|player| player.state.persistant);
        if self.ruleset.keeps_score_on_rejoin
            && let (Some(counts), Some(info)) =
                (counts, PlayerUserinfo::parse(host.userinfo(client)))
        {
            self.rejoin_stats.keep(info.value("cl_guid"), counts);
        }
    }

    /// Gives who plays again what was remembered.
    pub(in crate::game) fn restore_score(&mut self, host: &dyn Host, client: ClientNum) {
        if !self.role(client).plays() {
            return;
        }
        let Some(info) = PlayerUserinfo::parse(host.userinfo(client)) else { return };
        let counts = self.rejoin_stats.take(info.value("cl_guid"));
        if let (Some(counts), Some(player)) = (counts, self.players[client.index()].as_mut()) {
            player.state.persistant = counts;
        }
    }

    /// Tells everybody who a client is.
    pub(super) fn publish_entry(&self, host: &mut dyn Host, client: ClientNum) {
        let text = host.userinfo(client).to_owned();
        let (Some(info), Some(player)) = (PlayerUserinfo::parse(&text), self.player(client)) else {
            return;
        };
        let fields = PlayerEntryFields {
            team: self.team(client) as i32,
            wins: self.sessions[client.index()].wins,
            losses: self.sessions[client.index()].losses,
            leader: self.sessions[client.index()].leads,
            in_team: self.game_type.has_teams(),
            bot: player.is_bot,
        };
        let index = configstring::player(client);
        let entries = Detail::ALL.map(|detail| player_entry(&info, &player.name, &fields, detail));
        let [.., shortest] = &entries;
        let entry = entries.iter().find(|entry| host.has_room(index, entry)).unwrap_or(shortest);
        host.set_configstring(index, entry);
        self.log(host, &format!("ClientUserinfoChanged: {client} {entry}"));
    }

    /// A client wants in.
    pub(in crate::game) fn connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String> {
        let text = host.userinfo(client).to_owned();
        let info = PlayerUserinfo::parse(&text).ok_or("Invalid userinfo")?;
        let trusted = is_bot || host.is_local(client);
        let wrong = password(host).is_some_and(|right| right != info.value("password"));
        if first_time && !trusted && ip_bans::is_banned(&*host, info.value("ip")) {
            return Err("You are banned from this server.".to_owned());
        }
        if wrong && !trusted {
            return Err("Invalid password".to_owned());
        }

        if let Some(mut old) = self.players[client.index()].take() {
            old.unlink(host);
        }
        if first_time || !self.sessions[client.index()].is_settled {
            let role = self.first_role(client, &info);
            self.sessions[client.index()] = Session { is_settled: true, ..Session::NEW };
            self.set_role(client, role);
        }
        self.players[client.index()] = Some(Player::new(client, is_bot, self.now));
        let line = format!("ClientConnect: {client}");
        if self.ruleset.logs_connect_first {
            self.log(host, &line);
        }
        self.read_userinfo(host, client, false);
        if !self.ruleset.logs_connect_first {
            self.log(host, &line);
        }
        if first_time && let Some(player) = self.player(client) {
            host.send_command(None, &format!("print \"{}^7 connected\n\"", player.name));
        }
        if self.game_type.has_teams() && self.role(client).plays() {
            self.choose_leader(host, client, self.role(client).color());
            self.announce_role(host, client, None);
        }
        self.rank(host);
        Ok(())
    }
}

impl ClientContext<'_> {
    /// A frame ends: what is due to people whatever they do.
    pub(in crate::game) fn run_client_frame(&mut self) {
        self.refresh_followers();
        self.tell_overlays();
        self.count_votes();
    }

    /// A client is gone.
    pub(in crate::game) fn disconnect(&mut self, client: ClientNum) {
        let clients = &mut *self.clients;
        clients.clear_votes(client);
        clients.cancel_votes_about(client);
        if clients.plays(client) {
            clients.save_score(self.host, client);
        }
        if let Some(mut player) = clients.players[client.index()].take() {
            player.unlink(self.host);
        }
        let color = clients.role(client).color();
        clients.sessions[client.index()] = Session::NEW;
        // Also of a client that was refused over a restart: its entry is still there.
        self.host.set_configstring(configstring::player(client), "");
        self.clients.log(self.host, &format!("ClientDisconnect: {client}"));
        self.stop_followers_of(client);
        let clients = &mut *self.clients;
        clients.replace_leader(self.host, color);
        clients.list_team(self.host, color);
        clients.rank(self.host);
    }
}
