//! Clients of a game: names, teams, chat, spectators, ranks, scoreboard.
//!
//! [`Clients`] holds the client state common to all games. [`ClientRules`] is the part that differs
//! between free flight and deathmatch: entering the level, dying, teleporting.
//!
//! Invariants: a slot without a player has no entity and an empty player entry; sessions survive level
//! changes as long as this value lives. Source: the base game's client lifecycle; OpenArena's.

mod accuracy;
mod admission;
mod ballots;
mod chat;
mod cheats;
mod commands;
mod console;
mod game_log;
mod game_settings;
mod ip_bans;
mod locations;
mod map_names;
pub(in crate::game) mod map_pool;
mod message_of_the_day;
mod names;
mod player;
mod player_entry;
mod proposal;
mod rejoin_stats;
mod scores;
mod spectators;
mod team_overlay;
mod teams;
#[cfg(test)]
mod tests;
mod vote_maps;
mod vote_settings;
mod votes;

pub(in crate::game) use self::{
    accuracy::Accuracy,
    admission::tell_lag_compensation,
    console::COMMANDS as CONSOLE_COMMANDS,
    game_settings::{GameSettings, SPECTATOR_SPEED},
    locations::Locations,
    player::{JoinState, Placement, Player, Role, Session},
};
use self::{admission::admit, message_of_the_day::MessageOfTheDay, names::accept_name};
use super::{
    GameEvent, Host, LevelStart, Ruleset,
    ruleset::ConnectionIconDelay,
    settings::{SettingsVersion, key},
    userinfo::PlayerUserinfo,
};
use crate::bg::{GameType, Team, configstring, entity_flag};
use crate::model::{ClientNum, LevelTime, UserCmd, Vec3, limits::MAX_CLIENTS};
pub(crate) use ip_bans::unreadable_masks;

/// Shows clients the countdown to a restart at `at`. Returns false while warm-up is on: its own
/// countdown follows the restart.
pub(crate) fn show_restart_countdown(host: &mut dyn Host, at: LevelTime) -> bool {
    if host.settings().flag(key::G_DO_WARMUP) {
        return false;
    }
    host.set_configstring(configstring::WARMUP, &at.to_string());
    true
}

/// Game operations that client commands need.
///
/// Each call gets the clients and the host. The implementing type holds the other state of the game.
pub(in crate::game) trait ClientRules {
    /// Spawns a client into the level, on entry and on each later respawn as a new client.
    fn begin(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum);

    /// Runs the `kill` command of a player.
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

    /// Gives a player an item by its number. Does nothing in games without items.
    fn give_item(
        &mut self,
        _clients: &mut Clients,
        _host: &mut dyn Host,
        _client: ClientNum,
        _item: i32,
    ) {
    }

    /// Shows all clients the scoreboard. Does nothing in games without matches.
    fn begin_intermission(&mut self, _clients: &mut Clients, _host: &mut dyn Host) {}

    /// Runs before a player becomes a spectator or changes teams.
    fn leave_play(&mut self, _clients: &mut Clients, _host: &mut dyn Host, _client: ClientNum) {}
}

/// Context of a call that concerns clients: the engine, the clients, and the rules of their game.
pub(in crate::game) struct ClientContext<'a> {
    pub(in crate::game) host: &'a mut dyn Host,
    pub(in crate::game) clients: &'a mut Clients,
    pub(in crate::game) rules: &'a mut dyn ClientRules,
}

/// Rules of a game type about players and spectators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) struct JoinRules {
    /// Maximum number of players, if lower than the operator's limit.
    pub(in crate::game) max_players: Option<usize>,
    /// Whether spectators queue to play: the loser makes room, and a player who leaves loses.
    pub(in crate::game) plays_in_turn: bool,
    /// Whether spectator chat is hidden from players.
    pub(in crate::game) mutes_spectators: bool,
}

impl JoinRules {
    /// Any number of players, and spectators whose chat all clients receive.
    pub(in crate::game) const UNLIMITED: Self =
        Self { max_players: None, plays_in_turn: false, mutes_spectators: false };
}

