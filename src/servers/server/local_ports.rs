//! Local ports of a server: its own, and a second one that announces protocol 43.
//!
//! Browsers and masters of protocol 43 ignore a server that tells another number. Clients of every protocol may connect
//! to either port. Source: protocol 43, queries.

use crate::settings::{Settings, key};

/// Number of local ports.
pub(super) fn count(settings: &Settings) -> u16 {
    1 + u16::from(settings.int(key::NET_PORT43) != 0)
}
