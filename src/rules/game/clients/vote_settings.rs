//! Check of the settings about votes: what they name without effect is printed.
//!
//! Source: OpenArena's settings `g_voteNames`, `g_voteGametypes`, `g_customVotes` and `voteflags`.

use super::proposal::{CUSTOM_FLAG, custom_votes, names, vote_names};
use crate::{
    bg::GameType,
    cvar::quoted,
    game::{BaseGame, Host, Ruleset, settings::key},
};

/// Maximum number of words of a setting that are named.
const MAX_NAMED: usize = 4;

/// Prints what the settings about votes name without effect.
pub(super) fn report(host: &mut dyn Host, ruleset: &Ruleset) {
    if host.settings().int(key::G_ALLOW_VOTE) == 0 || ruleset.base != BaseGame::OpenArena {
        return;
    }
    let mut lines = Vec::new();
    let game_types = host.settings().text(key::G_VOTE_GAMETYPES);
    let is_offered = |word: &&str| {
        let number = word.parse().ok().and_then(GameType::of_number);
        number.is_some_and(GameType::is_for_many) && names(game_types, word)
    };
    let words =
        game_types.split('/').filter(|word| !matches!(*word, "" | "*") && !is_offered(word));
    lines.extend(words.take(MAX_NAMED).map(|word| {
        let word = quoted(word);
        format!("g_voteGametypes: {word} offers no game type (expected numbers between slashes, such as /0/3/)")
    }));
    let listed = host.settings().text(key::G_VOTE_NAMES);
    let is_vote = |word: &str| {
        vote_names().any(|name| name.eq_ignore_ascii_case(word)) && names(listed, word)
    };
    let words = listed.split('/').filter(|word| !matches!(*word, "" | "*") && !is_vote(word));
    lines.extend(words.take(MAX_NAMED).map(|word| {
        let word = quoted(word);
        format!("g_voteNames: {word} allows no vote (expected names between slashes, such as /map/kick/)")
    }));
    lines.extend(in_vain(host));
    lines.iter().for_each(|line| host.print(line));
}

/// Describes the custom votes that no player can call or that do nothing.
fn in_vain(host: &dyn Host) -> Vec<String> {
    let named = host.settings().text(key::G_CUSTOM_VOTES);
    let legal: Vec<&str> = custom_votes(host).collect();
    let flags = host.settings().int(key::VOTEFLAGS);
    if !legal.is_empty() && flags & CUSTOM_FLAG == 0 {
        let all = flags | CUSTOM_FLAG;
        return vec![format!(
            "g_customVotes: custom votes are off (expected voteflags with {CUSTOM_FLAG}, such as {all})"
        )];
    }
    let words = named.split_ascii_whitespace();
    let describe = |word: &str| {
        if !legal.contains(&word) {
            let word = quoted(word);
            return Some(format!(
                "g_customVotes: {word} is no name (expected at most 31 letters, digits, _ and -)"
            ));
        }
        let variable = format!("vote_{word}");
        host.setting(&variable).is_empty().then(|| {
            format!("g_customVotes: {variable} not set (expected set {variable} \"COMMANDS\")")
        })
    };
    words.filter_map(describe).take(MAX_NAMED).collect()
}
