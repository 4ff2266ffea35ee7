//! Bans, exceptions and mutes of a server: commands, refusals, players in the game, state file.

use std::{net::SocketAddr, rc::Rc};

use fragd::{
    client::Protocol,
    model::{Millis, UnixMillis, state_folder::StateFolder},
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, Route, take_text},
    server::Server,
    settings::Settings,
    sim::Actor,
    wire::{connect::write_connect, info::InfoString},
};

use crate::{
    memory_state::MemoryState,
    sim_fixture::{OPEN, SimFixture},
};

const GUID: &str = "0123456789ABCDEF0123456789ABCDEF";
/// Calendar time at the zero of the server's clock.
const EPOCH: u64 = 1_700_000_000_000;

fn server(state: &Rc<MemoryState>, set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    for (name, value) in OPEN.iter().chain(set) {
        settings.set(name, value).unwrap();
    }
    let state: Rc<dyn StateFolder> = Rc::clone(state) as _;
    Server::builder(settings, [7; 32])
        .started_at(Some(UnixMillis(EPOCH)))
        .state(Some(state))
        .build()
}

fn fixture(state: &Rc<MemoryState>) -> SimFixture {
    SimFixture::around(7, Actor::Server(Box::new(server(state, &[]))))
}

/// Runs a console line in a fixture and returns what it prints.
fn ran(fixture: &mut SimFixture, line: &str) -> String {
    while fixture.server_output().is_some() {}
    fixture.console(line);
    let mut all = String::new();
    while let Some(text) = fixture.server_output() {
        all.push_str(&text);
    }
    all
}

fn run(server: &mut Server, now: Millis, line: &str) -> String {
    server.handle_input(now, Input::ConsoleLine(line));
    take_text(server, OutputKind::Console)
}

/// Sends a connectionless packet and returns the answers to its address.
fn answers(server: &mut Server, now: Millis, from: SocketAddr, bytes: &[u8]) -> Vec<String> {
    server.handle_datagram(now, Route::new(LocalPort(0), from), bytes);
    let (mut packet, mut answers) = (Vec::new(), Vec::new());
    while let Some(to) = server.poll_transmit(&mut packet) {
        if to.remote == from {
            answers.push(String::from_utf8_lossy(&packet[4..]).into_owned());
        }
    }
    answers
}

/// Answers to a connect in good order.
fn joined(server: &mut Server, now: Millis, from: &str, pairs: &[(&str, &str)]) -> Vec<String> {
    let from = from.parse().unwrap();
    let challenge = answers(server, now, from, b"\xff\xff\xff\xffgetchallenge");
    let challenge = challenge[0].strip_prefix("challengeResponse ").unwrap().to_owned();
    let mut info = InfoString::normal();
    let base = [("protocol", "71"), ("qport", "7"), ("challenge", &challenge), ("name", "ann")];
    base.iter().chain(pairs).for_each(|(key, value)| info.set(key, value).unwrap());
    let mut bytes = Vec::new();
    write_connect(&info, &mut bytes).unwrap();
    answers(server, now, from, &bytes)
}

fn is_admitted(answers: &[String]) -> bool {
    answers.len() == 1 && answers[0].starts_with("connectResponse")
}

const START: Millis = Millis(10_000);

#[test]
fn banned_client_is_told_reason_and_time_left() {
    let state = Rc::default();
    let mut server = server(&state, &[]);
    let added = run(&mut server, START, "ban 192.0.2.0/24 2h bad\" words;quit");
    assert_eq!(added, "Added ban: 192.0.2.0/24 (id 1, 2 h left, by console): bad  words,quit\n");
    let from = "192.0.2.7:27960";
    let refused = joined(&mut server, START + Millis(1000), from, &[]);
    let text =
        "print\nYou are banned from this server. Reason: bad  words,quit. Time left: 1 h 59 min.\n";
    assert_eq!(refused, [text]);
    assert_eq!(server.active_clients(), 0);
    assert!(is_admitted(&joined(&mut server, START, "192.0.3.7:27960", &[])));
    let end = START + Millis::seconds(7200);
    assert!(is_admitted(&joined(&mut server, end, from, &[])), "the ban has ended");
}

#[test]
fn refusals_of_banned_address_are_limited() {
    let mut server = server(&Rc::default(), &[]);
    run(&mut server, START, "banaddr 192.0.2.7");
    let mut told = 0;
    for i in 0..50 {
        told += joined(&mut server, START + Millis(i * 100), "192.0.2.7:27960", &[]).len();
    }
    assert!((5..=9).contains(&told), "{told} answers in five seconds");
}

