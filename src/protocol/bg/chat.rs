//! Chat commands of clients.
//!
//! Source: client commands of the base game.

/// Client commands with a text for other players. Those of voice chat have texts, too.
pub const CHAT_COMMANDS: [&str; 12] = [
    "say",
    "say_team",
    "tell",
    "vosay",
    "vosay_local",
    "vosay_team",
    "votell",
    "vsay",
    "vsay_local",
    "vsay_team",
    "vtaunt",
    "vtell",
];

/// Client command that asks for the scores.
pub const SCORE_COMMAND: &str = "score";
