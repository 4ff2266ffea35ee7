//! Places of HTTP connections: at most a quarter for one site, idle connections before busy ones.
//!
//! A connection is idle before its request. One that a browser opens in advance, or a monitor that is slow, has a
//! second. On full places these give way, in this order: an idle connection older than that; if many are idle, one of the
//! network with most of them; one of the network with the most connections, if the new one's has fewer; an idle
//! one. Otherwise the new connection is refused, so a download does not end for another one of its own site.
//!
//! Invariant: no more than the maximum is open. Loopback addresses, e.g. of a reverse proxy, have no limit of a site.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::AbortHandle;

use super::http_counters::HttpCounters;
use crate::limits::{AddressKey, crowded};

/// Time after which a connection without a request gives way first.
const PATIENCE: Duration = Duration::from_secs(1);
/// Divisor of the places that gives those of one site.
const SITE_SHARE: usize = 4;
/// Divisor of the places above which idle connections count as a flood.
const IDLE_SHARE: usize = 8;
/// Minimum time between two warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);

/// An open connection.
struct OpenConnection {
    from: IpAddr,
    since: Instant,
    is_busy: Arc<AtomicBool>,
    task: AbortHandle,
}

impl OpenConnection {
    fn is_idle(&self) -> bool {
        !self.is_busy.load(Ordering::Relaxed)
    }
}

/// Reaction to a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    Accept,
    Replace(usize),
    Refuse,
}

/// Open connections, the oldest first.
pub(super) struct Places {
    open: Vec<OpenConnection>,
    max: usize,
    counters: HttpCounters,
    warned: Option<Instant>,
}

impl Places {
    /// At most `max` connections.
    pub(super) const fn new(max: usize, counters: HttpCounters) -> Self {
        Self { open: Vec::new(), max, counters, warned: None }
    }

    /// Makes room for a connection, and returns the mark of its first request. `None` if it is refused.
    pub(super) fn make_room(&mut self, from: IpAddr, now: Instant) -> Option<Arc<AtomicBool>> {
        self.open.retain(|place| !place.task.is_finished());
        match self.react(from, now) {
            Reaction::Accept => {}
            Reaction::Replace(at) => {
                let ended = self.open.remove(at);
                ended.task.abort();
                self.counters.count_displaced();
                self.warn(now, ended.from, "ended for a newer one");
            }
            Reaction::Refuse => {
                self.counters.count_refused_connection();
                self.warn(now, from, "refused");
                return None;
            }
        }
        Some(Arc::default())
    }

    /// Adds a connection that [`Self::make_room`] made room for.
    pub(super) fn add(
        &mut self,
        from: IpAddr,
        since: Instant,
        is_busy: Arc<AtomicBool>,
        task: AbortHandle,
    ) {
        self.open.push(OpenConnection { from, since, is_busy, task });
    }

    fn react(&self, from: IpAddr, now: Instant) -> Reaction {
        let site = AddressKey::site(from);
        let of_site = self.open.iter().filter(|place| AddressKey::site(place.from) == site);
        let is_local = from.to_canonical().is_loopback();
        if !is_local && of_site.count() >= (self.max / SITE_SHARE).max(1) {
            // Its own site gives way.
            let idle =
                |place: &OpenConnection| AddressKey::site(place.from) == site && place.is_idle();
            let at = self.open.iter().position(idle);
            return at.map_or(Reaction::Refuse, Reaction::Replace);
        }
        if self.open.len() < self.max {
            return Reaction::Accept;
        }
        let late = |place: &&OpenConnection| {
            place.is_idle() && now.duration_since(place.since) >= PATIENCE
        };
        let idle_count = self.open.iter().filter(|place| place.is_idle()).count();
        let is_flood = idle_count > self.max / IDLE_SHARE;
        self.of_crowd(None, late)
            .or_else(|| self.of_crowd(None, |place| is_flood && place.is_idle()))
            .or_else(|| self.of_crowd(Some(from), |_| true))
            .or_else(|| self.of_crowd(None, |place| place.is_idle()))
            .map_or(Reaction::Refuse, Reaction::Replace)
    }

    /// Connection that gives way among those that `selects` names.
    fn of_crowd(
        &self,
        newcomer: Option<IpAddr>,
        selects: impl Fn(&&OpenConnection) -> bool,
    ) -> Option<usize> {
        let selected: Vec<usize> =
            (0..self.open.len()).filter(|&at| selects(&&self.open[at])).collect();
        let at = crowded(newcomer, selected.iter().map(|&at| self.open[at].from))?;
        Some(selected[at])
    }

