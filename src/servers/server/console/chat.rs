//! Text of the operator in chat lines and announcements.

use crate::model::text;

/// Sanitizes text for a quoted argument of a command.
pub(super) fn sanitize_chat(said: &str) -> String {
    text::quotable(said, 900)
}
