//! Tests of game data: archives, folders and search order.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;
use crate::model::installed_packs::InstalledPacks as _;

/// A temporary folder, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("fragd-assets-{}-{number}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An archive entry and its directory record. It is stored when both lengths are equal.
struct Entry<'a> {
    name: &'a [u8],
    bytes: &'a [u8],
    /// Claimed unpacked length.
    claimed: Option<u32>,
    method: u16,
    /// Checksum of the unpacked bytes, if they are packed.
    crc: Option<u32>,
    /// Wrong offset for the directory, if any.
    start: Option<u32>,
}

fn entry<'a>(name: &'a str, bytes: &'a [u8]) -> Entry<'a> {
    Entry { name: name.as_bytes(), bytes, claimed: None, method: 0, crc: None, start: None }
}

/// Returns the CRC-32 of zip archives.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// Builds an archive of the entries, with their claimed lengths and offsets.
fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    fn header(entry: &Entry<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for half in [20, 0, entry.method, 0, 0x21] {
            bytes.extend(half.to_le_bytes());
        }
        let len = entry.bytes.len() as u32;
        let crc = entry.crc.unwrap_or_else(|| crc32(entry.bytes));
        for word in [crc, len, entry.claimed.unwrap_or(len)] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend((entry.name.len() as u16).to_le_bytes());
        bytes.extend(0_u16.to_le_bytes());
        bytes
    }
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let start = entry.start.unwrap_or(file.len() as u32);
        file.extend(b"PK\x03\x04");
        file.extend(header(entry));
        file.extend(entry.name);
        file.extend(entry.bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(header(entry));
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(entry.name);
    }
    let start = file.len() as u32;
    let len = directory.len() as u32;
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend(len.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}

fn open(entries: &[Entry<'_>]) -> Result<Pack, PackError> {
    let scratch = Scratch::new();
    Pack::open(&scratch.write("test.pk3", &zip(entries)), "baseoa")
}

fn fault(entries: &[Entry<'_>]) -> String {
    let text = open(entries).unwrap_err().to_string();
    assert!(text.contains("test.pk3: "), "{text}");
    text
}

fn path(name: &str) -> GamePath {
    GamePath::new(name.as_bytes()).unwrap()
}

#[test]
fn archive_lists_files_and_checksums() {
    let pack = open(&[
        entry("maps/", b""),
        entry("Maps/One.bsp", b"one"),
        entry("empty.txt", b""),
        entry("two.txt", b"second"),
    ])
    .unwrap();
    assert_eq!(*pack.info().crcs, [crc32(b"one"), crc32(b"second")]);
    assert_eq!((pack.info().folder.as_str(), pack.info().name.as_str()), ("baseoa", "test"));
    assert_eq!(pack.read(&path("maps/one.bsp"), 3).unwrap().unwrap(), b"one");
    assert_eq!(pack.read(&path("empty.txt"), 0).unwrap().unwrap(), b"");
    // The scratch folder is gone, but the file is still open.
    for _ in 0..2 {
        pack.release();
        pack.release();
        assert_eq!(pack.read(&path("two.txt"), 9).unwrap().unwrap(), b"second");
        assert_eq!(pack.read(&path("maps/one.bsp"), 3).unwrap().unwrap(), b"one");
    }
    assert!(matches!(
        pack.read(&path("two.txt"), 5),
        Some(Err(AssetError::TooLong { len: 6, .. }))
    ));
    assert!(pack.read(&path("maps"), 10).is_none());
}

#[test]
fn invalid_archives_are_rejected_by_name() {
    let twice = Entry { start: Some(0), ..entry("b", b"0123456789") };
    assert!(fault(&[entry("a", b"0123456789"), twice]).contains("overlaps"));
    let long = "x".repeat(65_000);
    let other = format!("{long}b");
    let twice = Entry { start: Some(0), ..entry(&other, b"0123456789") };
    let shown = fault(&[entry(&long, b"0123456789"), twice]);
    assert!(shown.contains("xxx...\" overlaps") && shown.len() < 1000, "{} bytes", shown.len());
    let beyond = Entry { start: Some(1 << 30), ..entry("b", b"") };
    assert!(fault(&[entry("a", b""), beyond]).contains("test.pk3: "));
}

#[test]
fn plain_image_is_read_up_to_the_limit() {
    let black = vec![0; 8 << 20];
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packer, &black).unwrap();
    let packed = packer.finish().unwrap();
    assert!(black.len() / packed.len() > 900, "{} bytes", packed.len());
    let crc = Some(crc32(&black));
    let image = Entry { claimed: Some(8 << 20), method: 8, crc, ..entry("black.tga", &packed) };
    let lie = Entry { claimed: Some(u32::MAX - 1), method: 8, ..entry("lie.tga", &packed) };
    let pack = open(&[image, lie]).unwrap();
    assert!(pack.read(&path("black.tga"), 8 << 20).unwrap().unwrap() == black);
    let error = pack.read(&path("black.tga"), 4 << 20).unwrap().unwrap_err().to_string();
    assert!(error.contains("8388608") && error.contains("4194304"), "{error}");
    let error = pack.read(&path("lie.tga"), u64::MAX).unwrap().unwrap_err();
    assert!(matches!(error, AssetError::TooLong { max: MAX_ENTRY_LEN, .. }), "{error}");
}

#[test]
fn last_entry_of_a_name_counts() {
    let pack = open(&[
        entry("readme.txt", b"first"),
        entry("textures/A.tga", b"1"),
        entry("readme.txt", b"second"),
        entry("Textures\\a.TGA", b"2"),
        entry("textures/A.tga", b"3"),
        entry("folder/", b""),
        entry("folder/", b""),
    ])
    .unwrap();
    let read = |name| pack.read(&path(name), 100).unwrap().unwrap();
    assert_eq!((read("readme.txt"), read("textures/a.tga")), (b"second".to_vec(), b"3".to_vec()));
    let all: [&[u8]; 5] = [b"first", b"1", b"second", b"2", b"3"];
    assert_eq!(*pack.info().crcs, all.map(crc32), "clients count the checksums of all entries");
    let warnings = pack.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("3 duplicate names, first \"readme.txt\""), "{warnings:?}");
    let pack = open(&[entry("a/b", b"1"), entry("A\\B", b"2")]).unwrap();
    assert_eq!(pack.read(&path("a/b"), 9).unwrap().unwrap(), b"2");
    assert!(pack.warnings()[0].contains("1 duplicate name, first \"a/b\""));
}

