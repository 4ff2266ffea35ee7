//! Compressed `connect` packets against packets of the original code.

use fragd::{
    model::Challenge,
    wire::{
        connect::{CONNECT_PREFIX, ConnectError, compress, write_connect},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
        info::InfoString,
        text::WireText,
        userinfo::Userinfo,
    },
};

use crate::vectors::{Row, table};

/// The packet of a row without its padding, which is junk in the wild.
fn meaningful(row: &Row, packet: &[u8]) -> (Vec<u8>, u8) {
    let bits: usize = row.number("code_bits");
    let whole = CONNECT_PREFIX.len() + 2 + bits / 8;
    let rest = packet.get(whole).map_or(0, |last| last & ((1 << (bits % 8)) - 1));
    (packet[..whole].to_vec(), rest)
}

fn connect(packet: &[u8]) -> Result<Vec<u8>, ConnectError> {
    match Message::parse(packet) {
        Ok(Message::Connect(connect)) => {
            let mut text = Vec::new();
            connect.decompress(&mut text).map(|()| text)
        }
        other => panic!("{other:?} is no connect"),
    }
}

#[test]
fn connect_vectors_are_read() {
    for row in table("connect_vectors.csv") {
        let name = row.text("name");
        let packet = row.bytes("packet_hex");
        let text = connect(&packet).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(text.len(), row.number::<usize>("payload_bytes"), "{name}");
        assert_eq!(WireText::new(&text).to_string(), row.text("payload_text"), "{name}");
        let Ok(Message::Connect(packed)) = Message::parse(&packet) else { unreachable!() };
        let userinfo = packed.userinfo().unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(quoted) = row.text("payload_text").strip_prefix('"') {
            assert_eq!(userinfo.as_str(), quoted.trim_end_matches('"'), "{name}");
        }
    }
}

#[test]
fn connect_vectors_are_written() {
    for row in table("connect_vectors.csv") {
        let name = row.text("name");
        let expected = row.bytes("packet_hex");
        let text = row.text("payload_text");
        let mut packet = CONNECT_PREFIX.to_vec();
        compress(text.as_bytes(), &mut packet);
        assert_eq!(meaningful(&row, &packet), meaningful(&row, &expected), "{name}");
        let padded_len = CONNECT_PREFIX.len() + 2 + row.number::<usize>("code_bits") / 8 + 1;
        assert_eq!(packet.len(), padded_len, "{name}: as long as peers send it");
        if let Some(quoted) = text.strip_prefix('"') {
            let mut packet = Vec::new();
            write_connect(&InfoString::parse(quoted.trim_end_matches('"')), &mut packet)
                .expect("fits");
            assert_eq!(meaningful(&row, &packet), meaningful(&row, &expected), "{name}");
        }
    }
}

#[test]
fn connect_vectors_accept_trailing_bytes_but_no_cut() {
    for row in table("connect_vectors.csv") {
        let name = row.text("name");
        let packet = row.bytes("packet_hex");
        let text = connect(&packet);
        let mut junk = meaningful(&row, &packet).0;
        let bits: usize = row.number("code_bits");
        let last = packet.get(junk.len()).copied().unwrap_or(0);
        junk.extend([last | 0xff << (bits % 8), 0xa5, 0x5a]);
        assert_eq!(connect(&junk), text, "{name}");
        let needed = CONNECT_PREFIX.len() + 2 + bits.div_ceil(8);
        for len in CONNECT_PREFIX.len()..needed {
            assert!(connect(&packet[..len]).is_err(), "{name} cut to {len} bytes");
        }
    }
}

#[test]
fn handshakes_of_session_vectors_are_read_and_written() {
    for (file, client, server) in [
        ("session_legacy.csv", 1_397_871_145, -202_620_007),
        ("session_native.csv", 271_293_545, -199_566_577),
    ] {
        let rows = table(file);
        let packets: Vec<_> = rows[..4].iter().map(|row| row.bytes("datagram_hex")).collect();
        let messages: Vec<_> =
            packets.iter().map(|packet| Message::parse(packet).expect("a message")).collect();
        let (client, server) = (Challenge(client), Challenge(server));
        let asked = GetChallenge { client_challenge: Some(client), gamename: "Quake3Arena".into() };
        assert_eq!(messages[0], Message::GetChallenge(asked), "{file}");
        let granted = ChallengeResponse {
            challenge: server,
            client_challenge: Some(client),
            protocol: Some(71),
        };
        assert_eq!(messages[1], Message::ChallengeResponse(granted), "{file}");
        let Message::Connect(connect) = messages[2] else { panic!("{file}: {:?}", messages[2]) };
        let info = connect.userinfo().expect("userinfo");
        let userinfo = Userinfo(&info);
        assert_eq!((userinfo.challenge(), userinfo.protocol()), (Some(server), Some(71)), "{file}");
        assert!(userinfo.qport().is_some() && !userinfo.name().is_empty(), "{file}: {info}");
        let accepted = ConnectResponse { challenge: Some(server), protocol: None };
        assert_eq!(messages[3], Message::ConnectResponse(accepted), "{file}");
        for (message, packet) in messages.iter().zip(&packets) {
            let mut written = Vec::new();
            message.write(&mut written);
            assert_eq!(&written, packet, "{file}");
        }
        let mut written = Vec::new();
        write_connect(&info, &mut written).expect("fits");
        // The last byte may be junk.
        assert_eq!(written[..written.len() - 1], packets[2][..packets[2].len() - 1], "{file}");
    }
}
