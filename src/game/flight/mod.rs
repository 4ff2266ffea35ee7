//! Free flight: players fly through everything, on maps whose geometry the server does not have.
//!
//! Everything around the flying is what a deathmatch game has, so that an unmodified client enters,
//! sees the others, chats, watches and reads the scoreboard. Nobody shoots and nothing is hurt; every
//! game type is played as free for all.
//!
//! Invariants: a slot without a player has no entity and an empty player entry; sessions survive level
//! changes as long as this value lives; the same seed and the same calls give the same states; thinking
//! and frames allocate only when there is something to say.
//! Source: the base game's lifecycle, release 1.32, and OpenArena 0.8.8.

mod chat;
mod commands;
mod levels;
mod player;
mod rules;
mod scores;
mod teams;

use self::{
    levels::{Level, Spot},
    player::{Around, Player, Role, Session, Stage},
    rules::Rules,
};
use super::{
    EntityView, Game, Host, LevelStart, Profile, configstring,
    numbers::entity_flag,
    profile::Silence,
    userinfo::{Standing, Userinfo, player_entry},
};
use crate::model::{
    ClientNum, EntityNum, LevelTime, PlayerState, UserCmd, Vec3, Words, limits::MAX_CLIENTS,
    text::leading_int,
};

/// Two players closer than this are in each other's way.
const ELBOW_ROOM: f32 = 64.0;
/// How far aside somebody begins when every spot is taken.
const ASIDE: f32 = 80.0;

/// Free flight.
#[derive(Debug)]
pub struct Flight {
    profile: &'static Profile,
    rules: Rules,
    level: Level,
    /// Level time of the last frame.
    now: LevelTime,
    started: LevelTime,
    /// The level's chance.
    seed: u32,
    /// By client number; `None` for a free slot.
    players: Vec<Option<Player>>,
    /// By client number; kept over level changes.
    sessions: [Session; MAX_CLIENTS],
    /// Order number of the next client that starts to watch.
    next_waiting: u32,
    /// What a free slot sees.
    nobody: PlayerState,
}

impl Flight {
    /// A game for clients that have this profile's data.
    #[must_use]
    pub fn new(profile: &'static Profile) -> Self {
        Self {
            profile,
            rules: Rules::default(),
            level: Level::named(""),
            now: LevelTime::default(),
            started: LevelTime::default(),
            seed: 0,
            players: vec![None; MAX_CLIENTS],
            sessions: [Session { role: Role::Playing, waiting_since: 0 }; MAX_CLIENTS],
            next_waiting: 0,
            nobody: PlayerState::default(),
        }
    }

    fn player(&self, client: ClientNum) -> Option<&Player> {
        self.players[client.index()].as_ref()
    }

    /// A player that is in the game.
    fn active(&self, client: ClientNum) -> Option<&Player> {
        self.player(client).filter(|player| player.stage == Stage::Active)
    }

    fn role(&self, client: ClientNum) -> Role {
        self.sessions[client.index()].role
    }

    /// Players in the game that can be followed.
    fn plays(&self, client: ClientNum) -> bool {
        self.active(client).is_some() && self.role(client).plays()
    }

    /// The player, and what its steps depend on.
    fn in_context(&mut self, client: ClientNum) -> Option<(&mut Player, Around<'_>)> {
        let around = Around { profile: self.profile, rules: &self.rules, now: self.now };
        self.players[client.index()].as_mut().map(|player| (player, around))
    }

    /// Changes a role; who starts to watch goes to the end of those who wait.
    fn set_role(&mut self, client: ClientNum, role: Role) {
        let session = &mut self.sessions[client.index()];
        if session.role.plays() && !role.plays() {
            self.next_waiting += 1;
            session.waiting_since = self.next_waiting;
        }
        session.role = role;
    }

    /// Whether no further player may take part, not counting `client`.
    fn is_full(&self, client: ClientNum) -> bool {
        let others = ClientNum::all()
            .filter(|&other| other != client && self.player(other).is_some())
            .filter(|&other| self.role(other).plays())
            .count();
        self.rules.max_players.is_some_and(|most| others >= most)
    }

    /// What a newcomer does first.
    fn first_role(&self, client: ClientNum, info: &Userinfo<'_>) -> Role {
        let wanted = info.value(self.profile.team_preference);
        let watches = wanted.starts_with(['s', 'S']);
        if watches || self.is_full(client) { Role::Watching } else { Role::Playing }
    }

    /// The next number of the level's chance, in 16 bits.
    fn chance(&mut self) -> usize {
        self.seed = self.seed.wrapping_mul(69_069).wrapping_add(1);
        (self.seed >> 16) as usize
    }

