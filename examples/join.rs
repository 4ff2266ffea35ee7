//! Client: joins a server with a plain UDP socket, enters the game and leaves.
//!
//! ```text
//! cargo run --example join -- 127.0.0.1:27960
//! ```

use std::{env, error::Error, net::UdpSocket, sync::Arc, time::Duration};

use fragd::{
    client::{Client, ClientEvent, ClientOptions, DisconnectReason},
    io::{Clock, InstalledArchives},
    model::{Qport, UserCmd},
    wire::{info::InfoString, protocol::Protocol},
};

fn main() -> Result<(), Box<dyn Error>> {
    let server = env::args().nth(1).ok_or("usage: join ADDRESS:PORT")?.parse()?;
    let mut userinfo = InfoString::normal();
    userinfo.set("name", "Example")?;
    let clock = Clock::start();
    let mut options = ClientOptions::new(server, Protocol::IOQ3_71, userinfo, Qport(4711), 1);
    // Pure servers require the pk3 files of their game.
    options.packs =
        Some(Arc::new(InstalledArchives::new("", &["baseoa", "baseq3"], "FRAGD_BASEPATH")));
    let mut client = Client::new(options, clock.now())?;

    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_read_timeout(Some(Duration::from_millis(10)))?;
    let (mut packet, mut buffer) = (Vec::new(), [0; 2048]);
    loop {
        client.frame(clock.now());
        while let Some(to) = client.poll_transmit(&mut packet) {
            socket.send_to(&packet, to)?;
        }
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Entered => {
                    let number = client.client_num().ok_or("no client number")?;
                    println!("entered the game as client {number}");
                    client.disconnect(clock.now());
                }
                ClientEvent::Refused(reason) => return Err(reason.into()),
                ClientEvent::Disconnected(DisconnectReason::Left) => return Ok(()),
                ClientEvent::Disconnected(reason) => return Err(reason.to_string().into()),
                _ => {}
            }
        }
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            client.handle_datagram(clock.now(), from, &buffer[..len]);
        }
        let server_time = client.level_time(clock.now()).0;
        client.push_usercmd(UserCmd { server_time, ..UserCmd::default() });
    }
}
