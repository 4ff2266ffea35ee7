//! Audit log: acts of the console and of rcon, secrets, `auditlog`.

use std::{net::SocketAddr, rc::Rc};

use fragd::{
    model::{Millis, UnixMillis, state_folder::StateFolder},
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, Route, take_text},
    server::Server,
    settings::Settings,
};
use serde_json::Value;

use crate::memory_state::MemoryState;

const START: Millis = Millis(10_000);
const EPOCH: u64 = 1_700_000_000_000;

fn server(state: &Rc<MemoryState>, lines: &[&str]) -> Server {
    let mut settings = Settings::default();
    settings.set("rconPassword", "hunter2hunter2").unwrap();
    settings.start().unwrap();
    let folder: Rc<dyn StateFolder> = Rc::clone(state) as _;
    let mut server = Server::builder(settings, [7; 32])
        .started_at(Some(UnixMillis(EPOCH)))
        .state(Some(folder))
        .lines(lines.iter().map(|line| (*line).to_owned()).collect())
        .build();
    server.frame(START);
    server
}

fn run(server: &mut Server, line: &str) -> String {
    server.handle_input(START, Input::ConsoleLine(line));
    take_text(server, OutputKind::Console)
}

fn rcon(server: &mut Server, now: Millis, from: &str, line: &str) {
    let from: SocketAddr = from.parse().unwrap();
    let bytes = [b"\xff\xff\xff\xffrcon ", line.as_bytes()].concat();
    server.handle_datagram(now, Route::new(LocalPort(0), from), &bytes);
}

/// Lines for the file as author, act and result.
fn acts(server: &mut Server) -> Vec<[String; 3]> {
    let mut all = String::new();
    while let Some(Output::Audit(lines)) = server.poll_output(OutputKind::Audit) {
        all.push_str(&lines);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["time"].as_u64().unwrap() >= EPOCH / 1000);
        let who = format!("{} {}", text(&line["who"]), text(&line["address"]));
        [who.trim_end().to_owned(), text(&line["act"]), text(&line["result"])]
    };
    all.lines().map(read).collect()
}

#[test]
fn acts_are_recorded_with_author_and_result() {
    let mut server = server(&Rc::default(), &["set a 1", "banaddr 10.9.9.9"]);
    assert!(acts(&mut server).is_empty(), "the start is no act");
    for line in [
        "status",
        "sv_hostname",
        "sv_hostname \"x y\"",
        "set later \"kick ann; timelimit 3\"; vstr later",
        "ban 192.0.2.7 2h bad words",
        "seta rconPassword hunter3hunter3",
        "g_password \"a b%\"",
        "kick nobody",
        "reloaded 1 applied",
    ] {
        run(&mut server, line);
    }
    let mut found = acts(&mut server);
    let kick = found.iter().position(|act| act[1] == "kick nobody").unwrap();
    assert!(found.remove(kick)[2].contains("nobody"));
    let expected = [
        ["console", "sv_hostname x y", ""],
        [
            "console",
            "set later kick ann; timelimit 3",
            "unknown setting later: stored as a variable",
        ],
        ["console", "vstr later", ""],
        [
            "console",
            "ban 192.0.2.7 2h bad words",
            "Added ban: 192.0.2.7/32 (id 2, 2 h left, by console): bad words",
        ],
        ["console", "seta rconPassword ***", ""],
        ["console", "g_password ***", "***"],
        ["console", "reloaded 1 applied", ""],
    ];
    assert_eq!(found, expected.map(|act| act.map(str::to_owned)));
}

#[test]
fn remote_consoles_are_recorded() {
    let mut server = server(&Rc::default(), &[]);
    let from = "127.0.0.1:5000";
    for (seconds, line) in [
        (0, "wrong kick 3"),
        (20, "hunter2hunter2 status"),
        (40, "hunter2hunter2 sv_hostname z"),
        (700, "hunter2hunter2 status"),
    ] {
        rcon(&mut server, START + Millis::seconds(seconds), from, line);
    }
    let who = format!("rcon {from}");
    let expected = [
        [&*who, "rcon", "refused"],
        [&*who, "rcon", "accepted"],
        [&*who, "sv_hostname z", ""],
        [&*who, "rcon", "accepted"],
    ];
    assert_eq!(acts(&mut server), expected.map(|act| act.map(str::to_owned)));
}

#[test]
fn auditlog_shows_acts_of_earlier_runs() {
    let state: Rc<MemoryState> = Rc::default();
    state.put("audit.jsonl", "{\"act\":\"first\"}\n{\"act\":\"second\"}\n");
    let mut server = server(&state, &[]);
    assert_eq!(run(&mut server, "auditlog 1"), "{\"act\":\"second\"}\n");
    run(&mut server, "sv_hostname z");
    let shown = run(&mut server, "auditlog");
    assert!(
        shown.starts_with("{\"act\":\"first\"}\n") && shown.contains("sv_hostname z"),
        "{shown}"
    );
    assert_eq!(run(&mut server, "auditlog x"), "Usage: auditlog [number]\n");
}
