//! Texture names of `.map` sources.

/// Longest texture name: 64 bytes with `textures/` and a zero byte.
const MAX_TEXTURE_LEN: usize = 54;
/// Longest part of a name in a message, in characters.
const MAX_SHOWN: usize = 80;

/// Returns a texture name without the prefix `textures/`, with slashes and in lower case.
///
/// # Errors
/// The reason why the name is not usable.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let name = text.replace('\\', "/").to_ascii_lowercase();
    let name = name.strip_prefix("textures/").unwrap_or(&name);
    match problem(name) {
        None => Ok(name.to_owned()),
        Some((what, expected)) => {
            let shown: String = text.chars().take(MAX_SHOWN).collect();
            Err(format!("texture name {what}: \"{shown}\" (expected {expected})"))
        }
    }
}

/// Returns what is wrong with a name, and what would be right.
fn problem(name: &str) -> Option<(String, String)> {
    let expected = |right: &str| right.to_owned();
    let Some(illegal) = name.chars().find(|c| !c.is_ascii_graphic() || "\"();".contains(*c)) else {
        let form = "folder/name".to_owned();
        return if name.is_empty() {
            Some(("is empty".to_owned(), form))
        } else if name.len() > MAX_TEXTURE_LEN {
            Some(("too long".to_owned(), format!("at most {MAX_TEXTURE_LEN} bytes")))
        } else if name.starts_with('/') {
            Some(("begins with a slash".to_owned(), form))
        } else if name.split('/').any(str::is_empty) {
            Some(("has an empty part between or behind slashes".to_owned(), form))
        } else if name.split('/').any(|part| part == "." || part == "..") {
            Some(("has a part \".\" or \"..\"".to_owned(), form))
        } else {
            None
        };
    };
    Some(match illegal {
        ' ' | '\t' => ("contains a space".to_owned(), expected("folder/name without spaces")),
        char::REPLACEMENT_CHARACTER => {
            ("contains bytes that are not UTF-8".to_owned(), expected("ASCII letters and digits"))
        }
        c if c.is_control() => {
            ("contains a control character".to_owned(), expected("folder/name of ASCII characters"))
        }
        c if !c.is_ascii() => {
            (format!("contains '{c}', which is not ASCII"), expected("ASCII letters and digits"))
        }
        c => (format!("contains '{c}'"), expected("folder/name without '\"', '(', ')' and ';'")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_reason_why_they_are_rejected() {
        assert_eq!(parse("Textures\\Arena\\Wall").as_deref(), Ok("arena/wall"));
        for (name, expected) in [
            (
                "dir\\\\wall",
                "texture name has an empty part between or behind slashes: \"dir\\\\wall\" (expected",
            ),
            ("dir/", "texture name has an empty part "),
            ("/dir/wall", "texture name begins with a slash: "),
            ("../wall", "texture name has a part \".\" or \"..\": "),
            ("my wall", "texture name contains a space: \"my wall\" (expected folder/name without"),
            ("dir/gr\u{fc}n", "texture name contains '\u{fc}', which is not ASCII: "),
            ("dir/\u{fffd}", "texture name contains bytes that are not UTF-8: "),
            ("a;b", "texture name contains ';': "),
            ("", "texture name is empty: \"\" (expected folder/name)"),
        ] {
            let error = parse(name).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = parse(&"long".repeat(30)).unwrap_err();
        assert!(error.starts_with("texture name too long: ") && error.len() < 160, "{error}");
    }
}
