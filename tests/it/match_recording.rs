//! Match recording of a running server: every extracted message equals the one that was sent.

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
};

use fragd::{
    bots::{Behavior, Behaviors, Bots, BotsOptions},
    client::Protocol,
    demo::DemoReader,
    model::{ClientNum, ConfigIndex, Millis},
    multiview::{OwnView, Reader, Record, SpectatorDemo, Viewpoint},
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, RecordingContent, Route},
    relay::{
        Audience, Control, DemoEnd, Frame, Level, MatchSource, Sink, Source as _, StreamSource,
    },
    server::Server,
    stream::{ConnectionId, Publisher, PublisherOptions, Subscriber, SubscriberEvent},
    wire::demo_file::END_MARK,
};

use crate::{
    bot_match, installed_maps,
    sample_maps::{TestMap, YARD},
};

const BOTS: u16 = 6;
/// Length of the header of ioquake3's protocol 71, whose payload is not scrambled.
const HEADER: usize = 8;
const FRAGMENT: u32 = 1 << 31;

/// A server and bots that are sent every datagram.
struct Match {
    server: Server,
    bots: Bots,
    now: Millis,
    /// Complete messages by port of the bot, then by sequence.
    sent: BTreeMap<u16, BTreeMap<u32, Vec<u8>>>,
}

impl Match {
    fn new(set: &[(&str, &str)]) -> Self {
        let (map, file) = match installed_maps::read("maps/oa_dm1.bsp") {
            Some(file) => ("oa_dm1", file),
            None => ("yard", TestMap::test_yard(YARD).file()),
        };
        let server = bot_match::server((map, &file), 3, &[&[("fraglimit", "0")], set].concat());
        let options = BotsOptions {
            seed: 9,
            joins_per_second: 16,
            behavior: Behaviors::default().with(Behavior::Wander).with(Behavior::Fight),
            ..BotsOptions::new(server_address(), Protocol::IOQ3_71, BOTS, Millis::seconds(3600))
        };
        let now = Millis(1000);
        let bots = Bots::new(options, now);
        Self { server, bots, now, sent: BTreeMap::new() }
    }

    fn run(&mut self, ms: u64) {
        let mut packet = Vec::new();
        for _ in 0..ms / 5 {
            self.now += Millis(5);
            if self.bots.next_frame() <= self.now {
                self.bots.frame(self.now);
            }
            while let Some(route) = self.bots.poll_transmit(&mut packet) {
                let from = Route::new(LocalPort(0), bot_address(route.local));
                self.server.handle_datagram(self.now, from, &packet);
            }
            if self.server.next_frame() <= self.now {
                self.server.frame(self.now);
            }
            while let Some(route) = self.server.poll_transmit(&mut packet) {
                let port = route.remote.port() - 20_000;
                self.note(port, &packet);
                let to = Route::new(LocalPort(port), server_address());
                self.bots.handle_datagram(self.now, to, &packet);
            }
        }
    }

    /// Appends what the server hands to the driver.
    fn poll(&mut self, file: &mut Vec<u8>) {
        while let Some(Output::Recording(piece)) = self.server.poll_output(OutputKind::Recording) {
            match piece.content {
                RecordingContent::Begin { name, extension } => {
                    assert!(name.starts_with("final_") && name.ends_with("_match"), "{name}");
                    assert_eq!(extension, "mv");
                }
                RecordingContent::Data(bytes) => file.extend(bytes),
                RecordingContent::End => {}
            }
        }
    }

    /// Notes the message of a datagram, or a fragment of it.
    fn note(&mut self, port: u16, datagram: &[u8]) {
        let word = |at: usize| u32::from_le_bytes(datagram[at..at + 4].try_into().unwrap());
        if word(0) == u32::MAX {
            return;
        }
        let messages = self.sent.entry(port).or_default();
        let message = messages.entry(word(0) & !FRAGMENT).or_default();
        if word(0) & FRAGMENT == 0 {
            *message = datagram[HEADER..].to_vec();
            return;
        }
        let start = usize::from(u16::from_le_bytes([datagram[HEADER], datagram[HEADER + 1]]));
        if start == message.len() {
            message.extend(&datagram[HEADER + 4..]);
        }
    }
}

fn server_address() -> SocketAddr {
    ([192, 168, 0, 1], 27_960).into()
}

