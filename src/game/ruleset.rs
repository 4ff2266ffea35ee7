//! Rulesets: differences between games, as one table with a column for each game.
//!
//! A rule that is equal in all games has no row. Code reads the table and never compares rulesets.
//! Source: OpenArena 0.8.8 and the 1999 release 1.32 with its ioquake3 build.

use crate::bg::{ItemList, StatLayout};

/// The form of the scoreboard command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoresForm {
    /// Milliseconds from the level's start to the round's, sent as a fourth number when there.
    pub round_start_ms: Option<i32>,
    /// Whether each client has a fifteenth number: eliminated.
    pub eliminated: bool,
    /// Bytes that all clients' numbers together stay under.
    pub entries_limit: usize,
}

/// What a player without a visible name is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultName {
    /// The same for everybody.
    Fixed(&'static str),
    /// Followed by the client number.
    Numbered(&'static str),
}

/// How a player's entity moves between snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothing {
    /// Clients interpolate.
    Interpolate,
    /// Goes on in a line from the last command for so many milliseconds, unless the setting
    /// `g_smoothClients` is 0.
    LinearStop(i32),
}

/// How long a client may be silent before others see it as having connection trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionIconDelay {
    /// Milliseconds.
    Millis(i32),
    /// Server frames.
    Frames(u32),
}

/// How often a player may change name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenameLimit {
    /// Milliseconds between two changes.
    pub period_ms: i32,
    /// Changes in all.
    pub most: u32,
    /// Said when the period is not over.
    pub too_soon: &'static str,
    /// Said when there were too many.
    pub too_many: &'static str,
}

/// Refusals by role: which commands only players, or only spectators, may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleRefusals {
    /// Said to a spectator who asks for something players do.
    pub players_only: &'static str,
    /// Said to a player who asks for something spectators do.
    pub spectators_only: &'static str,
}

/// How a spot to begin at is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnRule {
    /// By chance among the half of the free spots that is farthest from where the player was.
    FarHalf,
    /// Any free spot by chance, rarely the one nearest to where the player was.
    NotNearest,
}

/// Who pays for a death by one's own hand or by the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuicidePenalty {
    /// Who dies loses a point.
    Own,
    /// Who dies loses a point that it has; in small games every other player gets one for a suicide.
    Lenient,
}

/// Which points of a body a blast must see to hurt it, besides the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplashTracePoints {
    /// Four, level with the middle.
    Four,
    /// Eight, above and below.
    Eight,
}

/// How the end of a shot becomes whole numbers, nearer to where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRounding {
    /// Down or up to the next whole number.
    FloorOrCeiling,
    /// Cut toward zero, and one more where the shot came from above.
    CutAndStep,
}

/// What differs between the games' fights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CombatQuirks {
    /// What a blast must see of a body.
    pub corners: SplashTracePoints,
    /// How ends of shots are rounded.
    pub end_rounding: EndRounding,
    /// Whether bullets and pellets stray as the time of the command says, so that clients know.
    pub seeded_by_time: bool,
    /// Whether missiles fly after all else, among the players where they are then.
    pub missiles_last: bool,
    /// Whether clients are told whose missile it is, and whose bullet.
    pub names_shooters: bool,
    /// Whether hooks start with their command, and not with the frame.
    pub hooks_by_command: bool,
    /// Whether obituaries mark frags of team mates.
    pub marks_mates: bool,
    /// Whether team mates can be crushed although they cannot be hurt.
    pub crushes_mates: bool,
    /// Whether who pushed somebody into death gets the frag.
    pub credits_pushers: bool,
    /// Whether the settings of OpenArena's fights exist: protection after a spawn, vampires, catching
    /// up, waves of respawns, damage modifiers, instant frags.
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

