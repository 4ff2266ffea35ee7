//! Text of the operator in chat lines and announcements.

use crate::model::text;

/// Sanitizes text for a quoted argument of a command.
pub(super) fn sanitize_chat(said: &str) -> String {
    let safe = |c: char| {
        if c == '"' {
            '\''
        } else if c.is_control() {
            ' '
        } else {
            c
        }
    };
    text::truncated(said, 900).chars().map(safe).collect()
}
