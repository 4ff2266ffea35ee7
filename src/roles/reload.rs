//! Reload of the configuration on SIGHUP: changes of its files become console lines.
//!
//! Values that were changed meanwhile, by rcon or a rotation, stay, unless a file has another value than before. An archived
//! value wins over the config file, as at the start. Journals have the lines, so that a replay does not need the files.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use fragd::{
    cli::ServeOptions,
    io::{self, GameData},
    model::{
        CommandArgs,
        assets::{Assets as _, ScriptPlace},
        state_folder::StateFolder,
    },
    observe::{Sample, Value},
    server::ARCHIVE_FILE,
    settings::{ArchivedSettings, Flags, MAX_ARCHIVE_LEN, SETTINGS, Settings, is_secret_name, key},
};

use super::{config_files::ConfigReader, game_data, serve};

/// Numbers of reloads, which the monitor reads.
#[derive(Clone, Debug, Default)]
pub(super) struct ReloadCounters(Arc<[AtomicU64; 2]>);

impl ReloadCounters {
    fn count(&self, is_applied: bool) {
        self.0[usize::from(!is_applied)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counters for monitoring.
    pub(super) fn samples(&self) -> impl Iterator<Item = Sample> {
        let names = [
            "q3_config_reloads_total{result=\"applied\"}",
            "q3_config_reloads_total{result=\"refused\"}",
        ];
        let helps = ["Reloads of the configuration.", "Reloads refused for an error."];
        let values = [0, 1].map(|at| self.0[at].load(Ordering::Relaxed));
        let rows = names.into_iter().zip(helps).zip(values);
        rows.map(|((name, help), value)| Sample {
            name: name.into(),
            help,
            value: Value::Counter(value),
        })
    }
}

/// Configuration of a server that reads its files again.
pub(super) struct Reload {
    options: ServeOptions,
    /// Settings as the files said before.
    before: Settings,
    /// Game data with the scripts of the command line; none without such scripts.
    data: Option<GameData>,
    /// State folder with the archive.
    state: Option<Rc<dyn StateFolder>>,
    counters: ReloadCounters,
}

/// Settings of all files.
struct Files {
    settings: Settings,
    /// Settings without the scripts.
    without_scripts: Settings,
    /// Commands of scripts, which are not run.
    commands: u32,
    /// Refused lines of scripts.
    refused: Vec<String>,
    /// Values that were read in another form.
    notes: Vec<String>,
}

/// Effect of a changed setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Applied,
    WithNextMap,
    NeedsRestart,
    Refused,
    /// The archived value stays.
    Archived,
}

impl Effect {
    const ALL: [Self; 5] =
        [Self::Applied, Self::WithNextMap, Self::NeedsRestart, Self::Refused, Self::Archived];

    const fn words(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::WithNextMap => "with the next map",
            Self::NeedsRestart => "needs a restart",
            Self::Refused => "refused: a quote in the value",
            Self::Archived => "the archived value stays (reset removes it)",
        }
    }
}

impl Reload {
    /// Creates the reload of a server with these settings of its config file and command line.
    pub(super) fn new(
        options: &ServeOptions,
        settings: &Settings,
        state: Option<Rc<dyn StateFolder>>,
        counters: ReloadCounters,
    ) -> Self {
        let runs_scripts = scripts(options).next().is_some();
        let mut this = Self {
            options: options.clone(),
            before: settings.clone(),
            data: runs_scripts.then(|| game_data::of_scripts(settings)),
            state,
            counters,
        };
        if let Ok(files) = this.read() {
            this.before = files.settings;
        }
        this
    }

    /// Reads all files.
    fn read(&self) -> Result<Files, Vec<String>> {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let config = serve::config(&self.options, io::reread_config).map_err(lines)?;
        let config = config.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
        let mut settings = self.options.build(config).map_err(lines)?;
        while settings.poll_note().is_some() {}
        let without_scripts = settings.clone();
        let mut reader = ConfigReader::new(self.data.as_ref(), self.state.clone());
        for name in scripts(&self.options) {
            reader.exec(&mut settings, &name, "", (ScriptPlace::CommandLine, 1));
        }
        // The setting keeps its value, as if the line were not there.
        for name in &reader.refused {
            if let Some(value) = self.before.get(name) {
                let _ = settings.set(name, value);
            }
        }
        let is_missing = |error: &String| error.contains("couldn't exec ");
        if reader.errors.iter().any(is_missing) {
            return Err(reader.errors.into_iter().filter(is_missing).collect());
        }
        settings.begin_first_level();
        let ConfigReader { commands, errors: refused, notes, .. } = reader;
        Ok(Files { settings, without_scripts, commands, refused, notes })
    }

    /// Archived settings. An archive that cannot be read now has none.
    fn archived(&self) -> ArchivedSettings {
        let text = self.state.as_deref().map(|state| state.read(ARCHIVE_FILE, MAX_ARCHIVE_LEN));
        let text = text.and_then(Result::ok).flatten();
        text.and_then(|text| ArchivedSettings::parse(&text).ok()).unwrap_or_default()
    }

