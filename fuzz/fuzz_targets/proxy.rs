//! A proxy: datagrams of clients, of the server and of forged sources.
//!
//! The line is clear or impaired; sessions have addresses of their own or not; rcon is passed on or refused.
#![no_main]

use fragd::{
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, PortChange, Route},
    proxy::{Proxy, ProxyOptions, SessionNetwork},
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

const SESSIONS: u16 = 4;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let server = "192.0.2.1:27960".parse().expect("an address");
    let mut options = ProxyOptions::new(server);
    options.sessions = SESSIONS;
    if choice & 1 != 0 {
        let line = "latency=30ms,jitter=20ms,loss=5%,dup=5%,reorder=5%,corrupt=2%,cut=2%";
        options.uplink = line.parse().expect("an impairment");
        options.downlink = options.uplink;
    }
    let is_hosted = choice & 2 != 0;
    options.session_network = is_hosted.then_some(SessionNetwork::LOOPBACK);
    options.passes_rcon = choice & 4 != 0;
    let mut now = Millis(1000);
    let mut proxy = Proxy::new(options, 7, now);
    let mut open = vec![LocalPort(0)];
    let mut packet = Vec::new();
    for piece in pieces(data, 128) {
        let [choice, body @ ..] = piece else { continue };
        now = Millis(now.0 + [0, 20, 600, 30_000][usize::from(choice >> 6)]);
        let port = 20_000 + u16::from(choice >> 2 & 3);
        let client =
            format!("198.51.100.{}:{port}", 1 + (choice >> 4 & 1)).parse().expect("an address");
        match choice & 3 {
            0 => {
                proxy.handle_datagram(now, Route::new(LocalPort(0), client), body);
            }
            // The server at the port of a session, or of questions.
            1 => {
                let local = open[usize::from(choice >> 2 & 15) % open.len()];
                let remote = if local == LocalPort(0) { client } else { server };
                proxy.handle_datagram(now, Route::new(local, remote), body);
            }
            // Another address at that port.
            2 => {
                let local = open[usize::from(choice >> 2 & 15) % open.len()];
                proxy.handle_datagram(now, Route::new(local, client), body);
            }
            _ => proxy.handle_input(now, Input::ConsoleLine(&String::from_utf8_lossy(body))),
        }
        while proxy.next_frame() <= now && !proxy.is_finished() {
            proxy.frame(now);
        }
        while let Some(Output::PortChange(change)) = proxy.poll_output(OutputKind::PortChange) {
            match change {
                PortChange::Open { local, peer, source } => {
                    assert_eq!((peer, source.is_some()), (server, is_hosted && local.0 > 1));
                    open.push(local);
                }
                PortChange::Close(port) => open.retain(|known| *known != port),
            }
        }
        while let Some(route) = proxy.poll_transmit(&mut packet) {
            assert!(open.contains(&route.local), "a datagram leaves by an open port");
            assert!(packet.len() <= body.len().max(2048));
        }
        while proxy.poll_output(OutputKind::Console).is_some() {}
        assert!(proxy.sessions() <= usize::from(SESSIONS));
        if proxy.is_finished() {
            return;
        }
    }
});