#[test]
fn guid_ban_spares_neighbor_of_same_address() {
    let mut server = server(&Rc::default(), &[]);
    run(&mut server, START, &format!("ban guid {GUID}"));
    let banned = [("cl_guid", GUID)];
    let refused = joined(&mut server, START, "192.0.2.7:1", &banned);
    assert_eq!(refused, ["print\nYou are banned from this server.\n"]);
    let other = [("cl_guid", "1123456789ABCDEF0123456789ABCDEF")];
    assert!(is_admitted(&joined(&mut server, START, "192.0.2.7:2", &other)));
    // Clients of old protocols send none.
    assert!(is_admitted(&joined(&mut server, START, "192.0.2.8:2", &[])));
}

#[test]
fn exceptions_and_networks_have_meaning_of_ioquake3() {
    let mut server = server(&Rc::default(), &[]);
    let mut order = |line: &str| run(&mut server, START, line);
    assert!(order("banaddr 10.1.0.0/16").starts_with("Added ban: 10.1.0.0/16 (id 1, by console)"));
    let covered = order("banaddr 10.1.2.3");
    assert_eq!(covered, "Error: Ban 10.1.0.0/16 supersedes ban 10.1.2.3/32\n");
    let wider = order("banaddr 10.9.9.9/8");
    assert!(wider.starts_with("Deleting ban 10.1.0.0/16\nAdded ban: 10.0.0.0/8 "), "{wider}");
    assert!(order("exceptaddr 10.1.2.3").starts_with("Added exception: 10.1.2.3/32 "));
    assert!(order("banaddr 2001:db8:: 32").starts_with("Added ban: 2001:db8::/32 "));
    let list = order("listbans");
    let lines: Vec<_> = list.lines().map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(lines, ["Ban #1: 10.0.0.0/8", "Ban #2: 2001:db8::/32", "Except #1: 10.1.2.3/32"]);
    for wrong in
        ["banaddr", "banaddr 10.0.0.0/33", "banaddr 99", "banaddr x y z", "bandel 7", "bandel x"]
    {
        let text = order(wrong);
        assert!(text.starts_with("Error: ") || text.starts_with("Usage: "), "{wrong}: {text}");
    }
    assert!(is_admitted(&joined(&mut server, START, "10.1.2.3:1", &[])));
    assert!(!is_admitted(&joined(&mut server, START, "10.1.2.4:1", &[])));
    let mut order = |line: &str| run(&mut server, START, line);
    assert_eq!(order("bandel 1"), "Deleting ban 10.0.0.0/8\n");
    assert_eq!(order("bandel 2001::/16"), "Deleting ban 2001:db8::/32\n");
    assert_eq!(order("exceptdel 10.1.2.3"), "Deleting exception 10.1.2.3/32\n");
    order("banaddr 10.1.2.4");
    assert_eq!(order("flushbans"), "All bans and exceptions have been deleted.\n");
    assert_eq!(order("listbans"), "no bans, exceptions and mutes\n");
}

#[test]
fn banned_player_is_kicked_and_told() {
    let mut fixture = fixture(&Rc::default());
    let bad = fixture.join(Protocol::OA_71, "^1Bad ^2Guy");
    let good = fixture.join(Protocol::OA_71, "good");
    fixture.run_for(Millis(3000));
    assert_eq!(fixture.server().active_clients(), 2);
    let text = ran(&mut fixture, "ban guid \"bad guy\" 30m too loud");
    assert!(text.contains("Added ban: guid ") && text.contains("30 min left"), "{text}");
    fixture.run_for(Millis(1000));
    let reason = format!("{:?}", fixture.player(bad).disconnect_reason());
    assert!(reason.contains("was banned. Reason: too loud. Time left: 30 min."), "{reason}");
    assert!(fixture.player(good).is_active());
    // The name in the game changes to a banned one.
    assert!(ran(&mut fixture, "ban name \"*nasty*\" 1h").contains("Added ban: name *nasty*"));
    let now = fixture.network.now();
    assert!(fixture.player(good).change_userinfo(now, "name", "^5Nas^1TY one"));
    fixture.run_for(Millis(2000));
    let reason = format!("{:?}", fixture.player(good).disconnect_reason());
    assert!(reason.contains("was banned. Time left: 1 h."), "{reason}");
    assert_eq!(fixture.server().active_clients(), 0);
    fixture.check_no_faults();
}

