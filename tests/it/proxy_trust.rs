//! Trust of a server in the address of a proxy: refused commands, session addresses, redirects.

use std::net::{IpAddr, SocketAddr};

use fragd::{
    limits::AddressKey,
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, PortChange, Route},
    proxy::{Proxy, ProxyCounter, ProxyOptions, SessionNetwork, session_key},
};

const NOW: Millis = Millis(1000);

/// Reaction of a proxy to one datagram.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reaction {
    /// Source address of each opened port.
    opened: Vec<Option<IpAddr>>,
    /// Datagrams to the server, and to clients.
    passed: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
}

struct Line {
    proxy: Proxy,
    server: SocketAddr,
    now: Millis,
}

impl Line {
    fn new(server: &str, change: impl FnOnce(&mut ProxyOptions)) -> Self {
        let server = server.parse().unwrap();
        let mut options = ProxyOptions::new(server);
        change(&mut options);
        Self { proxy: Proxy::new(options, 7, NOW), server, now: NOW }
    }

    fn receive(&mut self, route: Route, bytes: &[u8]) -> Reaction {
        self.proxy.handle_datagram(self.now, route, bytes);
        let mut reaction = Reaction::default();
        while let Some(Output::PortChange(change)) = self.proxy.poll_output(OutputKind::PortChange)
        {
            if let PortChange::Open { peer, source, .. } = change {
                assert_eq!(peer, self.server);
                reaction.opened.push(source);
            }
        }
        let mut packet = Vec::new();
        while let Some(to) = self.proxy.poll_transmit(&mut packet) {
            let list =
                if to.local == LocalPort(0) { &mut reaction.answers } else { &mut reaction.passed };
            list.push(packet.clone());
        }
        reaction
    }

    /// Lets a client send a connectionless packet.
    fn send(&mut self, client: &str, text: &str) -> Reaction {
        let route = Route::new(LocalPort(0), client.parse().unwrap());
        self.receive(route, &[&[0xff; 4], text.as_bytes()].concat())
    }

    fn status(&mut self) -> String {
        self.proxy.handle_input(self.now, Input::ConsoleLine("status"));
        fragd::node::take_text(&mut self.proxy, OutputKind::Console)
    }
}

#[test]
fn c44_rcon_is_refused_without_the_option() {
    let mut line = Line::new("127.0.0.1:27960", |_| ());
    for (number, request) in ["rcon secret status", "RCON \"a b\" kick 0", " rcon x quit", "rcon"]
        .into_iter()
        .enumerate()
    {
        // Also with a session.
        for client in [format!("192.0.2.{number}:5"), "203.0.113.1:5".to_owned()] {
            let Reaction { opened, passed, answers } = line.send(&client, request);
            assert_eq!((opened.len(), passed.len()), (0, 0), "{request}");
            for answer in answers {
                assert!(answer.starts_with(b"\xff\xff\xff\xffprint\n"), "{request}");
                assert!(answer.len() <= request.len() + 4, "{request} is amplified");
            }
        }
        assert_eq!(line.send("203.0.113.1:5", "getchallenge 5").passed.len(), 1);
    }
    assert_eq!(line.proxy.counter(ProxyCounter::RconRefused), 8);
    let told = line.send("198.51.100.1:5", "rcon a-long-password-of-an-operator status").answers;
    assert_eq!(told, [b"\xff\xff\xff\xffprint\nRcon does not pass this proxy.\n"]);
    let told = line.send("198.51.100.2:5", "rcon password map").answers;
    assert_eq!(told, [b"\xff\xff\xff\xffprint\nNo rcon.\n"]);
    assert!(line.status().contains("rcon refused"));
}

#[test]
fn rcon_refusals_are_limited() {
    let mut line = Line::new("127.0.0.1:27960", |_| ());
    let long = "rcon a-long-password-of-an-operator status";
    let one: usize = (0..500).map(|_| line.send("192.0.2.1:5", long).answers.len()).sum();
    assert_eq!(one, 3);
    let forged = |line: &mut Line, i: u32| {
        line.send(&format!("20.{}.{}.1:5", i >> 8 & 255, i & 255), long).answers.len()
    };
    let answers: usize = (0..2000).map(|i| forged(&mut line, i)).sum();
    assert!(answers <= 20, "{answers} answers to forged sources");
    assert_eq!(line.proxy.counter(ProxyCounter::RconRefused), 2500);
}

