//! Comparison of both servers after each frame of a play.

use std::fmt;

use super::{
    Play,
    differences::{Differences, Explanation, Occurrence},
    entities, fields,
    known::known,
    play::PlayAction,
    side::{ComparedSide, STEP},
};
use crate::{
    bg::{configstring, pm_flag},
    model::{
        ClientNum, ConfigIndex, Millis,
        assets::{Assets, MemoryAssets},
        limits::MAX_CLIENTS,
    },
    server::Server,
    settings::{Choice as _, GameFolder, Settings, key},
    wire::{info::InfoString, protocol::Protocol},
};

/// Name of the map of an arena.
const ARENA: &str = "arena";
/// Longest time in which players join, in ms.
const JOIN_LIMIT: u64 = 10_000;

/// Rules that are compared: a ruleset and the matching module.
pub struct Rules<'a> {
    /// Ruleset of the native rules.
    pub game: GameFolder,
    /// Image of the module.
    pub module: &'a [u8],
    /// Symbols of the module; empty for none.
    pub symbols: &'a [u8],
    /// Value of `vm_game` for the module.
    pub engine: &'a str,
    /// Game data with the maps that plays name.
    pub data: &'a dyn Assets,
}

/// Reason why a play was not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonError(String);

impl fmt::Display for ComparisonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ComparisonError {}

/// Settings of both servers. Plays may change them.
const SETTINGS: &[(&str, &str)] = &[
    ("sv_pure", "0"),
    ("sv_floodProtect", "0"),
    ("sv_maxclientsPerIP", "0"),
    ("sv_fps", "20"),
    ("sv_maxclients", "16"),
    ("fraglimit", "0"),
    ("timelimit", "0"),
    ("g_doWarmup", "0"),
    ("g_inactivity", "0"),
];

/// Compares the native rules with a module in a play.
///
/// # Errors
/// The play's map or settings are not valid, or the module does not run.
pub fn compare(play: &Play, rules: &Rules<'_>) -> Result<Differences, ComparisonError> {
    let error = |why: String| ComparisonError(format!("play {}: {why}", play.name));
    let map = map_file(play, rules).map_err(error)?;
    let native = side(play, rules, &map, "0").map_err(error)?;
    let module = side(play, rules, &map, rules.engine).map_err(error)?;
    let mut run = Run {
        play,
        game: rules.game.name(),
        sides: [native, module],
        found: Differences::of_one_play(),
        is_on: !play.actions.contains(&PlayAction::Begin),
    };
    play.chances.iter().for_each(|(kind, _)| run.found.use_chance(&play.family, kind, 0));
    run.run().map_err(error)?;
    Ok(run.found)
}

/// Returns name and bytes of the map of a play.
fn map_file(play: &Play, rules: &Rules<'_>) -> Result<(String, Vec<u8>), String> {
    if play.map.is_empty() {
        return Ok((ARENA.to_owned(), play.arena.compile(&play.name)?));
    }
    let path = format!("maps/{}.bsp", play.map);
    let bytes = rules.data.read(&path, crate::world::bsp::MAX_FILE_LEN as u64);
    Ok((play.map.clone(), bytes.map_err(|error| error.to_string())?))
}

/// Creates a server with the rules that `engine` selects.
fn side(
    play: &Play,
    rules: &Rules<'_>,
    (map, bytes): &(String, Vec<u8>),
    engine: &str,
) -> Result<ComparedSide, String> {
    let mut assets = MemoryAssets::default();
    for (name, bytes) in [
        ("vm/qagame.qvm", rules.module),
        ("vm/qagame.map", rules.symbols),
        (&format!("maps/{map}.bsp"), bytes),
    ] {
        assets.insert(name, bytes.to_vec()).map_err(|error| error.to_string())?;
    }
    for (name, text) in &play.files {
        assets.insert(name, text.clone().into_bytes()).map_err(|error| error.to_string())?;
    }
    let mut settings = Settings::new(rules.game);
    let own = play.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // The modules are those of ioquake3 and OpenArena.
    let movement = match rules.game.name() {
        "baseq3" => "ioquake3",
        _ => "auto",
    };
    let more = [("map", map.as_str()), ("vm_game", engine), ("g_movement", movement)];
    let all = SETTINGS.iter().copied().chain(more);
    for (name, value) in all.chain(own) {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    settings.write(key::SV_CHEATS, 1).map_err(|error| error.to_string())?;
    settings.start().map_err(|error| error.to_string())?;
    let server = Server::builder(settings, [9; 32]).assets(assets).fixed_random(play.luck).build();
    let protocol = match rules.game.name() {
        "baseoa" => Protocol::OA_71,
        _ => Protocol::IOQ3_71,
    };
    Ok(ComparedSide::new(server, protocol))
}

/// A running comparison.
struct Run<'a> {
    play: &'a Play,
    /// Name of the ruleset.
    game: &'static str,
    /// Native rules, module.
    sides: [ComparedSide; 2],
    found: Differences,
    /// Whether frames are compared.
    is_on: bool,
}

