//! Config files and archived settings.
#![no_main]

use fragd::settings::{ArchivedSettings, GameFolder, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut settings = Settings::new(GameFolder::BaseOa);
    if let Err(faults) = settings.read_config("fuzz.toml", text) {
        let _ = faults.to_string();
    }
    let _ = settings.start();
    let shown: usize =
        settings.serverinfo().map(|(name, value)| name.len() + value.len() + 2).sum();
    assert!(shown <= 1024, "{shown} bytes");
    if let Ok(archive) = ArchivedSettings::parse(text) {
        let written = archive.to_text();
        let read = ArchivedSettings::parse(&written).expect("an archive that was written");
        assert_eq!(read.to_text(), written);
        archive.apply(&mut settings, "fuzz.cfg", |_| false);
    }
});
