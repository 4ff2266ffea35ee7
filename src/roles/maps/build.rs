//! Map compiler role (`fragd maps build`): source files in, pk3 out.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
    thread,
    time::Instant,
};

use super::build_progress::BuildProgress;
use crate::roles::{game_data, output};
use fragd::{
    cli::{BuildOptions, ExitStatus},
    io::{FileError, GameData, read_file, read_regular_file, uninterrupted},
    mapbuild::{self, BuildError, Built, Diagnostic, Effort, GameSources, Source, map_file},
    model::{assets::Assets as _, text::counted},
    settings::Choice as _,
};

/// Largest shader script, in bytes.
const MAX_SCRIPT_LEN: u64 = 4 * 1024 * 1024;
/// Maximum length of the author's shader scripts in all, in bytes.
const MAX_SCRIPTS_LEN: u64 = 32 * 1024 * 1024;
/// Largest image file, in bytes.
const MAX_IMAGE_LEN: u64 = 64 * 1024 * 1024;
/// Maximum number of shader scripts of the author.
const MAX_SCRIPTS: usize = 200;
/// Maximum number of shader scripts of the game's data.
const MAX_GAME_SCRIPTS: usize = 2000;
/// Maximum number of names in a folder.
const MAX_ENTRIES: usize = 20_000;
/// Maximum number of names in a line of the result.
const MAX_LISTED: usize = 12;

/// Builds a map and writes its pk3.
pub(super) fn run(options: &BuildOptions) -> ExitStatus {
    let start = Instant::now();
    let output = options.output.clone().unwrap_or_else(|| options.source.with_extension("pk3"));
    match build(options) {
        Ok(built) => {
            for line in warnings(options, &built.warnings) {
                eprintln!("{line}");
            }
            write_way_out(&options.source, &built);
            if let Err(what) = write_whole(&output, &built.pk3) {
                eprintln!("fragd: {what}");
                return ExitStatus::Failed;
            }
            let summary = summary(&output, options, &built, start);
            output::show(&summary, ExitStatus::Done)
        }
        Err(what) => {
            eprintln!("{what}");
            ExitStatus::Failed
        }
    }
}

/// Returns the lines of warnings: all of them, or the first ones of each kind.
fn warnings(options: &BuildOptions, warnings: &[Diagnostic]) -> Vec<String> {
    let short = mapbuild::shortened(&options.source.display().to_string(), warnings);
    let is_short = !options.verbose && short != warnings;
    let shown = if options.verbose { warnings } else { &short[..] };
    let mut lines: Vec<_> = shown.iter().map(|warning| format!("warning: {warning}")).collect();
    if is_short {
        lines.push("note: --verbose shows all warnings".to_owned());
    }
    lines
}

fn summary(output: &Path, options: &BuildOptions, built: &Built, start: Instant) -> String {
    let counts = &built.counts;
    let mut text = format!(
        "{}: {} KB in {:.1} s: {}, {}, {}, {}\n",
        output.display(),
        built.pk3.len().div_ceil(1024),
        start.elapsed().as_secs_f64(),
        counted(counts.brushes, "brush"),
        counted(counts.clusters, "cluster"),
        counted(counts.areas, "area"),
        counted(counts.surfaces, "surface"),
    );
    let max = if options.verbose { usize::MAX } else { MAX_LISTED };
    if !built.of_game.is_empty() {
        let count = counted(built.of_game.len(), "texture or shader");
        let count = count.replace("texture or shaders", "textures and shaders");
        let (game, names) = (options.data.game.name(), listed(&built.of_game, max));
        text.push_str(&format!("{count} of {game}, not in the pk3: {names}\n"));
    }
    if !built.omitted_layers.is_empty() {
        let names = listed(&built.omitted_layers, max);
        text.push_str(&format!("layers omitted from export: {names}\n"));
    }
    text
}

