//! Process-level tests of consoles: edited lines on a terminal, attached consoles.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod process_fixture;

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{fs::PermissionsExt as _, net::UnixStream},
    },
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use process_fixture::{Scratch, free_port};
use rustix::{
    fs::{Mode, OFlags, open},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};

/// Longest wait for what should take a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server in `folder` without game data of the machine.
fn server(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(["serve", "--port", &free_port().to_string()]);
    for (name, value) in
        [("net_ip", "127.0.0.1"), ("net_enabled", "1"), ("g_log", ""), ("g_rules", "flight")]
    {
        command.args(["+set", name, value]);
    }
    command.args(more).current_dir(folder).env("HOME", folder).env("FRAGD_BASEPATH", folder);
    command.env("TERM", "xterm").env_remove("RUST_LOG").env_remove("NO_COLOR");
    command
}

/// Text that arrives, as it arrives.
struct Arriving {
    pieces: mpsc::Receiver<Vec<u8>>,
    text: String,
}

impl Arriving {
    fn of(mut source: impl std::io::Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count) = source.read(&mut chunk) {
                if count == 0 || sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pieces, text: String::new() }
    }

    /// Waits for a text. Returns all text up to it, and forgets that.
    #[track_caller]
    fn until(&mut self, wanted: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.text.find(wanted) {
                let rest = self.text.split_off(at + wanted.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.text.push_str(&String::from_utf8_lossy(&piece)),
                Err(_) => panic!("{wanted:?} did not arrive: {:?}", self.text),
            }
        }
    }
}

/// A terminal and the end of it that a program gets.
fn terminal() -> (File, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (File::from(master), slave)
}

#[test]
fn terminal_edits_recalls_and_completes_lines() {
    let scratch = Scratch::new("terminal");
    let (master, slave) = terminal();
    let before = tcgetattr(&slave).unwrap().local_modes;
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut command = server(&scratch.0, &["+set", "sv_hostname", "^1Red"]);
    command.stdin(end()).stdout(end()).stderr(end());
    let mut child = Running(command.spawn().unwrap());
    let mut keys = master.try_clone().unwrap();
    let mut shown = Arriving::of(master);
    let mut press = |text: &str| keys.write_all(text.as_bytes()).unwrap();
    shown.until("fragd> ");
    // The cursor goes left, and the Tab key completes.
    press("v_fps\u{1b}[D\u{1b}[D\u{1b}[D\u{1b}[D\u{1b}[Ds\r");
    shown.until("\"sv_fps\" is:\"20");
    press("sv_hostn\t\r");
    shown.until("\"sv_hostname\" is:\"\u{1b}[31mRed");
    press("set rconPassword sesame street\r");
    press("g_gametype\r");
    shown.until("\"g_gametype\" is:");
    // Two lines back is the line before the secret one.
    press("\u{1b}[A\u{1b}[A");
    let line = shown.until("sv_hostname");
    assert!(!line.contains("sesame"), "{line}");
    press("\u{15}");
    assert!(!tcgetattr(&slave).unwrap().local_modes.contains(LocalModes::ICANON));
    press("quit\r");
    assert!(child.0.wait().unwrap().success());
    assert_eq!(tcgetattr(&slave).unwrap().local_modes, before);
}