    /// Reads all files again. Returns console lines that set what has changed; none if a file has an error.
    pub(super) fn run(&mut self) -> Vec<String> {
        if let Some(data) = &self.data {
            data.rescan();
        }
        let Files { settings: now, without_scripts, commands, refused, notes } = match self.read() {
            Ok(files) => files,
            Err(errors) => {
                errors.iter().for_each(|error| log::error!("reload: {error}"));
                log::error!("reload refused: nothing is changed");
                self.counters.count(false);
                return Vec::new();
            }
        };
        let archived = self.archived();
        let mut counts = [0; Effect::ALL.len()];
        counts[Effect::Refused as usize] = refused.len();
        refused.iter().for_each(|error| log::warn!("reload: {error}: refused"));
        notes.iter().for_each(|note| log::info!("reload: {note}"));
        let mut lines = Vec::new();
        for (name, value, effect, command) in changes(&self.before, &now) {
            let is_of_script = without_scripts.get(name) != Some(value);
            let effect = if effect != Effect::NeedsRestart && !is_of_script && archived.has(name) {
                Effect::Archived
            } else if value.contains('"') {
                Effect::Refused
            } else {
                effect
            };
            let shown =
                if is_secret_name(name) { String::new() } else { format!(" = \"{value}\"") };
            log::info!("reload: {name}{shown}: {}", effect.words());
            if matches!(effect, Effect::Applied | Effect::WithNextMap) {
                lines.push(format!("{command} {name} \"{value}\""));
            }
            counts[effect as usize] += 1;
        }
        let [applied, next, restart, refused, kept] = counts;
        let kept = if kept > 0 { format!(", {kept} archived") } else { String::new() };
        log::info!(
            "reload: {applied} applied, {next} with the next map, {restart} need a restart, {refused} \
             refused{kept}; {commands} commands of scripts not run"
        );
        lines.push(format!(
            "reloaded {applied} applied, {next} with the next map, {refused} refused"
        ));
        if [&self.before, &now].iter().any(|known| !known.text(key::SV_ADMINS).is_empty()) {
            lines.push("rehashadmins".to_owned());
        }
        self.before = now;
        self.counters.count(true);
        lines
    }
}

/// Names of the scripts of the command line, in order.
fn scripts(options: &ServeOptions) -> impl Iterator<Item = String> {
    let is_exec = |words: &CommandArgs| {
        ["exec", "execq"].iter().any(|known| known.eq_ignore_ascii_case(words.command()))
    };
    let lines = options.start_lines().into_iter().map(|line| CommandArgs::parse(&line));
    lines.filter(is_exec).map(|words| words.get(1).to_owned())
}

/// Settings and variables whose values differ: name, value, effect, and the command that sets it.
fn changes<'a>(
    before: &'a Settings,
    now: &'a Settings,
) -> impl Iterator<Item = (&'a str, &'a str, Effect, &'static str)> {
    let rows = SETTINGS.iter().filter_map(|row| {
        let (value, flags) = (now.get(row.name)?, now.flags(row.name)?);
        let effect = if flags.has(Flags::INIT) || flags.has(Flags::EARLY) {
            Effect::NeedsRestart
        } else if flags.has(Flags::LATCHED) {
            Effect::WithNextMap
        } else {
            Effect::Applied
        };
        let differs = before.get(row.name) != Some(value) && !flags.has(Flags::READ_ONLY);
        // A file archives nothing.
        differs.then_some((row.name, value, effect, "setu"))
    });
    let variables = now.variables().filter(|(name, value, _)| before.get(name) != Some(value));
    rows.chain(variables.map(|(name, value, flags)| {
        let command = if flags.has(Flags::SERVERINFO) { "sets" } else { "setu" };
        (name, value, Effect::Applied, command)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_the_effects_of_their_flags() {
        let (before, mut now) = (Settings::default(), Settings::default());
        for (name, value) in [
            ("sv_hostname", "new"),
            ("sv_maxclients", "12"),
            ("net_port", "27961"),
            ("d1", "map fragd1"),
            ("timelimit", before.get("timelimit").expect("a setting")),
        ] {
            now.set(name, value).expect("a value");
        }
        let found: Vec<_> =
            changes(&before, &now).map(|(name, _, effect, _)| (name, effect)).collect();
        let effect = |name| found.iter().find(|row| row.0 == name).map(|row| row.1.words());
        assert_eq!(effect("sv_hostname"), Some("applied"));
        assert_eq!(effect("sv_maxclients"), Some("with the next map"));
        assert_eq!(effect("net_port"), Some("needs a restart"));
        assert_eq!(effect("d1"), Some("applied"));
        assert_eq!(found.len(), 4);
    }
}
