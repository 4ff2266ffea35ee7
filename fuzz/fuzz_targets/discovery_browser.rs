//! Lists of masters and answers of servers to a browser, and a file of favorites.
#![no_main]

use std::net::SocketAddr;

use fragd::{
    browser::{
        Browser, BrowserOptions, Filter, MasterOptions, Question, favorites,
        report::{self, Selection},
        view::LiveBrowser,
    },
    discovery::{GAMES, quake4},
    model::Millis,
    node::{LocalPort, Node as _, Route},
    wire::connectionless::Message,
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

/// Returns a valid start of an answer to `request`, by its kind.
fn start(request: &[u8]) -> Vec<u8> {
    let text = match Message::parse(request) {
        Ok(Message::GetInfo(query)) => format!("infoResponse\n\\challenge\\{}", query.challenge),
        Ok(Message::GetStatus(query)) => {
            format!("statusResponse\n\\challenge\\{}", query.challenge)
        }
        Ok(Message::GetServers(asked)) if asked.extended => "getserversExtResponse".to_owned(),
        Ok(Message::GetServers(_)) => "getserversResponse".to_owned(),
        _ => match quake4::Packet::parse(request) {
            Ok(quake4::Packet::GetInfo(challenge)) => {
                return [b"\xff\xffinfoResponse\0", &challenge.to_le_bytes()[..]].concat();
            }
            Ok(quake4::Packet::GetServers(_)) => return b"\xff\xffservers\0".to_vec(),
            _ if request.starts_with(b"c\n") => "d\n".to_owned(),
            _ => "n".to_owned(),
        },
    };
    [b"\xff\xff\xff\xff", text.as_bytes()].concat()
}

/// Whether a text cannot control a terminal.
fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte))
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = favorites::parse(&text, &GAMES[0])
        .map_err(|error| assert!(is_printable(&error.to_string())));
    let master: SocketAddr = "10.0.0.1:27950".parse().expect("an address");
    let question = |game| Question { game, protocol: game.protocol, extended: None };
    let questions = GAMES.iter().map(question).collect();
    let favorite = |(at, game)| (game, SocketAddr::from(([10, 0, 1, at], 27_960)));
    let options = BrowserOptions {
        masters: vec![MasterOptions { label: "master".to_owned(), address: master, questions }],
        favorites: (1..).zip(GAMES).map(favorite).collect(),
        lan: vec![(&GAMES[0], "10.0.0.255:27960".parse().expect("an address"))],
        players: true,
        max_servers: 64,
        watch: Some(Millis(5000)),
        ..BrowserOptions::new(5)
    };
    let mut now = Millis(0);
    let mut browser = Browser::new(options, now);
    let mut requests: Vec<(SocketAddr, Vec<u8>)> = Vec::new();
    let mut packet = Vec::new();
    for piece in pieces(data, 32) {
        browser.frame(now);
        while let Some(route) = browser.poll_transmit(&mut packet) {
            requests.push((route.remote, packet.clone()));
        }
        let [kind, body @ ..] = piece else { continue };
        if requests.is_empty() {
            continue;
        }
        let (from, request) = &requests[usize::from(*kind) % requests.len()];
        let answer =
            if kind & 128 == 0 { [&start(request)[..], body].concat() } else { body.to_vec() };
        browser.handle_datagram(now, Route::new(LocalPort(0), *from), &answer);
        now = Millis(now.0 + u64::from((kind >> 3) & 15) * 50);
    }
    assert!(browser.table().servers().len() <= 64 && browser.query_counts().1 <= 16);
    let selection = Selection { silent: true, filter: Filter::parse(""), ..Selection::default() };
    let _ = (Filter::parse(&text), report::json(&browser, &selection, true));
    assert!(is_printable(&report::plain(&browser, &selection)));
    assert!(is_printable(&report::csv(&browser, &selection)));
    let live = LiveBrowser::new(browser, selection, &text);
    assert!(
        live.screen(80, 24).iter().all(|line| line.text.len() <= 80 && is_printable(&line.text))
    );
});
