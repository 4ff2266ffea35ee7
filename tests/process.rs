//! Process-level tests: blocked sinks, special files, signals during loading, files of a failed build.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    env, fs,
    io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::ioctl_fionbio,
    process::{Pid, Signal, kill_process},
};

/// Longest wait for what should take a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("fragd-process-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn fifo(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server on a free port, in `folder`.
    fn start(folder: &Path, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
        command.args(["serve", "--port", &port.to_string()]);
        command.args(arguments);
        for (name, value) in [("net_ip", "127.0.0.1"), ("net_enabled", "1"), ("g_log", "")] {
            command.args(["+set", name, value]);
        }
        command.current_dir(folder).env_remove("RUST_LOG");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        prepare(&mut command);
        Self { child: command.spawn().unwrap(), port }
    }

    /// Whether the server answers `getinfo` before long.
    fn answers(&mut self, patience: Duration) -> bool {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let end = Instant::now() + patience;
        let mut buffer = [0; 2048];
        while Instant::now() < end && self.child.try_wait().unwrap().is_none() {
            let _ = socket.send_to(b"\xff\xff\xff\xffgetinfo x", (Ipv4Addr::LOCALHOST, self.port));
            if socket.recv(&mut buffer).is_ok() {
                return true;
            }
        }
        false
    }

    /// Exit status of the server after SIGTERM.
    fn end(&mut self) -> Option<ExitStatus> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

/// A pipe without room.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    loop {
        match writer.write(&[b'.'; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

/// The value of a counter of the server.
fn counter(port: u16, name: &str) -> u64 {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn blocked_stderr_and_stdout_delay_no_frame() {
    let scratch = Scratch::new("sinks");
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let [(mut log, stderr), (_output, stdout)] = [full_pipe(), full_pipe()];
    let place = format!("127.0.0.1:{metrics}");
    let arguments = ["+set", "g_rules", "flight", "+set", "sv_metrics", &place];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.stdin(Stdio::piped()).stdout(stdout).stderr(stderr);
    });
    assert!(server.answers(PATIENCE), "a server whose log is not read does not answer");

    // More than the queue of standard output holds.
    let mut console = server.child.stdin.take().unwrap();
    let typing = thread::spawn(move || {
        for _ in 0..10_000 {
            console.write_all(b"cmdlist\n").unwrap();
        }
        console
    });
    let bots = Command::new(env!("CARGO_BIN_EXE_fragd"))
        .args([
            "bots",
            "--connect",
            &format!("127.0.0.1:{}", server.port),
            "-n",
            "3",
            "--seconds",
            "4",
        ])
        .output()
        .unwrap();
    assert!(bots.status.success(), "players are not served: {}", {
        String::from_utf8_lossy(&bots.stdout) + String::from_utf8_lossy(&bots.stderr)
    });
    let console = typing.join().unwrap();
    let end = Instant::now() + PATIENCE;
    while counter(metrics, "output_dropped_total{sink=\"console\"}") == 0 {
        assert!(Instant::now() < end, "nothing is counted");
        thread::sleep(Duration::from_millis(100));
    }

    // Once the log is read again, everything in its queue is there.
    let reading = thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    });
    thread::sleep(Duration::from_millis(500));
    assert!(server.end().is_some_and(|status| status.success()), "it ends though output is full");
    drop(console);
    let text = reading.join().unwrap();
    assert!(text.contains("listening on UDP 127.0.0.1:"), "the first line is kept");
    assert!(text.ends_with("stopped\n"), "the last line is written: {}", &text[text.len() - 500..]);
}

#[test]
fn blocked_stderr_does_not_delay_exit() {
    let scratch = Scratch::new("fatal");
    let (_log, stderr) = full_pipe();
    let arguments = ["+set", "g_rules", "flight", "+set", "sv_metrics", "127.0.0.1:1"];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.stderr(stderr);
    });
    // Only root may listen on that port.
    let end = Instant::now() + PATIENCE;
    let mut status = server.child.try_wait().unwrap();
    while status.is_none() && Instant::now() < end && !server.answers(Duration::from_millis(300)) {
        status = server.child.try_wait().unwrap();
    }
    let status = status.or_else(|| server.end());
    assert!(status.is_some(), "the process hangs in its last words");
}

#[test]
fn fifo_named_as_pk3_is_skipped() {
    let scratch = Scratch::new("fifo");
    fs::create_dir(scratch.0.join("baseoa")).unwrap();
    scratch.fifo("baseoa/zz.pk3");
    let base = scratch.0.to_str().unwrap().to_owned();
    let mut server = Server::start(&scratch.0, &["+set", "fs_basepath", &base], |command| {
        command.stderr(Stdio::piped());
    });
    assert!(server.answers(PATIENCE), "the server waits for a writer of the pipe");
    assert!(server.end().is_some_and(|status| status.success()));
    let mut text = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(
        text.contains("zz.pk3: not readable: is not a regular file; archive ignored"),
        "{text}"
    );
}

