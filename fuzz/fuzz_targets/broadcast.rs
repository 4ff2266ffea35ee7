//! A broadcast whose source tells anything, with a viewer, its commands and lines of the operator.
#![no_main]

use std::{cell::RefCell, rc::Rc};

use fragd::{
    model::{
        ClientNum, ConfigIndex, EntityNum, EntitySet, EntityState, LevelTime, Millis, PlayerState,
    },
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route},
    relay::{Audience, Broadcast, BroadcastOptions, Frame, Level, Sink, Source, View, Visible},
    sim::Player,
    wire::{Protocol, snapshot::AreaMask},
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

/// Source that tells the pieces in its queue.
struct Told(Rc<RefCell<Vec<Vec<u8>>>>);

impl Source for Told {
    fn name(&self) -> String {
        "fuzzed".to_owned()
    }

    fn advance(&mut self, _: Millis, sink: &mut dyn Sink) {
        for piece in self.0.borrow_mut().drain(..) {
            tell(&piece, sink);
        }
    }

    fn next_due(&self) -> Millis {
        Millis::NEVER
    }

    fn status(&self, _: Millis) -> String {
        String::new()
    }
}

/// Words of a struct from bytes; the rest is zero.
fn fill(words: &mut [u32], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}

fn tell(piece: &[u8], sink: &mut dyn Sink) {
    let [kind, at, body @ ..] = piece else { return };
    let text = String::from_utf8_lossy(body);
    let index = ConfigIndex::at(u16::from(*at) * 4);
    match kind % 5 {
        0 => {
            let mut baseline = EntityState::default();
            fill(baseline.words_mut(), body);
            sink.level(Level {
                configstrings: vec![(index, text.into_owned())],
                baselines: vec![baseline; usize::from(*at)],
                spectator: ClientNum::new(usize::from(*at)),
            });
        }
        1 => sink.configstring(index, &text),
        2 => sink.command(Audience::All, &text),
        3 => {
            sink.command(Audience::Followers(ClientNum::new(usize::from(at % 64)).unwrap()), &text)
        }
        _ => {
            let time = LevelTime(i32::from(*at) * 100);
            let mut state = PlayerState::default();
            fill(state.words_mut(), body);
            let mut entities: Vec<_> = body
                .chunks(24)
                .map(|bytes| {
                    let mut entity = EntityState::default();
                    fill(entity.words_mut(), bytes);
                    entity
                })
                .collect();
            if at % 2 == 0 {
                entities.sort_by_key(|entity| entity.number);
            }
            let mut seen = EntitySet::default();
            body.iter().filter_map(|byte| EntityNum::new(usize::from(*byte))).for_each(|number| {
                seen.insert(number);
            });
            let player = |number: usize| ClientNum::new(number % 64).unwrap();
            let views: Vec<_> = (0..usize::from(at % 4))
                .map(|number| View {
                    player: player(number + usize::from(*at)),
                    state: &state,
                    visible: if number == 0 { Visible::All } else { Visible::Set(&seen) },
                    areas: AreaMask::default(),
                })
                .collect();
            sink.frame(&Frame { time, is_odd: at % 3 == 0, entities: &entities, views: &views });
        }
    }
}

/// Exchanges all datagrams of the two.
fn exchange(node: &mut Broadcast<'_>, viewer: &mut Player, now: Millis) {
    let mut packet = Vec::new();
    let (host, guest) = (([127, 0, 0, 1], 27960).into(), ([127, 0, 0, 1], 5).into());
    while node.poll_transmit(&mut packet).is_some() {
        viewer.handle_datagram(now, Route::new(LocalPort(0), host), &packet);
    }
    while viewer.poll_transmit(&mut packet).is_some() {
        node.handle_datagram(now, Route::new(LocalPort(0), guest), &packet);
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let queue = Rc::new(RefCell::new(vec![vec![0, 0], vec![4, 1]]));
    let options = BroadcastOptions {
        delay: Millis(u64::from(choice >> 4) * 10),
        ..BroadcastOptions::default()
    };
    let mut node = Broadcast::new(Box::new(Told(Rc::clone(&queue))), options, [7; 32]);
    let protocol = Protocol::ALL[usize::from(choice % 3)];
    let mut now = Millis(1000);
    let host = ([127, 0, 0, 1], 27960).into();
    let mut viewer = Player::new(host, protocol, "viewer", 3, now);
    let mut step = |node: &mut Broadcast<'_>, viewer: &mut Player, by: u64| {
        for _ in 0..by {
            now += Millis(20);
            node.frame(now);
            viewer.frame(now);
            exchange(node, viewer, now);
        }
        now
    };
    step(&mut node, &mut viewer, 40);
    for piece in pieces(data, 40) {
        let [kind, body @ ..] = piece else { continue };
        let now = step(&mut node, &mut viewer, u64::from(kind >> 5));
        match kind % 4 {
            0 | 1 => queue.borrow_mut().push(body.to_vec()),
            2 => {
                let text: String =
                    body.iter().take(900).map(|byte| char::from(byte & 127)).collect();
                viewer.send_command(now, &text.replace('\0', " "));
            }
            _ => node.handle_input(now, Input::ConsoleLine(&String::from_utf8_lossy(body))),
        }
        while node.poll_output(OutputKind::Console).is_some() {}
        node.check_invariants().unwrap();
    }
    step(&mut node, &mut viewer, 20);
});
