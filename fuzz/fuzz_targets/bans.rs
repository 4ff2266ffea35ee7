//! State files of ban lists, lists of ioquake3, names and lengths of time.
#![no_main]

use fragd::bans::{BanList, Client, NamePattern, Span, Subject, parse_serverbans, serverbans_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match BanList::parse(text) {
        Ok(list) => {
            let written = list.to_text();
            assert_eq!(BanList::parse(&written).as_ref(), Ok(&list), "{written}");
            let first = text.lines().next().unwrap_or_default();
            let client = Client { address: [192, 0, 2, 7].into(), guid: first, name: first };
            let _ = (list.ban_of(client, 0), list.mute_of(client, u64::MAX));
            for entry in list.entries() {
                assert!(!entry.details(7).to_string().contains(char::is_control));
                assert!(!entry.content.notice(7).contains(['"', '\n', ';']));
            }
            let (networks, _) = serverbans_text(&list);
            assert!(parse_serverbans(&networks).is_ok());
        }
        Err(fault) => assert!(!fault.to_string().contains(char::is_control), "{fault}"),
    }
    if let Err(fault) = parse_serverbans(text) {
        assert!(!fault.to_string().contains(char::is_control), "{fault}");
    }
    for word in text.split_ascii_whitespace().take(16) {
        if let Some(subject) = Subject::recognized(word) {
            assert!(subject.covers(&subject));
        }
        let _ = (Span::parse(word), NamePattern::of_name(word));
    }
});