#[test]
fn names_outside_the_folder_are_ignored_with_one_warning() {
    let pack = open(&[
        entry("../../etc/passwd", b"1"),
        entry("/etc/shadow", b"2"),
        entry("maps\\..\\..\\x", b"3"),
        Entry { name: b"nul\0.txt", ..entry("", b"4") },
        entry("c:/x", b"5"),
        entry("maps/ok.bsp", b"6"),
    ])
    .unwrap();
    assert_eq!(pack.files().map(GamePath::as_str).collect::<Vec<_>>(), ["maps/ok.bsp"]);
    let [warning] = &pack.warnings()[..] else { panic!("one warning") };
    assert!(
        warning.contains("test.pk3: 5 entries") && warning.contains("../../etc/passwd"),
        "{warning}"
    );
}

#[test]
fn wrong_length_of_a_file_is_an_error() {
    // A deflate stream that is longer, and one that is shorter, than the directory claims.
    let stored: &[u8] = b"\x01\x05\x00\xfa\xffhello";
    for claimed in [2, 9] {
        let lie = Entry { claimed: Some(claimed), method: 8, ..entry("a", stored) };
        let pack = open(&[lie]).unwrap();
        let error = pack.read(&path("a"), 1000).unwrap().unwrap_err();
        assert!(error.to_string().starts_with("a in "), "{error}");
    }
}

#[test]
fn truncated_and_corrupted_archives_do_not_panic() {
    let whole = zip(&[entry("maps/a.bsp", b"0123456789"), entry("b.txt", &[7; 300])]);
    let scratch = Scratch::new();
    let check = |bytes: &[u8]| {
        let file = scratch.write("test.pk3", bytes);
        if let Ok(pack) = Pack::open(&file, "baseoa") {
            let names: Vec<_> = pack.files().cloned().collect();
            for name in names {
                if let Ok(read) = pack.read(&name, 1000).unwrap() {
                    assert!(read.len() <= 1000);
                }
            }
        }
    };
    for len in 0..whole.len() {
        check(&whole[..len]);
    }
    for at in 0..whole.len() {
        for value in [0, 0xff] {
            let mut tampered = whole.clone();
            tampered[at] = value;
            check(&tampered);
        }
    }
}

