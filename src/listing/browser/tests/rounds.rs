//! Rounds: lists, queries, retries, players, local network, watch.

use super::*;

#[test]
fn listed_servers_are_queried_and_measured() {
    for word in ["q3", "rtcw", "et", "q4", "qw"] {
        let mut browser = Browser::new(options(word), Millis(0));
        let mut network = Network::new(500);
        network.run(&mut browser, word, 60_000);
        assert!(browser.is_finished() && !browser.was_cut(), "{word}");
        assert_eq!(network.asked.len(), 500, "{word}: each server once");
        assert_eq!(network.most_open, 16, "{word}: as many at once as the setting");
        let servers = browser.table().servers();
        assert_eq!(servers.len(), 500, "{word}");
        for server in servers {
            assert_eq!(server.state, ServerState::Answered, "{word}");
            assert_eq!(server.ping, Some(Millis(20)), "{word}");
            // The escape byte of the name is gone, or a period where the game writes one.
            let name = server.shown().name.replace("Server.", "Server");
            assert_eq!(name, format!("Server[2J {}", server.address), "{word}");
        }
        assert_eq!(browser.masters()[0].state, MasterState::Complete);
        // 500 servers in 32 groups of 16 at 20 ms, and the master's quiet time.
        assert!(network.now < 3000, "{word}: {} ms", network.now);
    }
}

#[test]
fn values_of_each_game_fill_the_same_columns() {
    let columns = |word| {
        let mut browser = Browser::new(options(word), Millis(0));
        Network::new(1).run(&mut browser, word, 60_000);
        let server = &browser.table().servers()[0];
        let shown = server.shown();
        let text =
            format!("{} {} {} {}", server.game.word, shown.map, shown.gametype, shown.game_mod);
        (text, shown.clients, shown.max_clients, shown.protocol.clone(), shown.password)
    };
    assert_eq!(columns("q3"), ("q3 q3dm17 ctf cpma".to_owned(), 3, 16, "68".to_owned(), true));
    assert_eq!(columns("q4"), ("q4 q4dm1 DM ".to_owned(), 1, 16, "2.85".to_owned(), false));
    assert_eq!(columns("qw"), ("qw dm4  ".to_owned(), 1, 8, "28".to_owned(), false));
    assert_eq!(columns("et").0, "q3 q3dm17 ctf cpma", "the server names its game by its protocol");
}

#[test]
fn silent_server_is_asked_once_more() {
    let mut browser = Browser::new(options("q3"), Millis(0));
    let mut network = Network::new(3);
    network.silent = vec![listed(2)];
    network.run(&mut browser, "q3", 60_000);
    let asked = network.asked.iter().filter(|to| **to == listed(2)).count();
    assert_eq!((asked, network.asked.len()), (2, 4));
    let states: Vec<_> = browser.table().servers().iter().map(|server| server.state).collect();
    assert_eq!(states, [ServerState::Answered, ServerState::Silent, ServerState::Answered]);
    assert_eq!(browser.table().servers()[1].ping, None);
}

#[test]
fn late_answer_is_timed_from_its_own_request() {
    let game = game("q3");
    let favorites = vec![(game, listed(1))];
    let mut browser =
        Browser::new(BrowserOptions { favorites, ..BrowserOptions::new(1) }, Millis(0));
    browser.frame(Millis(0));
    let first = sent(&mut browser);
    browser.frame(Millis(800));
    assert_eq!(sent(&mut browser).len(), 1);
    receive(&mut browser, 900, listed(1), &answer(&first[0].1, "late").unwrap());
    assert_eq!(browser.table().servers()[0].ping, Some(Millis(900)));
}

#[test]
fn lost_list_packet_is_asked_for_again() {
    let mut browser = Browser::new(options("q3"), Millis(0));
    browser.frame(Millis(0));
    assert_eq!(sent(&mut browser).len(), 1);
    let packets = list("q3", (1..=300).map(listed));
    assert_eq!(packets.len(), 2);
    receive(&mut browser, 10, address(MASTER), &packets[0]);
    sent(&mut browser);
    let due = browser.next_frame();
    assert!(due <= Millis(1510));
    let mut asked_again = None;
    for now in 10..4000 {
        browser.frame(Millis(now));
        if sent(&mut browser).iter().any(|(to, _)| *to == address(MASTER)) {
            assert_eq!(asked_again, None, "once");
            asked_again = Some(now);
        }
    }
    assert_eq!(asked_again, Some(1510), "no end mark within the quiet time");
    assert_eq!(browser.masters()[0].state, MasterState::Complete);
}

