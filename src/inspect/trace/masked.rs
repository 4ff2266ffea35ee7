//! Passwords in traces: values of the userinfo key `password` are masked.

use std::borrow::Cow;

/// Key of a password, as info strings hold it.
const KEY: &str = "\\password\\";
/// Text in place of a password.
const MASK: &str = "***";

/// Returns an info string, or a command with one, without the values of `password`.
pub(super) fn masked_userinfo(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    // The first key of an info string may lack its backslash.
    let found = if lower.starts_with(&KEY[1..]) { Some(0) } else { lower.find(KEY) };
    let Some(mut at) = found else { return Cow::Borrowed(text) };
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    loop {
        let key = if lower[at..].starts_with(KEY) { KEY.len() } else { KEY.len() - 1 };
        let value = at + key;
        let end = text[value..].find(['\\', '"']).map_or(text.len(), |len| value + len);
        masked.push_str(&text[copied..value]);
        if end > value {
            masked.push_str(MASK);
        }
        copied = end;
        match lower[end..].find(KEY) {
            Some(next) => at = end + next,
            None => break,
        }
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_userinfos_are_masked() {
        for (text, shown) in [
            ("\\name\\a\\rate\\1", "\\name\\a\\rate\\1"),
            ("\\name\\a\\password\\x y\\rate\\1", "\\name\\a\\password\\***\\rate\\1"),
            ("userinfo \"\\PassWord\\é\"", "userinfo \"\\PassWord\\***\""),
            ("password\\x\\password\\y", "password\\***\\password\\***"),
            ("\\password\\", "\\password\\"),
        ] {
            assert_eq!(masked_userinfo(text), shown, "{text}");
        }
    }
}