#[test]
fn search_order_matches_the_engine() {
    let scratch = Scratch::new();
    let pack = |text: &str| zip(&[entry("who.txt", text.as_bytes()), entry(text, b"x")]);
    scratch.write("base/baseoa/pak0.pk3", &pack("pak0"));
    scratch.write("base/baseoa/Pak1.PK3", &pack("pak1"));
    scratch.write("base/baseoa/zbad.pk3", b"no archive");
    scratch.write("home/baseoa/pak0.pk3", &pack("home0"));
    scratch.write("base/mod/a.pk3", &pack("mod"));
    let open = |folders: &[&str]| {
        GameData::open(&[scratch.0.join("home"), scratch.0.join("base")], folders)
    };
    let who = |data: &GameData| String::from_utf8(data.read("WHO.txt", 99).unwrap()).unwrap();
    let data = open(&["", "baseoa"]);
    assert_eq!(who(&data), "home0");
    let packs = data.packs();
    let names: Vec<_> = packs.iter().map(|pack| pack.info.name.as_str()).collect();
    assert_eq!(names, ["pak0", "Pak1", "pak0"]);
    assert_eq!(data.warnings().len(), 1);
    assert!(data.warnings()[0].contains("zbad.pk3: invalid pk3"), "{:?}", data.warnings());
    assert_eq!(who(&open(&["mod", "baseoa"])), "mod");
    fs::remove_file(scratch.0.join("home/baseoa/pak0.pk3")).unwrap();
    assert_eq!(who(&open(&["baseoa"])), "pak1");
    scratch.write("base/baseoa/Who.TXT", b"loose");
    let data = open(&["baseoa"]);
    assert_eq!(who(&data), "loose");
    assert_eq!(data.find("who.txt").unwrap().pack, None);
    assert_eq!(data.find("pak1").unwrap().pack, Some(0));
    scratch.write("base/baseoa/Maps/New.bsp", b"");
    assert_eq!(open(&["baseoa"]).list("maps", "bsp"), [path("maps/new.bsp")]);
}

#[test]
fn pk3dir_folder_is_named_once() {
    let scratch = Scratch::new();
    scratch.write("baseoa/own.pk3dir/maps/x.bsp", b"x");
    scratch.write("baseoa/file.pk3dir", b"no folder");
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]);
    let warnings = data.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("own.pk3dir: folder not read (expected a .pk3 "), "{warnings:?}");
    data.rescan();
    assert!(data.warnings().is_empty() && data.find("maps/x.bsp").is_none());
}

#[cfg(unix)]
#[test]
fn links_to_one_archive_count_once() {
    let scratch = Scratch::new();
    let real = scratch.write("share/baseoa/pak0.pk3", &zip(&[entry("a", b"a")]));
    fs::create_dir_all(scratch.0.join("lib/baseoa")).unwrap();
    std::os::unix::fs::symlink(&real, scratch.0.join("lib/baseoa/pak0.pk3")).unwrap();
    let data = GameData::open(&[scratch.0.join("lib"), scratch.0.join("share")], &["baseoa"]);
    assert_eq!(data.packs().len(), 1);
}

#[test]
fn folder_is_not_read_as_file() {
    let scratch = Scratch::new();
    scratch.write("baseoa/maps/a.bsp/x", b"");
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]);
    assert!(matches!(data.read("maps/a.bsp", 9), Err(AssetError::Missing { .. })));
    assert!(Path::new(&data.find("maps/a.bsp/x").unwrap().place).ends_with("baseoa"));
}

