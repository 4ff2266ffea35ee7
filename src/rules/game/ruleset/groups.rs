//! Groups of a ruleset: the rules that differ between games, by part of a match.
//!
//! A new rule joins the group of the module that reads it. The tables of both games are in the parent module.

/// Name of a player without a visible name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultName {
    /// The same name for all players.
    Fixed(&'static str),
    /// A prefix, followed by the client number.
    Numbered(&'static str),
}

/// Movement of player entities between snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothing {
    /// Interpolation by clients, extrapolation by the server for missing usercmds unless `g_smoothClients`
    /// is 0.
    Interpolate,
    /// Linear extrapolation from the last usercmd for this time in ms, unless `g_smoothClients` is 0.
    LinearStop(i32),
}

/// Silence of a client after which other clients show its connection icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionIconDelay {
    /// Time without a usercmd, in ms.
    Millis(i32),
    /// Server frames without a usercmd.
    Frames(u32),
}

/// Refusals of commands that only players or only spectators may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleRefusals {
    /// Answer to a spectator that uses a player command.
    pub players_only: &'static str,
    /// Answer to a player that uses a spectator command.
    pub spectators_only: &'static str,
}

/// Selection of a spawn point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnSelection {
    /// Random among the half of the free spawn points that is farthest from the player's last origin.
    FarHalf,
    /// Random among the free spawn points; the one nearest to the player's last origin is drawn again.
    NotNearest,
}

/// Score penalty for a suicide or a death by the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuicidePenalty {
    /// The victim loses a point.
    Own,
    /// The victim loses a point if it has one. In small games every other player gains one for a suicide.
    Lenient,
}

/// Points of a bounding box that splash damage traces to, besides the center.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplashTracePoints {
    /// Four corners at the height of the center.
    Four,
    /// Eight corners above and below the center.
    Eight,
}

/// Rounding of a shot's end point to whole numbers, toward its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRounding {
    /// Down or up to the next whole number.
    FloorOrCeiling,
    /// Truncation toward zero, plus one on axes where the start is greater.
    CutAndStep,
}

/// Differences in combat between games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CombatQuirks {
    /// Points that splash damage traces to.
    pub corners: SplashTracePoints,
    /// Rounding of end points of shots.
    pub end_rounding: EndRounding,
    /// Whether the usercmd's time seeds the spread of bullets and pellets, so that clients predict it.
    pub seeded_by_time: bool,
    /// Whether missiles move after all other entities in a frame.
    pub missiles_last: bool,
    /// Whether hitscan shots and missiles meet the other players at earlier positions.
    pub compensates_lag: bool,
    /// Whether missile and bullet entities carry the shooter's number.
    pub names_shooters: bool,
    /// Whether the flight of a hook starts at the usercmd's time instead of the frame's.
    pub hooks_by_command: bool,
    /// Whether obituaries mark frags of teammates.
    pub marks_mates: bool,
    /// Whether teammates take crush damage (`MOD_CRUSH`) without friendly fire.
    pub crushes_mates: bool,
    /// Whether a player who knocked the victim into a hazard can get the frag.
    pub credits_pushers: bool,
    /// Whether the player who opened a door gets the frag of a player that it crushes.
    pub credits_activators: bool,
    /// Whether OpenArena's combat settings exist: spawn protection, vampire, catch-up, respawn waves,
    /// damage modifiers, instant frags.
    pub has_combat_settings: bool,
}

/// Weapons and items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EquipmentRules {
    /// Highest weapon number.
    pub last_weapon: i32,
    /// Items of the spawn weapons; clients must load them at level start.
    pub starting_items: &'static [usize],
    /// Means of death of the grapple.
    pub grapple_means: i32,
    /// Whether `replace_<class>`, `g_instantgib`, `g_rockets`, `g_regen` and a `g_quadfactor` of 1 change
    /// the items, and `g_instantgib` the colors of team players.
    pub has_settings: bool,
}

/// Entities of a map and its music.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelRules {
    /// Entity classes of game types that are not implemented.
    pub mode_classes: &'static [&'static str],
    /// Whether the entity key `!gametype` exists.
    pub excludes_gametypes: bool,
    /// Keys that exclude an entity from this game.
    pub excluding_keys: &'static [&'static str],
    /// Whether the setting `g_music` replaces the map's music.
    pub has_music_setting: bool,
}

/// Names, entry and connections of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerRules {
    /// Name of players without a visible name.
    pub default_name: DefaultName,
    /// Whether the settings limit name changes.
    pub limits_renames: bool,
    /// Whether clients have a `cl_guid` that the settings can require.
    pub has_guids: bool,
    /// Whether a client gets the message of `g_motdfile` on every entry, after the announcement to all
    /// clients. Entries follow a connect, a team change and a restart.
    pub greets_on_entry: bool,
    /// Silence after which a client's connection icon is shown.
    pub connection_icon_delay: ConnectionIconDelay,
}

