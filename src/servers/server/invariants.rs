//! Invariant checks of the server, and accessors for simulations.

use std::net::{IpAddr, SocketAddr};

use super::{client::ClientState, schedule::frame_length, state::Server};
use crate::{
    game::EntityView,
    model::{
        Challenge, ClientNum, EntityNum, LevelTime, Millis, Qport, ServerId,
        limits::{MAX_CLIENTS, MAX_RELIABLE_COMMANDS},
    },
    settings::key,
};

/// Maximum number of pending commands: texts, and each configstring once.
const MAX_PENDING: usize = 256 + 1024;

/// Checks that the newest frame of a server has the entities of its game. Valid only after a frame, before the
/// next datagram.
///
/// # Errors
/// The first entity that differs.
pub fn check_newest_frame(server: &Server) -> Result<(), String> {
    server.core.frames.check_newest(&*server.game)
}

/// Checks every frame of the frame ring.
///
/// # Errors
/// The first violated invariant.
pub fn check_frame_ring(server: &Server) -> Result<(), String> {
    server.core.frames.ring().check_invariants()
}

impl Server {
    /// Checks client slots, command queues and channels. Valid between any two calls.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), String> {
        let core = &self.core;
        // Slots are freed by frames. The last one ran less than a frame before the next one is due,
        // even if the clock has advanced since.
        let frame_due = self.due.unwrap_or_default();
        let linger = Millis::seconds(core.settings.int(key::SV_ZOMBIETIME).max(0) as u64)
            + frame_length(&core.settings);
        let mut known = [(0, 0, 0); MAX_CLIENTS];
        let mut count = 0;
        core.clients.check_invariants()?;
        for (number, client) in core.clients.iter() {
            let outstanding = client.queue.commands.outstanding();
            if outstanding > MAX_RELIABLE_COMMANDS + 1 {
                return Err(format!("client {number} has {outstanding} unacknowledged commands"));
            }
            let waiting = client.queue.pending();
            if waiting > MAX_PENDING {
                return Err(format!("client {number} has {waiting} pending commands"));
            }
            if let ClientState::Zombie(zombie) = &client.state {
                let since = zombie.since;
                if frame_due.since(since) > linger {
                    return Err(format!(
                        "client {number} is a zombie since {since}, the next frame is due at {frame_due}"
                    ));
                }
                continue;
            }
            known[count] = sortable(client.remote.address(), client.remote.qport());
            count += 1;
            let last_sent = client.channel.last_sent();
            if let ClientState::Active(active) = &client.state
                && let Some(base) = active.delta_request
                && base.distance(last_sent) > 0
            {
                return Err(format!(
                    "client {number} reports snapshot {base}, but {last_sent} was sent last"
                ));
            }
        }
        let known = &mut known[..count];
        known.sort_unstable();
        if let Some(pair) = known.windows(2).find(|pair| pair[0] == pair[1]) {
            let (ip, port, qport) = pair[0];
            return Err(format!("address {ip:x} port {port} qport {qport} has two slots"));
        }
        let frame = core.frames.ring().frame(core.frames.newest()).unwrap_or(&[]);
        if frame.len() > EntityNum::all().count() {
            return Err(format!("{} entities in a frame", frame.len()));
        }
        Ok(())
    }

    /// Address and qport of a client; `None` for a free slot or a zombie.
    #[must_use]
    pub fn peer(&self, number: ClientNum) -> Option<(SocketAddr, Qport)> {
        let client = self.core.clients.get(number).filter(|client| !client.is_zombie())?;
        Some((client.remote.address(), client.remote.qport()))
    }

    /// Whether a client other than a zombie connected from that host with that challenge.
    #[must_use]
    pub fn knows(&self, host: IpAddr, challenge: Challenge) -> bool {
        self.core.clients.present().any(|(_, client)| {
            client.remote.address().ip() == host && client.channel.challenge() == challenge
        })
    }

    /// Server id of the level in force.
    #[must_use]
    pub fn server_id(&self) -> ServerId {
        self.core.level.server_id
    }

    /// Level time.
    #[must_use]
    pub fn level_time(&self) -> LevelTime {
        self.core.level.time
    }

    /// Number of slots in use, including zombies.
    #[must_use]
    pub fn used_slots(&self) -> usize {
        self.core.clients.len()
    }
}

