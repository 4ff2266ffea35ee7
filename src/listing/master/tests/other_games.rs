//! Quake 4 and QuakeWorld servers and list requests.

use super::*;

/// Settings of a Quake 4 server, without players.
fn quake4_info(challenge: &[u8], pairs: &[(&str, &str)], protocol: [u8; 4]) -> Vec<u8> {
    let mut bytes = [b"\xff\xffinfoResponse\0", challenge, &protocol].concat();
    for (key, value) in pairs {
        bytes.extend([key.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    }
    bytes.extend(b"\0\0\x20\x07\0\0\0\0\0\0\0\x01");
    bytes
}

const PAIRS: [(&str, &str); 4] =
    [("si_name", "A"), ("si_maxPlayers", "8"), ("fs_game", "q4mp"), ("si_gameType", "DM")];
const PROTOCOL: [u8; 4] = [0x55, 0, 2, 0];

fn register(net: &mut Net, from: &str, pairs: &[(&str, &str)]) -> bool {
    let sent = net.send(from, b"\xff\xffheartbeat\0");
    let [(_, reply)] = sent.as_slice() else { return false };
    let challenge = reply.strip_prefix(b"\xff\xffgetInfo\0").unwrap();
    net.send(from, &quake4_info(challenge, pairs, PROTOCOL));
    net.listed(from)
}

fn quake4_list(net: &mut Net, fs_game: &str, filter: u8) -> Vec<String> {
    let mut request = b"\xff\xffgetServers\0\x55\0\x02\x80".to_vec();
    request.extend([fs_game.as_bytes(), b"\0\0\0", &[filter]].concat());
    let sent = net.send(CLIENT, &request);
    assert_eq!(sent.len(), 1);
    ListPacket::parse(&sent[0].1).unwrap().servers().map(|server| server.to_string()).collect()
}

#[test]
fn quake4_server_proves_itself_by_a_number() {
    let mut net = Net::new(|_| ());
    assert!(register(&mut net, "192.0.2.1:28004", &PAIRS));
    assert_eq!(quake4_list(&mut net, "", 0), ["192.0.2.1:28004"]);
    let sent = net.send(CLIENT, b"\xff\xffgetServers\0\x55\0\x02\x80\0\0\0\0");
    assert_eq!(sent[0].1, b"\xff\xffservers\0\xc0\0\x02\x01\x64\x6d", "the port is little-endian");
    let other = net.send(CLIENT, b"\xff\xffgetServers\0\x56\0\x02\x80\0\0\0\0");
    assert_eq!(other[0].1, b"\xff\xffservers\0", "another protocol");
    net.send("192.0.2.2:28004", b"\xff\xffheartbeat\0");
    net.send("192.0.2.2:28004", &quake4_info(&[1, 0, 0, 0], &PAIRS, PROTOCOL));
    assert!(!net.listed("192.0.2.2:28004"), "a guessed number proves nothing");
    assert_eq!(net.ask(CLIENT, "getservers Quake4 131157"), Some(vec![]), "families are apart");
}

#[test]
fn quake4_filters_select_servers() {
    let mut net = Net::new(|_| ());
    let with = |more: &[(&'static str, &'static str)]| [more, &PAIRS[..]].concat();
    assert!(register(&mut net, "192.0.2.1:1", &PAIRS));
    assert!(register(&mut net, "192.0.2.2:1", &with(&[("si_usePass", "1")])));
    assert!(register(
        &mut net,
        "192.0.2.3:1",
        &with(&[("si_gameType", "Tourney"), ("fs_game", "x")])
    ));
    let count = |net: &mut Net, game: &str, filter: u8| quake4_list(net, game, filter).len();
    assert_eq!(count(&mut net, "", 0), 3);
    assert_eq!((count(&mut net, "", 1), count(&mut net, "", 2)), (1, 2));
    assert_eq!((count(&mut net, "", 4), count(&mut net, "", 8)), (3, 0));
    assert_eq!((count(&mut net, "", 0x10), count(&mut net, "", 0x20)), (2, 1));
    assert_eq!((count(&mut net, "q4mp", 0), count(&mut net, "X", 0)), (2, 1));
}

#[test]
fn quakeworld_server_is_listed_after_its_status() {
    let mut net = Net::new(|_| ());
    let status = b"\xff\xff\xff\xffn\\hostname\\test\\map\\dm4\\maxclients\\8\n3 5 12 28 \"p\" \"base\" 4 13\n\0";
    net.send("192.0.2.1:27500", status);
    assert!(!net.listed("192.0.2.1:27500"), "nobody asked for it");
    let sent = net.send("192.0.2.1:27500", b"a\n1\n0\n");
    assert_eq!(sent, [(address("192.0.2.1:27500"), packet("status 15\n"))]);
    assert_eq!(net.send("192.0.2.1:27500", status), []);
    assert!(net.listed("192.0.2.1:27500"));
    let list = net.send(CLIENT, b"c\n\0");
    assert_eq!(list[0].1, b"\xff\xff\xff\xffd\n\xc0\0\x02\x01\x6b\x6c", "the port is big-endian");
    assert_eq!(net.send("192.0.2.1:27500", b"C\n"), []);
    assert!(net.listed("192.0.2.1:27500"), "anyone can forge a shutdown");
    assert_eq!(net.send("192.0.2.1:27500", b"k\0")[0].1, b"\xff\xff\xff\xffl\n");
    net.pass(901_000);
    assert_eq!(net.send(CLIENT, b"c\n\0")[0].1, b"\xff\xff\xff\xffd\n");
}

#[test]
fn unprovable_servers_get_a_quarter_of_the_list() {
    let mut net = Net::new(|options| options.max_servers = 8);
    for host in 1..=4 {
        let from = format!("192.0.2.{host}:27500");
        net.send(&from, b"a\n1\n0\n");
        net.send(&from, b"\xff\xff\xff\xffn\\maxclients\\8\n\0");
    }
    assert_eq!(net.master.servers(), 2);
    assert!(net.register("192.0.2.9:1", "QuakeArena-1", Q3));
}
