//! Admission: rejections in the words that clients know, rate limits, and hostile datagrams beside
//! players.

use std::net::SocketAddr;

use fragd::{
    client::Protocol,
    model::{Challenge, Millis, Qport, Sequence},
    netchan::{Channel, ChannelSide},
    node::{LocalPort, Node as _, Route},
    observe::Counter,
    server::Server,
    wire::{
        bits::BitWriter,
        client_message::{self, ClientHeader},
        connect::write_connect,
        connectionless::Message,
        info::InfoString,
    },
};

use crate::sim_fixture::{SERVER, SimFixture, server};

const START: Millis = Millis(10_000);

/// A connectionless peer at one address, without a network in between.
struct Stranger {
    address: SocketAddr,
    now: Millis,
}

impl Stranger {
    fn at(address: &str) -> Self {
        Self { address: address.parse().unwrap(), now: START }
    }

    /// Sends a datagram and returns what comes back to this address.
    fn send(&self, server: &mut Server, bytes: &[u8]) -> Vec<Vec<u8>> {
        let route = Route::new(LocalPort(0), self.address);
        server.handle_datagram(self.now, route, bytes);
        let mut packet = Vec::new();
        let mut replies = Vec::new();
        while let Some(to) = server.poll_transmit(&mut packet) {
            if to.remote == self.address {
                replies.push(packet.clone());
            }
        }
        replies
    }

    fn text(&self, server: &mut Server, request: &str) -> Vec<String> {
        let mut bytes = b"\xff\xff\xff\xff".to_vec();
        bytes.extend(request.as_bytes());
        texts(self.send(server, &bytes))
    }

    fn challenge(&self, server: &mut Server) -> i32 {
        let replies = self.text(server, "getchallenge");
        replies[0].strip_prefix("challengeResponse ").unwrap().parse().unwrap()
    }

    fn connect(&self, server: &mut Server, pairs: &[(&str, &str)]) -> Vec<String> {
        let mut info = InfoString::normal();
        for (key, value) in pairs {
            info.set(key, value).unwrap();
        }
        let mut bytes = Vec::new();
        write_connect(&info, &mut bytes).unwrap();
        texts(self.send(server, &bytes))
    }

    /// Connects in good order.
    fn join(&self, server: &mut Server, qport: &str) -> Vec<String> {
        let challenge = self.challenge(server).to_string();
        self.connect(
            server,
            &[
                ("protocol", "71"),
                ("qport", qport),
                ("challenge", &challenge),
                ("name", "stranger"),
            ],
        )
    }
}

fn texts(replies: Vec<Vec<u8>>) -> Vec<String> {
    replies.into_iter().map(|reply| String::from_utf8(reply[4..].to_vec()).unwrap()).collect()
}

#[test]
fn refusals_use_the_words_that_clients_show() {
    let mut server = server(&[("sv_maxclients", "1"), ("sv_maxclientsPerIP", "0")]);
    let stranger = Stranger::at("198.51.100.1:27960");
    let refused = |replies: Vec<String>, text: &str| {
        assert_eq!(replies, [format!("print\n{text}\n")]);
    };
    let challenge = stranger.challenge(&mut server).to_string();
    refused(
        stranger.connect(&mut server, &[("protocol", "44"), ("challenge", &challenge)]),
        "Server uses protocol version 71 (yours is 44). Also: 66, 67, 68.",
    );
    refused(
        stranger.connect(&mut server, &[("protocol", "68"), ("challenge", "12345")]),
        "No or bad challenge for your address.",
    );
    let replies = stranger.text(&mut server, "getchallenge 7 OtherGame");
    refused(replies, "Game mismatch: This is a Quake3Arena server");

    assert_eq!(stranger.join(&mut server, "1"), [format!("connectResponse {challenge}")]);
    // The answer was lost: the same request again is answered again.
    assert_eq!(stranger.join(&mut server, "1"), [format!("connectResponse {challenge}")]);
    refused(Stranger::at("198.51.100.2:27960").join(&mut server, "1"), "Server is full");

    let other = Stranger::at("198.51.100.3:27960");
    let challenge = other.challenge(&mut server);
    let long = "x".repeat(973);
    let pairs = [("protocol", "71"), ("challenge", &challenge.to_string()), ("x", &long)];
    refused(
        other.connect(&mut server, &pairs),
        "Userinfo string length exceeded.  Try removing setu cvars from your config.",
    );
}

