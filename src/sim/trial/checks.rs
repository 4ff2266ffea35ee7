//! Checks after every step of a trial.

use super::{PlayerSlot, SERVER, rate};
use crate::{
    model::Millis,
    server::check_frame_ring,
    sim::{Actor, Network, rate_checker::RateChecker, snapshot_check::check_snapshots},
};

/// Interval between checks of the server's frame ring, which take longer than a step.
const RING_INTERVAL: Millis = Millis::seconds(1);

/// Checkers of a trial, with their counters.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) rate_checker: RateChecker,
    /// Whether datagrams may be truncated, so that clients may report protocol errors.
    pub(super) cuts: bool,
    /// Whether datagrams may arrive with other content than was sent.
    pub(super) damages: bool,
    pub(super) snapshots: u64,
    pub(super) forgotten: u64,
    pub(super) lines: u64,
    pub(super) failure: Option<(Millis, String)>,
    ring_due: Millis,
}

impl Checks {
    pub(super) fn step(
        &mut self,
        network: &mut Network,
        actors: &mut [Actor],
        slots: &mut [PlayerSlot],
    ) {
        if self.failure.is_none()
            && let Err(what) = self.check(network, actors, slots)
        {
            self.failure = Some((network.now(), what));
        }
    }

    fn check(
        &mut self,
        network: &mut Network,
        actors: &mut [Actor],
        slots: &mut [PlayerSlot],
    ) -> Result<(), String> {
        let now = network.now();
        for datagram in network.take_traced().filter(|datagram| !datagram.is_connectionless) {
            let Some((node, _)) = Network::owner(datagram.to) else { continue };
            if !self.damages && node > SERVER {
                self.rate_checker.add(&datagram, rate(node))?;
            }
        }
        let (server, players) = actors.split_at_mut(SERVER + 1);
        let server = server[SERVER].server().ok_or("there is no server")?;
        server.check_invariants()?;
        if now >= self.ring_due {
            self.ring_due = now + RING_INTERVAL;
            check_frame_ring(server)?;
        }
        for (place, (actor, slot)) in players.iter_mut().zip(slots).enumerate() {
            let Some(player) = actor.player() else { continue };
            // A player without a new datagram or frame is unchanged.
            if !player.take_updated() {
                continue;
            }
            player.client().check_invariants().map_err(|what| format!("player {place}: {what}"))?;
            if self.damages {
                player.seen.clear();
                player.heard.clear();
            }
            let taken = player.seen.len() as u64;
            let compared = check_snapshots(server, SERVER + 1 + place, player)
                .map_err(|what| format!("player {place}: {what}"))?;
            self.snapshots += compared;
            self.forgotten += taken - compared;
            for fault in player.faults.drain(..) {
                if !self.cuts {
                    return Err(format!("player {place}: {fault}"));
                }
                log::debug!("{now}: player {place}: {fault}");
            }
            if !player.heard.is_empty() {
                let (levels, heard) = (player.levels, &player.heard);
                log::trace!("{now}: player {place}, gamestate {levels}: {heard:?}");
            }
            let is_behind = player.client().server_id() != Some(server.server_id());
            let heard = player.heard.iter().map(String::as_str);
            self.lines += slot
                .command_order
                .check_all(player.levels, is_behind, heard)
                .map_err(|what| format!("player {place}: {what}"))?;
            player.heard.clear();
        }
        Ok(())
    }
}
