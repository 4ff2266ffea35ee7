//! Recorded session of protocol 43, in the receive path of a client.

use super::{Connection, receive::ReceiveOutcome};
use crate::{
    client::{
        event::{ClientEvent, Events, ProtocolError, ProtocolErrorKind},
        handshake::Granted,
        options::ClientOptions,
        statistics::Statistics,
    },
    model::{Challenge, Millis, Qport},
    netchan::is_connectionless,
    wire::{Protocol, info::InfoString},
};

/// Every server datagram of the session. The client has sent all commands that the server acknowledges.
#[test]
fn legacy_session_vectors_are_server_messages() {
    let rows = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/session_43.csv"));
    let server = ([10, 0, 0, 1], 27_960).into();
    let protocol = Protocol::Q3_43;
    let options = ClientOptions::new(server, protocol, InfoString::normal(), Qport(12_800), 1);
    let granted = Granted { challenge: Challenge(1_924_586_173), protocol };
    let mut connection = Connection::new(Millis(0), granted, &options);
    for number in 0..40 {
        connection.commands.add(format!("command {number}").into()).expect("room");
    }
    let (mut events, mut statistics) = (Events::default(), Statistics::default());
    let (mut datagrams, mut snapshots, mut levels) = (0, 0, 0);
    let mut is_over = false;
    for row in rows.lines().filter(|row| row.split(',').nth(1) == Some("s2c")) {
        let hex = row.split(',').nth(3).expect("a datagram");
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("a byte");
        let datagram: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        if is_connectionless(&datagram) || is_over {
            continue;
        }
        datagrams += 1;
        let now = Millis(100 * datagrams);
        match connection.receive(now, &datagram, &mut events, &mut statistics) {
            ReceiveOutcome::Taken => {}
            // The client leaves at the end of the session.
            ReceiveOutcome::Ended(_) => is_over = true,
            outcome => panic!("datagram {datagrams}: {outcome:?}"),
        }
        while let Some(event) = events.pop() {
            match event {
                ClientEvent::Snapshot => snapshots += 1,
                ClientEvent::Gamestate => levels += 1,
                // The file leaves rows out, with the commands in them.
                ClientEvent::ProtocolError(ProtocolError {
                    kind: ProtocolErrorKind::CommandGap { .. },
                    ..
                }) => {}
                ClientEvent::ProtocolError(error) => panic!("datagram {datagrams}: {error:?}"),
                _ => {}
            }
        }
    }
    assert_eq!((levels, statistics.discarded_snapshots), (2, 0));
    assert!(is_over && snapshots > 100, "{snapshots} snapshots");
    let own = connection.level().and_then(|level| level.client_num);
    assert_eq!(own.map(crate::model::ClientNum::index), Some(1));
}