    fn warn(&mut self, now: Instant, from: IpAddr, what: &str) {
        if self.warned.is_none_or(|last| now.duration_since(last) >= WARNING_INTERVAL) {
            log::warn!("HTTP connection of {from} {what}: all places are taken");
            self.warned = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places with connections that never end by themselves.
    struct Fixture {
        places: Places,
        tasks: Vec<(String, tokio::task::JoinHandle<()>)>,
        start: Instant,
    }

    impl Fixture {
        fn new(max: usize) -> Self {
            let places = Places::new(max, HttpCounters::default());
            Self { places, tasks: Vec::new(), start: Instant::now() }
        }

        /// A new connection after `ms`, with its request.
        async fn connect(&mut self, from: &str, ms: u64, is_busy: bool) -> bool {
            let now = self.start + Duration::from_millis(ms);
            let ip = from.parse().expect("an address");
            let Some(mark) = self.places.make_room(ip, now) else { return false };
            mark.store(is_busy, Ordering::Relaxed);
            let task = tokio::spawn(std::future::pending::<()>());
            self.places.add(ip, now, mark, task.abort_handle());
            self.tasks.push((from.to_owned(), task));
            tokio::task::yield_now().await;
            true
        }

        fn alive(&self, from: &str) -> usize {
            let is_alive = |one: &&(String, tokio::task::JoinHandle<()>)| {
                one.0.starts_with(from) && !one.1.is_finished()
            };
            self.tasks.iter().filter(is_alive).count()
        }
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn address_with_most_connections_loses_its_oldest() {
        run(async {
            let mut fixture = Fixture::new(8);
            for number in 0..30 {
                let from = if number == 1 { "192.0.2.1" } else { "192.0.2.2" };
                assert!(fixture.connect(from, number, false).await);
            }
            assert_eq!((fixture.alive("192.0.2.1"), fixture.alive("192.0.2.2")), (1, 2));
            assert!(fixture.tasks[28..].iter().all(|(_, task)| !task.is_finished()));
        });
    }

    #[test]
    fn c41_idle_connections_of_ipv6_line_end_no_download() {
        run(async {
            let mut fixture = Fixture::new(128);
            assert!(fixture.connect("2001:db8:1::1", 0, true).await);
            for number in 0..1000u64 {
                let from = format!("2001:db8:2:{:x}::{number:x}", number % 256);
                fixture.connect(&from, number, false).await;
            }
            for number in 0..3000u64 {
                let from = format!("2001:db8:3:{:x}::{number:x}", number * 16);
                fixture.connect(&from, 1000 + number, false).await;
            }
            assert_eq!(fixture.alive("2001:db8:1:"), 1, "the download");
            assert!(fixture.alive("2001:db8:2:") <= 32, "a quarter for one site");
            assert!(fixture.connect("192.0.2.1", 5000, true).await, "another download");
            assert_eq!(fixture.places.open.len(), 128);
        });
    }

    #[test]
    fn c41_slow_readers_of_one_network_give_way() {
        run(async {
            let mut fixture = Fixture::new(128);
            for number in 0..1000u64 {
                let from = format!("2001:db8:2:{:x}::1", number * 64);
                fixture.connect(&from, number, true).await;
            }
            for number in 0..20u64 {
                let from = format!("2001:db8:{:x}::1", 100 + number);
                assert!(fixture.connect(&from, 2000 + number, number % 2 == 0).await);
            }
            assert_eq!(fixture.alive("2001:db8:2:"), 108);
            assert_eq!(fixture.alive("2001:db8:6") + fixture.alive("2001:db8:7"), 20);
        });
    }

    #[test]
    fn school_of_32_downloads_and_reads_pages() {
        run(async {
            let mut fixture = Fixture::new(128);
            for number in 0..32u64 {
                let from = format!("2001:db8:5:{number:x}::1");
                assert!(fixture.connect(&from, number, true).await);
            }
            assert_eq!(fixture.alive("2001:db8:5:"), 32);
            let more = fixture.connect("2001:db8:5:1::2", 99, true).await;
            assert!(!more && fixture.alive("2001:db8:5:") == 32, "no download ends for another");
            for number in 0..96 {
                assert!(fixture.connect("127.0.0.1", 100 + number, true).await, "a reverse proxy");
            }
        });
    }
}
