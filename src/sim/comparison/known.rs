//! Differences that are accepted, each with its reason.
//!
//! Invariants: a row matches as few kinds and values as its reason covers; docs/differences.md has one line for each
//! row, in the same order.

use When::{Any, LineBreak, Module, Native, Near, Shifted};

/// Largest distance of vectors that differ by rounding, and its share of their length.
const ROUNDING: f32 = 0.01;
const ROUNDING_SHARE: f32 = 1e-4;

/// Values of a known difference.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Any,
    /// Only this value with the native rules.
    Native(&'static str),
    /// Only this value with the module.
    Module(&'static str),
    /// Only floats that differ by rounding.
    Near,
    /// Only a line break at the end of a printed text.
    LineBreak,
    /// Only numbers of map entities, which modules count from eight later.
    Shifted,
}

/// An accepted difference.
#[derive(Debug, PartialEq)]
pub(super) struct Known {
    /// Subject of the difference.
    pub(super) subject: &'static str,
    /// Ruleset that it is limited to.
    game: Option<&'static str>,
    /// Beginnings of the names of the plays that it is limited to.
    plays: &'static [&'static str],
    /// Kinds; `*` matches any text.
    kinds: &'static [&'static str],
    when: When,
    /// Value with the native rules, as a text.
    native: &'static str,
    /// Value with the module, as a text.
    module: &'static str,
    /// Reason to keep it.
    reason: &'static str,
}

/// Plays of all names.
const ALL: &[&str] = &[""];
const Q3: Option<&str> = Some("baseq3");
const OA: Option<&str> = Some("baseoa");

/// Creates a row for all plays.
const fn row(
    subject: &'static str,
    game: Option<&'static str>,
    kinds: &'static [&'static str],
    when: When,
    [native, module]: [&'static str; 2],
    reason: &'static str,
) -> Known {
    Known { subject, game, plays: ALL, kinds, when, native, module, reason }
}

impl Known {
    /// Whether the row is about rounding.
    pub(super) fn is_rounding(&self) -> bool {
        self.when == Near
    }

    /// Limits a row to plays whose names start with one of these texts.
    const fn in_plays(self, plays: &'static [&'static str]) -> Self {
        Self { plays, ..self }
    }
}

