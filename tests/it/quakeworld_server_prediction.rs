//! Own players of QuakeWorld clients: answers equal the rules, also after losses.

use std::sync::Arc;

use fragd::{
    bsp29::{Bsp29, compiler::fragqw1},
    impairment::{Impairment, SeededRng},
    model::Millis,
    quakeworld::{
        ClientMessage, ClientMessages, Extensions, ServerMessage, ServerMessages, Usercmd,
        bytes::Angle,
        channel::header::{CONNECTIONLESS, Header, Sender},
        extensions::MVD1_FLOAT_COORDS,
        players::{MoveType, flag},
        usercmd::button,
    },
    qwgame::{
        QuakeWorldGame as _,
        level::Level,
        movement::{MoveCommand, MoveKind, MoveVars, SpeedCheck},
    },
};

use crate::quakeworld_fixture::{QwFixture, STEP, Seen};

/// The same level, driven by the datagrams that arrive at the server.
struct Mirror {
    level: Level,
    last: u32,
    remembered: Usercmd,
    speed: SpeedCheck,
    is_playing: bool,
    physics_at: Millis,
    compared: usize,
    lost: u32,
    travelled: f32,
}

impl Mirror {
    fn new(now: Millis) -> Self {
        let map = Arc::new(Bsp29::load(&fragqw1()).unwrap());
        Self {
            level: Level::new("maps/fragqw1.bsp", map, MoveVars::default()).unwrap(),
            last: 0,
            remembered: Usercmd::ZERO,
            speed: SpeedCheck::new(now),
            is_playing: false,
            physics_at: now,
            compared: 0,
            lost: 0,
            travelled: 0.0,
        }
    }

    fn physics(&mut self, now: Millis) {
        let seconds = now.since(self.physics_at).0 as f32 / 1000.0;
        if seconds >= 0.013 {
            self.physics_at = now;
            self.level.advance(seconds.min(0.1));
        }
    }

    fn receive(&mut self, now: Millis, datagram: &[u8]) {
        if datagram.starts_with(CONNECTIONLESS) {
            return;
        }
        let (header, payload) = Header::parse(datagram, Sender::Client).unwrap();
        if header.sequence <= self.last {
            return;
        }
        let lost = header.sequence - self.last - 1;
        self.last = header.sequence;
        for message in ClientMessages::checked(payload, Extensions::NONE).unwrap().flatten() {
            match message {
                ClientMessage::StringCommand { text } if text.bytes().starts_with(b"begin ") => {
                    self.is_playing = true;
                    self.speed = SpeedCheck::new(now);
                    self.level.begin(0, false);
                }
                ClientMessage::Move(message) if self.is_playing => {
                    self.lost += lost;
                    let remembered = self.remembered;
                    message.run_after_loss(lost, &remembered, |command| self.run(now, command));
                    self.remembered = *message.newest();
                }
                _ => {}
            }
        }
        self.physics(now);
        while self.level.poll_event().is_some() {}
    }

    fn run(&mut self, now: Millis, command: &Usercmd) {
        let angles = command.angles.map(|angle| angle.0.cast_signed());
        let moves = [command.forward, command.side, command.up];
        let command = MoveCommand { angles, moves, buttons: command.buttons, msec: command.msec };
        let before = self.level.player(0).unwrap().state.origin;
        self.speed.allowed(now, command).for_each_part(&mut |part, _| {
            self.level.run_command(0, &part, 0);
        });
        self.travelled += (self.level.player(0).unwrap().state.origin - before).length().min(50.0);
    }

    fn compare(&mut self, datagram: &[u8]) {
        if datagram.starts_with(CONNECTIONLESS) || !self.is_playing {
            return;
        }
        let (_, payload) = Header::parse(datagram, Sender::Server).unwrap();
        // The client asked for it.
        let ext = Extensions { mvd1: MVD1_FLOAT_COORDS, ..Extensions::NONE };
        for message in ServerMessages::checked(payload, ext).unwrap().flatten() {
            let ServerMessage::PlayerInfo(info) = message else { continue };
            let view = self.level.player(0).unwrap();
            let state = &view.state;
            assert_eq!(info.player, 0);
            assert_eq!(info.origin, state.origin.0, "answer {}", self.compared);
            assert_eq!(info.velocity, state.velocity.0.map(|speed| speed as i16));
            assert_eq!(info.has(flag::ON_GROUND), state.on_ground);
            assert_eq!(info.has(flag::DEAD), state.kind == MoveKind::Dead);
            assert_eq!(info.move_type() == MoveType::JumpHeld, state.jump_held);
            self.compared += 1;
        }
    }
}

/// Walks for a minute by a seeded script.
fn walk(impairment: &Impairment, seed: u64) -> Mirror {
    let mut fixture = QwFixture::new(&[]);
    let mut mirror = Mirror::new(fixture.now);
    fixture.add_impaired(&[("name", "walker")], impairment, seed);
    let mut rng = SeededRng::new(seed);
    let mut yaw = 0_u16;
    for _ in 0..260 {
        if rng.chance(300) {
            yaw = yaw.wrapping_add(rng.below(20_000) as u16).wrapping_sub(10_000);
        }
        let axis = |rng: &mut SeededRng| [0, 400, 400, -400][rng.below(4) as usize];
        let mut command = Usercmd { msec: STEP as u8, ..Usercmd::ZERO };
        command.angles = [Angle(rng.below(8000) as u16), Angle(yaw), Angle(0)];
        (command.forward, command.side) = (400, axis(&mut rng));
        command.up = axis(&mut rng);
        command.buttons = if rng.chance(300) { button::JUMP } else { 0 };
        if rng.chance(50) {
            // Longer commands run in halves.
            command.msec = 90;
        }
        fixture.peers[0].command = command;
        fixture.run_watched(240, &mut |now, seen, _| match seen {
            Seen::Received(_, datagram) => mirror.receive(now, datagram),
            Seen::Sent(datagram) => mirror.compare(datagram),
            Seen::Frame => mirror.physics(now),
        });
    }
    mirror
}

#[test]
fn own_player_equals_the_rules_for_a_minute() {
    let mirror = walk(&Impairment::default(), 3);
    assert!(mirror.compared > 2900, "{} answers", mirror.compared);
    assert!(mirror.travelled > 3000.0, "{} units", mirror.travelled);
    assert_eq!(mirror.lost, 0);
}

#[test]
fn own_player_equals_the_rules_with_losses() {
    for seed in [5, 6] {
        let impairment = Impairment {
            latency: Millis(40),
            jitter: Millis(20),
            loss: 50,
            reordering: 10,
            ..Impairment::default()
        };
        let mirror = walk(&impairment, seed);
        assert!(mirror.compared > 2500, "{} answers", mirror.compared);
        assert!(mirror.lost > 100, "{} lost", mirror.lost);
        assert!(mirror.travelled > 3000.0, "{} units", mirror.travelled);
    }
}
