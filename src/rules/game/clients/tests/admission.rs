//! Tests of connects and entries: `cl_guid`, lag compensation notice, message of the day, name changes.

use std::rc::Rc;

use super::{Fixture, client};
use crate::game::{ConnectError, FileLimits, Game as _, GameFiles, Ruleset};
use crate::model::assets::MemoryAssets;

const CHECKED: &[(&str, &str)] = &[("g_guidCheck", "1")];

/// Connects a client with a `cl_guid`. Returns the refusal.
fn connect(fixture: &mut Fixture, number: usize, guid: &str) -> Option<String> {
    fixture.host.userinfos[number] = format!("\\name\\n{number}\\cl_guid\\{guid}");
    match fixture.game.client_connect(&mut fixture.host, client(number), true, false) {
        Ok(()) => None,
        Err(ConnectError::Refused(why)) => Some(why),
        Err(ConnectError::Fault(fault)) => panic!("{fault:?}"),
    }
}

fn guid(last: char) -> String {
    format!("{}{last}", "0".repeat(31))
}

#[test]
fn invalid_guid_is_refused_if_checked() {
    for (ruleset, settings, refused) in [
        (Ruleset::BASEOA, CHECKED, true),
        (Ruleset::BASEOA, &[][..], false),
        (Ruleset::BASEQ3, CHECKED, false),
    ] {
        let mut fixture = Fixture::set_up(ruleset, settings);
        for wrong in ["", "123", &guid('g'), &(guid('a') + "0")] {
            let refusal = connect(&mut fixture, 0, wrong);
            assert_eq!(refusal.as_deref(), refused.then_some("Invalid GUID"), "{wrong:?}");
        }
        assert_eq!(connect(&mut fixture, 0, &guid('F')), None);
    }
}

#[test]
fn duplicate_guid_is_refused_unless_other_client_is_lost() {
    let mut fixture = Fixture::set_up(Ruleset::BASEOA, CHECKED);
    assert_eq!(connect(&mut fixture, 0, &guid('a')), None);
    assert_eq!(connect(&mut fixture, 1, &guid('b')), None);
    fixture.game.set_ping(client(0), 50);
    fixture.forget();
    assert_eq!(connect(&mut fixture, 2, &guid('A')).as_deref(), Some("Duplicate GUID"));
    assert_eq!(fixture.host.sent_to(client(0)), ["cp \"Your GUID is not secure\""]);
    assert!(fixture.host.dropped.is_empty());
    fixture.game.set_ping(client(0), 999);
    assert_eq!(connect(&mut fixture, 2, &guid('a')), None);
    assert_eq!(fixture.host.dropped, [(client(0), "Ghost".to_owned())]);
}

#[test]
fn openarena_tells_lag_compensation_on_connect() {
    for (ruleset, value, told) in [
        (Ruleset::BASEOA, "0", &["print \"Full lag compensation is OFF!\n\""][..]),
        (Ruleset::BASEOA, "1", &["print \"Full lag compensation is ON!\n\""]),
        (Ruleset::BASEQ3, "0", &[]),
    ] {
        let mut fixture = Fixture::set_up(ruleset, &[("g_delagHitscan", value)]);
        assert_eq!(connect(&mut fixture, 0, ""), None);
        assert_eq!(fixture.host.sent_to(client(0)), told, "{} {value}", ruleset.folder);
    }
}

#[test]
fn message_of_the_day_is_read_from_its_file() {
    let mut assets = MemoryAssets::default();
    assets.insert("motd.cfg", b"Welcome!\r\nBe \"nice\".".to_vec()).expect("a legal name");
    let limits = FileLimits { bytes: 0, files: 0 };
    let assets: Rc<MemoryAssets> = Rc::new(assets);
    for (ruleset, name, greeting) in [
        (Ruleset::BASEOA, "motd.cfg", Some("cp \"Welcome!\nBe nice.\"")),
        (Ruleset::BASEOA, "none.cfg", Some("cp \"\"")),
        (Ruleset::BASEOA, "", Some("cp \"\"")),
        (Ruleset::BASEQ3, "motd.cfg", None),
    ] {
        let mut fixture = Fixture::set_up(ruleset, &[("g_motdfile", name)]);
        fixture.host.files = Some(GameFiles::new(assets.clone(), limits));
        fixture.start(false);
        fixture.enter(0, "\\name\\alpha");
        let sent = fixture.host.sent_to(client(0)).into_iter();
        let greetings: Vec<_> = sent.filter(|text| text.starts_with("cp")).collect();
        assert_eq!(greetings, Vec::from_iter(greeting), "{} {name:?}", ruleset.folder);
        let missing = fixture.host.printed.concat().contains("g_motdfile file not found: none.cfg");
        assert_eq!(missing, name == "none.cfg", "{name:?}");
    }
}

#[test]
fn settings_limit_name_changes() {
    let rename = |settings: &[(&str, &str)], waits_ms: i32| {
        let mut fixture = Fixture::with(Ruleset::BASEOA, settings, &["alpha"]);
        for name in ["beta", "gamma", "delta"] {
            fixture.wait(waits_ms);
            fixture.host.userinfos[0] = format!("\\name\\{name}");
            fixture.game.client_userinfo_changed(&mut fixture.host, client(0)).expect("no fault");
        }
        let sent: Vec<String> = fixture.host.sent.iter().map(|(_, text)| text.clone()).collect();
        let refused = sent.iter().find(|text| !text.contains("renamed")).cloned();
        (fixture.game.clients().player(client(0)).expect("a player").name.clone(), refused)
    };
    let spam =
        |s| Some(format!("print \"Name change spam protection (g_minNameChangePeriod = {s})\n\""));
    let period = |value| [("g_minNameChangePeriod", value), ("g_maxNameChanges", "0")];
    assert_eq!(rename(&period("2"), 1000), ("delta".to_owned(), spam(2)));
    assert_eq!(rename(&period("1"), 1000), ("delta".to_owned(), None));
    assert_eq!(rename(&period("0"), 50), ("delta".to_owned(), None));
    let most = [("g_minNameChangePeriod", "0"), ("g_maxNameChanges", "2")];
    let refusal = "print \"Maximum name changes reached (g_maxNameChanges = 2)\n\"".to_owned();
    assert_eq!(rename(&most, 50), ("gamma".to_owned(), Some(refusal)));
}

#[test]
fn changed_handicap_changes_maximum_health_at_once() {
    for ruleset in Ruleset::ALL {
        let mut fixture = Fixture::with(ruleset, &[], &["alpha"]);
        assert_eq!(fixture.stat(0, |ruleset| ruleset.stats.max_health), 100);
        fixture.host.userinfos[0].push_str("\\handicap\\50");
        fixture.game.client_userinfo_changed(&mut fixture.host, client(0)).expect("no fault");
        assert_eq!(fixture.stat(0, |ruleset| ruleset.stats.max_health), 50);
        assert_eq!(fixture.stat(0, |ruleset| ruleset.stats.health), 125, "until the next spawn");
    }
}
