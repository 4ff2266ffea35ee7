//! Drills of the state folder: killed servers, a full disk, unreadable files, many bans.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod process_fixture;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use process_fixture::{Scratch, free_port};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

/// Longest wait for what should take a moment.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time after which a change is on disk: a second until a thread has it, another one for slow machines.
const PROMISED: Duration = Duration::from_secs(2);

/// A server with a state folder, which is killed with the test.
struct Server {
    child: Child,
    port: u16,
    log: Arc<Mutex<String>>,
    state: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server and waits until it answers.
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let (port, state) = (free_port(), folder.join("state"));
        let mut command = Command::new("sh");
        // A file size limit acts as a full disk if its signal is ignored.
        command.args([
            "-c",
            "trap '' XFSZ; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_fragd"),
            "serve",
        ]);
        command.args(["--port", &port.to_string(), "--map", "fragd1"]);
        let (options, commands) =
            arguments.split_at(arguments.iter().take_while(|word| !word.starts_with('+')).count());
        command.args(options);
        let state_text = state.to_str().unwrap();
        for (name, value) in
            [("net_ip", "127.0.0.1"), ("net_enabled", "1"), ("g_log", ""), ("sv_state", state_text)]
        {
            command.args(["+set", name, value]);
        }
        command.args(commands);
        command.current_dir(folder).env_remove("RUST_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (lines, to) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&log));
        thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| *to.lock().unwrap() += &(line + "\n"));
        });
        let mut server = Self { child, port, log, state };
        server.await_that("an answer", Self::answers);
        // The thread of the log may be late.
        server.await_that("the end of the start", |server| server.log().contains("server ready"));
        server
    }

    fn answers(&mut self) -> bool {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let _ = socket.send_to(b"\xff\xff\xff\xffgetinfo x", (Ipv4Addr::LOCALHOST, self.port));
        socket.recv_from(&mut [0; 2048]).is_ok()
    }

    fn run(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn file(&self, name: &str) -> String {
        let bytes = fs::read(self.state.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    fn await_that(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Limits the size of the files that the server writes.
    fn limit_files(&self, bytes: Option<u64>) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    }
}

/// Asks a server to read its files again.
fn reload(server: &mut Server, line: &str) {
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    server.await_that(line, |server| server.log().contains(line));
}

/// Whether a line of a script sets a setting to this value.
fn has_value(archive: &str, name: &str, value: &str) -> bool {
    archive.lines().any(|line| line == format!("seta {name} \"{value}\""))
}

#[test]
fn killed_server_keeps_what_was_promised() {
    let scratch = Scratch::new("killed");
    let mut promised = Vec::new();
    for round in 0..5_u32 {
        let mut server = Server::start(&scratch.0, &[]);
        let log = server.log();
        assert!(!log.contains(".bad") && !log.contains("not used"), "{log}");
        for number in &promised {
            assert!(server.file("bans.jsonl").contains(&format!("10.{number}.1/32")), "{number}");
        }
        // Kills at other points of a write in each round.
        let length = Duration::from_millis(2600 + u64::from(round) * 97);
        let begun = Instant::now();
        let mut sent = Vec::new();
        while begun.elapsed() < length {
            let number = format!("{round}.{}", sent.len());
            server.run(&format!("ban 10.{number}.1 2h"));
            server.run(&format!("sv_hostname \"{number}\""));
            sent.push((begun.elapsed(), number));
            thread::sleep(Duration::from_millis(15));
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let old: Vec<_> = sent.iter().filter(|(at, _)| *at + PROMISED < length).collect();
        let names = sent.iter().map(|(_, number)| number);
        let newest = names
            .rev()
            .find(|number| has_value(&server.file("settings.cfg"), "sv_hostname", number));
        let newest = newest.expect("a value of this round");
        let at = sent.iter().position(|(_, number)| number == newest).unwrap();
        assert!(at + 1 >= old.len(), "round {round}: {newest} of {}", old.len());
        promised.extend(old.into_iter().map(|(_, number)| number.clone()));
        let audit = server.file("audit.jsonl");
        let last = audit.rfind('\n').map_or(0, |end| end + 1);
        assert!(audit[..last].lines().all(|line| line.starts_with('{') && line.ends_with('}')));
        for number in &promised {
            assert!(audit.contains(&format!("ban 10.{number}.1 2h")), "{number}");
        }
    }
    assert!(promised.len() > 20, "{}", promised.len());
}

#[test]
fn full_disk_delays_changes_and_loses_none() {
    let scratch = Scratch::new("full");
    let mut server = Server::start(&scratch.0, &[]);
    server.run("ban 192.0.2.1 2h");
    server.run("sv_hostname before");
    server.await_that("first files", |server| {
        server.file("bans.jsonl").contains("192.0.2.1/32")
            && has_value(&server.file("settings.cfg"), "sv_hostname", "before")
    });
    server.limit_files(Some(0));
    for number in 2..20 {
        server.run(&format!("ban 192.0.2.{number} 2h"));
        server.run(&format!("sv_hostname \"full {number}\""));
        // More questions exceed the limit of an address.
        if number % 6 == 0 {
            server.await_that("an answer", Server::answers);
        }
    }
    let fails =
        |server: &mut Server, name: &str| server.log().contains(&format!("{name} not written: "));
    server.await_that("errors", |server| {
        fails(server, "bans.jsonl") && fails(server, "settings.cfg")
    });
    thread::sleep(Duration::from_secs(3));
    assert_eq!(server.log().matches("bans.jsonl not written: ").count(), 1, "{}", server.log());
    assert!(server.file("bans.jsonl").contains("192.0.2.1/32"), "the old file stays");
    assert!(has_value(&server.file("settings.cfg"), "sv_hostname", "before"));
    server.limit_files(None);
    server.await_that("last changes", |server| {
        server.file("bans.jsonl").lines().count() == 19
            && has_value(&server.file("settings.cfg"), "sv_hostname", "full 19")
    });
    server.await_that("a line", |server| server.log().contains("bans.jsonl written again"));
}

#[test]
fn unreadable_state_is_kept_aside() {
    let scratch = Scratch::new("unreadable");
    let state = scratch.0.join("state");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("settings.cfg"), b"seta a \"1\"\nseta b \"\xff\"\n").unwrap();
    fs::write(state.join("values.json"), "{\"rotation\":").unwrap();
    fs::write(state.join("audit.jsonl"), b"{}\n\xff\xff\n").unwrap();
    // A folder is as unreadable as a file of another user.
    fs::create_dir(state.join("bans.jsonl")).unwrap();
    let mut server = Server::start(&scratch.0, &[]);
    let log = server.log();
    for name in ["settings.cfg", "values.json", "bans.jsonl"] {
        assert!(state.join(format!("{name}.bad")).exists(), "{name}: {log}");
        assert_eq!(log.matches(&format!("file kept as {name}.bad")).count(), 1, "{log}");
    }
    server.run("ban 192.0.2.1");
    server.await_that("a new list", |server| server.file("bans.jsonl").contains("192.0.2.1/32"));
    server.await_that("an act", |server| server.file("audit.jsonl").contains("ban 192.0.2.1"));
}

#[test]
fn thousand_bans_survive_a_kill() {
    let scratch = Scratch::new("thousand");
    let mut server = Server::start(&scratch.0, &[]);
    for number in 0..1000 {
        server.run(&format!("ban 10.0.{}.{} 7d reason {number}", number / 256, number % 256));
        if number % 5 == 0 {
            server.run(&format!("seta own{number} \"value {number}\""));
            thread::sleep(Duration::from_millis(2));
        }
    }
    server.await_that("all bans", |server| {
        server.file("bans.jsonl").lines().count() == 1000
            && has_value(&server.file("settings.cfg"), "own995", "value 995")
    });
    server.child.kill().unwrap();
    let mut server = Server::start(&scratch.0, &[]);
    let log = server.log();
    assert!(log.contains("bans.jsonl: 1000 entries"), "{log}");
    assert!(log.contains("settings.cfg: 200 settings"), "{log}");
    server.run("writeconfig all");
    server.await_that("values", |server| has_value(&server.file("all.cfg"), "own0", "value 0"));
}

#[test]
fn reload_leaves_archived_values() {
    let scratch = Scratch::new("archived");
    let write = |name: &str, text: &str| fs::write(scratch.0.join(name), text).unwrap();
    write("f.toml", "sv_hostname = \"first\"\ntimelimit = 5\n");
    write("s.cfg", "set fraglimit 5\nexec own\n");
    let arguments = ["--config", "f.toml", "+exec", "./s.cfg"];
    fs::create_dir(scratch.0.join("state")).unwrap();
    write("state/own.cfg", "seta capturelimit \"5\"\n");
    let mut server = Server::start(&scratch.0, &arguments);
    server.run("sv_hostname console");
    server.run("fraglimit 7");
    server.await_that("an archive", |server| {
        has_value(&server.file("settings.cfg"), "fraglimit", "7")
    });
    write("f.toml", "sv_hostname = \"second\"\ntimelimit = 6\n");
    write("s.cfg", "set fraglimit 6\nexec own\n");
    reload(
        &mut server,
        "reload: 2 applied, 0 with the next map, 0 need a restart, 0 refused, 1 archived;",
    );
    let log = server.log();
    for line in [
        "reload: sv_hostname = \"second\": the archived value stays (reset removes it)",
        "reload: timelimit = \"6\": applied",
        "reload: fraglimit = \"6\": applied",
    ] {
        assert!(log.contains(line), "{line} not in {log}");
    }
    server.await_that("an act", |server| server.file("audit.jsonl").contains("reloaded 2 applied"));
    thread::sleep(PROMISED);
    let archive = server.file("settings.cfg");
    assert_eq!(archive.lines().count(), 3, "a reload archives nothing: {archive}");
    drop(server);
    let log = Server::start(&scratch.0, &arguments).log();
    assert!(log.contains("fraglimit is \"6\" (./s.cfg:1), not the archived \"7\""), "{log}");
    assert!(!log.contains("sv_hostname is"), "{log}");
}
