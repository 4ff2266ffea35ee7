//! A master: datagrams of servers and clients of all games, with valid challenges.
#![no_main]

use fragd::{
    master::{
        Answer, AuthorizationPolicy, AuthorizationRule, Master, MasterOptions, MotdRule, UpdateRule,
    },
    model::{Millis, UnixMillis},
    node::{LocalPort, Node as _, Route},
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut options = MasterOptions {
        allow_loopback: true,
        max_servers: 6,
        max_servers_per_address: 3,
        mappings: vec!["127.0.0.1=203.0.113.7".parse().expect("a mapping")],
        motd: vec![MotdRule { text: "Welcome".to_owned(), ..MotdRule::default() }],
        updates: vec![UpdateRule { file: "x".to_owned(), ..UpdateRule::default() }],
        authorization: Some(AuthorizationPolicy {
            rules: vec![AuthorizationRule {
                key: Some("k".to_owned()),
                ..AuthorizationRule::default()
            }],
            with_key: Answer::Accept,
            without_key: Answer::Deny,
        }),
        ..MasterOptions::default()
    };
    options.games.declared.push(("Game".to_owned(), "Game-1".to_owned()));
    let mut now = Millis(1000);
    let mut master = Master::new(options, [7; 32], now).expect("sound options");
    let hosts = ["127.0.0.1", "192.0.2.1", "[2001:db8::1]", "69.79.84.1"];
    let mut challenge = b"xxx".to_vec();
    let mut packet = Vec::new();
    for piece in pieces(data, 64) {
        let [choice, body @ ..] = piece else { continue };
        now = Millis(now.0 + [0, 5, 700, 30_000][usize::from(choice >> 5 & 3)]);
        let host = hosts[usize::from(choice & 3)];
        let remote = format!("{host}:{}", 1 + (choice >> 2 & 3)).parse().expect("an address");
        let route = Route::new(LocalPort(0), remote);
        let mut datagram = body.to_vec();
        // A response with the challenge of the last reply.
        if choice & 128 != 0 {
            datagram = b"\xff\xff\xff\xffinfoResponse\n\\challenge\\".to_vec();
            datagram.extend([&challenge, body].concat());
        }
        master.handle_datagram(now, route, &datagram);
        master.frame(now);
        let mut sent = 0;
        while master.poll_transmit(&mut packet).is_some() {
            assert!(packet.len() <= 1400, "a packet fits one frame of the network");
            sent += 1;
            if let Some(text) = packet.strip_prefix(b"\xff\xff\xff\xffgetinfo ") {
                challenge = text.to_vec();
            }
        }
        assert!(sent <= 64 && master.servers() <= 6);
    }
    let text = master.state_text(now, UnixMillis(5));
    let before = master.servers();
    let restored = master.restore(now, UnixMillis(5), &text).expect("its own state");
    assert!(restored <= before);
    let text = String::from_utf8_lossy(data);
    let _ = master.restore(now, UnixMillis(5), &text);
});
