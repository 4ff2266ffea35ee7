//! Files of decoys, and datagrams to decoys of every game.
#![no_main]

use fragd::{
    decoy::{DecoyFile, Decoys, generate},
    discovery::GAMES,
    model::Millis,
    node::{LocalPort, Node as _, Route},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(file) = DecoyFile::parse(text)
    {
        let _ = Decoys::new(file.servers, Vec::new(), Millis(0));
    }
    let games: Vec<_> = GAMES.iter().collect();
    let mut decoys = Decoys::new(generate(games.len(), &games, 1), Vec::new(), Millis(0));
    for local in (0..).take(games.len()).map(LocalPort) {
        let route = Route::new(local, ([10, 0, 0, 1], 5000).into());
        decoys.handle_datagram(Millis(1), route, data);
    }
    let mut packet = Vec::new();
    while decoys.poll_transmit(&mut packet).is_some() {
        assert!(packet.len() <= 1500);
    }
});
