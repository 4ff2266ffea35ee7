//! CD-key authorization: asks a service about each client that requests a challenge.
//!
//! ```text
//! client ─ getchallenge ─ server ─ getIpAuthorize ─ service
//! client ─ challengeResponse or print ─ server ─ ipAuthorize ─ service
//! ```
//!
//! Off by default (`sv_authorizeServer`). Local and IPv6 clients are not asked about, as the protocol has IPv4
//! addresses only. Invariants: a verdict counts only from the service's address and with an open number of
//! ours; the table of open requests is bounded; a silent service locks out no client.
//! Source: Quake III protocol 68, authorization. Engine names: `SV_AuthorizeIpPacket`, `SV_GetChallenge`.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    hash::Hasher as _,
    net::{IpAddr, SocketAddr},
};

use siphasher::sip::SipHasher24;

use super::{client::ServerRole, host_name::HostName, lan::is_lan};
use crate::{
    discovery::services::{GetIpAuthorize, ServicePacket, Verdict},
    limits::{AddressKey, AddressLimiter, BucketLimit, SharedRequests},
    model::{Challenge, Millis, text},
    node::{Lookup, LookupAnswer, Route},
    observe::Counter,
    serving::connection::Connections,
    settings::{Choice as _, key},
    wire::connectionless::GetChallenge,
};

/// Port of a service whose setting names none.
const SERVICE_PORT: u16 = 27952;
/// Time after which a client joins without a verdict. It repeats its request every three seconds.
const SERVICE_SILENT: Millis = Millis(5000);
/// Time after which a request is forgotten.
const REQUEST_LIFE: Millis = Millis::seconds(30);
/// Requests about all clients. The service is a host of others, which a flood must not reach. Half of them are for clients
/// that ask again.
const REQUESTS_GLOBAL: BucketLimit = BucketLimit { burst: 50, period: Millis(20) };
/// Requests about one address.
const REQUESTS: BucketLimit = BucketLimit { burst: 4, period: Millis(1000) };
/// Open requests, more than the limits let accumulate in their life.
const REQUESTS_MAX: usize = 2048;
/// Longest reason that a client is shown, in bytes.
const REASON_MAX: usize = 200;

/// A request without a verdict.
#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    number: i32,
    client: Route,
    client_challenge: Option<Challenge>,
    /// Time of the client's first request and of the last one.
    first_at: Millis,
    last_at: Millis,
}

/// Answer to a request for a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// A challenge is sent now.
    Now,
    /// The service is asked, and its verdict decides.
    Deferred,
    /// Beyond a limit.
    Limited,
}

/// Requests to the authorization service.
pub(super) struct Authorizer {
    service: HostName,
    /// Open requests, the oldest first.
    open: VecDeque<OpenRequest>,
    /// Their numbers, so that a forged verdict costs one comparison.
    numbers: HashSet<i32>,
    requests: AddressLimiter,
    requests_global: SharedRequests,
    /// Key of the numbers of requests, and the count of them.
    key: u64,
    count: u64,
    /// Whether clients join without verdicts.
    is_silent: bool,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").field("service", &self.service).finish_non_exhaustive()
    }
}

impl Authorizer {
    /// `key` must come from the operating system's random source.
    pub(super) fn new(key: u64) -> Self {
        Self {
            service: HostName::default(),
            open: VecDeque::new(),
            numbers: HashSet::new(),
            requests: AddressLimiter::new(key),
            requests_global: SharedRequests::new(key ^ 1, REQUEST_LIFE),
            key,
            count: 0,
            is_silent: false,
        }
    }

    /// Returns the lookup of the service that is due.
    pub(super) fn poll_lookup(&mut self, now: Millis) -> Option<Lookup> {
        self.service.lookup_due(now)
    }