#[test]
fn installed_archives_are_those_of_mod_then_games() {
    let scratch = Scratch::new();
    let vms = |text: &'static [u8]| zip(&[entry("vm/cgame.qvm", text), entry("VM/ui.qvm", text)]);
    scratch.write("base/baseoa/pak0.pk3", &vms(b"base"));
    scratch.write("base/baseoa/zmap.pk3", &zip(&[entry("maps/a.bsp", b"m")]));
    scratch.write("base/baseoa/zbad.pk3", b"no archive");
    scratch.write("base/osp/osp.pk3", &vms(b"mod"));
    scratch.write("outside/out.pk3", &vms(b"out"));
    let base = scratch.0.join("base");
    let archives =
        InstalledArchives::new(base.to_str().unwrap(), &["baseoa", "baseq3"], "--basepath");
    let names = |mod_folder: &str| -> Vec<String> {
        let tables = archives.tables(mod_folder);
        let packs = tables.iter().flat_map(|table| table.packs());
        packs.filter(|pack| pack.holds == [true; 2]).map(|pack| pack.info.file_name()).collect()
    };
    assert_eq!(names(""), ["baseoa/pak0.pk3"]);
    assert_eq!(names("osp"), ["osp/osp.pk3", "baseoa/pak0.pk3"]);
    let long = "x".repeat(5000);
    for hostile in ["../outside", "..", "osp/../../outside", "/etc", "C:", "o\0sp", "baseoa", &long]
    {
        assert_eq!(names(hostile), ["baseoa/pak0.pk3"], "{hostile}");
    }
    let searched = archives.searched();
    let folder = base.join("baseoa");
    assert_eq!(searched, format!("searched {}; --basepath names other folders", folder.display()));

    scratch.write("base/baseoa/pak1.pk3", &vms(b"newer"));
    assert_eq!(names(""), ["baseoa/pak0.pk3"], "read once");
    archives.refresh();
    assert_eq!(names(""), ["baseoa/pak1.pk3", "baseoa/pak0.pk3"]);
}

#[test]
fn missing_game_folders_are_named() {
    let scratch = Scratch::new();
    let place = scratch.0.display().to_string();
    let archives = InstalledArchives::new(&place, &["baseoa", "baseq3"], "--basepath");
    let tables = archives.tables("../x");
    assert!(tables.iter().flat_map(|table| table.packs()).all(|pack| pack.holds == [false; 2]));
    assert_eq!(
        archives.searched(),
        format!("no folder baseoa or baseq3 in {place}; --basepath names other folders")
    );
}

#[test]
fn rescan_finds_new_and_replaced_archives() {
    let scratch = Scratch::new();
    let pack = |map: &str, bytes: &[u8]| zip(&[entry(map, bytes)]);
    scratch.write("baseoa/a.pk3", &pack("maps/a.bsp", b"a"));
    scratch.write("baseoa/b.pk3", &pack("maps/b.bsp", b"b"));
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]).with_builtin("baseoa");
    let numbers = || -> Vec<(usize, String)> {
        let packs = data.packs();
        packs.iter().map(|pack| (pack.number, pack.info.name.clone())).collect()
    };
    let start = numbers();
    assert_eq!(start[..2], [(0, "b".to_owned()), (1, "a".to_owned())]);
    assert!(!data.rescan(), "nothing changed");
    assert_eq!(numbers(), start);
    data.offer(&[0, 1]);

    let old = data.read_pack(1, 0..10).unwrap();
    let fresh = scratch.write("baseoa/new", &pack("maps/a.bsp", b"another"));
    fs::rename(fresh, scratch.0.join("baseoa/a.pk3")).unwrap();
    fs::remove_file(scratch.0.join("baseoa/b.pk3")).unwrap();
    scratch.write("baseoa/c.pk3", &pack("maps/c.bsp", b"c"));
    scratch.write("mod/x.pk3", b"not of this game");
    assert_eq!(data.read("maps/a.bsp", 9).unwrap(), b"a", "the level keeps its files");
    assert!(data.rescan());
    let added = start.len();
    assert_eq!(numbers()[..2], [(added, "c".to_owned()), (added + 1, "a".to_owned())]);
    assert_eq!(numbers()[2..], start[2..], "archives in the program keep their numbers");
    assert_eq!(data.read("maps/a.bsp", 9).unwrap(), b"another");
    assert!(data.find("maps/b.bsp").is_none());
    // Clients still download the archives that vanished.
    assert_eq!(data.read_pack(1, 0..10).unwrap(), old);
    assert!(data.offered().find("baseoa/a.pk3").unwrap().source.read(0..10).is_ok());
    assert!(data.offered().find("baseoa/b.pk3").is_some());
    assert!(!data.rescan());
}

