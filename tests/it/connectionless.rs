//! Connectionless packets: recorded exchanges, hostile input, and write-parse round trips.

use fragd::{
    model::Challenge,
    wire::{
        connect::Connect,
        connectionless::{
            ChallengeResponse, CommandKind, ConnectResponse, ConnectionlessError, Echo,
            GetChallenge, InfoResponse, ListFilter, ListRequest, Message, ObsoleteCommand, Query,
            Rcon, StatusPlayer, StatusResponse,
        },
        info::InfoString,
        text::WireText,
    },
};
use proptest::prelude::*;

fn datagram(text: impl AsRef<[u8]>) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_ref()].concat()
}

/// Reads the text of a packet and shows what it means.
fn check(text: impl AsRef<[u8]>, expected: Message<'_>) {
    assert_eq!(
        Message::parse(&datagram(&text)),
        Ok(expected),
        "{:?}",
        WireText::new(text.as_ref())
    );
}

fn check_written(message: &Message<'_>, text: &str) {
    let mut written = Vec::new();
    message.write(&mut written);
    assert_eq!(WireText::new(&written[4..]), WireText::from(text));
    assert_eq!(Message::parse(&written).as_ref(), Ok(message));
}

#[test]
fn requests_parse_in_every_spelling() {
    let query = |challenge: &'static str| Query { challenge: challenge.into() };
    check("getinfo xyz", Message::GetInfo(query("xyz")));
    check("GETINFO\txyz zzz\n", Message::GetInfo(query("xyz")));
    check("getinfo \"a b\"\0junk", Message::GetInfo(query("a b")));
    check("getinfo a\"b\"", Message::GetInfo(query("a")));
    check("  getstatus // 5", Message::GetStatus(query("")));
    check(b"getinfo %s%n\xfe\xff", Message::GetInfo(query(".s.n..")));
    check("getinfo\n5", Message::GetInfo(query("")));
    let full = GetChallenge {
        client_challenge: Some(Challenge(-7)),
        gamename: WireText::from("Quake3Arena"),
    };
    check("getchallenge -7 Quake3Arena", Message::GetChallenge(full));
    check("getchallenge", Message::GetChallenge(GetChallenge::default()));
    let rcon = Rcon { password: "pw".into(), command: "say \"a  b\"".into() };
    check("rcon pw  say \"a  b\"\n", Message::Rcon(rcon));
    check("nonsense 5", Message::Unknown("nonsense".into()));
    check("ipAuthorize 1 accept", Message::ObsoleteCommand(ObsoleteCommand::IpAuthorize));
}

#[test]
fn handshake_packets_match_peer_expectations() {
    let challenge = Challenge(-1_976_543_210);
    let mut response = ChallengeResponse { challenge, ..ChallengeResponse::default() };
    check_written(&Message::ChallengeResponse(response), "challengeResponse -1976543210");
    response.client_challenge = Some(Challenge(42));
    response.protocol = Some(71);
    check_written(&Message::ChallengeResponse(response), "challengeResponse -1976543210 42 71");
    let mut response = ConnectResponse::default();
    check_written(&Message::ConnectResponse(response), "connectResponse");
    response.challenge = Some(challenge);
    check_written(&Message::ConnectResponse(response), "connectResponse -1976543210");
    response.protocol = Some(68);
    check_written(&Message::ConnectResponse(response), "connectResponse -1976543210 68");
    check_written(&Message::Print("Server is full\n".into()), "print\nServer is full\n");
    check_written(&Message::Print(WireText::EMPTY), "print\n");
    check_written(&Message::Heartbeat("QuakeArena-1".into()), "heartbeat QuakeArena-1\n");
    let request = GetChallenge { client_challenge: Some(Challenge(9)), gamename: "a b".into() };
    check_written(&Message::GetChallenge(request), "getchallenge 9 \"a b\"");
}

