//! Rate limit of the messages of one client.

use crate::{
    limits::{Bucket, BucketLimit},
    model::Millis,
    netchan::PeerAddress,
    node::Route,
};

/// Messages of one client: 500 a second, four times what a client at 125 frames a second sends.
const MESSAGES: BucketLimit = BucketLimit { burst: 64, period: Millis(2) };
/// Messages from another port than the client's, which may be forged.
const OTHER_PORT_MESSAGES: BucketLimit = BucketLimit { burst: 8, period: Millis(100) };

/// Buckets of one client. Forged messages do not use up its own share.
#[derive(Debug, Default)]
pub(crate) struct MessageLimit {
    own_port: Bucket,
    other_ports: Bucket,
}

impl MessageLimit {
    /// Whether a message of the client at `remote` is within its limits.
    pub(crate) fn allows(&mut self, remote: &PeerAddress, route: Route, now: Millis) -> bool {
        if remote.address().port() == route.remote.port() {
            self.own_port.allows(now, MESSAGES)
        } else {
            self.other_ports.allows(now, OTHER_PORT_MESSAGES)
        }
    }
}
