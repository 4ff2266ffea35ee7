//! Rulesets: differences between games, as one table with a column for each game.
//!
//! A rule that is equal in all games has no row. Code reads the table and never compares rulesets.
//! Source: OpenArena 0.8.8 and the 1999 release 1.32 with its ioquake3 build.

use crate::bg::{ItemList, StatLayout, scoreboard::ScoresForm};

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
pub enum SpawnRule {
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

/// The game that a ruleset belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseGame {
    /// Quake III Arena.
    Quake3,
    /// OpenArena.
    OpenArena,
}

/// Ruleset of one game: every constant and switch that differs between games.
#[derive(Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// Game whose commands and votes exist.
    pub base: BaseGame,
    /// Folder of the game data; also the `gamename`.
    pub folder: &'static str,
    /// Game version in configstring 20; clients compare it exactly.
    pub version: &'static str,
    /// Indexes of the player's stats.
    pub stats: StatLayout,
    /// Items of the client's list, with placeholder 0. Entities must not use higher numbers.
    pub items: ItemList,
    /// Entity classes of game types that are not implemented.
    pub mode_classes: &'static [&'static str],
    /// Whether the entity key `!gametype` exists.
    pub excludes_gametypes: bool,
    /// Keys that exclude an entity from this game.
    pub excluding_keys: &'static [&'static str],
    /// Whether `replace_<class>`, `g_instantgib`, `g_rockets`, `g_regen` and a `g_quadfactor` of 1 change
    /// the items.
    pub item_settings: bool,
    /// Items of the spawn weapons; clients must load them at level start.
    pub starting_items: &'static [usize],
    /// Means of death of the grapple.
    pub grapple_means: i32,
    /// Highest weapon number.
    pub last_weapon: i32,
    /// Form of the scoreboard.
    pub scores: ScoresForm,
    /// Name of players without a visible name.
    pub default_name: DefaultName,
    /// Whether the settings limit name changes.
    pub limits_renames: bool,
    /// Whether clients have a `cl_guid` that the settings can require.
    pub has_guids: bool,
    /// Answer to an unknown command, followed by the command.
    pub unknown_command: &'static str,
    /// Whether the command `levelshot` requires free for all.
    pub pictures_free_for_all: bool,
    /// Answer to a command that needs cheats.
    pub cheats_off: &'static str,
    /// Commands that dead players may not use.
    pub living_only: &'static [&'static str],
    /// Answer to a dead player that uses one of them.
    pub living_refusal: &'static str,
    /// Answer to `team` without an argument, from a player in no team.
    pub playing_team: &'static str,
    /// Refusals by role. Without them, `follow` makes a player a spectator.
    pub role_refusals: Option<RoleRefusals>,
    /// Whether an invalid client number has its own refusal, distinct from an unknown name.
    pub slot_refusals: bool,
    /// Whether a spectator gets the team overlay of the followed player.
    pub overlay_for_followers: bool,
    /// Whether a vote is shown as a sentence instead of a command.
    pub vote_sentences: bool,
    /// Whether a player may change a cast vote.
    pub votes_may_change: bool,
    /// Whether a bit of `dmflags` lets votes pass without an absolute majority.
    pub light_votes: bool,
    /// Whether clients get the list of custom votes on entry.
    pub lists_votes: bool,
    /// Whether a flag pickup shows a score event of zero points.
    pub shows_every_score: bool,
    /// Whether the use button ends following a player.
    pub use_stops_following: bool,
    /// Userinfo key with the team requested on connect.
    pub team_preference: &'static str,
    /// Whether that key applies in team games.
    pub preference_joins_team: bool,
    /// Whether a player's score and counters are restored after a team change or a reconnect.
    pub keeps_score_on_rejoin: bool,
    /// Whether clients get team lists, and the team overlay without requesting it.
    pub team_lists: bool,
    /// Commands sent to a client on every spawn.
    pub spawn_commands: &'static [&'static str],
    /// Whether a client gets the message of `g_motdfile` on every entry, after the announcement to all
    /// clients. Entries follow a connect, a team change and a restart.
    pub greets_on_entry: bool,
    /// Selection of a spawn point.
    pub spawn_rule: SpawnRule,
    /// Score penalty for a suicide.
    pub suicide_penalty: SuicidePenalty,
    /// Differences in combat.
    pub combat: CombatQuirks,
    /// Whether the hook is never the weapon in hand after a spawn.
    pub spawns_without_hook: bool,
    /// Whether every spawn shows the teleporter effect, at the spawn point. Otherwise only entry and
    /// respawn do, at the player's origin.
    pub spawn_effect_at_spot: bool,
    /// Whether a player that has spawned is linked at its exact position instead of the truncated one.
    pub spawn_links_exactly: bool,
    /// Whether dead players get their respawn time, which is delayed by the number of slots.
    pub announces_respawn: bool,
    /// Whether a disconnect counts as a death.
    pub disconnect_counts_as_death: bool,
    /// Whether the team score stays when a player changes teams.
    pub team_change_keeps_team_score: bool,
    /// Bit of `dmflags` for acceleration without bunny hopping; 0 if there is none.
    pub no_bunny_dmflag: i32,
    /// Movement of player entities between snapshots.
    pub smoothing: Smoothing,
    /// Silence after which a client's connection icon is shown.
    pub connection_icon_delay: ConnectionIconDelay,
    /// Whether a new level clears the intermission configstring.
    pub clears_intermission: bool,
    /// Whether other commands in intermission are sent as chat to all clients.
    pub intermission_text_is_chat: bool,
    /// Command allowed in intermission besides chat and scores.
    pub intermission_command: &'static str,
    /// Whether frag and capture limits require two players.
    pub limits_need_two: bool,
    /// Whether a warm-up too short to count down still ends with a restart, outside tournaments.
    pub short_warmup_restarts: bool,
    /// Whether any two players start a team deathmatch, even in the same team.
    pub any_two_warm_up: bool,
    /// Whether the clock of the game log continues when a level restarts in place.
    pub log_clock_runs_on: bool,
    /// Whether the game log has scores, awards, events of flags and voice chat to one player.
    pub logs_scores: bool,
    /// Whether players are told the challenges that they fulfill.
    pub has_challenges: bool,
    /// Whether series of frags and deaths are announced by the file of `g_sprees`.
    pub has_sprees: bool,
    /// Whether the game log has `ClientConnect` before `ClientUserinfoChanged`.
    pub logs_connect_first: bool,
    /// Whether the setting `g_music` replaces the map's music.
    pub music_setting: bool,
}

