//! Drain of a server: refusals, masters, announcements, end of the match, deadline.

use fragd::{
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route, take_text},
    server::Server,
    settings::Settings,
    wire::{connect::write_connect, info::InfoString},
};

const MASTER: &str = "192.0.2.1:27950";

struct Fixture {
    server: Server,
    now: u64,
}

impl Fixture {
    fn new(set: &[(&str, &str)]) -> Self {
        let mut settings = Settings::default();
        let usual = [("dedicated", "2"), ("sv_master1", MASTER), ("g_rules", "flight")];
        for (name, value) in usual.iter().chain(set) {
            settings.set(name, value).unwrap();
        }
        let mut this = Self { server: Server::builder(settings, [7; 32]).build(), now: 1000 };
        this.run_ms(100);
        this
    }

    /// Runs frames for some time, or until the server ends.
    fn run_ms(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end && !self.server.is_finished() {
            self.now += 50;
            self.server.frame(Millis(self.now));
        }
    }

    fn sent(&mut self) -> Vec<(String, String)> {
        let (mut packet, mut all) = (Vec::new(), Vec::new());
        while let Some(route) = self.server.poll_transmit(&mut packet) {
            let text = String::from_utf8_lossy(&packet).into_owned();
            all.push((route.remote.to_string(), text));
        }
        all
    }

    fn ask(&mut self, from: &str, datagram: &[u8]) -> Vec<String> {
        self.sent();
        let route = Route::new(LocalPort(0), from.parse().unwrap());
        self.server.handle_datagram(Millis(self.now), route, datagram);
        self.sent().into_iter().filter(|(to, _)| to == from).map(|(_, text)| text).collect()
    }

    /// Answer to the connect of a client.
    fn join(&mut self, qport: u16) -> String {
        let from = format!("10.0.0.{qport}:27960");
        let answer = self.ask(&from, b"\xff\xff\xff\xffgetchallenge").remove(0);
        let number = answer.split(' ').nth(1).expect("a challenge").to_owned();
        let text = format!("\\name\\x\\protocol\\71\\qport\\{qport}\\challenge\\{number}");
        let mut connect = Vec::new();
        write_connect(&InfoString::parse(&text), &mut connect).unwrap();
        self.ask(&from, &connect).remove(0)
    }

    fn console(&mut self, line: &str) -> String {
        self.server.handle_input(Millis(self.now), Input::ConsoleLine(line));
        take_text(&mut self.server, OutputKind::Console)
    }

    fn heartbeats(&mut self) -> usize {
        self.sent().iter().filter(|(to, text)| to == MASTER && text.contains("heartbeat")).count()
    }
}

#[test]
fn draining_server_refuses_connects_with_reason() {
    let mut fixture = Fixture::new(&[]);
    assert!(fixture.join(1).contains("connectResponse"));
    let shown = fixture.console("drain 600 \"new; \" version");
    assert_eq!(
        shown,
        "draining: stops in 10 min, when empty or when the match ends: new;  version\n"
    );
    let refusal = "\u{fffd}\u{fffd}\u{fffd}\u{fffd}print\nServer stops soon, try another one: new;  version\n";
    assert_eq!(fixture.join(2), refusal);
    assert!(fixture.console("status").contains("draining: stops in 10 min"));
    assert!(fixture.console("drain off").contains("the server is open"));
    assert!(fixture.join(3).contains("connectResponse"));
    assert!(fixture.console("undrain").contains("does not drain"));
    let error = fixture.console("drain -5 x") + &fixture.console("drain 99999999");
    assert_eq!(error.matches("expected seconds from 0 to 86400").count(), 2, "{error}");
    assert!(!fixture.console("counters q3_draining").contains("1"));
}

#[test]
fn masters_forget_a_draining_server() {
    let mut fixture = Fixture::new(&[]);
    assert_eq!(fixture.heartbeats(), 1);
    fixture.join(1);
    fixture.run_ms(2000);
    assert_eq!(fixture.heartbeats(), 1, "the first client");
    assert_eq!(fixture.ask(MASTER, b"\xff\xff\xff\xffgetinfo x").len(), 1);
    fixture.console("drain 3600");
    assert_eq!(fixture.heartbeats(), 2, "as at a stop");
    assert!(fixture.ask(MASTER, b"\xff\xff\xff\xffgetinfo x").is_empty());
    assert_eq!(fixture.ask("10.9.9.9:5", b"\xff\xff\xff\xffgetinfo x").len(), 1, "a player");
    fixture.console("drain 1800");
    // A loaded map is announced, too.
    fixture.console("map q3dm1");
    fixture.run_ms(2000);
    assert_eq!(fixture.heartbeats(), 0);
    assert!(fixture.console("heartbeat").contains("drains"));
    fixture.console("undrain");
    fixture.run_ms(50);
    assert_eq!(fixture.heartbeats(), 1);
}

#[test]
fn drain_ends_at_deadline_or_when_empty() {
    let mut fixture = Fixture::new(&[("sv_drainTime", "4")]);
    fixture.join(1);
    assert_eq!(fixture.server.drain_line(), Some("drain"));
    fixture.console("drain");
    assert_eq!(fixture.server.drain_line(), None, "the next signal ends the server");
    fixture.run_ms(3900);
    assert!(!fixture.server.is_finished());
    fixture.run_ms(200);
    assert!(fixture.server.is_finished());
    assert!(fixture.sent().iter().any(|(to, _)| to.starts_with("10.0.0.1:")), "the last message");

    let mut fixture = Fixture::new(&[]);
    assert_eq!(fixture.server.drain_line(), None, "sv_drainTime 0");
    fixture.console("drain 60");
    assert_eq!(fixture.server.next_frame().since(Millis(fixture.now)), Millis(50), "no idle pause");
    fixture.run_ms(50);
    assert!(fixture.server.is_finished(), "it is empty");
}

#[test]
fn client_that_leaves_ends_a_drain() {
    let mut fixture = Fixture::new(&[]);
    fixture.join(1);
    fixture.console("drain 3600 upgrade");
    fixture.run_ms(3000);
    assert!(!fixture.server.is_finished());
    fixture.console("kick all");
    fixture.run_ms(100);
    assert!(fixture.server.is_finished());
}
