//! Tests of the channel: fixtures of two ends.

mod links;
mod rules;
mod server;
mod timing;

use super::*;

const QPORT: Qport = Qport(0x1234);

fn client() -> Channel {
    Channel::new(End::Client(QPORT))
}

fn server() -> Channel {
    Channel::new(End::Server(QPORT))
}

/// A client and a server behind their first, ignored packet.
fn pair() -> (Channel, Channel) {
    (client().starting_at_one(), server())
}

fn transmit(from: &mut Channel, unreliable: &[u8], now: Millis) -> Vec<u8> {
    let mut out = Vec::new();
    from.transmit(unreliable, now, &mut out).unwrap();
    out
}

/// Sends a packet that arrives. Returns its payload.
fn deliver(from: &mut Channel, to: &mut Channel, unreliable: &[u8]) -> Vec<u8> {
    let datagram = transmit(from, unreliable, Millis(0));
    receive(to, &datagram, Millis(0)).unwrap()
}

fn receive(to: &mut Channel, datagram: &[u8], now: Millis) -> Result<Vec<u8>, DropReason> {
    let received = to.receive(datagram)?;
    to.commit(&received, now);
    Ok(received.payload.to_vec())
}
