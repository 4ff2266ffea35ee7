//! Process-level tests: blocked sinks, special files, signals during loading, files of a failed build.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod process_fixture;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use fragd::testing::generated_maps::rooms;
use process_fixture::{Scratch, free_port};
use rustix::{
    io::ioctl_fionbio,
    process::{Pid, Signal, kill_process},
};

/// Longest wait for what should take a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a named pipe in a folder.
fn fifo(folder: &Scratch, name: &str) -> PathBuf {
    let path = folder.0.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
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
        let port = free_port();
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
            // A port has had other owners: the master of another test may still ask for them.
            if let Ok((_, from)) = socket.recv_from(&mut buffer)
                && from.port() == self.port
            {
                return true;
            }
        }
        false
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Exit status of the server after SIGTERM.
    fn end(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Exit status of a server that ends.
    fn wait(&mut self) -> Option<ExitStatus> {
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

/// The answer of the server to a request over HTTP.
fn page(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The value of a counter of the server.
fn counter(port: u16, name: &str) -> u64 {
    let text = page(port, "/metrics");
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
    fifo(&scratch, "baseoa/zz.pk3");
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
    let pipe = fifo(&scratch, "journal");
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
fn map_build_leaves_whole_files_or_nothing() {
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
    assert!(is_built && errors.contains("room.map:12: map is not closed"), "{errors}");
    let names = || {
        let entries = fs::read_dir(&scratch.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["room.lin", "room.map", "room.pk3"]);
    fs::remove_file(scratch.0.join("room.pk3")).unwrap();
    fs::write(&source, "{\n\"classname\" worldspawn\n{\n( 0 x\n}\n}\n").unwrap();
    let (is_built, errors) = build_map(&source);
    assert!(!is_built && errors.matches("room.map:").count() == 2, "{errors}");
    assert_eq!(names(), ["room.lin", "room.map"]);
    let (is_built, errors) = build_map(&scratch.0.join("none.map"));
    assert!(!is_built && errors.contains("none.map not found"), "{errors}");
}

/// A folder of another author may hold anything.
#[test]
#[cfg(unix)]
fn map_build_reads_no_pipes_and_devices() {
    let scratch = Scratch::new("irregular");
    let zero = |name: &str| std::os::unix::fs::symlink("/dev/zero", scratch.0.join(name)).unwrap();
    ["z.shader", "endless.map"].into_iter().for_each(zero);
    let made = Command::new("mkfifo").arg(scratch.0.join("y.shader")).status().unwrap();
    assert!(made.success());
    fs::create_dir(scratch.0.join("x.shader")).unwrap();
    fs::write(scratch.0.join("room.map"), "{\n\"classname\" \"worldspawn\"\n}\n").unwrap();
    let (is_built, errors) = build_map(&scratch.0.join("room.map"));
    assert!(!is_built && errors.contains("room.map:1: worldspawn has no brushes"), "{errors}");
    let (is_built, errors) = build_map(&scratch.0.join("endless.map"));
    assert!(!is_built && errors.contains("endless.map too long (max "), "{errors}");
}

#[test]
fn interrupted_map_build_leaves_only_the_source() {
    let scratch = Scratch::new("interrupt");
    let source = scratch.0.join("rooms.map");
    fs::write(&source, rooms(1, 10).0).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(["maps", "build"]).arg(&source).stdout(Stdio::null()).stderr(Stdio::null());
    let mut build = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&build), Signal::INT).unwrap();
    assert!(!build.wait().unwrap().success());
    let names = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["rooms.map"]);
}

#[test]
fn map_build_shows_no_progress_without_a_terminal() {
    let scratch = Scratch::new("quiet");
    let source = scratch.0.join("rooms.map");
    fs::write(&source, rooms(1, 2).0).unwrap();
    assert_eq!(build_map(&source), (true, String::new()));
}

/// Starts a master on a free port, in `folder`.
fn start_master(folder: &Path, arguments: &[&str]) -> Server {
    let port = free_port();
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
        if let Ok((len, from)) = socket.recv_from(&mut buffer)
            && from.port() == port
        {
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

/// Writes an archive of small files.
fn write_pack(path: &Path, files: &[(&str, &[u8])]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, bytes) in files {
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        archive.start_file(*name, stored).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn bots_join_pure_server_with_its_archives() {
    let scratch = Scratch::new("pure");
    let data = scratch.0.join("data");
    let modules: [(&str, &[u8]); 2] = [("vm/cgame.qvm", b"c"), ("vm/ui.qvm", b"u")];
    write_pack(&data.join("baseoa/vms.pk3"), &modules);
    write_pack(&data.join("baseoa/zmap.pk3"), &[("readme.txt", b"none")]);
    let data = data.to_str().unwrap();
    let set = ["+set", "sv_pure", "1", "+set", "fs_basepath", data];
    let mut server = Server::start(&scratch.0, &set, |_| {});
    assert!(server.answers(PATIENCE));
    let bots = |basepath: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
        command.args(["bots", "-n", "2", "--seconds", "3", "--basepath", basepath]);
        command.args(["--connect", &format!("127.0.0.1:{}", server.port)]);
        let output = command.env_remove("RUST_LOG").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = bots(data);
    assert_eq!(code, Some(0), "{errors}");
    let (code, errors) = bots(scratch.0.to_str().unwrap());
    assert_eq!(code, Some(4), "{errors}");
    assert!(errors.contains("not installed: vms.pk3; no folder baseoa"), "{errors}");
}

/// Module of a mod that does nothing.
const IDLE_MODULE: &str = "main:\n enter 16\n const 0\n leave 16\n";

/// Returns the log of a server of a mod that stops after the first level.
fn log_of_mod(folder: &Path, arguments: &[&str]) -> String {
    let log = folder.join("log");
    let file = fs::File::create(&log).unwrap();
    let quit = [arguments, &["+quit"]].concat();
    let mut server = Server::start(folder, &quit, |command| {
        command.env("FRAGD_BASEPATH", folder).stderr(file);
    });
    server.child.wait().unwrap();
    fs::read_to_string(&log).unwrap()
}

/// Writes a module into a folder as a whole.
fn write_module(folder: &Path, source: &str) {
    fs::create_dir_all(folder).unwrap();
    let (text, new) = (folder.join("new.asm"), folder.join("new.qvm"));
    fs::write(&text, source).unwrap();
    let mut assemble = Command::new(env!("CARGO_BIN_EXE_fragd"));
    assemble.args(["qvm", "asm"]).arg(&text).arg("-o").arg(&new).stdout(Stdio::null());
    assert!(assemble.status().unwrap().success());
    fs::rename(new, folder.join("qagame.qvm")).unwrap();
}

/// A module that loops without end in its console entry.
const SPINNING_MODULE: &str = "main:\n enter 16\n local 24\n load4\n const 9\n eq @spin\n const 0\n \
    leave 16\n@spin:\n const @spin\n jump\n";

#[test]
fn signal_ends_server_whose_module_holds_the_loop() {
    let scratch = Scratch::new("held");
    write_module(&scratch.0.join("mymod/vm"), SPINNING_MODULE);
    let arguments = ["+set", "fs_game", "mymod", "+set", "vm_game", "1"];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.env("FRAGD_BASEPATH", &scratch.0).stdin(Stdio::piped());
    });
    assert!(server.answers(PATIENCE));
    // A loop that ends with the budget, after seconds.
    server.child.stdin.as_mut().unwrap().write_all(b"spin\n").unwrap();
    while server.answers(Duration::from_millis(250)) {}
    let asked = Instant::now();
    let status = server.end().unwrap();
    let took = asked.elapsed();
    assert!(took < Duration::from_millis(1500), "{took:?}, {status}");
    assert_eq!(status.code(), Some(0), "a regular end");
}

#[test]
fn replaced_module_runs_from_the_next_level() {
    let scratch = Scratch::new("newmodule");
    let (folder, log) = (scratch.0.join("mymod/vm"), scratch.0.join("log"));
    write_module(&folder, IDLE_MODULE);
    let file = fs::File::create(&log).unwrap();
    let mut server = Server::start(&scratch.0, &["+set", "fs_game", "mymod"], |command| {
        command.env("FRAGD_BASEPATH", &scratch.0).stdin(Stdio::piped()).stderr(file);
    });
    assert!(server.answers(PATIENCE));
    write_module(&folder, "main:\n enter 16\n const 1\n pop\n const 0\n leave 16\n");
    let mut console = server.child.stdin.take().unwrap();
    console.write_all(b"map course\nmap fragd1\nquit\n").unwrap();
    server.child.wait().unwrap();
    let log = fs::read_to_string(&log).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("game rules: ")).collect();
    assert!(lines.len() == 2 && lines[0].contains("; 3 instructions, "), "{log}");
    assert!(lines[1].contains("; 5 instructions, "), "{log}");
}

#[test]
fn log_names_rules_and_reason() {
    let scratch = Scratch::new("rules");
    let folder = &scratch.0;
    let (with_module, native) = (folder.join("mymod/vm"), folder.join("nativemod"));
    for made in [&with_module, &native, &folder.join("emptymod")] {
        fs::create_dir_all(made).unwrap();
    }
    let source = with_module.join("qagame.asm");
    fs::write(&source, IDLE_MODULE).unwrap();
    let mut assemble = Command::new(env!("CARGO_BIN_EXE_fragd"));
    assemble.args(["qvm", "asm"]).arg(&source).stdout(Stdio::null());
    assert!(assemble.status().unwrap().success());
    fs::write(native.join("qagamex86_64.so"), "\x7fELF").unwrap();
    let engine = if cfg!(target_arch = "x86_64") {
        "3 instructions, interpreted until it is compiled"
    } else {
        "3 instructions, interpreted"
    };
    for (fs_game, vm_game, expected) in [
        ("", None, "game rules: native (vm_game not set, no mod)"),
        ("", Some("0"), "game rules: native (vm_game 0)"),
        ("mymod", None, "mymod (vm_game not set, fs_game has a module); 3 instructions, "),
        ("mymod", None, engine),
        ("mymod", Some("1"), "mymod (vm_game 1); 3 instructions, interpreted"),
        (
            "mymod",
            Some("0"),
            "game rules: native (vm_game 0); vm/qagame.qvm of mymod not used (vm_game 2 runs it)",
        ),
        ("emptymod", None, "game rules: native; emptymod has no vm/qagame.qvm"),
        (
            "nativemod",
            None,
            "nativemod has no vm/qagame.qvm; native module qagamex86_64.so not supported",
        ),
        ("nativemod", Some("2"), "native module qagamex86_64.so not supported"),
    ] {
        let code = vm_game.map_or(Vec::new(), |code| vec!["+set", "vm_game", code]);
        let log = log_of_mod(folder, &[&["+set", "fs_game", fs_game][..], &code].concat());
        let lines = log.lines().filter(|line| line.contains("game rules: ")).count();
        assert!(log.contains(expected) && lines == 1, "{fs_game} {vm_game:?}: {log}");
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn log_names_compiled_code_when_it_is_ready() {
    let scratch = Scratch::new("compiled");
    let folder = &scratch.0;
    write_module(&folder.join("mymod/vm"), IDLE_MODULE);
    let log = folder.join("log");
    let file = fs::File::create(&log).unwrap();
    let _server = Server::start(folder, &["+set", "fs_game", "mymod"], |command| {
        command.env("FRAGD_BASEPATH", folder).stderr(file);
    });
    let expected = |line: &str| line.contains("vm/qagame.qvm: compiled to ");
    let end = Instant::now() + PATIENCE;
    let text = loop {
        let text = fs::read_to_string(&log).unwrap();
        if text.lines().any(expected) {
            break text;
        }
        assert!(Instant::now() < end, "{text}");
        thread::sleep(Duration::from_millis(20));
    };
    assert!(text.contains("KiB in a sealed memory file"), "{text}");
}

/// A value of the server's `infoResponse`.
fn info(port: u16, key: &str) -> Option<String> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    socket.send_to(b"\xff\xff\xff\xffgetinfo x", (Ipv4Addr::LOCALHOST, port)).unwrap();
    let mut buffer = [0; 2048];
    let len = socket.recv(&mut buffer).ok()?;
    let text = String::from_utf8_lossy(&buffer[..len]).into_owned();
    let mut words = text.split('\\').skip(1);
    while let Some(name) = words.next() {
        let value = words.next()?;
        if name == key {
            return Some(value.to_owned());
        }
    }
    None
}

/// Waits until the server's `infoResponse` has a value.
#[track_caller]
fn expect_info(port: u16, key: &str, value: &str) {
    let end = Instant::now() + PATIENCE;
    let mut last = None;
    while last.as_deref() != Some(value) {
        assert!(Instant::now() < end, "{key} is {last:?}, expected {value}");
        thread::sleep(Duration::from_millis(50));
        last = info(port, key).or(last);
    }
}

/// Writes an archive with the built-in map under another name, as a copy in progress and then in its place.
fn add_map(folder: &Path, name: &str) {
    let data = fragd::io::GameData::default().with_builtin("baseoa");
    let map = fragd::model::assets::Assets::read(&data, "maps/fragd1.bsp", u64::MAX).unwrap();
    fs::create_dir_all(folder).unwrap();
    let part = folder.join(format!("{name}.part"));
    let mut archive = zip::ZipWriter::new(fs::File::create(&part).unwrap());
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    archive.start_file(format!("maps/{name}.bsp"), options).unwrap();
    archive.write_all(&map).unwrap();
    archive.finish().unwrap();
    fs::rename(part, folder.join(format!("{name}.pk3"))).unwrap();
}

fn replay(journal: &Path, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fragd"))
        .args(["replay", journal.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn new_archive_is_found_at_the_next_level() {
    let scratch = Scratch::new("newmap");
    let (home, journal) = (scratch.0.join("home"), scratch.0.join("j"));
    add_map(&home.join("baseoa"), "first");
    let paths = [home.to_str().unwrap(), journal.to_str().unwrap()];
    // The home folder is searched before an empty installation.
    let arguments = [
        "--journal",
        paths[1],
        "+set",
        "fs_basepath",
        "/nonexistent",
        "+set",
        "fs_homepath",
        paths[0],
        "+set",
        "sv_allowDownload",
        "1",
        "+set",
        "rconPassword",
        "hunter2hunter2",
        "+map",
        "first",
    ];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.stdin(Stdio::piped());
    });
    assert!(server.answers(PATIENCE));
    expect_info(server.port, "mapname", "first");
    let mut console = server.child.stdin.take().unwrap();
    add_map(&home.join("baseoa"), "second");
    fs::remove_file(home.join("baseoa/first.pk3")).unwrap();
    console.write_all(b"map second\n").unwrap();
    expect_info(server.port, "mapname", "second");
    console.write_all(b"map first\nset g_password hunter2\nrconPassword hunter2hunter3\n").unwrap();
    thread::sleep(Duration::from_millis(300));
    expect_info(server.port, "mapname", "second");
    assert!(server.end().is_some_and(|status| status.success()));

    // The journal names the archives of both levels; its map is needed again.
    add_map(&home.join("baseoa"), "first");
    for more in [&[][..], &["--json"], &["--dump"], &["--dump", "--json"]] {
        let text = replay(&journal, more);
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("rconPassword"), "{text}");
        if more.is_empty() {
            assert!(text.contains("verdict         the same"), "{text}");
        }
    }
}

#[test]
fn command_line_names_a_script_by_its_path() {
    let scratch = Scratch::new("script");
    let script = scratch.0.join("etc/server.cfg");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, "set sv_hostname first\nexec ../etc/next.cfg\n").unwrap();
    fs::write(scratch.0.join("etc/next.cfg"), "set sv_hostname nested\n").unwrap();
    fs::write(scratch.0.join("local.cfg"), "set sv_keywords local\nset g_motd here\n").unwrap();
    let nested = format!("exec {}", scratch.0.join("etc/next.cfg").display());
    let arguments =
        ["+exec", script.to_str().unwrap(), "+set", "d1", &nested, "+exec", "local", "+vstr", "d1"];
    let mut server = Server::start(&scratch.0, &arguments, |_| {});
    assert!(server.answers(PATIENCE));
    expect_info(server.port, "hostname", "first");
    let pid = server.child.id().to_string();
    let query = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_fragd")).arg("query").args(more).output().unwrap()
    };
    let output = query(&["--pid", &pid, "--settings"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("first") && text.contains("local"), "{text}");
    let ours = query(&["--pid", &std::process::id().to_string(), "--timeout", "100"]);
    assert_eq!(ours.status.code(), Some(1));
}

/// Exit status and log of a server that ends by itself.
fn ended(folder: &Path, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> (i32, String) {
    let log = folder.join("log");
    let file = fs::File::create(&log).unwrap();
    let mut server = Server::start(folder, arguments, |command| {
        command.stderr(file);
        prepare(command);
    });
    let status = server.child.wait().unwrap();
    (status.code().unwrap_or(-1), fs::read_to_string(&log).unwrap())
}

#[test]
fn invalid_address_ends_start_with_status_2() {
    let scratch = Scratch::new("address");
    for (name, value, expected) in [
        (
            "sv_http",
            "foo",
            "\"foo\" (expected an IP address and port, e.g. 192.0.2.1:27960; or nothing)",
        ),
        (
            "sv_metrics",
            "9527",
            "\"9527\" (expected an IP address and port, e.g. 127.0.0.1:9527; or nothing)",
        ),
        (
            "sv_relayAddress",
            "a:1",
            "\"a:1\" (expected an IP address and port, e.g. 0.0.0.0:27970; or nothing)",
        ),
        ("sv_relayPassword", "hunter2", "(hidden) (expected 8 to 63 characters, or nothing)"),
    ] {
        let sentence = format!("{name}: invalid value {expected}\n");
        let (status, log) = ended(&scratch.0, &["+set", name, value], |_| {});
        assert_eq!((status, log), (2, format!("fragd: +set: {sentence}")), "{name}");
        // A value of the file is checked although the command line replaces it.
        fs::write(scratch.0.join("f.toml"), format!("sv_fps = 30\n{name} = \"{value}\"\n"))
            .unwrap();
        let arguments = ["--config", "f.toml", "+set", name, "", "+quit"];
        let (status, log) = ended(&scratch.0, &arguments, |_| {});
        assert_eq!((status, log), (2, format!("fragd: f.toml:2: {sentence}")), "{name}");
    }
    let (status, log) = ended(&scratch.0, &["+set", "sv_relayAddress", "127.0.0.1:0"], |_| {});
    assert_eq!(status, 2, "{log}");
    assert!(log.contains("+set: sv_relayAddress: \"127.0.0.1:0\" needs a password; "), "{log}");
}

#[test]
fn missing_mod_ends_start_with_near_name() {
    let scratch = Scratch::new("nomod");
    fs::create_dir_all(scratch.0.join("mymod")).unwrap();
    let base = scratch.0.to_str().unwrap().to_owned();
    let of_mod = |name: &str| {
        ended(&scratch.0, &["+set", "fs_game", name, "+quit"], |command| {
            command.env("FRAGD_BASEPATH", &base);
        })
    };
    let (status, log) = of_mod("MyMod");
    assert_eq!(status, 2, "{log}");
    assert!(log.contains("+set: fs_game: mod MyMod not found "), "{log}");
    assert!(log.ends_with("; did you mean mymod?\n") && !log.contains("game rules"), "{log}");
    let (status, log) = of_mod("nosuchmod");
    assert!(status == 2 && log.contains(&base) && !log.contains("did you mean"), "{log}");
    let flight = ["+set", "g_rules", "flight", "+set", "fs_game", "nosuchmod", "+quit"];
    let (status, log) = ended(&scratch.0, &flight, |_| {});
    assert!(status == 2 && log.contains("mod nosuchmod not found"), "{log}");
    for name in ["mymod", "baseoa"] {
        let (status, log) = of_mod(name);
        assert!(status == 0 && log.contains("server ready"), "{name}: {log}");
    }
}

#[test]
fn missing_files_are_named_with_near_names() {
    let scratch = Scratch::new("nearfiles");
    fs::write(scratch.0.join("fragday.cfg"), "map fragd1\n").unwrap();
    fs::write(scratch.0.join("f.toml"), "sv_fps = 30\nmap = \"fragd11\"\n").unwrap();
    let near = "; did you mean fragday.cfg?\n";
    for (arguments, start, end) in [
        (["+exec", "fragdy"], "fragd: +exec: couldn't exec fragdy.cfg: ", near),
        (
            ["+exec", "./fragdy.cfg"],
            "fragd: +exec: couldn't exec ./fragdy.cfg: ",
            "mean ./fragday.cfg?\n",
        ),
        (["--config", "f.toml"], "fragd: f.toml:2: map: ", "; did you mean fragd1?\n"),
    ] {
        let (status, log) = ended(&scratch.0, &[arguments[0], arguments[1], "+quit"], |_| {});
        let error = log.lines().last().unwrap_or_default();
        assert!(status == 2 && error.starts_with(start) && log.ends_with(end), "{log}");
        assert!(!log.contains("server id"), "{log}");
    }
}

#[test]
fn quit_at_start_sends_and_opens_nothing() {
    let scratch = Scratch::new("check");
    let master = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    master.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    // The running server has the port.
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let file = format!(
        "dedicated = 2\nsv_master1 = \"{}\"\nsv_metrics = \"{}\"\ng_log = \"games.log\"\n",
        master.local_addr().unwrap(),
        metrics.local_addr().unwrap()
    );
    fs::write(scratch.0.join("f.toml"), file).unwrap();
    for lines in [&["+quit"][..], &["+map", "fragd1", "+quit"], &["+status", "+wait", "+QUIT"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
        command.args(["serve", "--config", "f.toml", "--port", "0"]).args(lines);
        command.current_dir(&scratch.0).env("FRAGD_BASEPATH", &scratch.0).stdin(Stdio::null());
        let output = command.output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{lines:?}: {log}");
        assert!(!scratch.0.join("games.log").exists(), "{lines:?}: {log}");
        assert!(master.recv(&mut [0; 64]).is_err(), "{lines:?}: a heartbeat");
    }
}

#[test]
fn missing_config_file_names_its_variable() {
    let scratch = Scratch::new("variable");
    let (status, log) = ended(&scratch.0, &[], |command| {
        command.env("FRAGD_CONFIG", "/nonexistent.toml");
    });
    let expected = "fragd: FRAGD_CONFIG: /nonexistent.toml not found; check the name and the working directory\n";
    assert_eq!((status, log.as_str()), (2, expected));
}

/// Runs the program in a folder. Returns exit code and all output.
fn fragd(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(arguments).current_dir(folder).env("HOME", folder).env_remove("RUST_LOG");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.into_owned())
}

#[test]
fn cut_journal_compares_nothing_or_the_same() {
    let scratch = Scratch::new("cutjournal");
    let mut server = Server::start(&scratch.0, &["--journal", "j"], |_| {});
    assert!(server.answers(PATIENCE));
    assert!(server.end().is_some_and(|status| status.success()));
    let (code, text) = fragd(&scratch.0, &["replay", "j"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("verdict         the same\n"), "{text}");
    let whole = fs::read(scratch.0.join("j")).unwrap();
    let mut codes = Vec::new();
    for part in 1..24 {
        fs::write(scratch.0.join("cut"), &whole[..whole.len() * part / 24]).unwrap();
        let (code, text) = fragd(&scratch.0, &["replay", "cut"]);
        codes.push(code);
        let is_empty = text.contains("compared        0 datagrams");
        match code {
            Some(0) => assert!(!is_empty && text.contains("the same up to byte"), "{text}"),
            Some(9) => assert!(is_empty && text.contains("nothing compared: "), "{text}"),
            other => assert_eq!(other, Some(2), "{text}"),
        }
    }
    assert!(codes.contains(&Some(9)), "{codes:?}");
}

/// Starts a player who stays for a minute, and waits until the server has the player.
fn start_player(server: &Server, metrics: u16) -> Child {
    let address = format!("127.0.0.1:{}", server.port);
    let player = Command::new(env!("CARGO_BIN_EXE_fragd"))
        .args(["bots", "--connect", &address, "-n", "1", "--seconds", "60"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + PATIENCE;
    // The first copy of the counters takes a second.
    while !page(metrics, "/metrics").contains("\nq3_clients 1\n") {
        assert!(Instant::now() < end, "no player joins");
        thread::sleep(Duration::from_millis(100));
    }
    player
}

#[test]
fn first_sigterm_drains_and_second_one_ends() {
    let scratch = Scratch::new("drain");
    let metrics = free_port();
    let place = format!("127.0.0.1:{metrics}");
    for ends_early in [false, true] {
        let seconds = if ends_early { "600" } else { "4" };
        let arguments = [
            "--journal",
            "j",
            "+set",
            "sv_drainTime",
            seconds,
            "+set",
            "sv_metrics",
            &place,
            "+map",
            "fragd1",
        ];
        let mut server = Server::start(&scratch.0, &arguments, |_| {});
        assert!(server.answers(PATIENCE));
        let mut player = start_player(&server, metrics);
        let ready = page(metrics, "/readyz");
        assert!(
            ready.starts_with("HTTP/1.1 200 ") && ready.ends_with("\"ready\":true}\n"),
            "{ready}"
        );
        let begun = Instant::now();
        server.signal(Signal::TERM);
        thread::sleep(Duration::from_millis(1500));
        assert!(server.answers(PATIENCE), "it drains");
        if ends_early {
            assert_eq!(counter(metrics, "q3_draining "), 1);
            let ready = page(metrics, "/readyz");
            assert!(
                ready.starts_with("HTTP/1.1 503 ") && ready.contains("[\"draining\"]"),
                "{ready}"
            );
            let live = page(metrics, "/livez");
            assert!(live.starts_with("HTTP/1.1 200 ") && live.contains("\"live\":true"), "{live}");
            server.signal(Signal::TERM);
        }
        assert!(server.wait().is_some_and(|status| status.success()));
        let took = begun.elapsed();
        let expected = if ends_early { 1..4 } else { 4..8 };
        assert!(expected.contains(&took.as_secs()), "{took:?}");
        let _ = player.kill();
        let _ = player.wait();
        let (code, text) = fragd(&scratch.0, &["replay", "j"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("verdict         the same\n"), "{text}");
        fs::remove_file(scratch.0.join("j")).unwrap();
    }
}

/// Names of metrics in the queries of a file for Prometheus or Grafana.
fn named_metrics(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let prefixes = ["q3_", "process_", "loop_", "udp_", "output_"];
    let words = text.split(|c: char| !is_name(c));
    let names = words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    names.map(str::to_owned).collect()
}

#[test]
fn monitoring_files_name_metrics_that_exist() {
    let scratch = Scratch::new("metrics");
    let metrics = free_port();
    let place = format!("127.0.0.1:{metrics}");
    let mut server =
        Server::start(&scratch.0, &["+set", "sv_metrics", &place, "+map", "fragd1"], |_| {});
    assert!(server.answers(PATIENCE));
    while !page(metrics, "/readyz").starts_with("HTTP/1.1 200 ") {
        thread::sleep(Duration::from_millis(50));
    }
    let exposition = page(metrics, "/metrics");
    let known: BTreeSet<&str> = exposition
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, least) in [("config/prometheus/alerts.yml", 12), ("config/grafana/fragd.json", 20)] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let names = named_metrics(&text);
        assert!(names.len() >= least, "{file}: {names:?}");
        let unknown: Vec<_> = names.iter().filter(|name| !known.contains(name.as_str())).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?} not in\n{exposition}");
    }
    let version = format!("q3_build_info{{version=\"{}\"}} 1\n", env!("CARGO_PKG_VERSION"));
    assert!(exposition.contains(&version), "{exposition}");
    assert!(exposition.contains("q3_map_info{map=\"fragd1\",gametype=\"0\"} 1\n"), "{exposition}");
    assert!(server.end().is_some_and(|status| status.success()));
}

/// A socket that receives as systemd does.
struct Notified(UnixDatagram);

impl Notified {
    /// Waits for a message with these lines and returns it.
    fn wait_for(&self, lines: &[&str]) -> String {
        let end = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while Instant::now() < end {
            let mut buffer = [0; 1024];
            let Ok(len) = self.0.recv(&mut buffer) else { continue };
            let text = String::from_utf8_lossy(&buffer[..len]).into_owned();
            if lines.iter().all(|start| text.lines().any(|line| line.starts_with(start))) {
                return text;
            }
            seen.push(text);
        }
        panic!("{lines:?} not in {seen:?}");
    }
}

#[test]
fn service_manager_is_told_each_state() {
    let scratch = Scratch::new("notify");
    let path = scratch.0.join("notify.sock");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let notified = Notified(socket);
    let metrics = free_port();
    let place = format!("127.0.0.1:{metrics}");
    let arguments = ["+set", "sv_drainTime", "600", "+set", "sv_metrics", &place, "+map", "fragd1"];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "1000000");
    });
    notified.wait_for(&["READY=1"]);
    notified.wait_for(&["STATUS=map fragd1, 0 of 8 clients"]);
    let begun = Instant::now();
    (0..4).for_each(|_| drop(notified.wait_for(&["WATCHDOG=1"])));
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "half of the interval: {:?}",
        begun.elapsed()
    );
    server.signal(Signal::HUP);
    let text = notified.wait_for(&["RELOADING=1", "MONOTONIC_USEC="]);
    let stamp = text.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
    assert!(stamp.parse::<u64>().is_ok_and(|us| us > 0), "{text}");
    notified.wait_for(&["READY=1"]);
    let mut player = start_player(&server, metrics);
    server.signal(Signal::TERM);
    notified.wait_for(&["STATUS=draining: stops in 10 min"]);
    notified.wait_for(&["EXTEND_TIMEOUT_USEC=30000000"]);
    server.signal(Signal::TERM);
    notified.wait_for(&["STOPPING=1"]);
    assert!(server.wait().is_some_and(|status| status.success()));
    let _ = player.kill();
    let _ = player.wait();
}