#[test]
fn recorded_responses_are_parsed() {
    let measured = "infoResponse\n\\voip\\opus\\g_needpass\\0\\pure\\0\\gametype\\0\\sv_maxclients\\8\
        \\g_humanplayers\\0\\clients\\0\\mapname\\oa_dm1\\hostname\\wiretest\\protocol\\71\
        \\gamename\\Quake3Arena\\challenge\\xyz";
    let datagram = datagram(measured);
    let Ok(message @ Message::InfoResponse(text)) = Message::parse(&datagram) else {
        panic!("no answer")
    };
    assert_eq!(InfoString::from_wire(text).as_str(), &measured[13..]);
    check_written(&message, measured);
    let status = StatusResponse {
        info: "\\sv_hostname\\x".into(),
        player_lines: "0 116 \"probe\"\n".into(),
    };
    check("statusResponse\n\\sv_hostname\\x\n0 116 \"probe\"\n", Message::StatusResponse(status));
    let probe = StatusPlayer { score: 0, ping: 116, name: "probe".into() };
    assert_eq!(status.players().collect::<Vec<_>>(), [probe]);
}

#[test]
fn packets_of_no_known_form_are_errors() {
    use ConnectionlessError as E;
    let check = |packet: &[u8], error| assert_eq!(Message::parse(packet), Err(error), "{packet:?}");
    for len in 0..=5 {
        check(&[0xff; 5][..len], E::Short(len));
    }
    check(b"\xff\xff\xff\xfe getinfo", E::NoMark);
    check(&datagram("\n\nx"), E::NoCommand);
    check(&datagram("// getinfo"), E::NoCommand);
    check(&datagram("connect"), E::PlainConnect);
    check(&datagram("CONNECT \"\\name\\x\""), E::PlainConnect);
    check(
        &datagram("challengeResponse"),
        E::Argument { command: "challengeResponse", argument: "challenge" },
    );
    let command = "getservers";
    check(&datagram(command), E::Argument { command, argument: "protocol" });
    check(&datagram("getservers Game x"), E::Argument { command, argument: "protocol" });
    check(&datagram("getservers \"a b\" 71"), E::Argument { command, argument: "game name" });
    let hostile = "getservers 68 gametype=\\x";
    check(&datagram(hostile), E::Argument { command, argument: "game type" });
    check(&datagram("heartbeat"), E::Argument { command: "heartbeat", argument: "tag" });
    assert!(matches!(Message::parse(&[0xff; 64]), Ok(Message::Unknown(_))));
    assert!(matches!(Message::parse(&[0xff; 1004]), Ok(Message::Unknown(_))));
    let aaa = datagram([b"connect ".to_vec(), vec![b'A'; 2000]].concat());
    let Ok(Message::Connect(connect)) = Message::parse(&aaa) else { panic!("no connect") };
    assert!(connect.userinfo().is_err());
    let response = datagram("connectResponse 5");
    assert_eq!(
        Message::parse(&response).map(|message| message.kind()),
        Ok(CommandKind::ConnectResponse)
    );
}

#[test]
fn a_line_ends_at_its_limit() {
    let text = datagram(format!("getinfo {}", "A".repeat(5000)));
    let Ok(Message::GetInfo(query)) = Message::parse(&text) else { panic!("no query") };
    assert_eq!(query.challenge.len(), 1023 - 8);
    assert_eq!(query.echo(), Echo::Silence);
}

fn word() -> impl Strategy<Value = String> {
    "[!#-$&-.0-~ ]{1,20}"
}

fn token() -> impl Strategy<Value = String> {
    "[a-zA-Z_#-]{1,20}"
}

/// Everything that a message of any kind can be made of.
#[derive(Debug)]
struct Parts {
    words: [String; 2],
    token: String,
    text: String,
    numbers: [i32; 3],
    flags: [bool; 7],
    bytes: Vec<u8>,
}

fn parts() -> impl Strategy<Value = Parts> {
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let text = "[ -~]{0,40}(\n[ -~]{0,40}){0,3}";
    ([word(), word()], token(), text, any::<[i32; 3]>(), any::<[bool; 7]>(), bytes).prop_map(
        |(words, token, text, numbers, flags, bytes)| Parts {
            words,
            token,
            text,
            numbers,
            flags,
            bytes,
        },
    )
}