impl Ruleset {
    /// OpenArena 0.8.8.
    pub const BASEOA: &'static Self = &Self {
        base: BaseGame::OpenArena,
        folder: "baseoa",
        version: "baseoa-1",
        stats: StatLayout::BASEOA,
        items: ItemList::BASEOA,
        mode_classes: &[
            "team_redobelisk",
            "team_blueobelisk",
            "team_neutralobelisk",
            "info_player_dd",
            "info_player_dd_red",
            "info_player_dd_blue",
            "domination_point",
        ],
        excludes_gametypes: true,
        excluding_keys: &["notq3a", "notta"],
        item_settings: true,
        starting_items: &[8, 10],
        grapple_means: 28,
        last_weapon: 13,
        scores: ScoresForm::OPENARENA,
        default_name: DefaultName::Numbered("Nameless"),
        limits_renames: true,
        has_guids: true,
        unknown_command: "Unknown command ",
        pictures_free_for_all: true,
        cheats_off: "Cheats are not enabled on this server",
        living_only: &["kill", "give", "god", "notarget"],
        living_refusal: "Must be alive to use this command",
        playing_team: "Deathmatch-Playing",
        role_refusals: Some(RoleRefusals {
            players_only: "Join a team first",
            spectators_only: "Cannot use this command when on a team",
        }),
        slot_refusals: true,
        overlay_for_followers: false,
        vote_sentences: true,
        votes_may_change: true,
        light_votes: true,
        lists_votes: true,
        shows_every_score: true,
        use_stops_following: true,
        team_preference: "team",
        preference_joins_team: false,
        keeps_score_on_rejoin: true,
        team_lists: true,
        spawn_commands: &["respawn 0"],
        greets_on_entry: true,
        spawn_rule: SpawnRule::NotNearest,
        suicide_penalty: SuicidePenalty::Lenient,
        combat: CombatQuirks {
            corners: SplashTracePoints::Four,
            end_rounding: EndRounding::CutAndStep,
            seeded_by_time: true,
            missiles_last: true,
            compensates_lag: true,
            names_shooters: true,
            hooks_by_command: true,
            marks_mates: true,
            crushes_mates: true,
            credits_pushers: true,
            credits_activators: true,
            has_combat_settings: true,
        },
        spawns_without_hook: true,
        spawn_effect_at_spot: false,
        spawn_links_exactly: true,
        announces_respawn: true,
        disconnect_counts_as_death: true,
        team_change_keeps_team_score: true,
        no_bunny_dmflag: 128,
        smoothing: Smoothing::Interpolate,
        connection_icon_delay: ConnectionIconDelay::Frames(2),
        clears_intermission: false,
        intermission_text_is_chat: false,
        intermission_command: "acc",
        limits_need_two: true,
        short_warmup_restarts: true,
        any_two_warm_up: true,
        log_clock_runs_on: true,
        logs_scores: true,
        has_challenges: true,
        has_sprees: true,
        logs_connect_first: false,
        music_setting: true,
    };

    /// The base game: release 1.32 and ioquake3's build of it.
    pub const BASEQ3: &'static Self = &Self {
        base: BaseGame::Quake3,
        folder: "baseq3",
        version: "baseq3-1",
        stats: StatLayout::BASEQ3,
        items: ItemList::BASEQ3,
        mode_classes: &[],
        excludes_gametypes: false,
        excluding_keys: &["notq3a"],
        item_settings: false,
        starting_items: &[8, 10],
        grapple_means: 23,
        last_weapon: 10,
        scores: ScoresForm::BASE,
        default_name: DefaultName::Fixed("UnnamedPlayer"),
        limits_renames: false,
        has_guids: false,
        unknown_command: "unknown cmd ",
        pictures_free_for_all: false,
        cheats_off: "Cheats are not enabled on this server.",
        living_only: &["give", "god", "notarget", "noclip"],
        living_refusal: "You must be alive to use this command.",
        playing_team: "Free team",
        role_refusals: None,
        slot_refusals: false,
        overlay_for_followers: true,
        vote_sentences: false,
        votes_may_change: false,
        light_votes: false,
        lists_votes: false,
        shows_every_score: false,
        use_stops_following: false,
        team_preference: "teampref",
        preference_joins_team: true,
        keeps_score_on_rejoin: false,
        team_lists: false,
        spawn_commands: &[],
        greets_on_entry: false,
        spawn_rule: SpawnRule::FarHalf,
        suicide_penalty: SuicidePenalty::Own,
        combat: CombatQuirks {
            corners: SplashTracePoints::Eight,
            end_rounding: EndRounding::FloorOrCeiling,
            seeded_by_time: false,
            missiles_last: false,
            compensates_lag: false,
            names_shooters: false,
            hooks_by_command: false,
            marks_mates: false,
            crushes_mates: false,
            credits_pushers: false,
            credits_activators: false,
            has_combat_settings: false,
        },
        spawns_without_hook: false,
        spawn_effect_at_spot: true,
        spawn_links_exactly: false,
        announces_respawn: false,
        disconnect_counts_as_death: false,
        team_change_keeps_team_score: false,
        no_bunny_dmflag: 0,
        smoothing: Smoothing::LinearStop(50),
        connection_icon_delay: ConnectionIconDelay::Millis(1000),
        clears_intermission: true,
        intermission_text_is_chat: true,
        intermission_command: "tell",
        limits_need_two: false,
        short_warmup_restarts: false,
        any_two_warm_up: false,
        log_clock_runs_on: false,
        logs_scores: false,
        has_challenges: false,
        has_sprees: false,
        logs_connect_first: true,
        music_setting: false,
    };

    /// OpenArena's sources after 0.8.8: the rune's statistic is last.
    pub const BASEOA_NEXT: &'static Self =
        &Self { stats: StatLayout { rune: Some(7), ..Self::BASEQ3.stats }, ..*Self::BASEOA };

    /// Every ruleset, the default first. The first of a game folder is that of its release.
    pub const ALL: [&'static Self; 3] = [Self::BASEOA, Self::BASEQ3, Self::BASEOA_NEXT];

    /// Returns the ruleset of a game folder.
    #[must_use]
    pub fn of_folder(folder: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|ruleset| ruleset.folder.eq_ignore_ascii_case(folder))
    }

    /// Returns the item configstring in which only the starting items are set.
    #[must_use]
    pub fn item_bits(&self) -> String {
        let bit = |item| if self.starting_items.contains(&item) { '1' } else { '0' };
        (0..self.items.len()).map(bit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_strings_mark_gauntlet_and_machine_gun() {
        for (ruleset, length) in [(Ruleset::BASEQ3, 36), (Ruleset::BASEOA, 61)] {
            let bits = ruleset.item_bits();
            assert_eq!(bits.len(), length);
            let marked: Vec<_> = bits.match_indices('1').map(|(at, _)| at).collect();
            assert_eq!(marked, [8, 10], "{}", ruleset.folder);
        }
    }

    #[test]
    fn stat_indexes_are_unique() {
        for ruleset in Ruleset::ALL {
            let s = ruleset.stats;
            let mut places = vec![
                s.health,
                s.holdable,
                s.weapons,
                s.armor,
                s.dead_yaw,
                s.clients_ready,
                s.max_health,
            ];
            places.extend(s.rune);
            places.sort_unstable();
            assert_eq!(places, (0..places.len()).collect::<Vec<_>>(), "{}", ruleset.folder);
        }
    }

    #[test]
    fn rulesets_are_found_by_folder() {
        assert_eq!(Ruleset::of_folder("BaseQ3"), Some(Ruleset::BASEQ3));
        assert_eq!(Ruleset::of_folder("missionpack"), None);
    }
}
