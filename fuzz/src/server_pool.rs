//! Servers that are reused for many inputs, because creating one costs more than most inputs.
//!
//! Each input has a new client at a new address. The pause before it lets budgets refill and silent
//! clients time out. Settings and levels stay as earlier inputs left them, so a server is used for
//! [`USES`] inputs at most. A failure may depend on earlier inputs: they are then written to files
//! that the target runs in order before the failing one.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    net::{IpAddr, Ipv4Addr},
    panic,
    path::PathBuf,
    sync::Once,
};

use fragd::{
    model::Millis,
    node::{Hosted as _, Node as _, OutputKind},
    server::Server,
    settings::GameFolder,
};

use crate::{RawClient, YARD, server};

/// Inputs that a server serves.
const USES: usize = 64;
/// Time between two inputs.
const PAUSE: Millis = Millis::seconds(600);

struct PooledServer {
    server: Server,
    now: Millis,
    uses: usize,
}

thread_local! {
    /// By game, and whether there is a map.
    static SERVERS: RefCell<HashMap<(bool, bool), PooledServer>> = RefCell::default();
    /// Inputs since the oldest server was made.
    static BEFORE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Runs an input on a server of `game`, on the test map or in open space.
pub fn with_server(
    game: GameFolder,
    with_map: bool,
    input: &[u8],
    run: impl FnOnce(&mut Server, &mut RawClient),
) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            write_down();
            before(info);
        }));
    });
    SERVERS.with_borrow_mut(|servers| {
        // All servers are replaced together, so that few inputs precede a failure.
        if BEFORE.with_borrow(|before| before.len() >= USES) {
            servers.clear();
            BEFORE.with_borrow_mut(Vec::clear);
        }
        let key = (game == GameFolder::BaseOa, with_map);
        let pooled = servers.entry(key).or_insert_with(|| PooledServer {
            server: server(game, with_map.then(|| YARD.clone())),
            now: Millis(10_000),
            uses: 0,
        });
        pooled.uses += 1;
        let mut raw = RawClient::new();
        raw.now = pooled.now;
        let [_, _, high, low] = (pooled.uses as u32).to_be_bytes();
        raw.address.set_ip(IpAddr::V4(Ipv4Addr::new(10, 1, high, low)));
        run(&mut pooled.server, &mut raw);
        // The frames that are due then, and nothing left of this input's client.
        pooled.now = raw.now + PAUSE;
        pooled.server.frame(pooled.now);
        let mut packet = Vec::new();
        while pooled.server.poll_transmit(&mut packet).is_some() {}
        for kind in OutputKind::ALL {
            while pooled.server.poll_output(kind).is_some() {}
        }
        if pooled.server.is_finished() {
            servers.remove(&key);
        }
        BEFORE.with_borrow_mut(|before| before.push(input.to_vec()));
    });
}

/// Writes down the inputs that the servers have had.
fn write_down() {
    BEFORE.with_borrow(|before| {
        let artifacts = PathBuf::from("fuzz/artifacts");
        let folder = if artifacts.is_dir() { artifacts } else { std::env::temp_dir() };
        let folder = folder.join(format!("before-{}", std::process::id()));
        if before.is_empty() || fs::create_dir_all(&folder).is_err() {
            return;
        }
        for (number, input) in before.iter().enumerate() {
            let _ = fs::write(folder.join(format!("{number:03}")), input);
        }
        eprintln!("the {} inputs before this one are in {}", before.len(), folder.display());
    });
}
