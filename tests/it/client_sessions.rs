//! Captured sessions of a real server, replayed to a client.

use fragd::{
    client::{Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, Protocol},
    model::{ClientNum, Millis, ServerId},
    netchan::{is_connectionless, peek_client_header},
    wire::{connectionless::Message, info::InfoString},
};

use crate::vectors::{Row, table};

#[test]
fn client_replays_compat_session_vector() {
    replay("session_legacy.csv", Protocol::OA_71, Protocol::OA_71);
}

#[test]
fn client_replays_native_session_vector() {
    replay("session_native.csv", Protocol::IOQ3_71, Protocol::IOQ3_71);
}

/// The words behind `name`, up to the next space.
fn value<'a>(decoded: &'a str, name: &str) -> &'a str {
    let at = decoded.find(name).unwrap_or_else(|| panic!("no {name}: {decoded}"));
    decoded[at + name.len()..].split(' ').next().unwrap()
}

fn int(decoded: &str, name: &str) -> i64 {
    value(decoded, name).parse().unwrap_or_else(|_| panic!("{name}: {decoded}"))
}

/// Everything the client has to say.
fn drain(client: &mut Client) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while client.poll_transmit(&mut packet).is_some() {
        packets.push(packet.clone());
    }
    packets
}

#[test]
fn client_detects_framing_of_recorded_servers() {
    let (compat, native) = (Protocol::OA_71, Protocol::IOQ3_71);
    replay("session_legacy.csv", compat, native);
    replay("session_native.csv", native, compat);
}

/// Runs a client through a recorded session of a server of `wire`. One that guesses another wire finds out.
fn replay(name: &str, wire: &'static Protocol, guess: &'static Protocol) {
    let rows = table(name);
    let first = rows.iter().map(|row| row.bytes("datagram_hex")).find(|d| !is_connectionless(d));
    let (_, qport) = peek_client_header(&first.unwrap()).unwrap();
    let server = ([127, 0, 0, 1], 27_960).into();
    let userinfo = InfoString::parse("\\name\\vector");
    let options = ClientOptions {
        detects_protocol: guess != wire,
        ..ClientOptions::new(server, guess, userinfo, qport, 1)
    };
    let mut client = Client::new(options, Millis(0)).unwrap();
    let mut snapshots = 0;
    let mut sent = Vec::new();
    for row in &rows {
        let (now, decoded) = (Millis(row.number("time_ms")), row.text("decoded"));
        let mut datagram = row.bytes("datagram_hex");
        client.frame(now);
        sent.extend(drain(&mut client));
        if row.text("direction") == "c2s" {
            // Server messages are keyed by commands that the client sent before them.
            let command = decoded.split("clientCommands ").nth(1);
            if let Some((_, text)) = command.and_then(|command| command.split_once(':')) {
                let text = text.split(" usercmds(").next().unwrap();
                client.send_command(now, text).unwrap();
            }
            continue;
        }
        if decoded == "challengeResponse" {
            // The session's client had drawn another number.
            let Ok(Message::GetChallenge(ours)) = Message::parse(&sent[0]) else { panic!() };
            let Ok(Message::ChallengeResponse(mut response)) = Message::parse(&datagram) else {
                panic!("{decoded}")
            };
            response.client_challenge = ours.client_challenge;
            datagram.clear();
            Message::ChallengeResponse(response).write(&mut datagram);
        }
        client.handle_datagram(now, server, &datagram);
        check(&mut client, row, decoded, &mut snapshots);
        if client.state() == ConnectionState::Disconnected {
            break;
        }
    }
    assert_eq!(
        client.disconnect_reason(),
        Some(&DisconnectReason::ServerSaid("disconnected".to_owned()))
    );
    // The last ones repeat the server's disconnect.
    let shown = |row: &&Row| {
        let decoded = row.text("decoded");
        decoded.contains(" snapshot: ") && !decoded.contains("'disconnect ")
    };
    assert_eq!(snapshots, rows.iter().filter(shown).count() as u64);
    let statistics = client.statistics();
    assert_eq!((statistics.faults, statistics.lost_messages), (0, 0));
    assert_eq!((statistics.dropped_datagrams, statistics.discarded_snapshots), (0, 0));
    assert_eq!(statistics.snapshots, snapshots);
}

fn check(client: &mut Client, row: &Row, decoded: &str, snapshots: &mut u64) {
    let place = row.text("n");
    let mut events = Vec::new();
    while let Some(event) = client.poll_event() {
        assert!(!matches!(event, ClientEvent::ProtocolError(_)), "row {place}: {event:?}");
        events.push(event);
    }
    if decoded == "connectResponse" {
        assert_eq!(events, [ClientEvent::Connected], "row {place}");
    }
    if decoded.contains(" gamestate: ") {
        assert_eq!(events, [ClientEvent::Gamestate], "row {place}");
        let client_num = usize::try_from(int(decoded, "clientNum ")).unwrap();
        assert_eq!(client.client_num(), ClientNum::new(client_num));
        let server_id = ServerId(int(decoded, "sv_serverid ") as i32);
        assert_eq!(client.server_id(), Some(server_id));
        let last = i64::from(client.last_server_command().0);
        assert_eq!(last, int(decoded, "serverCommandSequence "));
    }
    if !decoded.contains(" snapshot: ") || client.state() == ConnectionState::Disconnected {
        return;
    }
    assert_eq!(events.last(), Some(&ClientEvent::Snapshot), "row {place}");
    *snapshots += 1;
    let snapshot = client.snapshot().unwrap();
    let head = &snapshot.head;
    assert_eq!(i64::from(head.server_time.0), int(decoded, "serverTime "), "row {place}");
    assert_eq!(i64::from(head.delta_num), int(decoded, "deltaNum "), "row {place}");
    assert_eq!(i64::from(head.flags.0), int(decoded, "flags "), "row {place}");
    let areas: String = head.areas.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(areas, value(decoded, "area "), "row {place}");
    let numbers: Vec<_> = client.entities().map(|entity| entity.number.to_string()).collect();
    assert_eq!(numbers.join("/"), value(decoded, "entities "), "row {place}");
    let player = &snapshot.player;
    assert_eq!(i64::from(player.command_time), int(decoded, "commandTime "), "row {place}");
    assert_eq!(i64::from(player.weapon), int(decoded, "weapon "), "row {place}");
    assert_eq!(i64::from(player.stats[0]), int(decoded, "health "), "row {place}");
    let yaw = i64::from(player.delta_angles[1]);
    assert_eq!(yaw, int(decoded, "delta_angles[1] "), "row {place}");
    let origin = decoded.split("origin (").nth(1).and_then(|rest| rest.split(')').next());
    let origin: Vec<f32> = origin.unwrap().split(' ').map(|axis| axis.parse().unwrap()).collect();
    assert_eq!(player.origin.0[..], origin[..], "row {place}");
    if decoded.contains("serverCommandSequence now") {
        let last = i64::from(client.last_server_command().0);
        assert_eq!(last, int(decoded, "serverCommandSequence now "), "row {place}");
    }
}
