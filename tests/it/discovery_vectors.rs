//! Queries, master servers and browsers against captured and documented packets.

use std::net::SocketAddr;

use fragd::wire::{
    connectionless::{
        ChallengeResponse, GetChallenge, HEARTBEAT_TAG, InfoResponse, ListFilter, ListRequest,
        Message, ObsoleteCommand, Query, StatusPlayer, StatusResponse, write_server_list,
        write_status_response,
    },
    info::InfoString,
    text::WireText,
};

use crate::vectors::{Row, table};

/// Other games' packets: another mark, or a mark of their own for another protocol.
const OTHER_GAMES: &[&str] = &["q4_", "d3_", "qw_"];

fn rows() -> impl Iterator<Item = Row> {
    table("discovery_vectors.csv")
        .into_iter()
        .filter(|row| !OTHER_GAMES.iter().any(|game| row.text("name").starts_with(game)))
}

fn packet(name: &str) -> Vec<u8> {
    let row = rows().find(|row| row.text("name") == name);
    row.unwrap_or_else(|| panic!("no vector {name}")).bytes("hex")
}

fn check(name: &str, expected: Message<'_>) {
    assert_eq!(Message::parse(&packet(name)), Ok(expected), "{name}");
}

#[test]
fn discovery_vectors_are_written_as_they_were_read() {
    let mut seen = 0;
    for row in rows() {
        let name = row.text("name");
        let datagram = row.bytes("hex");
        assert_eq!(datagram.len(), row.number::<usize>("bytes"), "{name}");
        let message = Message::parse(&datagram).unwrap_or_else(|error| panic!("{name}: {error}"));
        if matches!(message, Message::ObsoleteCommand(_) | Message::Unknown(_)) {
            assert!(name.contains("motd") || name.contains("pdate"), "{name}: {message:?}");
            continue;
        }
        let mut written = Vec::new();
        message.write(&mut written);
        // Requests end with a line feed or without one; we leave it out.
        let expected = if matches!(message, Message::GetInfo(_) | Message::GetStatus(_)) {
            datagram.strip_suffix(b"\n").unwrap_or(&datagram)
        } else {
            &datagram
        };
        assert_eq!(written, expected, "{name}");
        seen += 1;
    }
    assert!(seen >= 28, "{seen} packets");
}

#[test]
fn discovery_request_vectors_have_their_meaning() {
    let query = |challenge: &'static str| Query { challenge: challenge.into() };
    check("q3_getinfo_xxx", Message::GetInfo(query("xxx")));
    check("q3_getinfo_bare", Message::GetInfo(query("")));
    check("dp_getinfo", Message::GetInfo(query("kX3#9pQz")));
    check("q3_getstatus", Message::GetStatus(query("")));
    check("q3_getstatus_challenge", Message::GetStatus(query("4711")));
    check("q3_getchallenge", Message::GetChallenge(GetChallenge::default()));
    check("q3_disconnect_oob", Message::Disconnect);
    check("q3_heartbeat_fig4", Message::Heartbeat(HEARTBEAT_TAG.into()));
    check("q3_heartbeat_darkplaces", Message::Heartbeat("DarkPlaces".into()));
    check("et_getmotd", Message::ObsoleteCommand(ObsoleteCommand::GetMotd));
    check("et_motd_regular", Message::ObsoleteCommand(ObsoleteCommand::Motd));
    let challenge = fragd::model::Challenge(1_234_567_890);
    let response = ChallengeResponse { challenge, ..ChallengeResponse::default() };
    check("et_challengeResponse", Message::ChallengeResponse(response));
}

#[test]
fn discovery_list_request_vectors_have_their_meaning() {
    let plain = ListRequest { protocol: 68, ..ListRequest::default() };
    let both = ListFilter { empty: true, full: true, ..ListFilter::default() };
    let game = Some(WireText::from("Quake3Arena"));
    check("q3_getservers_68", Message::GetServers(plain));
    check(
        "q3_getservers_68_empty_full",
        Message::GetServers(ListRequest { filter: both, ..plain }),
    );
    let named = ListRequest {
        game,
        protocol: 71,
        filter: ListFilter { gametype: Some("4".into()), ..both },
        extended: false,
    };
    check("dp_getservers_named", Message::GetServers(named));
    let filter = ListFilter { ipv6: true, ..both };
    let extended = ListRequest { extended: true, game, protocol: 71, filter };
    check("q3_getserversExt", Message::GetServers(extended));
}

