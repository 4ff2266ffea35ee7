//! Role without data, for unit tests of connections.

use std::net::SocketAddr;

use super::{Role, RoleData, SendRates};
use crate::serving::pacing::SendRate;

/// Role of a node that serves nothing.
#[derive(Debug)]
pub(crate) struct TestRole;

impl Role for TestRole {
    const NOUN: &'static str = "client";
    type Key = usize;
    type Data = ();
    type View = ();
    type Rates = ();
    type Tap = ();
}

impl RoleData for () {}

impl SendRates for () {
    fn limited(&self, requested: SendRate) -> u32 {
        requested.requested_bytes_per_sec.unsigned_abs()
    }

    fn is_unlimited(&self, _: SocketAddr) -> bool {
        false
    }
}
