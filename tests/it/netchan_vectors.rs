//! Scrambling of known messages, and the checksums of a captured session.
//!
//! `session_vectors` and `snapshot_vectors` test channels on whole sessions and reference datagrams.

use fragd::wire::Protocol;
use fragd::{
    model::{Challenge, Sequence, ServerId},
    netchan::{
        ChannelSide,
        header::{HeaderLayout, checksum},
        is_connectionless,
        scramble::Scrambler,
    },
    wire::connectionless::Message,
};

use crate::vectors::{table, to_hex};

#[test]
fn scramble_vectors_in_both_directions() {
    for row in table("scramble_vectors.csv") {
        let name = row.text("name");
        let challenge = Challenge(row.number("challenge"));
        let scrambler = match row.text("direction") {
            "server_to_client" => Scrambler::server(challenge, Sequence(row.number("sequence"))),
            "client_to_server" => Scrambler::client(
                challenge,
                ServerId(row.number("server_id")),
                row.number("message_acknowledge"),
            ),
            other => panic!("{name}: direction {other}"),
        };
        let text = row.bytes("command_text_hex");
        let mut bytes = row.bytes("plain_hex");
        scrambler.apply(&text, &mut bytes);
        assert_eq!(to_hex(&bytes), row.text("scrambled_hex"), "{name}");
        scrambler.apply(&text, &mut bytes);
        assert_eq!(to_hex(&bytes), row.text("plain_hex"), "{name} back");
    }
}

#[test]
fn native_checksum_vectors() {
    let mut challenge = None;
    let mut checked = 0;
    for row in table("session_native.csv") {
        let datagram = row.bytes("datagram_hex");
        if is_connectionless(&datagram) {
            if let Ok(Message::ChallengeResponse(granted)) = Message::parse(&datagram) {
                challenge = Some(granted.challenge);
            }
            continue;
        }
        let from =
            if row.text("direction") == "c2s" { ChannelSide::Client } else { ChannelSide::Server };
        let (header, _) =
            HeaderLayout::new(from, Protocol::IOQ3_71.framing).read(&datagram).unwrap();
        let expected = checksum(challenge.unwrap(), header.sequence);
        assert_eq!(header.checksum, expected, "row {}", row.text("n"));
        checked += 1;
    }
    assert!(checked > 0);
}
