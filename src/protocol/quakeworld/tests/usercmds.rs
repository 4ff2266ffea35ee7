//! Move messages: encoding, checksum, usercmds to run after a loss.

use super::{
    bytes::{Reader, Writer},
    moves::{MAX_MOVE_LEN, MoveMessage, write_move},
    players::{MoveType, flag},
    *,
};

fn command(msec: u8, buttons: u8) -> Usercmd {
    Usercmd { msec, buttons, ..Usercmd::ZERO }
}

fn with_move(commands: [Usercmd; 3], run: impl FnOnce(&MoveMessage<'_>)) {
    let mut out = Vec::new();
    write_move(&mut Writer::new(&mut out, 100, Extensions::NONE), 9, 3, &commands);
    let mut messages = ClientMessages::checked(&out, Extensions::NONE).unwrap();
    let Some(Ok(ClientMessage::Move(message))) = messages.next() else { panic!() };
    assert!(message.is_valid(9) && !message.is_valid(10));
    assert_eq!((message.loss, message.commands), (3, commands));
    run(&message);
}

/// Durations of the usercmds that run after a loss.
fn run_after(lost: u32) -> Vec<(u8, u8)> {
    let mut all = Vec::new();
    with_move([command(1, 1), command(2, 1), command(3, 1)], |message| {
        let remembered = command(9, 3);
        message
            .run_after_loss(lost, &remembered, |command| all.push((command.msec, command.buttons)));
    });
    all
}

#[test]
fn usercmds_run_as_many_as_were_lost() {
    assert_eq!(run_after(0), [(3, 1)]);
    assert_eq!(run_after(1), [(2, 1), (3, 1)]);
    assert_eq!(run_after(2), [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn remembered_usercmd_fills_longer_losses_without_buttons() {
    assert_eq!(run_after(3), [(9, 0), (1, 1), (2, 1), (3, 1)]);
    let longest = run_after(19);
    assert_eq!(longest.len(), 17 + 3);
    assert!(longest[..17].iter().all(|command| *command == (9, 0)));
    for lost in [20, 21, u32::MAX] {
        assert_eq!(run_after(lost), [(1, 1), (2, 1), (3, 1)]);
    }
}

#[test]
fn move_of_largest_usercmds_fits_its_limit() {
    let all = |sign: i16| Usercmd {
        msec: 255,
        angles: [1, 2, 3].map(|angle| bytes::Angle(angle + u16::from(sign > 0))),
        forward: sign,
        side: sign,
        up: sign,
        buttons: sign as u8,
        impulse: sign as u8,
    };
    let mut out = Vec::new();
    let commands = [all(1), all(-1), all(1)];
    write_move(&mut Writer::new(&mut out, 100, Extensions::NONE), 1, 100, &commands);
    assert_eq!(out.len(), MAX_MOVE_LEN);
    with_move(commands, |_| {});
}

#[test]
fn wrong_checksum_is_found() {
    let mut out = Vec::new();
    let commands = [command(1, 0), command(2, 0), command(3, 0)];
    write_move(&mut Writer::new(&mut out, 100, Extensions::NONE), 5, 0, &commands);
    *out.last_mut().unwrap() ^= 1;
    let message: MoveMessage<'_> = Reader::new(&out[1..], Extensions::NONE).read().unwrap();
    assert!(!message.is_valid(5));
}

#[test]
fn player_flags_hold_fields_and_move_type() {
    let mut info = PlayerInfo { player: 3, velocity: [5, 0, -7], skin: 2, ..Default::default() };
    info.set_field_flags();
    assert_eq!(info.flags, flag::VELOCITY[0] | flag::VELOCITY[2] | flag::SKIN);
    for move_type in MoveType::ALL {
        info.set_move_type(move_type);
        assert_eq!(info.move_type(), move_type);
    }
    assert!(info.has(flag::SKIN) && !info.has(flag::SOLID));
}
