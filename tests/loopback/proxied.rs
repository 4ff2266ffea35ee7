//! Clients of a proxy beside its server, with real processes: rcon and limits.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use fragd::wire::{connect::write_connect, info::InfoString};

use super::fixture::{PATIENCE, answer, oob, socket_at};

/// A process that ends with the test, and its log.
struct Program {
    child: Child,
    log: Option<thread::JoinHandle<String>>,
    port: u16,
}

impl Program {
    /// Starts a role and waits until it listens.
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
        command.args(arguments).env_remove("RUST_LOG").env_remove("FRAGD_CONFIG");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        let port = loop {
            let begun = log.len();
            assert_ne!(lines.read_line(&mut log).unwrap(), 0, "not listening: {log}");
            if let Some((_, rest)) = log[begun..].split_once("listening on UDP 127.0.0.1:") {
                let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap();
                break digits.parse().unwrap();
            }
        };
        let log = thread::spawn(move || {
            let _ = lines.read_to_string(&mut log);
            log
        });
        Self { child, log: Some(log), port }
    }

    fn server() -> Self {
        let set = [
            ["+set", "net_ip", "127.0.0.1"],
            ["+set", "net_enabled", "1"],
            ["+set", "net_port", "0"],
            ["+set", "g_log", ""],
            ["+set", "rconPassword", "a-long-password"],
        ];
        Self::start(&[&["serve"][..], set.as_flattened(), &["+map", "fragd1"]].concat())
    }

    fn proxy(&self, more: &[&str]) -> Self {
        let to = format!("127.0.0.1:{}", self.port);
        Self::start(&[&["proxy", "--listen", "127.0.0.1:0", "--to", &to][..], more].concat())
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Stops the program by its console, which writes the log to its end.
    fn end(mut self) -> String {
        self.child.stdin.take().unwrap().write_all(b"quit\n").unwrap();
        assert!(self.child.wait().unwrap().success());
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a connectionless packet.
fn ask(socket: &UdpSocket, to: SocketAddr, text: &str) -> Option<String> {
    socket.send_to(&oob(text), to).unwrap();
    answer(socket)
}

/// The answer to a `connect` with a challenge, from another port of a host.
fn connect(host: u8, number: u16, to: SocketAddr) -> String {
    let socket = socket_at(0, host);
    let begun = Instant::now();
    let challenge = loop {
        assert!(begun.elapsed() < PATIENCE, "no challenge");
        if let Some(text) = ask(&socket, to, "getchallenge 5 Quake3Arena") {
            break text.split(' ').nth(1).unwrap().to_owned();
        }
    };
    let mut info = InfoString::normal();
    let qport = number.to_string();
    for (key, value) in
        [("protocol", "71"), ("qport", &qport), ("challenge", &challenge), ("name", "x")]
    {
        info.set(key, value).unwrap();
    }
    let mut packet = Vec::new();
    write_connect(&info, &mut packet).unwrap();
    socket.send_to(&packet, to).unwrap();
    answer(&socket).unwrap_or_default()
}

/// Clients of one host that get a slot, of eight.
fn accepted(host: u8, to: SocketAddr) -> usize {
    let answers = (0..8).map(|number| connect(host, 900 + number, to));
    answers.filter(|text| text.starts_with("connectResponse")).count()
}

#[test]
#[cfg(target_os = "linux")]
fn c44_server_counts_the_clients_of_a_proxy_by_host() {
    let server = Program::server();
    let proxy = server.proxy(&[]);
    assert_eq!(accepted(9, proxy.address()), 3, "the default of sv_maxclientsPerIP");
    assert_eq!(accepted(10, proxy.address()), 3, "another host has places of its own");
    let log = proxy.end();
    assert!(log.contains("sv_lanNetworks and sv_rconAllow"), "{log}");
    let connected = log.lines().filter(|line| line.contains(" from 127.")).count();
    assert_eq!(connected, 6, "{log}");
    let seen = log.split(" from 127.").nth(1).unwrap();
    let seen = format!("127.{}", seen.split_whitespace().next().unwrap());
    let log = server.end();
    assert!(log.contains(&seen), "{seen} is not in the log of the server: {log}");
}

#[test]
fn c44_rcon_passes_no_proxy_without_its_option() {
    let server = Program::server();
    let proxy = server.proxy(&[]);
    let socket = socket_at(0, 7);
    let request = "rcon a-long-password status";
    let direct = ask(&socket, server.address(), request);
    assert!(direct.is_some_and(|text| text.contains("map: ")), "loopback itself has rcon");
    let refused = ask(&socket, proxy.address(), request).unwrap();
    assert!(refused.starts_with("print\n") && refused.contains("con"), "{refused}");
    assert!(!refused.contains("map: ") && refused.len() <= request.len(), "{refused}");
    let log = proxy.end();
    assert!(log.contains("rcon passes with --rcon only"), "{log}");
    server.end();
}

#[test]
#[cfg(target_os = "linux")]
fn default_rcon_networks_leave_session_addresses_out() {
    let server = Program::server();
    let proxy = server.proxy(&["--rcon"]);
    let socket = socket_at(0, 7);
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let request = "rcon a-long-password status";
    assert_eq!(ask(&socket, proxy.address(), request), None);
    let direct = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    direct.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let set = "rcon a-long-password set sv_rconAllow 127.0.0.1 127.64.0.0/10";
    assert!(ask(&direct, server.address(), set).is_some());
    let allowed = ask(&socket, proxy.address(), request);
    assert!(allowed.is_some_and(|text| text.contains("map: ")));
    proxy.end();
    server.end();
}

#[test]
fn proxy_names_a_session_network_that_is_not_local() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
    command.args(["--session-network", "203.0.112.0/20"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(log.contains("ip route add local 203.0.112.0/20 dev lo"), "{log}");
}

#[test]
fn proxy_warns_of_servers_that_trust_its_address() {
    let trusted =
        "sees all clients at the address of the proxy: its sv_lanNetworks and sv_rconAllow";
    for (to, more, warns) in [
        ("10.9.8.7:9", &[][..], true),
        ("100.64.0.1:9", &[], true),
        ("[fd00::7]:9", &[], true),
        ("127.0.0.1:9", &["--session-network", "none"], true),
        ("[::1]:9", &[], true),
        ("192.0.2.1:9", &[], false),
    ] {
        let arguments = [&["proxy", "--listen", "127.0.0.1:0", "--to", to], more].concat();
        let log = Program::start(&arguments).end();
        assert_eq!(log.contains(trusted), warns, "{to}: {log}");
    }
}