#[test]
fn muted_player_is_told_and_not_heard() {
    let mut fixture = fixture(&Rc::default());
    let loud = fixture.join(Protocol::OA_71, "loud");
    let other = fixture.join(Protocol::OA_71, "other");
    fixture.run_for(Millis(3000));
    let is_heard = |fixture: &mut SimFixture, text: &str| {
        let now = fixture.network.now();
        assert!(fixture.player(loud).send_command(now, &format!("say {text}")));
        fixture.run_for(Millis(1000));
        fixture.player(other).heard.iter().any(|line| line.contains(text))
    };
    assert!(is_heard(&mut fixture, "first"));
    let text = ran(&mut fixture, "mute guid loud 2m");
    assert!(text.starts_with("Added mute: guid "), "{text}");
    assert!(!is_heard(&mut fixture, "second"));
    let told = |fixture: &mut SimFixture| {
        let heard = &fixture.player(loud).heard;
        heard.iter().filter(|line| line.contains("You are muted. Time left: ")).count()
    };
    assert_eq!(told(&mut fixture), 2, "told by the mute and by the try");
    let gone = ran(&mut fixture, "unmute loud");
    assert!(gone.starts_with("Deleting mute guid "), "{gone}");
    assert!(is_heard(&mut fixture, "third"));
    ran(&mut fixture, "mute loud 10s");
    assert!(!is_heard(&mut fixture, "fourth"));
    fixture.run_for(Millis::seconds(11));
    assert!(is_heard(&mut fixture, "fifth"), "the mute has ended");
}

#[test]
fn kick_has_reason() {
    let mut fixture = fixture(&Rc::default());
    let first = fixture.join(Protocol::OA_71, "two words");
    let second = fixture.join(Protocol::OA_71, "second");
    fixture.run_for(Millis(3000));
    ran(&mut fixture, "kick \"two words\" bad \u{1b}[2Jmanners");
    ran(&mut fixture, "clientkick 1 idle");
    fixture.run_for(Millis(1000));
    for (node, text) in [(first, "was kicked: bad [2Jmanners"), (second, "was kicked: idle")] {
        let reason = format!("{:?}", fixture.player(node).disconnect_reason());
        assert!(reason.contains(text), "{reason}");
    }
}

#[test]
fn ban_refuses_words_without_meaning() {
    let mut server = server(&Rc::default(), &[]);
    for (line, expected) in [
        ("ban", "Usage: ban [address, guid or name] "),
        ("ban nobody", "Player nobody is not on the server (expected a player, "),
        ("ban 192.0.2.7 30", "invalid time: 30 (expected e.g. 30m, 2h, 7d or 4w"),
        ("ban name *", "*: expected a name of at most 64 characters"),
        ("ban guid x", "x: expected a GUID of "),
        ("mute 192.0.2.0/33", "192.0.2.0/33: "),
        ("ban 192.0.2.7 30min", "invalid time: 30min (expected "),
        ("unban 3", "no ban found: 3 (listbans lists them)"),
        ("unmute xyz", "no mute found: xyz ("),
    ] {
        let text = run(&mut server, START, line);
        assert!(text.starts_with(expected), "{line}: {text}");
    }
    assert_eq!(run(&mut server, START, "listbans"), "no bans, exceptions and mutes\n");
    run(&mut server, START, "ban 192.0.2.7 1h");
    assert_eq!(run(&mut server, START, "unban 1"), "Deleting ban 192.0.2.7/32\n");
    run(&mut server, START, "ban 192.0.2.7 1h");
    assert_eq!(run(&mut server, START, "unban 192.0.2.7"), "Deleting ban 192.0.2.7/32\n");
}

#[test]
fn addip_uses_same_list() {
    let mut server = server(&Rc::default(), &[]);
    let mut order = |line: &str| run(&mut server, START, line);
    assert!(order("addip 10.1.*").starts_with("Added ban: 10.1.0.0/16 "));
    assert!(order("addip 2001:db8::1").starts_with("Added ban: 2001:db8::1/128 "));
    assert!(order("listip").starts_with("10.1.0.0/16\n2001:db8::1/128\n"));
    assert!(order("removeip 10.1").starts_with("Deleting ban 10.1.0.0/16\n"));
    assert!(order("help addip").lines().count() == 1);
}