#[test]
fn signal_during_loading_ends_process() {
    let scratch = Scratch::new("signal");
    let pipe = scratch.fifo("journal");
    let arguments = ["--journal", pipe.to_str().unwrap(), "+set", "g_rules", "flight"];
    let mut server = Server::start(&scratch.0, &arguments, |_| {});
    assert!(!server.answers(Duration::from_millis(500)), "it waits for a reader of the journal");
    assert_eq!(server.end().and_then(|status| status.code()), Some(128 + 15));
}

/// Runs `fragd maps build` on a source and returns success and standard error.
fn build_map(source: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    let output = command.args(["maps", "build", "--fast"]).arg(source).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn failed_map_build_leaves_only_the_way_out() {
    let scratch = Scratch::new("build");
    let source = scratch.0.join("room.map");
    // A floor alone closes nothing.
    let floor = "( -64 -64 0 ) ( 64 -64 0 ) ( -64 64 0 ) common/caulk 0 0 0 1 1\n\
        ( -64 -64 8 ) ( -64 64 8 ) ( 64 -64 8 ) common/caulk 0 0 0 1 1\n\
        ( -64 -64 0 ) ( -64 64 0 ) ( -64 -64 8 ) common/caulk 0 0 0 1 1\n\
        ( 64 -64 0 ) ( 64 -64 8 ) ( 64 64 0 ) common/caulk 0 0 0 1 1\n\
        ( -64 -64 0 ) ( -64 -64 8 ) ( 64 -64 0 ) common/caulk 0 0 0 1 1\n\
        ( -64 64 0 ) ( 64 64 0 ) ( -64 64 8 ) common/caulk 0 0 0 1 1\n";
    let text = format!(
        "{{\n\"classname\" \"worldspawn\"\n{{\n{floor}}}\n}}\n\
         {{\n\"classname\" \"info_player_start\"\n\"origin\" \"0 0 64\"\n}}\n"
    );
    fs::write(&source, text).unwrap();
    let (is_built, errors) = build_map(&source);
    assert!(!is_built && errors.contains("room.map:12: map is not closed"), "{errors}");
    let mut names: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["room.lin", "room.map"]);
    let (is_built, errors) = build_map(&scratch.0.join("none.map"));
    assert!(!is_built && errors.contains("none.map: cannot be read"), "{errors}");
}

/// Starts a master on a free port, in `folder`.
fn start_master(folder: &Path, arguments: &[&str]) -> Server {
    let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(["master", "--port", &port.to_string(), "--allow-loopback", "--state", "state"]);
    command.args(arguments).current_dir(folder).env_remove("RUST_LOG");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Server { child: command.spawn().unwrap(), port }
}

/// Asks a master until it answers.
fn ask_master(socket: &UdpSocket, port: u16, request: &[u8]) -> Vec<u8> {
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let end = Instant::now() + PATIENCE;
    let mut buffer = [0; 2048];
    while Instant::now() < end {
        // While it starts, the port is closed.
        let _ = socket.send_to(request, (Ipv4Addr::LOCALHOST, port));
        if let Ok((len, _)) = socket.recv_from(&mut buffer) {
            return buffer[..len].to_vec();
        }
    }
    panic!("the master does not answer");
}

#[test]
fn master_keeps_its_list_across_restarts() {
    let scratch = Scratch::new("master");
    let socket = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (server, client) = (socket(), socket());
    let ask = b"\xff\xff\xff\xffgetservers 68 empty";
    let mut master = start_master(&scratch.0, &[]);
    let getinfo = ask_master(&server, master.port, b"\xff\xff\xff\xffheartbeat QuakeArena-1\n");
    let challenge = getinfo.strip_prefix(b"\xff\xff\xff\xffgetinfo ").unwrap();
    let info = b"\\protocol\\68\\clients\\0\\sv_maxclients\\8";
    let response = [b"\xff\xff\xff\xffinfoResponse\n\\challenge\\", challenge, info].concat();
    server.send_to(&response, (Ipv4Addr::LOCALHOST, master.port)).unwrap();
    let port = server.local_addr().unwrap().port().to_be_bytes();
    let record =
        [b"\xff\xff\xff\xffgetserversResponse\\\x7f\0\0\x01", &port[..], b"\\EOT\0\0\0"].concat();
    assert_eq!(ask_master(&client, master.port, ask), record);
    kill_process(Pid::from_child(&master.child), Signal::TERM).unwrap();
    assert_eq!(master.child.wait().unwrap().code(), Some(0), "SIGTERM is a regular end");
    let master = start_master(&scratch.0, &[]);
    assert_eq!(ask_master(&client, master.port, ask), record, "restored from its state file");
    drop(master);
    fs::write(scratch.0.join("state"), "damaged").unwrap();
    let mut master = start_master(&scratch.0, &[]);
    assert_eq!(master.child.wait().unwrap().code(), Some(1));
    let mut master = start_master(&scratch.0, &["--max-servers", "0"]);
    assert_eq!(master.child.wait().unwrap().code(), Some(2));
}