#[test]
fn pings_are_measured_from_challenge_to_connect() {
    let mut server = server(&[("sv_minPing", "50"), ("sv_maxPing", "200")]);
    let high = ["print\nServer is for high pings only\n"];
    let low = ["print\nServer is for low pings only\n"];
    let after = |server: &mut Server, address: &str, ms: u64| {
        let mut stranger = Stranger::at(address);
        let challenge = stranger.challenge(server).to_string();
        stranger.now += Millis(ms);
        let replies = stranger
            .connect(server, &[("protocol", "71"), ("qport", "1"), ("challenge", &challenge)]);
        (replies, challenge)
    };
    assert_eq!(after(&mut server, "198.51.100.1:27960", 30).0, high);
    assert_eq!(after(&mut server, "198.51.100.2:27960", 240).0, low);
    for (host, ms) in [(3, 50), (4, 120), (5, 200)] {
        let (replies, challenge) = after(&mut server, &format!("198.51.100.{host}:27960"), ms);
        assert_eq!(replies, [format!("connectResponse {challenge}")], "{ms} ms");
    }
    // The local network is not asked.
    let (replies, challenge) = after(&mut server, "192.168.0.9:27960", 0);
    assert_eq!(replies, [format!("connectResponse {challenge}")]);
}

#[test]
fn server_password_rejects_and_admits_clients() {
    let mut server = server(&[("g_password", "secret")]);
    let stranger = Stranger::at("198.51.100.1:27960");
    let replies = stranger.join(&mut server, "1");
    assert_eq!(replies, ["print\nInvalid password\n"]);
    let challenge = stranger.challenge(&mut server).to_string();
    let replies = stranger.connect(
        &mut server,
        &[("protocol", "71"), ("challenge", &challenge), ("password", "secret")],
    );
    assert_eq!(replies, [format!("connectResponse {challenge}")]);
    let info = &Stranger::at("198.51.100.9:1").text(&mut server, "getinfo")[0];
    assert!(info.contains("\\g_needpass\\1"), "{info}");
}

#[test]
fn early_reconnect_is_rejected_with_remaining_wait() {
    let mut server = server(&[]);
    let mut stranger = Stranger::at("198.51.100.1:27960");
    stranger.join(&mut server, "1");
    say_hello(&mut server, &stranger);
    stranger.now = START + Millis(500);
    // With another challenge: a reconnect, not a resent request.
    stranger.now += Millis(20_000);
    let challenge = stranger.challenge(&mut server).to_string();
    let connect = |server: &mut Server, stranger: &Stranger| {
        stranger.connect(server, &[("protocol", "71"), ("qport", "1"), ("challenge", &challenge)])
    };
    assert_eq!(connect(&mut server, &stranger), [format!("connectResponse {challenge}")]);
    say_hello(&mut server, &stranger);
    stranger.now += Millis(500);
    let again =
        stranger.connect(&mut server, &[("protocol", "71"), ("qport", "1"), ("challenge", "99")]);
    assert_eq!(again, ["print\nReconnecting, please wait 3 seconds.\n"]);
    stranger.now += Millis(2000);
    let again = connect(&mut server, &stranger);
    assert_eq!(again, ["print\nReconnecting, please wait 1 second.\n"]);
    stranger.now += Millis(600);
    assert_eq!(connect(&mut server, &stranger), [format!("connectResponse {challenge}")]);
}

