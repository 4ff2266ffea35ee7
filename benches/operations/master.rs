//! A master with 10,000 listed servers: heartbeats, responses, list requests.

use std::{cell::RefCell, hint::black_box, net::SocketAddr, rc::Rc};

use fragd::{
    master::{Master, MasterOptions},
    model::Millis,
    node::{LocalPort, Node as _, Route},
};

use super::Operation;

/// Listed servers.
const SERVERS: u32 = 10_000;
/// Servers of the game that clients ask for.
const OF_GAME: u32 = 100;

pub(crate) fn operations() -> Vec<Operation> {
    let master = Rc::new(RefCell::new(full_master()));
    let operation = |name: &str, size: &str, requests: Vec<(SocketAddr, Vec<u8>)>| {
        let master = Rc::clone(&master);
        let mut packet = Vec::new();
        Operation::over(name, size, requests, move |(from, bytes)| {
            let mut master = master.borrow_mut();
            master.handle_datagram(NOW, route(*from), bytes);
            while master.poll_transmit(&mut packet).is_some() {
                black_box(&packet);
            }
        })
    };
    let heartbeat = || b"\xff\xff\xff\xffheartbeat QuakeArena-1\n".to_vec();
    let forged =
        |number: u32| SocketAddr::from(((0x0b00_0000 + number * 7919).to_be_bytes(), 27_960));
    let client = |number: u32| SocketAddr::from(((0xc633_6400 + number).to_be_bytes(), 27_960));
    let ask = |text: &str| {
        let packet = [b"\xff\xff\xff\xff", text.as_bytes()].concat();
        (0..200).map(|number| (client(number), packet.clone())).collect::<Vec<_>>()
    };
    vec![
        operation(
            "master, heartbeat of a listed server",
            "27 B",
            (0..SERVERS).map(|number| (server(number), heartbeat())).collect(),
        ),
        operation(
            "master, forged heartbeat",
            "27 B",
            (0..SERVERS).map(|number| (forged(number), heartbeat())).collect(),
        ),
        operation("master, getservers of 100 servers", "700 B", ask("getservers 68 empty full")),
        operation(
            "master, getservers of 9,900 servers",
            "69 KB",
            ask("getservers Many 5 empty full"),
        ),
    ]
}

const NOW: Millis = Millis(50_000);

fn route(remote: SocketAddr) -> Route {
    Route::new(LocalPort(0), remote)
}

fn server(number: u32) -> SocketAddr {
    SocketAddr::from(((0x0a00_0000 + number).to_be_bytes(), 27_960))
}

/// Master with all servers listed, through its own packets.
fn full_master() -> Master {
    let options = MasterOptions {
        max_servers: SERVERS as usize,
        flood_protection: 0,
        answer_bytes_per_second: 0,
        max_servers_per_address: 0,
        ..MasterOptions::default()
    };
    let mut master = Master::new(options, [1; 32], NOW).expect("sound options");
    let mut packet = Vec::new();
    for number in 0..SERVERS {
        let (word, game) = match number < OF_GAME {
            true => ("QuakeArena-1", "\\protocol\\68"),
            false => ("DarkPlaces", "\\protocol\\5\\gamename\\Many"),
        };
        let route = route(server(number));
        let beat = format!("heartbeat {word}\n");
        master.handle_datagram(NOW, route, &[b"\xff\xff\xff\xff", beat.as_bytes()].concat());
        master.poll_transmit(&mut packet).expect("a challenge");
        let challenge = String::from_utf8_lossy(&packet[12..]).into_owned();
        let info = format!(
            "infoResponse\n\\challenge\\{challenge}{game}\\clients\\3\\sv_maxclients\\16\\hostname\\Server \
             {number}\\mapname\\q3dm17\\gametype\\0"
        );
        master.handle_datagram(NOW, route, &[b"\xff\xff\xff\xff", info.as_bytes()].concat());
    }
    assert_eq!(master.servers(), SERVERS as usize);
    master
}
