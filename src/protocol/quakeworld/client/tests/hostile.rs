//! Impossible content of valid messages, floods.

use super::*;
use crate::quakeworld::players::PlayerInfo;

/// Reason for which a client in the game leaves after a message.
fn reason_after(message: ServerMessage<'_>) -> Option<DisconnectReason> {
    let mut game = Game::entered();
    game.send(message);
    game.client.disconnect_reason().cloned()
}

#[test]
fn numbers_out_of_range_end_the_session() {
    let player = PlayerInfo { player: 32, ..Default::default() };
    let ended = |error| Some(DisconnectReason::Content(error));
    assert_eq!(reason_after(ServerMessage::PlayerInfo(player)), ended(ContentError::Slot(32)));
    let frags = ServerMessage::UpdateFrags { player: 200, frags: 1 };
    assert_eq!(reason_after(frags), ended(ContentError::Slot(200)));
    let stat = ServerMessage::UpdateStat { stat: 32, value: 1 };
    assert_eq!(reason_after(stat), ended(ContentError::Stat(32)));
    let baseline = ServerMessage::SpawnBaseline { entity: -1, state: Default::default() };
    assert_eq!(reason_after(baseline), ended(ContentError::Entity(-1)));
    assert_eq!(reason_after(ServerMessage::Disconnect), Some(DisconnectReason::Server));
    assert_eq!(reason_after(ServerMessage::Nop), None);
}

#[test]
fn player_twice_in_a_packet_ends_the_session() {
    let mut game = Game::entered();
    let info = written(&ServerMessage::PlayerInfo(PlayerInfo::default()), game.server.extensions);
    game.server.unreliable = info.repeat(2);
    game.step(|_| false);
    let reason = DisconnectReason::Content(ContentError::Player(0));
    assert_eq!(game.client.disconnect_reason(), Some(&reason));
}

#[test]
fn names_beyond_the_list_end_the_session() {
    let mut game = Game::entered();
    game.server.unreliable = b"\x2d\x09x\0\0\0".to_vec();
    game.step(|_| false);
    let reason = DisconnectReason::Content(ContentError::Names(10));
    assert_eq!(game.client.disconnect_reason(), Some(&reason));
}

#[test]
fn stuffed_commands_overflow_at_most_the_queue() {
    let mut game = Game::entered();
    let line = format!("cmd {}\n", "x".repeat(300));
    game.send(ServerMessage::StuffText { text: line.repeat(4).as_str().into() });
    assert_eq!(game.client.disconnect_reason(), None);
    // Until the answer, five more do not fit.
    for _ in 0..5 {
        game.client.run(line.as_bytes());
    }
    assert_eq!(game.client.disconnect_reason(), Some(&DisconnectReason::Overflowed));
}

#[test]
fn events_and_datagrams_are_bounded() {
    let mut game = Game::entered();
    for _ in 0..MAX_EVENTS {
        game.client.push_event(ClientEvent::CenterPrint(Vec::new()));
        game.client.push_usercmd(Usercmd::ZERO, game.now);
    }
    assert_eq!((game.client.events.len(), game.client.outbox.len()), (MAX_EVENTS, MAX_OUTBOX));
}

#[test]
fn unknown_console_commands_reach_the_owner() {
    let mut game = Game::entered();
    let text = "//wps 1\nbf\n play x.wav \n".into();
    game.send(ServerMessage::StuffText { text });
    let commands: Vec<_> = game
        .events
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Command(line) => Some(String::from_utf8_lossy(line).into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(commands, ["bf", "play x.wav"]);
}
