//! Replies leave from the address that was asked: server, proxy and relay with a second address.
//!
//! A player ignores datagrams of another address than that of its server, so one that joins proves it for the handshake,
//! the gamestate and the snapshots. For the master, see `browsing`.

use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::Millis,
    node::{LocalPort, Node as _, Route},
    proxy::{Proxy, ProxyOptions},
    relay::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions},
    sim::{Actor, Network, Player},
};

use crate::sim_fixture::{SERVER, server};

/// Node that players join, and the number of nodes before the players.
struct Joined {
    node: usize,
    actors: Vec<Actor>,
}

fn first_actors() -> Vec<Actor> {
    let set =
        [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0"), ("sv_maxclientsPerSubnet", "0")];
    vec![Actor::Server(Box::new(server(&set)))]
}

fn served() -> Joined {
    Joined { node: SERVER, actors: first_actors() }
}

fn proxied() -> Joined {
    let mut actors = first_actors();
    let options = ProxyOptions::new(Network::address(SERVER, LocalPort(0)));
    actors.push(Actor::Proxy(Box::new(Proxy::new(options, 77, Millis(1000)))));
    Joined { node: 1, actors }
}

fn relayed() -> Joined {
    let mut actors = first_actors();
    let source = ServerSource::new(ServerSourceOptions {
        server: Network::address(SERVER, LocalPort(0)),
        protocol: "auto".parse().unwrap(),
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5,
        packs: None,
    });
    let options = BroadcastOptions::default();
    actors.push(Actor::Broadcast(Box::new(Broadcast::new(Box::new(source), options, [3; 32]))));
    Joined { node: 1, actors }
}

#[test]
fn players_of_both_addresses_play_under_faults() {
    let faults = Impairment { loss: 50, reordering: 30, ..Impairment::latency(Millis(20)) };
    for (what, Joined { node, mut actors }) in
        [("server", served()), ("proxy", proxied()), ("relay", relayed())]
    {
        let mut network = Network::new(3, faults, Millis(1000));
        let before = actors.len();
        network.run_until(&mut actors, Millis(4000), |_, _| {});
        for number in 0..6 {
            let place = if number % 2 == 0 { Network::address } else { Network::second_address };
            let (server, wire) = (place(node, LocalPort(0)), Protocol::CURRENT[number / 2]);
            let player = Player::new(server, wire, "kim", 50 + number as u64, network.now());
            actors.push(Actor::Player(Box::new(player)));
        }
        network.run_until(&mut actors, Millis(12_000), |_, _| {});
        for (number, actor) in actors.iter_mut().skip(before).enumerate() {
            let player = actor.player().unwrap();
            assert!(
                player.is_active(),
                "{what}, player {number}: {:?}",
                player.disconnect_reason()
            );
            let snapshots = player.client().statistics().snapshots;
            assert!(snapshots > 80, "{what}, player {number}: {snapshots} snapshots");
        }
    }
}

#[test]
fn queries_are_answered_from_asked_address() {
    let local_ip = Some([198, 51, 100, 7].into());
    let route = Route { local: LocalPort(0), local_ip, remote: ([192, 0, 2, 7], 5000).into() };
    let mut packet = Vec::new();
    for (what, Joined { node, mut actors }) in
        [("server", served()), ("proxy", proxied()), ("relay", relayed())]
    {
        let mut network = Network::new(3, Impairment::latency(Millis(5)), Millis(1000));
        network.run_until(&mut actors, Millis(4000), |_, _| {});
        for command in ["getinfo x", "getstatus x", "rcon secret status"] {
            let asked = [b"\xff\xff\xff\xff", command.as_bytes()].concat();
            actors[node].handle_datagram(network.now(), route, &asked);
            let mut sent = actors[node].poll_transmit(&mut packet);
            // The proxy asks the server first, with a challenge of its own.
            if let Some(question) = sent.filter(|sent| sent.local != route.local) {
                let mut answers = Vec::new();
                let asker = Route::new(LocalPort(0), ([198, 18, 0, 2], 5001).into());
                actors[SERVER].handle_datagram(network.now(), asker, &packet);
                while actors[SERVER].poll_transmit(&mut packet).is_some() {
                    answers.push(packet.clone());
                }
                let server = Route::new(question.local, question.remote);
                for answer in answers {
                    actors[node].handle_datagram(network.now(), server, &answer);
                }
                sent = actors[node].poll_transmit(&mut packet);
            }
            // A proxy passes rcon on, and a relay has none.
            assert!(
                sent.is_some_and(|sent| sent == route) || command.starts_with("rcon"),
                "{what}"
            );
            assert_eq!(sent.is_some_and(|sent| sent.remote == route.remote), sent == Some(route));
        }
    }
}
