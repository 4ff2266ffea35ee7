//! Rate limit of the messages of one client.

use crate::{
    limits::{Bucket, BucketLimit},
    model::Millis,
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
    /// Whether a message is within the limits, from the client's own port or from another one.
    pub(crate) fn allows(&mut self, is_own_port: bool, now: Millis) -> bool {
        if is_own_port {
            self.own_port.allows(now, MESSAGES)
        } else {
            self.other_ports.allows(now, OTHER_PORT_MESSAGES)
        }
    }
}
