//! Fault rates of one phase of a trial, drawn from its seed.

use crate::{
    impairment::{Impairment, SeededRng},
    model::Millis,
};

/// Fault rates of one phase. A rate is the share of moments with the event, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRates {
    /// Impairment of all datagrams.
    pub impairment: Impairment,
    /// Rate of NAT rebindings.
    pub rebinds: u32,
    /// Rate of server stalls.
    pub server_stalls: u32,
    /// Rate of player stalls.
    pub player_stalls: u32,
    /// Rate of forward jumps of the server's clock.
    pub server_jumps: u32,
    /// Rate of forward jumps of a player's clock.
    pub player_jumps: u32,
    /// Rate of players that leave, by disconnecting or by silence.
    pub leaves: u32,
    /// Rate of map changes and restarts.
    pub maps: u32,
    /// Rate of query and random datagram floods.
    pub floods: u32,
    /// Rate of chat lines.
    pub talk: u32,
    /// Rate of steps of the server's calendar.
    pub calendar_steps: u32,
}

impl FaultRates {
    /// Returns the rates of a trial without faults: chat, joins, leaves and map changes.
    #[must_use]
    pub fn calm() -> Self {
        let impairment = Impairment::latency(Millis(20));
        Self { impairment, leaves: 3, maps: 1, talk: 100, ..Self::default() }
    }

    /// Draws the rates of a phase. Each kind is present or absent, so that all combinations occur.
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
            calendar_steps: share(10),
            talk: 300,
            ..Self::default()
        };
        // The protocol does not detect flipped bits, so phases with them have fewer checks.
        if rng.chance(200) {
            impairment.corruption = 1 + rng.below(40) as u32;
        }
        rates.impairment = impairment;
        rates
    }

    /// Whether datagrams may arrive with other content than was sent.
    #[must_use]
    pub fn damages(&self) -> bool {
        self.impairment.corruption > 0
    }

    /// Whether a player may receive an invalid message.
    #[must_use]
    pub fn cuts(&self) -> bool {
        self.impairment.truncation > 0 || self.damages()
    }
}
