//! Vote proposals: parsing, text and console lines of each kind.
//!
//! Invariants: a proposal is a typed value, parsed from validated arguments; its console lines are built
//! from that value, never from client text. Source: the base game's votes; OpenArena's, with their limits.

use super::Clients;
use crate::model::{ClientNum, CommandArgs, text::atoi};
use crate::{
    bg::GameType,
    cvar::{Int, Key},
    game::{BaseGame, Host, settings::key, userinfo::clean_text},
};

/// Maximum minutes or frags of a proposal when no setting limits it.
const MAX_LIMIT: i32 = 999;
/// Bit of the setting `voteflags` for custom votes.
pub(super) const CUSTOM_FLAG: i32 = 256;
/// Maximum length of a custom vote's name, in bytes.
const MAX_CUSTOM_LEN: usize = 31;
/// Maximum length of a proposal's text, in bytes.
const MAX_TEXT_LEN: usize = 128;

/// A change that players vote on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proposal {
    Restart,
    NextMap,
    Map(String),
    Play(GameType),
    Kick(ClientNum),
    Warmup(bool),
    TimeLimit(i32),
    FragLimit(i32),
    Shuffle,
    /// Custom vote of the operator: runs the variable `vote_<name>`.
    Custom(String),
}

/// Row of the proposal table.
struct ProposalRow {
    name: &'static str,
    /// Bit of the setting `voteflags`.
    flag: i32,
    /// The only game with the proposal, if not all have it.
    only: Option<BaseGame>,
    read: fn(&Clients, &dyn Host, &str) -> Result<Proposal, String>,
}

const fn row(
    name: &'static str,
    flag: i32,
    read: fn(&Clients, &dyn Host, &str) -> Result<Proposal, String>,
) -> ProposalRow {
    ProposalRow { name, flag, only: None, read }
}

const PROPOSALS: &[ProposalRow] = &[
    row("map_restart", 1, |_, _, _| Ok(Proposal::Restart)),
    row("nextmap", 2, |_, host, _| match host.settings().text(key::NEXTMAP) {
        "" => Err("nextmap not set.".to_owned()),
        _ => Ok(Proposal::NextMap),
    }),
    row("map", 4, |_, host, word| map(host, word)),
    row("g_gametype", 8, game_type),
    row("kick", 16, |clients, _, word| clients.player_called(word).map(Proposal::Kick)),
    row("clientkick", 16, |clients, _, word| clients.player_numbered(word).map(Proposal::Kick)),
    row("g_doWarmup", 32, |_, _, word| Ok(Proposal::Warmup(atoi(word) != 0))),
    row("timelimit", 64, |_, host, word| {
        limit(host, word, [key::G_VOTE_MIN_TIMELIMIT, key::G_VOTE_MAX_TIMELIMIT])
            .map(Proposal::TimeLimit)
    }),
    row("fraglimit", 128, |_, host, word| {
        limit(host, word, [key::G_VOTE_MIN_FRAGLIMIT, key::G_VOTE_MAX_FRAGLIMIT])
            .map(Proposal::FragLimit)
    }),
    ProposalRow {
        name: "shuffle",
        flag: 512,
        only: Some(BaseGame::OpenArena),
        read: |clients, _, _| match clients.game_type.has_teams() {
            true => Ok(Proposal::Shuffle),
            false => Err("There are no teams to shuffle.".to_owned()),
        },
    },
    ProposalRow {
        name: "custom",
        flag: CUSTOM_FLAG,
        only: Some(BaseGame::OpenArena),
        read: |_, host, word| match custom_votes(host)
            .find(|custom| custom.eq_ignore_ascii_case(word))
        {
            Some(custom) => Ok(Proposal::Custom(custom.to_owned())),
            None => Err("There is no such vote.".to_owned()),
        },
    },
];

/// Parses the arguments of `callvote`.
///
/// # Errors
/// The refusal, in lines.
pub(super) fn read(
    clients: &Clients,
    host: &dyn Host,
    words: &CommandArgs,
) -> Result<Proposal, Vec<String>> {
    let flags = host.settings().int(key::VOTEFLAGS);
    let allowed = |row: &&ProposalRow| {
        row.only.is_none_or(|base| base == clients.ruleset.base) && flags & row.flag != 0
    };
    // Separators would start another console command.
    let clean = |word: &String| !word.contains([';', '\n', '\r', '"']);
    let asked = words.get(1);
    let found = PROPOSALS.iter().filter(allowed).find(|row| row.name.eq_ignore_ascii_case(asked));
    let Some(row) = found.filter(|_| words.arguments().iter().all(clean)) else {
        let known: Vec<&str> = PROPOSALS.iter().filter(allowed).map(|row| row.name).collect();
        let known = format!("Vote commands are: {}.", known.join(", "));
        return Err(vec!["Invalid vote string.".to_owned(), known]);
    };
    let word = if row.name == "kick" { words.rest(2) } else { words.get(2).to_owned() };
    (row.read)(clients, host, &word).map_err(|refusal| vec![refusal])
}

