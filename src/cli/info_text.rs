//! Texts of options that travel in an info string: names, prefixes, passwords of servers.
//!
//! Invariant: what is accepted arrives as given. Source: info strings of the userinfo; clients replace `%` by `.`.

/// Parses a text of at most `most` characters.
pub(super) fn info_text(text: &str, most: usize) -> Result<String, String> {
    let legal = |c: char| matches!(c, ' '..='~') && !"\\\";%".contains(c);
    if text.trim().is_empty() || text.len() > most || !text.chars().all(legal) {
        return Err(format!(
            "expected 1 to {most} printable ASCII characters without \\, \", ; and %"
        ));
    }
    Ok(text.to_owned())
}

/// Parses the password of a server.
pub(super) fn server_password(text: &str) -> Result<String, String> {
    info_text(text, 63)
}
