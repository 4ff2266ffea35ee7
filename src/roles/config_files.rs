//! Configuration of a server by its files: config file and scripts, without their commands.

use std::{path::Path, rc::Rc};

use fragd::{
    game,
    io::{self, GameData},
    model::{
        CommandArgs, ConsoleCommands,
        assets::{Assets as _, ScriptPlace},
        near_files::map_suggestion,
        state_folder::StateFolder,
    },
    server::{self, script_text},
    settings::{SETTINGS, Settings, is_ignored, nearest_of, place_of_error, read_script},
};

/// Maximum length of a script, in bytes.
const MAX_SCRIPT_LEN: u64 = 1 << 20;
/// Maximum number of scripts, and their depth, as on the console.
const MAX_SCRIPTS: u32 = 64;
const MAX_DEPTH: u8 = 16;
/// Maximum number of problems of each kind.
const MAX_PROBLEMS: usize = 200;

/// Names of the commands of the console and of the rules.
fn command_names() -> impl Iterator<Item = &'static str> {
    server::command_names().chain(game::console_command_names())
}

/// Reader of configuration files.
pub(super) struct ConfigReader<'a> {
    /// Game data with scripts and maps; none if it was not found.
    data: Option<&'a GameData>,
    /// State folder, which has the scripts of `writeconfig`.
    state: Option<Rc<dyn StateFolder>>,
    scripts: u32,
    /// Refused values and missing files, as `file:line: error`.
    pub(super) errors: Vec<String>,
    /// Names of the settings whose values scripts set and that were refused.
    pub(super) refused: Vec<String>,
    /// Values that were read in another form, and unknown names.
    pub(super) notes: Vec<String>,
    /// Settings and variables that scripts set, and commands that were not run.
    pub(super) set: u32,
    pub(super) commands: u32,
}

impl<'a> ConfigReader<'a> {
    pub(super) const fn new(
        data: Option<&'a GameData>,
        state: Option<Rc<dyn StateFolder>>,
    ) -> Self {
        Self {
            data,
            state,
            scripts: 0,
            errors: Vec::new(),
            refused: Vec::new(),
            notes: Vec::new(),
            set: 0,
            commands: 0,
        }
    }

    /// Reads a script of the game data, which `place` named.
    pub(super) fn exec(
        &mut self,
        settings: &mut Settings,
        name: &str,
        from: &str,
        (place, depth): (ScriptPlace, u8),
    ) {
        let mut name = name.to_owned();
        if !name.rsplit(['/', '\\']).next().unwrap_or_default().contains('.') {
            name.push_str(".cfg");
        }
        let read = match self.data {
            None => Err("no game data found".to_owned()),
            Some(_) if depth >= MAX_DEPTH => Err("nested too deep".to_owned()),
            Some(_) if self.scripts >= MAX_SCRIPTS => Err("too many scripts".to_owned()),
            Some(data) => data
                .read_script(&name, MAX_SCRIPT_LEN, place)
                .map_err(|error| error.to_string())
                .and_then(|bytes| script_text(&bytes)),
        };
        self.scripts += 1;
        let of_state = || server::state_script(self.state.as_deref()?, &name, MAX_SCRIPT_LEN);
        match read.or_else(|reason| of_state().unwrap_or(Err(reason))) {
            Ok(text) => self.script(settings, &name, &text, depth),
            Err(reason) => self.error(format!("{from}couldn't exec {name}: {reason}")),
        }
    }

    /// Reads the text of a script.
    pub(super) fn script(&mut self, settings: &mut Settings, name: &str, text: &str, depth: u8) {
        // As a server does, which reads scripts behind config file and command line.
        if let Err(error) = settings.start() {
            self.error(format!("{}{error}", place_of_error(settings, &error)));
        }
        let found = read_script(settings, name, text, |settings, line, words| {
            self.command(settings, &format!("{name}:{line}: "), words, depth)
        });
        self.set += found.set;
        self.refused.extend(found.refused);
        found.errors.into_iter().for_each(|error| self.error(error));
        found.notes.into_iter().for_each(|note| self.note(note));
    }

    /// Judges a command, which is not run. Returns false for a setting.
    fn command(
        &mut self,
        settings: &mut Settings,
        from: &str,
        words: &CommandArgs,
        depth: u8,
    ) -> bool {
        let name = words.command().trim_start_matches(['/', '\\']);
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let is_command = command_names().any(is);
        if !is_command && (settings.get(name).is_some() || is_ignored(name)) {
            return false;
        }
        if is("exec") || is("execq") {
            let place = ScriptPlace::GameData;
            self.exec(settings, words.get(1), from, (place, depth + 1));
            return true;
        }
        self.commands += 1;
        if is("map") || is("devmap") {
            if let Some(error) = self.missing_map(words.get(1)) {
                self.error(format!("{from}{error}"));
            }
        } else if is("vstr") && settings.get(words.get(1)).is_none() {
            self.note(format!("{from}vstr: {} is not set before", words.get(1).escape_default()));
        } else if !is_command {
            let known = command_names().chain(SETTINGS.iter().map(|row| row.name));
            let near = nearest_of(name, known);
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            self.note(format!("{from}unknown command {}{near}", name.escape_default()));
        }
        true
    }

    /// Error about a map that is not in the game data.
    pub(super) fn missing_map(&self, map: &str) -> Option<String> {
        let data = self.data.filter(|data| data.find(&format!("maps/{map}.bsp")).is_none())?;
        Some(format!("map {} not found{}", map.escape_default(), map_suggestion(data, map)))
    }

    /// Notes the maps of rotations that are not in the game data. A variable may hold the commands of a later level.
    pub(super) fn check_rotations(&mut self, settings: &Settings) {
        let next = settings.get("nextmap").map(|value| ("nextmap", value));
        let variables = settings.variables().map(|(name, value, _)| (name, value));
        for (name, value) in variables.chain(next) {
            for command in ConsoleCommands::new(value) {
                let words = CommandArgs::parse(command);
                let is_map = ["map", "devmap"]
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(words.command()));
                if let Some(error) = self.missing_map(words.get(1)).filter(|_| is_map) {
                    self.note(format!("{}: {error}", name.escape_default()));
                }
            }
        }
    }

    /// Reads a file by its path: a config file if its name ends in `.toml`, else a script.
    pub(super) fn file(&mut self, settings: &mut Settings, path: &Path) {
        let name = path.display().to_string();
        let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
        if !is_toml {
            let read =
                io::read_regular_file(path, MAX_SCRIPT_LEN).map_err(|error| error.to_string());
            match read.and_then(|bytes| {
                script_text(&bytes).map_err(|what| format!("{name}: not a text file: {what}"))
            }) {
                Ok(text) => self.script(settings, &name, &text, 1),
                Err(error) => self.error(error),
            }
            return;
        }
        match io::reread_config(path) {
            Ok(text) => {
                // Values before an error are judged all the same.
                if let Err(error) = settings.read_config(&name, &text) {
                    error.to_string().lines().for_each(|line| self.error(line.to_owned()));
                }
                while let Some(note) = settings.poll_note() {
                    self.note(note);
                }
            }
            Err(error) => self.error(error.to_string()),
        }
    }

    pub(super) fn error(&mut self, text: String) {
        if self.errors.len() < MAX_PROBLEMS {
            self.errors.push(text);
        }
    }

    pub(super) fn note(&mut self, text: String) {
        if self.notes.len() < MAX_PROBLEMS {
            self.notes.push(text);
        }
    }
}