impl Run<'_> {
    fn run(&mut self) -> Result<(), String> {
        for pairs in &self.play.players {
            for side in &mut self.sides {
                side.join(pairs)?;
            }
        }
        while !self.sides.iter().all(|side| side.clients.iter().all(|client| client.is_active())) {
            self.step();
            if self.sides[0].now >= Millis(JOIN_LIMIT) {
                return Err(self.missing_players());
            }
        }
        let play = self.play;
        for action in &play.actions {
            self.take(action)?;
        }
        let faults = self.sides[1].server.counters().get(crate::observe::Counter::GameFaults);
        if faults > 0 {
            self.sink().0.add("module fault", "module", "-", &format!("{faults} faults"));
        }
        Ok(())
    }

    /// Names the players that did not join.
    fn missing_players(&self) -> String {
        let names = ["native rules", "module"];
        let mut texts = Vec::new();
        for (name, side) in names.iter().zip(&self.sides) {
            let late = side.clients.iter().enumerate().filter(|(_, client)| !client.is_active());
            texts.extend(late.map(|(number, client)| {
                let why = client.ended.as_deref().unwrap_or("no snapshot");
                format!("player {number} did not join with {name}: {why}")
            }));
        }
        texts.join("; ")
    }

    fn take(&mut self, action: &PlayAction) -> Result<(), String> {
        match action {
            PlayAction::Wait(ms) => {
                for _ in 0..(u64::from(*ms) / STEP.0) {
                    self.step();
                }
            }
            PlayAction::Begin => {
                self.is_on = true;
                self.clear_texts();
            }
            PlayAction::Join(pairs) => {
                for side in &mut self.sides {
                    side.join(pairs)?;
                }
            }
            PlayAction::Keys(client, keys) => {
                self.sides.iter_mut().for_each(|side| side.hold(*client, *keys));
            }
            PlayAction::Command(client, text) => {
                self.sides.iter_mut().for_each(|side| side.command(*client, text));
            }
            PlayAction::Console(line) => {
                self.sides.iter_mut().for_each(|side| side.run_console(line))
            }
            PlayAction::Leave(client) => self.sides.iter_mut().for_each(|side| side.leave(*client)),
        }
        Ok(())
    }

    fn step(&mut self) {
        let [native, module] = &mut self.sides;
        // A gamestate of more packets takes longer; both sides enter the level in the same step.
        for (a, b) in native.clients.iter_mut().zip(&mut module.clients) {
            let waits = a.is_loading() != b.is_loading();
            (a.waits, b.waits) = (waits, waits);
        }
        let frames = [native.step(), module.step()];
        if frames.contains(&true) && self.is_on {
            self.compare_frame();
        } else if !self.is_on {
            self.clear_texts();
        }
    }

    fn clear_texts(&mut self) {
        for side in &mut self.sides {
            side.log.clear();
            side.clients.iter_mut().for_each(|client| client.commands.clear());
        }
    }

    fn sink(&mut self) -> (Sink<'_>, &mut [ComparedSide; 2]) {
        let Self { play, game, sides, found, .. } = self;
        (Sink { play, game, time_ms: sides[0].now.0, found, has_rounding: false }, sides)
    }

    fn compare_frame(&mut self) {
        self.found.frames += 1;
        let (mut sink, [native, module]) = self.sink();
        if native.server.level_time() != module.server.level_time() {
            let times =
                [&native.server, &module.server].map(|side| side.level_time().0.to_string());
            sink.add("level time", "", &times[0], &times[1]);
        }
        compare_players(native, module, &mut sink);
        let [seen, other] = [&native.server, &module.server].map(entities::seen);
        sink.found.compared += seen.len() as u64;
        entities::compare(&seen, &other, |kind, place, a, b| sink.add(kind, place, a, b));
        compare_configstrings(&native.server, &module.server, &mut sink);
        compare_commands(native, module, &mut sink);
        compare_logs(native, module, &mut sink);
        if sink.has_rounding && self.play.ends_at_rounding {
            self.is_on = false;
        }
    }
}