/// The connected clients of a level, their sessions, and the match state common to all games.
#[derive(Debug)]
pub(in crate::game) struct Clients {
    pub(in crate::game) ruleset: &'static Ruleset,
    pub(in crate::game) settings: GameSettings,
    /// Version of the settings that were read last.
    pub(in crate::game) settings_version: SettingsVersion,
    /// Game type of the level.
    pub(in crate::game) game_type: GameType,
    /// Join rules of the game type.
    pub(in crate::game) join: JoinRules,
    /// Line for the `status` command about the game type.
    pub(in crate::game) status_note: Option<String>,
    /// Scores of red and blue.
    pub(in crate::game) team_scores: [i32; 2],
    /// Whether the intermission has begun.
    pub(in crate::game) intermission: bool,
    /// Level time of the last frame.
    pub(in crate::game) now: LevelTime,
    /// Number of the last frame.
    pub(in crate::game) frame: u32,
    pub(in crate::game) started: LevelTime,
    /// Named locations of the level.
    pub(in crate::game) locations: Locations,
    /// Message that players see at each entry.
    message_of_the_day: MessageOfTheDay,
    /// Level time of the next team overlay.
    overlay_at: LevelTime,
    votes: votes::Votes,
    /// Maps of votes.
    vote_maps: vote_maps::VoteMaps,
    /// Random seed of the level.
    pub(in crate::game) seed: u32,
    rejoin_stats: rejoin_stats::RejoinStats,
    /// Level time at which the clock of the game log starts.
    logged_from: LevelTime,
    /// Players by client number; `None` for a free slot.
    pub(in crate::game) players: Vec<Option<Player>>,
    /// Sessions by client number; kept over level changes.
    pub(in crate::game) sessions: [Session; MAX_CLIENTS],
    /// Number of clients that have become spectators; orders the tournament queue.
    next_waiting: u32,
    /// Members of the teams as sent last.
    team_lists: [String; 2],
    /// Number of players at the last ranking.
    pub(in crate::game) ranked_players: usize,
}

impl Clients {
    /// Returns a value without clients.
    pub(in crate::game) fn new(ruleset: &'static Ruleset) -> Self {
        Self {
            ruleset,
            settings: GameSettings::default(),
            settings_version: SettingsVersion::default(),
            game_type: GameType::default(),
            status_note: None,
            join: JoinRules::UNLIMITED,
            team_scores: [0; 2],
            intermission: false,
            now: LevelTime::default(),
            frame: 0,
            started: LevelTime::default(),
            locations: Locations::default(),
            message_of_the_day: MessageOfTheDay::default(),
            overlay_at: LevelTime::default(),
            votes: votes::Votes::default(),
            vote_maps: vote_maps::VoteMaps::default(),
            seed: 0,
            rejoin_stats: rejoin_stats::RejoinStats::default(),
            logged_from: LevelTime::default(),
            players: vec![None; MAX_CLIENTS],
            sessions: [Session::NEW; MAX_CLIENTS],
            next_waiting: 0,
            team_lists: Default::default(),
            ranked_players: 0,
        }
    }

    /// Resets the state for a new level. Sessions stay; players connect again.
    pub(in crate::game) fn start(&mut self, host: &mut dyn Host, start: &LevelStart) {
        self.now = start.time;
        self.started = start.time;
        if !(start.restart && self.ruleset.game_log.clock_runs_on) {
            self.logged_from = start.time;
        }
        self.team_scores = [0; 2];
        self.intermission = false;
        // As in the base game, the first interval starts at level time 0.
        self.overlay_at = LevelTime(team_overlay::OVERLAY_MS);
        self.votes = votes::Votes::default();
        self.vote_maps = vote_maps::VoteMaps::read(host);
        self.seed = start.seed;
        self.rejoin_stats = rejoin_stats::RejoinStats::default();
        self.locations.clear();
        self.players.fill(None);
        self.settings = GameSettings::read(host, self.ruleset);
        self.settings_version = SettingsVersion::default();
        self.message_of_the_day = MessageOfTheDay::read(host, self.ruleset);
    }

    /// Sets the game type and its join rules. A change resets all sessions, because the teams differ.
    pub(in crate::game) fn play_game_type(&mut self, game_type: GameType, join: JoinRules) {
        if self.game_type != game_type {
            self.sessions.fill(Session::NEW);
        }
        self.game_type = game_type;
        self.join = join;
    }

    pub(in crate::game) fn player(&self, client: ClientNum) -> Option<&Player> {
        self.players[client.index()].as_ref()
    }

