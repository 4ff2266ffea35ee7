//! Archives that lie.
#![no_main]

use std::{path::PathBuf, sync::LazyLock};

use fragd::io::assets::Pack;
use libfuzzer_sys::fuzz_target;

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from("/dev/shm");
    let folder = if folder.is_dir() { folder } else { std::env::temp_dir() };
    folder.join(format!("fragd-fuzz-{}.pk3", std::process::id()))
});

fuzz_target!(|data: &[u8]| {
    std::fs::write(&*PLACE, data).expect("room for an archive");
    if let Ok(pack) = Pack::open(&PLACE, "baseoa") {
        let paths: Vec<_> = pack.files().cloned().collect();
        for path in paths.iter().take(16) {
            if let Some(Ok(bytes)) = pack.read(path, 1 << 20) {
                assert!(bytes.len() <= 1 << 20);
            }
        }
        let _ = pack.warnings();
    }
});
