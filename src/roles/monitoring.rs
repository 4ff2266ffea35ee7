//! Metrics of a node, copied once per second for the HTTP endpoint.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use super::{health::Health, reload::ReloadCounters};
use fragd::{
    io::{self, HttpCounters, Processes, Progress, pages},
    model::Millis,
    node::{Hosted, Observed, Observer},
    observe::{CONTENT_TYPE, Sample, Value, exposition},
    proxy::Proxy,
    qwserver::QwServer,
    server::Server,
    settings::{Settings, key},
};

/// Node whose counters and health are served.
pub(super) trait Monitored: Hosted + 'static {
    /// Counters and gauges.
    fn copy_samples(&self, samples: &mut Vec<Sample>);
}

impl Monitored for Server {
    fn copy_samples(&self, samples: &mut Vec<Sample>) {
        samples.extend(self.samples());
    }
}

impl Monitored for QwServer {
    fn copy_samples(&self, samples: &mut Vec<Sample>) {
        samples.extend(self.samples());
    }
}

impl Monitored for Proxy {
    fn copy_samples(&self, samples: &mut Vec<Sample>) {
        samples.extend(self.samples());
    }
}

impl<N: Monitored, O: Observer + 'static> Monitored for Observed<N, O> {
    fn copy_samples(&self, samples: &mut Vec<Sample>) {
        self.node().copy_samples(samples);
    }
}

/// Time between two copies.
const INTERVAL: Millis = Millis::seconds(1);

/// Figures of the process, which are the same for every role.
pub(super) struct ProcessFigures {
    processes: Mutex<Processes>,
    began_unix_s: u64,
}

impl ProcessFigures {
    /// Starts to count the time of the process.
    pub(super) fn new() -> Self {
        Self { processes: Mutex::default(), began_unix_s: io::unix_millis() / 1000 }
    }

    /// Returns the figures under the names that Prometheus libraries use, and the version.
    pub(super) fn samples(&self) -> Vec<Sample> {
        let sample = |name: &'static str, help, value| Sample { name: name.into(), help, value };
        let gauge = |name, help, value: u64| {
            sample(name, help, Value::Gauge(i64::try_from(value).unwrap_or(i64::MAX)))
        };
        let now_s = io::unix_millis() / 1000;
        let mut samples = vec![
            gauge(BUILD_INFO, "Version of the program.", 1),
            gauge(
                "q3_uptime_seconds",
                "Time since the start.",
                now_s.saturating_sub(self.began_unix_s),
            ),
            gauge(
                "process_start_time_seconds",
                "Start of the process, in seconds since 1970.",
                self.began_unix_s,
            ),
        ];
        let used = self.processes.lock().unwrap_or_else(PoisonError::into_inner).used(None);
        if let Some(used) = used {
            samples.extend([
                sample(
                    "process_cpu_seconds_total",
                    "CPU time in user and kernel mode.",
                    Value::Duration(used.cpu_us),
                ),
                gauge("process_resident_memory_bytes", "Resident memory.", used.memory_bytes),
                gauge("process_virtual_memory_bytes", "Address space.", used.virtual_bytes),
            ]);
        }
        let (open, limit) = io::process::open_files();
        samples.extend(open.map(|count| gauge("process_open_fds", "Open files.", count)));
        samples.extend(limit.map(|count| gauge("process_max_fds", "Limit of open files.", count)));
        samples
    }
}

/// Name of the metric with the version.
const BUILD_INFO: &str = concat!("q3_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}");

/// Starts the metrics endpoint that the settings name. The returned callback copies the counters.
pub(super) fn start(
    settings: &Settings,
    http: &HttpCounters,
    reloads: ReloadCounters,
) -> Result<Option<Progress<'static, Server>>, String> {
    let Some(address) = settings.endpoint(key::SV_METRICS) else { return Ok(None) };
    let http = http.clone();
    let more = move || {
        let row = |(name, help, value): (&'static str, _, _)| Sample {
            name: name.into(),
            help,
            value: Value::Counter(value),
        };
        http.rows().map(row).into_iter().chain(reloads.samples()).collect()
    };
    serve("sv_metrics", address, more).map(Some)
}

/// Starts the metrics endpoint of a node. The returned callback copies its counters.
///
/// `option` names the address in errors. `more` are counters outside the node.
pub(super) fn serve<N: Monitored>(
    option: &str,
    address: SocketAddr,
    more: impl Fn() -> Vec<Sample> + Send + Sync + 'static,
) -> Result<Progress<'static, N>, String> {
    let last = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let shown = Arc::clone(&last);
    let process = ProcessFigures::new();
    let render: pages::Render = Arc::new(move |_| {
        let mut copy = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        copy.extend(more());
        copy.extend(process.samples());
        exposition(copy).into()
    });
    let health = Health::default();
    let mut all = vec![pages::Page { path: "/metrics", content_type: CONTENT_TYPE, render }];
    all.extend(health.pages());
    let bound = pages::serve("metrics", address, all)
        .map_err(|error| format!("{option}: cannot listen on {address}: {error}"))?;
    log::info!("serving counters on http://{bound}/metrics");
    if !bound.ip().is_loopback() {
        log::warn!(
            "{option} is not on loopback: any host that reaches {bound} can read the counters"
        );
    }
    let call = move |node: &N, _, _: &_| {
        health.report(&node.state().obstacles);
        // While a reader holds the lock, skip this copy. The next one follows in a second.
        if let Ok(mut last) = last.try_lock() {
            last.clear();
            node.copy_samples(&mut last);
        }
    };
    Ok(Progress { first: Millis(0), interval: INTERVAL, call: Box::new(call) })
}