    /// Where a client begins: a free spot by chance, or beside a taken one.
    fn spot(&mut self, client: ClientNum) -> Spot {
        if !self.role(client).plays() {
            return self.level.view;
        }
        let start = self.chance();
        let count = self.level.spawns.len();
        let spots = (0..count).map(|step| self.level.spawns[(start + step) % count]);
        let mut spots = spots.filter(|spot| self.is_free(client, spot.origin));
        spots.next().unwrap_or_else(|| {
            let mut spot = self.level.spawns[start % count];
            let yaw = 360.0 / MAX_CLIENTS as f32 * client.index() as f32;
            let outward = super::movement::angles::axes(Vec3::new(0.0, yaw, 0.0)).forward;
            spot.origin = spot.origin.add_scaled(outward, ASIDE);
            spot
        })
    }

    fn is_free(&self, client: ClientNum, origin: Vec3) -> bool {
        ClientNum::all().filter(|&other| other != client && self.plays(other)).all(|other| {
            let away = self.player(other).map(|player| (player.state.origin - origin).length());
            away.is_none_or(|distance| distance > ELBOW_ROOM)
        })
    }

    /// Enters, or enters anew: a place, everything a newcomer has, and what the client is told of it.
    fn begin(&mut self, host: &mut dyn Host, client: ClientNum) {
        let spot = self.spot(client);
        let role = self.role(client);
        let Some((player, around)) = self.in_context(client) else { return };
        player.stage = Stage::Active;
        player.entered = around.now;
        player.heard_at = around.now;
        player.frames_missed = 0;
        player.spawn(host, client, spot, role, &around);
        for command in around.profile.spawn_commands {
            host.send_command(Some(client), command);
        }
        if role.plays() {
            host.send_command(None, &format!("print \"{}^7 entered the game\n\"", player.name));
        }
        host.print(&format!("ClientBegin: {client}"));
        self.rank(host);
    }

    /// Reads the userinfo and publishes the player entry. `announce` tells everybody of a new name.
    fn read_userinfo(&mut self, host: &mut dyn Host, client: ClientNum, announce: bool) {
        let text = host.userinfo(client).to_owned();
        let Some(info) = Userinfo::parse(&text) else {
            host.drop_client(client, "Invalid userinfo");
            return;
        };
        let role = self.role(client);
        let (nameless, limit, now) = (self.profile.nameless, self.profile.rename_limit, self.now);
        let Some(player) = self.players[client.index()].as_mut() else { return };

        let mut name = info.name(client, nameless);
        if role == Role::Scoreboard {
            "scoreboard".clone_into(&mut name);
        }
        if announce && player.stage == Stage::Active && name != player.name {
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

        let standing = Standing {
            team: role.team() as i32,
            wins: 0,
            losses: 0,
            leader: false,
            bot: player.is_bot,
        };
        let entry = player_entry(&info, &player.name, &standing);
        host.set_configstring(configstring::player(client), &entry);
        host.print(&format!("ClientUserinfoChanged: {client} {entry}"));
    }

    /// Runs a client's last command.
    fn think(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.role(client);
        let Some((player, around)) = self.in_context(client) else { return };
        let command = player.command;
        if role.plays() {
            if player.is_inactive(host, client, &command, &around) {
                host.drop_client(client, "Dropped due to inactivity");
                return;
            }
            player.set_movement(role, around.rules);
            if player.fly(&command, &around) {
                player.publish(host, role, around.rules);
                player.link(host, role);
            }
            player.buttons = command.buttons;
        } else {
            if player.followed.is_none() && role != Role::Scoreboard {
                player.set_movement(role, around.rules);
                player.fly(&command, &around);
            }
            let pressed = command.buttons.0 & !player.buttons.0;
            player.buttons = command.buttons;
            self.watch_buttons(host, client, pressed);
        }
    }

    /// What is due to a client at the end of each frame.
    fn end_frame(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.role(client);
        let Some((player, around)) = self.in_context(client) else { return };
        let silent = match around.profile.silence {
            Silence::Millis(ms) => around.now.distance(player.heard_at) > ms,
            Silence::Frames(frames) => player.frames_missed > frames,
        };
        player.frames_missed = player.frames_missed.saturating_add(1);
        player.state.e_flags &= !entity_flag::CONNECTION;
        if silent {
            player.state.e_flags |= entity_flag::CONNECTION;
        }
        player.publish(host, role, around.rules);
    }
}

impl Game for Flight {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) {
        self.now = start.time;
        self.started = start.time;
        self.seed = start.seed;
        self.players.fill(None);
        self.rules = Rules::read(host, self.profile);
        self.level = Level::named(host.setting("mapname"));
        if leading_int(host.setting("g_gametype")) != 0 {
            host.print("free flight knows no teams: g_gametype is 0 now");
            host.set_setting("g_gametype", "0");
        }

