//! Client command `login`, whose word is a secret.
//!
//! Servers take it from the console of a client. A player may type it into the chat by mistake.

use std::borrow::Cow;

use crate::model::CommandArgs;

/// Name of the command.
pub const LOGIN: &str = "login";
/// Text in place of a secret.
const MASK: &str = "***";
/// Characters in front of a command in a chat line.
const MARKS: [char; 3] = ['/', '\\', '!'];

/// Whether a chat text is a `login` with its secret: two words, the first also behind a mark.
#[must_use]
pub fn is_login_text(said: &str) -> bool {
    let mut words = said.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let is_login = first.strip_prefix(MARKS).unwrap_or(first).eq_ignore_ascii_case(LOGIN);
    is_login && words.next().is_some() && words.next().is_none()
}

/// Returns a client command without the secret of a `login`.
#[must_use]
pub fn masked_login(command: &str) -> Cow<'_, str> {
    let words = CommandArgs::parse(command);
    let name = words.command();
    if name.eq_ignore_ascii_case(LOGIN) && words.len() > 1 {
        return format!("{name} {MASK}").into();
    }
    // A chat line, or one with a player or voice before the text.
    if (1..words.len()).take(2).any(|at| is_login_text(&words.rest(at))) {
        return format!("{name} {LOGIN} {MASK}").into();
    }
    Cow::Borrowed(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_secrets_are_masked() {
        for (text, shown) in [
            ("login sesame", "login ***"),
            (" LOGIN \"ses ame\" x", "LOGIN ***"),
            ("login", "login"),
            ("say \"/login sesame\"", "say login ***"),
            ("say_team login sesame", "say_team login ***"),
            ("say !login sesame", "say login ***"),
            ("say login anyone here", "say login anyone here"),
            ("tell 3 hello", "tell 3 hello"),
            ("tell 3 /login sesame", "tell login ***"),
        ] {
            assert_eq!(masked_login(text), shown, "{text}");
        }
        assert!(!is_login_text("login") && !is_login_text("logins sesame"));
    }
}
