//! A game module for drills: its console calls any service with any words.
//!
//! `drills.asm` describes its console commands: service calls, jumps, loops, bots.

use std::fmt::Write as _;

use crate::{
    model::assets::MemoryAssets,
    qvm::{Assembly, assemble},
    testing::sample_maps::{TestMap, YARD},
};

/// Words of a service call.
pub const WORDS: usize = 15;

/// Map of the drills.
pub const MAP: &str = "yard";

/// Script in the game data, whose name is at the label `script`.
pub const SCRIPT: &str = "botfiles/drill.c";
const SCRIPT_TEXT: &[u8] = b"// a bot\nskill 4 { name \"one\" \"two\" }\n";

/// Assembles a game from its code behind the shared entries.
pub fn assemble_game(code: &str) -> Assembly {
    let source = [include_str!("game_entries.asm"), code].concat();
    assemble(&source).unwrap_or_else(|error| panic!("{error}"))
}

/// Assembled module.
pub fn assembly() -> Assembly {
    assemble_game(include_str!("drills.asm"))
}

/// Game data with the module, its symbols and a map.
pub fn assets(assembly: &Assembly) -> MemoryAssets {
    let mut image = Vec::new();
    assembly.image.write(&mut image);
    let mut assets = MemoryAssets::default();
    assets.insert("vm/qagame.qvm", image).unwrap();
    assets.insert("vm/qagame.map", assembly.symbol_map().into_bytes()).unwrap();
    assets.insert(SCRIPT, SCRIPT_TEXT.to_vec()).unwrap();
    assets.insert(&format!("maps/{MAP}.bsp"), TestMap::test_yard(YARD).file()).unwrap();
    assets
}

/// Address or instruction of a label.
pub fn label(assembly: &Assembly, name: &str) -> i32 {
    let label = assembly.labels.iter().find(|label| label.name == name);
    label.unwrap_or_else(|| panic!("no label {name}")).value as i32
}

/// Console line that calls a service `count` times.
pub fn call(count: u32, service: u32, words: &[i32]) -> String {
    let mut line = format!("xcall {count} {service}");
    for word in words.iter().chain(&[0; WORDS]).take(WORDS) {
        let _ = write!(line, " {word}");
    }
    line
}
