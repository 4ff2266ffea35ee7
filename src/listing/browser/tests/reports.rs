//! Filters, orders, reports and the live table.

use super::{
    report::Selection,
    view::{Key, LineStyle, LiveBrowser},
    *,
};

/// Returns a browser whose round found four servers.
fn found() -> Browser {
    let mut asked = options("q3");
    asked.watch = Some(Millis(60_000));
    let mut browser = Browser::new(asked, Millis(0));
    browser.frame(Millis(0));
    receive(&mut browser, 0, address(MASTER), &list("q3", (1..=5).map(listed))[0]);
    let rows = [
        ("Alpha", "q3dm17", 0, 8, 0, 30),
        ("bravo ctf", "q3ctf1", 12, 12, 4, 10),
        ("Charlie", "q3tourney2", 1, 2, 1, 90),
        ("=delta,\"x\"", "q3dm6", 5, 16, 3, 50),
    ];
    for (to, request) in sent(&mut browser) {
        let Ok(Message::GetInfo(query)) = Message::parse(&request) else { continue };
        let Some(at) = (1..=4).find(|&number| listed(number) == to) else { continue };
        let (name, map, clients, max, gametype, ping) = rows[usize::from(at) - 1];
        let text = format!(
            "\\challenge\\{}\\protocol\\68\\hostname\\{name}\\mapname\\{map}\\clients\\{clients}\
             \\sv_maxclients\\{max}\\gametype\\{gametype}",
            query.challenge
        );
        let text = text.replace('"', "'");
        let mut reply = Vec::new();
        Message::InfoResponse(text.as_str().into()).write(&mut reply);
        receive(&mut browser, ping, to, &reply);
    }
    for now in [800, 1600, 5000] {
        browser.frame(Millis(now));
    }
    assert_eq!(browser.rounds(), 1);
    browser
}

fn names(browser: &Browser, filter: &str, order: &str) -> Vec<String> {
    let selection = Selection {
        filter: Filter::parse(filter),
        order: order.parse().expect("an order"),
        silent: false,
    };
    let first = |server: &&Server| server.shown().name.chars().take(1).collect();
    selection.of(browser.table().servers()).iter().map(first).collect()
}

#[test]
fn filter_words_select_servers() {
    let browser = found();
    for (filter, expected) in [
        ("", "bA=C"),
        ("ctf", "b"),
        ("-ctf", "A=C"),
        ("map:q3dm", "A="),
        ("map:Q3DM name:alpha", "A"),
        ("type:tourney", "C"),
        ("ping<50", "bA"),
        ("ping<=50 players>=1", "b="),
        ("players=12", "b"),
        ("free>1", "A="),
        ("max>8", "b="),
        ("empty", "A"),
        ("-empty -full", "=C"),
        ("full", "b"),
        ("address:10.0.0.3", "C"),
        ("game:q3", "bA=C"),
        ("password", ""),
        ("ping<many", ""),
        ("unknown:x", ""),
        ("-", "bA=C"),
    ] {
        assert_eq!(names(&browser, filter, "ping").concat(), expected, "{filter}");
    }
}

#[test]
fn orders_sort_by_each_column() {
    let browser = found();
    for (order, expected) in [
        ("ping", "bA=C"),
        ("-ping", "C=Ab"),
        ("players", "b=CA"),
        ("name", "=AbC"),
        ("-name", "CbA="),
        ("map", "bA=C"),
        ("type", "bA=C"),
        ("address", "AbC="),
    ] {
        assert_eq!(names(&browser, "", order).concat(), expected, "{order}");
    }
    let error = "color".parse::<Order>().unwrap_err();
    assert!(error.contains("ping, players, game"), "{error}");
}

#[test]
fn plain_report_aligns_columns() {
    let browser = found();
    let text = report::plain(&browser, &Selection::default());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    let column = |line: &str, word: &str| line.find(word).expect("the column");
    let at = column(lines[0], "address");
    assert!(lines[1..5].iter().all(|line| line[at..].starts_with("10.0.0.")), "{text}");
    assert_eq!(column(lines[0], "map"), column(lines[1], "q3ctf1"));
    assert_eq!(lines[5], "4 servers, 18 players, 1 servers without answer");
    let all = Selection { silent: true, ..Selection::default() };
    assert!(report::plain(&browser, &all).contains("10.0.0.5:27960"));
}

