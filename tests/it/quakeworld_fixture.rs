//! QuakeWorld server and clients in one process, in virtual time, over impaired links.

use std::net::SocketAddr;

use fragd::{
    bsp29::{Bsp29, compiler::fragqw1},
    impairment::{ImpairedLink, Impairment},
    model::{Millis, Qport, UnixMillis, assets::MemoryAssets},
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route, take_text},
    quakeworld::{
        Client, Usercmd,
        client::{ClientEvent, ClientOptions, ClientState},
        connectionless::Reply,
        info::{Info, MAX_INFO_LEN},
    },
    qwserver::{QwServer, ServerOptions, Settings},
};

/// Time between two usercmds.
pub(crate) const STEP: u64 = 20;

/// A client with its address and links.
pub(crate) struct Peer {
    pub(crate) client: Client,
    pub(crate) address: SocketAddr,
    pub(crate) command: Usercmd,
    pub(crate) events: Vec<ClientEvent>,
    /// Whether the client has the map of the server.
    pub(crate) has_map: bool,
    to_server: ImpairedLink,
    to_client: ImpairedLink,
}

/// Server and clients.
pub(crate) struct QwFixture {
    pub(crate) server: QwServer,
    pub(crate) peers: Vec<Peer>,
    pub(crate) now: Millis,
    /// Datagrams of the server to addresses without a client.
    pub(crate) strays: Vec<(SocketAddr, Vec<u8>)>,
    map_checksum: i32,
    packet: Vec<u8>,
}

/// Options of a server with these settings and no files.
pub(crate) fn options(settings: &[(&str, &str)]) -> ServerOptions {
    let mut all = Settings::default();
    for (name, value) in settings {
        all.set(name, value).unwrap();
    }
    ServerOptions {
        settings: all,
        assets: Box::new(MemoryAssets::default()),
        entropy: [9; 32],
        began: UnixMillis(1_700_000_000_000),
        lines: Vec::new(),
    }
}

/// Address of client `number`.
pub(crate) fn address(number: usize) -> SocketAddr {
    ([10, 0, 1, number as u8], 27001).into()
}

impl QwFixture {
    pub(crate) fn new(settings: &[(&str, &str)]) -> Self {
        Self::of(options(settings))
    }

    pub(crate) fn of(options: ServerOptions) -> Self {
        let map = Bsp29::load(&fragqw1()).unwrap();
        Self {
            server: QwServer::start(options, Millis(1000)).unwrap(),
            peers: Vec::new(),
            now: Millis(1000),
            strays: Vec::new(),
            map_checksum: map.checksums().second,
            packet: Vec::new(),
        }
    }

    /// Adds a client with a name and further userinfo. Returns its index.
    pub(crate) fn add(&mut self, info: &[(&str, &str)]) -> usize {
        self.add_impaired(info, &Impairment::default(), 1)
    }

    pub(crate) fn add_impaired(
        &mut self,
        pairs: &[(&str, &str)],
        impairment: &Impairment,
        seed: u64,
    ) -> usize {
        let number = self.peers.len();
        let mut info = Info::new(MAX_INFO_LEN);
        info.set(b"rate", b"25000").unwrap();
        for (key, value) in pairs {
            info.set_any(key.as_bytes(), value.as_bytes()).unwrap();
        }
        let server: SocketAddr = ([10, 0, 0, 1], 27500).into();
        let options = ClientOptions::new(server, Qport(100 + number as u16), info);
        self.peers.push(Peer {
            client: Client::new(options, self.now),
            address: address(number),
            command: Usercmd { msec: STEP as u8, ..Usercmd::ZERO },
            events: Vec::new(),
            has_map: true,
            to_server: ImpairedLink::new(*impairment, seed),
            to_client: ImpairedLink::new(*impairment, seed ^ 0x55),
        });
        number
    }

    /// Adds players and runs until all play.
    pub(crate) fn join(&mut self, names: &[&str]) {
        for name in names {
            self.add(&[("name", name), ("*z_ext", "383")]);
        }
        self.run_until(10_000, |fixture| {
            fixture.peers.iter().all(|peer| peer.client.state() == ClientState::Active)
        });
    }

    /// Runs until a condition holds, for a time at most.
    #[track_caller]
    pub(crate) fn run_until(&mut self, ms: u64, is_done: impl Fn(&Self) -> bool) {
        let end = self.now + Millis(ms);
        while !is_done(self) {
            assert!(
                self.now < end,
                "{:?}",
                self.peers.iter().map(|p| p.client.state()).collect::<Vec<_>>()
            );
            self.step(&mut |_, _, _| {});
        }
    }