#[test]
fn attached_consoles_see_log_and_output() {
    let scratch = Scratch::new("attached");
    let path = scratch.0.join("console");
    // A socket that a process left behind is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let named = ["+set", "sv_console", "console"];
    let mut command = server(&scratch.0, &named);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = Running(command.spawn().unwrap());
    let mut log = Arriving::of(child.0.stderr.take().unwrap());
    log.until("consoles attach on console");
    log.until("listening on UDP");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut one = UnixStream::connect(&path).unwrap();
    let mut other = Arriving::of(UnixStream::connect(&path).unwrap());
    log.until("console 1 attached");
    let mut seen = Arriving::of(one.try_clone().unwrap());
    one.write_all(b"echo ^1hello\n").unwrap();
    for shown in [&mut seen, &mut other] {
        shown.until("^1hello\n");
    }
    one.write_all(b"\x01sv_hostn\n\x01set sv_fp\n").unwrap();
    seen.until("\u{1}0\u{1}sv_hostname\n");
    seen.until("\u{1}4\u{1}sv_fps\n");
    // A second server does not take the path, nor one that is a file.
    for (place, why) in [("console", "another process listens"), ("file", "not a socket")] {
        fs::write(scratch.0.join("file"), "kept").unwrap();
        let mut command = server(&scratch.0, &["+set", "sv_console", place]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(why), "{text}");
    }
    assert_eq!(fs::read_to_string(scratch.0.join("file")).unwrap(), "kept");
    // A client that does not read is disconnected, and the others are served.
    let mut slow = UnixStream::connect(&path).unwrap();
    log.until("console 2 attached");
    for number in 0..150 {
        one.write_all(format!("cvarlist\necho end {number}\n").as_bytes()).unwrap();
        seen.until(&format!("\nend {number}\n"));
    }
    log.until("console 2 detached");
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(slow.read_to_end(&mut Vec::new()).is_ok(), "closed");
    let mut client = Command::new(env!("CARGO_BIN_EXE_fragd"));
    client.args(["console", "console"]).current_dir(&scratch.0);
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    client.stdin.take().unwrap().write_all(b"echo ^2by\x1b[2J pipe").unwrap();
    let output = client.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("^2by [2J pipe\n"), "{text}");
    kill_process(Pid::from_child(&child.0), Signal::TERM).unwrap();
    assert!(child.0.wait().unwrap().success());
    assert!(!path.exists(), "removed at the end");
    let gone = Command::new(env!("CARGO_BIN_EXE_fragd")).arg("console").arg(&path).output();
    let gone = gone.unwrap();
    assert_eq!(gone.status.code(), Some(1));
    let text = BufReader::new(&*gone.stderr).lines().next().unwrap().unwrap();
    assert!(text.contains("expected the sv_console or --console of"), "{text}");
}

#[test]
fn closed_console_restores_its_terminal() {
    let scratch = Scratch::new("closed");
    let mut command = server(&scratch.0, &["+set", "sv_console", "console"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = Running(command.spawn().unwrap());
    let mut log = Arriving::of(child.0.stderr.take().unwrap());
    log.until("listening on UDP");
    let (master, slave) = terminal();
    let before = tcgetattr(&slave).unwrap().local_modes;
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut client = Command::new(env!("CARGO_BIN_EXE_fragd"));
    client.args(["console", "console"]).current_dir(&scratch.0).env("TERM", "xterm");
    let client = client.stdin(end()).stdout(end()).stderr(end()).spawn();
    let mut client = Running(client.unwrap());
    let mut shown = Arriving::of(master);
    shown.until("fragd> ");
    log.until("console 0 attached");
    kill_process(Pid::from_child(&child.0), Signal::TERM).unwrap();
    shown.until("the server has closed the console");
    assert!(client.0.wait().unwrap().success());
    assert_eq!(tcgetattr(&slave).unwrap().local_modes, before);
    assert!(child.0.wait().unwrap().success());
}

#[test]
fn other_roles_have_consoles_too() {
    let scratch = Scratch::new("roles");
    let port = || free_port().to_string();
    let (one, two) = (port(), port());
    let roles: [(&[&str], &str); 3] = [
        (&["qw", "--port", "0", "+set", "sv_console", "console"], "hostname : "),
        (
            &["master", "--port", &one, "--bind", "127.0.0.1", "--console", "console"],
            "0 of 4096 servers",
        ),
        (
            &["relay", "--from", "127.0.0.1:1", "--port", &two, "--console", "console"],
            "viewers: 0 of 512",
        ),
    ];
    for (arguments, answer) in roles {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
        command.args(arguments).current_dir(&scratch.0).env("HOME", &scratch.0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = Running(command.env_remove("RUST_LOG").spawn().unwrap());
        let mut log = Arriving::of(child.0.stderr.take().unwrap());
        log.until("consoles attach on console");
        let path = scratch.0.join("console");
        let mut console = UnixStream::connect(&path).unwrap();
        log.until("console 0 attached");
        let mut seen = Arriving::of(console.try_clone().unwrap());
        for (line, answer) in [
            ("status", answer),
            ("\u{1}statu", "\u{1}0\u{1}status\n"),
            ("help", "quit "),
            ("quit", ""),
        ] {
            console.write_all(format!("{line}\n").as_bytes()).unwrap();
            seen.until(answer);
        }
        assert!(child.0.wait().unwrap().success(), "{arguments:?}");
        assert!(!path.exists(), "{arguments:?}");
    }
}
