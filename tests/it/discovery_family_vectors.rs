//! Discovery packets of all games against captured and documented ones, in both directions.

use std::net::SocketAddr;

use fragd::{
    discovery::{
        DiscoveryError, InfoText, ListFormat, ListPacket, MasterRequest,
        quake4::{self, GetServers},
        quakeworld::{self, AckForm},
        services::{GetUpdateInfo, Motd, ServicePacket, UpdateResponse},
    },
    wire::text::WireText,
};

use crate::vectors::{Row, table};

fn row(name: &str) -> Row {
    let row = table("discovery_vectors.csv").into_iter().find(|row| row.text("name") == name);
    row.unwrap_or_else(|| panic!("no vector {name}"))
}

fn packet(name: &str) -> Vec<u8> {
    row(name).bytes("hex")
}

fn quake4(name: &str, expected: quake4::Packet<'_>) {
    let datagram = packet(name);
    assert_eq!(quake4::Packet::parse(&datagram), Ok(expected), "{name}");
    let mut made = Vec::new();
    expected.write(&mut made);
    assert_eq!(made, datagram, "{name}");
}

fn quakeworld(name: &str, expected: quakeworld::Packet<'_>) {
    let datagram = packet(name);
    assert_eq!(quakeworld::Packet::parse(&datagram), Ok(expected), "{name}");
    let mut made = Vec::new();
    expected.write(&mut made);
    assert_eq!(made, datagram, "{name}");
}

fn service(name: &str, expected: ServicePacket<'_>) {
    let datagram = packet(name);
    assert_eq!(ServicePacket::parse(&datagram), Ok(expected), "{name}");
    let mut made = Vec::new();
    expected.write(&mut made);
    assert_eq!(made, datagram, "{name}");
}

fn server(address: &str) -> SocketAddr {
    address.parse().expect("an address")
}

#[test]
fn service_vectors_are_read_and_written() {
    let info = "\\challenge\\29862\\renderer\\GeForce 7900 GS/PCI/SSE2\\version\\ET 2.60 win-x86 Mar 10 2005";
    service("et_getmotd", ServicePacket::GetMotd(InfoText::new(info.into())));
    let version = GetUpdateInfo::Words { version: "ET 2.60".into(), platform: "win-x86".into() };
    service("et_getUpdateInfo", ServicePacket::GetUpdateInfo(version));
    let none = UpdateResponse::default();
    service("et_updateResponse_none", ServicePacket::UpdateResponse(none));
    let file = "et260-installer.exe".into();
    let new = ServicePacket::UpdateResponse(UpdateResponse { available: true, file, ..none });
    service("et_updateResponse_new", new);
    let text = "Welcome to Enemy Territory player 1025240255!!!!";
    let info = format!("\\challenge\\29862\\motd\\{text}\\");
    let info = InfoText::new(info.as_str().into());
    service("et_motd_regular", ServicePacket::Motd(Motd { info }));
    for name in ["et_motd_regular", "et_motd_as_printed"] {
        let datagram = packet(name);
        let Ok(ServicePacket::Motd(motd)) = ServicePacket::parse(&datagram) else {
            panic!("{name}")
        };
        assert_eq!((motd.challenge(), motd.text()), (Some(29_862), Some(text.into())), "{name}");
    }
}

#[test]
fn quake4_vectors_are_read_and_written() {
    let request = GetServers { protocol: 0x8002_0055, ..GetServers::default() };
    quake4("q4_getServers_fig6", quake4::Packet::GetServers(request));
    quake4("q4_getInfo", quake4::Packet::GetInfo(1));
    quake4("d3_heartbeat", quake4::Packet::Heartbeat);
    for name in ["q4_infoResponse_fig8_head", "q4_infoResponse_small"] {
        let datagram = packet(name);
        let Ok(quake4::Packet::InfoResponse(response)) = quake4::Packet::parse(&datagram) else {
            panic!("{name}")
        };
        assert_eq!((response.challenge, response.protocol), (1, quake4::PROTOCOL), "{name}");
        quake4(name, quake4::Packet::InfoResponse(response));
    }
    let mut made = Vec::new();
    let pairs = [("si_name", "test"), ("si_players", "0")];
    quake4::write_info_response(&mut made, 1, pairs, []);
    assert_eq!(made, packet("q4_infoResponse_small"));
}

