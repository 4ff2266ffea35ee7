//! Properties of channels over links that lose, duplicate and reorder in both directions.

use proptest::prelude::*;

use super::*;

/// Link with datagrams on their way.
#[derive(Default)]
struct Link(Vec<Vec<u8>>);

impl Link {
    /// Sends a datagram; `fate` loses or duplicates it.
    fn send(&mut self, datagram: Vec<u8>, fate: u8) {
        match fate % 8 {
            0 | 1 => {}
            2 => {
                self.0.push(datagram.clone());
                self.0.push(datagram);
            }
            _ => self.0.push(datagram),
        }
    }

    /// Takes one of the datagrams on their way.
    fn take(&mut self, choice: u8) -> Option<Vec<u8>> {
        let count = self.0.len().min(4);
        (count > 0).then(|| self.0.remove(usize::from(choice) % count))
    }
}

/// End with the reliable messages that it sent and received. Each is a number of two bytes behind a mark.
struct Peer {
    channel: Channel,
    sent: u16,
    received: Vec<u16>,
}

const RELIABLE: u8 = 1;
const UNRELIABLE: u8 = 2;

impl Peer {
    fn new(channel: Channel) -> Self {
        Self { channel, sent: 0, received: Vec::new() }
    }

    fn queue(&mut self) {
        let [low, high] = self.sent.to_le_bytes();
        if self.channel.queue_reliable(&[RELIABLE, low, high]).is_ok() {
            self.sent += 1;
        }
    }

    fn receive(&mut self, datagram: &[u8]) {
        let Ok(received) = self.channel.receive(datagram) else { return };
        let payload = received.payload.to_vec();
        self.channel.commit(&received, Millis(0));
        for piece in payload.chunks(3) {
            if piece[0] == RELIABLE {
                self.received.push(u16::from_le_bytes([piece[1], piece[2]]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn reliable_messages_arrive_once_and_in_order(
        steps in prop::collection::vec(any::<[u8; 6]>(), 50..400),
        starts_at_one in any::<bool>(),
    ) {
        let client = if starts_at_one { client().starting_at_one() } else { client() };
        let (mut client, mut server) = (Peer::new(client), Peer::new(server()));
        let (mut up, mut down) = (Link::default(), Link::default());
        for [messages, fate_up, fate_down, order_up, order_down, timing] in steps {
            for _ in 0..messages % 4 {
                client.queue();
            }
            for _ in 0..messages / 4 % 4 {
                server.queue();
            }
            up.send(transmit(&mut client.channel, &[UNRELIABLE, 0, 0], Millis(0)), fate_up);
            for _ in 0..timing % 3 {
                if let Some(datagram) = up.take(order_up) {
                    server.receive(&datagram);
                }
            }
            if server.channel.is_answer_due() {
                down.send(transmit(&mut server.channel, &[UNRELIABLE, 0, 0], Millis(0)), fate_down);
            }
            for _ in 0..timing / 3 % 3 {
                if let Some(datagram) = down.take(order_down) {
                    client.receive(&datagram);
                }
            }
        }
        let in_order = |received: &[u16]| received.iter().copied().eq(0..received.len() as u16);
        prop_assert!(in_order(&client.received), "{:?}", client.received);
        prop_assert!(in_order(&server.received), "{:?}", server.received);
        // Without further loss, everything arrives.
        for _ in 0..8 {
            server.receive(&transmit(&mut client.channel, &[], Millis(0)));
            client.receive(&transmit(&mut server.channel, &[], Millis(0)));
        }
        let arrives = |received: &[u16], sent: u16| received.iter().copied().eq(0..sent);
        if !client.channel.is_overflowed() && !server.channel.is_overflowed() {
            prop_assert!(arrives(&server.received, client.sent));
            prop_assert!(arrives(&client.received, server.sent));
        }
    }

    #[test]
    fn channel_survives_arbitrary_datagrams(
        datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..50),
    ) {
        let (mut client, mut server) = pair();
        for datagram in datagrams {
            for end in [&mut client, &mut server] {
                let _ = receive(end, &datagram, Millis(0));
                let _ = transmit(end, &datagram, Millis(0));
            }
        }
        prop_assert!(client.incoming() <= client.lost() as u32 + 50);
    }
}
