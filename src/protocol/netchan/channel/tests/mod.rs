//! Tests of sequence numbers, fragments, queue and keys.

mod transmission;

use super::*;
use crate::wire::Protocol;
use crate::{
    model::{CommandNum, ServerId},
    netchan::{
        header::{MAX_DATAGRAM_LEN, peek_client_header},
        reliable::OutgoingCommands,
        unscramble::UnscrambleError,
    },
    wire::{bits::BitWriter, client_message::ClientHeader, server_message},
};

const CHALLENGE: Challenge = Challenge(-0x3579_bdf1);
const QPORT: Qport = Qport(0xbeef);

/// Both sides of a connection, and the last message received.
struct Pair {
    server: Channel<u32>,
    client: Channel<u32>,
    message: Vec<u8>,
}

impl Pair {
    fn new(protocol: &'static Protocol) -> Self {
        let end = |end| Channel::new(end, protocol, CHALLENGE, QPORT);
        Self {
            server: end(ChannelSide::Server),
            client: end(ChannelSide::Client),
            message: Vec::new(),
        }
    }

    /// The sending and the receiving side.
    fn towards(
        &mut self,
        receiver: ChannelSide,
    ) -> (&mut Channel<u32>, &mut Channel<u32>, &mut Vec<u8>) {
        match receiver {
            ChannelSide::Server => (&mut self.client, &mut self.server, &mut self.message),
            ChannelSide::Client => (&mut self.server, &mut self.client, &mut self.message),
        }
    }
}

/// Every datagram of a message, sent at once as by a client.
fn datagrams(sender: &mut Channel<u32>, message: &[u8], text: &str) -> Vec<Vec<u8>> {
    let mut datagrams = vec![Vec::new()];
    let sent = sender.send(message, &text.into(), 0, &mut datagrams[0]);
    assert!(sent.expect("sent").expect("at once").first);
    while sender.is_busy() {
        let mut datagram = Vec::new();
        assert!(sender.transmit_next(&mut datagram).is_some());
        datagrams.push(datagram);
    }
    datagrams
}

/// A compat server message of a number and letters.
fn server_message(acknowledged: i32, len: usize) -> Vec<u8> {
    let mut writer = BitWriter::new();
    server_message::begin(&mut writer, Protocol::Q3_68, CommandNum(acknowledged));
    let mut message = writer.message().to_vec();
    message.extend((message.len()..len).map(|at| at as u8));
    message
}

fn client_message(head: &ClientHeader, len: usize) -> Vec<u8> {
    let mut writer = BitWriter::new();
    crate::wire::client_message::begin(&mut writer, Protocol::Q3_68, head);
    let mut message = writer.message().to_vec();
    message.extend((message.len()..len).map(|at| at as u8));
    message
}

/// Delivers a datagram to `receiver` and commits its message.
fn deliver(
    receiver: &mut Channel<u32>,
    datagram: &[u8],
    message: &mut Vec<u8>,
) -> Result<bool, DropReason> {
    match receiver.receive(datagram, message)? {
        Some(received) => {
            receiver.commit(received);
            Ok(true)
        }
        None => Ok(false),
    }
}

#[test]
fn sequence_starts_at_one_and_drops_old_messages() {
    for protocol in [Protocol::OA_71, Protocol::IOQ3_71] {
        let mut pair = Pair::new(protocol);
        let (sender, receiver, message) = pair.towards(ChannelSide::Client);
        let sent: Vec<_> = (0..4).map(|_| datagrams(sender, b"abc", "").remove(0)).collect();
        assert_eq!(sent[0][..4], [1, 0, 0, 0]);
        let first = receiver.receive(&sent[0], message).expect("taken").expect("whole");
        assert_eq!(first, ReceivedMessage { sequence: Sequence(1), lost: 0, far_ahead: false });
        receiver.commit(first);
        assert!(matches!(receiver.receive(&sent[0], message), Err(DropReason::Old { .. })));
        let fourth = receiver.receive(&sent[3], message).expect("taken").expect("whole");
        assert_eq!(fourth.lost, 2);
        receiver.commit(fourth);
        assert_eq!((receiver.last_received(), receiver.lost()), (Sequence(4), 2));
        let late = DropReason::Old { sequence: Sequence(3), last: Sequence(4) };
        assert_eq!(receiver.receive(&sent[2], message), Err(late));
    }
}