/// The accepted differences.
const KNOWN: &[Known] = &[
    row(
        "entity numbers",
        None,
        &["*.number", "player.jumppad_ent", "portal.shared.owner_num"],
        Any,
        ["first map entity 64", "first map entity 72 or later"],
        "modules reserve eight entities for corpses; clients do not depend on numbers",
    ),
    row(
        "numbers of map entities in other fields",
        None,
        &["player.persistant[6]", "*.ground_entity_num", "*.other_entity_num", "*.shared.owner_num"],
        Shifted,
        ["64 and later", "greater by eight"],
        "modules reserve eight entities for corpses; clients do not depend on numbers",
    ),
    row(
        "trigger of a door",
        None,
        &["general only module"],
        Any,
        ["not sent", "sent as an invisible general entity"],
        "has no effect on a client and costs bandwidth",
    ),
    row(
        "movers at rest",
        None,
        &["mover.pos.delta"],
        Native("0 0 0"),
        ["`pos.delta`, `pos.duration` and `pos.time` are 0", "values of the next move"],
        "clients ignore them while the mover rests",
    ),
    row(
        "duration of movers at rest",
        None,
        &["mover.pos.duration", "mover.pos.time"],
        Native("0"),
        ["0", "values of the next move"],
        "clients ignore them while the mover rests",
    ),
    row(
        "teleport-in effect of a join",
        None,
        &["temp PlayerTeleportIn.client_num"],
        Module("0"),
        ["`client_num` of the player", "`client_num` 0"],
        "clients draw it by its place",
    ),
    row(
        "gravity of spectators",
        None,
        &["player.gravity"],
        Module("0"),
        ["800", "0"],
        "free flight has no gravity",
    ),
    row(
        "weapon of spectators",
        Q3,
        &["player.weapon"],
        Module("0"),
        ["2", "0"],
        "Quake III Arena 1.32 has 2; clients draw no weapon",
    ),
    row(
        "player with `noclip`",
        None,
        &["player.solid", "player.shared.mins", "player.shared.maxs"],
        Any,
        ["keeps its box", "has an empty box"],
        "a cheat; the empty box is a side effect of the movement code",
    )
    .in_plays(&["noclip"]),
    row(
        "team sounds for all",
        None,
        &["temp GlobalTeamSound only *"],
        Any,
        ["at the origin of the map", "at the flag"],
        "clients play them without a place",
    ),
    row(
        "ammunition after a gauntlet item",
        None,
        &["player.ammo[1]"],
        Native("-1"),
        ["unlimited", "0"],
        "maps have no such item, and the module leaves the player with an empty weapon",
    ),
    row(
        "vote `g_gametype` in baseq3",
        Q3,
        &["*"],
        Any,
        ["restarts the level", "takes effect with the next map"],
        "a passed vote that shows nothing surprises players",
    )
    .in_plays(&["vote g_gametype"]),
    row(
        "vote `map_restart 0` in baseq3",
        Q3,
        &["configstring 9"],
        Native("map_restart"),
        ["shown as `map_restart`", "shown as `map_restart '0'`"],
        "the argument has no effect on the vote",
    ),
    row(
        "vote `map` in baseq3",
        Q3,
        &["configstring 9"],
        Native("map arena"),
        ["shown as `map arena`", "shown as `map arena; set nextmap 'map_restart 0'`"],
        "the second command keeps the rotation and is not what players vote on",
    ),
    row(
        "list of votes in baseoa",
        OA,
        &["command print"],
        LineBreak,
        ["ends with a line break", "ends without it"],
        "the next text would continue its line",
    )
    .in_plays(&["refused votes"]),
    row(
        "`scores` at a death",
        None,
        &["command scores only module"],
        Any,
        [
            "to the dead player and its followers",
            "also to free spectators that followed it last, or never followed if it is client 0",
        ],
        "the module keeps the number of the followed player, at first 0, and does not check that it is followed",
    )
    .in_plays(&["tournament", "dead tournament", "spectator that stops", "telefrag of a mate"]),
    row(
        "start of an intermission in baseoa",
        OA,
        &["command scores only module", "command elimination only module"],
        Any,
        ["scores once", "scores twice in a frame"],
        "the second one has no effect",
    )
    .in_plays(&["fraglimit"]),
    row(
        "velocity at an intermission in baseoa",
        OA,
        &["player.velocity"],
        Native("0 0 0"),
        ["0", "that of the last move"],
        "players do not move at an intermission",
    )
    .in_plays(&["timelimit"]),
    row(
        "entity of a spectator that joins",
        None,
        &["player.origin", "invisible.origin"],
        Native("0 0 0"),
        ["`origin` 0", "`origin` of its last move as a spectator"],
        "only a spectator's move sets it, and no spawn resets it; clients read the place of players from `pos`",
    ),
    row(
        "empty center print in baseoa",
        OA,
        &["command cp"],
        Native("cp \"\""),
        ["`cp \"\"`", "`cp \"`, without its closing quote"],
        "clients show the same",
    ),
    row(
        "`g_timestamp` in baseoa",
        OA,
        &["configstring 0 key g_timestamp", "log InitGame key g_timestamp"],
        Native("-"),
        ["absent without a calendar", "start of 1970 without a calendar"],
        "only simulations have no calendar",
    ),
    row(
        "notes in the game log of baseoa",
        OA,
        &["log Info only module", "log Playerstore only module", "log Restored only module"],
        Any,
        ["none", "length of the serverinfo, restored scores"],
        "notes of the module's developers; statistics tools do not read them",
    ),
    row(
        "votes in the game log",
        None,
        &["log callvote only native", "log vote only native"],
        Any,
        ["lines `callvote` and `vote`", "none"],
        "an operator sees who called a vote and how it ended; statistics tools skip unknown lines",
    ),
    row(
        "empty event of a player that respawns",
        None,
        &["temp None only module", "player.event"],
        Any,
        ["of the player", "of a temporary entity"],
        "an event without a number has no effect on a client",
    )
    .in_plays(&["series of deaths", "series of frags", "flag returns", "random"]),
    row(
        "free spectator that has followed",
        None,
        &[
            "player.ground_entity_num",
            "player.e_flags",
            "player.event_sequence",
            "player.events[0]",
            "player.stats[0]",
            "player.persistant[2]",
            "command scores",
        ],
        Any,
        ["has its own state", "keeps the state of the player that it followed"],
        "the awards and flags of another player are not those of the spectator",
    )
    .in_plays(&["spectator that stops"]),
    row(
        "health of a spectator that follows",
        None,
        &["follower.stats[0]"],
        Any,
        [
            "that of the frame",
            "that of the frame before, if its client number is lower than the player's",
        ],
        "the module ends the frames of clients by their numbers, and copies the health before that of the player is set",
    )
    .in_plays(&["spectator"]),
    row(
        "floats of movement",
        None,
        &["*.origin", "*.velocity", "*.pos.base", "*.pos.delta", "*.shared.current_origin"],
        Near,
        ["last bits", "last bits"],
        "too small for a client to see: clients predict both without errors",
    ),
];

