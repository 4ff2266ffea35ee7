//! Tests of announcing: times of heartbeats, lookups, probes.

use super::*;

fn announcer(name: &str) -> (Announcer, Settings) {
    let mut settings = Settings::default();
    settings.set("sv_master1", name).unwrap();
    (Announcer::default(), settings)
}

fn step(announcer: &mut Announcer, settings: &Settings, now: Millis) -> Vec<SocketAddr> {
    announcer.begin_round(now, settings);
    announcer.step(now, 3)
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn answer(name: &str, found: Result<&[&str], &str>) -> LookupAnswer {
    let found = found.map(|found| found.iter().map(|text| address(text)).collect());
    let lookup = Lookup { name: name.to_owned(), default_port: MASTER_PORT };
    LookupAnswer { lookup, found: found.map_err(str::to_owned) }
}

#[test]
fn heartbeats_follow_an_interval() {
    let (mut announcer, settings) = announcer("192.0.2.1");
    let rounds: Vec<_> = (0..=900)
        .filter(|&s| !step(&mut announcer, &settings, Millis::seconds(s)).is_empty())
        .collect();
    assert_eq!(rounds, [0, 300, 600, 900]);
    assert_eq!(announcer.poll_lookup(), None, "an address needs no lookup");
    let (mut announcer, settings) = self::announcer("[::1]:2");
    assert_eq!(step(&mut announcer, &settings, Millis(5)), [address("[::1]:2")]);
}

#[test]
fn requested_rounds_are_a_second_apart() {
    let (mut announcer, settings) = announcer("192.0.2.1:5");
    let mut sent = 0;
    for ms in (0..10_000).step_by(50) {
        announcer.request_round();
        sent += step(&mut announcer, &settings, Millis(ms)).len();
    }
    assert_eq!(sent, 10);
}

#[test]
fn masters_are_told_of_the_first_and_last_client() {
    let mut before = SlotUse::Empty;
    let mut announced = Vec::new();
    for clients in [1, 2, 1, 2, 3, 2, 3, 0, 0, 1, 0] {
        let now = SlotUse::of(clients, 3);
        announced.push(now.is_announced_after(before));
        before = now;
    }
    let expected = [true, false, false, false, true, false, true, true, false, true, true];
    assert_eq!(announced, expected);
}

#[test]
fn name_is_looked_up_daily_and_after_failures() {
    let (mut announcer, settings) = announcer("master.example.org");
    assert!(step(&mut announcer, &settings, Millis(0)).is_empty());
    let lookup = announcer.poll_lookup().unwrap();
    assert_eq!((&*lookup.name, lookup.default_port), ("master.example.org", 27950));
    assert!(step(&mut announcer, &settings, Millis::seconds(400)).is_empty());
    assert_eq!(announcer.poll_lookup(), None, "one at a time");

    announcer.handle_lookup(Millis::seconds(400), &answer(&lookup.name, Err("no network")));
    assert!(announcer.lines(Millis::seconds(401))[0].contains("not resolved 1 s ago: no network"));
    step(&mut announcer, &settings, Millis::seconds(459));
    assert_eq!(announcer.poll_lookup(), None);
    step(&mut announcer, &settings, Millis::seconds(460));
    assert!(announcer.poll_lookup().is_some());

    // The heartbeat that waits leaves with the answer, to both families.
    let both = ["192.0.2.1:27950", "[2001:db8::1]:27950"];
    announcer.handle_lookup(Millis::seconds(461), &answer(&lookup.name, Ok(&both)));
    let told = step(&mut announcer, &settings, Millis::seconds(461));
    assert_eq!(told, both.map(address));
    let day = Millis::seconds(24 * 3600 + 461);
    step(&mut announcer, &settings, Millis(day.0 - 1));
    assert_eq!(announcer.poll_lookup(), None);
    assert_eq!(step(&mut announcer, &settings, day), []);
    assert!(announcer.poll_lookup().is_some());
    // The old addresses stay in use, and a new one is told at once.
    announcer.handle_lookup(day, &answer(&lookup.name, Err("gone")));
    assert_eq!(step(&mut announcer, &settings, Millis(day.0 + 300_000)).len(), 2);
    announcer.handle_lookup(day, &answer(&lookup.name, Ok(&["192.0.2.9:1"])));
    let told = step(&mut announcer, &settings, Millis(day.0 + 300_001));
    assert_eq!(told, [address("192.0.2.9:1")]);
}

#[test]
fn family_without_a_socket_is_not_told() {
    let (mut announcer, settings) = announcer("x");
    step(&mut announcer, &settings, Millis(0));
    let both = answer("x", Ok(&["192.0.2.1:1", "[2001:db8::1]:1"]));
    announcer.handle_lookup(Millis(0), &both);
    assert_eq!(announcer.step(Millis(0), 2), [address("[2001:db8::1]:1")]);
}

#[test]
fn two_settings_with_one_master_send_one_heartbeat() {
    let (mut announcer, mut settings) = announcer("192.0.2.1");
    settings.set("sv_master3", "192.0.2.1:27950").unwrap();
    assert_eq!(step(&mut announcer, &settings, Millis(0)).len(), 1);
    // A changed setting counts from the next round.
    settings.set("sv_master1", "192.0.2.2").unwrap();
    assert_eq!(step(&mut announcer, &settings, Millis::seconds(9)), []);
    assert_eq!(step(&mut announcer, &settings, Millis::seconds(300)).len(), 2);
}

#[test]
fn probes_of_masters_are_limited_by_themselves() {
    let (mut announcer, settings) = announcer("192.0.2.1");
    let master = address("192.0.2.1:27950");
    let asked = CommandKind::GetInfo;
    assert!(!announcer.take_probe(Millis(0), master, asked), "no heartbeat was sent");
    step(&mut announcer, &settings, Millis(0));
    assert!(!announcer.take_probe(Millis(0), address("192.0.2.1:27951"), asked));
    let answered = (0..100).filter(|_| announcer.take_probe(Millis(0), master, asked)).count();
    assert_eq!(answered, 12);
    assert!(announcer.take_probe(Millis(500), master, CommandKind::GetStatus));
    let line = &announcer.lines(Millis::seconds(3))[0];
    assert_eq!(
        line,
        "master 192.0.2.1 (192.0.2.1:27950): heartbeat 3 s ago, asked getinfo 3 s ago, asked getstatus 2 s ago"
    );
}