#[test]
fn banned_address_has_no_rcon() {
    let set = [("rconPassword", "a long password"), ("sv_rconAllow", "any")];
    let mut server = server(&Rc::default(), &set);
    let from: SocketAddr = "192.0.2.7:4".parse().unwrap();
    let rcon = |server: &mut Server, from, line: &str| {
        let text = format!("\u{ff}\u{ff}\u{ff}\u{ff}rcon \"a long password\" {line}");
        let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
        answers(server, START, from, &bytes).concat()
    };
    let text = rcon(&mut server, "192.0.2.8:4".parse().unwrap(), "ban 192.0.2.7");
    assert_eq!(text, "print\nAdded ban: 192.0.2.7/32 (id 1, by rcon 192.0.2.8)\n");
    assert_eq!(rcon(&mut server, from, "status"), "");
    run(&mut server, START, "exceptaddr 192.0.2.7");
    assert!(rcon(&mut server, from, "status").contains("map:"));
}

#[test]
fn bans_outlast_server_in_state_file() {
    let state: Rc<MemoryState> = Rc::default();
    {
        let mut server = server(&state, &[]);
        server.frame(START);
        run(&mut server, START, "ban 192.0.2.7 2h spam");
        server.frame(START + Millis(50));
        assert!(state.file("bans.jsonl").contains("\"network\":\"192.0.2.7/32\""));
        // A second write within a second waits; the end writes it.
        run(&mut server, START + Millis(60), "mute 192.0.2.8");
        server.frame(START + Millis(100));
        assert!(!state.file("bans.jsonl").contains("192.0.2.8"));
    }
    let text = state.file("bans.jsonl");
    assert!(text.contains("\"kind\":\"mute\",\"network\":\"192.0.2.8/32\""), "{text}");
    let mut server = server(&state, &[]);
    assert!(!is_admitted(&joined(&mut server, START, "192.0.2.7:1", &[])));
    assert!(run(&mut server, START, "listbans").contains("by console): spam"));
}

#[test]
fn busy_disk_delays_change_and_loses_none() {
    let state: Rc<MemoryState> = Rc::default();
    let mut server = server(&state, &[]);
    server.frame(START);
    *state.is_busy.borrow_mut() = true;
    run(&mut server, START, "ban 192.0.2.7");
    (1..40).for_each(|i| server.frame(START + Millis(i * 100)));
    assert_eq!(state.file("bans.jsonl"), "");
    assert!(run(&mut server, START + Millis(4000), "rehashbans").contains("is being written"));
    *state.is_busy.borrow_mut() = false;
    (40..60).for_each(|i| server.frame(START + Millis(i * 100)));
    assert!(state.file("bans.jsonl").contains("192.0.2.7/32"));
}

#[test]
fn unreadable_state_is_kept_aside() {
    let state: Rc<MemoryState> = Rc::default();
    state.put("bans.jsonl", "{\"network\":\"192.0.2.7\"}\n{\"network\":\"x\"}\n");
    let mut server = server(&state, &[]);
    server.frame(START);
    assert!(is_admitted(&joined(&mut server, START, "192.0.2.7:1", &[])));
    assert!(state.file("bans.jsonl.bad").contains("192.0.2.7"));
    run(&mut server, START, "ban 192.0.2.9");
    server.frame(START + Millis(1000));
    assert!(state.file("bans.jsonl").contains("192.0.2.9"));
}

#[test]
fn rehash_reads_file_or_changes_nothing() {
    let state: Rc<MemoryState> = Rc::default();
    let mut server = server(&state, &[]);
    server.frame(START);
    state.put("bans.jsonl", "{\"network\":\"192.0.2.7\"}\n");
    assert_eq!(run(&mut server, START, "rehashbans"), "1 bans, exceptions and mutes read\n");
    state.put("bans.jsonl", "{\"network\":\"192.0.2.8\"}\nnonsense\n");
    let text = run(&mut server, START, "rehashbans");
    assert!(text.starts_with("Error: state/bans.jsonl: line 2: "), "{text}");
    assert!(text.ends_with("; the list is unchanged\n"), "{text}");
    assert!(!is_admitted(&joined(&mut server, START, "192.0.2.7:1", &[])));
    assert!(is_admitted(&joined(&mut server, START, "192.0.2.8:1", &[])));
}

