//! Map listing, drawing and building role (`fragd maps`).

mod build;
mod build_progress;

use std::{path::Path, time::Instant};

use fragd::{
    cli::{ExitStatus, MapsCommand, MapsOptions},
    io::{GameData, assets::base_paths},
    mapdraw::{self, DrawOptions},
    model::{
        assets::{Assets as _, GamePath},
        near_files::map_suggestion,
    },
    settings::Choice as _,
    world::{
        Bsp, MapEntities, MapSummary,
        bsp::{MAX_FILE_LEN, mesh},
    },
};
use serde_json::{Value, json};

use super::{game_data, output};

/// Lists, draws or builds maps.
pub(crate) fn run(options: &MapsOptions) -> ExitStatus {
    if let Some(MapsCommand::Build(options)) = &options.command {
        return build::run(options);
    }
    let game = options.data.game.name();
    let bases = base_paths(&options.data.basepath, game);
    let data =
        match game_data::open(&options.data.basepath, options.data.mod_folder.as_deref(), game) {
            Ok(data) => data,
            Err(what) => {
                eprintln!("fragd: {what}");
                return ExitStatus::UsageError;
            }
        };
    let maps = match &options.name {
        Some(name) => vec![format!("maps/{}.bsp", name.to_ascii_lowercase())],
        None => data.list("maps", "bsp").iter().map(GamePath::to_string).collect(),
    };
    if data.is_empty() || maps.is_empty() {
        let places: Vec<_> = bases.iter().map(|base| base.display().to_string()).collect();
        let places =
            if places.is_empty() { "the usual places".to_owned() } else { places.join(", ") };
        eprintln!("fragd: no {game} maps found in {places}; set --basepath");
        return ExitStatus::Failed;
    }
    if let Some(name) = &options.name
        && data.find(&maps[0]).is_none()
    {
        let suggestion = map_suggestion(&data, name);
        eprintln!("fragd: map {name} not found{suggestion}; fragd maps lists all");
        return ExitStatus::Failed;
    }
    match &options.draw {
        Some(file) => draw(&data, &maps[0], file, options),
        None => list(&data, &maps, options.json),
    }
}

/// List entry of a map.
struct Listed {
    name: String,
    place: String,
    file_len: u64,
    load_ms: f64,
    memory_len: usize,
    checksum: Option<i32>,
    warnings: Vec<String>,
    found: Result<MapSummary, String>,
}

/// Reads one map and its entities.
fn load(data: &GameData, path: &str) -> Result<(Vec<u8>, Bsp, MapEntities), String> {
    let file = data.read(path, MAX_FILE_LEN as u64).map_err(|error| error.to_string())?;
    let map = Bsp::load(&file).map_err(|error| error.to_string())?;
    let entities = MapEntities::parse(&map.entity_text).map_err(|error| error.to_string())?;
    Ok((file, map, entities))
}

fn look_at(data: &GameData, path: &str) -> Listed {
    let name = map_name(path);
    let found = data.find(path);
    let (place, file_len) = found.map_or_else(Default::default, |found| (found.place, found.len));
    let start = Instant::now();
    let loaded = load(data, path);
    let load_ms = start.elapsed().as_secs_f64() * 1000.0;
    let mut listed = Listed {
        name,
        place,
        file_len,
        load_ms,
        memory_len: 0,
        checksum: None,
        warnings: Vec::new(),
        found: Err(String::new()),
    };
    listed.found = loaded.map(|(_, map, entities)| {
        listed.memory_len = map.memory_len();
        listed.checksum = Some(map.checksum);
        listed.warnings.clone_from(&map.warnings);
        MapSummary::of(&map, &entities)
    });
    listed
}

fn map_name(path: &str) -> String {
    let name = path.strip_prefix("maps/").unwrap_or(path);
    name.strip_suffix(".bsp").unwrap_or(name).to_owned()
}