#[test]
fn client_that_resends_connect_keeps_its_slot() {
    let mut server = server(&[]);
    let mut stranger = Stranger::at("198.51.100.1:27960");
    let challenge = stranger.challenge(&mut server).to_string();
    let mut run_to = |server: &mut Server, ms: u64| {
        for ms in (stranger.now.0..=START.0 + ms).step_by(50) {
            server.frame(Millis(ms));
        }
        stranger.now = START + Millis(ms);
        server.used_slots()
    };
    let connect = |server: &mut Server, ms: u64| {
        let stranger = Stranger { now: START + Millis(ms), ..Stranger::at("198.51.100.1:27960") };
        let pairs = [("protocol", "71"), ("qport", "1"), ("challenge", challenge.as_str())];
        let replies = stranger.connect(server, &pairs);
        // The answer is repeated for a client that stays silent.
        let expected = format!("connectResponse {challenge}");
        assert!(!replies.is_empty() && replies.iter().all(|reply| *reply == expected));
    };
    connect(&mut server, 0);
    assert_eq!(run_to(&mut server, 3000), 1);
    // The answer was lost.
    connect(&mut server, 3000);
    assert_eq!(run_to(&mut server, 7500), 1);
    assert_eq!(run_to(&mut server, 8500), 0, "silent for five seconds after that");
}

/// The first packet of a connection: nothing seen yet.
fn say_hello(server: &mut Server, stranger: &Stranger) {
    let challenge = Challenge(stranger.challenge(server));
    let mut channel =
        Channel::<()>::new(ChannelSide::Client, Protocol::IOQ3_71, challenge, Qport(1));
    let mut writer = BitWriter::new();
    client_message::begin(&mut writer, Protocol::Q3_68, &ClientHeader::default());
    client_message::end(&mut writer);
    let mut datagram = Vec::new();
    channel.send(writer.message(), &"".into(), (), &mut datagram).unwrap();
    stranger.send(server, &datagram);
}

#[test]
fn address_limit_exempts_lan_addresses() {
    let mut far = server(&[("sv_maxclientsPerIP", "2"), ("sv_maxclients", "8")]);
    for port in 1..=2 {
        let replies =
            Stranger::at(&format!("198.51.100.1:{port}")).join(&mut far, &port.to_string());
        assert!(replies[0].starts_with("connectResponse"), "{replies:?}");
    }
    let replies = Stranger::at("198.51.100.1:3").join(&mut far, "3");
    assert_eq!(replies, ["print\nToo many connections.\n"]);
    for port in 1..=4 {
        let replies =
            Stranger::at(&format!("192.168.0.9:{port}")).join(&mut far, &port.to_string());
        assert!(replies[0].starts_with("connectResponse"), "{replies:?}");
    }
}

#[test]
fn query_responses_keep_limits_and_request_size() {
    let mut server = server(&[]);
    let mut browser = Stranger::at("198.51.100.1:1000");
    let info = &browser.text(&mut server, "getinfo xyz")[0];
    assert!(info.starts_with("infoResponse\n\\challenge\\xyz\\"), "{info}");
    let status = &browser.text(&mut server, "GETSTATUS xyz\n")[0];
    assert!(status.starts_with("statusResponse\n\\") && status.ends_with("\\challenge\\xyz\n"));
    for silent in [
        &format!("getinfo {}", "A".repeat(129)),
        "infoResponse\n\\x\\y",
        "statusResponse\n",
        "print\nhello",
        "echo hello",
        "disconnect",
        "ipAuthorize 1 accept",
        "heartbeat QuakeArena-1\n",
        "getservers 68",
        "nonsense",
        "",
    ] {
        assert_eq!(browser.text(&mut server, silent), [""; 0], "{silent}");
    }
    for evil in ["a\\hostname\\evil", "a;b", "a\"b"] {
        let info = &browser.text(&mut server, &format!("getinfo {evil}"))[0];
        assert!(!info.contains("evil") && info.matches("\\hostname\\").count() == 1, "{info}");
    }
    // Ten at once, then one a second.
    browser.now += Millis::seconds(20);
    let mut answered = |browser: &Stranger| {
        (0..50).map(|_| browser.text(&mut server, "getinfo").len()).sum::<usize>()
    };
    assert_eq!(answered(&browser), 10);
    browser.now += Millis(3050);
    assert_eq!(answered(&browser), 3);
}