#[test]
fn n1_n2_uncommitted_message_changes_nothing() {
    let mut pair = Pair::new(Protocol::OA_71);
    let (sender, receiver, message) = pair.towards(ChannelSide::Server);
    let head = client_message(&ClientHeader::default(), 20);
    assert_eq!(deliver(receiver, &datagrams(sender, &head, "")[0], message), Ok(true));

    let forged = |sequence: u32| {
        let mut datagram = sequence.to_le_bytes().to_vec();
        datagram.extend_from_slice(&QPORT.0.to_le_bytes());
        datagram.extend_from_slice(b"garbage");
        datagram
    };
    for (sequence, far_ahead) in [(2 + MAX_LOST, false), (3 + MAX_LOST, true), (2 + MAX_JUMP, true)]
    {
        let received = receiver.receive(&forged(sequence), message).expect("taken").expect("whole");
        assert_eq!(received.far_ahead, far_ahead, "{sequence}");
    }
    for sequence in [3 + MAX_JUMP, 1 << 30] {
        let dropped = receiver.receive(&forged(sequence), message);
        assert!(matches!(dropped, Err(DropReason::FarAhead { .. })), "{sequence}");
    }
    // It is older, counted the shorter way around.
    assert!(matches!(receiver.receive(&forged(0x7fff_fffe), message), Err(DropReason::Old { .. })));
    assert_eq!(receiver.last_received(), Sequence(1));
    assert_eq!(deliver(receiver, &datagrams(sender, &head, "")[0], message), Ok(true));
}

#[test]
fn n13_right_checksum_vouches_for_no_jump() {
    let mut pair = Pair::new(Protocol::IOQ3_71);
    let (sender, receiver, message) = pair.towards(ChannelSide::Client);
    // This number has four possible checksums under all challenges.
    receiver.last_received = Sequence(200);
    sender.next_sequence = Sequence((1 << 30) + 1);
    let dropped = receiver.receive(&datagrams(sender, b"abc", "")[0], message);
    assert!(matches!(dropped, Err(DropReason::FarAhead { .. })), "{dropped:?}");
}

#[test]
fn new_channel_accepts_only_numbers_near_one() {
    for (protocol, far_ahead) in [(Protocol::OA_71, true), (Protocol::IOQ3_71, false)] {
        let mut pair = Pair::new(protocol);
        let (sender, receiver, message) = pair.towards(ChannelSide::Client);
        sender.next_sequence = Sequence(MAX_LOST_AT_START + 2);
        let received = receiver.receive(&datagrams(sender, b"abc", "")[0], message);
        assert_eq!(received.expect("taken").expect("whole").far_ahead, far_ahead, "{protocol}");
    }
}

#[test]
fn n3_sequence_numbers_wrap() {
    for protocol in [Protocol::OA_71, Protocol::IOQ3_71] {
        let mut pair = Pair::new(protocol);
        let (sender, receiver, message) = pair.towards(ChannelSide::Client);
        let start = Sequence(Sequence::MASK - 3);
        (sender.next_sequence, receiver.last_received) = (start.next(), start);
        for expected in [Sequence::MASK - 2, Sequence::MASK - 1] {
            let sent = datagrams(sender, &server_message(0, 1400), "");
            assert_eq!(sent.len(), 2);
            assert_eq!(deliver(receiver, &sent[0], message), Ok(false));
            assert_eq!(deliver(receiver, &sent[1], message), Ok(true));
            assert_eq!(receiver.last_received(), Sequence(expected));
        }
        // We stop here; a peer that continues is followed.
        assert_eq!(sender.send(b"abc", &"".into(), 0, &mut Vec::new()), Err(SendError::Exhausted));
        sender.next_sequence = Sequence(1);
        assert_eq!(deliver(receiver, &datagrams(sender, b"abc", "")[0], message), Ok(true));
        assert_eq!((receiver.last_received(), receiver.lost()), (Sequence(1), 2));
    }
}

#[test]
fn n3_connection_ends_before_its_numbers_do() {
    let mut channel = Pair::new(Protocol::IOQ3_71).server;
    channel.next_sequence = Sequence(EXHAUSTED.0 - 1);
    assert!(!channel.outgoing_exhausted());
    datagrams(&mut channel, b"abc", "");
    assert!(channel.outgoing_exhausted());
    datagrams(&mut channel, b"goodbye", "");
}