fn servers(name: &str) -> (Vec<SocketAddr>, bool) {
    match Message::parse(&packet(name)) {
        Ok(Message::ServerList(list)) => (list.servers().collect(), list.has_end_mark()),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn discovery_vectors_of_lists_hold_their_servers() {
    let of = |addresses: &[&str]| -> Vec<SocketAddr> {
        addresses.iter().map(|address| address.parse().expect("an address")).collect()
    };
    let two = of(&["192.147.236.5:27960", "68.88.65.185:1336"]);
    assert_eq!(servers("q3_getserversResponse_eot4"), (two.clone(), true));
    assert_eq!(servers("q3_getserversResponse_eot7"), (two.clone(), true));
    assert_eq!(servers("q3_getserversResponse_noeot"), (two, false));
    assert_eq!(servers("q3_getserversResponse_empty"), (vec![], true));
    let slashes = of(&["92.92.92.92:23644", "69.79.84.92:27960"]);
    assert_eq!(servers("q3_getserversResponse_slash_in_ip"), (slashes, true));
    let full: Vec<_> = (0..112).map(|last| SocketAddr::from(([10, 0, 0, last], 27_960))).collect();
    assert_eq!(servers("q3_getserversResponse_112"), (full, true));
    let mixed = of(&["192.0.2.1:27960", "[2001:db8::1]:27960"]);
    assert_eq!(servers("q3_getserversExtResponse_mixed"), (mixed, true));
}

#[test]
fn discovery_vectors_of_lists_are_made() {
    for (name, extended) in [
        ("q3_getserversResponse_eot7", false),
        ("q3_getserversResponse_empty", false),
        ("q3_getserversExtResponse_mixed", true),
    ] {
        let mut made = Vec::new();
        let servers = servers(name).0;
        assert!(write_server_list(&mut made, extended, &mut servers.into_iter().peekable(), 1400));
        assert_eq!(made, packet(name), "{name}");
    }
}

#[test]
fn discovery_response_vectors_hold_their_values() {
    let datagram = packet("q3_infoResponse_fig3");
    let Ok(Message::InfoResponse(text)) = Message::parse(&datagram) else { panic!("no answer") };
    let info = InfoString::from_wire(text);
    assert_eq!((info.get("challenge"), info.get("punkbuster")), (Some("xxx"), Some("0")));
    let expected = InfoResponse {
        protocol: 68,
        hostname: "Welcome DUEL Server",
        mapname: "pro-q3dm6",
        clients: 2,
        max_clients: 8,
        gametype: 1,
        pure: true,
        game: "cpma",
        ..InfoResponse::default()
    };
    assert_eq!(InfoResponse::from_info(&info), expected);

    let datagram = packet("q3_statusResponse");
    let Ok(Message::StatusResponse(status)) = Message::parse(&datagram) else {
        panic!("no answer")
    };
    let info = InfoString::from_wire(status.info);
    assert_eq!((info.get("sv_hostname"), info.int("sv_maxclients")), (Some("noname"), Some(16)));
    let players = [
        StatusPlayer { score: 12, ping: 48, name: "Sarge".into() },
        StatusPlayer { score: -1, ping: 999, name: "^1Visor".into() },
    ];
    assert_eq!(status.players().collect::<Vec<_>>(), players);
    let mut made = Vec::new();
    assert_eq!(write_status_response(&mut made, &info, players, 1400), 2);
    assert_eq!(made, datagram);
}

#[test]
fn cut_discovery_vectors_are_errors_or_shorter() {
    for row in rows() {
        let datagram = row.bytes("hex");
        for len in 0..datagram.len() {
            match Message::parse(&datagram[..len]) {
                Ok(Message::ServerList(list)) => {
                    let Ok(Message::ServerList(whole)) = Message::parse(&datagram) else {
                        panic!("{} cut to {len} bytes", row.text("name"));
                    };
                    assert!(list.servers().zip(whole.servers()).all(|(cut, all)| cut == all));
                    assert!(list.servers().count() <= whole.servers().count());
                }
                Ok(Message::StatusResponse(StatusResponse { info, .. })) => {
                    let _ = InfoString::from_wire(info);
                }
                _ => {}
            }
        }
    }
}