/// Returns the row of a difference.
pub(super) fn known(
    game: &str,
    play: &str,
    kind: &str,
    values: [&str; 2],
) -> Option<&'static Known> {
    KNOWN.iter().find(|row| {
        row.game.is_none_or(|name| name == game)
            && row.plays.iter().any(|start| play.starts_with(start))
            && row.kinds.iter().any(|pattern| matches(pattern, kind))
            && row.when.holds(values)
    })
}

/// Returns the subjects of the rows, all of which scripted plays need.
pub fn known_subjects() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|row| row.subject)
}

/// Returns the rows as a Markdown table.
#[must_use]
pub fn known_table() -> String {
    let mut text = "| subject | native | module | reason |\n|---|---|---|---|\n".to_owned();
    for row in KNOWN {
        text +=
            &format!("| {} | {} | {} | {} |\n", row.subject, row.native, row.module, row.reason);
    }
    text
}

impl When {
    fn holds(self, [native, module]: [&str; 2]) -> bool {
        match self {
            Any => true,
            Native(value) => native == value,
            Module(value) => module == value,
            LineBreak => native
                .strip_suffix("\n\"")
                .is_some_and(|text| module.strip_suffix('"') == Some(text)),
            Shifted => {
                let [native, module] = [native, module].map(str::parse::<u16>);
                matches!((native, module), (Ok(a @ 64..1014), Ok(b)) if b == a + 8)
            }
            Near => {
                let [a, b] = [native, module].map(floats);
                let length = a.iter().map(|value| value * value).sum::<f32>().sqrt();
                !a.is_empty()
                    && a.len() == b.len()
                    && a.iter()
                        .zip(&b)
                        .all(|(a, b)| (a - b).abs() <= ROUNDING + ROUNDING_SHARE * length)
            }
        }
    }
}

/// Reads the floats of a value; none if a word is not a number.
fn floats(text: &str) -> Vec<f32> {
    let words = text.split([' ', ',', '[', ']']).filter(|word| !word.is_empty());
    words.map(str::parse).collect::<Result<_, _>>().unwrap_or_default()
}

/// Whether a kind matches a pattern with at most one `*`.
fn matches(pattern: &str, kind: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == kind,
        Some((start, end)) => {
            kind.len() >= start.len() + end.len() && kind.starts_with(start) && kind.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_limited_to_their_values() {
        let subject = |game, play, kind, values| {
            known(game, play, kind, values).map_or("-", |row| row.subject)
        };
        let any = ["1", "2"];
        assert_eq!(subject("baseq3", "", "item.number", any), "entity numbers");
        assert_eq!(subject("baseq3", "", "item.numbers", any), "-");
        assert_eq!(subject("baseq3", "", "mover.pos.delta", ["0 0 0", "1 0 0"]), "movers at rest");
        assert_eq!(subject("baseq3", "", "mover.pos.delta", ["2 0 0", "1 0 0"]), "-");
        assert_eq!(subject("baseoa", "", "configstring 9", ["map_restart", "x"]), "-");
        assert_eq!(subject("baseoa", "vote g_gametype", "level time", any), "-");
        assert_ne!(subject("baseq3", "vote g_gametype", "level time", any), "-");
        let near = ["[1.5, -2, 0]", "[1.501, -2, 0]"];
        assert_eq!(subject("baseoa", "", "player.origin", near), "floats of movement");
        assert_eq!(subject("baseoa", "", "player.origin", ["1.5 2", "1.6 2"]), "-");
        assert_eq!(subject("baseoa", "", "player.origin", ["x", "x"]), "-");
        let list = ["print \"a.\n\"", "print \"a.\""];
        let subject = |values| subject("baseoa", "refused votes", "command print", values);
        assert_eq!(subject(list), "list of votes in baseoa");
        assert_eq!(subject([list[0], "print \"b.\""]), "-");
    }
}