#[test]
fn n4_wrong_checksum_is_detected_first() {
    let mut pair = Pair::new(Protocol::IOQ3_71);
    let (sender, receiver, message) = pair.towards(ChannelSide::Server);
    let sent = datagrams(sender, b"abc", "");
    assert_eq!(deliver(receiver, &sent[0], message), Ok(true));
    let mut stranger = Channel::new(ChannelSide::Client, Protocol::IOQ3_71, Challenge(1), QPORT);
    // Number 1 has the same checksum under every challenge.
    assert_eq!(datagrams(&mut stranger, b"abc", "")[0], sent[0]);
    stranger.next_sequence = Sequence(5);
    for datagram in datagrams(&mut stranger, &[0; 1300], "") {
        let dropped = DropReason::Checksum(Sequence(5));
        assert_eq!(receiver.receive(&datagram, message), Err(dropped));
    }
    receiver.last_received = Sequence(9);
    stranger.next_sequence = Sequence(5);
    let dropped = receiver.receive(&datagrams(&mut stranger, b"abc", "")[0], message);
    assert_eq!(dropped, Err(DropReason::Checksum(Sequence(5))), "though it is old, too");
    assert!(receiver.assembly.is_idle());
}

#[test]
fn fragments_share_number_and_checksum_at_1300_bytes() {
    let mut pair = Pair::new(Protocol::IOQ3_71);
    let message = vec![7; 2600];
    let sent = datagrams(&mut pair.client, &message, "");
    assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [1314, 1314, 14]);
    assert_eq!(sent[0].len(), MAX_DATAGRAM_LEN);
    for (datagram, start) in sent.iter().zip([0_u16, 1300, 2600]) {
        assert_eq!(datagram[..4], [1, 0, 0, 0x80]);
        assert_eq!(peek_client_header(datagram), Some((Sequence(1), QPORT)));
        assert_eq!(datagram[6..10], checksum(CHALLENGE, Sequence(1)).to_le_bytes());
        assert_eq!(datagram[10..12], start.to_le_bytes());
    }
    assert_eq!(pair.client.last_datagram_len(), 14);
    assert_eq!(datagrams(&mut pair.client, &[7; 1299], "")[0].len(), 1309);
    assert_eq!(pair.client.last_datagram_len(), 1309);
}

#[test]
fn newer_message_ends_reassembly() {
    let mut pair = Pair::new(Protocol::OA_71);
    let (sender, receiver, message) = pair.towards(ChannelSide::Client);
    let long = datagrams(sender, &server_message(0, 1500), "");
    let short = datagrams(sender, &server_message(0, 10), "");
    assert_eq!(deliver(receiver, &long[0], message), Ok(false));
    assert_eq!(deliver(receiver, &short[0], message), Ok(true));
    assert!(receiver.assembly.is_idle(), "its memory is free");
    assert!(matches!(deliver(receiver, &long[1], message), Err(DropReason::Old { .. })));
}

#[test]
fn queued_message_gets_number_and_key_at_transmission() {
    let mut pair = Pair::new(Protocol::OA_71);
    let mut out = Vec::new();
    let mut wire: Vec<Vec<u8>> = Vec::new();
    let gamestate = server_message(0, 2000);
    let sent = pair.server.send(&gamestate, &"".into(), 70, &mut out);
    let expected = Transmitted { sequence: Sequence(1), kind: 70, first: true, last: false };
    assert_eq!(sent, Ok(Some(expected)));
    wire.push(std::mem::take(&mut out));
    assert_eq!((pair.server.last_sent(), pair.server.next_sequence()), (Sequence(0), Sequence(2)));

    // Two more with different commands acknowledged, so with different texts.
    let texts: [Arc<str>; 2] = ["userinfo".into(), "say hi".into()];
    let waiting = [server_message(1, 1300), server_message(2, 30)];
    for (kind, (message, text)) in (71..).zip(waiting.iter().zip(&texts)) {
        assert_eq!(pair.server.send(message, text, kind, &mut out), Ok(None));
    }
    assert!(out.is_empty() && pair.server.is_busy());

    let mut seen = Vec::new();
    while let Some(sent) = pair.server.transmit_next(&mut out) {
        seen.push((sent.sequence.0, sent.kind, sent.first, sent.last));
        wire.push(std::mem::take(&mut out));
    }
    assert_eq!(
        seen,
        [(1, 70, false, true), (2, 71, true, false), (2, 71, false, true), (3, 72, true, true)]
    );
    assert!(!pair.server.is_busy());
    assert_eq!(pair.server.last_sent(), Sequence(3));

    let mut commands = OutgoingCommands::new();
    for text in &texts {
        assert!(commands.add(text.clone()).is_ok());
    }
    let mut arrived = Vec::new();
    for datagram in &wire {
        let received = pair.client.receive(datagram, &mut pair.message).expect("taken");
        let Some(received) = received else { continue };
        let sequence = received.sequence;
        let command = pair.client.unscramble_server_message(sequence, &commands, &mut pair.message);
        assert_eq!(commands.acknowledge(command.expect("opened").expect("acknowledged")), Ok(()));
        pair.client.commit(received);
        arrived.push(pair.message.clone());
    }
    assert_eq!(arrived, [&gamestate[..], &waiting[0], &waiting[1]]);
}

