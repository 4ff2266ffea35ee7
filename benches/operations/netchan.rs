//! Netchan: a message to its datagram and back, without a socket.

use std::{hint::black_box, sync::Arc};

use fragd::{
    model::{Challenge, CommandNum, Qport, Sequence},
    netchan::{Channel, ChannelSide, OutgoingCommands},
    wire::{Protocol, bits::BitWriter, server_message},
};

use super::{Operation, recorded::Recorded};

/// Different messages of each size.
const INPUTS: usize = 256;
const CHALLENGE: Challenge = Challenge(0x5e3_d1a7);

pub(crate) fn operations() -> Vec<Operation> {
    let mut recorded = Recorded::read();
    let mut operations = Vec::new();
    for (protocol, len) in [Protocol::OA_71, Protocol::IOQ3_71]
        .into_iter()
        .flat_map(|protocol| [160, 482].map(|len| (protocol, len)))
    {
        let messages: Vec<_> = (0..INPUTS).map(|_| message(&mut recorded, len)).collect();
        let name = |what| format!("netchan framing, {len} B, {protocol}, {what}");
        let size = format!("{len} B");
        let channel = move |end| Channel::<()>::new(end, protocol, CHALLENGE, Qport(1));
        let text: Arc<str> = "say hello, this is what a client said last".into();

        // What leaves, to be taken in again.
        let mut server = channel(ChannelSide::Server);
        let datagrams: Vec<Vec<u8>> = messages
            .iter()
            .map(|message| {
                let mut datagram = Vec::new();
                server.send(message, &text, (), &mut datagram).expect("sent").expect("at once");
                datagram
            })
            .collect();

        let (mut server, mut out) = (channel(ChannelSide::Server), Vec::new());
        let client_text = Arc::clone(&text);
        operations.push(Operation::over(name("send"), size.clone(), messages, move |message| {
            out.clear();
            let sent = server.send(message, &client_text, (), &mut out);
            assert!(sent.is_ok());
            black_box(&out);
        }));

        let mut commands = OutgoingCommands::new();
        commands.add(text).expect("the first");
        let mut client = channel(ChannelSide::Client);
        let mut message = Vec::new();
        operations.push(Operation::over(name("receive"), size, datagrams, move |datagram| {
            let received = client.receive(datagram, &mut message);
            let received = match received {
                Ok(Some(received)) => received,
                // The first again: a new connection.
                _ => {
                    client = channel(ChannelSide::Client).resumed(Sequence(1), Sequence(0));
                    client.receive(datagram, &mut message).expect("taken").expect("whole")
                }
            };
            let head = client.unscramble_server_message(received.sequence, &commands, &mut message);
            assert!(head.is_ok());
            client.commit(received);
            black_box(&message);
        }));
    }
    operations
}

/// A server message of that length which acknowledges command 1.
fn message(recorded: &mut Recorded, len: usize) -> Vec<u8> {
    let mut writer = BitWriter::new();
    server_message::begin(&mut writer, Protocol::Q3_68, CommandNum(1));
    let mut message = writer.message().to_vec();
    message.resize_with(len, || recorded.below(256) as u8);
    message
}
