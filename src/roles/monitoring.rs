//! What monitoring reads of a server: all its numbers, copied once a second.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use fragd::{
    io::{Progress, metrics},
    model::Millis,
    observe::{CONTENT_TYPE, Sample, exposition},
    server::Server,
    settings::{Settings, key},
};

/// Time between two copies.
const INTERVAL: Millis = Millis::seconds(1);

/// Serves the counters where the settings say. What is returned copies them while the loop runs.
pub(super) fn start(settings: &Settings) -> Result<Option<Progress<'static, Server>>, String> {
    let place = settings.text(key::SV_METRICS);
    if place.is_empty() {
        return Ok(None);
    }
    let address: SocketAddr = place.parse().map_err(|_| {
        format!("sv_metrics: \"{place}\" is no address and port, such as 127.0.0.1:9527")
    })?;
    let last = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let shown = Arc::clone(&last);
    let render: metrics::Render = Arc::new(move || {
        let copy = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        exposition(copy)
    });
    let bound = metrics::serve(address, CONTENT_TYPE, render)
        .map_err(|error| format!("sv_metrics: nothing can listen on {address}: {error}"))?;
    log::info!("serving counters on http://{bound}/metrics");
    if !bound.ip().is_loopback() {
        log::warn!(
            "sv_metrics is not on loopback: any host that reaches {bound} can read the counters"
        );
    }
    let call = move |server: &Server, _, _: &_| {
        // Somebody reads just now: then the next second's copy is as good.
        if let Ok(mut last) = last.try_lock() {
            last.clear();
            last.extend(server.samples());
        }
    };
    Ok(Some(Progress { interval: INTERVAL, call: Box::new(call) }))
}
