//! Frames and deltas, statistics, commands, downloads.

use super::*;
use crate::quakeworld::{channel::timing::Fate, entities::DeltaList, players::PlayerInfo};

/// Message with these changes against a base.
fn changes(base: Option<u8>, deltas: &[EntityDelta], extensions: Extensions) -> Vec<u8> {
    let mut bytes = match base {
        Some(base) => vec![48, base],
        None => vec![47],
    };
    deltas.iter().for_each(|delta| bytes.extend(written(delta, extensions)));
    bytes.extend([0, 0]);
    assert!(ServerMessages::checked(&bytes, extensions).is_ok());
    bytes
}

fn numbers(client: &Client) -> Vec<u16> {
    let frame = client.frames().newest_valid().unwrap();
    frame.entities().iter().map(|(number, _)| *number).collect()
}

#[test]
fn entities_follow_the_deltas_of_each_answer() {
    let mut game = Game::entered();
    let extensions = game.server.extensions;
    let at = |x: f32| EntityState { model: 2, origin: [x, 0.0, 0.0], ..Default::default() };
    let baseline = game.client.level().baseline(44);
    let delta = |number, from: &EntityState, to: &EntityState| {
        EntityDelta::between(number, from, to, extensions)
    };
    let none = EntityState::default();
    let first =
        [delta(44, &baseline, &at(8.0)), delta(50, &none, &at(1.0)), delta(60, &none, &at(2.0))];
    game.server.unreliable = changes(None, &first, extensions);
    game.step(|_| false);
    assert_eq!(numbers(&game.client), [44, 50, 60]);
    assert_eq!(game.client.frames().newest_valid().unwrap().entities()[0].1, at(8.0));
    // The next packet asks for changes of that answer, and the server sends some.
    let base = game.client.frames().newest_valid().unwrap().sequence;
    let second =
        [EntityDelta::removal(50), delta(55, &none, &at(3.0)), delta(60, &at(2.0), &at(9.5))];
    game.server.unreliable = changes(Some(base as u8), &second, extensions);
    game.step(|_| false);
    assert_eq!(game.server.asked, (base + 1, Some(base as u8)));
    assert_eq!(numbers(&game.client), [44, 55, 60]);
    assert_eq!(game.client.frames().newest_valid().unwrap().entities()[2].1, at(9.5));
    assert_eq!(game.client.statistics().rejected, 0);
}

#[test]
fn unknown_delta_base_is_rejected_until_a_full_update() {
    let mut game = Game::entered();
    let extensions = game.server.extensions;
    let frames = game.client.statistics().frames;
    game.server.unreliable = changes(Some(200), &[], extensions);
    game.step(|_| false);
    let statistics = game.client.statistics();
    assert_eq!((statistics.rejected, statistics.frames), (1, frames));
    assert_eq!(game.client.timing().fate(game.server.asked.0), Fate::Rejected);
    game.step(|_| false);
    assert_eq!(game.server.asked.1, None);
    game.server.unreliable = changes(None, &[], extensions);
    game.step(|_| false);
    game.step(|_| false);
    assert!(game.server.asked.1.is_some());
}

#[test]
fn old_delta_base_is_not_asked_for() {
    let mut game = Game::entered();
    game.step(|_| false);
    let base = game.server.asked.1;
    assert!(base.is_some());
    for _ in 0..61 {
        game.step(|up| !up);
    }
    assert_eq!(game.server.asked.1, base);
    game.step(|up| !up);
    assert_eq!(game.server.asked.1, None);
}

