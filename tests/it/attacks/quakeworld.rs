//! Attacks on QuakeWorld servers, each against a running server with three players beside it.
//!
//! At the end all players are in the game, no two answers to them were further apart than [`WORST_GAP`], and a new
//! client enters within seconds.

use std::net::{Ipv4Addr, SocketAddr};

use fragd::{
    model::{Millis, Qport, Vec3},
    quakeworld::{
        Channel, End, Extensions, Usercmd, bytes::Writer, client::ClientState,
        connectionless::Request, moves::write_move,
    },
    qwserver::QwCounter,
};

use crate::quakeworld_fixture::{QwFixture, STEP, address};

/// Longest time between two answers to a player: packets leave every 20 ms.
const WORST_GAP: u64 = 40;
/// Bytes of the headers of UDP and IPv4.
const HEADERS: usize = 28;

/// Server with players beside an attack.
struct Attacked {
    fixture: QwFixture,
    /// Frames so far, time since the last one and longest such time of each player.
    players: [(u64, u64, u64); 3],
    worst_gap: u64,
    bytes_in: usize,
    bytes_out: usize,
}

impl Attacked {
    fn new(settings: &[(&str, &str)]) -> Self {
        let mut fixture = QwFixture::new(settings);
        fixture.join(&["one", "two", "three"]);
        let players = [0, 1, 2].map(|number| (frames(&fixture, number), 0, 0));
        Self { fixture, players, worst_gap: WORST_GAP, bytes_in: 0, bytes_out: 0 }
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.fixture.run(1);
            for (number, (seen, gap, worst)) in self.players.iter_mut().enumerate() {
                let frames = frames(&self.fixture, number);
                *gap = if frames == *seen { *gap + 1 } else { 0 };
                *seen = frames;
                *worst = (*worst).max(*gap);
            }
        }
    }

    /// Sends a datagram and returns the answers to its sender.
    fn send(&mut self, from: SocketAddr, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.fixture.strays.clear();
        self.fixture.inject(from, bytes);
        self.bytes_in += bytes.len() + HEADERS;
        let strays = std::mem::take(&mut self.fixture.strays);
        let answers: Vec<_> =
            strays.into_iter().filter(|(to, _)| *to == from).map(|(_, bytes)| bytes).collect();
        self.bytes_out += answers.iter().map(|answer| answer.len() + HEADERS).sum::<usize>();
        answers
    }

    fn ask(&mut self, from: SocketAddr, request: &Request<'_>) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        self.send(from, &bytes)
    }

    /// Connects a client of the attacker. Returns the answer to its connect.
    fn connect(&mut self, from: SocketAddr, qport: u16, userinfo: &str) -> Vec<Vec<u8>> {
        let answers = self.ask(from, &Request::GetChallenge);
        // The limit of the host may be reached.
        let Some(answer) = answers.first() else { return answers };
        // The extensions that the server offers follow a zero.
        let number = answer[5..].split(|&byte| byte == 0).next().unwrap_or_default();
        let number = String::from_utf8_lossy(number).into_owned();
        let line = format!("connect 28 {qport} {number} \"{userinfo}\"\n");
        self.send(from, &oob(line))
    }

    fn count(&self, counter: QwCounter) -> u64 {
        self.fixture.server.counter(counter)
    }

    /// Checks that all players were answered, and that a new one enters the game.
    #[track_caller]
    fn check(&mut self) {
        self.run(1000);
        for (number, (_, _, gap)) in self.players.iter().enumerate() {
            assert_eq!(self.fixture.state(number), ClientState::Active, "player {number}");
            assert!(*gap <= self.worst_gap, "player {number}: gap of {gap} ms");
        }
        let new = self.fixture.add(&[("name", "new"), ("*z_ext", "383")]);
        self.fixture.run_until(6000, |fixture| fixture.state(new) == ClientState::Active);
    }
}

fn frames(fixture: &QwFixture, number: usize) -> u64 {
    fixture.peers[number].client.statistics().frames
}

fn oob(text: impl AsRef<[u8]>) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_ref()].concat()
}

/// One of very many far addresses.
fn anyone(number: u32) -> SocketAddr {
    let ip = Ipv4Addr::from_bits(0x1400_0000 + number.wrapping_mul(0x9e37) % 0x0400_0000);
    (ip, 1024 + (number % 60_000) as u16).into()
}

/// An address of the attacker.
fn attacker(port: u16) -> SocketAddr {
    ([203, 0, 113, 66], port).into()
}

/// Packet with the address and qport of player `number`.
fn forged(number: usize, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut packet = sequence.to_le_bytes().to_vec();
    packet.extend(sequence.saturating_sub(1).to_le_bytes());
    packet.extend((100 + number as u16).to_le_bytes());
    packet.extend(payload);
    packet
}