    pub(crate) fn run(&mut self, ms: u64) {
        self.run_watched(ms, &mut |_, _, _| {});
    }

    /// Runs, and shows each datagram to the server and each of its answers.
    pub(crate) fn run_watched(
        &mut self,
        ms: u64,
        watch: &mut dyn FnMut(Millis, Seen<'_>, &QwServer),
    ) {
        let end = self.now + Millis(ms);
        while self.now < end {
            self.step(watch);
        }
    }

    /// Gives the server a datagram.
    pub(crate) fn inject(&mut self, from: SocketAddr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, Route::new(LocalPort(0), from), bytes);
        self.take_answers(&mut |_, _, _| {});
    }

    /// Asks for a challenge of an address.
    pub(crate) fn challenge(&mut self, from: SocketAddr) -> i32 {
        self.strays.clear();
        self.inject(from, b"\xff\xff\xff\xffgetchallenge\n");
        let (_, answer) = self.strays.pop().expect("answer");
        let Ok(Reply::Challenge { number, .. }) = Reply::parse(&answer) else {
            panic!("{}", answer.escape_ascii())
        };
        number
    }

    /// Runs a console line and returns its output.
    pub(crate) fn console(&mut self, line: &str) -> String {
        take_text(&mut self.server, OutputKind::Console);
        self.server.handle_input(self.now, Input::ConsoleLine(line));
        self.take_answers(&mut |_, _, _| {});
        take_text(&mut self.server, OutputKind::Console)
    }

    fn step(&mut self, watch: &mut dyn FnMut(Millis, Seen<'_>, &QwServer)) {
        let command_at = self.now.0.is_multiple_of(STEP);
        for number in 0..self.peers.len() {
            let peer = &mut self.peers[number];
            peer.client.frame(self.now);
            let is_connected =
                (ClientState::Connected..ClientState::Disconnected).contains(&peer.client.state());
            if command_at && is_connected {
                peer.client.push_usercmd(peer.command, self.now);
            }
            while peer.client.poll_transmit(&mut self.packet).is_some() {
                peer.to_server.send(self.now, &self.packet);
            }
            let from = peer.address;
            while self.peers[number].to_server.receive(self.now, &mut self.packet) {
                let packet = std::mem::take(&mut self.packet);
                let route = Route::new(LocalPort(0), from);
                self.server.handle_datagram(self.now, route, &packet);
                watch(self.now, Seen::Received(number, &packet), &self.server);
                self.packet = packet;
                self.take_answers(watch);
            }
        }
        if self.server.next_frame() <= self.now {
            self.server.frame(self.now);
            watch(self.now, Seen::Frame, &self.server);
            self.take_answers(watch);
        }
        for peer in &mut self.peers {
            let server: SocketAddr = ([10, 0, 0, 1], 27500).into();
            while peer.to_client.receive(self.now, &mut self.packet) {
                peer.client.handle_datagram(self.now, server, &self.packet);
            }
            while let Some(event) = peer.client.poll_event() {
                if peer.has_map && matches!(event, ClientEvent::MapNeeded { .. }) {
                    peer.client.map_ready(self.map_checksum);
                }
                peer.events.push(event);
            }
        }
        self.now += Millis(1);
    }

    fn take_answers(&mut self, watch: &mut dyn FnMut(Millis, Seen<'_>, &QwServer)) {
        let mut packet = std::mem::take(&mut self.packet);
        while let Some(route) = self.server.poll_transmit(&mut packet) {
            let number = self.peers.iter().position(|peer| peer.address == route.remote);
            match number {
                Some(number) => {
                    watch(self.now, Seen::Sent(&packet), &self.server);
                    self.peers[number].to_client.send(self.now, &packet);
                }
                None => self.strays.push((route.remote, packet.clone())),
            }
        }
        self.packet = packet;
    }

    /// Texts that a client was shown.
    pub(crate) fn prints(&self, number: usize) -> Vec<String> {
        let print = |event: &ClientEvent| match event {
            ClientEvent::Print { text, .. } | ClientEvent::Refused(text) => {
                Some(String::from_utf8_lossy(text).into_owned())
            }
            _ => None,
        };
        self.peers[number].events.iter().filter_map(print).collect()
    }

    pub(crate) fn has_print(&self, number: usize, part: &str) -> bool {
        self.prints(number).iter().any(|text| text.contains(part))
    }

    pub(crate) fn state(&self, number: usize) -> ClientState {
        self.peers[number].client.state()
    }
}

/// Something that happens at the server.
pub(crate) enum Seen<'a> {
    /// A datagram of a client was handled.
    Received(usize, &'a [u8]),
    /// A datagram to a client.
    Sent(&'a [u8]),
    /// A frame was run.
    Frame,
}
