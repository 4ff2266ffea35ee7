//! Spelling suggestions: edit distance, and the names nearest to a misspelled one.
//!
//! Invariant: the work is bounded by [`MAX_NAMES`] names of [`MAX_LEN`] bytes.

/// Maximum length of a compared name; longer names have no suggestion.
pub const MAX_LEN: usize = 64;
/// Maximum number of names that are compared.
pub const MAX_NAMES: usize = 8192;

/// Returns the edit distance of two words, case-insensitive. Two neighboring letters in the wrong order are one edit.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    if a.len() > MAX_LEN || b.len() > MAX_LEN {
        return usize::MAX;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let is_same = |x: usize, y: usize| a[x].eq_ignore_ascii_case(&b[y]);
    let mut earlier = [0_usize; MAX_LEN + 1];
    let mut above: [usize; MAX_LEN + 1] = std::array::from_fn(|column| column);
    for x in 0..a.len() {
        let mut row = [x + 1; MAX_LEN + 1];
        for y in 0..b.len() {
            let changed = above[y] + usize::from(!is_same(x, y));
            row[y + 1] = changed.min(above[y + 1] + 1).min(row[y] + 1);
            if x > 0 && y > 0 && is_same(x, y - 1) && is_same(x - 1, y) {
                row[y + 1] = row[y + 1].min(earlier[y - 1] + 1);
            }
        }
        (earlier, above) = (above, row);
    }
    above[b.len()]
}

/// Maximum edits of a word of `len` bytes: one per three letters.
#[must_use]
pub fn max_edits(len: usize) -> usize {
    (len / 3).max(1)
}

/// Returns at most `max` names near to `wanted`, the nearest first.
///
/// Near names are equal but for case, few edits apart, or contain it.
#[must_use]
pub fn near_names<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let lower = wanted.to_ascii_lowercase();
    let limit = max_edits(wanted.len());
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .take(MAX_NAMES)
        .filter_map(|name| {
            let edits = distance(wanted, name);
            if edits <= limit {
                return Some((edits, name));
            }
            let is_part = wanted.len() > 2 && name.to_ascii_lowercase().contains(&lower);
            is_part.then_some((limit + 1, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(max);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Returns the question behind an error, such as `; did you mean a, b or c?`; empty without names.
#[must_use]
pub fn did_you_mean<S: AsRef<str>>(names: &[S]) -> String {
    let [first @ .., last] = names else { return String::new() };
    let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
    let joint = if first.is_empty() { "" } else { " or " };
    format!("; did you mean {}{joint}{}?", first.join(", "), last.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_matches_known_values() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "ABC"), 0);
        assert_eq!((distance("exce", "exec"), distance("ab", "ba")), (1, 1));
    }

    #[test]
    fn near_names_are_sorted_and_few() {
        let maps = ["oa_ctf1", "oa_dm1", "oa_dm2", "oa_dm3", "oa_dm7", "ps37ctf", "q3dm6ish"];
        let near = |wanted| near_names(wanted, maps, 3);
        assert_eq!(near("OA_DM1"), ["oa_dm1", "oa_dm2", "oa_dm3"]);
        assert_eq!(near("oadm7"), ["oa_dm7"]);
        assert_eq!(near("q3dm6"), ["q3dm6ish"], "part of the name");
        assert_eq!(near("nosuchmap"), [""; 0]);
        assert_eq!(near(&"a".repeat(500)), [""; 0]);
    }

    #[test]
    fn question_lists_names_in_a_sentence() {
        assert_eq!(did_you_mean::<&str>(&[]), "");
        assert_eq!(did_you_mean(&["a"]), "; did you mean a?");
        assert_eq!(did_you_mean(&["a", "b", "c"]), "; did you mean a, b or c?");
    }
}
