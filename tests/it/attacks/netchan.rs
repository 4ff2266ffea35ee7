//! Attacks by sequenced datagrams: forged packets of players, and fragments without a message.

use std::net::SocketAddr;

use fragd::{
    impairment::SeededRng,
    model::{CommandNum, Sequence, ServerId, limits::MAX_MESSAGE_LEN},
    netchan::{Channel, ChannelSide},
    observe::Counter,
    wire::{
        Protocol,
        bits::BitWriter,
        client_message::{self, ClientHeader},
    },
};

use super::{AttackFixture, SEED, raw_client::RawClient};

const FROM: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1)), 27_960);

/// A forged datagram of a player: sequence, qport and arbitrary payload.
fn forged(sequence: u32, qport: u16, body: &[u8]) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &qport.to_le_bytes(), body].concat()
}

#[test]
fn n1_forged_datagram_from_other_port_redirects_no_client() {
    for mut fixture in AttackFixture::each(&[]) {
        for round in 0..100u32 {
            for victim in 0..3 {
                let mut from = fixture.address_of(victim);
                from.set_port(30_000 + round as u16);
                let qport = fixture.qport_of(victim).0;
                for sequence in [1, 500 + round, 100_000, 0x7fff_0000] {
                    for body in [&[][..], &[0x55; 12], &[0xff; 60], &[0; 60]] {
                        assert!(fixture.send(from, &forged(sequence, qport, body)).is_empty());
                    }
                }
            }
            fixture.run_for(50);
        }
        fixture.check();
    }
}

#[test]
fn n2_n3_forged_sequence_jump_makes_no_real_datagram_stale() {
    for mut fixture in AttackFixture::each(&[]) {
        for round in 0..40u32 {
            for victim in 0..3 {
                let (from, qport) = (fixture.address_of(victim), fixture.qport_of(victim).0);
                for sequence in [0x7fff_fffe, 0x7fff_ffff, 0x4000_0000, 5000 + round, 0] {
                    for body in [&[0x5a; 20][..], &[0; 100], &[0xff; 9]] {
                        fixture.send(from, &forged(sequence, qport, body));
                    }
                }
            }
            fixture.run_for(50);
        }
        // The players' own datagrams were accepted throughout: they kept moving.
        let moves = fixture.count(Counter::Moves);
        fixture.run_for(1000);
        assert!(fixture.count(Counter::Moves) - moves >= least_moves(&fixture));
        fixture.check();
    }
}

/// Usercmds of three players that run in a second. A relay runs the newest of each message.
fn least_moves(fixture: &AttackFixture) -> u64 {
    if fixture.relay().is_some() { 3 * 25 } else { 3 * 55 }
}

/// A message that an outsider can write: it holds nothing that is scrambled.
fn keyless_message(server_id: i32, reliable_acknowledge: i32) -> Vec<u8> {
    let head = ClientHeader {
        server_id: ServerId(server_id),
        message_acknowledge: 0,
        reliable_acknowledge: CommandNum(reliable_acknowledge),
    };
    let mut writer = BitWriter::new();
    client_message::begin(&mut writer, Protocol::Q3_68, &head);
    client_message::end(&mut writer);
    writer.message().to_vec()
}

/// Sends keyless messages in the name of a player. Sequences depend on the number of its datagrams.
fn forge<const N: usize>(
    fixture: &mut AttackFixture,
    victim: usize,
    from: SocketAddr,
    sequences: impl Fn(u32) -> [u32; N],
    checksums: &[u32],
) {
    let qport = fixture.qport_of(victim).0;
    let server_id = fixture.server_id().0;
    for reliable_acknowledge in 0..16 {
        let message = keyless_message(server_id, reliable_acknowledge);
        let node = fixture.honest[victim].node;
        let sent = fixture.sim.player(node).client().statistics().datagrams_out as u32;
        for sequence in sequences(sent) {
            fixture.send(from, &forged(sequence, qport, &message));
            for checksum in checksums {
                let body = [&checksum.to_le_bytes()[..], &message].concat();
                fixture.send(from, &forged(sequence, qport, &body));
            }
        }
        fixture.run_for(300);
    }
}

#[test]
fn n13_keyless_message_from_another_port_redirects_no_snapshots() {
    for mut fixture in AttackFixture::each(&[]) {
        for victim in 0..3 {
            let mut from = fixture.address_of(victim);
            from.set_port(31_000);
            // Numbers near the player's next one, and some that skip many.
            forge(&mut fixture, victim, from, |sent| [sent + 10, sent + 500], &[]);
        }
        let unproven = fixture.count(Counter::UnprovenMessages);
        fixture.check();
        assert!(unproven > 0, "some parsed");
    }
}

#[test]
fn n13_guessable_checksum_makes_no_genuine_message_stale() {
    for mut fixture in AttackFixture::each(&[]) {
        for victim in 0..3 {
            let from = fixture.address_of(victim);
            // Under every challenge, one of four checksums is right for this number.
            let checksums = [0, 1 << 30, 2 << 30, 3 << 30];
            forge(&mut fixture, victim, from, |_| [(1 << 30) + 1, 0x3fff_ff00, 3000], &checksums);
        }
        let moves = fixture.count(Counter::Moves);
        fixture.run_for(1000);
        assert!(fixture.count(Counter::Moves) - moves >= least_moves(&fixture));
        fixture.check();
    }
}