/// One game that clients may have: the data behind every rule that differs.
#[derive(Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// The game whose commands and votes exist.
    pub base: BaseGame,
    /// Folder of the game's data; also its `gamename`.
    pub folder: &'static str,
    /// What configstring 20 must say, letter for letter.
    pub version: &'static str,
    /// Where statistics stand.
    pub stats: StatLayout,
    /// Items in the client's list, placeholder 0 included; an entity must not name more.
    pub items: ItemList,
    /// Classes of entities that only modes of this game's own use.
    pub mode_classes: &'static [&'static str],
    /// Whether an entity may list the game types that it is not for.
    pub excludes_gametypes: bool,
    /// Keys of entities that are not for this game.
    pub excluding_keys: &'static [&'static str],
    /// Whether the settings `replace_<class>`, `g_instantgib`, `g_rockets` and `g_regen`, and a
    /// `g_quadfactor` that makes no difference, change which items there are and what they do.
    pub item_settings: bool,
    /// Items of the weapons that everybody spawns with; clients must load them at the start.
    pub starting_items: &'static [usize],
    /// Number of the hook in obituaries.
    pub grapple_means: i32,
    /// Highest weapon number.
    pub last_weapon: i32,
    /// Form of the scoreboard.
    pub scores: ScoresForm,
    /// What the nameless are called.
    pub default_name: DefaultName,
    /// Limits on changing one's name.
    pub rename_limit: Option<RenameLimit>,
    /// Answer to an unknown command, before the command.
    pub unknown_command: &'static str,
    /// Answer to a command that needs cheats.
    pub cheats_off: &'static str,
    /// Commands that only the living may give.
    pub living_only: &'static [&'static str],
    /// Answer to the dead who give them.
    pub living_refusal: &'static str,
    /// Answer to `team` without a word, from a player.
    pub playing_team: &'static str,
    /// Refusals by role; without them spectators' commands turn a player into a spectator.
    pub role_refusals: Option<RoleRefusals>,
    /// Whether a wrong player number has its own answers, apart from a wrong name.
    pub slot_refusals: bool,
    /// Whether clients know recorded voices.
    pub voices: bool,
    /// Whether who follows a player is told of its team mates.
    pub overlay_for_followers: bool,
    /// Whether what is voted on is shown as a sentence, otherwise as a command.
    pub vote_sentences: bool,
    /// Whether a vote that was cast may be changed.
    pub votes_may_change: bool,
    /// Whether a bit of `dmflags` lets votes pass without a majority.
    pub light_votes: bool,
    /// Whether newcomers are told of the operator's own votes.
    pub lists_votes: bool,
    /// Whether taking a flag is shown as a score of nothing.
    pub shows_every_score: bool,
    /// Whether the use button ends following.
    pub use_stops_following: bool,
    /// Userinfo key that says which team a newcomer wants.
    pub team_preference: &'static str,
    /// Whether that key is heeded in games of teams.
    pub preference_joins_team: bool,
    /// Whether who changes teams or comes back to the server has its score and counts again.
    pub keeps_score_on_rejoin: bool,
    /// Whether clients are told who is in their team, and always where their mates are.
    pub team_lists: bool,
    /// Sent to a client whenever it spawns.
    pub spawn_commands: &'static [&'static str],
    /// Sent to a client alone behind the announcement that it has entered, on every entry: after
    /// connecting, a change of team and a restart.
    pub entry_commands: &'static [&'static str],
    /// How a spot to begin at is chosen.
    pub spawn_rule: SpawnRule,
    /// Who pays for a suicide.
    pub suicide_penalty: SuicidePenalty,
    /// How fights differ.
    pub combat: CombatQuirks,
    /// Whether whoever appears is shown as coming out of a teleporter at each spawn, at the spot;
    /// otherwise on entering and on coming back to life, where the player is then.
    pub spawn_effect_at_spot: bool,
    /// Whether the dead are told when they may come back, which is later by the number of slots.
    pub announces_respawn: bool,
    /// Whether leaving the game is a death.
    pub disconnect_counts_as_death: bool,
    /// Whether a team loses no point when a player leaves it for another.
    pub team_change_keeps_team_score: bool,
    /// Bit of `dmflags` that changes how everything accelerates; 0 when there is none.
    pub no_bunny_dmflag: i32,
    /// How player entities move between snapshots.
    pub smoothing: Smoothing,
    /// When a silent client is shown as in trouble.
    pub connection_icon_delay: ConnectionIconDelay,
    /// Whether a new level empties the intermission string.
    pub clears_intermission: bool,
    /// Whether whatever else a player types while the scoreboard is shown is said to all.
    pub intermission_text_is_chat: bool,
    /// What may be asked then besides talk and scores.
    pub intermission_command: &'static str,
    /// Whether limits of frags and captures hold only when two play.
    pub limits_need_two: bool,
    /// Whether a warm-up too short to count down still ends with a restart, outside tournaments.
    pub short_warmup_restarts: bool,
    /// Whether any two players are enough for a team deathmatch, also on one side.
    pub any_two_warm_up: bool,
    /// Whether the clock of the log goes on when a level restarts in place.
    pub log_clock_runs_on: bool,
    /// Whether the log tells of a connection before it tells of the player's name.
    pub logs_connect_first: bool,
    /// Whether the setting `g_music` replaces the level's own music.
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
        scores: ScoresForm { round_start_ms: Some(7000), eliminated: true, entries_limit: 1024 },
        default_name: DefaultName::Numbered("Nameless"),
        rename_limit: Some(RenameLimit {
            period_ms: 10_000,
            most: 50,
            too_soon: "Name change spam protection (g_minNameChangePeriod = 10)",
            too_many: "Maximum name changes reached (g_maxNameChanges = 50)",
        }),
        unknown_command: "Unknown command ",
        cheats_off: "Cheats are not enabled on this server",
        living_only: &["kill", "give", "god", "notarget"],
        living_refusal: "Must be alive to use this command",
        playing_team: "Deathmatch-Playing",
        role_refusals: Some(RoleRefusals {
            players_only: "Join a team first",
            spectators_only: "Cannot use this command when on a team",
        }),
        slot_refusals: true,
        voices: true,
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
        // Its message of the day, empty where an operator has written none. It clears the center print, the
        // announcement of the client's own change of team included.
        entry_commands: &["cp \"\""],
        spawn_rule: SpawnRule::NotNearest,
        suicide_penalty: SuicidePenalty::Lenient,
        combat: CombatQuirks {
            corners: SplashTracePoints::Four,
            end_rounding: EndRounding::CutAndStep,
            seeded_by_time: true,
            missiles_last: true,
            names_shooters: true,
            hooks_by_command: true,
            marks_mates: true,
            crushes_mates: true,
            credits_pushers: true,
            has_combat_settings: true,
        },
        spawn_effect_at_spot: false,
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
        scores: ScoresForm { round_start_ms: None, eliminated: false, entries_limit: 1000 },
        default_name: DefaultName::Fixed("UnnamedPlayer"),
        rename_limit: None,
        unknown_command: "unknown cmd ",
        cheats_off: "Cheats are not enabled on this server.",
        living_only: &["give", "god", "notarget", "noclip"],
        living_refusal: "You must be alive to use this command.",
        playing_team: "Free team",
        role_refusals: None,
        slot_refusals: false,
        voices: false,
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
        entry_commands: &[],
        spawn_rule: SpawnRule::FarHalf,
        suicide_penalty: SuicidePenalty::Own,
        combat: CombatQuirks {
            corners: SplashTracePoints::Eight,
            end_rounding: EndRounding::FloorOrCeiling,
            seeded_by_time: false,
            missiles_last: false,
            names_shooters: false,
            hooks_by_command: false,
            marks_mates: false,
            crushes_mates: false,
            credits_pushers: false,
            has_combat_settings: false,
        },
        spawn_effect_at_spot: true,
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
        logs_connect_first: true,
        music_setting: false,
    };

    /// OpenArena's sources after 0.8.8: the rune's statistic is last.
    pub const BASEOA_NEXT: &'static Self =
        &Self { stats: StatLayout { rune: Some(7), ..Self::BASEQ3.stats }, ..*Self::BASEOA };

    /// Every ruleset, the default first. The first of a game folder is that of its release.
    pub const ALL: [&'static Self; 3] = [Self::BASEOA, Self::BASEQ3, Self::BASEOA_NEXT];

    /// The ruleset of a game folder.
    #[must_use]
    pub fn of_folder(folder: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|ruleset| ruleset.folder.eq_ignore_ascii_case(folder))
    }

    /// The item string in which only the starting items are marked.
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
    fn statistics_have_places_of_their_own() {
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
    fn profiles_are_found_by_folder() {
        assert_eq!(Ruleset::of_folder("BaseQ3"), Some(Ruleset::BASEQ3));
        assert_eq!(Ruleset::of_folder("missionpack"), None);
    }
}
