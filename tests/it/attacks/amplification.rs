//! Amplification of every connectionless command: bytes sent per byte received.
//!
//! `docs/security.md` holds the table of these numbers. When they change, the test prints the new table.

use std::{fmt::Write as _, fs, net::SocketAddr, path::Path};

use fragd::wire::connectionless::COMMANDS;

use super::{AttackFixture, anyone, oob};

/// Bytes of the headers of UDP and IPv4, which every datagram has.
const HEADERS: usize = 28;
/// Length of the flood.
const SECONDS: usize = 10;
/// Requests of the flood, a second.
const PER_SECOND: usize = 1000;

/// One request of each kind, as short as it gets an answer, if any.
fn requests() -> Vec<(&'static str, Vec<u8>)> {
    COMMANDS
        .iter()
        .map(|(name, _)| {
            let text = match *name {
                "rcon" => "rcon x y".to_owned(),
                "connect" => return (*name, bad_connect()),
                "getservers" | "getserversExt" => format!("{name} 71"),
                "heartbeat" => "heartbeat x".to_owned(),
                _ => (*name).to_owned(),
            };
            (*name, oob(text))
        })
        // The shortest one in plain text.
        .chain([("connect \\", oob("connect \\")), ("anything else", oob("x"))])
        .collect()
}

/// A `connect` that is read and refused.
fn bad_connect() -> Vec<u8> {
    let mut bytes = Vec::new();
    let info = fragd::wire::info::InfoString::parse("\\protocol\\1");
    fragd::wire::connect::write_connect(&info, &mut bytes).unwrap();
    bytes
}

struct Measured {
    name: &'static str,
    request: usize,
    reply: usize,
    /// Thousandths of a byte answered for each byte, in a flood from one address and from all.
    one: usize,
    all: usize,
}

/// Bytes answered to a flood, in thousandths of those received.
fn flood(request: &[u8], from: impl Fn(u32) -> SocketAddr) -> usize {
    let mut fixture = AttackFixture::new(&[("rconPassword", "a-long-password")]);
    let (mut bytes_in, mut bytes_out) = (0, 0);
    for i in 0..SECONDS * PER_SECOND {
        bytes_in += request.len() + HEADERS;
        let replies = fixture.send(from(i as u32), request);
        bytes_out += replies.iter().map(|reply| reply.len() + HEADERS).sum::<usize>();
        if i % 10 == 9 {
            fixture.run_for(10);
        }
    }
    fixture.check();
    bytes_out * 1000 / bytes_in
}

fn measure() -> Vec<Measured> {
    let all = requests().into_iter().map(|(name, request)| {
        let mut fixture = AttackFixture::new(&[("rconPassword", "a-long-password")]);
        let reply = fixture.send(anyone(1), &request).iter().map(Vec::len).sum();
        let (one, all) = if reply == 0 {
            (0, 0)
        } else {
            (flood(&request, |_| anyone(1)), flood(&request, anyone))
        };
        Measured { name, request: request.len(), reply, one, all }
    });
    all.collect()
}

/// The table, with those that are never answered in one row.
fn table(measured: &[Measured]) -> String {
    let mut text = String::from(
        "| request | bytes | answer, bytes | one answer / one request | flood from one address | \
         flood from all addresses |\n|---|---|---|---|---|---|\n",
    );
    for row in measured.iter().filter(|row| row.reply > 0) {
        let once = (row.reply + HEADERS) as f64 / (row.request + HEADERS) as f64;
        let (one, all) = (row.one as f64 / 1000.0, row.all as f64 / 1000.0);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {once:.1} | {one:.3} | {all:.3} |",
            row.name, row.request, row.reply
        );
    }
    let silent: Vec<_> = measured
        .iter()
        .filter(|row| row.reply == 0)
        .map(|row| match row.name {
            "anything else" => row.name.to_owned(),
            name => format!("`{name}`"),
        })
        .collect();
    let _ = writeln!(text, "| {} | | 0 | 0 | 0 | 0 |", silent.join(", "));
    text
}

#[test]
fn amplification_equals_documented_table() {
    let measured = measure();
    for row in &measured {
        assert!(row.reply <= 1400, "{}: {} bytes", row.name, row.reply);
        // A challenge is as long as its request, and a whole room may ask for one at once.
        let bound = if row.name == "getchallenge" { 200 } else { 60 };
        assert!(row.one <= bound, "{}: {} thousandths from one address", row.name, row.one);
        let bound = match row.name {
            // Answers are as long as their requests, and a hundred a second.
            "getchallenge" => 1400,
            // Within what the operator allows in bytes.
            "getstatus" | "getinfo" => 900,
            _ => 200,
        };
        assert!(row.all <= bound, "{}: {} thousandths from all", row.name, row.all);
    }
    let expected = table(&measured);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&expected), "docs/security.md differs from this table:\n{expected}");
}
