//! Quality of connections: ping and loss of every client in the game, once a second.

use super::client::{Client, ClientSlots};
use crate::{
    model::{Millis, Sequence},
    observe::{Distribution, Sample, Value},
};

/// Time between two looks at the clients.
const INTERVAL: Millis = Millis::seconds(1);
/// Bounds of pings, in microseconds.
const PINGS: [u64; 11] = [
    10_000, 20_000, 35_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 500_000, 1_000_000,
];
/// Bounds of losses, in millionths.
const LOSSES: [u64; 7] = [0, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000];

/// Pings and losses since the start.
#[derive(Debug)]
pub(super) struct Quality {
    due: Millis,
    pings: Distribution<11>,
    losses: Distribution<7>,
}

/// Messages of a client at the last look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenMessages {
    last: Sequence,
    lost: u64,
}

impl Default for Quality {
    fn default() -> Self {
        let (pings, losses) = (Distribution::new(&PINGS), Distribution::new(&LOSSES));
        Self { due: Millis(0), pings, losses }
    }
}

impl Quality {
    /// Records all clients, if a second has passed.
    pub(super) fn record(&mut self, now: Millis, clients: &mut ClientSlots) {
        if now < self.due {
            return;
        }
        self.due = now + INTERVAL;
        for (_, client) in clients.iter_mut().filter(|(_, client)| client.is_active()) {
            self.pings.record(u64::from(client.ping_ms().unsigned_abs()) * 1000);
            if let Some(loss) = take_loss(client) {
                self.losses.record(loss);
            }
        }
    }

    /// Distributions for monitoring.
    pub(super) fn samples(&self) -> [Sample; 2] {
        [
            Sample {
                name: "q3_client_ping_seconds".into(),
                help: "Pings of clients in the game, each once a second.",
                value: Value::Histogram(self.pings.histogram()),
            },
            Sample {
                name: "q3_client_loss_ratio".into(),
                help: "Lost part of the messages of a client in the game, each once a second.",
                value: Value::Histogram(self.losses.histogram()),
            },
        ]
    }
}

/// Returns the lost part of the messages since the last look, in millionths; `None` if there is none.
fn take_loss(client: &mut Client) -> Option<u64> {
    let seen = SeenMessages { last: client.channel.last_received(), lost: client.channel.lost() };
    let before = std::mem::replace(&mut client.own.seen, seen);
    let sent = u64::try_from(seen.last.distance(before.last)).ok().filter(|&sent| sent > 0)?;
    Some(seen.lost.saturating_sub(before.lost).min(sent) * 1_000_000 / sent)
}