#[test]
fn forged_sources_get_no_more_than_the_global_budget() {
    let mut server = server(&[]);
    let mut bytes_out = 0;
    for i in 0..20_000u32 {
        let address = format!("203.0.{}.{}:27960", i >> 8 & 255, i & 255);
        let replies = Stranger::at(&address).text(&mut server, "getstatus");
        bytes_out += replies.iter().map(String::len).sum::<usize>();
    }
    // All in one instant: the burst of one bucket.
    assert!(bytes_out < 100 * 1400, "{bytes_out} bytes");
    let counted = [Counter::QueriesLimited, Counter::QueriesShed];
    let refused: u64 = counted.iter().map(|&counter| server.counters().get(counter)).sum();
    assert!(refused > 19_000);
}

#[test]
fn rejections_are_rate_limited() {
    let mut server = server(&[]);
    let stranger = Stranger::at("198.51.100.1:1");
    let told =
        (0..1000).map(|_| stranger.connect(&mut server, &[("protocol", "1")]).len()).sum::<usize>();
    assert_eq!(told, 3);
}

/// Datagrams that are wrong in some way, with a word on it.
fn hostile_datagrams() -> Vec<(&'static str, Vec<u8>)> {
    let oob = |text: &[u8]| [b"\xff\xff\xff\xff", text].concat();
    let mut list = vec![
        ("nothing", Vec::new()),
        ("one byte", vec![0xff]),
        ("three bytes", vec![0xff; 3]),
        ("a bare mark", vec![0xff; 4]),
        ("five bytes", vec![0xff; 5]),
        ("all ones", vec![0xff; 64]),
        ("all ones, long", vec![0xff; 1400]),
        ("zeros", vec![0; 64]),
        ("a sequence and nothing", vec![1, 0, 0, 0]),
        ("connect without text", oob(b"connect")),
        ("connect with a space", oob(b"connect ")),
        ("connect with letters", oob(&[b"connect ".as_slice(), &[b'A'; 1300]].concat())),
        ("a Huffman bomb", oob(b"connect \xff\xff\x00\x01\x02\x03")),
        ("connectResponse as a request", oob(b"connectResponse 1")),
        ("format strings", oob(b"getinfo %s%n%s%n")),
        ("bytes above 127", oob(&[b"getinfo ".as_slice(), &[0xfe; 40]].concat())),
        ("a newline in an argument", oob(b"getinfo x\nquit")),
        ("a console command", oob(b"getinfo \"x;quit\"")),
        ("rcon without password", oob(b"rcon")),
        ("rcon with a wrong one", oob(b"rcon guess status")),
        ("rcon with a long line", oob(&[b"rcon x echo ".as_slice(), &[b'A'; 1000]].concat())),
        ("rcon with many words", oob(&b"rcon x a ".repeat(150))),
        ("a forged disconnect", oob(b"disconnect")),
        ("getchallenge with junk", oob(b"getchallenge \x01\x02 \"\"\"\"")),
    ];
    for sequence in [0u32, 1, 0x7fff_fffe, 0x8000_0000, 0xffff_fffe] {
        let mut bytes = sequence.to_le_bytes().to_vec();
        bytes.extend([7, 0]);
        bytes.extend([0xaa; 40]);
        list.push(("a stranger's sequence", bytes));
    }
    list
}

