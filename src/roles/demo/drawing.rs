//! Picture of a demo: paths and deaths on the map, or without it.

use std::ffi::OsStr;

use fragd::{
    cli::DemoDrawOptions,
    demo::DemoPaths,
    mapdraw::{self, DeathMark, DrawOptions, Drawing, Track},
    model::assets::Assets as _,
    model::text::counted,
    settings::Choice as _,
    wire::Protocol,
    world::{
        Bsp, MapEntities,
        bsp::{MAX_FILE_LEN, mesh},
    },
};

use super::super::{game_data, output};

/// Writes the picture of a demo. Returns its description.
pub(super) fn write(
    protocol: &'static Protocol,
    bytes: &[u8],
    options: &DemoDrawOptions,
) -> Result<String, String> {
    let paths = DemoPaths::with_colors(protocol, bytes, options.names.colors());
    let mut tracks = Vec::new();
    let mut track_of = [None; 64];
    for (number, path) in paths.paths.iter().enumerate() {
        if path.runs.is_empty() && path.deaths == 0 {
            continue;
        }
        track_of[number] = Some(tracks.len());
        let name = format!(
            "{}: {}, {}",
            path.name,
            counted(path.frags, "frag"),
            counted(path.deaths, "death")
        );
        tracks.push(Track { name, runs: path.runs.clone() });
    }
    let marks: Vec<_> = paths
        .deaths
        .iter()
        .map(|death| {
            let killer = death.killer.as_ref().map_or("the world", |killer| &killer.name);
            let seconds = death.demo_ms as f64 / 1000.0;
            DeathMark {
                victim: track_of[death.victim.number.index()].unwrap_or(0),
                at: death.at,
                from: death.from,
                text: format!("{seconds:.1} s: {killer} - {} ({})", death.victim.name, death.means),
            }
        })
        .collect();
    let draw_options =
        DrawOptions { side: usize::from(options.size), clusters: false, floors: false };
    let (mut drawing, place) = match draw_map(&paths.map, options, draw_options) {
        Ok(drawing) => (drawing, "on the map"),
        Err(what) => {
            eprintln!("fragd: {}; drawing without it (set --basepath)", output::printable(what));
            (Drawing::without_map(&paths.map, &tracks, draw_options), "without the map")
        }
    };
    if let Some(warning) = drawing.warning() {
        eprintln!("warning: map {}: {warning}", output::printable(&paths.map));
    }
    drawing.add_tracks(&tracks, &marks);
    let is_svg = options.output.extension() == Some(OsStr::new("svg"));
    let picture =
        if is_svg { mapdraw::svg(&drawing)?.into_bytes() } else { mapdraw::png(&drawing)? };
    output::write_file(&options.output, &picture)?;
    let (players, deaths) = (counted(tracks.len(), "player"), counted(marks.len(), "death"));
    Ok(format!("{players}, {deaths}, {} {place}", paths.map))
}

/// Reads the file of a map from game data: search path, mod folder and game folder.
pub(super) fn map_file(
    map: &str,
    basepath: &str,
    mod_folder: Option<&str>,
    game: &str,
) -> Result<Vec<u8>, String> {
    let data = game_data::open(basepath, mod_folder, game)?;
    let path = format!("maps/{}.bsp", map.to_ascii_lowercase());
    data.read(&path, MAX_FILE_LEN as u64).map_err(|error| format!("map {path}: {error}"))
}

fn draw_map(
    map: &str,
    options: &DemoDrawOptions,
    draw_options: DrawOptions,
) -> Result<Drawing, String> {
    let failed = |what: String| format!("map {map}: {what}");
    let mod_folder = options.data.mod_folder.as_deref();
    let file = map_file(map, &options.data.basepath, mod_folder, options.data.game.name())?;
    let bsp = Bsp::load(&file).map_err(|error| failed(error.to_string()))?;
    let entities =
        MapEntities::parse(&bsp.entity_text).map_err(|error| failed(error.to_string()))?;
    let triangles = mesh::triangles(&file, &bsp).map_err(|error| failed(error.to_string()))?;
    Ok(mapdraw::draw(map, &bsp, &triangles, &entities, draw_options))
}
