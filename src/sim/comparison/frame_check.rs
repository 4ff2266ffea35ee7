//! Comparison of two observations of a frame.

use std::collections::BTreeMap;

use super::{
    Play,
    differences::{Differences, Explanation, Occurrence},
    entities, fields,
    known::known,
    observation::Observation,
};
use crate::{
    bg::{configstring, pm_flag},
    model::limits::MAX_CLIENTS,
    wire::info::InfoString,
};

/// Receiver of the differences of a frame.
pub(super) struct Sink<'a> {
    pub(super) play: &'a Play,
    pub(super) game: &'static str,
    pub(super) time_ms: u64,
    pub(super) found: &'a mut Differences,
    /// Whether floats of movement differed by rounding.
    pub(super) has_rounding: bool,
}

impl Sink<'_> {
    pub(super) fn add(&mut self, kind: &str, place: &str, native: &str, module: &str) {
        let at = Occurrence { play: &self.play.name, time_ms: self.time_ms, place };
        let explanation = self.explain(kind, [native, module]);
        self.found.add(kind, at, [native, module], explanation);
    }

    fn explain(&mut self, kind: &str, values: [&str; 2]) -> Option<Explanation> {
        if let Some(row) = known(self.game, &self.play.name, kind, values) {
            self.has_rounding |= row.is_rounding();
            return Some(Explanation::Known(row.subject));
        }
        // A kind is one word in plays.
        let word = kind.replace(' ', ".");
        let (start, reason) =
            self.play.chances.iter().find(|(start, _)| word.starts_with(start))?;
        self.found.use_chance(&self.play.family, start, 1);
        Some(Explanation::Chance(reason.clone()))
    }
}

/// Compares the observations of both sides.
pub(super) fn compare_observations(
    native: &Observation,
    module: &Observation,
    sink: &mut Sink<'_>,
) {
    sink.found.frames += 1;
    if native.level_time != module.level_time {
        let times = [native, module].map(|side| side.level_time.to_string());
        sink.add("level time", "", &times[0], &times[1]);
    }
    compare_players(native, module, sink);
    sink.found.compared += native.entities.len() as u64;
    entities::compare(&native.entities, &module.entities, |kind, place, a, b| {
        sink.add(kind, place, a, b);
    });
    compare_configstrings(&native.configstrings, &module.configstrings, sink);
    compare_commands(&native.commands, &module.commands, sink);
    compare_texts("log", log_word, "", [&native.log, &module.log], sink);
}

fn compare_players(native: &Observation, module: &Observation, sink: &mut Sink<'_>) {
    for (number, (native, module)) in native.players.iter().zip(&module.players).enumerate() {
        let slots = [native.slot, module.slot];
        let place = format!("player {number}");
        if slots[0] != slots[1] {
            sink.add("player slot", &place, &format!("{:?}", slots[0]), &format!("{:?}", slots[1]));
            continue;
        }
        match (&native.state, &module.state) {
            (Some(a), Some(b)) => {
                sink.found.compared += 1;
                let follows = a.pm_flags & pm_flag::FOLLOW != 0;
                let role = if follows { "follower" } else { "player" };
                fields::compare_words(fields::PLAYER, a.words(), b.words(), |field| {
                    let kind = format!("{role}.{}", field.name);
                    sink.add(&kind, &place, &field.native, &field.module);
                });
            }
            (a, b) if a.is_some() != b.is_some() => {
                let text = |is_there: bool| if is_there { "in the level" } else { "-" };
                sink.add("player presence", &place, text(a.is_some()), text(b.is_some()));
            }
            _ => {}
        }
    }
}

/// Whether a configstring is an info string, compared by key.
fn is_info(index: usize) -> bool {
    let players = usize::from(configstring::PLAYERS);
    index < 2 || (players..players + MAX_CLIENTS).contains(&index)
}

fn compare_configstrings(native: &[String], module: &[String], sink: &mut Sink<'_>) {
    for (number, (a, b)) in native.iter().zip(module).enumerate() {
        if a == b {
            continue;
        }
        if !is_info(number) {
            sink.add(&format!("configstring {number}"), "", a, b);
            continue;
        }
        let group = if number < 2 { number.to_string() } else { "player".to_owned() };
        compare_infos(
            &format!("configstring {group}"),
            &format!("configstring {number}"),
            [a, b],
            sink,
        );
    }
}