    /// Returns a player that has entered the level.
    pub(in crate::game) fn active(&self, client: ClientNum) -> Option<&Player> {
        self.player(client).filter(|player| player.join_state == JoinState::Active)
    }

    pub(in crate::game) fn role(&self, client: ClientNum) -> Role {
        self.sessions[client.index()].role
    }

    /// Whether a client has entered the level as a player. Only such clients can be followed.
    pub(in crate::game) fn plays(&self, client: ClientNum) -> bool {
        self.active(client).is_some() && self.role(client).plays()
    }

    /// Returns the team of a client.
    pub(in crate::game) fn team(&self, client: ClientNum) -> Team {
        self.role(client).team()
    }

    /// Whether two clients are teammates; never outside team games.
    pub(in crate::game) fn are_mates(&self, one: ClientNum, other: ClientNum) -> bool {
        self.game_type.has_teams() && self.team(one) == self.team(other)
    }

    /// Changes a client's role. A player who becomes a spectator joins the end of the tournament queue.
    pub(in crate::game) fn set_role(&mut self, client: ClientNum, role: Role) {
        let session = &mut self.sessions[client.index()];
        if session.role.plays() && !role.plays() {
            self.next_waiting += 1;
            session.waiting_since = self.next_waiting;
        }
        session.role = role;
    }

    /// Whether the maximum number of players is reached without `client`.
    pub(in crate::game) fn is_full(&self, client: ClientNum) -> bool {
        let others = ClientNum::all()
            .filter(|&other| other != client && self.player(other).is_some())
            .filter(|&other| self.role(other).plays())
            .count();
        let most = self.settings.max_players.into_iter().chain(self.join.max_players).min();
        most.is_some_and(|most| others >= most)
    }

    /// Returns the spectator that has waited longest for a tournament game.
    pub(in crate::game) fn next_challenger(&self) -> Option<ClientNum> {
        let waits = |role| matches!(role, Role::Spectating | Role::Following(_));
        ClientNum::all()
            .filter(|&client| self.active(client).is_some() && waits(self.role(client)))
            .min_by_key(|client| self.sessions[client.index()].waiting_since)
    }

    /// Counts a won tournament game and publishes it in the player entry.
    pub(in crate::game) fn count_win(&mut self, host: &mut dyn Host, client: ClientNum) {
        let wins = &mut self.sessions[client.index()].wins;
        *wins = wins.saturating_add(1);
        self.read_userinfo(host, client, false);
    }

    /// Counts a lost tournament game. The player entry shows it when it is published next.
    pub(in crate::game) const fn count_loss(&mut self, client: ClientNum) {
        let losses = &mut self.sessions[client.index()].losses;
        *losses = losses.saturating_add(1);
    }

    /// Marks a client as active and resets its timers, before its spawn point is selected.
    pub(in crate::game) fn enter(&mut self, client: ClientNum) {
        let (now, frame) = (self.now, self.frame);
        if let Some(player) = self.players[client.index()].as_mut() {
            player.join_state = JoinState::Active;
            player.team_is_new = true;
            player.entered = now;
            player.mark_usercmd(now, frame);
        }
    }

    /// Begins a frame at `time`.
    pub(in crate::game) fn begin_frame(&mut self, time: LevelTime) {
        self.now = time;
        self.frame = self.frame.wrapping_add(1);
    }

    /// Announces a client that has entered the level, and updates the ranking.
    pub(in crate::game) fn entered(&mut self, host: &mut dyn Host, client: ClientNum) {
        // A tournament announces its players by the match itself.
        let announced = self.role(client).plays() && !self.join.plays_in_turn;
        if let Some(player) = self.player(client).filter(|_| announced) {
            host.send_command(None, &format!("print \"{}^7 entered the game\n\"", player.name));
        }
        self.message_of_the_day.send(host, client);
        self.emit(host, &GameEvent::Enter(client));
        self.list_teams(host);
        self.list_custom_votes(host, client);
        self.rank(host);
    }

    /// Stores a usercmd. Returns whether it runs now instead of in the next frame.
    pub(in crate::game) fn receive_usercmd(
        &mut self,
        client: ClientNum,
        command: &UserCmd,
    ) -> bool {
        let (now, frame) = (self.now, self.frame);
        let active = self.players[client.index()].as_mut();
        let Some(player) = active.filter(|player| player.join_state == JoinState::Active) else {
            return false;
        };
        player.command = *command;
        player.mark_usercmd(now, frame);
        !self.settings.synchronous && !player.is_bot
    }