#[test]
fn rcon_passes_with_the_option() {
    let mut line = Line::new("127.0.0.1:27960", |options| {
        options.passes_rcon = true;
        options.session_network = Some(SessionNetwork::LOOPBACK);
    });
    let Reaction { opened, passed, .. } = line.send("192.0.2.1:5", "rcon secret status");
    assert_eq!((opened.len(), passed.len()), (1, 1));
    let source = opened[0].unwrap();
    assert!(fragd::limits::is_session_address(source), "the server sees {source}");
    assert_eq!(line.proxy.counter(ProxyCounter::RconRefused), 0);
    // Remote consoles of other engines.
    assert_eq!(line.send("192.0.2.1:5", "srcon x").passed.len(), 1);
    assert_eq!(line.send("192.0.2.2:5", "srcon x"), Reaction::default());
    assert!(line.status().contains("rcon passed on"));
}

#[test]
fn c44_commands_of_servers_are_dropped() {
    for passes_rcon in [false, true] {
        let mut line = Line::new("127.0.0.1:27960", |options| options.passes_rcon = passes_rcon);
        assert_eq!(line.send("192.0.2.1:5", "getchallenge 5").passed.len(), 1);
        let commands = [
            "heartbeat QuakeArena-1\n",
            "heartbeat",
            "getservers 68 empty full",
            "getserversExt Quake3Arena 71 ipv6",
            "getserversResponse\\abcdef",
            "infoResponse\n\\challenge\\x",
            "statusResponse\n\\challenge\\x",
            "challengeResponse 5 5 71",
            "connectResponse 5",
            "ipAuthorize 5 accept",
            "getKeyAuthorize 0 abc",
            "keyAuthorize",
            "getIpAuthorize 1 192.0.2.1",
            "getmotd",
            "motd",
            "print\nx",
            "echo x",
            "disconnect",
            "connect",
            "\n",
        ];
        for command in commands {
            assert_eq!(line.send("192.0.2.1:5", command), Reaction::default(), "{command:?}");
        }
        let dropped = line.proxy.counter(ProxyCounter::CommandsRefused);
        assert_eq!(dropped, commands.len() as u64);
        assert_eq!(line.send("192.0.2.1:5", "srcon x").passed.len(), usize::from(passes_rcon));
    }
}

#[test]
fn c44_each_host_has_a_session_address() {
    let source = |line: &mut Line, client: &str| {
        let opened = line.send(client, "getchallenge 5").opened;
        opened[0].unwrap()
    };
    let change = |options: &mut ProxyOptions| {
        options.session_network = Some(SessionNetwork::LOOPBACK);
        options.session_key = Some(session_key("ours"));
    };
    let mut line = Line::new("127.0.0.1:27960", change);
    let first = source(&mut line, "192.0.2.7:5");
    assert_eq!(source(&mut line, "192.0.2.7:6"), first, "sessions of one host share an address");
    assert_eq!(source(&mut line, "[::ffff:192.0.2.7]:7"), first);
    let near = source(&mut line, "192.0.2.8:5");
    assert_ne!(near, first);
    assert_eq!(AddressKey::network(near), AddressKey::network(first));
    let six = source(&mut line, "[2001:db8::1]:5");
    assert_eq!(source(&mut line, "[2001:db8::ffff:9]:5"), six);
    assert_ne!(source(&mut line, "[2001:db8:1::1]:5"), six);
    assert!(line.status().contains(&format!("192.0.2.7:5            {first}")));

    let mut restarted = Line::new("127.0.0.1:27960", change);
    assert_eq!(source(&mut restarted, "192.0.2.7:5"), first, "a ban holds after a restart");
    let mut plain = Line::new("127.0.0.1:27960", |_| ());
    assert_eq!(plain.send("192.0.2.7:5", "getchallenge 5").opened, [None]);
}

#[test]
fn client_cannot_redirect_its_session_to_local_networks() {
    // Server, forged or true source of a challenge response, and whether the session follows.
    for (server, from, follows) in [
        ("203.0.113.1:27960", "203.0.113.2:27960", true),
        ("203.0.113.1:27960", "203.0.113.2:53", false),
        ("203.0.113.1:27960", "10.0.0.5:27960", false),
        ("203.0.113.1:27960", "127.0.0.1:27960", false),
        ("203.0.113.1:27960", "[fd00::1]:27960", false),
        ("203.0.113.1:27960", "100.64.0.1:27960", false),
        ("10.0.0.4:27960", "10.0.0.5:27960", true),
        ("10.0.0.4:27960", "127.0.0.1:27960", false),
        ("127.0.0.1:27960", "127.0.0.2:27960", true),
        ("127.0.0.1:27960", "10.0.0.5:27960", false),
    ] {
        let mut line = Line::new(server, |_| ());
        assert_eq!(line.send("192.0.2.1:5", "getchallenge 77").passed.len(), 1);
        let route = Route::new(LocalPort(2), from.parse().unwrap());
        let response = b"\xff\xff\xff\xffchallengeResponse 5 77 71";
        let answers = line.receive(route, response).answers;
        assert_eq!(answers.len(), usize::from(follows), "{server} {from}");
    }
}
