//! Spelling suggestions for unknown names of settings, maps and scripts.

use super::{ignored::IGNORED, table::SETTINGS};
use crate::model::spelling::{distance, max_edits};

/// The known setting nearest to `name`, if one is near.
#[must_use]
pub fn nearest_setting(name: &str) -> Option<&'static str> {
    let known =
        SETTINGS.iter().map(|setting| setting.name).chain(IGNORED.iter().map(|row| row.name));
    nearest_of(name, known)
}

/// The word nearest to `name`, case-insensitive: at most one edit per three letters.
#[must_use]
pub fn nearest_of<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bare = without_prefix(name);
    words
        .map(|word| {
            // A missing prefix, `hostname` for `sv_hostname`, counts as one edit; one real edit wins.
            let edits = distance(name, word);
            let prefix = edits > 1 && without_prefix(word).eq_ignore_ascii_case(bare);
            (if prefix { 1 } else { edits }, prefix, word)
        })
        .min()
        .filter(|&(edits, ..)| edits <= max_edits(name.len()))
        .map(|(.., word)| word)
}

/// A name without `sv_`, `g_` and the like.
fn without_prefix(name: &str) -> &str {
    name.split_once('_').map_or(name, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_find_their_setting() {
        for (slip, meant) in [
            ("sv_hostnam", "sv_hostname"),
            ("sv_maxclient", "sv_maxclients"),
            ("SV_MAXRAET", "sv_maxRate"),
            ("hostname", "sv_hostname"),
            ("g_fraglimit", "fraglimit"),
            ("rcon_password", "rconPassword"),
            ("com_hunkmeg", "com_hunkMegs"),
        ] {
            assert_eq!(nearest_setting(slip), Some(meant), "{slip}");
        }
    }

    #[test]
    fn unrelated_names_find_nothing() {
        for name in ["", "x", "website", &"sv_fps".repeat(50), "Österreich"] {
            assert_eq!(nearest_setting(name), None, "{name}");
        }
    }
}