#[test]
fn hostile_datagrams_do_not_affect_players() {
    let mut sim = SimFixture::new(77, &[("rconPassword", "a-long-password")]);
    let nodes = Protocol::CURRENT.map(|wire| sim.join(wire, "honest"));
    sim.run_for(Millis::seconds(4));
    let hostile = hostile_datagrams();
    let victims = nodes.map(|node| fragd::sim::Network::address(node, LocalPort(0)));
    let mut last = nodes.map(|node| sim.player(node).client().statistics().snapshots);
    for round in 0..400usize {
        for (i, (_, bytes)) in hostile.iter().enumerate() {
            let stranger = SocketAddr::from(([203, 0, 113, (round % 250) as u8], i as u16 + 1));
            sim.network.inject(stranger, SERVER, bytes);
            // And as if they came from the players.
            let victim = victims[(round + i) % victims.len()];
            sim.network.inject(victim, SERVER, bytes);
        }
        sim.run_for(Millis(50));
        for (node, last) in nodes.iter().zip(&mut last) {
            let snapshots = sim.player(*node).client().statistics().snapshots;
            assert!(snapshots > *last, "round {round}: a frame without a snapshot");
            *last = snapshots;
        }
    }
    for node in nodes {
        let player = sim.player(node);
        assert!(player.is_active(), "{:?}", player.disconnect_reason());
    }
    sim.check_no_faults();
    let counters = sim.server().counters();
    assert!(counters.get(Counter::MalformedConnectionless) > 0);
    assert!(counters.get(Counter::PacketsInUnmatched) > 0);
    assert!(counters.get(Counter::MalformedHeader) > 0);
}

/// A client message of any content, as a player's own client would send it.
fn client_datagram(
    challenge: Challenge,
    sequence: Sequence,
    write: impl FnOnce(&mut BitWriter),
) -> Vec<u8> {
    let mut channel =
        Channel::<()>::new(ChannelSide::Client, Protocol::IOQ3_71, challenge, Qport(1))
            .resumed(sequence, Sequence(0));
    let mut writer = BitWriter::new();
    write(&mut writer);
    let mut datagram = Vec::new();
    channel.send(writer.message(), &"".into(), (), &mut datagram).unwrap();
    datagram
}

#[test]
fn false_client_acknowledgements_are_rejected() {
    let mut server = server(&[]);
    let stranger = Stranger::at("198.51.100.1:27960");
    stranger.join(&mut server, "1");
    let challenge = Challenge(stranger.challenge(&mut server));
    let mut sequence = Sequence(0);
    let mut send = |server: &mut Server, head: ClientHeader, tail: &[u8]| {
        sequence = sequence.next();
        let datagram = client_datagram(challenge, sequence, |writer| {
            client_message::begin(writer, Protocol::Q3_68, &head);
            tail.iter().for_each(|&byte| writer.byte(byte));
        });
        stranger.send(server, &datagram)
    };
    // Nothing was sent yet, so nothing can be acknowledged.
    for ack in [1, 5, -1, i32::MAX, i32::MIN] {
        let head = ClientHeader { message_acknowledge: ack, ..ClientHeader::default() };
        assert!(send(&mut server, head, &[5]).is_empty(), "{ack}");
    }
    for reliable in [1, 64, 65, i32::MAX, i32::MIN] {
        let head = ClientHeader {
            reliable_acknowledge: fragd::model::CommandNum(reliable),
            ..ClientHeader::default()
        };
        assert!(send(&mut server, head, &[5]).is_empty(), "{reliable}");
    }
    assert_eq!(server.counters().get(Counter::FalseAcknowledge), 10);
    // Unknown operations, no usercmds, too many usercmds.
    for tail in [&[0][..], &[1], &[255], &[2, 0], &[2, 33], &[3, 255], &[]] {
        assert!(send(&mut server, ClientHeader::default(), tail).is_empty(), "{tail:?}");
    }
    assert!(server.counters().get(Counter::MalformedMessage) >= 6);
    // An honest message is answered by the gamestate all the same.
    assert!(!send(&mut server, ClientHeader::default(), &[5]).is_empty());
    assert_eq!(server.counters().get(Counter::GamestatesSent), 1);
}

