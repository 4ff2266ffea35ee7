//! PACK archives: directories of their own, and files by every name in them.
#![no_main]

use fragd::bsp29::pack::Pack;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(pack) = Pack::read(data) else { return };
    for entry in pack.directory().entries() {
        let bytes = pack.get(&entry.name).expect("a name of the directory");
        assert!(bytes.len() <= data.len());
        assert!(pack.get(&entry.name.to_ascii_uppercase()).is_some());
        assert!(entry.name.split('/').all(|part| !matches!(part, "" | "." | "..")));
    }
});
