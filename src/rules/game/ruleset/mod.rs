//! Rulesets: differences between games, as one table with a column for each game.
//!
//! A rule that is equal in all games has no row. Code reads the table and never compares rulesets.
//! The rows are in groups, one for each part of a match, in the same order for each game.
//! Source: OpenArena 0.8.8 and the 1999 release 1.32 with its ioquake3 build.

mod groups;

pub use groups::{
    CombatQuirks, CommandRules, ConnectionIconDelay, DefaultName, EndRounding, EquipmentRules,
    GameLogRules, LevelRules, MatchRules, MovementRules, PlayerRules, RoleRefusals, ScoringRules,
    Smoothing, SpawnSelection, SpawningRules, SplashTracePoints, SuicidePenalty, TeamRules,
    VoteRules,
};

use crate::bg::{ItemList, StatLayout, scoreboard::ScoresForm};

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
    /// Form of the scoreboard.
    pub scores: ScoresForm,
    /// Shots, missiles, damage and frags.
    pub combat: CombatQuirks,
    /// Weapons and items.
    pub equipment: EquipmentRules,
    /// Entities of a map and its music.
    pub level: LevelRules,
    /// Names, entry and connections of players.
    pub players: PlayerRules,
    /// Client commands and their refusals.
    pub commands: CommandRules,
    /// Course and display of votes.
    pub votes: VoteRules,
    /// Teams, the choice of one, and spectators.
    pub teams: TeamRules,
    /// Spawns and respawns of players.
    pub spawning: SpawningRules,
    /// Movement of players, by the rules and as other clients see it.
    pub movement: MovementRules,
    /// Points of players and teams, challenges and sprees.
    pub scoring: ScoringRules,
    /// Warm-up, limits and intermission.
    pub matches: MatchRules,
    /// Lines and clock of the game log.
    pub game_log: GameLogRules,
}

impl Ruleset {
    /// OpenArena 0.8.8.
    pub const BASEOA: &'static Self = &Self {
        base: BaseGame::OpenArena,
        folder: "baseoa",
        version: "baseoa-1",
        stats: StatLayout::BASEOA,
        items: ItemList::BASEOA,
        scores: ScoresForm::OPENARENA,
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
        equipment: EquipmentRules {
            last_weapon: 13,
            starting_items: &[8, 10],
            grapple_means: 28,
            has_settings: true,
        },
        level: LevelRules {
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
            has_music_setting: true,
        },
        players: PlayerRules {
            default_name: DefaultName::Numbered("Nameless"),
            limits_renames: true,
            has_guids: true,
            greets_on_entry: true,
            connection_icon_delay: ConnectionIconDelay::Frames(2),
        },
        commands: CommandRules {
            unknown: "Unknown command ",
            cheats_off: "Cheats are not enabled on this server",
            pictures_free_for_all: true,
            living_only: &["kill", "give", "god", "notarget"],
            living_refusal: "Must be alive to use this command",
            role_refusals: Some(RoleRefusals {
                players_only: "Join a team first",
                spectators_only: "Cannot use this command when on a team",
            }),
            slot_refusals: true,
        },
        votes: VoteRules {
            shown_as_sentences: true,
            may_change: true,
            has_light_flag: true,
            lists_custom: true,
            clears_kicked: true,
        },
        teams: TeamRules {
            playing_answer: "Deathmatch-Playing",
            preference_key: "team",
            preference_joins: false,
            has_lists: true,
            overlay_for_followers: false,
            use_stops_following: true,
        },
        spawning: SpawningRules {
            selection: SpawnSelection::NotNearest,
            commands: &["respawn 0"],
            without_hook: true,
            effect_at_spot: false,
            links_exactly: true,
            announces_respawn: true,
        },
        movement: MovementRules { no_bunny_dmflag: 128, smoothing: Smoothing::Interpolate },
        scoring: ScoringRules {
            suicide_penalty: SuicidePenalty::Lenient,
            shows_zero_points: true,
            kept_on_rejoin: true,
            team_change_keeps_team_score: true,
            disconnect_counts_as_death: true,
            rewards_endangered_carriers: true,
            guards_carriers_by_killer: true,
            has_challenges: true,
            has_sprees: true,
        },
        matches: MatchRules {
            short_warmup_restarts: true,
            any_two_warm_up: true,
            limits_need_two: true,
            clears_intermission: false,
            intermission_text_is_chat: false,
            intermission_command: "acc",
        },
        game_log: GameLogRules {
            clock_runs_on: true,
            has_scores: true,
            connect_first: false,
            has_orders: false,
        },
    };

    /// The base game: release 1.32 and ioquake3's build of it.
    pub const BASEQ3: &'static Self = &Self {
        base: BaseGame::Quake3,
        folder: "baseq3",
        version: "baseq3-1",
        stats: StatLayout::BASEQ3,
        items: ItemList::BASEQ3,
        scores: ScoresForm::BASE,
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
        equipment: EquipmentRules {
            last_weapon: 10,
            starting_items: &[8, 10],
            grapple_means: 23,
            has_settings: false,
        },
        level: LevelRules {
            mode_classes: &[],
            excludes_gametypes: false,
            excluding_keys: &["notq3a"],
            has_music_setting: false,
        },
        players: PlayerRules {
            default_name: DefaultName::Fixed("UnnamedPlayer"),
            limits_renames: false,
            has_guids: false,
            greets_on_entry: false,
            connection_icon_delay: ConnectionIconDelay::Millis(1000),
        },
        commands: CommandRules {
            unknown: "unknown cmd ",
            cheats_off: "Cheats are not enabled on this server.",
            pictures_free_for_all: false,
            living_only: &["give", "god", "notarget", "noclip"],
            living_refusal: "You must be alive to use this command.",
            role_refusals: None,
            slot_refusals: false,
        },
        votes: VoteRules {
            shown_as_sentences: false,
            may_change: false,
            has_light_flag: false,
            lists_custom: false,
            clears_kicked: false,
        },
        teams: TeamRules {
            playing_answer: "Free team",
            preference_key: "teampref",
            preference_joins: true,
            has_lists: false,
            overlay_for_followers: true,
            use_stops_following: false,
        },
        spawning: SpawningRules {
            selection: SpawnSelection::FarHalf,
            commands: &[],
            without_hook: false,
            effect_at_spot: true,
            links_exactly: false,
            announces_respawn: false,
        },
        movement: MovementRules { no_bunny_dmflag: 0, smoothing: Smoothing::LinearStop(50) },
        scoring: ScoringRules {
            suicide_penalty: SuicidePenalty::Own,
            shows_zero_points: false,
            kept_on_rejoin: false,
            team_change_keeps_team_score: false,
            disconnect_counts_as_death: false,
            rewards_endangered_carriers: false,
            guards_carriers_by_killer: false,
            has_challenges: false,
            has_sprees: false,
        },
        matches: MatchRules {
            short_warmup_restarts: false,
            any_two_warm_up: false,
            limits_need_two: false,
            clears_intermission: true,
            intermission_text_is_chat: true,
            intermission_command: "tell",
        },
        game_log: GameLogRules {
            clock_runs_on: false,
            has_scores: false,
            connect_first: true,
            has_orders: true,
        },
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
        let bit = |item| if self.equipment.starting_items.contains(&item) { '1' } else { '0' };
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