#[test]
fn unsendable_messages_are_rejected() {
    let mut server = Pair::new(Protocol::OA_71).server;
    let mut out = Vec::new();
    let text = Arc::default();
    assert_eq!(server.send(&[0; 16_385], &text, 0, &mut out), Err(SendError::TooLong(16_385)));
    assert!(server.send(&[0; 16_384], &text, 0, &mut out).is_ok());
    for _ in 0..MAX_QUEUED {
        assert_eq!(server.send(&[0; 16_384], &text, 0, &mut out), Ok(None));
    }
    assert_eq!(server.send(b"x", &text, 0, &mut out), Err(SendError::QueueFull));
    server.clear_unsent();
    assert!(!server.is_busy());
    assert_eq!(server.transmit_next(&mut out), None);
    let mut client = Pair::new(Protocol::OA_71).client;
    assert_eq!(client.send(b"", &text, 0, &mut out), Err(SendError::Headless));
    assert_eq!(client.next_sequence(), Sequence(1));
}

#[test]
fn message_with_unknown_key_is_rejected() {
    let mut pair = Pair::new(Protocol::OA_71);
    let head = ClientHeader { reliable_acknowledge: CommandNum(3), ..ClientHeader::default() };
    let sent = datagrams(&mut pair.client, &client_message(&head, 40), "cs 1");
    let received = pair.server.receive(&sent[0], &mut pair.message);
    assert!(matches!(received, Ok(Some(_))));
    let opened = pair.server.unscramble_client_message(&OutgoingCommands::new(), &mut pair.message);
    assert_eq!(opened, Err(UnscrambleError::UnknownCommand(3)));
}

#[test]
fn header_numbers_in_scrambled_bytes_make_the_key() {
    // Codes of these bytes are the longest, so the last long ends behind the twelfth byte.
    let head = ClientHeader {
        server_id: ServerId(0x59cd_cdcd),
        message_acknowledge: 0x59cd_cdcd,
        reliable_acknowledge: CommandNum(0x0001_cdcd),
    };
    let mut commands = OutgoingCommands::new();
    let mut clear = client_message(&head, 0);
    assert!(clear.len() > 13, "{} bytes: the test needs other bytes", clear.len());
    clear.resize(60, 0xab);
    for number in 1..=head.reliable_acknowledge.0 {
        assert!(commands.add(Arc::default()).is_ok());
        assert_eq!(commands.acknowledge(CommandNum(number)), Ok(()));
    }
    assert!(commands.add("one more".into()).is_ok());
    let mut pair = Pair::new(Protocol::OA_71);
    let sent = datagrams(&mut pair.client, &clear, "");
    assert!(matches!(pair.server.receive(&sent[0], &mut pair.message), Ok(Some(_))));
    assert_ne!(pair.message, clear);
    assert_eq!(pair.server.unscramble_client_message(&commands, &mut pair.message), Ok(head));
    assert_eq!(pair.message, clear);
}

#[test]
fn idle_channel_is_small() {
    assert!(size_of::<Channel<u64>>() <= 256, "{} bytes", size_of::<Channel<u64>>());
}
