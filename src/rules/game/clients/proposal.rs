//! Vote proposals: parsing, text and console lines of each kind.
//!
//! Invariants: a proposal is a typed value, parsed from validated arguments; its console lines are built
//! from that value, never from client text. Source: the base game's votes; OpenArena's, with their limits.

use super::{Clients, commands::no_user};
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
/// Game types of OpenArena that are not here: one flag to domination.
const OPENARENA_TYPES: std::ops::RangeInclusive<i32> = 5..=12;
/// Name of the vote that mixes the teams.
const SHUFFLE: &str = "shuffle";
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
    /// Argument in the list of votes, with a space in front.
    argument: &'static str,
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
    ProposalRow { name, argument: "", flag, only: None, read }
}

impl ProposalRow {
    const fn with(self, argument: &'static str) -> Self {
        Self { argument, ..self }
    }
}

const PROPOSALS: &[ProposalRow] = &[
    row("map_restart", 1, |_, _, _| Ok(Proposal::Restart)),
    row("nextmap", 2, |_, host, _| match host.settings().text(key::NEXTMAP) {
        "" => Err("nextmap not set.".to_owned()),
        _ => Ok(Proposal::NextMap),
    }),
    row("map", 4, map).with(" <mapname>"),
    row("g_gametype", 8, game_type).with(" <n>"),
    row("kick", 16, kick).with(" <player>"),
    row("clientkick", 16, client_kick).with(" <clientnum>"),
    row("g_doWarmup", 32, |_, _, word| Ok(Proposal::Warmup(atoi(word) != 0))),
    row("timelimit", 64, |clients, host, word| {
        limit(host, word, [key::G_VOTE_MIN_TIMELIMIT, key::G_VOTE_MAX_TIMELIMIT])
            .map_err(|bounds| limit_refusal(clients, "timelimit", bounds))
            .map(Proposal::TimeLimit)
    })
    .with(" <time>"),
    row("fraglimit", 128, |clients, host, word| {
        limit(host, word, [key::G_VOTE_MIN_FRAGLIMIT, key::G_VOTE_MAX_FRAGLIMIT])
            .map_err(|bounds| limit_refusal(clients, "fraglimit", bounds))
            .map(Proposal::FragLimit)
    })
    .with(" <frags>"),
    ProposalRow {
        name: SHUFFLE,
        argument: "",
        flag: 512,
        only: Some(BaseGame::OpenArena),
        read: |clients, _, _| match clients.game_type.has_teams() {
            true => Ok(Proposal::Shuffle),
            false => Err("Can only be used in team games.".to_owned()),
        },
    },
    ProposalRow {
        name: "custom",
        argument: " <special>",
        flag: CUSTOM_FLAG,
        only: Some(BaseGame::OpenArena),
        read: |_, host, word| match custom_votes(host)
            .find(|custom| custom.eq_ignore_ascii_case(word))
        {
            Some(custom) => Ok(Proposal::Custom(custom.to_owned())),
            None if word.is_empty() => {
                let names: String = custom_votes(host).map(|name| format!("{name} ")).collect();
                Err(format!("Custom vote commands are: {names}"))
            }
            None => Err("Command could not be found".to_owned()),
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
        row.only.is_none_or(|base| base == clients.ruleset.base)
            && flags & row.flag != 0
            && (row.flag == CUSTOM_FLAG || names(host.settings().text(key::G_VOTE_NAMES), row.name))
    };
    // Separators would start another console command.
    let clean = |word: &String| !word.contains([';', '\n', '\r', '"']);
    let asked = words.get(1);
    let found = PROPOSALS.iter().filter(allowed).find(|row| row.name.eq_ignore_ascii_case(asked));
    if !words.arguments().iter().all(clean) {
        return Err(vec!["Invalid vote string.".to_owned()]);
    }
    let Some(row) = found else {
        let base = clients.ruleset.base;
        let exists = |row: &&ProposalRow| row.only.is_none_or(|only| only == base);
        let mut names = PROPOSALS.iter().filter(exists).map(|row| row.name);
        let is_disabled = names.any(|name| name.eq_ignore_ascii_case(asked));
        let why = if is_disabled { "Not allowed here." } else { "Invalid vote string." };
        let rows: Vec<&ProposalRow> = PROPOSALS.iter().filter(allowed).collect();
        return Err(vec![why.to_owned(), list(rows, is_disabled)]);
    };
    let word = if row.name == "kick" { words.rest(2) } else { words.get(2).to_owned() };
    (row.read)(clients, host, &word).map_err(|refusal| vec![refusal])
}

/// Returns the line with the votes that may be called. OpenArena has another order for a vote that is disabled.
fn list(mut rows: Vec<&ProposalRow>, is_disabled: bool) -> String {
    let place = |name| rows.iter().position(|row| row.name == name);
    if is_disabled
        && let (Some(kick), Some(shuffle)) = (place("clientkick"), place(SHUFFLE))
        && kick < shuffle
    {
        rows[kick + 1..=shuffle].rotate_right(1);
    }
    let names: Vec<String> =
        rows.iter().map(|row| format!("{}{}", row.name, row.argument)).collect();
    format!("Vote commands are: {}.", names.join(", "))
}

/// Returns the names of the operator's custom votes.
pub(super) fn custom_votes(host: &dyn Host) -> impl Iterator<Item = &str> {
    let legal = |name: &&str| {
        name.len() <= MAX_CUSTOM_LEN
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    host.settings().text(key::G_CUSTOM_VOTES).split_ascii_whitespace().filter(legal)
}

/// Whether a list of words between slashes has a word. An empty one and `*` have all.
pub(super) fn names(list: &str, word: &str) -> bool {
    let word = format!("/{}/", word.to_ascii_lowercase());
    matches!(list, "" | "*") || list.to_ascii_lowercase().contains(&word)
}

/// Names of all votes.
pub(super) fn vote_names() -> impl Iterator<Item = &'static str> {
    PROPOSALS.iter().map(|row| row.name)
}

fn map(clients: &Clients, host: &dyn Host, word: &str) -> Result<Proposal, String> {
    let names = clients.vote_maps.allowed(host.map_names());
    match names.into_iter().find(|name| name.eq_ignore_ascii_case(word)) {
        Some(name) => Ok(Proposal::Map(name.to_owned())),
        None => Err("Map is not available.".to_owned()),
    }
}

/// Finds the player of a vote by its name.
fn kick(clients: &Clients, _: &dyn Host, word: &str) -> Result<Proposal, String> {
    clients.player_called(word).map(Proposal::Kick).map_err(|refusal| match clients.ruleset.base {
        BaseGame::OpenArena => "Cannot find the playername. Try clientkick instead.".to_owned(),
        BaseGame::Quake3 => refusal,
    })
}

/// Finds the player of a vote by its number.
fn client_kick(clients: &Clients, _: &dyn Host, word: &str) -> Result<Proposal, String> {
    clients.player_numbered(word).map(Proposal::Kick).map_err(|_| match clients.ruleset.base {
        BaseGame::OpenArena => "Cannot kick that number.".to_owned(),
        BaseGame::Quake3 => no_user(word),
    })
}

fn game_type(clients: &Clients, host: &dyn Host, word: &str) -> Result<Proposal, String> {
    let is_openarena = clients.ruleset.base == BaseGame::OpenArena;
    // OpenArena reads a word without digits as 0.
    let number = if is_openarena { Some(atoi(word)) } else { word.parse().ok() };
    if is_openarena && number == Some(clients.game_type as i32) {
        return Err("This is current gametype".to_owned());
    }
    let kind = number.and_then(GameType::of_number).filter(|kind| kind.is_for_many());
    let offered = host.settings().text(key::G_VOTE_GAMETYPES);
    let is_offered = |kind| names(offered, &(kind as i32).to_string());
    match kind {
        Some(kind) if is_offered(kind) => Ok(Proposal::Play(kind)),
        Some(_) => Err("Gametype is not available.".to_owned()),
        None if is_openarena && number.is_some_and(|number| OPENARENA_TYPES.contains(&number)) => {
            Err("Gametype is not available.".to_owned())
        }
        None => Err("Invalid gametype.".to_owned()),
    }
}

/// Parses a match limit; 0 removes the limit, if no setting limits it.
///
/// # Errors
/// The bounds that the number exceeds.
fn limit(host: &dyn Host, word: &str, [least, most]: [Key<Int>; 2]) -> Result<i32, [i32; 2]> {
    let least = host.settings().int(least);
    let most = host.settings().int(most);
    let bounds = if most == 0 { [least, MAX_LIMIT] } else { [least.max(1), most] };
    let asked = word.parse::<i32>().ok();
    let fits = |&asked: &i32| (bounds[0]..=bounds[1]).contains(&asked) || asked == 0 && most == 0;
    asked.filter(fits).ok_or(bounds)
}

/// Returns the refusal of a match limit.
fn limit_refusal(clients: &Clients, name: &str, [least, most]: [i32; 2]) -> String {
    match clients.ruleset.base {
        BaseGame::OpenArena => format!("Cannot set {name}."),
        BaseGame::Quake3 => format!("It takes a number from {least} to {most}."),
    }
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
            (Self::Warmup(on), false) => format!("g_doWarmup '{}'", i32::from(*on)),
            (Self::Warmup(true), true) => "Enable warmup?".to_owned(),
            (Self::Warmup(false), true) => "Disable warmup?".to_owned(),
            (Self::TimeLimit(minutes), false) => format!("timelimit '{minutes}'"),
            (Self::TimeLimit(0), true) => "Remove timelimit?".to_owned(),
            (Self::TimeLimit(minutes), true) => format!("Change timelimit to: {minutes}"),
            (Self::FragLimit(frags), false) => format!("fraglimit '{frags}'"),
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
