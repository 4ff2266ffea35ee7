//! Query: status and players of a server, as JSON.
//!
//! ```text
//! cargo run --example query -- 127.0.0.1:27960
//! ```

use std::{env, error::Error};

use fragd::{
    client::{Query, QueryOptions},
    io::{self, Clock, Options, Sockets},
};

fn main() -> Result<(), Box<dyn Error>> {
    let server: std::net::SocketAddr =
        env::args().nth(1).ok_or("usage: query ADDRESS:PORT")?.parse()?;
    let clock = Clock::start();
    let seed = u64::from_le_bytes(io::random_bytes()?);
    let mut query = Query::new(QueryOptions::new(server, seed), clock.now());
    io::run(&mut query, Sockets::ephemeral(1, server.ip())?, &clock, Options::default())?;
    println!("{}", query.result().ok_or("no answer")?.to_json());
    Ok(())
}
