//! Message of the day, updates, authorization.

use super::*;

#[test]
fn message_of_the_day_follows_the_version() {
    let rule =
        |version: &str, text: &str| MotdRule { version: version.to_owned(), text: text.to_owned() };
    let mut net =
        Net::new(|options| options.motd = vec![rule("ET 2.60", "Welcome"), rule("Q3", "Hi")]);
    let ask = "getmotd \"\\challenge\\29862\\renderer\\x\\version\\ET 2.60 win-x86\"\n";
    let sent = net.say(CLIENT, ask);
    assert_eq!(sent, [(address(CLIENT), packet("motd \"\\challenge\\29862\\motd\\Welcome\""))]);
    let sent = net.say(CLIENT, "getmotd \"\\version\\Q3 1.32\\challenge\\1\"\n");
    assert_eq!(sent[0].1, packet("motd \"\\challenge\\1\\motd\\Hi\""));
    assert_eq!(net.say(CLIENT, "getmotd \"\\version\\other\\challenge\\1\"\n"), []);
    assert_eq!(Net::new(|_| ()).say(CLIENT, ask), []);
}

#[test]
fn update_request_is_answered_by_rule() {
    let old = UpdateRule {
        version: "ET 2.55".to_owned(),
        platform: "win".to_owned(),
        file: "et260.exe".to_owned(),
        message: String::new(),
    };
    let legacy = UpdateRule {
        version: "v2.70".to_owned(),
        platform: String::new(),
        file: "new.pk3".to_owned(),
        message: "Please update".to_owned(),
    };
    let mut net = Net::new(|options| options.updates = vec![old, legacy]);
    let mut answer = |request: &str| {
        let sent = net.say(CLIENT, request);
        sent.first().map(|(_, bytes)| String::from_utf8_lossy(&bytes[4..]).into_owned())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        answer("getUpdateInfo \"ET 2.55\" \"win-x86\"\n"),
        some("updateResponse 1 et260.exe")
    );
    assert_eq!(answer("getUpdateInfo \"ET 2.60\" \"win-x86\"\n"), some("updateResponse 0"));
    assert_eq!(answer("getUpdateInfo \"ET 2.55\" \"linux\"\n"), some("updateResponse 0"));
    let legacy = "getUpdateInfo \"\\version\\v2.70\\platform\\lnx\"\n";
    assert_eq!(answer(legacy), some("updateResponse 1 \"Please update\" new.pk3"));
    assert_eq!(Net::new(|_| ()).say(CLIENT, legacy), []);
}

#[test]
fn authorization_answers_servers_by_policy() {
    let rule = |key: &str, answer, reason: &str| AuthorizationRule {
        key: Some(key.to_owned()),
        answer,
        reason: reason.to_owned(),
        ..AuthorizationRule::default()
    };
    let policy = AuthorizationPolicy {
        rules: vec![rule("stolen", Answer::Deny, "Key is blocked"), rule("demo", Answer::Demo, "")],
        with_key: Answer::Accept,
        without_key: Answer::Unknown,
    };
    let mut net = Net::new(|options| options.authorization = Some(policy));
    let server = "192.0.2.1:27960";
    let ask = |net: &mut Net| {
        let sent = net.say(server, "getIpAuthorize 4711 198.51.100.9 baseq3 0 1");
        assert_eq!(sent.len(), 1);
        String::from_utf8(sent[0].1[4..].to_vec()).unwrap()
    };
    assert_eq!(ask(&mut net), "ipAuthorize 4711 unknown");
    assert_eq!(net.say(CLIENT, "getKeyAuthorize 0 good"), []);
    assert_eq!(ask(&mut net), "ipAuthorize 4711 accept");
    net.say(CLIENT, "getKeyAuthorize 0 demo");
    assert_eq!(ask(&mut net), "ipAuthorize 4711 demo");
    net.say(CLIENT, "getKeyAuthorize 0 STOLEN");
    assert_eq!(ask(&mut net), "ipAuthorize 4711 deny \"Key is blocked\"");
    assert_eq!(net.say(server, "getIpAuthorize 4711 nowhere baseq3 0 1"), []);
    assert_eq!(net.say(server, "ipAuthorize 4711 accept"), []);
    assert_eq!(Net::new(|_| ()).say(server, "getIpAuthorize 1 198.51.100.9 baseq3 0 1"), []);
}