/// Returns the first names of a list, and the number of the others.
fn listed(names: &[String], max: usize) -> String {
    let shown = names[..names.len().min(max)].join(", ");
    match names.len().saturating_sub(max) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn build(options: &BuildOptions) -> Result<Built, String> {
    let path = &options.source;
    let text =
        read_file(path, map_file::MAX_LEN as u64).map_err(|error| format!("error: {error}"))?;
    let folders = source_folders(path);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let scripts = scripts(path, &folders)?;
    let file = path.display().to_string();
    let author = AuthorFiles::new(folders);
    let data = game_data::open_installed(
        &options.data.basepath,
        options.data.mod_folder.as_deref(),
        options.data.game.name(),
    );
    let data = data.map_err(|what| format!("error: {what}"))?;
    let game_scripts = game_scripts(&data);
    let game_files = |name: &str| data.read(name, MAX_IMAGE_LEN).ok();
    let source = Source {
        name: &stem,
        file: &file,
        text: &text,
        scripts: &scripts,
        files: &|name| author.read(name),
        game: Some(GameSources { scripts: &game_scripts, files: &game_files }),
        effort: if options.fast { Effort::Fast } else { Effort::Full },
        threads: thread::available_parallelism().map_or(1, usize::from),
    };
    let mut stages = BuildProgress::new();
    let built = mapbuild::build(&source, &mut |phase, done, total| stages.show(phase, done, total));
    stages.finish();
    built.map_err(|error| failure(options, &error)).inspect(|built| {
        if stages.is_visibility_longest() {
            built.hints.iter().for_each(|hint| eprintln!("hint: {hint}"));
        }
    })
}

/// Returns the problems of a failed build.
fn failure(options: &BuildOptions, error: &BuildError) -> String {
    let mut lines = warnings(options, &error.warnings);
    lines.extend(error.errors.iter().map(|error| format!("error: {error}")));
    lines.join("\n")
}

/// Writes the way out of a map that is not closed, or removes that of an earlier version.
fn write_way_out(source: &Path, built: &Built) {
    let lin = source.with_extension("lin");
    match &built.leak {
        Some(leak) => match write_whole(&lin, leak.lin().as_bytes()) {
            Ok(()) => eprintln!("way out written to {}", lin.display()),
            Err(what) => eprintln!("warning: {what}"),
        },
        None => drop(fs::remove_file(&lin)),
    }
}

/// Reads the shader scripts of the game's data.
fn game_scripts(data: &GameData) -> Vec<(String, Vec<u8>)> {
    let paths = data.list("scripts", "shader");
    let scripts = paths.iter().take(MAX_GAME_SCRIPTS).filter_map(|path| {
        let name = path.to_string();
        let text = data.read(&name, MAX_SCRIPT_LEN).ok()?;
        Some((name, text))
    });
    scripts.collect()
}

/// Files of the author by their names in the game, in any case.
struct AuthorFiles {
    folders: Vec<PathBuf>,
    /// Names in folders that were searched.
    listings: RefCell<HashMap<PathBuf, Vec<String>>>,
}

impl AuthorFiles {
    fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, listings: RefCell::default() }
    }

    /// Reads a file.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.folders.iter().find_map(|folder| self.find(folder, name))?;
        read_regular_file(&path, MAX_IMAGE_LEN).ok()
    }

    /// Finds a file below a folder. The reader of sources rejects names that leave it.
    fn find(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let mut path = folder.to_owned();
        for part in Path::new(name).components() {
            let Component::Normal(part) = part else { return None };
            path = self.entry(&path, part.to_str()?)?;
        }
        Some(path)
    }

    /// Returns the entry of a folder with a name, or else the first with it in another case.
    fn entry(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let mut listings = self.listings.borrow_mut();
        let names = listings.entry(folder.to_owned()).or_insert_with(|| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let mut names: Vec<String> = names.take(MAX_ENTRIES).collect();
            names.sort_unstable();
            names
        });
        let alike = names.iter().find(|known| *known == name);
        let found =
            alike.or_else(|| names.iter().find(|known| known.eq_ignore_ascii_case(name)))?;
        Some(folder.join(found))
    }
}

/// Returns the folder of the source and the one above, in which scripts and images are found.
fn source_folders(path: &Path) -> Vec<PathBuf> {
    let own = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = own.unwrap_or(Path::new(".")).to_owned();
    let above = own.join("..");
    vec![own, above]
}

/// Reads the shader scripts of a map: its own, the others beside the source, then those in the folders `scripts`.
/// Of equal shaders, the first counts.
fn scripts(path: &Path, folders: &[PathBuf]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let own = path.with_extension("shader");
    let mut files: Vec<PathBuf> = own.is_file().then(|| own.clone()).into_iter().collect();
    let beside = folders.first().cloned();
    for folder in beside.into_iter().chain(folders.iter().map(|folder| folder.join("scripts"))) {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_script =
            |path: &PathBuf| path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("shader"));
        let is_new = |path: &PathBuf| path.file_name() != own.file_name() || !own.is_file();
        let is_file = |path: &PathBuf| path.is_file();
        let mut found: Vec<_> =
            entries.filter(is_script).filter(is_new).filter(is_file).take(MAX_ENTRIES).collect();
        found.sort();
        files.extend(found);
    }
    files.truncate(MAX_SCRIPTS);
    let mut left = MAX_SCRIPTS_LEN;
    let read = |file: PathBuf| {
        let max = MAX_SCRIPT_LEN.min(left);
        let bytes = read_regular_file(&file, max).map_err(|error| match error {
            FileError::TooLong { .. } if max < MAX_SCRIPT_LEN => {
                format!(
                    "error: {}: shader scripts too long in all (max {MAX_SCRIPTS_LEN} bytes)",
                    file.display()
                )
            }
            error => format!("error: {error}"),
        })?;
        left -= bytes.len() as u64;
        Ok((file.display().to_string(), bytes))
    };
    files.into_iter().map(read).collect()
}

/// Writes a file under a temporary name and renames it, so that no half-written file remains.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    let write = || fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    uninterrupted(write).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        format!("{}: cannot be written: {error}", path.display())
    })
}
