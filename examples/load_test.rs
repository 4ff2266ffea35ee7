//! Load test: eight simulated clients for a few seconds, and the summary of their measurements.
//!
//! ```text
//! cargo run --example load_test -- 127.0.0.1:27960 10
//! ```

use std::{env, error::Error, sync::Arc};

use fragd::{
    bots::{Bots, BotsOptions},
    client::ProtocolChoice,
    io::{self, Clock, InstalledArchives, Options, Sockets},
    model::Millis,
    node::Hosted as _,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let server: std::net::SocketAddr =
        arguments.next().ok_or("usage: load_test ADDRESS:PORT [SECONDS]")?.parse()?;
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let clock = Clock::start();
    let mut options = BotsOptions::new(server, ProtocolChoice::Auto, 8, Millis::seconds(seconds));
    // Pure servers require the pk3 files of their game.
    options.packs =
        Some(Arc::new(InstalledArchives::new("", &["baseoa", "baseq3"], "FRAGD_BASEPATH")));
    let mut bots = Bots::new(options, clock.now());
    let sockets = Sockets::ephemeral(bots.local_ports(), server.ip())?;
    io::run(&mut bots, sockets, &clock, Options::default())?;
    print!("{}", bots.summary());
    Ok(())
}
