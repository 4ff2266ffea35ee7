//! QuakeWorld maps of installed game data, for load tests.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Component, Path, PathBuf},
};

use fragd::{
    bots::FindQuakeWorldMap,
    bsp29::{
        MAX_FILE_LEN,
        compiler::{FRAGQW1, fragqw1},
        pack::{HEADER_LEN, PackDirectory, PackHeader},
    },
    io,
};

/// Folders of the game data, the first one that has a file wins.
const FOLDERS: [&str; 3] = ["qw", "id1", ""];
/// Highest number of an archive.
const MAX_PACK: u32 = 9;

/// Returns the source of maps in these base paths, separated as in PATH.
pub(super) fn find_quakeworld_map(base_paths: &str) -> FindQuakeWorldMap {
    let folders: Vec<PathBuf> = std::env::split_paths(base_paths)
        .filter(|path| !path.as_os_str().is_empty())
        .flat_map(|path| FOLDERS.map(|folder| path.join(folder)))
        .collect();
    Box::new(move |name| {
        // A server names the file.
        let is_plain =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain {
            return None;
        }
        let installed = folders.iter().find_map(|folder| {
            let file = io::read_file(&folder.join(name), MAX_FILE_LEN as u64).ok();
            file.or_else(|| {
                let packs = (0..=MAX_PACK).rev();
                packs
                    .map(|number| folder.join(format!("pak{number}.pak")))
                    .find_map(|pack| read_from_pack(&pack, name))
            })
        });
        // A server of fragd without game data has this map.
        let is_built_in = name.strip_prefix("maps/").and_then(|name| name.strip_suffix(".bsp"));
        installed.or_else(|| (is_built_in == Some(FRAGQW1)).then(fragqw1))
    })
}

/// Reads a file of an archive; `None` if either is missing or invalid.
fn read_from_pack(pack: &Path, name: &str) -> Option<Vec<u8>> {
    let mut file = File::open(pack).ok()?;
    let len = file.metadata().ok()?.len();
    let mut read = |from: u64, len: u64| {
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        file.seek(SeekFrom::Start(from)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    };
    let header = PackHeader::read(&read(0, HEADER_LEN as u64)?, len).ok()?;
    let place = header.directory.clone();
    let directory =
        PackDirectory::read(&header, &read(place.start, place.end - place.start)?).ok()?;
    let range = directory.find(name)?.range.clone();
    let len = range.end - range.start;
    if len > MAX_FILE_LEN as u64 {
        return None;
    }
    read(range.start, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_found_in_archives_and_not_outside() {
        let folder = std::env::temp_dir().join(format!("fragd-qw-maps-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("id1")).expect("a folder");
        let pack = fragd::bsp29::pack::write_pack(&[("maps/a.bsp", b"content")]);
        std::fs::write(folder.join("id1/pak0.pak"), pack).expect("written");
        std::fs::write(folder.join("secret.bsp"), b"secret").expect("written");
        let mut find =
            find_quakeworld_map(folder.join("id1").parent().and_then(Path::to_str).expect("text"));
        assert_eq!(find("maps/a.bsp").as_deref(), Some(&b"content"[..]));
        assert_eq!(find("maps/b.bsp"), None);
        assert_eq!(find("../secret.bsp"), None);
        assert!(find("maps/fragqw1.bsp").is_some(), "built in");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