#[test]
fn own_state_comes_with_the_usercmds_since() {
    let mut game = Game::entered();
    let info = PlayerInfo { player: 3, origin: [1.0, 2.0, 3.0], ..Default::default() };
    game.send(ServerMessage::PlayerInfo(info));
    let (sequence, own) = game.client.own_state().unwrap();
    assert_eq!((sequence, own.origin), (game.server.asked.0, [1.0, 2.0, 3.0]));
    assert_eq!(game.client.commands_after(sequence).count(), 0);
    for _ in 0..5 {
        game.step(|up| !up);
    }
    let since: Vec<_> = game.client.commands_after(sequence).collect();
    assert!(since.iter().map(|(number, _)| *number).eq(sequence + 1..=sequence + 5));
    assert!(since.iter().all(|(_, command)| command.forward == 400));
}

#[test]
fn choked_answers_are_not_lost() {
    let mut game = Game::entered();
    for _ in 0..3 {
        game.step(|up| !up);
    }
    game.send(ServerMessage::ChokeCount { count: 3 });
    let statistics = game.client.statistics();
    assert_eq!((statistics.choked, statistics.missing), (3, 3));
    for _ in 0..4 {
        game.step(|up| !up);
    }
    game.step(|_| false);
    assert_eq!(game.client.loss_percent(), 1);
}

#[test]
fn commands_are_checked_and_arrive() {
    let mut game = Game::entered();
    assert_eq!(game.client.command(b"say a\nb"), Err(CommandError::Character));
    assert_eq!(game.client.command(&[b'x'; 1449]), Err(CommandError::Full));
    game.client.command(b"say hello").unwrap();
    game.client.track(Some(4)).unwrap();
    game.client.set_info("team", "red").unwrap();
    game.step(|_| false);
    let last = &game.server.commands[game.server.commands.len() - 3..];
    assert_eq!(last, ["say hello", "ptrack 4", "setinfo \"team\" \"red\""]);
    let mut client = Client::new(options(), Millis(0));
    assert_eq!(client.command(b"say x"), Err(CommandError::NotConnected));
}

#[test]
fn chunked_download_is_asked_for_in_pieces() {
    let mut game = Game::entered();
    game.client.download("progs/x.mdl").unwrap();
    let file: Vec<u8> = (0..5000).map(|at| (at / 50) as u8).collect();
    let size = Download::Size { size: file.len() as i32, name: "progs/x.mdl".into() };
    game.server.reliable(ServerMessage::Download(size));
    let mut sent = 0;
    for _ in 0..30 {
        let wanted = game.server.commands.iter().rev().find_map(|command| {
            command.strip_prefix("nextdl ")?.split(' ').next()?.parse::<usize>().ok()
        });
        if let Some(number) = wanted {
            let mut bytes = file[number * 1024..].to_vec();
            bytes.resize(1024, 0);
            let chunk = Download::Chunk { number: number as u32, bytes: &bytes };
            game.server.unreliable =
                written(&ServerMessage::Download(chunk), game.server.extensions);
            game.server.commands.clear();
            sent += 1;
        }
        game.step(|_| false);
    }
    let done = ClientEvent::Downloaded { name: b"progs/x.mdl".to_vec(), content: Some(file) };
    assert!(game.events.contains(&done), "{sent} chunks");
}

#[test]
fn packet_with_a_fault_changes_nothing() {
    let mut game = Game::entered();
    let stat = game.client.level().stats[0];
    game.server.unreliable = b"\x03\0\x07\x08\x02unterminated".to_vec();
    game.step(|_| false);
    assert_eq!(game.client.level().stats[0], stat);
    let Some(DisconnectReason::Message(error)) = game.client.disconnect_reason() else { panic!() };
    assert_eq!(error.to_string(), "print at byte 3, byte 5: text without end");
}

#[test]
fn usual_answer_needs_no_memory_of_its_own() {
    let list = DeltaList::default();
    assert_eq!(list.iter().count(), 0);
    let mut game = Game::entered();
    for _ in 0..200 {
        game.server.unreliable = changes(None, &[], game.server.extensions);
        game.step(|_| false);
    }
    // Buffers of datagrams circulate between outbox and owner.
    assert!(game.client.spare.len() <= 4, "{}", game.client.spare.len());
}
