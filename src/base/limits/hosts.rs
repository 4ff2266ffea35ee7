//! Limit per host, with a share for ports that ask again.
//!
//! A forger who names a host takes the host's own share. A client of the host repeats its request from the same port: from
//! the second one on, a second after the first, the request has a share that other ports do not spend. So a forger has
//! to name the port, too.
//!
//! Invariants: all tables have a fixed size; a host gets at most twice its limit.

use std::net::SocketAddr;

use super::{AddressKey, AddressLimiter, BucketLimit, RETURN_TIME, ReturningSenders};
use crate::model::Millis;

/// Silence after which a port counts as new. Clients repeat a request within seconds, and a longer time would make the
/// random ports of a forger return.
const PORT_LIFE: Millis = Millis::seconds(15);

/// Requests of hosts, each with its ports.
#[derive(Debug)]
pub struct HostLimiter {
    hosts: AddressLimiter,
    ports: ReturningSenders,
    of_ports: AddressLimiter,
}

impl HostLimiter {
    /// Creates unspent limits. `seed` must be secret.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            hosts: AddressLimiter::new(seed),
            ports: ReturningSenders::new(seed ^ 0x9e37, PORT_LIFE),
            of_ports: AddressLimiter::new(seed ^ 0x79b9),
        }
    }

    /// Whether one more request of an address is allowed. `key` is the key of its host or site.
    pub fn allows(
        &mut self,
        now: Millis,
        from: SocketAddr,
        key: AddressKey,
        limit: BucketLimit,
    ) -> bool {
        let Self { hosts, ports, of_ports } = self;
        if hosts.allows(now, key, limit) {
            ports.record_admitted_again(now, from);
            return true;
        }
        ports.admits(now, from, RETURN_TIME, || of_ports.allows(now, key, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_that_asks_again_is_heard_beside_other_ports() {
        for (limit, per_second) in [
            (BucketLimit { burst: 100, period: Millis(10) }, 300),
            (BucketLimit { burst: 100, period: Millis(10) }, 1300),
            (BucketLimit { burst: 10, period: Millis(1000) }, 50),
        ] {
            let mut limiter = HostLimiter::new(3);
            let own: SocketAddr = ([192, 0, 2, 1], 64_000).into();
            let key = AddressKey::host(own.ip());
            let (mut forged, mut heard) = (0, Vec::new());
            for number in 0..30 * per_second {
                let now = Millis(number * 1000 / per_second);
                let port = 1024 + (number.wrapping_mul(7919) % 60_000) as u16;
                forged += u32::from(limiter.allows(now, (own.ip(), port).into(), key, limit));
                if now.0 >= 5000 + 3000 * heard.len() as u64 {
                    heard.push(limiter.allows(now, own, key, limit));
                }
            }
            assert!(heard.len() >= 8 && heard[1..].iter().all(|one| *one), "{heard:?}");
            let most = 2 * (limit.burst + 30 * (1000 / limit.period.0) as u32);
            assert!(forged <= most, "{forged} of {most}");
        }
    }
}