#[test]
fn hangup_applies_what_files_have_changed() {
    let scratch = Scratch::new("reload");
    let log = scratch.0.join("log.txt");
    let write = |name: &str, text: &str| fs::write(scratch.0.join(name), text).unwrap();
    write("f.toml", "sv_hostname = \"first\"\nsv_maxclients = 9\ntimelimit = 15\n");
    write("s.cfg", "set fraglimit 20\nset d1 \"map fragd1\"\necho ran once\n");
    let arguments = ["--config", "f.toml", "--journal", "j", "+exec", "./s.cfg", "+map", "fragd1"];
    let mut server = Server::start(&scratch.0, &arguments, |command| {
        command.stdin(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
    });
    assert!(server.answers(PATIENCE));
    let mut console = server.child.stdin.take().unwrap();
    // A value of the console stays while its file has not changed.
    console.write_all(b"timelimit 40\n").unwrap();
    let info = |port: u16| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let mut buffer = [0; 4096];
        socket.send_to(b"\xff\xff\xff\xffgetstatus x", (Ipv4Addr::LOCALHOST, port)).unwrap();
        let len = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..len]).into_owned()
    };
    let reload = |server: &Server, line: &str| {
        server.signal(Signal::HUP);
        let end = Instant::now() + PATIENCE;
        while !fs::read_to_string(&log).unwrap().contains(line) {
            assert!(Instant::now() < end, "{line} not in {}", fs::read_to_string(&log).unwrap());
            thread::sleep(Duration::from_millis(50));
        }
    };
    reload(
        &server,
        "reload: 0 applied, 0 with the next map, 0 need a restart, 0 refused; 1 commands",
    );
    write(
        "f.toml",
        "sv_hostname = \"second\"\nsv_maxclients = 12\ntimelimit = 15\ng_logSize = 5\nrconPassword = \"hunter2hunter2\"\n",
    );
    write("s.cfg", "set fraglimit 30\nset d1 \"map fragd2\"\nset d2 x\necho ran twice\n");
    reload(
        &server,
        "reload: 5 applied, 1 with the next map, 1 need a restart, 0 refused; 1 commands",
    );
    let text = fs::read_to_string(&log).unwrap();
    for line in [
        "reload: sv_hostname = \"second\": applied",
        "reload: sv_maxclients = \"12\": with the next map",
        "reload: g_logSize = \"5\": needs a restart",
        "reload: fraglimit = \"30\": applied",
        "reload: d2 = \"x\": applied",
        "reload: rconPassword: applied",
    ] {
        assert!(text.contains(line), "{line} not in {text}");
    }
    assert!(!text.contains("hunter2") && !text.contains("ran twice"), "{text}");
    let shown = info(server.port);
    for pair in ["\\sv_hostname\\second", "\\timelimit\\40", "\\fraglimit\\30"] {
        assert!(shown.contains(pair), "{pair} not in {shown}");
    }
    write("s.cfg", "set fraglimit abc\nset d1 \"map fragd2\"\nset d2 y\n");
    reload(
        &server,
        "reload: 1 applied, 0 with the next map, 0 need a restart, 1 refused; 0 commands",
    );
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("reload: ./s.cfg:1: fraglimit: "), "{text}");
    assert!(info(server.port).contains("\\fraglimit\\30"), "the value stays");
    write("f.toml", "sv_hostname = \"third\"\nsv_fps = 1\n");
    reload(&server, "reload refused: nothing is changed");
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("reload: f.toml:2: sv_fps: invalid value"), "{text}");
    assert!(info(server.port).contains("\\sv_hostname\\second"));
    assert!(server.end().is_some_and(|status| status.success()));
    drop(console);
    let (code, text) = fragd(&scratch.0, &["replay", "j"]);
    assert!(code == Some(0) && text.contains("verdict         the same\n"), "{text}");
}

