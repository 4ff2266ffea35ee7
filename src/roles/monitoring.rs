//! What monitoring reads of a server: its counters and the loop's, copied once a second.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use fragd::{
    io::{Counters as LoopCounters, Progress, metrics},
    model::Millis,
    observe::{CONTENT_TYPE, Counters, Sample, Value, exposition},
    server::Server,
    settings::{Settings, key},
};

/// Time between two copies.
const INTERVAL: Millis = Millis::seconds(1);

/// The last copy.
#[derive(Clone, Debug, Default)]
struct Copy {
    server: Counters,
    engine: LoopCounters,
    players: i64,
    slots: i64,
}

impl Copy {
    fn of(server: &Server, engine: &LoopCounters) -> Self {
        Self {
            server: server.counters().clone(),
            engine: *engine,
            players: i64::try_from(server.active_clients()).unwrap_or(i64::MAX),
            slots: i64::from(server.settings().int(key::SV_MAXCLIENTS)),
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let engine = self.engine.rows().into_iter();
        let engine =
            engine.map(|(name, help, value)| Sample { name, help, value: Value::Counter(value) });
        let gauge = |name, help, value| Sample { name, help, value: Value::Gauge(value) };
        self.server
            .samples()
            .chain(engine)
            .chain([
                gauge("q3_players", "Players in the game.", self.players),
                gauge("q3_slots", "Players that there is room for.", self.slots),
            ])
            .collect()
    }
}

/// Serves the counters where the settings say. What is returned copies them while the loop runs.
pub(super) fn start(settings: &Settings) -> Result<Option<Progress<'static, Server>>, String> {
    let place = settings.text(key::SV_METRICS);
    if place.is_empty() {
        return Ok(None);
    }
    let address: SocketAddr = place.parse().map_err(|_| {
        format!("sv_metrics: \"{place}\" is no address and port, such as 127.0.0.1:9527")
    })?;
    let last = Arc::new(Mutex::new(Copy::default()));
    let shown = Arc::clone(&last);
    let render: metrics::Render = Arc::new(move || {
        let copy = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        exposition(copy.samples())
    });
    let bound = metrics::serve(address, CONTENT_TYPE, render)
        .map_err(|error| format!("sv_metrics: nothing can listen on {address}: {error}"))?;
    log::info!("serving counters on http://{bound}/metrics");
    if !bound.ip().is_loopback() {
        log::warn!("sv_metrics is not on loopback: whoever reaches {bound} may read the counters");
    }
    let call = move |server: &Server, _, engine: &LoopCounters| {
        // Somebody reads just now: then the next second's copy is as good.
        if let Ok(mut last) = last.try_lock() {
            *last = Copy::of(server, engine);
        }
    };
    Ok(Some(Progress { interval: INTERVAL, call: Box::new(call) }))
}