/// Receiver of the differences of a frame.
struct Sink<'a> {
    play: &'a Play,
    game: &'static str,
    time_ms: u64,
    found: &'a mut Differences,
    /// Whether floats of movement differed by rounding.
    has_rounding: bool,
}

impl Sink<'_> {
    fn add(&mut self, kind: &str, place: &str, native: &str, module: &str) {
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

fn compare_players(native: &ComparedSide, module: &ComparedSide, sink: &mut Sink<'_>) {
    for number in 0..native.clients.len() {
        let slots = [native.slot(number), module.slot(number)];
        let place = format!("player {number}");
        if slots[0] != slots[1] {
            sink.add("player slot", &place, &format!("{:?}", slots[0]), &format!("{:?}", slots[1]));
            continue;
        }
        let state = |side: &ComparedSide, slot: Option<ClientNum>| {
            slot.and_then(|slot| side.server.player(slot).copied())
        };
        match (state(native, slots[0]), state(module, slots[1])) {
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

fn compare_configstrings(native: &Server, module: &Server, sink: &mut Sink<'_>) {
    for index in ConfigIndex::all() {
        let [a, b] = [native.configstring(index), module.configstring(index)];
        if a == b {
            continue;
        }
        let number = index.index();
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
    for key in keys {
        let [a, b] = [0, 1].map(|side: usize| infos[side].get(key));
        if a != b {
            sink.add(&format!("{kind} key {key}"), place, a.unwrap_or("-"), b.unwrap_or("-"));
        }
    }
}

/// Compares the commands that clients received since the last frame.
fn compare_commands(native: &mut ComparedSide, module: &mut ComparedSide, sink: &mut Sink<'_>) {
    for (number, (a, b)) in native.clients.iter_mut().zip(&mut module.clients).enumerate() {
        let place = format!("player {number}");
        let lists = [std::mem::take(&mut a.commands), std::mem::take(&mut b.commands)];
        compare_texts("command", first_word, &place, lists, sink);
    }
}

/// Compares the lines of the game log since the last frame.
fn compare_logs(native: &mut ComparedSide, module: &mut ComparedSide, sink: &mut Sink<'_>) {
    let lists = [std::mem::take(&mut native.log), std::mem::take(&mut module.log)];
    compare_texts("log", log_word, "", lists, sink);
}

/// Compares texts. Those of both sides are paired by `word`, in order; an info string after `: ` is compared by key.
fn compare_texts(
    kind: &str,
    word: impl Fn(&str) -> &str,
    place: &str,
    [mut native, mut module]: [Vec<String>; 2],
    sink: &mut Sink<'_>,
) {
    sink.found.compared += native.len() as u64;
    native.retain(|text| match module.iter().position(|known| known == text) {
        Some(at) => {
            module.remove(at);
            false
        }
        None => true,
    });
    for text in native {
        let own = word(&text);
        match module.iter().position(|known| word(known) == own) {
            Some(at) => {
                let known = module.remove(at);
                let kind = format!("{kind} {own}");
                match [&text, &known].map(|text| text.split_once(": \\")) {
                    [Some((start, a)), Some((other, b))] if start == other => {
                        compare_infos(&kind, place, [a, b], sink);
                    }
                    _ => sink.add(&kind, place, &text, &known),
                }
            }
            None => sink.add(&format!("{kind} {own} only native"), place, &text, "-"),
        }
    }
    for text in module {
        sink.add(&format!("{kind} {} only module", word(&text)), place, "-", &text);
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
}