#[test]
fn check_names_errors_with_their_places() {
    let scratch = Scratch::new("checkfiles");
    let write = |name: &str, text: &str| fs::write(scratch.0.join(name), text).unwrap();
    let check = |arguments: &[&str]| fragd(&scratch.0, &[&["check"], arguments].concat());
    write("good.toml", "sv_hostname = \"x\"\nmap = \"fragd1\"\n");
    write(
        "good.cfg",
        "set fraglimit 20\nmap fragd1\nset d1 \"map fragd1\"; vstr d1\naddip 1.2.3.4\n",
    );
    let (code, text) = check(&["good.toml", "good.cfg"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 files: 0 errors, 0 notes; 3 commands of scripts not run"), "{text}");
    let (_, text) = check(&["good.toml"]);
    assert!(text.contains("1 file: 0 errors, 0 notes; 0 commands of scripts not run"), "{text}");
    write("bad.toml", "sv_hostnam = \"x\"\nsv_fps = 1\n\nmap = \"fragd1\"\n");
    write(
        "bad.cfg",
        "set sv_fps 300\nexec nosuch\nmap nosuchmap\nstats\nquitt\nsets rconPassword x\n",
    );
    write(
        "more.cfg",
        "set net_port 5\nvstr nothere\nset d1 \"map fragdl ; vstr d2\"\nsv_hostnam x\nmap fragdl\n/* x\n",
    );
    write(
        "paths.toml",
        "rconPasswordFile = \"/nonexist\"\nsv_console = \"/nonexist/x\"\nsv_state = \"paths.toml\"\nfs_game = \"nomod\"\n",
    );
    let (code, text) = check(&["paths.toml", "more.cfg"]);
    assert_eq!(code, Some(2), "{text}");
    for expected in [
        "error: more.cfg:1: net_port is write protected",
        "note: more.cfg:2: vstr: nothere is not set before",
        "note: d1: map fragdl not found; did you mean fragd1?",
        "note: more.cfg:4: unknown command sv_hostnam; did you mean sv_hostname?",
        "error: more.cfg:5: map fragdl not found; did you mean fragd1?",
        "note: more.cfg:6: comment /* not closed",
        "note: paths.toml:1: rconPasswordFile: /nonexist not found",
        "note: paths.toml:2: sv_console: folder /nonexist not found",
        "note: paths.toml:3: sv_state: paths.toml is not a folder",
        "error: paths.toml:4: fs_game: mod nomod not found",
        "2 files: 3 errors, 7 notes; ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (code, text) = check(&["bad.toml", "bad.cfg"]);
    assert_eq!(code, Some(2), "{text}");
    for line in [
        "error: bad.toml:1: unknown setting sv_hostnam; did you mean sv_hostname?\n",
        "error: bad.toml:2: sv_fps: invalid value \"1\"",
        "error: bad.cfg:2: couldn't exec nosuch.cfg: ",
        "error: bad.cfg:3: map nosuchmap not found\n",
        "error: bad.cfg:6: rconPassword is secret",
        "note: bad.cfg:1: sv_fps: \"300\" read as 125",
        "note: bad.cfg:5: unknown command quitt; did you mean quit?\n",
    ] {
        assert!(text.contains(line), "{line} not in {text}");
    }
    let (code, text) = check(&["--json", "bad.toml"]);
    let shown = text.contains("\"line\": 2") && text.contains("\"ok\": false");
    assert!(code == Some(2) && shown, "{text}");
    let (code, text) = check(&["nosuch.toml"]);
    assert!(code == Some(2) && text.contains("nosuch.toml not found"), "{text}");
}

#[test]
fn drawing_of_a_floor_names_its_items_only() {
    let scratch = Scratch::new("floors");
    let draw = |more: &[&str]| {
        let arguments = [&["maps", "fragd1", "--draw", "m.svg"][..], more].concat();
        let (code, text) = fragd(&scratch.0, &arguments);
        assert_eq!(code, Some(0), "{text}");
        fs::read_to_string(scratch.0.join("m.svg")).unwrap()
    };
    let is_row = |line: &&str| line.starts_with("<text") && line.contains(">Rocket Launcher");
    let rows = |svg: &str| svg.lines().filter(is_row).count();
    let labels = |svg: &str| svg.matches(">RL</text>").count();
    let floors: Vec<String> = ["1", "2", "3"].map(|floor| draw(&["--floor", floor])).into();
    for svg in &floors {
        // A label stands at each item, and one in its row of the legend.
        assert_eq!(rows(svg), labels(svg).min(1), "{} labels", labels(svg));
        assert_ne!(labels(svg), 1);
    }
    assert!(floors.iter().any(|svg| rows(svg) == 0) && floors.iter().any(|svg| rows(svg) == 1));
    let width = |svg: &str| {
        let text = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap();
        text.parse::<u32>().unwrap()
    };
    // The height depends on the rounding of the ground.
    let view = |svg: &str| {
        let text = svg.split("viewBox=\"").nth(1).unwrap().split('"').next().unwrap();
        text.split(' ').nth(2).unwrap().to_owned()
    };
    let (small, large) = (draw(&["--size", "1200"]), draw(&["--size", "2400"]));
    assert_eq!(view(&small), view(&large));
    assert_eq!(2 * width(&small), width(&large));
}

#[test]
fn bans_outlast_a_killed_server() {
    let scratch = Scratch::new("bans");
    let state = scratch.0.join("state");
    let settings = ["+set", "sv_state", state.to_str().unwrap(), "+map", "fragd1"];
    let start = |what: &str| {
        let mut server = Server::start(&scratch.0, &settings, |command| {
            command.stdin(Stdio::piped());
        });
        assert!(server.answers(PATIENCE), "{what}");
        server
    };
    let file = state.join("bans.jsonl");
    let written = || fs::read_to_string(&file).unwrap_or_default();
    let await_ban = |network: &str| {
        let end = Instant::now() + PATIENCE;
        while !written().contains(network) && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        assert!(written().contains(network), "{network} in {}", written());
    };
    let mut server = start("the first server");
    server.child.stdin.as_mut().unwrap().write_all(b"ban 192.0.2.1 2h spam\n").unwrap();
    await_ban("192.0.2.1/32");
    server.child.kill().unwrap();
    drop(server);
    // The next server reads the list, adds to it, and ends in good order.
    let mut server = start("a server after kill -9");
    server.child.stdin.as_mut().unwrap().write_all(b"ban 192.0.2.2\nban 192.0.2.3\n").unwrap();
    await_ban("192.0.2.2/32");
    assert!(server.end().is_some_and(|status| status.success()));
    for network in ["192.0.2.1/32", "192.0.2.2/32", "192.0.2.3/32"] {
        assert!(written().contains(network), "{network}: {}", written());
    }
    // A file with a fault is kept aside.
    fs::write(&file, "nonsense\n").unwrap();
    let mut server = start("a server with an unreadable state file");
    assert!(server.end().is_some_and(|status| status.success()));
    assert_eq!(fs::read_to_string(state.join("bans.jsonl.bad")).unwrap(), "nonsense\n");
}
