//! Embedded server: free flight on a free loopback port, for the given seconds.
//!
//! ```text
//! cargo run --example embed_server -- 60
//! ```

use std::{env, error::Error, net::Ipv4Addr};

use fragd::{
    io::{self, Clock, Listen, Options, Sockets},
    model::Millis,
    node::LocalPort,
    server::Server,
    settings::{GameFolder, Settings},
};

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(60), |text| text.parse())?;
    let mut settings = Settings::new(GameFolder::BaseOa);
    settings.set("sv_hostname", "embedded")?;
    let mut server = Server::builder(settings, io::random_bytes()?).build();

    let listen = Listen { ip4: Some(Ipv4Addr::LOCALHOST), ip6: None, port: 0, ..Listen::default() };
    let sockets = Sockets::listen(&[listen])?;
    for address in sockets.addresses(LocalPort(0)) {
        println!("{address}");
    }
    let clock = Clock::start();
    let options =
        Options { deadline: clock.now() + Millis::seconds(seconds), ..Options::default() };
    io::run(&mut server, sockets, &clock, options)?;
    Ok(())
}
