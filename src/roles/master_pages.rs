//! Web pages of a master: its list as a page and as JSON, and its counters.
//!
//! The event loop hands over a copy of the list after changes, and each request renders the copy.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use super::{health::Health, monitoring::ProcessFigures};
use fragd::{
    io::pages::{self, Page, Render},
    master::{self, Master, ServerRow},
    model::Millis,
    node::Hosted as _,
    observe::{CONTENT_TYPE, Sample, exposition},
};

/// Time between two copies.
pub(super) const INTERVAL: Millis = Millis::seconds(1);

/// Copy that the pages show.
#[derive(Debug, Default)]
struct Copied {
    rows: Arc<[ServerRow]>,
    samples: Vec<Sample>,
}

/// Web pages that are served.
pub(super) struct MasterPages {
    copied: Arc<Mutex<Copied>>,
    /// Count of changes of the copied list; `None` before the first copy.
    changes: Option<u64>,
    health: Health,
}

impl MasterPages {
    /// Starts the listener.
    pub(super) fn start(address: SocketAddr) -> Result<Self, String> {
        let copied = Arc::<Mutex<Copied>>::default();
        let page = |path, content_type, render| Page { path, content_type, render };
        let list = |render: fn(&[ServerRow], &str) -> String| -> Render {
            let shown = Arc::clone(&copied);
            Arc::new(move |query| {
                // Rendered without the lock, so that the event loop can copy meanwhile.
                let rows = shown.lock().unwrap_or_else(PoisonError::into_inner).rows.clone();
                render(&rows, query).into()
            })
        };
        let shown = Arc::clone(&copied);
        let process = ProcessFigures::new();
        let counters: Render = Arc::new(move |_| {
            let mut samples = shown.lock().unwrap_or_else(PoisonError::into_inner).samples.clone();
            samples.extend(process.samples());
            exposition(samples).into()
        });
        let health = Health::default();
        let mut pages = vec![
            page("/", "text/html; charset=utf-8", list(master::page)),
            page("/servers.json", "application/json", list(master::json)),
            page("/metrics", CONTENT_TYPE, counters),
        ];
        pages.extend(health.pages());
        let bound = pages::serve("pages", address, pages)
            .map_err(|error| format!("web page: cannot listen on {address}: {error}"))?;
        log::info!("serving the list on http://{bound}/");
        if !bound.ip().is_loopback() {
            log::warn!("web page not on loopback: any host that reaches {bound} can read the list");
        }
        Ok(Self { copied, changes: None, health })
    }

    /// Copies counters, and the list if it has changed.
    pub(super) fn update(&mut self, master: &Master, now: Millis) {
        self.health.report(&master.state().obstacles);
        // While a reader holds the lock, skip this copy. The next one follows in a second.
        let Ok(mut copied) = self.copied.try_lock() else { return };
        copied.samples.clear();
        copied.samples.extend(master.samples());
        if self.changes != Some(master.changes()) {
            self.changes = Some(master.changes());
            // Addresses behind the master's own NAT are not for the public.
            copied.rows = master.rows(now).map(|row| ServerRow { source: None, ..row }).collect();
        }
    }
}