#[test]
fn json_and_csv_reports_are_readable() {
    let browser = found();
    let selection = Selection::default();
    let json: serde_json::Value =
        serde_json::from_str(&report::json(&browser, &selection, false)).unwrap();
    assert_eq!(json["servers"].as_array().map(Vec::len), Some(4));
    let first = &json["servers"][0];
    assert_eq!((&first["ping_ms"], &first["gametype"]), (&10.into(), &"ctf".into()));
    assert_eq!(first["info"]["hostname"], "bravo ctf");
    assert_eq!(first["info"].get("challenge"), None);
    assert_eq!(json["masters"][0]["answered"], true);
    let line = report::json(&browser, &selection, true);
    assert_eq!(line.matches('\n').count(), 1, "one line per round in a watch");
    let json: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["servers"][0]["history"][0]["players"], 12);

    let text = report::csv(&browser, &selection);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().position(|name| name == "name"), Some(11));
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(&rows[2][11], "'=delta,'x'", "a spreadsheet runs no formula");
}

#[test]
fn watch_reports_changes_between_rounds() {
    let mut changes = report::Changes::default();
    let selection = Selection::default();
    let mut browser = found();
    let first = changes.lines(&browser, &selection, Millis(0));
    assert_eq!(first.lines().count(), 4, "{first}");
    assert!(first.contains("appeared: q3ctf1 with 12 players"), "{first}");
    assert_eq!(changes.lines(&browser, &selection, Millis(0)), "");
    // No server answers in the second round.
    for now in (60_000..70_000).step_by(100) {
        browser.frame(Millis(now));
    }
    assert_eq!(browser.rounds(), 2);
    let second = changes.lines(&browser, &selection, Millis(60_000));
    assert_eq!(second.matches("gone").count(), 4, "{second}");
    assert!(second.starts_with("    60 s  10.0.0."), "{second}");
}

fn screen(live: &LiveBrowser) -> Vec<String> {
    live.screen(120, 24).into_iter().map(|line| line.text).collect()
}

#[test]
fn typing_filters_the_live_table() {
    let mut live = LiveBrowser::new(found(), Selection::default(), "");
    let lines = screen(&live);
    assert_eq!(lines.len(), 24);
    assert!(lines[0].contains("4 shown"), "{}", lines[0]);
    assert!(lines[1].starts_with("ping<"), "{}", lines[1]);
    for letter in "ctf".chars() {
        live.press(Millis(0), Key::Char(letter));
    }
    let lines = screen(&live);
    assert!(lines[2].contains("bravo ctf") && lines[3].is_empty(), "{lines:?}");
    assert_eq!(lines[22], "filter: ctf_");
    live.press(Millis(0), Key::Backspace);
    assert_eq!(screen(&live)[22], "filter: ct_");
    live.press(Millis(0), Key::Escape);
    assert!(!live.is_finished(), "the first escape clears the filter");
    assert_eq!(screen(&live)[22], "filter: _");
    live.press(Millis(0), Key::Escape);
    assert!(live.is_finished());
}

#[test]
fn keys_select_sort_and_show_details() {
    let mut live = LiveBrowser::new(found(), Selection::default(), "");
    let selected = |live: &LiveBrowser| {
        let lines = live.screen(120, 24).into_iter();
        lines
            .filter(|line| line.style == LineStyle::Selected)
            .map(|line| line.text)
            .collect::<String>()
    };
    assert!(selected(&live).contains("bravo"));
    live.press(Millis(0), Key::Down);
    assert!(selected(&live).contains("Alpha"));
    live.press(Millis(0), Key::End);
    assert!(selected(&live).contains("Charlie"));
    live.press(Millis(0), Key::Right);
    assert!(screen(&live)[1].contains("players<"));
    live.press(Millis(0), Key::Tab);
    assert!(screen(&live)[1].contains("players>"));
    live.press(Millis(0), Key::Home);
    assert!(selected(&live).contains("Alpha"));
    live.press(Millis(0), Key::Enter);
    assert!(screen(&live).iter().any(|line| line.starts_with("sv_maxclients  8")));
    live.press(Millis(0), Key::Escape);
    assert!(!live.is_finished() && selected(&live).contains("Alpha"));
    assert_eq!("pagedown".parse(), Ok(Key::PageDown));
    assert_eq!("x".parse(), Ok(Key::Char('x')));
    assert_eq!("\x1b".parse::<Key>(), Err(()));
}

#[test]
fn screen_fits_any_terminal() {
    let mut live = LiveBrowser::new(found(), Selection::default(), "");
    for details in [false, true] {
        for (width, height) in [(0, 0), (1, 1), (10, 2), (20, 3), (40, 5), (300, 100)] {
            let lines = live.screen(width, height);
            assert_eq!(lines.len(), height, "{width} x {height}, details {details}");
            assert!(lines.iter().all(|line| line.text.len() <= width));
        }
        live.press(Millis(0), Key::Enter);
    }
}
