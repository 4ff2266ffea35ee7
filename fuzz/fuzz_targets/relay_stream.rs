//! Live streams: any bytes to publisher, subscriber and source of a broadcast.
#![no_main]

use std::collections::VecDeque;

use fragd::{
    model::{ConfigIndex, Millis},
    relay::{Audience, Frame, Level, Sink, Source as _, StreamSource},
    stream::{Publisher, PublisherOptions, Subscriber, SubscriberEvent},
};
use libfuzzer_sys::fuzz_target;

struct Ignored;

impl Sink for Ignored {
    fn level(&mut self, _: Level) {}
    fn configstring(&mut self, _: ConfigIndex, _: &str) {}
    fn command(&mut self, _: Audience, _: &str) {}
    fn frame(&mut self, _: &Frame<'_>) {}
    fn lost(&mut self, _: &str) {}
}

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let half = data.len() * usize::from(*choice) / 256;
    let parts = [&data[..half], &data[half..]];

    let mut publisher = Publisher::new(PublisherOptions {
        password: "password".to_owned(),
        delay: Millis(0),
        max_relays: 2,
        seed: 1,
    });
    let from = ([192, 0, 2, 1], 4000).into();
    let id = publisher.accept(Millis(0), from, [1; 16]).expect("room");
    let mut subscriber = Subscriber::new(Millis(0), "password", "relay", [2; 16]);
    let hello = publisher.output(id).to_vec();
    publisher.sent(id, hello.len());
    subscriber.receive(Millis(0), &hello).expect("a hello");
    if choice & 1 != 0 {
        publisher.receive(Millis(0), id, &subscriber.take_output());
        let welcome = publisher.output(id).to_vec();
        publisher.sent(id, welcome.len());
        subscriber.receive(Millis(0), &welcome).expect("a welcome");
    }
    for part in parts {
        publisher.receive(Millis(1), id, part);
        publisher.publish(Millis(2), part);
        if subscriber.receive(Millis(1), part).is_err() {
            break;
        }
        while subscriber.poll_event().is_some() {}
    }

    let mut events: VecDeque<_> =
        parts.iter().map(|part| SubscriberEvent::Pieces(part.to_vec())).collect();
    let mut source = StreamSource::new("fuzz", Box::new(|| events.pop_front()));
    source.advance(Millis(3), &mut Ignored);
    let _ = (source.name(), source.status(Millis(3)));
});
