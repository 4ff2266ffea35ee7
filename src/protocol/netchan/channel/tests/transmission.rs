//! Property tests: random messages between two channels, also over a lossy network.

use proptest::prelude::*;

use super::*;

fn protocols() -> impl Strategy<Value = &'static Protocol> {
    prop_oneof![Just(Protocol::OA_71), Just(Protocol::IOQ3_71)]
}

fn ends() -> impl Strategy<Value = ChannelSide> {
    prop_oneof![Just(ChannelSide::Server), Just(ChannelSide::Client)]
}

/// A message of about that length, with the header that `receiver` expects.
fn message_for(receiver: ChannelSide, acknowledged: i32, len: usize) -> Vec<u8> {
    match receiver {
        ChannelSide::Client => server_message(acknowledged, len),
        ChannelSide::Server => {
            let head = ClientHeader {
                server_id: ServerId(len as i32 * 77),
                message_acknowledge: 5,
                reliable_acknowledge: CommandNum(acknowledged),
            };
            client_message(&head, len)
        }
    }
}

fn open(
    channel: &Channel<u32>,
    sequence: Sequence,
    commands: &OutgoingCommands,
    message: &mut [u8],
) -> Result<(), UnscrambleError> {
    match channel.end {
        ChannelSide::Server => channel.unscramble_client_message(commands, message).map(|_| ()),
        ChannelSide::Client => {
            channel.unscramble_server_message(sequence, commands, message).map(|_| ())
        }
    }
}

proptest! {
    #[test]
    fn any_message_is_delivered(
        protocol in protocols(),
        receiver in ends(),
        len in prop_oneof![
            0..40_usize,
            1290..1310_usize,
            Just(2600), Just(3900), Just(15_600),
            16_370..=16_384_usize,
            0..=16_384_usize
        ],
        text in "[ -~]{0,40}",
    ) {
        let mut pair = Pair::new(protocol);
        let mut commands = OutgoingCommands::new();
        prop_assert!(commands.add(text.as_str().into()).is_ok());
        let clear = message_for(receiver, 1, len);
        let (sender, receiver, message) = pair.towards(receiver);
        let sent = datagrams(sender, &clear, &text);
        let (last, earlier) = sent.split_last().expect("one at least");
        for datagram in earlier {
            prop_assert_eq!(receiver.receive(datagram, message), Ok(None));
        }
        let received = receiver.receive(last, message).expect("taken").expect("whole");
        prop_assert_eq!(open(receiver, received.sequence, &commands, message), Ok(()));
        prop_assert_eq!(&*message, &clear);
        receiver.commit(received);
        prop_assert!(receiver.assembly.is_idle());
    }

    #[test]
    fn any_bytes_are_delivered_by_ioq3_71(
        receiver in ends(),
        bytes in proptest::collection::vec(any::<u8>(), 0..3000),
    ) {
        let mut pair = Pair::new(Protocol::IOQ3_71);
        let (sender, receiver, message) = pair.towards(receiver);
        let mut whole = false;
        for datagram in datagrams(sender, &bytes, "ignored") {
            whole = deliver(receiver, &datagram, message).expect("taken");
        }
        prop_assert!(whole);
        prop_assert_eq!(&*message, &bytes);
    }

    /// Datagrams of several messages, each lost, duplicated, or overtaken by others.
    #[test]
    fn lossy_network_delivers_exact_messages_at_most_once(
        protocol in protocols(),
        receiver in ends(),
        lens in proptest::collection::vec(0..4000_usize, 1..8),
        fates in proptest::collection::vec((0..8_usize, 0..6_usize), 64),
    ) {
        let mut pair = Pair::new(protocol);
        let mut commands = OutgoingCommands::new();
        prop_assert!(commands.add("print \"50% off\"".into()).is_ok());
        let (sender, end, message) = pair.towards(receiver);
        let mut sent = Vec::new();
        let mut network = Vec::new();
        for len in lens {
            let clear = message_for(receiver, 1, len);
            for datagram in datagrams(sender, &clear, "print \"50% off\"") {
                let at = network.len();
                let (copies, delay) = fates[at % fates.len()];
                for copy in 0..[0, 1, 1, 1, 1, 1, 1, 2][copies] {
                    network.push((at + [0, 0, 0, 0, 1, 4][delay] + copy, datagram.clone()));
                }
            }
            sent.push(clear);
        }
        network.sort_by_key(|(due, _)| *due);
        let mut newest = 0;
        for (_, datagram) in network {
            let Ok(Some(received)) = end.receive(&datagram, message) else { continue };
            let number = received.sequence.0 as usize;
            prop_assert!(number > newest);
            prop_assert_eq!(received.lost as usize, number - newest - 1);
            newest = number;
            prop_assert_eq!(open(end, received.sequence, &commands, message), Ok(()));
            prop_assert_eq!(&*message, &sent[number - 1]);
            end.commit(received);
        }
    }

    #[test]
    fn channel_never_panics_on_any_bytes(
        protocol in protocols(),
        receiver in ends(),
        datagrams in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..60), any::<bool>(), any::<bool>()), 1..20),
    ) {
        let mut pair = Pair::new(protocol);
        let (_, channel, message) = pair.towards(receiver);
        let commands = OutgoingCommands::new();
        for (at, (mut bytes, near, signed)) in datagrams.into_iter().enumerate() {
            // Random numbers and checksums would nearly all be dropped at once.
            if near && bytes.len() >= 10 {
                let number = [at as u8 + 1, 0, 0, bytes[3] & 0x80];
                bytes[..4].copy_from_slice(&number);
                let at_checksum = if receiver == ChannelSide::Server { 6 } else { 4 };
                if signed && protocol == Protocol::IOQ3_71 {
                    let checksum = checksum(CHALLENGE, Sequence(at as u32 + 1)).to_le_bytes();
                    bytes[at_checksum..at_checksum + 4].copy_from_slice(&checksum);
                }
            }
            if let Ok(Some(received)) = channel.receive(&bytes, message) {
                let _ = open(channel, received.sequence, &commands, message);
                channel.commit(received);
            }
        }
    }
}
