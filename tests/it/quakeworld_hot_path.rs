//! QuakeWorld packets of a running game need no memory of their own.

use std::net::SocketAddr;

use fragd::{
    model::{Millis, Qport},
    quakeworld::{
        Channel, Client, ClientMessages, End, EntityDelta, EntityState, Extensions, PlayerInfo,
        ServerMessage, Usercmd,
        bytes::{Angle, Writer},
        channel::MAX_MESSAGE_LEN,
        client::ClientOptions,
        connectionless::Reply,
        info::Info,
        players::flag,
    },
};

/// Connection in the game, with the buffers of its owner.
struct Game {
    client: Client,
    server: Channel,
    address: SocketAddr,
    now: Millis,
    packet: Vec<u8>,
    message: Vec<u8>,
}

impl Game {
    fn new() -> Self {
        let address = "10.0.0.1:27500".parse().unwrap();
        let options = ClientOptions::new(address, Qport(5), Info::new(100));
        let now = Millis(1000);
        let mut client = Client::new(options, now);
        let mut packet = Vec::new();
        client.frame(now);
        for reply in [Reply::Challenge { number: 1, extensions: Extensions::NONE }, Reply::Accepted]
        {
            reply.write(&mut packet);
            client.handle_datagram(now, address, &packet);
        }
        let server = Channel::new(End::Server(Qport(5)));
        Self { client, server, address, now, packet, message: Vec::new() }
    }

    /// One usercmd and its answer: two players, twenty entities of which all move.
    fn step(&mut self, step: u32) {
        self.now += Millis(20);
        let command = Usercmd {
            msec: 20,
            forward: (step % 400) as i16,
            angles: [Angle(step as u16), Angle(7), Angle(0)],
            ..Usercmd::ZERO
        };
        self.client.push_usercmd(command, self.now);
        let mut asked = None;
        while self.client.poll_transmit(&mut self.packet).is_some() {
            let Ok(received) = self.server.receive(&self.packet) else { continue };
            let messages = ClientMessages::checked(received.payload, Extensions::NONE).unwrap();
            self.server.commit(&received, self.now);
            for message in messages {
                if let Ok(fragd::quakeworld::ClientMessage::Delta { sequence }) = message {
                    asked = Some(sequence);
                }
            }
        }
        if !self.server.is_answer_due() {
            return;
        }
        self.message.clear();
        let mut writer = Writer::new(&mut self.message, MAX_MESSAGE_LEN, Extensions::NONE);
        for player in 0..2 {
            let velocity = [step as i16, 1, 2];
            let mut info = PlayerInfo { player, velocity, command, ..PlayerInfo::default() };
            info.set_field_flags();
            info.flags |= flag::COMMAND | flag::MSEC;
            writer.write(&ServerMessage::PlayerInfo(info));
        }
        match asked {
            Some(base) => writer.put(&[48, base]),
            None => writer.put(&[47]),
        }
        for number in 40..60 {
            let from = EntityState::default();
            let to = EntityState { origin: [(step % 100) as f32, 0.0, 0.5], frame: 3, ..from };
            writer.write(&EntityDelta::between(number, &from, &to, Extensions::NONE));
        }
        writer.write(&0_u16);
        self.server.transmit(&self.message, self.now, &mut self.packet).unwrap();
        self.client.handle_datagram(self.now, self.address, &self.packet);
    }
}

#[test]
fn quakeworld_packets_allocate_nothing() {
    let mut game = Game::new();
    (0..200).for_each(|step| game.step(step));
    let before = game.client.statistics();
    let measured = allocation_counter::measure(|| (200..400).for_each(|step| game.step(step)));
    let after = game.client.statistics();
    assert_eq!((after.received - before.received, after.frames - before.frames), (200, 200));
    assert_eq!(after.rejected, 0);
    assert_eq!(measured.count_total, 0);
}