#[test]
fn q1_challenge_flood_keeps_clients_joining() {
    for many in [false, true] {
        let mut attacked = Attacked::new(&[]);
        for number in 0..10_000 {
            let from = if many { anyone(number) } else { attacker(1000) };
            attacked.ask(from, &Request::GetChallenge);
            if number % 20 == 0 {
                attacked.run(1);
            }
        }
        let (bytes_in, bytes_out) = (attacked.bytes_in, attacked.bytes_out);
        assert!(bytes_out <= bytes_in * 12 / 10, "{bytes_out} bytes for {bytes_in}");
        attacked.check();
    }
}

#[test]
fn q2_connects_without_challenge_open_no_slot() {
    let mut attacked = Attacked::new(&[]);
    for number in 0..10_000_u32 {
        let challenge = number.wrapping_mul(77_777).cast_signed();
        let line = format!("connect 28 {} {challenge} \"\\name\\fake\"\n", number % 65_536);
        attacked.send(anyone(number), &oob(line));
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert_eq!(attacked.fixture.server.population(), (3, 0));
    assert!(attacked.bytes_out <= attacked.bytes_in, "{} bytes", attacked.bytes_out);
    attacked.check();
}

#[test]
fn q3_silent_clients_of_one_host_leave_slots() {
    let mut attacked = Attacked::new(&[("maxclients", "16")]);
    for number in 0..1000 {
        attacked.connect(attacker(1000 + number), number, "\\name\\fake");
        attacked.run(5);
    }
    assert!(attacked.fixture.server.population().0 <= 3 + 4, "clients of one host");
    attacked.run(12_000);
    assert_eq!(attacked.fixture.server.population(), (3, 0), "silent clients are dropped");
    attacked.check();
}

#[test]
fn q4_status_flood_is_bounded_and_browsers_are_served() {
    let mut attacked = Attacked::new(&[]);
    let mut served = 0;
    for second in 0..10 {
        for number in 0..2000 {
            let from = if number % 2 == 0 { anyone(number) } else { attacker(1000) };
            attacked.ask(from, &Request::Status { parts: Some(31) });
            if number % 4 == 0 {
                attacked.run(1);
            }
        }
        // A browser asks with two retries, as browsers do.
        let browser = SocketAddr::from(([198, 51, 100, second], 5000));
        let mut is_served = false;
        for _ in 0..3 {
            is_served |= !attacked.ask(browser, &Request::Status { parts: None }).is_empty();
            attacked.run(1200);
        }
        served += u32::from(is_served);
    }
    assert!(attacked.bytes_out < 10 * 5 * 120_000, "{} bytes", attacked.bytes_out);
    assert!(attacked.count(QwCounter::Limited) > 10_000);
    assert!(served >= 9, "{served} browsers of 10 served");
    attacked.check();
}

#[test]
fn q5_ping_and_log_floods_get_less_than_they_send() {
    let mut attacked = Attacked::new(&[]);
    for number in 0..20_000 {
        let request = if number % 2 == 0 { Request::Ping } else { Request::Log { number: None } };
        let answers = attacked.ask(anyone(number), &request);
        assert!(answers.iter().all(|answer| answer.len() == 1), "{answers:?}");
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert!(attacked.bytes_out <= attacked.bytes_in, "{} bytes", attacked.bytes_out);
    attacked.check();
}

#[test]
fn q6_rcon_guessing_fails_and_admin_is_served() {
    let mut attacked = Attacked::new(&[("rcon_password", "sesame"), ("sv_crypt_rcon", "0")]);
    for number in 0..10_000 {
        let from = if number % 2 == 0 { anyone(number) } else { attacker(1000) };
        let guess = format!("rcon guess{number} status \0");
        for answer in attacked.send(from, &oob(guess)) {
            assert!(!answer.windows(4).any(|part| part == b"map "), "a guess is answered");
        }
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert!(attacked.bytes_out <= attacked.bytes_in, "{} bytes", attacked.bytes_out);
    assert!(attacked.count(QwCounter::BadRcon) > 9000);
    let answers = attacked.send(([198, 51, 100, 7], 4000).into(), &oob("rcon sesame status \0"));
    let text = String::from_utf8_lossy(&answers.concat()).into_owned();
    assert!(text.contains("fragqw1"), "{text}");
    attacked.check();
}

#[test]
fn q7_stale_sequences_change_nothing() {
    let mut attacked = Attacked::new(&[]);
    let newest = attacked.fixture.peers[0].client.next_sequence();
    for number in 0..5000_u32 {
        let from = SocketAddr::new(address(0).ip(), 1000 + (number % 60_000) as u16);
        let sequence = number % (newest / 2);
        attacked.send(from, &forged(0, sequence, b"\x04drop\0"));
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert_eq!(attacked.count(QwCounter::Old), 5000);
    assert_eq!(attacked.bytes_out, 0, "no answer to a forged port");
    attacked.check();
}

#[test]
fn q8_packets_of_other_hosts_change_nothing() {
    let mut attacked = Attacked::new(&[]);
    let newest = attacked.fixture.peers[0].client.next_sequence();
    for number in 0..10_000 {
        attacked.send(anyone(number), &forged(0, newest + number % 100, b"\x04drop\0"));
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert_eq!(attacked.count(QwCounter::UnknownSenders), 10_000);
    assert_eq!(attacked.bytes_out, 0);
    attacked.check();
}

#[test]
fn q9_oversized_userinfo_is_refused_or_cut() {
    let mut attacked = Attacked::new(&[("sv_maxclientsPerIP", "0"), ("maxclients", "16")]);
    let long = "x".repeat(1200);
    let many: String = (0..130).map(|key| format!("\\k{key}\\v")).collect();
    for (number, userinfo) in [
        format!("\\name\\{long}"),
        format!("\\{long}\\a"),
        many,
        format!("\\name\\a\\team\\{}", "y".repeat(400)),
        "\\name\\\u{1}\u{2}\"".to_owned(),
        "\\*ip\\1.2.3.4\\*spectator\\1\\name\\z".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        attacked.connect(attacker(2000 + number as u16), number as u16, userinfo);
        attacked.run(20);
    }
    let status = attacked.fixture.console("status");
    assert!(status.len() < 4000, "{} bytes of status", status.len());
    assert_eq!(attacked.fixture.server.population().1, 0, "no spectator by a key with a star");
    attacked.check();
}

#[test]
fn q10_oversized_signon_requests_overflow_their_client_alone() {
    let mut attacked = Attacked::new(&[]);
    let lines = ["soundlist 1 0", "modellist 1 0", "prespawn 1 0 0", "spawn 1 0", "new"];
    attacked.fixture.add(&[("name", "rogue"), ("rate", "500")]);
    attacked.run(500);
    for round in 0..200 {
        for line in lines {
            // The queue of the client may be full.
            let _ = attacked.fixture.peers[3].client.command(line.as_bytes());
        }
        attacked.run(20);
        assert!(attacked.fixture.server.population().0 >= 3, "round {round}");
    }
    let told = [0, 1, 2].map(|number| attacked.fixture.has_print(number, "overflowed"));
    assert!(!attacked.fixture.has_print(0, "one overflowed"), "{told:?}");
    attacked.check();
}

#[test]
fn q11_extreme_rates_are_clamped() {
    for rate in ["1", "0", "-5", "99999999999", "500"] {
        let mut attacked = Attacked::new(&[("sv_maxrate", "20000")]);
        attacked.fixture.add(&[("name", "rogue"), ("rate", rate), ("dupe", "99"), ("mtu", "1")]);
        attacked.run(3000);
        let before = attacked.fixture.peers[3].client.statistics().received_bytes;
        attacked.run(5000);
        let bytes = attacked.fixture.peers[3].client.statistics().received_bytes - before;
        assert!(bytes < 5 * 20_000 * 11 / 10, "rate {rate}: {bytes} bytes in 5 s");
        attacked.check();
    }
}

#[test]
fn q12_choked_client_is_told_and_disturbs_no_other() {
    let mut attacked = Attacked::new(&[]);
    attacked.fixture.add(&[("name", "slow"), ("rate", "500")]);
    attacked.run(8000);
    let statistics = attacked.fixture.peers[3].client.statistics();
    assert!(statistics.choked > 50, "{statistics:?}");
    let lost = statistics.missing - statistics.choked;
    assert!(lost < 10, "{statistics:?}");
    attacked.check();
}

#[test]
fn q13_netquake_requests_get_no_answer() {
    let mut attacked = Attacked::new(&[]);
    for number in 0..2000_u32 {
        let mut packet = b"\x80\0\0\x0c\x01QUAKE\0\x03".to_vec();
        packet[3] = packet.len() as u8;
        assert!(attacked.send(anyone(number), &packet).is_empty());
    }
    assert_eq!(attacked.count(QwCounter::NetQuake), 2000);
    attacked.check();
}

#[test]
fn q14_replies_are_never_answered() {
    let mut attacked = Attacked::new(&[]);
    for (number, text) in
        [&b"c123"[..], b"j", b"n\nhello", b"l\0", b"m", b"a\0", b"e", b"B x\0", b"d", b"print x"]
            .into_iter()
            .enumerate()
    {
        let answers = attacked.send(anyone(number as u32), &oob(text));
        assert!(answers.is_empty(), "{}: {answers:?}", text.escape_ascii());
    }
    for raw in [&b"l"[..], b"k", b"k\0", b"", b"\xff", b"\xff\xff\xff\xff"] {
        assert!(attacked.send(attacker(1000), raw).is_empty(), "{}", raw.escape_ascii());
    }
    attacked.check();
}

#[test]
fn q15_fast_usercmds_do_not_outrun_the_clock() {
    let mut attacked = Attacked::new(&[]);
    let from = attacker(3000);
    attacked.connect(from, 9, "\\name\\rogue\\rate\\100000\\*z_ext\\383");
    let mut channel = Channel::new(End::Client(Qport(9))).starting_at_one();
    for line in ["new", "prespawn 1 0 0", "spawn 1 0", "begin 1"] {
        channel.queue_reliable(format!("\x04{line}\0").as_bytes()).unwrap();
        for _ in 0..3 {
            send_packet(&mut attacked, from, &mut channel, &[]);
            attacked.run(20);
        }
    }
    // Two seconds of commands for each 20 ms.
    let spins = |attacked: &Attacked| attacked.fixture.server.counter(QwCounter::Accepted);
    let before = spins(&attacked);
    let mut distance = 0.0;
    let mut place = None;
    for _ in 0..50 {
        for _ in 0..8 {
            let mut message = Vec::new();
            let mut writer = Writer::new(&mut message, 200, Extensions::NONE);
            let command = Usercmd { msec: 250, forward: 400, ..Usercmd::ZERO };
            write_move(&mut writer, channel.outgoing(), 0, &[command; 3]);
            send_packet(&mut attacked, from, &mut channel, &message);
        }
        attacked.run(STEP);
        let seen = attacked.fixture.peers[0].client.frames().newest().unwrap().player(3).copied();
        let Some(seen) = seen else { continue };
        let now = Vec3(seen.origin);
        distance += place.replace(now).map_or(0.0, |last: Vec3| (now - last).length());
    }
    assert_eq!(spins(&attacked) - before, 400 + 150);
    // 320 units a second, for one second and half a second that was saved.
    assert!(distance < 320.0 * 1.6, "{distance} units in a second");
    attacked.check();
}

fn send_packet(
    attacked: &mut Attacked,
    from: SocketAddr,
    channel: &mut Channel,
    unreliable: &[u8],
) {
    let now = Millis(attacked.fixture.now.0);
    let mut packet = Vec::new();
    channel.transmit(unreliable, now, &mut packet).unwrap();
    for answer in attacked.send(from, &packet) {
        if let Ok(received) = channel.receive(&answer) {
            channel.commit(&received, now);
        }
    }
}

#[test]
fn q16_banned_addresses_get_limited_refusals() {
    let mut attacked = Attacked::new(&[]);
    attacked.fixture.console("addip 203.0.113.66");
    let told = attacked.connect(attacker(1000), 1, "\\name\\fake");
    assert!(String::from_utf8_lossy(&told[0]).contains("banned"), "{told:?}");
    let mut refusals = 0;
    for number in 0..5000 {
        // A challenge of the host, as often as others get one, and a connect with it.
        refusals += attacked.connect(attacker(1000), number, "\\name\\fake").len();
        if number % 20 == 0 {
            attacked.run(1);
        }
    }
    assert!(refusals <= 250, "{refusals} refusals");
    assert!(attacked.count(QwCounter::Banned) > 1, "refused at the connect");
    assert!(attacked.bytes_out <= attacked.bytes_in, "{} bytes", attacked.bytes_out);
    assert_eq!(attacked.fixture.server.population(), (3, 0));
    attacked.check();
}

#[test]
fn q19_downloads_of_other_files_are_refused() {
    let mut attacked = Attacked::new(&[]);
    attacked.fixture.add(&[("name", "rogue"), ("*z_ext", "383")]);
    attacked.run(1000);
    let long = format!("maps/{}.bsp", "a".repeat(900));
    for name in [
        "../server.cfg",
        "/etc/passwd",
        "maps/../../x",
        "server.cfg",
        "maps/",
        ".x/y",
        "maps\\x.bsp",
        &long,
    ] {
        attacked.fixture.peers[3].events.clear();
        attacked.fixture.peers[3].client.download(name).unwrap();
        attacked.run(200);
        let refused = attacked.fixture.peers[3].events.iter().any(|event| {
            matches!(
                event,
                fragd::quakeworld::client::ClientEvent::Downloaded { content: None, .. }
            )
        });
        assert!(refused, "{name}");
    }
    attacked.check();
}
