//! Spelling suggestions for unknown setting names.

use super::table::{IGNORED, SETTINGS};

/// Maximum length of a compared name; longer names have no suggestion.
const MAX_LEN: usize = 64;

/// The known setting nearest to `name`, if one is near.
#[must_use]
pub fn nearest_setting(name: &str) -> Option<&'static str> {
    let known = SETTINGS.iter().map(|setting| setting.name).chain(IGNORED.iter().copied());
    nearest_of(name, known)
}

/// The word nearest to `name`, case-insensitive: at most one edit per three letters.
pub(super) fn nearest_of<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bare = without_prefix(name);
    words
        .map(|word| {
            // A missing prefix, `hostname` for `sv_hostname`, counts as one edit; one real edit wins.
            let edits = distance(name, word);
            let prefix = edits > 1 && without_prefix(word).eq_ignore_ascii_case(bare);
            (if prefix { 1 } else { edits }, prefix, word)
        })
        .min()
        .filter(|&(edits, ..)| edits <= (name.len() / 3).max(1))
        .map(|(.., word)| word)
}

/// A name without `sv_`, `g_` and the like.
fn without_prefix(name: &str) -> &str {
    name.split_once('_').map_or(name, |(_, rest)| rest)
}

/// Edit distance of two words, case-insensitive.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > MAX_LEN || b.len() > MAX_LEN {
        return usize::MAX;
    }
    let mut row = [0_usize; MAX_LEN + 1];
    for (at, cell) in row.iter_mut().enumerate() {
        *cell = at;
    }
    for (line, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
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

    #[test]
    fn edit_distance_matches_known_values() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "ABC"), 0);
    }
}
