//! Fault rates of one phase of a trial, drawn from its seed.

use crate::{
    impairment::{Impairment, SeededRng},
    model::Millis,
};

/// One stretch's faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRates {
    /// What happens to datagrams.
    pub impairment: Impairment,
    /// Of a thousand moments, how many bring the event.
    pub rebinds: u32,
    /// As above: the server's machine stalls.
    pub server_stalls: u32,
    /// As above: a player's machine stalls.
    pub player_stalls: u32,
    /// As above: the server's clock jumps ahead.
    pub server_jumps: u32,
    /// As above: a player's clock jumps ahead.
    pub player_jumps: u32,
    /// As above: a player leaves, politely or not.
    pub leaves: u32,
    /// As above: another map, or the same anew.
    pub maps: u32,
    /// As above: strangers send queries and rubbish.
    pub floods: u32,
    /// As above: somebody says something.
    pub talk: u32,
}

impl FaultRates {
    /// Nothing goes wrong; people talk, come and go.
    #[must_use]
    pub fn calm() -> Self {
        let impairment = Impairment::latency(Millis(20));
        Self { impairment, leaves: 3, maps: 1, talk: 100, ..Self::default() }
    }

    /// Draws the faults of a stretch. Each kind is there or not, so that they meet in all ways.
    #[must_use]
    pub fn draw(rng: &mut SeededRng) -> Self {
        let latency = Millis(rng.below(150));
        let mut share = |most: u64| if rng.chance(500) { rng.below(most) as u32 } else { 0 };
        let mut impairment = Impairment {
            jitter: Millis(u64::from(share(100))),
            loss: share(200),
            duplication: share(150),
            reordering: share(150),
            truncation: share(60),
            ..Impairment::latency(latency)
        };
        let mut rates = Self {
            rebinds: share(30),
            server_stalls: share(20),
            player_stalls: share(40),
            server_jumps: share(15),
            player_jumps: share(30),
            leaves: share(50),
            maps: share(25),
            floods: share(60),
            talk: 300,
            ..Self::default()
        };
        // Nothing in the protocol notices a flipped bit, so such stretches ask for less.
        if rng.chance(200) {
            impairment.corruption = 1 + rng.below(40) as u32;
        }
        rates.impairment = impairment;
        rates
    }

    /// Whether what arrives may be something else than what was sent.
    #[must_use]
    pub fn damages(&self) -> bool {
        self.impairment.corruption > 0
    }

    /// Whether a player may be sent what it cannot read.
    #[must_use]
    pub fn cuts(&self) -> bool {
        self.impairment.truncation > 0 || self.damages()
    }
}