#[test]
fn archive_that_is_still_copied_is_found_later() {
    let scratch = Scratch::new();
    scratch.write("baseoa/a.pk3", &zip(&[entry("maps/a.bsp", b"a")]));
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]);
    let whole = zip(&[entry("maps/b.bsp", b"b")]);
    scratch.write("baseoa/b.pk3", &whole[..whole.len() / 2]);
    assert!(!data.rescan(), "cut off");
    assert_eq!(data.warnings().len(), 1);
    assert!(!data.rescan());
    assert!(data.warnings().is_empty(), "reported once");
    scratch.write("baseoa/b.pk3", &whole);
    assert!(data.rescan());
    assert!(data.find("maps/b.bsp").is_some());
}

#[test]
fn kept_archives_are_bounded() {
    let scratch = Scratch::new();
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]);
    for round in 0..80 {
        scratch
            .write("baseoa/a.pk3", &zip(&[entry("maps/a.bsp", format!("{round:099}").as_bytes())]));
        let new = scratch.write("baseoa/b", &zip(&[entry("a", format!("{round}").as_bytes())]));
        fs::rename(new, scratch.0.join("baseoa/b.pk3")).unwrap();
        data.rescan();
        let number = data.packs()[0].number;
        data.offer(&[number]);
    }
    assert!(data.read_pack(0, 0..1).is_err(), "the oldest was forgotten");
    let newest = data.packs()[0].number;
    assert!(data.read_pack(newest, 0..1).is_ok() && data.read_pack(newest - 2, 0..1).is_ok());
}

#[test]
fn scripts_of_home_folders_are_the_operators_own() {
    let scratch = Scratch::new();
    scratch.write("base/mymod/autoexec.cfg", b"of the mod");
    let paths = [scratch.0.join("home"), scratch.0.join("base")];
    let open = || GameData::open(&paths, &["mymod", "baseoa"]).with_homes(vec![paths[0].clone()]);
    let read = |place| open().read_script("autoexec.cfg", 99, place);
    assert_eq!(read(ScriptPlace::ModFolder).unwrap(), b"of the mod");
    assert!(matches!(read(ScriptPlace::OwnModFolder), Err(AssetError::Missing { .. })));
    scratch.write("home/mymod/autoexec.cfg", b"of the operator");
    for place in [ScriptPlace::ModFolder, ScriptPlace::OwnModFolder] {
        assert_eq!(read(place).unwrap(), b"of the operator");
    }
}

#[test]
fn only_the_command_line_names_scripts_by_path() {
    let scratch = Scratch::new();
    scratch.write("baseoa/server.cfg", b"of the game");
    let outside = scratch.write("etc/server.cfg", b"of the operator");
    let data = GameData::open(std::slice::from_ref(&scratch.0), &["baseoa"]);
    let read = |name: &str, place| data.read_script(name, 99, place);
    let path = outside.to_str().unwrap();
    assert_eq!(read(path, ScriptPlace::CommandLine).unwrap(), b"of the operator");
    assert_eq!(read("server.cfg", ScriptPlace::CommandLine).unwrap(), b"of the game");
    for place in [ScriptPlace::GameData, ScriptPlace::ModFolder] {
        assert!(matches!(read(path, place), Err(AssetError::Name { .. })));
        assert!(read("../etc/server.cfg", place).is_err());
    }
    // A name without a folder is also one of the working directory, which is that of the package.
    assert!(read("Cargo.toml", ScriptPlace::CommandLine).is_err(), "too long");
    assert!(data.read_script("clippy.toml", 1 << 20, ScriptPlace::CommandLine).is_ok());
    assert!(data.read_script("./clippy.toml", 1 << 20, ScriptPlace::CommandLine).is_ok());
    assert!(data.read_script("clippy.toml", 1 << 20, ScriptPlace::GameData).is_err());
    let error = read("/nonexistent/x.cfg", ScriptPlace::CommandLine).unwrap_err().to_string();
    assert_eq!(error, "/nonexistent/x.cfg: file not found");
    let misspelled = path.replace("server.cfg", "servr.cfg");
    let error = read(&misspelled, ScriptPlace::CommandLine).unwrap_err().to_string();
    assert_eq!(error, format!("{misspelled}: file not found; did you mean {path}?"));
    let folder = read(scratch.0.to_str().unwrap(), ScriptPlace::CommandLine).unwrap_err();
    assert!(folder.to_string().ends_with("is not a regular file"), "{folder}");
    assert_eq!(data.list("", "cfg"), [self::path("server.cfg")]);
}