    /// Sets the connection icon of a client that has been silent too long. Runs at the end of a frame.
    pub(in crate::game) fn update_connection_flag(&mut self, client: ClientNum) {
        let (silence, now, frame) =
            (self.ruleset.players.connection_icon_delay, self.now, self.frame);
        let Some(player) = self.players[client.index()].as_mut() else { return };
        let silent = match silence {
            ConnectionIconDelay::Millis(ms) => now.distance(player.received_at) > ms,
            ConnectionIconDelay::Frames(frames) => player.missed_frames(frame) > frames,
        };
        player.state.e_flags &= !entity_flag::CONNECTION;
        if silent {
            player.state.e_flags |= entity_flag::CONNECTION;
        }
    }

    /// Reads the userinfo and publishes the player entry. `announce` prints a new name to all clients.
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
        let shows_overlay = self.ruleset.teams.has_lists && self.game_type.has_teams();
        let mut name = info.name(client, self.ruleset.players.default_name);
        if role == Role::Scoreboard {
            "scoreboard".clone_into(&mut name);
        }
        if announce {
            name = accept_name(self, host, client, &info, name);
        }
        let Some(player) = self.players[client.index()].as_mut() else { return };
        player.name = name;
        player.max_health = info.handicap();
        player.state.stats[self.ruleset.stats.max_health] = player.max_health;
        player.team_overlay = shows_overlay || info.wants_overlay();
        self.publish_entry(host, client);
    }

    /// Stores the counters of a player who leaves a team or the server.
    pub(super) fn save_score(&mut self, host: &dyn Host, client: ClientNum) {
        let counts = self.player(client).map(|player| player.state.persistant);
        if self.ruleset.scoring.kept_on_rejoin
            && let (Some(counts), Some(info)) =
                (counts, PlayerUserinfo::parse(host.userinfo(client)))
        {
            self.rejoin_stats.keep(info.value("cl_guid"), counts);
        }
    }

    /// Restores the stored counters of a player who plays again.
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

    /// Connects a client: checks bans and the password, then sets up its player and role.
    pub(in crate::game) fn connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String> {
        let text = host.userinfo(client).to_owned();
        let info = PlayerUserinfo::parse(&text).ok_or("Invalid userinfo")?;
        admit(self, host, client, &info, first_time, is_bot)?;

        if let Some(mut old) = self.players[client.index()].take() {
            old.unlink(host);
        }
        if first_time || !self.sessions[client.index()].is_settled {
            let role = self.first_role(client, &info);
            self.sessions[client.index()] = Session { is_settled: true, ..Session::NEW };
            self.set_role(client, role);
        }
        self.players[client.index()] = Some(Player::new(client, is_bot, self.now));
        let event = GameEvent::Connect(client);
        if self.ruleset.game_log.connect_first {
            self.emit(host, &event);
        }
        self.read_userinfo(host, client, false);
        if !self.ruleset.game_log.connect_first {
            self.emit(host, &event);
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
    /// Updates spectator views, team overlays and votes. Runs at the end of a frame.
    pub(in crate::game) fn run_client_frame(&mut self) {
        self.refresh_followers();
        self.send_team_overlays();
        self.count_votes();
    }

    /// Removes a client that disconnected, and updates teams, votes and ranks.
    pub(in crate::game) fn disconnect(&mut self, client: ClientNum) {
        let clients = &mut *self.clients;
        clients.clear_votes(client);
        clients.cancel_votes_about(self.host, client);
        if clients.plays(client) {
            clients.save_score(self.host, client);
        }
        if let Some(mut player) = clients.players[client.index()].take() {
            player.unlink(self.host);
        }
        clients.sessions[client.index()] = Session::NEW;
        // Also of a client that was refused over a restart: its entry is still there.
        self.host.set_configstring(configstring::player(client), "");
        self.clients.emit(self.host, &GameEvent::Disconnect(client));
        self.release_followers_of(client);
        // As in the base game, a team whose leader disconnects has none until a player joins it.
        self.clients.rank(self.host);
    }
}
