//! Scoreboard command: entries of clients, in the forms of the base game and of OpenArena.
//!
//! Source: the base game's scoreboard command; OpenArena's longer form of it.

use crate::model::{LevelTime, limits::MAX_SERVER_COMMAND_LEN};

/// Length of the longest header: the command, three numbers and a time.
const MAX_HEADER_LEN: usize = "scores 64 -9999 -9999 -2147483648".len();

/// The form of the scoreboard command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoresForm {
    /// Time from level start to round start, in ms; sent as a fourth number if set.
    pub round_start_ms: Option<i32>,
    /// Whether each entry has a fifteenth number, eliminated.
    pub eliminated: bool,
    /// Maximum length of all entries together, in bytes.
    pub entries_limit: usize,
}

impl ScoresForm {
    /// Form of the base game.
    pub const BASE: Self = Self { round_start_ms: None, eliminated: false, entries_limit: 1000 };
    /// Form of OpenArena.
    pub const OPENARENA: Self =
        Self { round_start_ms: Some(7000), eliminated: true, entries_limit: 1024 };
}

/// Scoreboard entry of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreEntry {
    /// Client number.
    pub client: usize,
    /// Score.
    pub score: i32,
    /// Ping in ms; -1 while connecting.
    pub ping: i32,
    /// Minutes in the game.
    pub minutes: i32,
    /// Bits of held powerups.
    pub powerups: i32,
    /// Hits in percent of shots.
    pub accuracy: i32,
    /// Impressive awards.
    pub impressive: i32,
    /// Excellent awards.
    pub excellent: i32,
    /// Gauntlet frags.
    pub gauntlet: i32,
    /// Defense awards.
    pub defend: i32,
    /// Assist awards.
    pub assist: i32,
    /// Whether the client leads without a death.
    pub perfect: bool,
    /// Flag captures.
    pub captures: i32,
}

/// Returns the scoreboard command with as many entries as fit.
#[must_use]
pub fn scoreboard(
    form: ScoresForm,
    [red, blue]: [i32; 2],
    started: LevelTime,
    lines: impl Iterator<Item = ScoreEntry>,
) -> String {
    let longest = MAX_SERVER_COMMAND_LEN - MAX_HEADER_LEN;
    let limit = form.entries_limit.min(longest);
    let mut entries = String::with_capacity(limit);
    let mut count = 0;
    for line in lines {
        let whole = entries.len();
        let ScoreEntry { client, score, ping, minutes, powerups, accuracy, .. } = line;
        // The flags before the powerups are always 0.
        for value in [client as i32, score, ping, minutes, 0, powerups, accuracy] {
            push_number(&mut entries, value);
        }
        let marks = [line.impressive, line.excellent, line.gauntlet, line.defend, line.assist];
        marks.into_iter().for_each(|value| push_number(&mut entries, value));
        push_number(&mut entries, i32::from(line.perfect));
        push_number(&mut entries, line.captures);
        if form.eliminated {
            entries.push_str(" 0");
        }
        if entries.len() >= limit {
            entries.truncate(whole);
            break;
        }
        count += 1;
    }
    match form.round_start_ms {
        Some(ms) => format!("scores {count} {red} {blue} {}{entries}", started + ms),
        None => format!("scores {count} {red} {blue}{entries}"),
    }
}

/// Appends a space and a number.
fn push_number(text: &mut String, number: i32) {
    // Most are 0.
    if number == 0 {
        return text.push_str(" 0");
    }
    text.push(' ');
    text.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(client: usize, score: i32, ping: i32, minutes: i32, perfect: bool) -> ScoreEntry {
        ScoreEntry { client, score, ping, minutes, perfect, ..ScoreEntry::default() }
    }

    #[test]
    fn scoreboard_has_documented_form() {
        let q3 = [line(0, 0, 4, 1, true), line(1, -1, 0, 1, false)];
        assert_eq!(
            scoreboard(ScoresForm::BASE, [0; 2], LevelTime(0), q3.into_iter()),
            "scores 2 0 0 0 0 4 1 0 0 0 0 0 0 0 0 1 0 1 -1 0 1 0 0 0 0 0 0 0 0 0 0"
        );
        let oa = [line(0, 1, 38, 0, true), line(1, 0, 28, 0, false)];
        assert_eq!(
            scoreboard(ScoresForm::OPENARENA, [0; 2], LevelTime(239_050), oa.into_iter()),
            "scores 2 0 0 246050 0 1 38 0 0 0 0 0 0 0 0 0 1 0 0 1 0 28 0 0 0 0 0 0 0 0 0 0 0 0"
        );
    }

    #[test]
    fn full_scoreboard_is_truncated_after_whole_entry() {
        for form in [ScoresForm::BASE, ScoresForm::OPENARENA] {
            let lines = (0..64).map(|client| line(client, -32_768, 999, 100_000, true));
            let text = scoreboard(form, [-9999; 2], LevelTime(i32::MAX), lines);
            assert!(text.len() <= 1022, "{} bytes", text.len());
            let numbers = text.split(' ').count();
            let (header, each) = if form.eliminated { (5, 15) } else { (4, 14) };
            let count: usize =
                text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a count");
            assert_eq!(numbers, header + each * count);
            assert!((10..64).contains(&count), "{count} lines");
        }
    }
}
