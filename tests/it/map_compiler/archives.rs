//! Built archives of the project's maps against their sources, and their sizes.
//!
//! Light takes a minute per map, so it is left out here; `tests/own_maps.sh` compares whole archives.

use std::{fs, io::Read as _};

use super::{MAPS, own_map};

/// Largest archive. A download at the rate of 1.32's server takes 12 s.
const MAX_ARCHIVE: usize = 500 * 1000;
/// Lumps without light: all but vertices, surfaces, light maps and light grid.
const UNLIT_LUMPS: [usize; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16];

fn archive(name: &str) -> Vec<u8> {
    let path = format!("{}/maps/{name}.pk3", env!("CARGO_MANIFEST_DIR"));
    fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn packed_map(name: &str) -> Vec<u8> {
    let file = std::io::Cursor::new(archive(name));
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("maps/{name}.bsp")).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn lump(file: &[u8], number: usize) -> &[u8] {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let start = word(8 + 8 * number);
    &file[start..start + word(12 + 8 * number)]
}

#[test]
fn sources_build_to_committed_archives() {
    for name in MAPS {
        let (built, packed) = (own_map(name), packed_map(name));
        for number in UNLIT_LUMPS {
            let same = lump(&built, number) == lump(&packed, number);
            assert!(same, "{name}: lump {number} differs; run `fragd maps build maps/{name}.map`");
        }
    }
}

#[test]
fn archives_are_short_enough_to_download() {
    for name in MAPS {
        let len = archive(name).len();
        assert!(len <= MAX_ARCHIVE, "{name}: {len} bytes");
    }
}