/// A server that started at a calendar time, in ms since 1970.
fn server_at(state: &Rc<MemoryState>, epoch: u64) -> Server {
    let mut settings = Settings::default();
    for (name, value) in OPEN {
        settings.set(name, value).unwrap();
    }
    let folder: Rc<dyn StateFolder> = Rc::clone(state) as _;
    let builder = Server::builder(settings, [7; 32]).started_at(Some(UnixMillis(epoch)));
    let mut server = builder.state(Some(folder)).build();
    server.frame(START);
    server
}

#[test]
fn calendar_that_is_set_moves_bans_of_the_run() {
    let state: Rc<MemoryState> = Rc::default();
    let in_an_hour = EPOCH / 1000 + 3600;
    state.put("bans.jsonl", &format!("{{\"network\":\"192.0.2.7\",\"expires\":{in_an_hour}}}\n"));
    let mut server = server_at(&state, EPOCH);
    run(&mut server, START, "ban 192.0.2.8 2h");
    let day = 86_400_000;
    let mut now = START;
    for (zero, is_old_banned, qport) in [
        (EPOCH + day, false, "8"),
        (EPOCH, true, "9"),
        (EPOCH - day, true, "10"),
        (EPOCH + 2 * day, false, "11"),
    ] {
        now += Millis::seconds(10);
        server.handle_input(now, Input::Calendar(UnixMillis(zero + now.0)));
        let from = format!("192.0.2.7:{qport}");
        let admitted = is_admitted(&joined(&mut server, now, &from, &[("qport", qport)]));
        assert_eq!(!admitted, is_old_banned, "{zero}");
        let told = joined(&mut server, now, "192.0.2.8:1", &[]);
        assert!(told[0].contains("Time left: 1 h 59 min."), "{told:?}");
    }
}

#[test]
fn wrong_calendar_deletes_no_ban() {
    let state: Rc<MemoryState> = Rc::default();
    run(&mut server_at(&state, EPOCH), START, "ban 192.0.2.7 1h spam");
    let ten_years = 10 * 365 * 86_400_000;
    for _ in 0..3 {
        let mut later = server_at(&state, EPOCH + ten_years);
        assert!(run(&mut later, START, "listbans").contains(" ended\n"));
    }
    let mut right = server_at(&state, EPOCH);
    assert!(!is_admitted(&joined(&mut right, START, "192.0.2.7:1", &[])));
    drop(right);
    assert!(!state.file("bans.jsonl").contains("ended"), "{}", state.file("bans.jsonl"));
    // After a day the end is believed.
    for days in 0..=1 {
        server_at(&state, EPOCH + ten_years + days * 86_400_000);
    }
    assert_eq!(state.file("bans.jsonl"), "");
}

#[test]
fn serverbans_are_imported_and_exported() {
    let state: Rc<MemoryState> = Rc::default();
    let mut server = server(&state, &[]);
    assert!(run(&mut server, START, "importbans").contains("state/serverbans.dat not found"));
    state.put("serverbans.dat", "0 10.0.0.0 8\n1 10.1.2.3 32\n2 x\n");
    let text = run(&mut server, START, "importbans");
    assert!(
        text.contains("serverbans.dat: line 3: ") && text.contains("nothing imported"),
        "{text}"
    );
    state.put("serverbans.dat", "0 10.0.0.0 8\n1 10.1.2.3 32\n");
    assert!(run(&mut server, START, "importbans").starts_with("2 bans and exceptions imported"));
    run(&mut server, START, "ban 192.0.2.7 1h");
    run(&mut server, START, "ban 192.0.2.8");
    assert!(run(&mut server, START, "exportbans").contains("; 1 left out"));
    let written = "0 10.0.0.0 8\n0 192.0.2.8 32\n1 10.1.2.3 32\n";
    assert_eq!(state.file("serverbans.dat"), written);
}

#[test]
fn start_that_quits_writes_no_state() {
    let state: Rc<MemoryState> = Rc::default();
    {
        let folder: Rc<dyn StateFolder> = Rc::clone(&state) as _;
        let lines = ["banaddr 10.0.0.1".to_owned(), "quit".to_owned()];
        let mut server = Server::builder(Settings::default(), [7; 32])
            .state(Some(folder))
            .lines(lines.into())
            .build();
        server.frame(START);
    }
    assert_eq!(state.file("bans.jsonl"), "");
}