/// One message of every kind, made of `parts`. `list` is a datagram with a server list.
fn messages<'a>(parts: &'a Parts, list: &'a [u8]) -> Vec<Message<'a>> {
    let [a, b] = [&parts.words[0], &parts.words[1]].map(|word| WireText::from(word.as_str()));
    let token = WireText::from(parts.token.as_str());
    let text = WireText::from(parts.text.as_str());
    let line = text.first_line();
    let command = line.trimmed();
    let numbers = parts.numbers.map(Challenge);
    let [empty, full, ipv4, ipv6, extended, some, more] = parts.flags;
    let query = Query { challenge: if some { a } else { WireText::EMPTY } };
    let second = some.then_some(numbers[1]);
    let third = (some && more).then_some(parts.numbers[2]);
    let gametype = more.then_some(token);
    let filter = ListFilter { empty, full, gametype, ipv4, ipv6 };
    vec![
        Message::GetInfo(query),
        Message::GetStatus(query),
        Message::GetChallenge(GetChallenge {
            client_challenge: second,
            gamename: if third.is_some() { b } else { WireText::EMPTY },
        }),
        Message::Connect(Connect::new(&parts.bytes)),
        Message::Rcon(Rcon { password: a, command }),
        Message::ChallengeResponse(ChallengeResponse {
            challenge: numbers[0],
            client_challenge: second,
            protocol: third,
        }),
        Message::ConnectResponse(ConnectResponse { challenge: second, protocol: third }),
        Message::InfoResponse(line),
        Message::StatusResponse(StatusResponse { info: line, player_lines: text }),
        Message::Print(text),
        Message::Echo(if some { b } else { WireText::EMPTY }),
        Message::Disconnect,
        Message::Heartbeat(a),
        Message::GetServers(ListRequest {
            extended,
            game: some.then_some(token).filter(|game| !game.is_integer()),
            protocol: parts.numbers[0],
            filter,
        }),
        Message::parse(list).expect("a list"),
        Message::ObsoleteCommand(ObsoleteCommand::Motd),
        Message::Unknown("unknown".into()),
    ]
}

proptest! {
    #[test]
    fn parsing_inverts_writing(parts in parts()) {
        let name = if parts.flags[4] { "getserversExtResponse" } else { "getserversResponse" };
        let list = datagram([name.as_bytes(), &parts.bytes].concat());
        for message in messages(&parts, &list) {
            let mut written = b"kept".to_vec();
            message.write(&mut written);
            prop_assert!(written.starts_with(b"kept\xff\xff\xff\xff"));
            prop_assert_eq!(Message::parse(&written[4..]), Ok(message));
            for len in 4..written.len() {
                let _ = Message::parse(&written[4..len]);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_safe(
        name in prop::sample::select(fragd::wire::connectionless::COMMANDS),
        bytes in prop::collection::vec(any::<u8>(), 0..2200),
        separator in prop::sample::select(&[" ", "\n", ""][..])
    ) {
        let text = [name.0.as_bytes(), separator.as_bytes(), &bytes].concat();
        for packet in [datagram(text), datagram(&bytes), bytes] {
            let len = packet.len();
            match Message::parse(&packet) {
                Ok(Message::GetInfo(query) | Message::GetStatus(query)) => {
                    if let Echo::Send(challenge) = query.echo() {
                        prop_assert!(challenge.len() <= 128);
                        let echoed = InfoResponse::default().to_info(Some(challenge));
                        prop_assert_eq!(echoed.get("challenge"), Some(&*challenge.to_string()));
                        let keys = InfoResponse::default().to_info(None).iter().count() + 1;
                        prop_assert_eq!(echoed.iter().count(), keys);
                    }
                }
                Ok(Message::Connect(connect)) => {
                    if let Ok(userinfo) = connect.userinfo() {
                        prop_assert!(userinfo.as_str().len() <= 1013);
                    }
                }
                Ok(Message::InfoResponse(info)) => {
                    prop_assert!(InfoString::from_wire(info).as_str().len() <= 1023);
                }
                Ok(Message::StatusResponse(status)) => {
                    prop_assert!(status.players().count() * 4 <= len);
                }
                Ok(Message::ServerList(list)) => {
                    prop_assert!(list.servers().count() * 7 <= len);
                    let _ = list.has_end_mark();
                }
                _ => {}
            }
        }
    }
}
