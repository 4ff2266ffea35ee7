//! Tries of logins: limits per address and in total.
//!
//! An address has [`FREE_TRIES`] wrong tries. Then it is refused for [`REFUSAL_TIME`], also with the right secret, so that
//! guesses get no further. A right secret forgets none of them, since its owner may guess those of others. Connections are
//! proven, so that a forged address refuses no other client.
//! Invariant: the number of remembered addresses is bounded.

use std::{collections::BTreeMap, net::IpAddr};

use crate::{
    limits::{AddressKey, Bucket, BucketLimit},
    model::Millis,
};

/// Wrong tries of an address before it is refused.
const FREE_TRIES: u32 = 5;
/// Time for which an address is refused, and after which its wrong tries are forgotten.
const REFUSAL_TIME: Millis = Millis::seconds(300);
/// Maximum number of addresses with wrong tries; the oldest is evicted.
const MAX_SITES: usize = 256;
/// Tries of all addresses, since each delays the server.
const ALL_TRIES: BucketLimit = BucketLimit { burst: 20, period: Millis(500) };

/// Wrong tries by address.
#[derive(Debug, Default)]
pub(super) struct LoginTries {
    sites: BTreeMap<AddressKey, Tries>,
    all: Bucket,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    wrong: u32,
    last: Millis,
}

impl LoginTries {
    /// Checks whether a secret of an address is compared.
    ///
    /// # Errors
    /// Time for which the address is refused.
    pub(super) fn admit(&mut self, now: Millis, from: IpAddr) -> Result<(), Millis> {
        self.sites.retain(|_, tries| now.since(tries.last) < REFUSAL_TIME);
        if let Some(tries) = self.sites.get(&AddressKey::site(from))
            && tries.wrong >= FREE_TRIES
        {
            return Err(REFUSAL_TIME.since(now.since(tries.last)));
        }
        if self.all.allows(now, ALL_TRIES) { Ok(()) } else { Err(ALL_TRIES.period) }
    }

    /// Records a wrong secret. Returns the number of tries that the address has left.
    pub(super) fn record_wrong(&mut self, now: Millis, from: IpAddr) -> u32 {
        let site = AddressKey::site(from);
        if self.sites.len() >= MAX_SITES && !self.sites.contains_key(&site) {
            let oldest = self.sites.iter().min_by_key(|(site, tries)| (tries.last, **site));
            if let Some(oldest) = oldest.map(|(site, _)| *site) {
                self.sites.remove(&oldest);
            }
        }
        let tries = self.sites.entry(site).or_default();
        tries.wrong += 1;
        tries.last = now;
        FREE_TRIES.saturating_sub(tries.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_refused_after_five_tries() {
        let mut tries = LoginTries::default();
        let [from, other]: [IpAddr; 2] = ["192.0.2.1", "192.0.2.2"].map(|a| a.parse().unwrap());
        let at = Millis(1000);
        for left in (0..5).rev() {
            assert_eq!(tries.admit(at, from), Ok(()));
            assert_eq!(tries.record_wrong(at, from), left);
        }
        assert_eq!(tries.admit(at + Millis::seconds(60), from), Err(Millis::seconds(240)));
        assert_eq!(tries.admit(at, other), Ok(()));
        assert_eq!(tries.admit(at + REFUSAL_TIME, from), Ok(()), "refused for minutes only");
        assert_eq!(tries.record_wrong(at + REFUSAL_TIME, from), 4);
    }

    #[test]
    fn remembered_addresses_are_bounded() {
        let mut tries = LoginTries::default();
        for i in 0..2000u32 {
            tries.record_wrong(Millis(u64::from(i)), IpAddr::from(i.to_be_bytes()));
        }
        assert_eq!(tries.sites.len(), MAX_SITES);
        let admitted = |from: [u8; 4], tries: &mut LoginTries| tries.admit(Millis(1), from.into());
        let count = (0..100).filter(|&i| admitted([9, 9, 9, i], &mut tries).is_ok()).count();
        assert_eq!(count, 20, "tries of all addresses");
    }
}
