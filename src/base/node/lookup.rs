//! Name lookup: the question of a node for the addresses of a host, and its answer.
//!
//! The driver answers in a later call, because a name service may take seconds.

use std::net::SocketAddr;

/// Question for the addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Name as `host` or `host:port`.
    pub name: String,
    /// Port of a name without one.
    pub default_port: u16,
}

/// Answer to a [`Lookup`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupAnswer {
    /// The question.
    pub lookup: Lookup,
    /// Canonical addresses, at most one of each family, or the reason why there is none.
    pub found: Result<Vec<SocketAddr>, String>,
}
