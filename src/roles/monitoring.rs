//! Metrics of a node, copied once per second for the HTTP endpoint.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use fragd::{
    io::{HttpCounters, Progress, pages},
    model::Millis,
    observe::{CONTENT_TYPE, Sample, Value, exposition},
    server::Server,
    settings::{Settings, key},
};

/// Time between two copies.
const INTERVAL: Millis = Millis::seconds(1);

/// Starts the metrics endpoint that the settings name. The returned callback copies the counters.
pub(super) fn start(
    settings: &Settings,
    http: &HttpCounters,
) -> Result<Option<Progress<'static, Server>>, String> {
    let Some(address) = settings.endpoint(key::SV_METRICS) else { return Ok(None) };
    let http = http.clone();
    let more = move || {
        let row = |(name, help, value)| Sample { name, help, value: Value::Counter(value) };
        http.rows().map(row).to_vec()
    };
    let sample = |server: &Server, samples: &mut Vec<_>| samples.extend(server.samples());
    serve("sv_metrics", address, more, sample).map(Some)
}

/// Starts the metrics endpoint of a node. The returned callback copies its counters.
///
/// `option` names the address in errors. `more` are counters outside the node.
pub(super) fn serve<N: 'static>(
    option: &str,
    address: SocketAddr,
    more: impl Fn() -> Vec<Sample> + Send + Sync + 'static,
    sample: fn(&N, &mut Vec<Sample>),
) -> Result<Progress<'static, N>, String> {
    let last = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let shown = Arc::clone(&last);
    let render: pages::Render = Arc::new(move |_| {
        let mut copy = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        copy.extend(more());
        exposition(copy)
    });
    let page = pages::Page { path: "/metrics", content_type: CONTENT_TYPE, render };
    let bound = pages::serve("metrics", address, vec![page])
        .map_err(|error| format!("{option}: cannot listen on {address}: {error}"))?;
    log::info!("serving counters on http://{bound}/metrics");
    if !bound.ip().is_loopback() {
        log::warn!(
            "{option} is not on loopback: any host that reaches {bound} can read the counters"
        );
    }
    let call = move |node: &N, _, _: &_| {
        // While a reader holds the lock, skip this copy. The next one follows in a second.
        if let Ok(mut last) = last.try_lock() {
            last.clear();
            sample(node, &mut last);
        }
    };
    Ok(Progress { interval: INTERVAL, call: Box::new(call) })
}