/// Client commands and their refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRules {
    /// Answer to an unknown command, followed by the command.
    pub unknown: &'static str,
    /// Answer to a command that needs cheats.
    pub cheats_off: &'static str,
    /// Whether the command `levelshot` requires free for all.
    pub pictures_free_for_all: bool,
    /// Commands that dead players may not use.
    pub living_only: &'static [&'static str],
    /// Answer to a dead player that uses one of them.
    pub living_refusal: &'static str,
    /// Refusals by role. Without them, `follow` makes a player a spectator.
    pub role_refusals: Option<RoleRefusals>,
    /// Whether an invalid client number has its own refusal, distinct from an unknown name.
    pub slot_refusals: bool,
}

/// Course and display of votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteRules {
    /// Whether a vote is shown as a sentence instead of a command.
    pub shown_as_sentences: bool,
    /// Whether a player may change a cast vote.
    pub may_change: bool,
    /// Whether a bit of `dmflags` lets votes pass without an absolute majority.
    pub has_light_flag: bool,
    /// Whether clients get the list of custom votes on entry.
    pub lists_custom: bool,
    /// Whether the strings of a kick vote are cleared when its player leaves.
    pub clears_kicked: bool,
}

/// Teams, the choice of one, and spectators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamRules {
    /// Answer to `team` without an argument, from a player in no team.
    pub playing_answer: &'static str,
    /// Userinfo key with the team requested on connect.
    pub preference_key: &'static str,
    /// Whether that key applies in team games.
    pub preference_joins: bool,
    /// Whether clients get team lists, and the team overlay without requesting it.
    pub has_lists: bool,
    /// Whether a spectator gets the team overlay of the followed player.
    pub overlay_for_followers: bool,
    /// Whether the use button ends following a player.
    pub use_stops_following: bool,
}

/// Spawns and respawns of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawningRules {
    /// Selection of a spawn point.
    pub selection: SpawnSelection,
    /// Commands sent to a client on every spawn.
    pub commands: &'static [&'static str],
    /// Whether the hook is never the weapon in hand after a spawn.
    pub without_hook: bool,
    /// Whether every spawn shows the teleporter effect, at the spawn point. Otherwise only entry and
    /// respawn do, at the player's origin.
    pub effect_at_spot: bool,
    /// Whether a player that has spawned is linked at its exact position instead of the truncated one.
    pub links_exactly: bool,
    /// Whether dead players get their respawn time, which is delayed by the number of slots.
    pub announces_respawn: bool,
}

/// Movement of players, by the rules and as other clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovementRules {
    /// Bit of `dmflags` for acceleration without bunny hopping; 0 if there is none.
    pub no_bunny_dmflag: i32,
    /// Movement of player entities between snapshots.
    pub smoothing: Smoothing,
}

/// Points of players and teams, challenges and sprees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoringRules {
    /// Score penalty for a suicide.
    pub suicide_penalty: SuicidePenalty,
    /// Whether a flag pickup shows a score event of zero points.
    pub shows_zero_points: bool,
    /// Whether a player's score and counters are restored after a team change or a reconnect.
    pub kept_on_rejoin: bool,
    /// Whether the team score stays when a player changes teams.
    pub team_change_keeps_team_score: bool,
    /// Whether a disconnect counts as a death.
    pub disconnect_counts_as_death: bool,
    /// Whether a flag carrier gets the bonus for a frag of the enemy that hurt it.
    pub rewards_endangered_carriers: bool,
    /// Whether the killer's place alone decides the bonus for a frag near the own carrier. It is compared with the
    /// carrier and the own flag. Otherwise both players are compared with the carrier.
    pub guards_carriers_by_killer: bool,
    /// Whether players are told the challenges that they fulfill.
    pub has_challenges: bool,
    /// Whether series of frags and deaths are announced by the file of `g_sprees`.
    pub has_sprees: bool,
}

/// Warm-up, limits and intermission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRules {
    /// Whether a warm-up too short to count down still ends with a restart, outside tournaments.
    pub short_warmup_restarts: bool,
    /// Whether any two players start a team deathmatch, even in the same team.
    pub any_two_warm_up: bool,
    /// Whether frag and capture limits require two players.
    pub limits_need_two: bool,
    /// Whether a new level clears the intermission configstring.
    pub clears_intermission: bool,
    /// Whether other commands in intermission are sent as chat to all clients.
    pub intermission_text_is_chat: bool,
    /// Command allowed in intermission besides chat and scores.
    pub intermission_command: &'static str,
}

/// Lines and clock of the game log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameLogRules {
    /// Whether the clock of the game log continues when a level restarts in place.
    pub clock_runs_on: bool,
    /// Whether the game log has scores, awards, events of flags and voice chat to one player.
    pub has_scores: bool,
    /// Whether the game log has `ClientConnect` before `ClientUserinfoChanged`.
    pub connect_first: bool,
    /// Whether the game log has the orders of the command `gc`.
    pub has_orders: bool,
}