/// Returns the names of the operator's custom votes.
pub(super) fn custom_votes(host: &dyn Host) -> impl Iterator<Item = &str> {
    let legal = |name: &&str| {
        name.len() <= MAX_CUSTOM_LEN
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    host.settings().text(key::G_CUSTOM_VOTES).split_ascii_whitespace().filter(legal)
}

fn map(host: &dyn Host, word: &str) -> Result<Proposal, String> {
    let names = host.map_names();
    match names.iter().find(|name| name.eq_ignore_ascii_case(word)) {
        Some(name) => Ok(Proposal::Map(name.clone())),
        None => Err(format!("There is no map {}.", clean_text(word, MAX_CUSTOM_LEN))),
    }
}

fn game_type(clients: &Clients, host: &dyn Host, word: &str) -> Result<Proposal, String> {
    let is_current = word.parse() == Ok(clients.game_type as i32);
    if is_current && clients.ruleset.base == BaseGame::OpenArena {
        return Err("This is current gametype".to_owned());
    }
    let offered = host.settings().text(key::G_VOTE_GAMETYPES);
    word.parse()
        .ok()
        .and_then(GameType::of_number)
        .filter(|kind| kind.is_for_many())
        .filter(|&kind| offered.is_empty() || offered.contains(&format!("/{}/", kind as i32)))
        .map(Proposal::Play)
        .ok_or_else(|| "Invalid gametype.".to_owned())
}

/// Parses a match limit; 0 removes the limit.
fn limit(host: &dyn Host, word: &str, [least, most]: [Key<Int>; 2]) -> Result<i32, String> {
    let least = host.settings().int(least);
    let most = match host.settings().int(most) {
        0 => MAX_LIMIT,
        most => most,
    };
    let asked = word.parse::<i32>().ok();
    let fits = |&asked: &i32| (least..=most).contains(&asked) || asked == 0 && least == 0;
    asked.filter(fits).ok_or_else(|| format!("It takes a number from {least} to {most}."))
}

impl Proposal {
    /// Returns the text shown to players, without quotes.
    pub(super) fn text(&self, clients: &Clients) -> String {
        let sentence = clients.ruleset.votes.shown_as_sentences;
        let name = |client: ClientNum| clients.player(client).map_or("", |player| &*player.name);
        let text = match (self, sentence) {
            (Self::Restart, false) => "map_restart".to_owned(),
            (Self::Restart, true) => "Restart map?".to_owned(),
            (Self::NextMap, false) => "vstr nextmap".to_owned(),
            (Self::NextMap, true) => "Next map?".to_owned(),
            (Self::Map(map), false) => format!("map {map}"),
            (Self::Map(map), true) => format!("Change map to: {map}?"),
            (Self::Play(kind), false) => format!("g_gametype {}", kind.title()),
            (Self::Play(kind), true) => format!("Change gametype to: {}?", kind.title()),
            (Self::Kick(client), false) => format!("kick {}", name(*client)),
            (Self::Kick(client), true) => format!("Kick {}?", name(*client)),
            (Self::Warmup(on), false) => format!("g_doWarmup {}", i32::from(*on)),
            (Self::Warmup(true), true) => "Enable warmup?".to_owned(),
            (Self::Warmup(false), true) => "Disable warmup?".to_owned(),
            (Self::TimeLimit(minutes), false) => format!("timelimit {minutes}"),
            (Self::TimeLimit(0), true) => "Remove timelimit?".to_owned(),
            (Self::TimeLimit(minutes), true) => format!("Change timelimit to: {minutes}"),
            (Self::FragLimit(frags), false) => format!("fraglimit {frags}"),
            (Self::FragLimit(0), true) => "Remove fraglimit?".to_owned(),
            (Self::FragLimit(frags), true) => format!("Change fraglimit to: {frags}"),
            (Self::Shuffle, _) => "Shuffle teams?".to_owned(),
            (Self::Custom(name), _) => format!("{name}?"),
        };
        clean_text(&text, MAX_TEXT_LEN)
    }

    /// Whether the proposal loads a map or restarts the level by its command, without a setting.
    pub(super) const fn changes_level(&self) -> bool {
        matches!(self, Self::Restart | Self::NextMap | Self::Map(_) | Self::Shuffle)
    }

    /// Returns the console lines that run when the vote passes. The load of a map resets `nextmap`, so a
    /// vote on a map sets it again: the rotation continues after that map.
    pub(super) fn lines(&self, base: BaseGame, nextmap: &str) -> Vec<String> {
        let restart = || "map_restart 0".to_owned();
        match self {
            // OpenArena's restart has the countdown of the console command.
            Self::Restart if base == BaseGame::OpenArena => vec!["map_restart".to_owned()],
            Self::Restart | Self::Shuffle => vec![restart()],
            Self::NextMap => vec!["vstr nextmap".to_owned()],
            Self::Map(map) if nextmap.is_empty() || nextmap.contains('"') => {
                vec![format!("map {map}")]
            }
            Self::Map(map) => vec![format!("map {map}"), format!("set nextmap \"{nextmap}\"")],
            // The setting is latched until a restart.
            Self::Play(kind) => vec![format!("set g_gametype {}", *kind as i32), restart()],
            Self::Kick(client) => vec![format!("clientkick {client}")],
            Self::Warmup(on) => vec![format!("set g_doWarmup {}", i32::from(*on))],
            Self::TimeLimit(minutes) => vec![format!("set timelimit {minutes}")],
            Self::FragLimit(frags) => vec![format!("set fraglimit {frags}")],
            Self::Custom(name) => vec![format!("vstr vote_{name}")],
        }
    }
}
