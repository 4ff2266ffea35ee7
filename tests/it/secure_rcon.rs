//! Remote console with codes in place of passwords: Quake III and QuakeWorld servers.

use std::net::SocketAddr;

use fragd::{
    model::{Millis, UnixMillis},
    node::{LocalPort, Node as _, Route},
    server::Server,
    settings::Settings,
    wire::secure_rcon::{SecureMode, write_secure_rcon},
};

use crate::quakeworld_fixture::QwFixture;

/// Calendar time at the zero of the clocks, in seconds.
const BEGAN_S: u64 = 1_700_000_000;
const FROM: &str = "127.0.0.1:2000";

/// Either server.
enum Either {
    Quake3(Box<Server>, Millis),
    QuakeWorld(Box<QwFixture>),
}

impl Either {
    fn both(level: &str) -> [Self; 2] {
        let mut settings = Settings::default();
        for (name, value) in
            [("g_rules", "flight"), ("rconPassword", "sesame-street"), ("rcon_secure", level)]
        {
            settings.set(name, value).unwrap();
        }
        let began = Some(UnixMillis(BEGAN_S * 1000));
        let server = Server::builder(settings, [7; 32]).started_at(began).build();
        let quakeworld = QwFixture::new(&[
            ("rcon_password", "sesame-street"),
            ("rcon_secure", level),
            ("sv_crypt_rcon", "0"),
        ]);
        [Self::Quake3(Box::new(server), Millis(1000)), Self::QuakeWorld(Box::new(quakeworld))]
    }

    fn pass(&mut self, seconds: u64) {
        match self {
            Self::Quake3(server, now) => {
                *now += Millis::seconds(seconds);
                server.frame(*now);
            }
            Self::QuakeWorld(fixture) => fixture.now += Millis::seconds(seconds),
        }
    }

    /// Calendar time, with a difference.
    fn time(&self, difference: i64) -> String {
        let now = match self {
            Self::Quake3(_, now) => *now,
            Self::QuakeWorld(fixture) => fixture.now,
        };
        format!("{}.250000", (BEGAN_S + now.0 / 1000).saturating_add_signed(difference))
    }

    fn ask(&mut self, from: &str, bytes: &[u8]) -> Vec<u8> {
        let from: SocketAddr = from.parse().unwrap();
        match self {
            Self::Quake3(server, now) => {
                server.handle_datagram(*now, Route::new(LocalPort(0), from), bytes);
                let (mut packet, mut answer) = (Vec::new(), Vec::new());
                while let Some(route) = server.poll_transmit(&mut packet) {
                    if route.remote == from {
                        answer.extend_from_slice(&packet);
                    }
                }
                answer
            }
            Self::QuakeWorld(fixture) => {
                fixture.strays.clear();
                fixture.inject(from, bytes);
                fixture.strays.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
            }
        }
    }

    fn signed(&mut self, mode: SecureMode, key: &str, proof: &str, command: &str) -> String {
        let mut request = Vec::new();
        let (key, proof) = (key.as_bytes(), proof.as_bytes());
        write_secure_rcon(&mut request, mode, key, proof, command.as_bytes());
        let answer = self.ask(FROM, &request);
        String::from_utf8_lossy(&answer).trim_start_matches('\u{fffd}').to_owned()
    }

    fn challenge(&mut self, from: &str) -> String {
        let answer = self.ask(from, b"\xff\xff\xff\xffgetchallenge\n");
        let text = String::from_utf8_lossy(&answer).into_owned();
        let number = |c: &char| c.is_ascii_digit() || *c == '-';
        text.chars().skip_while(|c| !number(c)).take_while(number).collect()
    }
}

#[test]
fn time_proves_a_request_once_and_for_seconds() {
    for mut server in Either::both("0") {
        let time = server.time(0);
        let two = "echo one\0echo two\n";
        let answer = server.signed(SecureMode::Time, "sesame-street", &time, two);
        assert!(answer.starts_with('n') && answer.contains("one\ntwo\n"), "{answer}");
        // A copy does nothing, and another command has another code.
        assert_eq!(server.signed(SecureMode::Time, "sesame-street", &time, two), "");
        server.pass(2);
        assert!(server.signed(SecureMode::Time, "sesame-street", &time, "echo 3").contains('3'));
        for difference in [-6, 6, i64::MIN, i64::MAX] {
            let time = server.time(difference);
            let answer = server.signed(SecureMode::Time, "sesame-street", &time, "echo 4");
            assert_eq!(answer, "", "{difference}");
            server.pass(600);
        }
        for difference in [-5, 5] {
            let time = server.time(difference);
            let answer = server.signed(SecureMode::Time, "sesame-street", &time, "echo 5");
            assert!(answer.contains('5'), "{difference}");
            server.pass(20);
        }
        let time = server.time(0);
        let refused = server.signed(SecureMode::Time, "sesame", &time, "echo 6");
        assert!(refused.starts_with("nBad rcon"), "{refused}");
        let malformed = server.signed(SecureMode::Time, "sesame-street", "now", "echo 7");
        assert_eq!(malformed, "");
    }
}

#[test]
fn challenge_proves_a_request_of_its_address() {
    for mut server in Either::both("2") {
        let own = server.challenge(FROM);
        let answer = server.signed(SecureMode::Challenge, "sesame-street", &own, "echo one");
        assert!(answer.starts_with("none"), "{answer}");
        assert_eq!(server.signed(SecureMode::Challenge, "sesame-street", &own, "echo one"), "");
        let other = server.challenge("192.0.2.9:2000");
        for proof in [&*other, "0", "x", ""] {
            let answer = server.signed(SecureMode::Challenge, "sesame-street", proof, "echo two");
            assert_eq!(answer, "", "{proof}");
            server.pass(600);
        }
        // Other forms get no answer.
        let time = server.time(0);
        assert_eq!(server.signed(SecureMode::Time, "sesame-street", &time, "echo 3"), "");
        let plain = b"\xff\xff\xff\xffrcon \"sesame-street\" echo 4\n";
        assert!(server.ask(FROM, plain).is_empty());
    }
}

#[test]
fn password_in_clear_text_is_refused_by_level() {
    for (level, is_accepted) in [("0", true), ("1", false)] {
        for mut server in Either::both(level) {
            let plain = b"\xff\xff\xff\xffrcon \"sesame-street\" echo four\n";
            let answer = String::from_utf8_lossy(&server.ask(FROM, plain)).into_owned();
            assert_eq!(answer.contains("four"), is_accepted, "{answer}");
            let time = server.time(0);
            let answer = server.signed(SecureMode::Time, "sesame-street", &time, "echo five");
            assert!(answer.contains("five"), "{answer}");
        }
    }
}

#[test]
fn networks_without_rcon_have_no_signed_one() {
    let [mut server, _] = Either::both("0");
    let time = server.time(0);
    let mut request = Vec::new();
    let (key, time) = (b"sesame-street", time.as_bytes());
    write_secure_rcon(&mut request, SecureMode::Time, key, time, b"echo one");
    assert!(server.ask("192.0.2.9:2000", &request).is_empty());
    assert!(!server.ask(FROM, &request).is_empty());
}
