//! A client in good standing of a server or relay, whose messages say anything.
#![no_main]

use fragd::{
    model::{ClientNum, CommandNum, ConfigIndex, LevelTime, Millis, PlayerState, ServerId},
    node::{Hosted, Node as _, OutputKind},
    relay::{Broadcast, BroadcastOptions, Frame, Level, Sink, Source, View, Visible},
    settings::GameFolder,
    wire::{Protocol, bits::BitWriter, client_message, snapshot::AreaMask},
};
use fragd_fuzz::{
    ENTROPY, FIRST_LEVEL, RawClient, YARD, datagrams, head, pieces, server, server_id,
};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Source of one level with a moving player.
struct Play(i32);

impl Source for Play {
    fn name(&self) -> String {
        "fuzzed".to_owned()
    }

    fn advance(&mut self, _: Millis, sink: &mut dyn Sink) {
        if self.0 == 0 {
            let serverinfo = (ConfigIndex::SERVERINFO, "\\mapname\\yard".to_owned());
            let baselines = Vec::new();
            sink.level(Level { configstrings: vec![serverinfo], baselines, spectator: None });
        }
        self.0 += 50;
        let state = PlayerState { command_time: self.0, ..PlayerState::default() };
        let view = View {
            player: ClientNum::new(0).expect("a number"),
            state: &state,
            visible: Visible::All,
            areas: AreaMask::default(),
        };
        let time = LevelTime(self.0);
        sink.frame(&Frame { time, is_odd: false, entities: &[], views: &[view] });
    }

    fn next_due(&self) -> Millis {
        Millis::NEVER
    }

    fn status(&self, _: Millis) -> String {
        String::new()
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let game = if choice & 1 == 0 { GameFolder::BaseOa } else { GameFolder::BaseQ3 };
    let protocols: Vec<_> = Protocol::live().collect();
    let protocol = protocols[usize::from(choice >> 4) % protocols.len()];
    if choice & 8 != 0 {
        let mut relay = Broadcast::new(Box::new(Play(0)), BroadcastOptions::default(), ENTROPY);
        relay.frame(Millis(9_000));
        run(&mut relay, FIRST_LEVEL, protocol, data);
        relay.check_invariants().expect("consistent");
        return;
    }
    let mut server = server(game, (choice & 4 == 0).then(|| YARD.clone()));
    let id = server_id(&server);
    run(&mut server, id, protocol, data);
    server.check_invariants().expect("consistent");
});

/// Joins a node and sends it the pieces of `data`.
fn run(node: &mut impl Hosted, server_id: ServerId, protocol: &'static Protocol, data: &[u8]) {
    let mut raw = RawClient::new();
    let mut channel = raw.join(node, protocol).expect("a challenge");
    let text: Arc<str> = "".into();
    let mut inbox = Vec::new();
    let mut acknowledged = 0;
    let mut commands = 0;
    for piece in std::iter::once(&[][..]).chain(pieces(data, 24)) {
        let [kind, body @ ..] = piece else {
            let head = head(server_id, acknowledged);
            raw.say(node, &mut channel, &head, |_| {});
            continue;
        };
        let head = head(server_id, acknowledged);
        match kind % 4 {
            // A message of any bytes.
            0 => {
                for datagram in datagrams(&mut channel, body, &text) {
                    raw.send(node, &datagram);
                }
            }
            // A right head, and then any bytes.
            1 => {
                let mut writer = BitWriter::new();
                client_message::begin(&mut writer, protocol, &head);
                body.iter().take(8000).for_each(|byte| writer.byte(*byte));
                let message = writer.message().to_vec();
                for datagram in datagrams(&mut channel, &message, &text) {
                    raw.send(node, &datagram);
                }
            }
            // A command in order.
            2 => {
                commands += 1;
                let body = &body[..body.len().min(1000)];
                raw.say(node, &mut channel, &head, |writer| {
                    client_message::write_command(writer, CommandNum(commands), body);
                });
            }
            // A datagram of any bytes.
            _ => raw.send(node, body),
        }
        for packet in &raw.replies {
            if let Ok(Some(received)) = channel.receive(packet, &mut inbox) {
                acknowledged = received.sequence.0 as i32;
                channel.commit(received);
            }
        }
        raw.wait(node, u64::from(kind / 4) * 4);
        while node.poll_output(OutputKind::Console).is_some() {}
    }
}