fn list(data: &GameData, maps: &[String], as_json: bool) -> ExitStatus {
    let listed: Vec<_> = maps.iter().map(|path| look_at(data, path)).collect();
    let text = if as_json {
        let all: Vec<_> = listed.iter().map(row_json).collect();
        format!("{:#}\n", Value::from(all))
    } else {
        table(&listed)
    };
    let is_valid = listed.iter().all(|map| map.found.is_ok());
    output::show(&text, if is_valid { ExitStatus::Done } else { ExitStatus::Failed })
}

fn row_json(map: &Listed) -> Value {
    let common = json!({
        "name": map.name,
        "file": map.place,
        "bytes": map.file_len,
        "sound": map.found.is_ok(),
        "warnings": map.warnings,
    });
    let own = match &map.found {
        Ok(survey) => json!({
            "title": survey.title,
            "checksum": map.checksum,
            "load_ms": (map.load_ms * 100.0).round() / 100.0,
            "memory_bytes": map.memory_len,
            "entities": survey.entities,
            "spawn_points": survey.spawns,
            "items": survey.items,
            "size": survey.size.0,
            "brushes": survey.brushes,
            "patches": survey.patches,
            "clusters": survey.clusters,
            "areas": survey.areas,
        }),
        Err(fault) => json!({ "fault": fault }),
    };
    match (common, own) {
        (Value::Object(mut row), Value::Object(own)) => {
            row.extend(own);
            Value::Object(row)
        }
        (common, _) => common,
    }
}

fn table(maps: &[Listed]) -> String {
    let width = maps.iter().map(|map| map.name.len()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:width$}  {:>8}  {:>6}  {:>6}  {:>5}  {:>17}  {:>7}  {:>7}  {}\n",
        "map", "entities", "spawns", "items", "areas", "size", "KB", "load ms", "file"
    );
    for map in maps {
        let row = match &map.found {
            Ok(survey) => {
                let size = survey.size.0.map(|length| format!("{length:.0}")).join("x");
                format!(
                    "{:width$}  {:>8}  {:>6}  {:>6}  {:>5}  {size:>17}  {:>7}  {:>7.1}  {}\n",
                    map.name,
                    survey.entities,
                    survey.spawns,
                    survey.items,
                    survey.areas,
                    map.file_len / 1024,
                    map.load_ms,
                    map.place,
                )
            }
            Err(fault) => format!("{:width$}  invalid: {fault}\n", map.name),
        };
        text.push_str(&row);
        for warning in &map.warnings {
            text.push_str(&format!("{:width$}  {warning}\n", ""));
        }
    }
    let invalid = maps.iter().filter(|map| map.found.is_err()).count();
    let noun = if maps.len() == 1 { "map" } else { "maps" };
    text.push_str(&format!("{} {noun}, {invalid} invalid\n", maps.len()));
    text
}

fn draw(data: &GameData, path: &str, file: &Path, options: &MapsOptions) -> ExitStatus {
    match render_map(data, path, file, options) {
        Ok(()) => ExitStatus::Done,
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::Failed
        }
    }
}

fn render_map(
    data: &GameData,
    path: &str,
    file: &Path,
    options: &MapsOptions,
) -> Result<(), String> {
    let (bytes, map, entities) = load(data, path).map_err(|what| format!("{path}: {what}"))?;
    let triangles = mesh::triangles(&bytes, &map).map_err(|error| format!("{path}: {error}"))?;
    let is_svg = file.extension().is_some_and(|extension| extension == "svg");
    let draw_options = DrawOptions {
        side: usize::from(options.size),
        clusters: options.clusters,
        floors: is_svg || options.floor.is_some(),
    };
    let mut scene = mapdraw::draw(&map_name(path), &map, &triangles, &entities, draw_options);
    if let Some(number) = options.floor {
        scene = scene.on_floor(usize::from(number)).map_err(|what| format!("{path}: {what}"))?;
    }
    if let Some(warning) = scene.warning() {
        eprintln!("warning: {path}: {warning}");
    }
    let bytes = if is_svg { mapdraw::svg(&scene)?.into_bytes() } else { mapdraw::png(&scene)? };
    output::write_file(file, &bytes)
}