#[test]
fn n3_client_near_sequence_limit_affects_only_itself() {
    for mut fixture in AttackFixture::each(&[("sv_timeout", "5")]) {
        for (i, sequence) in
            [0x7fff_ffff, 0x7fff_fff0, 0x3fff_ffff, 0x4000_0000].into_iter().enumerate()
        {
            let attacker = RawClient::join(&mut fixture, FROM, 5 + i as u16);
            for number in sequence..=0x7fff_ffff_u32.min(sequence + 40) {
                let message = attacker.message(client_message::end);
                let datagram = attacker.raw(number, None, &message);
                fixture.send(FROM, &datagram);
                fixture.run_for(20);
            }
            // It cannot pass the limit, and times out like any silent client.
            fixture.run_for(7000);
            assert!(!attacker.is_in(&mut fixture));
        }
        fixture.check();
    }
}

#[test]
fn n4_wrong_checksum_is_dropped_first() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, FROM, 5);
        let before = fixture.count(Counter::MalformedPacket);
        let head = attacker.head();
        let good = attacker.datagram(&head, client_message::end);
        for bit in 0..32 {
            let mut bad = good.clone();
            bad[6 + bit / 8] ^= 1 << (bit % 8);
            assert!(fixture.send(FROM, &bad).is_empty());
            if bit % 8 == 7 {
                // Within what one client is heard in a frame.
                fixture.run_for(50);
            }
        }
        assert_eq!(fixture.count(Counter::MalformedPacket) - before, 32);
        // None of them took the number away from the good one.
        let late = fixture.count(Counter::PacketsOutOfOrder);
        fixture.send(FROM, &good);
        assert_eq!(fixture.count(Counter::PacketsOutOfOrder), late);
        fixture.check();
    }
}

#[test]
fn n5_n6_n8_unrelated_fragments_make_and_block_no_message() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, FROM, 5);
        for round in 0..20u32 {
            let number = 1000 + round * 10;
            for (sequence, start, len, body) in [
                // Overlap and gap.
                (number, 0u16, 1300u16, 1300usize),
                (number, 650, 1300, 1300),
                (number, 2600, 1300, 1300),
                // Lengths that lie.
                (number + 1, 0, 0xffff, 1300),
                (number + 1, 0x8000, 100, 100),
                (number + 1, 0, 1300, 10),
                (number + 1, 0, 0, 0),
                (number + 1, 0xffff, 1300, 1300),
                // Two messages in turns.
                (number + 2, 0, 1300, 1300),
                (number + 3, 0, 1300, 1300),
                (number + 2, 1300, 1300, 1300),
                (number + 3, 1300, 1300, 1300),
            ] {
                let datagram = attacker.raw(sequence, Some((start, len)), &vec![0x33; body]);
                assert!(fixture.send(FROM, &datagram).is_empty(), "round {round}");
            }
            fixture.run_for(50);
            // Its own messages still arrive.
            attacker.read(&mut fixture);
            attacker.step(&mut fixture);
        }
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn n7_endless_message_stops_at_size_limit() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, FROM, 5);
        for round in 0..10u32 {
            for piece in 0..50u32 {
                let start = piece * 1300;
                let datagram =
                    attacker.raw(2000 + round, Some((start as u16, 1300)), &[0x44; 1300]);
                assert!(fixture.send(FROM, &datagram).is_empty(), "piece {piece}");
            }
            const { assert!(50 * 1300 > MAX_MESSAGE_LEN) };
            fixture.run_for(100);
            attacker.read(&mut fixture);
            attacker.step(&mut fixture);
        }
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn n9_unfinished_message_is_replaced_by_the_next() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, FROM, 5);
        let next = attacker.channel.next_sequence().0;
        let datagram = attacker.raw(next, Some((0, 1300)), &[0x22; 1300]);
        assert!(fixture.send(FROM, &datagram).is_empty());
        let moves = attacker.level_ms;
        attacker.channel = Channel::new(
            ChannelSide::Client,
            Protocol::IOQ3_71,
            attacker.challenge,
            attacker.qport,
        )
        .resumed(Sequence(next + 1), attacker.channel.last_received());
        attacker.live(&mut fixture, 500);
        assert!(attacker.level_ms > moves + 400, "still served");
        fixture.check();
    }
}

#[test]
fn n10_tampered_message_is_applied_completely_or_rejected() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, FROM, 5);
        let head = attacker.head();
        let mut number = attacker.said;
        let whole = attacker.datagram(&head, |writer| {
            number = CommandNum(number.0 + 1);
            client_message::write_command(writer, number, b"say hello there");
            client_message::end(writer);
        });
        let commands = fixture.count(Counter::ClientCommands);
        let mut rng = SeededRng::new(SEED);
        for len in 0..whole.len() - 2 {
            fixture.send(FROM, &whole[..len]);
            let body: Vec<u8> = (0..len * 8).map(|_| rng.below(256) as u8).collect();
            let datagram = attacker.raw(u32::MAX >> 1, None, &body);
            fixture.send(FROM, &datagram);
            fixture.send(FROM, &attacker.raw(3000, None, &vec![0xff; len]));
            if len % 8 == 0 {
                fixture.run_for(50);
            }
        }
        fixture.run_for(50);
        assert_eq!(fixture.count(Counter::ClientCommands), commands, "no half command was run");
        fixture.send(FROM, &whole);
        assert_eq!(fixture.count(Counter::ClientCommands), commands + 1);
        fixture.check();
    }
}