fn bot_address(port: LocalPort) -> SocketAddr {
    ([192, 168, 0, 9], 20_000 + port.0).into()
}

/// Sequences and messages of a demo.
fn messages(mut demo: &[u8]) -> Vec<(u32, &[u8])> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = demo.split_first_chunk::<8>() {
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let (message, rest) = rest.split_at(word(4) as usize);
        messages.push((word(0), message));
        demo = rest;
    }
    messages
}

#[test]
fn extracted_demo_equals_the_messages_sent() {
    let mut played = Match::new(&[]);
    played.run(4000);
    played.server.handle_input(played.now, Input::ConsoleLine("record match final"));
    let mut file = Vec::new();
    for second in 0..25 {
        played.run(1000);
        if second == 12 {
            played.server.handle_input(played.now, Input::ConsoleLine("say hello"));
            played.server.handle_input(played.now, Input::ConsoleLine("set sv_hostname renamed"));
            played.server.handle_input(played.now, Input::ConsoleLine("map_restart 0"));
        }
        played.poll(&mut file);
    }
    played.server.handle_input(played.now, Input::ConsoleLine("stoprecord match"));
    played.poll(&mut file);
    assert_eq!(played.server.active_clients(), usize::from(BOTS));

    let index = Reader::open(&file).unwrap().index().unwrap();
    assert_eq!(index.sessions.len(), usize::from(BOTS));
    assert!(index.frames > 480, "{}", index.frames);
    let bytes_per_second = file.len() / 25;
    println!("{bytes_per_second} bytes per second for {BOTS} bots");
    for (number, session) in index.sessions.iter().enumerate() {
        let mut reader = Reader::open(&file).unwrap();
        let mut view = OwnView::new(&index.sessions, number).unwrap();
        let mut demo = Vec::new();
        while let Some(record) = reader.next_record() {
            view.record(reader.decoder(), &record.unwrap(), &mut demo).unwrap();
        }
        let extracted = messages(&demo);
        assert!(extracted.len() > 450, "{} messages", extracted.len());
        let sent = played.sent.values().find(|sent| {
            sent.get(&extracted[20].0).is_some_and(|message| message == extracted[20].1)
        });
        let sent = sent.unwrap_or_else(|| panic!("slot {}: no client", session.client));
        // The first is the gamestate, which was not sent.
        for (sequence, message) in &extracted[1..] {
            assert!(sent[sequence] == *message, "slot {}: message {sequence}", session.client);
        }
        let first = extracted[1].0;
        let missing =
            sent.keys().filter(|sequence| **sequence >= first).count() - (extracted.len() - 1);
        assert!(missing <= 1, "slot {}: {missing} messages are missing", session.client);
    }
    spectate(&file);
    play(&file);
}

/// Frames and levels that a source has told.
#[derive(Default)]
struct Told {
    levels: usize,
    times: Vec<i32>,
    views: usize,
    losses: Vec<String>,
    commands: Vec<String>,
}

impl Sink for Told {
    fn level(&mut self, _: Level) {
        self.levels += 1;
    }
    fn configstring(&mut self, _: ConfigIndex, _: &str) {}
    fn command(&mut self, _: Audience, text: &str) {
        self.commands.push(text.to_owned());
    }
    fn frame(&mut self, frame: &Frame<'_>) {
        self.times.push(frame.time.0);
        self.views = self.views.max(frame.views.len());
    }
    fn lost(&mut self, reason: &str) {
        self.losses.push(reason.to_owned());
    }
}

/// Plays a recording as the source of a broadcast, with a jump.
fn play(file: &[u8]) {
    let mut source = MatchSource::new(file, "match", DemoEnd::Stop).unwrap();
    let (mut told, mut now) = (Told::default(), Millis(500));
    let run = |source: &mut MatchSource<'_>, told: &mut Told, now: &mut Millis, ms: u64| {
        for _ in 0..ms / 10 {
            *now += Millis(10);
            if source.next_due() <= *now {
                source.advance(*now, told);
            }
        }
    };
    run(&mut source, &mut told, &mut now, 2000);
    assert_eq!((told.levels, told.views), (1, usize::from(BOTS)));
    assert!((38..=42).contains(&told.times.len()), "{} frames", told.times.len());
    let (shown, first) = (told.times.len(), told.times[0]);
    source.control(now, Control::Seek(15_000)).unwrap();
    run(&mut source, &mut told, &mut now, 100);
    assert_eq!((told.levels, told.times[shown] - first), (2, 15_000));
    source.control(now, Control::Skip(-14_000)).unwrap();
    run(&mut source, &mut told, &mut now, 28_000);
    assert!(told.times.len() > shown + 460, "{} frames", told.times.len());
    assert!(source.is_finished());
}