        let custom_music = super::userinfo::clean_text(host.setting("g_music"), 127);
        let replaced = self.profile.music_setting
            && !custom_music.is_empty()
            && !custom_music.eq_ignore_ascii_case("none");
        let music = if replaced { custom_music.as_str() } else { self.level.music };
        let motd = super::userinfo::clean_text(host.setting("g_motd"), 255);
        let strings = [
            (configstring::FRY_SOUND, configstring::FRY_SOUND_FILE),
            (configstring::GAME_VERSION, self.profile.version),
            (configstring::LEVEL_START_TIME, &start.time.to_string()),
            (configstring::MUSIC, music),
            (configstring::MESSAGE, self.level.title),
            (configstring::MOTD, &motd),
            (configstring::WARMUP, ""),
            (configstring::ITEMS, &self.profile.item_bits()),
        ];
        for (index, text) in strings {
            host.set_configstring(index, text);
        }
        if self.profile.clears_intermission {
            host.set_configstring(configstring::INTERMISSION, "");
        }
        if !start.restart {
            self.publish_scores(host);
        }
        let map = super::userinfo::clean_text(host.setting("mapname"), 63);
        host.print(&format!("InitGame: \\gamename\\{}\\mapname\\{map}", self.profile.folder));
    }

    fn shutdown(&mut self, host: &mut dyn Host, _restart: bool) {
        for player in self.players.iter_mut().flatten() {
            player.unlink(host);
        }
        host.print("ShutdownGame:");
    }

    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String> {
        let text = host.userinfo(client).to_owned();
        let info = Userinfo::parse(&text).ok_or("Invalid userinfo")?;
        let trusted = is_bot || host.is_local(client);
        let wrong = rules::password(host).is_some_and(|right| right != info.value("password"));
        if wrong && !trusted {
            return Err("Invalid password".to_owned());
        }

        if let Some(mut old) = self.players[client.index()].take() {
            old.unlink(host);
        }
        if first_time {
            let role = self.first_role(client, &info);
            self.sessions[client.index()].role = Role::Playing;
            self.set_role(client, role);
        }
        self.players[client.index()] = Some(Player::new(client, is_bot, self.now));
        self.read_userinfo(host, client, false);
        host.print(&format!("ClientConnect: {client}"));
        if first_time && let Some(player) = self.player(client) {
            host.send_command(None, &format!("print \"{}^7 connected\n\"", player.name));
        }
        self.rank(host);
        Ok(())
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.player(client).is_some() {
            self.begin(host, client);
        }
    }

    fn client_userinfo_changed(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.read_userinfo(host, client, true);
    }

    fn client_disconnect(&mut self, host: &mut dyn Host, client: ClientNum) {
        if let Some(mut player) = self.players[client.index()].take() {
            player.unlink(host);
        }
        self.sessions[client.index()].role = Role::Playing;
        // Also of a client that was refused over a restart: its entry is still there.
        host.set_configstring(configstring::player(client), "");
        host.print(&format!("ClientDisconnect: {client}"));
        self.free_followers_of(host, client);
        self.rank(host);
    }

    fn client_command(&mut self, host: &mut dyn Host, client: ClientNum, words: &Words) {
        if self.active(client).is_some() {
            self.run_client_command(host, client, words);
        }
    }

    fn client_think(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd) {
        if self.active(client).is_none() {
            return;
        }
        let (synchronous, now) = (self.rules.synchronous, self.now);
        let Some(player) = self.players[client.index()].as_mut() else { return };
        player.command = *command;
        player.heard_at = now;
        player.frames_missed = 0;
        if !synchronous && !player.is_bot {
            self.think(host, client);
        }
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) {
        self.now = time;
        self.rules.refresh(host, self.profile);
        for client in ClientNum::all() {
            let Some(player) = self.active(client) else { continue };
            if self.rules.synchronous || player.is_bot {
                self.think(host, client);
            }
        }
        for client in ClientNum::all() {
            if self.active(client).is_some() {
                self.end_frame(host, client);
            }
        }
        self.refresh_followers(host);
    }

    fn console_command(&mut self, _host: &mut dyn Host, _words: &Words) -> bool {
        false
    }

    fn entity_count(&self) -> usize {
        self.players.iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let player = self.players.get(number.index())?.as_ref()?;
        Some(EntityView { state: &player.entity, shared: &player.shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.players[client.index()].as_ref().map_or(&self.nobody, Player::seen)
    }

    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        if let Some(player) = self.players[client.index()].as_mut() {
            player.ping_ms = ping_ms;
            player.state.ping = ping_ms;
        }
    }
}

#[cfg(test)]
mod tests;
