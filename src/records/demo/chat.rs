//! Server commands that carry chat, of the base game and of common mods.
//!
//! Source: the base game's client; chat in public demos of mods. Another command is a row of [`FORMS`].

/// Begin of a `print` with a line of the server console, as the base game sends it.
pub(super) const SERVER_SAYS: &str = "server: ";

/// Words of a chat command behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatWords {
    /// Text with the name of the player.
    Text,
    /// Client number, number of a location, text.
    Location,
    /// Whether only the voice is heard, client number, color, name of the phrase.
    Voice,
}

/// A chat command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChatForm {
    name: &'static str,
    /// Whether it is for a team.
    pub(super) is_team: bool,
    /// Its words.
    pub(super) words: ChatWords,
}

const FORMS: [ChatForm; 7] = [
    ChatForm { name: "chat", is_team: false, words: ChatWords::Text },
    ChatForm { name: "tchat", is_team: true, words: ChatWords::Text },
    // Private chat of later engines.
    ChatForm { name: "tell", is_team: false, words: ChatWords::Text },
    // Team chat of Challenge ProMode.
    ChatForm { name: "mm2", is_team: true, words: ChatWords::Location },
    ChatForm { name: "vchat", is_team: false, words: ChatWords::Voice },
    ChatForm { name: "vtchat", is_team: true, words: ChatWords::Voice },
    ChatForm { name: "vtell", is_team: false, words: ChatWords::Voice },
];

/// Form of a command, by its name.
pub(super) fn form_of(command: &str) -> Option<ChatForm> {
    FORMS.into_iter().find(|form| form.name == command)
}