/// Address, port and qport as numbers to sort by.
fn sortable(address: SocketAddr, qport: Qport) -> (u128, u16, u16) {
    let ip = match address.ip() {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    };
    (ip, address.port(), qport.0)
}

/// Entity of a server's game; `None` for a number that is not in use.
#[must_use]
pub fn entity_of(server: &Server, number: EntityNum) -> Option<EntityView<'_>> {
    if number.index() >= server.game.entity_count() {
        return None;
    }
    server.game.entity(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::{Flight, Game, Ruleset},
        model::{Sequence, UserCmd, assets::MemoryAssets},
        netchan::PeerAddress,
        node::{Hosted as _, Input, Node as _},
        server::{client::Client, core::Core},
        settings::Settings,
        wire::Protocol,
    };

    /// Checks a server with two clients after `change`.
    fn check(change: fn(&mut Core, [ClientNum; 2])) -> Result<(), String> {
        let (mut server, numbers) = server();
        change(&mut server.core, numbers);
        server.check_invariants().and_then(|()| check_frame_ring(&server))
    }

    /// A server with two clients.
    fn server() -> (Server, [ClientNum; 2]) {
        let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Flight::new(Ruleset::BASEOA)) });
        let assets = Box::new(MemoryAssets::default());
        let mut server = Server::new(Settings::default(), assets, rules, [1; 32]);
        let numbers = [0, 5].map(|number| ClientNum::new(number).unwrap());
        for (number, port) in numbers.into_iter().zip(27960..) {
            let address = ([192, 0, 2, 1], port).into();
            let client = Client::new(
                PeerAddress::new(address, Qport(7)),
                Challenge(1),
                Protocol::OA_71,
                false,
                Millis(0),
            );
            server.core.clients.put(number, client);
        }
        (server, numbers)
    }

    #[test]
    fn violated_invariants_are_reported() {
        assert_eq!(check(|_, _| {}), Ok(()));
        let twice = |core: &mut Core, [a, b]: [ClientNum; 2]| {
            let address = core.clients.get(a).unwrap().remote.address();
            let client = Client::new(
                PeerAddress::new(address, Qport(7)),
                Challenge(2),
                Protocol::OA_71,
                false,
                Millis(0),
            );
            core.clients.put(b, client);
        };
        assert_eq!(
            check(twice),
            Err("address c0000201 port 27960 qport 7 has two slots".to_owned())
        );
        let ahead = |core: &mut Core, [_, b]: [ClientNum; 2]| {
            let client = core.clients.get_mut(b).unwrap();
            client.prime(Millis(0));
            client.enter(UserCmd::default());
            let ClientState::Active(active) = &mut client.state else { panic!("in the game") };
            active.delta_request = Some(Sequence(3));
        };
        assert_eq!(
            check(ahead),
            Err("client 5 reports snapshot 3, but 0 was sent last".to_owned())
        );
    }

    fn zombie(since_ms: u64) -> ClientState {
        ClientState::Zombie(crate::serving::connection::Zombie {
            since: Millis(since_ms),
            last_at: None,
        })
    }

    #[test]
    fn zombie_beyond_its_time_is_reported_after_a_frame() {
        let (mut server, [a, _]) = server();
        server.frame(Millis(0));
        server.core.clients.get_mut(a).unwrap().state = zombie(10);
        // A console line arrives after a stall, before the frame that is due.
        server.handle_input(Millis::seconds(30), Input::ConsoleLine(""));
        assert_eq!(server.check_invariants(), Ok(()));
        server.frame(Millis::seconds(30));
        assert!(server.core.clients.get(a).is_none(), "the frame frees the slot");

        let (mut server, [a, _]) = self::server();
        server.frame(Millis(1000));
        server.core.clients.get_mut(a).unwrap().state = zombie(1010);
        server.frame(Millis(3000));
        assert_eq!(server.check_invariants(), Ok(()), "a zombie may stay for 2 s");
        // A zombie that no frame has freed.
        server.frame(Millis(3050));
        let client = Client::new(
            PeerAddress::new(([192, 0, 2, 1], 1).into(), Qport(7)),
            Challenge(1),
            Protocol::OA_71,
            false,
            Millis(0),
        );
        server.core.clients.put(a, client);
        server.core.clients.get_mut(a).unwrap().state = zombie(1010);
        assert_eq!(
            server.check_invariants(),
            Err("client 0 is a zombie since 1010 ms, the next frame is due at 3100 ms".to_owned())
        );
    }
}
