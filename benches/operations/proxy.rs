//! A proxy between 16 fighting bots and their server: one datagram in, decoded, and out.

use std::{cell::RefCell, hint::black_box, rc::Rc, sync::Arc};

use fragd::{
    bots::{Behavior, Behaviors, Bots, BotsOptions},
    client::Protocol,
    impairment::Impairment,
    model::Millis,
    node::{LocalPort, Node as _, NodeEvent, Observed, Observer, Route},
    proxy::{Proxy, ProxyOptions},
    sim::{Actor, Network},
    world::{Bsp, CollisionMap, TracePrecision},
};

use super::{Operation, bot_match_fixture, installed_maps};

/// Bots, which are all of one address.
const BOTS: u16 = 16;
/// Recorded time.
const SPAN: Millis = Millis::seconds(20);
const SERVER: usize = 0;
const PROXY: usize = 1;
/// A map and its file.
const MAP: &str = "oa_dm4";

type Input = (Millis, Route, Vec<u8>);

/// Records the datagrams that a node receives.
struct Recorder(Option<Rc<RefCell<Vec<Input>>>>);

impl Observer for Recorder {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        if let (Some(inputs), NodeEvent::Received(now, route, bytes)) = (&self.0, event) {
            inputs.borrow_mut().push((*now, *route, bytes.to_vec()));
        }
    }
}

pub(crate) fn operations() -> Vec<Operation> {
    let Some(file) = installed_maps::read("maps/oa_dm4.bsp") else { return Vec::new() };
    let inputs = record(&file);
    let bytes: usize = inputs.iter().map(|(_, _, bytes)| bytes.len()).sum();
    let size = format!("{} B", bytes / inputs.len());
    let count = inputs.len() as u64;
    let mut packet = Vec::new();
    let run = move |times: u64| {
        let mut left = times;
        while left > 0 {
            let mut proxy = new_proxy();
            for (now, route, bytes) in inputs.iter().take(left as usize) {
                proxy.handle_datagram(*now, *route, bytes);
                while proxy.poll_transmit(&mut packet).is_some() {
                    black_box(&packet);
                }
            }
            left = left.saturating_sub(inputs.len() as u64);
        }
    };
    vec![Operation {
        name: "proxy, datagram decoded and passed on".to_owned(),
        size,
        inputs: count,
        least: count,
        goes_on: false,
        prepare: Box::new(|_| {}),
        run: Box::new(run),
    }]
}

fn new_proxy() -> Proxy {
    Proxy::new(ProxyOptions::new(Network::address(SERVER, LocalPort(0))), 7, Millis(1000))
}

/// Runs a match through a proxy and returns its inputs.
fn record(file: &[u8]) -> Vec<Input> {
    let set = [("fraglimit", "0"), ("g_log", "")];
    let server = bot_match_fixture::server((MAP, file), 7, &set);
    let options = BotsOptions {
        joins_per_second: 16,
        behavior: Behaviors::default().with(Behavior::Wander).with(Behavior::Fight),
        ..BotsOptions::new(
            Network::address(PROXY, LocalPort(0)),
            Protocol::Q3_68,
            BOTS,
            SPAN + SPAN,
        )
    };
    let collision = CollisionMap::new(&Bsp::load(file).unwrap(), TracePrecision::Single).unwrap();
    let collision = Arc::new(collision);
    let find = Box::new(move |_: &str| Some(Arc::clone(&collision)));
    let bots = Bots::with_maps_and_meter(options, Millis(1000), Some(find), None);
    let inputs = Rc::new(RefCell::new(Vec::new()));
    let mut nodes = [
        Observed::new(Actor::Server(Box::new(server)), Recorder(None)),
        Observed::new(Actor::Proxy(Box::new(new_proxy())), Recorder(Some(Rc::clone(&inputs)))),
        Observed::new(Actor::Bots(Box::new(bots)), Recorder(None)),
    ];
    let mut network = Network::new(7, Impairment::latency(Millis(20)), Millis(1000));
    network.run_until(&mut nodes, Millis(1000) + SPAN, |_, _| {});
    assert!(nodes[SERVER].node().server().is_some_and(|server| server.active_clients() == 16));
    let inputs = inputs.take();
    assert!(inputs.len() > 5000, "{} datagrams", inputs.len());
    inputs
}