/// Reads demos of spectators to their ends.
fn spectate(file: &[u8]) {
    let follow = Viewpoint::Follow(ClientNum::new(1).unwrap());
    for view in [follow, Viewpoint::Free(Default::default(), 90.0)] {
        let mut reader = Reader::open(file).unwrap();
        let mut demo = SpectatorDemo::new(view, Protocol::Q3_68);
        let (mut out, mut frames) = (Vec::new(), 0);
        while let Some(record) = reader.next_record() {
            let record = record.unwrap();
            frames += u32::from(record == Record::Frame);
            demo.record(reader.decoder(), &record, None, &mut out);
        }
        // One more for the gamestate. A restart has no player for a frame.
        assert!((frames - 5..=frames + 1).contains(&demo.messages()), "{frames}");
        out.extend(END_MARK);
        let faults: Vec<_> = DemoReader::new(Protocol::Q3_68, &out)
            .filter_map(|message| message.err().map(|fault| fault.to_string()))
            .collect();
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// Carries what is due on a connection of a live stream, and queues its events.
fn carry(
    now: Millis,
    publisher: &mut Publisher,
    id: ConnectionId,
    subscriber: &mut Subscriber,
    events: &RefCell<VecDeque<SubscriberEvent>>,
) {
    loop {
        let (up, down) = (subscriber.take_output(), publisher.output(id).to_vec());
        if up.is_empty() && down.is_empty() {
            return;
        }
        publisher.receive(now, id, &up);
        publisher.sent(id, down.len());
        subscriber.receive(now, &down).expect("a valid stream");
        events.borrow_mut().extend(std::iter::from_fn(|| subscriber.poll_event()));
    }
}

#[test]
fn live_stream_shows_every_player_and_every_frame() {
    let mut played = Match::new(&[("sv_relayAddress", "127.0.0.1:0")]);
    let mut publisher = Publisher::new(PublisherOptions {
        password: "a password".to_owned(),
        delay: Millis(0),
        max_relays: 1,
        seed: 1,
    });
    let events = RefCell::new(VecDeque::new());
    let mut source = StreamSource::new("test", Box::new(|| events.borrow_mut().pop_front()));
    let mut told = Told::default();
    // The relay connects in the middle of a chunk, when all players are in the game.
    let mut connection = None;
    for step in 0..2000 {
        played.run(10);
        while let Some(Output::Stream(pieces)) = played.server.poll_output(OutputKind::Stream) {
            publisher.publish(played.now, &pieces);
        }
        match step {
            700 | 1300 => {
                let from = ([192, 168, 0, 7], 4000).into();
                let id = publisher.accept(played.now, from, [step as u8; 16]).expect("room");
                let relay = Subscriber::new(played.now, "a password", "relay", [7; 16]);
                connection = Some((id, relay));
            }
            900 => played.server.handle_input(played.now, Input::ConsoleLine("say hello")),
            1000 => played.server.handle_input(played.now, Input::ConsoleLine("map_restart 0")),
            1200 => {
                let (id, _) = connection.take().expect("a connection");
                publisher.closed(id);
                events.borrow_mut().push_back(SubscriberEvent::Ended("cut".to_owned()));
            }
            _ => {}
        }
        if let Some((id, relay)) = &mut connection {
            carry(played.now, &mut publisher, *id, relay, &events);
        }
        if source.next_due() <= played.now {
            source.advance(played.now, &mut told);
        }
    }
    assert_eq!(told.views, usize::from(BOTS));
    assert_eq!(told.levels, 2, "one for each connection");
    assert_eq!(told.losses, ["cut"]);
    assert!(told.commands.iter().any(|text| text.contains("hello")), "{:?}", told.commands);
    // The first relay gets the chunk from its key frame, so two chunks' frames may come twice.
    let steps: Vec<_> = told.times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let regular = steps.iter().filter(|step| **step == 50).count();
    assert!(regular >= 230, "{regular} of {} steps", steps.len());
    assert!(steps.len() - regular <= 3, "{steps:?}");
}
