//! Names of maps in a file: words separated by spaces and line ends, with comments.

use crate::model::ArgRanges;

/// Most names of a file.
const MAX_NAMES: usize = 1024;

/// Returns the names in a file, in its order.
pub(super) fn names_in(bytes: &[u8]) -> impl Iterator<Item = String> {
    let lines = bytes.split(|&byte| byte == b'\n');
    let words = lines.flat_map(|line| {
        ArgRanges::new(line).map(move |range| String::from_utf8_lossy(&line[range]).into_owned())
    });
    words.take(MAX_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_file_are_words_without_comments() {
        let file = b"// rotation\r\nOA_DM2 oa_dm1 // first\n\n\"gone\"\n";
        assert_eq!(names_in(file).collect::<Vec<_>>(), ["OA_DM2", "oa_dm1", "gone"]);
        assert_eq!(names_in(&b"a ".repeat(9000)).count(), MAX_NAMES);
    }
}