/// Compares info strings by key.
fn compare_infos(kind: &str, place: &str, texts: [&str; 2], sink: &mut Sink<'_>) {
    let infos = texts.map(InfoString::parse_big);
    let mut keys: Vec<&str> = infos.iter().flat_map(InfoString::iter).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    // A search in the text for each key would take minutes for the long texts of a recording.
    let values = infos.each_ref().map(first_values);
    for key in keys {
        let name = key.to_ascii_lowercase();
        let [a, b] = values.each_ref().map(|values| values.get(&name).copied());
        if a != b {
            sink.add(&format!("{kind} key {key}"), place, a.unwrap_or("-"), b.unwrap_or("-"));
        }
    }
}

/// Returns the first value of each key, whose letters are made small.
fn first_values(info: &InfoString) -> BTreeMap<String, &str> {
    let mut values = BTreeMap::new();
    for (key, value) in info.iter() {
        values.entry(key.to_ascii_lowercase()).or_insert(value);
    }
    values
}

/// Compares the commands that clients received since the last frame.
fn compare_commands(native: &[Vec<String>], module: &[Vec<String>], sink: &mut Sink<'_>) {
    for (number, (a, b)) in native.iter().zip(module).enumerate() {
        compare_texts("command", first_word, &format!("player {number}"), [a, b], sink);
    }
}

/// Compares texts. Those of both sides are paired by `word`, in order; an info string after `: ` is compared by key.
fn compare_texts(
    kind: &str,
    word: impl Fn(&str) -> &str,
    place: &str,
    [native, module]: [&[String]; 2],
    sink: &mut Sink<'_>,
) {
    sink.found.compared += native.len() as u64;
    let mut module: Vec<&str> = module.iter().map(String::as_str).collect();
    let mut native: Vec<&str> = native.iter().map(String::as_str).collect();
    native.retain(|text| match module.iter().position(|known| known == text) {
        Some(at) => {
            module.remove(at);
            false
        }
        None => true,
    });
    for text in native {
        let own = word(text);
        match module.iter().position(|known| word(known) == own) {
            Some(at) => {
                let known = module.remove(at);
                let kind = format!("{kind} {own}");
                match [text, known].map(|text| text.split_once(": \\")) {
                    [Some((start, a)), Some((other, b))] if start == other => {
                        compare_infos(&kind, place, [a, b], sink);
                    }
                    _ => sink.add(&kind, place, text, known),
                }
            }
            None => sink.add(&format!("{kind} {own} only native"), place, text, "-"),
        }
    }
    for text in module {
        sink.add(&format!("{kind} {} only module", word(text)), place, "-", text);
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Returns the first word of a log line behind its clock.
fn log_word(line: &str) -> &str {
    line.split_whitespace().nth(1).unwrap_or("").trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_open_known_or_random() {
        let text = "play walk\nchance temp.Bullet spread of bullets\nchance item no item\n";
        let play = &Play::parse(text).unwrap()[0];
        let mut found = Differences::of_one_play();
        play.chances.iter().for_each(|(kind, _)| found.use_chance(&play.family, kind, 0));
        let mut sink =
            Sink { play, game: "baseq3", time_ms: 50, found: &mut found, has_rounding: false };
        sink.add("player.weapon", "", "3", "4");
        sink.add("player.weapon", "", "2", "0");
        sink.add("temp BulletHitWall.pos.base", "", "1 2 3", "4 5 6");
        let explained: Vec<_> = found.kinds().iter().map(|kind| kind.explanation.clone()).collect();
        let expected = [
            None,
            Some(Explanation::Known("weapon of spectators")),
            Some(Explanation::Chance("spread of bullets".to_owned())),
        ];
        assert_eq!((explained.as_slice(), found.unexplained()), (&expected[..], 1));
        assert_eq!(found.ineffective_chances().collect::<Vec<_>>(), [("walk", "item")]);
    }

    #[test]
    fn infos_are_compared_by_key_in_any_case() {
        let play = &Play::parse("play walk\n").unwrap()[0];
        let mut found = Differences::of_one_play();
        let mut sink =
            Sink { play, game: "baseq3", time_ms: 50, found: &mut found, has_rounding: false };
        compare_infos("info", "", ["\\a\\1\\b\\2\\A\\9", "\\B\\2\\A\\1\\c\\3"], &mut sink);
        // As many keys as a long text of a recording has.
        let long: String = (0..20_000).map(|number| format!("\\k{number}\\1")).collect();
        compare_infos("long", "", [&long, &long.to_ascii_uppercase()], &mut sink);
        let kinds: Vec<_> = found.kinds().iter().map(|kind| kind.kind.as_str()).collect();
        assert_eq!(kinds, ["info key c"]);
    }
}