#[test]
fn quake4_state_of_figure_8_is_read_and_written() {
    let (head, tail) = (packet("q4_infoResponse_fig8_head"), packet("q4_infoResponse_fig8_tail"));
    let whole = [head, tail].concat();
    let Ok(quake4::Packet::InfoResponse(response)) = quake4::Packet::parse(&whole) else {
        panic!("no response")
    };
    let pairs = [
        ("net_serverDedicated", "1"),
        ("fs_game_base", ""),
        ("fs_game", "q4mp"),
        ("sv_punkbuster", "1"),
        ("si_version", "Quake4  V1.4.2 win-x86 Jun 15 2007"),
        ("si_numPrivatePlayers", "0"),
        ("gamename", "Q4MP 1.4.2"),
    ];
    let read: Vec<_> = response.pairs().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    assert_eq!(read, pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!((response.players().count(), response.os_mask()), (0, Some(7)));
    let mut made = Vec::new();
    quake4::write_info_response(&mut made, 1, pairs, []);
    assert_eq!(made, whole);
}

#[test]
fn quake4_list_of_figure_7_is_read_and_written() {
    let (head, tail) = (packet("q4_servers_fig7_head"), packet("q4_servers_fig7_tail"));
    // Records 8 to 221 are not in the figure.
    let filler = (0..214_u32).flat_map(|n| [10, 1, n as u8, 1, 0x64, 0x6d]).collect::<Vec<_>>();
    let cut = head.len() - 2;
    // The head ends, and the tail begins, with two bytes of records that are not in the figure.
    let whole = [&head[..cut], &filler, &tail[2..]].concat();
    assert_eq!(whole.len(), 1396);
    let list = ListPacket::parse(&whole).expect("a list");
    let servers: Vec<_> = list.servers().collect();
    assert_eq!(servers.len(), 231);
    assert_eq!(servers[0], server("85.236.101.43:28014"));
    assert_eq!(servers[230], server("195.13.62.58:29000"));
    let mut made = Vec::new();
    assert!(ListFormat::Quake4.write(&mut made, &mut servers.into_iter().peekable()));
    assert_eq!(made, whole);
    // A cut record at the end is dropped.
    assert_eq!(ListPacket::parse(&head).map(|list| list.servers().count()), Some(7));
}

#[test]
fn quakeworld_vectors_are_read_and_written() {
    use quakeworld::Packet;
    quakeworld("qw_master_heartbeat", Packet::Heartbeat { number: 17, players: 4 });
    quakeworld("qw_master_shutdown", Packet::Shutdown);
    quakeworld("qw_master_ping", Packet::Ping { marked: false });
    quakeworld("qw_ack_raw", Packet::Ack(AckForm::Bare));
    quakeworld("qw_master_query", Packet::ListRequest);
    quakeworld("qw_status", Packet::GetStatus(None));
    quakeworld("qw_status_mask", Packet::GetStatus(Some(23)));
    quakeworld("qw_getchallenge", Packet::GetChallenge);
    let number = "9876543".into();
    quakeworld("qw_challenge", Packet::Challenge { number, extensions: &[] });
    let extensions = b"FTEX\0\0\0 ";
    quakeworld("qw_challenge_ext", Packet::Challenge { number, extensions });
    let userinfo = InfoText::new("\\name\\player\\rate\\2500\\msg\\1".into());
    let (qport, challenge) = (4660, 9_876_543);
    quakeworld("qw_connect", Packet::Connect { protocol: 28, qport, challenge, userinfo });
    quakeworld("qw_connection_accepted", Packet::Accepted);
}

#[test]
fn quakeworld_status_vector_is_read_and_written() {
    let datagram = packet("qw_status_reply");
    let Ok(quakeworld::Packet::Status(status)) = quakeworld::Packet::parse(&datagram) else {
        panic!("no status")
    };
    assert_eq!(status.info.get("map"), Some("dm4".into()));
    let player = quakeworld::Player {
        user_id: 3,
        frags: Some(5),
        minutes: 12,
        ping: 38,
        name: "player".into(),
        skin: "base".into(),
        colors: (4, 13),
        team: None,
    };
    assert_eq!(status.players().collect::<Vec<_>>(), [player]);
    let mut lines = Vec::new();
    player.write(&mut lines);
    let player_lines = WireText::new(&lines);
    quakeworld(
        "qw_status_reply",
        quakeworld::Packet::Status(quakeworld::Status { player_lines, ..status }),
    );
}

#[test]
fn list_vectors_of_every_family_are_read_and_written() {
    let two = ["192.147.236.5:27960", "68.88.65.185:1336"];
    for (name, format, servers, is_written) in [
        ("q4_servers_one", ListFormat::Quake4, &["85.236.101.43:28014"][..], true),
        ("qw_master_list", ListFormat::QuakeWorld, &["192.0.2.1:27500", "192.0.2.2:27501"], true),
        ("q3_getserversResponse_eot4", ListFormat::Quake3, &two, false),
        ("q3_getserversResponse_eot7", ListFormat::Quake3, &two, true),
        ("q3_getserversResponse_noeot", ListFormat::Quake3, &two, false),
        ("q3_getserversResponse_empty", ListFormat::Quake3, &[], true),
        (
            "q3_getserversExtResponse_mixed",
            ListFormat::Quake3Ext,
            &["192.0.2.1:27960", "[2001:db8::1]:27960"],
            true,
        ),
    ] {
        let servers: Vec<_> = servers.iter().map(|address| server(address)).collect();
        let datagram = packet(name);
        let list = ListPacket::parse(&datagram).unwrap_or_else(|| panic!("{name}: no list"));
        assert_eq!(list.format(), format, "{name}");
        assert_eq!(list.servers().collect::<Vec<_>>(), servers, "{name}");
        let mut made = Vec::new();
        assert!(format.write(&mut made, &mut servers.into_iter().peekable()));
        assert_eq!(made == datagram, is_written, "{name}");
    }
}

/// Every vector to a master, or from a server to its master, is a request; those between others are not.
#[test]
fn master_reads_every_vector_addressed_to_it() {
    let (mut requests, mut others) = (0, 0);
    for row in table("discovery_vectors.csv") {
        let (name, direction) = (row.text("name").to_owned(), row.text("direction").to_owned());
        let datagram = row.bytes("hex");
        let read = MasterRequest::parse(&datagram);
        if direction.ends_with(">master")
            || direction.ends_with(">motd master")
            || direction.ends_with(">update server")
        {
            assert!(read.is_ok(), "{name}: {read:?}");
            requests += 1;
        } else if ["master>client", "client>server", "motd master>client"]
            .contains(&direction.as_str())
        {
            let known = [DiscoveryError::Command, DiscoveryError::Mark];
            assert!(matches!(&read, Err(error) if known.contains(error)), "{name}: {read:?}");
            others += 1;
        }
    }
    assert!(requests >= 16 && others >= 24, "{requests} requests, {others} others");
}

#[test]
fn cut_vectors_of_every_family_are_read_safely() {
    for row in table("discovery_vectors.csv") {
        let whole = row.bytes("hex");
        for len in 0..=whole.len() {
            let cut = &whole[..len];
            let servers = ListPacket::parse(cut).map_or(0, |list| list.servers().count());
            assert!(servers * 6 <= len);
            if let Ok(packet) = quakeworld::Packet::parse(cut) {
                let mut made = Vec::new();
                packet.write(&mut made);
                assert_eq!(quakeworld::Packet::parse(&made), Ok(packet), "{}", row.text("name"));
            }
            let _ =
                (MasterRequest::parse(cut), ServicePacket::parse(cut), quake4::Packet::parse(cut));
        }
    }
}
