//! Hostile masters and servers.

use proptest::prelude::*;

use super::*;

#[test]
fn endless_list_ends_at_its_limits() {
    let asked = BrowserOptions { max_servers: 1000, ..options("q3") };
    let mut browser = Browser::new(asked, Millis(0));
    let mut number = 0u32;
    let mut now = 0;
    while !browser.is_finished() && now < 130_000 {
        browser.frame(Millis(now));
        sent(&mut browser);
        let servers = (0..100).map(|_| {
            number += 1;
            SocketAddr::from((number.to_be_bytes().map(|byte| byte | 1), 27_960))
        });
        for packet in list("q3", servers.collect::<Vec<_>>()) {
            receive(&mut browser, now, address(MASTER), &packet);
        }
        assert!(browser.query_counts().1 <= 16);
        now += 100;
    }
    assert_eq!(browser.table().servers().len(), 1000);
    assert_eq!(browser.masters()[0].state, MasterState::Complete);
    assert!(now <= 120_100, "the round ends at its limit: {now}");
}

#[test]
fn lists_of_strangers_are_ignored() {
    let mut browser = Browser::new(options("q3"), Millis(0));
    browser.frame(Millis(0));
    let packet = &list("q3", [listed(1)])[0];
    receive(&mut browser, 1, address("192.0.2.2:27950"), packet);
    receive(&mut browser, 1, address("192.0.2.1:27951"), packet);
    receive(&mut browser, 1, address(MASTER), &list("qw", [listed(1)])[0]);
    assert_eq!((browser.table().servers().len(), browser.counters().unrequested), (0, 3));
    receive(&mut browser, 1, address(MASTER), packet);
    assert_eq!(browser.table().servers().len(), 1);
}

#[test]
fn answers_without_the_challenge_are_ignored() {
    let mut browser = Browser::new(options("q3"), Millis(0));
    browser.frame(Millis(0));
    receive(&mut browser, 1, address(MASTER), &list("q3", [listed(1), listed(2)])[0]);
    let requests: Vec<_> =
        sent(&mut browser).into_iter().filter(|(to, _)| *to != address(MASTER)).collect();
    assert_eq!(requests.len(), 2);
    let right = answer(&requests[0].1, "right").unwrap();
    for forged in [
        answer(b"\xff\xff\xff\xffgetinfo xxx", "forged").unwrap(),
        answer(b"\xff\xff\xff\xffgetinfo", "forged").unwrap(),
        answer(&requests[1].1, "other server's challenge").unwrap(),
        answer(b"\xff\xff\xff\xffstatus\n", "other family").unwrap(),
    ] {
        receive(&mut browser, 2, requests[0].0, &forged);
    }
    receive(&mut browser, 2, listed(3), &right);
    assert_eq!(browser.counters().answers, 0);
    receive(&mut browser, 2, requests[0].0, &right);
    receive(&mut browser, 2, requests[0].0, &right);
    assert_eq!(browser.counters().answers, 1, "and only once");
}

#[test]
fn huge_answers_are_kept_in_part() {
    let favorites = vec![(game("q4"), listed(1)), (game("qw"), listed(2))];
    let mut browser =
        Browser::new(BrowserOptions { favorites, ..BrowserOptions::new(1) }, Millis(0));
    browser.frame(Millis(0));
    let requests = sent(&mut browser);
    let Ok(quake4::Packet::GetInfo(challenge)) = quake4::Packet::parse(&requests[0].1) else {
        panic!("not a request")
    };
    let long = "x".repeat(60_000);
    let mut reply = Vec::new();
    let pairs = (0..5000).map(|_| ("si_name", "y")).chain([("si_map", long.as_str())]);
    quake4::write_info_response(&mut reply, challenge, pairs, []);
    receive(&mut browser, 1, listed(1), &reply);
    let lines = "1 2 3 4 \"x\" \"base\" 4 13\n".repeat(2500);
    let mut reply = format!("0000n\\hostname\\{long}\n{lines}\0").into_bytes();
    reply[..4].fill(0xff);
    receive(&mut browser, 1, listed(2), &reply);
    for server in browser.table().servers() {
        let shown = server.shown();
        assert_eq!(server.state, ServerState::Answered);
        assert!(shown.pairs.len() <= 128 && shown.players.len() <= 128);
        let texts = shown.pairs.iter().flat_map(|(key, value)| [key, value]);
        assert!(texts.chain([&shown.name, &shown.map]).all(|text| text.len() <= 128));
    }
    assert_eq!(browser.table().servers()[1].shown().clients, 128);
}

/// Whether a text cannot control a terminal.
fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte))
}

proptest! {
    #[test]
    fn any_answer_is_safe(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8),
    ) {
        let words = ["q3", "q4", "qw"];
        let favorites = (1..).map(listed).zip(words).map(|(at, word)| (game(word), at)).collect();
        let asked = BrowserOptions { favorites, ..options("q3") };
        let mut browser = Browser::new(asked, Millis(0));
        browser.frame(Millis(0));
        let requests = sent(&mut browser);
        for (to, request) in &requests {
            for body in &bodies {
                let mut bytes = answer(request, "x").unwrap_or_else(|| list("q3", [listed(9)]).remove(0));
                let keep = bytes.len() - usize::from(body.first().copied().unwrap_or(0)).min(bytes.len());
                bytes.truncate(keep);
                bytes.extend_from_slice(body);
                receive(&mut browser, 1, *to, &bytes);
                receive(&mut browser, 1, *to, body);
            }
        }
        let selection = report::Selection { silent: true, ..Default::default() };
        for text in [
            report::plain(&browser, &selection),
            report::csv(&browser, &selection),
            report::json(&browser, &selection, true),
        ] {
            prop_assert!(is_printable(&text), "{text:?}");
        }
        let cells = report::csv(&browser, &selection);
        for row in csv::Reader::from_reader(cells.as_bytes()).records() {
            for cell in &row.unwrap() {
                prop_assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
            }
        }
        let live = view::LiveBrowser::new(browser, selection, "");
        for line in live.screen(100, 30) {
            prop_assert!(is_printable(&line.text) && line.text.len() <= 100);
        }
    }
}
