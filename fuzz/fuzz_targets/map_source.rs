//! Map sources: read, and compiled without light.
#![no_main]

use fragd::{
    mapbuild::{self, Effort, Source},
    world::Bsp,
};
use libfuzzer_sys::fuzz_target;

/// Longest source that is compiled. Work grows faster than the number of brushes.
const MAX_COMPILED: usize = 16 * 1024;

fuzz_target!(|data: &[u8]| {
    if mapbuild::map_file::read("fuzz.map", data).is_err() || data.len() > MAX_COMPILED {
        return;
    }
    let source = Source {
        name: "fuzz",
        file: "fuzz.map",
        text: data,
        scripts: &[],
        files: &|_| None,
        game: None,
        effort: Effort::Dark,
        threads: 1,
    };
    match mapbuild::build(&source, &mut |_, _, _| {}) {
        Ok(built) => assert!(Bsp::load(&built.bsp).is_ok_and(|map| map.warnings.is_empty())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
