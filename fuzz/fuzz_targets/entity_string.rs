//! Entity strings: parsed, and spawned as a level that is played.
#![no_main]

use fragd::wire::Protocol;
use fragd::{node::Hosted as _, node::OutputKind, settings::GameFolder, world::MapEntities};
use fragd_fuzz::{RawClient, server, yard};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    if let Ok(entities) = MapEntities::parse(data) {
        for entity in entities.all() {
            let _ = (entity.classname(), entity.origin(), entity.angles());
            for (key, _) in entity.pairs() {
                let _ = (entity.float(key), entity.int(key), entity.vec3(key));
                let _ = entity.text_field(key);
            }
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let game = if choice & 1 == 0 { GameFolder::BaseOa } else { GameFolder::BaseQ3 };
    let mut server = server(game, Some(yard(text)));
    let mut raw = RawClient::new();
    raw.join(&mut server, Protocol::Q3_68).expect("a challenge");
    for _ in 0..40 {
        raw.wait(&mut server, 50);
        while server.poll_output(OutputKind::Console).is_some() {}
    }
});
