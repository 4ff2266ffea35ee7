//! Map compiler role (`fragd maps build`): source files in, pk3 out.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    thread,
    time::Instant,
};

use super::build_progress::BuildProgress;
use crate::roles::output;
use fragd::{
    cli::{BuildOptions, ExitStatus},
    io::uninterrupted,
    mapbuild::{self, BuildError, Built, Effort, Source, map_file},
};

/// Largest shader script, in bytes.
const MAX_SCRIPT_LEN: u64 = 4 * 1024 * 1024;
/// Largest image file, in bytes.
const MAX_IMAGE_LEN: u64 = 64 * 1024 * 1024;
/// Maximum number of shader scripts.
const MAX_SCRIPTS: usize = 200;

/// Builds a map and writes its pk3.
pub(super) fn run(options: &BuildOptions) -> ExitStatus {
    let start = Instant::now();
    let output = options.output.clone().unwrap_or_else(|| options.source.with_extension("pk3"));
    match build(options) {
        Ok(built) => {
            for warning in &built.warnings {
                eprintln!("warning: {warning}");
            }
            if let Err(what) = write_whole(&output, &built.pk3) {
                eprintln!("fragd: {what}");
                return ExitStatus::Failed;
            }
            output::show(&summary(&output, &built, start), ExitStatus::Done)
        }
        Err(what) => {
            eprintln!("{what}");
            ExitStatus::Failed
        }
    }
}

fn summary(output: &Path, built: &Built, start: Instant) -> String {
    let counts = &built.counts;
    format!(
        "{}: {} KB in {:.1} s: {} brushes, {} clusters, {} areas, {} surfaces\n",
        output.display(),
        built.pk3.len().div_ceil(1024),
        start.elapsed().as_secs_f64(),
        counts.brushes,
        counts.clusters,
        counts.areas,
        counts.surfaces,
    )
}

fn build(options: &BuildOptions) -> Result<Built, String> {
    let path = &options.source;
    let text = read(path, map_file::MAX_LEN as u64)?;
    let folders = source_folders(path);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let scripts = scripts(path, &folders)?;
    let file = path.display().to_string();
    let source = Source {
        name: &stem,
        file: &file,
        text: &text,
        scripts: &scripts,
        files: &|name| read_image(&folders, name),
        effort: if options.fast { Effort::Fast } else { Effort::Full },
        threads: thread::available_parallelism().map_or(1, usize::from),
    };
    let mut stages = BuildProgress::new();
    let built = mapbuild::build(&source, &mut |phase, done, total| stages.show(phase, done, total));
    stages.finish();
    let lin = path.with_extension("lin");
    built.map_err(|error| failure(&error, &lin)).inspect(|built| {
        if stages.is_visibility_longest() {
            built.hints.iter().for_each(|hint| eprintln!("hint: {hint}"));
        }
        // The way out of an earlier version would mislead.
        let _ = fs::remove_file(&lin);
    })
}

/// Returns the problems of a failed build, and writes the way out of the map.
fn failure(error: &BuildError, lin: &Path) -> String {
    let mut lines: Vec<String> =
        error.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    lines.extend(error.errors.iter().map(|error| format!("error: {error}")));
    if let Some(leak) = &error.leak {
        lines.push(match write_whole(lin, leak.lin().as_bytes()) {
            Ok(()) => format!("way out written to {}", lin.display()),
            Err(what) => what,
        });
    }
    lines.join("\n")
}

/// Reads an image of the author by its name in the game.
fn read_image(folders: &[PathBuf], name: &str) -> Option<Vec<u8>> {
    // The reader of sources rejects names that leave their folder.
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let mut paths = folders.iter().map(|folder| folder.join(name)).filter(|_| is_inside);
    let path = paths.find(|path| path.is_file())?;
    let len = fs::metadata(&path).ok()?.len();
    if len <= MAX_IMAGE_LEN { fs::read(path).ok() } else { None }
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
    let mut files: Vec<PathBuf> = own.exists().then(|| own.clone()).into_iter().collect();
    let beside = folders.first().cloned();
    for folder in beside.into_iter().chain(folders.iter().map(|folder| folder.join("scripts"))) {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_script = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "shader");
        let is_new = |path: &PathBuf| path.file_name() != own.file_name() || !own.exists();
        let mut found: Vec<_> = entries.filter(is_script).filter(is_new).collect();
        found.sort();
        files.extend(found);
    }
    files.truncate(MAX_SCRIPTS);
    let named = |file: PathBuf| Ok((file.display().to_string(), read(&file, MAX_SCRIPT_LEN)?));
    files.into_iter().map(named).collect()
}

fn read(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("error: {}: cannot be read: {error}", path.display());
    let len = fs::metadata(path).map_err(cannot)?.len();
    if len > max {
        return Err(format!("error: {}: too long: {len} bytes (max {max})", path.display()));
    }
    fs::read(path).map_err(cannot)
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
