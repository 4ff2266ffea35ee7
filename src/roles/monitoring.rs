//! Metrics of a server, copied once per second for the HTTP endpoint.

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
    let setting = settings.text(key::SV_METRICS);
    if setting.is_empty() {
        return Ok(None);
    }
    let address: SocketAddr = setting.parse().map_err(|_| {
        format!("sv_metrics: invalid address \"{setting}\" (expected e.g. 127.0.0.1:9527)")
    })?;
    let last = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let (shown, http) = (Arc::clone(&last), http.clone());
    let render: pages::Render = Arc::new(move |_| {
        let mut copy = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        copy.extend(http.rows().map(|(name, help, value)| Sample {
            name,
            help,
            value: Value::Counter(value),
        }));
        exposition(copy)
    });
    let page = pages::Page { path: "/metrics", content_type: CONTENT_TYPE, render };
    let bound = pages::serve("metrics", address, vec![page])
        .map_err(|error| format!("sv_metrics: cannot listen on {address}: {error}"))?;
    log::info!("serving counters on http://{bound}/metrics");
    if !bound.ip().is_loopback() {
        log::warn!(
            "sv_metrics is not on loopback: any host that reaches {bound} can read the counters"
        );
    }
    let call = move |server: &Server, _, _: &_| {
        // While a reader holds the lock, skip this copy. The next one follows in a second.
        if let Ok(mut last) = last.try_lock() {
            last.clear();
            last.extend(server.samples());
        }
    };
    Ok(Some(Progress { interval: INTERVAL, call: Box::new(call) }))
}
