//! Costliest datagrams of each kind that a server accepts.

use fragd::{model::CommandNum, wire::client_message};

use super::{
    costly_connects::{connect_of, deep_stream, many_pairs, pairs},
    fixture::{oob, socket_at},
    overload::{HEADERS, Load, Target},
    raw_client::RawClient,
};

/// Sockets that datagrams of unproven addresses come from.
const SOURCES: u8 = 100;

/// Sends datagrams in turn, from many addresses.
fn from_many(datagrams: Vec<Vec<u8>>) -> Load {
    let from: Vec<_> = (0..SOURCES).map(|n| socket_at(11, 1 + n)).collect();
    Box::new(move |target: &Target, n| {
        let datagram = &datagrams[n % datagrams.len()];
        let _ = from[n % from.len()].send_to(datagram, target.address);
        datagram.len() + HEADERS
    })
}

pub(super) fn connects_of_many_pairs(_: &Target) -> Load {
    from_many(vec![many_pairs()])
}

pub(super) fn connects_of_deep_streams(_: &Target) -> Load {
    from_many(vec![deep_stream()])
}

/// Connects that carry the right challenge of their address, and as many pairs as are read.
pub(super) fn connects_with_a_challenge(target: &Target) -> Load {
    let from: Vec<_> = (0..4).map(|n| socket_at(12, 1 + n)).collect();
    let datagrams: Vec<Vec<Vec<u8>>> = from
        .iter()
        .map(|socket| {
            let challenge = target.challenge(socket);
            let of = |qport| {
                let head = format!("\"\\challenge\\{challenge}\\qport\\{qport}\\protocol\\71");
                let rest = format!("{}\\name\\x\\pad\\{}\"", pairs(80), "q".repeat(400));
                connect_of((head + &rest).as_bytes())
            };
            // A new qport each time: no request is a repetition of another.
            (0..64).map(of).collect()
        })
        .collect();
    Box::new(move |target: &Target, n| {
        let (socket, datagrams) = (&from[n % from.len()], &datagrams[n % from.len()]);
        let datagram = &datagrams[n / from.len() % datagrams.len()];
        let _ = socket.send_to(datagram, target.address);
        datagram.len() + HEADERS
    })
}

/// Queries with the longest challenge that is echoed, requests for a challenge, passwords.
pub(super) fn questions(_: &Target) -> Load {
    let long = "A".repeat(128);
    from_many(vec![
        oob(format!("getstatus {long}")),
        oob(format!("getinfo {long}")),
        oob("getchallenge 5 Quake3Arena"),
        oob(format!("rcon {} status", "p".repeat(900))),
        oob(["getinfo ", &"x ".repeat(500)].concat()),
    ])
}

/// Sends messages of a client in the game, and reads what comes back.
fn from_client(
    target: &Target,
    mut message: impl FnMut(&mut RawClient) -> usize + Send + 'static,
) -> Load {
    let mut client = RawClient::join(*target, 1);
    Box::new(move |_: &Target, n| {
        if n % 8 == 0 {
            client.read();
        }
        message(&mut client)
    })
}

/// As many commands in a message as are taken.
pub(super) fn commands(target: &Target) -> Load {
    from_client(target, |client| {
        let first = client.acknowledged.0;
        client.send(|writer| {
            for n in 1..=64 {
                client_message::write_command(writer, CommandNum(first + n), b"say qqqqqqqqq");
            }
            client_message::end(writer);
        })
    })
}

/// As many moves in a message as are taken.
pub(super) fn moves(target: &Target) -> Load {
    from_client(target, |client| {
        let (moves, key) = (client.moves(32), client.key());
        client.send(|writer| {
            client_message::write_usercmds(writer, false, key, &moves);
            client_message::end(writer);
        })
    })
}

/// Changes of userinfo with as many pairs as are read.
pub(super) fn userinfos(target: &Target) -> Load {
    let userinfo = format!("userinfo \"{}\\name\\raw\\pad\\{}\"", pairs(80), "q".repeat(400));
    from_client(target, move |client| {
        let next = CommandNum(client.acknowledged.0 + 1);
        client.send(|writer| {
            client_message::write_command(writer, next, userinfo.as_bytes());
            client_message::end(writer);
        })
    })
}

/// The longest messages there are, in fragments.
pub(super) fn fragments(target: &Target) -> Load {
    let text = "x".repeat(230);
    from_client(target, move |client| {
        let first = client.acknowledged.0;
        client.send(|writer| {
            for n in 1..=64 {
                client_message::write_command(writer, CommandNum(first + n), text.as_bytes());
            }
            client_message::end(writer);
        })
    })
}
