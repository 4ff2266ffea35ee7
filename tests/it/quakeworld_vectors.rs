//! Constructed QuakeWorld packets: start of a channel, and move messages.

use fragd::{
    model::{Millis, Qport},
    quakeworld::{
        bytes::{Angle, Writer},
        channel::{Channel, DropReason, End, MAX_MESSAGE_LEN},
        client_message::ClientMessage,
        extensions::Extensions,
        moves::write_move,
        packet::ClientMessages,
        usercmd::Usercmd,
    },
};

use crate::vectors::table;

fn packet(name: &str) -> Vec<u8> {
    let rows = table("quakeworld_vectors.csv");
    let row = rows.iter().find(|row| row.text("name") == name);
    let row = row.unwrap_or_else(|| panic!("no vector {name}"));
    let bytes = row.bytes("hex");
    assert_eq!(bytes.len(), row.number::<usize>("bytes"), "{name}");
    bytes
}

#[test]
fn quakeworld_vectors_of_the_first_packets_are_reproduced() {
    let now = Millis(0);
    let qport = Qport(0x1234);
    let mut client = Channel::new(End::Client(qport));
    let mut server = Channel::new(End::Server(qport));
    let mut out = Vec::new();
    client.queue_reliable(b"\x04new\0").unwrap();
    let mut send = |client: &mut Channel, unreliable: &[u8], name: &str| {
        client.transmit(unreliable, now, &mut out).unwrap();
        assert_eq!(out, packet(name), "{name}");
        out.clone()
    };
    let first = send(&mut client, &[], "client_first");
    assert_eq!(server.receive(&first), Err(DropReason::Old { sequence: 0, last: 0 }));
    let sent = [("client_second", "server_reply_1"), ("client_third", "server_reply_2")];
    for (question, answer) in sent {
        let question = send(&mut client, &[1], question);
        server.commit(&server.receive(&question).unwrap(), now);
        let answer = send(&mut server, &[], answer);
        client.commit(&client.receive(&answer).unwrap(), now);
    }
    let fourth = send(&mut client, &[1], "client_fourth");
    let received = server.receive(&fourth).unwrap();
    assert_eq!(received.payload, b"\x04new\0\x01");
    server.commit(&received, now);
    server.queue_reliable(&packet("server_reply_3")[8..]).unwrap();
    let answer = send(&mut server, &[], "server_reply_3");
    client.commit(&client.receive(&answer).unwrap(), now);
    assert!(!client.has_unacknowledged());
    send(&mut client, &[1], "client_fifth");
}

#[test]
fn quakeworld_vectors_of_moves_are_reproduced() {
    let speed = Usercmd { forward: 400, msec: 13, ..Usercmd::ZERO };
    let turned = Usercmd { angles: [0, 0x4000, 0].map(Angle), msec: 13, ..Usercmd::ZERO };
    let attack = Usercmd { buttons: 1, ..turned };
    let moves = [
        ("clc_move_seq5", 5, 0, [Usercmd::ZERO, Usercmd::ZERO, speed]),
        ("clc_move_seq1021", 1021, 3, [turned, attack, Usercmd { impulse: 2, msec: 14, ..attack }]),
    ];
    for (name, sequence, loss, commands) in moves {
        let expected = packet(name);
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, MAX_MESSAGE_LEN, Extensions::NONE);
        write_move(&mut writer, sequence, loss, &commands);
        let message = ClientMessages::new(&expected, Extensions::NONE).next().unwrap().unwrap();
        let ClientMessage::Move(message) = message else { panic!("{message:?}") };
        assert_eq!((message.loss, message.commands), (loss, commands), "{name}");
        assert_eq!(out, expected, "{name}");
        assert!(message.is_valid(sequence), "{name}");
    }
}