#[test]
fn gamestate_requests_get_one_per_second() {
    let mut server = server(&[]);
    let mut stranger = Stranger::at("198.51.100.1:27960");
    stranger.join(&mut server, "1");
    let challenge = Challenge(stranger.challenge(&mut server));
    let mut bytes_out = 0;
    for sequence in 1..=1000 {
        stranger.now += Millis(5);
        server.frame(stranger.now);
        let datagram = client_datagram(challenge, Sequence(sequence), |writer| {
            let head = ClientHeader { message_acknowledge: 1, ..ClientHeader::default() };
            let head = if sequence == 1 { ClientHeader::default() } else { head };
            client_message::begin(writer, Protocol::Q3_68, &head);
            client_message::end(writer);
        });
        bytes_out += stranger.send(&mut server, &datagram).iter().map(Vec::len).sum::<usize>();
    }
    let gamestates = server.counters().get(Counter::GamestatesSent);
    assert!(gamestates <= 6, "{gamestates} in five seconds");
    assert!(bytes_out < 100_000, "{bytes_out}");
}

#[test]
fn rcon_needs_password_and_allowed_network() {
    let mut server =
        server(&[("rconPassword", "correct horse"), ("sv_rconAllow", "127.0.0.0/8 10.0.0.0/8")]);
    let far = Stranger::at("198.51.100.1:1");
    assert!(far.text(&mut server, "rcon \"correct horse\" status").is_empty());
    let mut near = Stranger::at("10.1.2.3:1");
    for _ in 0..2 {
        assert_eq!(near.text(&mut server, "rcon wrong status"), ["print\nBad rconpassword.\n"]);
    }
    assert!(near.text(&mut server, "rcon wrong status").is_empty(), "then one answer a second");
    for _ in 0..20 {
        near.text(&mut server, "rcon wrong status");
    }
    // Locked out, but the right password is compared with ten others a second.
    assert!(near.text(&mut server, "rcon \"correct horse\" status").is_empty());
    near.now += Millis(100);
    let status = near.text(&mut server, "rcon \"correct horse\" status").concat();
    assert!(status.starts_with("print\nmap: oa_dm1\ncl score ping name"), "{status}");
    near.now += Millis::seconds(30);
    let list = near.text(&mut server, "rcon \"correct horse\" cvarlist");
    assert!(list.len() > 3 && list.iter().all(|packet| packet.len() <= 1013));
    assert!(!list.concat().contains("correct horse"), "secrets are not shown");
    let set = near.text(&mut server, "rcon \"correct horse\" set sv_fps 1000");
    assert!(set[0].contains("10 to 125"), "{set:?}");
}

#[test]
fn message_is_applied_completely_or_rejected() {
    // First message of a new client cut at every byte: no crash, no gamestate for a broken one.
    let challenge =
        |server: &mut Server, stranger: &Stranger| Challenge(stranger.challenge(server));
    let mut server = server(&[]);
    let stranger = Stranger::at("198.51.100.1:27960");
    stranger.join(&mut server, "1");
    let challenge = challenge(&mut server, &stranger);
    let whole = client_datagram(challenge, Sequence(1), |writer| {
        client_message::begin(writer, Protocol::Q3_68, &ClientHeader::default());
        client_message::write_command(writer, fragd::model::CommandNum(1), b"say hello there");
        client_message::end(writer);
    });
    for len in 0..whole.len() - 2 {
        assert!(stranger.send(&mut server, &whole[..len]).is_empty(), "{len}");
    }
    assert!(!stranger.send(&mut server, &whole).is_empty());
}

#[test]
fn parsed_requests_other_than_queries_are_counted() {
    let mut server = server(&[]);
    let stranger = Stranger::at("198.51.100.1:1");
    let mut bytes = Vec::new();
    Message::Disconnect.write(&mut bytes);
    stranger.send(&mut server, &bytes);
    assert_eq!(server.counters().get(Counter::ConnectionlessIgnored), 1);
}