#[test]
fn lists_without_answer_are_counted_by_end_marks() {
    for (answers, missing) in [(1, 1), (2, 0)] {
        let mut asked = options("q3");
        let first = asked.masters[0].questions[0].clone();
        asked.masters[0].questions.push(Question { protocol: 71, ..first });
        let mut browser = Browser::new(asked, Millis(0));
        for now in 0..10_000 {
            browser.frame(Millis(now));
            let questions = sent(&mut browser).len();
            // The master answers the first questions only.
            for _ in 0..questions.min(answers) {
                let empty = list("q3", std::iter::empty());
                receive(&mut browser, now, address(MASTER), &empty[0]);
            }
        }
        let master = &browser.masters()[0];
        assert_eq!((master.state, master.missing_lists()), (MasterState::Complete, missing));
        assert_eq!(master.is_whole(), missing == 0);
        let summary = report::summary(&browser);
        let is_named = summary.contains("1 of 1 masters with missing lists");
        assert_eq!(is_named, missing > 0, "{summary}");
    }
}

#[test]
fn silent_master_is_asked_three_times() {
    let mut browser = Browser::new(options("q3"), Millis(0));
    let mut asked = Vec::new();
    for now in 0..10_000 {
        browser.frame(Millis(now));
        asked.extend(sent(&mut browser).into_iter().map(|_| now));
    }
    assert_eq!(asked, [0, 1500, 3000]);
    assert_eq!(browser.masters()[0].state, MasterState::Silent);
    assert!(browser.is_finished());
}

#[test]
fn players_are_queried_on_request() {
    let mut browser = Browser::new(BrowserOptions { players: true, ..options("q3") }, Millis(0));
    Network::new(2).run(&mut browser, "q3", 60_000);
    let player = Player { name: "Sarge".to_owned(), score: 12, ping_ms: 48 };
    for server in browser.table().servers() {
        assert_eq!(server.shown().players, std::slice::from_ref(&player));
        assert_eq!(server.shown().name.get(..6), Some("Server"), "values of the first answer");
    }
}

#[test]
fn scan_finds_servers_of_the_local_network() {
    let broadcast = address("10.0.0.255:27960");
    let lan = vec![(game("q3"), broadcast)];
    let mut browser = Browser::new(BrowserOptions { lan, ..BrowserOptions::new(3) }, Millis(0));
    browser.frame(Millis(0));
    let scan = sent(&mut browser);
    assert_eq!(scan[0].0, broadcast);
    let reply = answer(&scan[0].1, "lan").unwrap();
    receive(&mut browser, 2, listed(1), &reply);
    receive(&mut browser, 3, listed(1), &reply);
    receive(&mut browser, 3, listed(2), &answer(b"\xff\xff\xff\xffgetinfo xxx", "forged").unwrap());
    assert_eq!(browser.next_frame(), Millis(250));
    browser.frame(Millis(250));
    let again = sent(&mut browser);
    receive(&mut browser, 260, listed(3), &answer(&again[0].1, "slow").unwrap());
    browser.frame(Millis(1000));
    assert!(browser.is_finished());
    let found: Vec<_> = browser
        .table()
        .servers()
        .iter()
        .map(|server| (server.address, server.origin, server.ping))
        .collect();
    assert_eq!(
        found,
        [(listed(1), Origin::Lan, Some(Millis(2))), (listed(3), Origin::Lan, Some(Millis(10))),]
    );
}

#[test]
fn watch_keeps_history_and_removes_dead_servers() {
    let watch = Some(Millis(10_000));
    let mut browser = Browser::new(BrowserOptions { watch, ..options("q3") }, Millis(0));
    let mut network = Network::new(3);
    network.run(&mut browser, "q3", 9000);
    assert_eq!((browser.rounds(), browser.is_running()), (1, false));
    // The server dies and leaves the list.
    network.silent.push(listed(3));
    network.servers.pop();
    network.run(&mut browser, "q3", 29_000);
    let dead = &browser.table().servers()[2];
    let pings: Vec<_> = dead.history.iter().map(|sample| sample.ping_ms).collect();
    assert_eq!(pings, [Some(20), None, None]);
    assert_eq!(dead.history[0].players, 3);
    network.run(&mut browser, "q3", 49_000);
    assert_eq!(browser.table().servers().len(), 2, "three silent rounds");
    assert_eq!(browser.table().servers()[0].history.len(), 5);
}