    /// Stores the answer to a lookup.
    pub(super) fn handle_lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        self.service.handle_lookup(now, "authorization service", answer);
    }

    /// IPv4 address of the service.
    fn address(&self) -> Option<SocketAddr> {
        self.service.addresses().iter().copied().find(SocketAddr::is_ipv4)
    }

    /// Sets the service that the setting names.
    fn set_service(&mut self, name: &str) {
        if self.service.name() != name {
            self.service = HostName::new(name, SERVICE_PORT);
            self.open.clear();
            self.numbers.clear();
            self.is_silent = false;
        }
    }

    /// Decides about a request for a challenge. Returns the number of the question to the service, if any.
    fn decide(
        &mut self,
        now: Millis,
        client: Route,
        client_challenge: Option<Challenge>,
    ) -> (Admission, Option<(SocketAddr, i32)>) {
        let Some(service) = self.address() else {
            // The client repeats its request while the first lookup runs.
            let has_failed = self.service.failure().is_some();
            return (if has_failed { Admission::Now } else { Admission::Limited }, None);
        };
        let host = AddressKey::host(client.remote.ip());
        if !self.requests.allows(now, host, REQUESTS) {
            return (Admission::Limited, None);
        }
        let decision = self.requests_global.decide(now, host, REQUESTS_GLOBAL);
        if !decision.is_allowed {
            // For the client, a service that is not asked is as silent as one that does not answer.
            let is_silent = decision.asks_for > SERVICE_SILENT;
            return (if is_silent { self.join_without() } else { Admission::Limited }, None);
        }
        let is_over = |one: &OpenRequest| now.since(one.last_at) >= REQUEST_LIFE;
        while self.open.front().is_some_and(is_over) || self.open.len() >= REQUESTS_MAX {
            self.remove(0);
        }
        let earlier = self.open.iter().position(|one| one.client == client);
        let earlier = earlier.and_then(|at| self.remove(at));
        let first_at = earlier.map_or(now, |one| one.first_at);
        if now.since(first_at) > SERVICE_SILENT {
            return (self.join_without(), None);
        }
        let number = self.next_number();
        self.numbers.insert(number);
        let last_at = now;
        self.open.push_back(OpenRequest { number, client, client_challenge, first_at, last_at });
        (Admission::Deferred, Some((service, number)))
    }

    /// Number that a forger cannot guess.
    fn next_number(&mut self) -> i32 {
        self.count += 1;
        let mut hasher = SipHasher24::new_with_keys(self.key, !self.key);
        hasher.write_u64(self.count);
        (hasher.finish() >> 33) as i32
    }

    /// Admits a client without a verdict.
    fn join_without(&mut self) -> Admission {
        if !std::mem::replace(&mut self.is_silent, true) {
            let name = self.service.name();
            log::warn!("authorization service {name} silent: clients join without it");
        }
        Admission::Now
    }

    /// Removes an open request.
    fn remove(&mut self, at: usize) -> Option<OpenRequest> {
        let request = self.open.remove(at)?;
        self.numbers.remove(&request.number);
        Some(request)
    }

    /// Takes the request that a verdict answers.
    fn take(&mut self, number: i32) -> Option<OpenRequest> {
        if !self.numbers.contains(&number) {
            return None;
        }
        let at = self.open.iter().position(|one| one.number == number)?;
        if std::mem::replace(&mut self.is_silent, false) {
            log::info!("authorization service {} answers again", self.service.name());
        }
        self.remove(at)
    }

    /// Asks the service about a client, if there is one for this client.
    pub(super) fn authorize(
        &mut self,
        connections: &mut Connections<'_, ServerRole>,
        route: Route,
        request: GetChallenge<'_>,
    ) -> Admission {
        let settings = connections.rates;
        let name = settings.text(key::SV_AUTHORIZE_SERVER).trim();
        self.set_service(name);
        let IpAddr::V4(ip) = route.remote.ip().to_canonical() else {
            return Admission::Now;
        };
        if name.is_empty() || is_lan(settings, route.remote) {
            return Admission::Now;
        }
        let (admission, question) = self.decide(connections.now, route, request.client_challenge);
        if let Some((remote, challenge)) = question {
            let folder = settings.text(key::FS_GAME);
            let base = settings.choice(key::GAME).name();
            let game = if folder.is_empty() { base } else { folder };
            let (address, strict) = (ip.to_string(), settings.flag(key::SV_STRICT_AUTH));
            let question = GetIpAuthorize {
                challenge,
                address: address.as_str().into(),
                game: game.into(),
                strict,
            };
            connections.answer(Route::new(route.local, remote), |out| {
                ServicePacket::GetIpAuthorize(question).write(out);
            });
            connections.stats.bump(Counter::AuthorizationsAsked);
        }
        admission
    }

    /// Handles a datagram of the service: a client that it accepts is `admitted`. Returns false for any other datagram.
    pub(super) fn handle_verdict(
        &mut self,
        connections: &mut Connections<'_, ServerRole>,
        route: Route,
        datagram: &[u8],
        admitted: impl FnOnce(&mut Connections<'_, ServerRole>, Route, Option<Challenge>),
    ) -> bool {
        if self.address() != Some(route.remote) {
            return false;
        }
        let Ok(ServicePacket::IpAuthorize(response)) = ServicePacket::parse(datagram) else {
            return false;
        };
        let Some(request) = self.take(response.challenge) else { return false };
        let default = match response.verdict {
            Verdict::Accept => {
                connections.stats.bump(Counter::AuthorizationsAccepted);
                admitted(connections, request.client, request.client_challenge);
                return true;
            }
            Verdict::Demo => "Server is not a demo server",
            Verdict::Unknown => "Awaiting CD key authorization",
            Verdict::Deny(_) => "Someone is using this CD Key",
        };
        connections.stats.bump(Counter::AuthorizationsRefused);
        let reason = response.reason.to_string();
        let is_own = response.verdict != Verdict::Demo && !reason.is_empty();
        let shown = if is_own { text::truncated(&reason, REASON_MAX) } else { default };
        connections.send_rejection(request.client, &format!("{shown}\n"));
        true
    }
}
