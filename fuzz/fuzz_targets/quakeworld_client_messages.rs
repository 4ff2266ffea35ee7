//! QuakeWorld packets to a server: connectionless, channel, messages, moves, info strings.
#![no_main]

use fragd::{
    model::{Millis, Qport, UnixMillis},
    quakeworld::{
        Channel, ClientMessage, ClientMessages, End, Extensions, Usercmd,
        bytes::{Text, Writer},
        connectionless::Request,
        info::{self, Info, MAX_INFO_LEN},
        rcon,
    },
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let extensions = match choice % 3 {
        0 => Extensions::NONE,
        1 => Extensions::SUPPORTED,
        _ => Extensions { fte: u32::MAX, fte2: u32::MAX, mvd1: u32::MAX },
    };
    let mut server = Channel::new(End::Server(Qport(9)));
    let mut client = Channel::new(End::Client(Qport(9))).starting_at_one();
    let (mut now, mut packet) = (Millis(1000), Vec::new());
    let mut remembered = Usercmd::ZERO;
    for piece in pieces(data, 48) {
        let [kind, body @ ..] = piece else { continue };
        now = Millis(now.0 + u64::from(kind >> 2));
        match kind % 4 {
            0 => {
                packet.clear();
                packet.extend_from_slice(body);
            }
            1 => {
                let datagram = [b"\xff\xff\xff\xff", body].concat();
                if let Ok(request) = Request::parse(&datagram) {
                    request.write(&mut packet);
                    admit(request);
                }
                continue;
            }
            2 => {
                let _ = client.queue_reliable(body);
                let _ = client.transmit(&[], now, &mut packet);
            }
            _ => {
                let _ = client.transmit(body, now, &mut packet);
            }
        }
        let Ok(received) = server.receive(&packet) else { continue };
        let Ok(messages) = ClientMessages::checked(received.payload, extensions) else { continue };
        server.commit(&received, now);
        let mut out = Vec::new();
        for message in messages {
            let message = message.expect("a message that was read before");
            Writer::new(&mut out, 4000, extensions).write(&message);
            if let ClientMessage::Move(moves) = message {
                let _ = moves.is_valid(received.header.sequence);
                let mut runs = 0;
                moves.run_after_loss(received.lost, &remembered, |_| runs += 1);
                assert!((1..=20).contains(&runs));
                remembered = *moves.newest();
            }
        }
        if server.is_answer_due() && server.may_send(now) {
            let _ = server.queue_reliable(&out[..out.len().min(400)]);
            if server.transmit(&out, now, &mut packet).is_ok()
                && let Ok(received) = client.receive(&packet)
            {
                client.commit(&received, now);
            }
        }
    }
});

fn admit(request: Request<'_>) {
    match request {
        Request::Connect(connect) => {
            let userinfo = connect.userinfo.bytes();
            let mut kept = Info::from_received(userinfo, MAX_INFO_LEN);
            kept.remove(b"password");
            if info::is_valid(userinfo, MAX_INFO_LEN) {
                assert!(info::pairs(userinfo).count() >= info::pairs(kept.as_bytes()).count());
            }
        }
        Request::Rcon { password, command } => {
            let now = UnixMillis(1_700_000_000_000);
            assert!(!rcon::is_hashed_password(password, b"", command, now, u64::MAX));
            let hashed = rcon::hashed_password(b"fuzzed", command, now);
            let hashed = Text::from(hashed.as_str());
            assert!(rcon::is_hashed_password(hashed, b"fuzzed", command, now, 60));
        }
        _ => {}
    }
}
