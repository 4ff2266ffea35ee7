//! Process-level tests of commands that end by themselves: output, files, exit codes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod process_fixture;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use process_fixture::{Scratch, free_port};
use rustix::process::{Pid, Signal, kill_process};

/// Command in a folder without game data of the machine.
fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fragd"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.env("HOME", folder).env("FRAGD_BASEPATH", folder).env_remove("RUST_LOG");
    command
}

/// Exit code, standard output and standard error of a command.
fn fragd(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let output = command(folder, line).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn full_standard_output_fails_with_one_line() {
    let scratch = Scratch::new("full");
    for line in ["settings", "settings --toml", "maps", "maps --json", "--help", "bots --help"] {
        let mut command = command(&scratch.0, line);
        command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {text}");
        assert!(text.starts_with("fragd: standard output not written: "), "{line}: {text}");
        assert_eq!(text.lines().count(), 1, "{line}: {text}");
    }
}

#[test]
fn closed_pipe_ends_output_in_silence() {
    let scratch = Scratch::new("pipe");
    for line in ["settings", "maps --json", "--help"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(&scratch.0, line).stdout(writer).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.is_empty(), "{line}: {text}");
    }
}

#[test]
fn outputs_never_replace_the_files_they_come_from() {
    let scratch = Scratch::new("replace");
    let own = scratch.0.join("own.dm_71");
    fs::create_dir(scratch.0.join("demos")).unwrap();
    for name in ["own.mv", "own.map", "own.asm", "own.pcap"] {
        fs::write(scratch.0.join(name), "source").unwrap();
    }
    fs::write(&own, "source").unwrap();
    for (line, code) in [
        ("demo cut own.dm_71 -o own.dm_71", 1),
        ("demo cut own.dm_71 -o demos/../own.dm_71", 1),
        ("demo extract own.mv --follow 0 -o own.mv", 1),
        ("trace own.pcap --report own.pcap", 2),
        ("qvm disasm own.asm -o own.asm", 1),
        ("serve --config own.map --journal own.map", 2),
        ("bots --connect 127.0.0.1 --scenario own.map --csv own.map", 2),
        ("bots --connect 127.0.0.1 --csv new --junit demos/../new", 2),
    ] {
        let (status, _, text) = fragd(&scratch.0, line);
        assert_eq!(status, Some(code), "{line}: {text}");
        assert!(text.contains("(expected another file)"), "{line}: {text}");
    }
    for name in ["own.dm_71", "own.mv", "own.map", "own.asm", "own.pcap"] {
        assert_eq!(fs::read(scratch.0.join(name)).unwrap(), b"source", "{name}");
    }
}

#[test]
fn missing_folders_of_options_are_named() {
    let scratch = Scratch::new("folders");
    fs::create_dir(scratch.0.join("mymod")).unwrap();
    let (code, _, text) = fragd(&scratch.0, "maps --mod mymood");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--mod: mod mymood not found (expected a folder, "), "{text}");
    assert!(text.ends_with("; did you mean mymod?\n"), "{text}");
    let (code, list, text) = fragd(&scratch.0, "maps --mod mymod");
    assert!(code == Some(0) && list.contains("fragd1") && text.is_empty(), "{text}");
    let expected = "fragd: --basepath: folder /nonexist not found; no file of it is read\n";
    for line in ["maps --basepath /nonexist", "sim --minutes 1 --map fragd1 --basepath /nonexist"] {
        let (code, _, text) = fragd(&scratch.0, line);
        assert_eq!((code, text.as_str()), (Some(0), expected), "{line}");
    }
    let mut variable = command(&scratch.0, "maps");
    let output = variable.env("FRAGD_BASEPATH", "/nonexist").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("fragd: FRAGD_BASEPATH: folder /nonexist not found"), "{text}");
}

/// A journal and recordings of a server with two bots, in `folder`.
fn recorded(folder: &Path) -> (PathBuf, PathBuf) {
    let port = free_port();
    let line = format!(
        "serve --port {port} --journal j +set net_ip 127.0.0.1 +set sv_autoRecord 3 +set sv_demoFolder demos"
    );
    let mut server = command(folder, &line).stderr(Stdio::null()).spawn().unwrap();
    let query = format!("query 127.0.0.1:{port} --timeout 500");
    let is_up = (0..60).any(|_| fragd(folder, &query).0 == Some(0));
    let bots = fragd(folder, &format!("bots --connect 127.0.0.1:{port} -n 2 --seconds 2"));
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    let ended = server.wait().unwrap();
    assert!(is_up && ended.success(), "{bots:?}");
    let files = fs::read_dir(folder.join("demos")).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    let with = |end: &str| files.iter().find(|path| path.to_str().unwrap().ends_with(end));
    (with(".dm_71").unwrap().clone(), with(".mv").unwrap().clone())
}

/// A server with more arguments, in `folder`, that ends with its owner.
struct Served(std::process::Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Served {
    fn start(folder: &Path, port: u16, more: &str) -> Self {
        let line = format!("serve --port {port} +set net_ip 127.0.0.1 +set g_log \"\" {more}");
        let server = Self(command(folder, &line).stderr(Stdio::null()).spawn().unwrap());
        let query = format!("query 127.0.0.1:{port} --timeout 500");
        assert!((0..60).any(|_| fragd(folder, &query).0 == Some(0)), "{more}");
        server
    }
}

/// Result of `fragd rcon` with a password, and lines for standard input.
fn rcon(folder: &Path, password: &str, line: &str, input: &str) -> (Option<i32>, String, String) {
    let mut command = command(folder, &format!("rcon {line}"));
    command.env("FRAGD_RCON_PASSWORD", password);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn rcon_prints_answers_of_server_with_password_file() {
    let scratch = Scratch::new("rcon");
    fs::write(scratch.0.join("secret"), "sesame street\nsecond line\n").unwrap();
    let port = free_port();
    let place = format!("127.0.0.1:{port}");
    let _server =
        Served::start(&scratch.0, port, "+set rconPasswordFile secret +set sv_hostname ^1Red");
    let (status, text, errors) =
        rcon(&scratch.0, "sesame street", &format!("{place} cvarlist"), "");
    assert_eq!(status, Some(0), "{errors}");
    assert!(text.lines().count() > 100 && text.contains("sv_hostname"), "several packets: {text}");
    assert!(text.contains("Red") && !text.contains("^1Red"), "{text}");
    let lines = "echo one\n\nsv_hostname\n";
    let (status, text, _) =
        rcon(&scratch.0, "sesame street", &format!("{place} --json --silence 100"), lines);
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, objects.len()), (Some(0), 2), "{text}");
    assert_eq!((&objects[0]["answer"], &objects[0]["game"]), (&"one\n".into(), &"q3".into()));
    assert!(objects[1]["answer"].as_str().unwrap().contains("^1Red"), "{text}");
    let file = format!("{place} --password-file secret echo two");
    assert_eq!(rcon(&scratch.0, "other", &file, "").1, "two\n");
    let (status, text, errors) = rcon(&scratch.0, "wrong", &format!("{place} status"), "");
    assert_eq!((status, text.as_str()), (Some(4), ""), "{errors}");
    assert!(errors.contains("refused the password: Bad rconpassword."), "{errors}");
    let silent = format!("127.0.0.1:{} --timeout 200 status", free_port());
    let (status, _, errors) = rcon(&scratch.0, "wrong", &silent, "");
    assert!(status == Some(3) && errors.contains("no answer from 127.0.0.1:"), "{errors}");
    let (status, _, errors) = rcon(&scratch.0, "", &format!("{place} status"), "");
    assert!(status == Some(2) && errors.contains("--password-file"), "{errors}");
}

#[test]
fn unusable_password_file_ends_start() {
    let scratch = Scratch::new("password-file");
    for (content, why) in [
        (Some("short"), "rconPassword too short (expected at least 8"),
        (Some("change-me\n"), "rconPassword is a placeholder of examples"),
        (Some("\nsesame"), "./secret:1: empty line (expected a password)"),
        (None, "secret"),
    ] {
        let path = scratch.0.join("secret");
        let _ = fs::remove_file(&path);
        if let Some(content) = content {
            fs::write(path, content).unwrap();
        }
        let line = format!(
            "serve --port {} +set net_ip 127.0.0.1 +set g_log \"\" +set sv_rconAllow any +set rconPasswordFile secret +quit",
            free_port()
        );
        let (status, _, errors) = fragd(&scratch.0, &line);
        assert_eq!(status, Some(2), "{errors}");
        let last = errors.lines().last().unwrap_or_default();
        assert!(last.contains("rconPasswordFile: ") && last.contains(why), "{last}");
        assert!(!errors.contains("sesame") && !errors.contains("change-me"), "{errors}");
    }
}

#[test]
fn unusable_file_of_administrators_is_named() {
    let scratch = Scratch::new("admins");
    let login = "[[login]]\nname = \"anna\"\nlevel = \"top\"\nsecret = \"annas-secret\"\n";
    fs::write(scratch.0.join("admins.toml"), login).unwrap();
    fs::write(scratch.0.join("fragd.toml"), "sv_admins = \"admins.toml\"\n").unwrap();
    let fault =
        "admins.toml:3: level: unknown level 'top' (expected a [[level]] with name = \"top\")";
    let (status, text, _) = fragd(&scratch.0, "check fragd.toml");
    assert_eq!((status, text.contains(fault)), (Some(2), true), "{text}");
    let line = format!(
        "serve --port {} +set net_ip 127.0.0.1 +set g_log \"\" +set sv_admins admins.toml +quit",
        free_port()
    );
    let (status, _, errors) = fragd(&scratch.0, &line);
    assert_eq!((status, errors.contains(fault)), (Some(2), true), "{errors}");
    assert!(!errors.contains("annas-secret"), "{errors}");
    let level = "[[level]]\nname = \"top\"\ncommands = [\"all\"]\n";
    fs::write(scratch.0.join("admins.toml"), format!("{level}{login}")).unwrap();
    for line in ["check fragd.toml", &line] {
        let (status, text, errors) = fragd(&scratch.0, line);
        assert_eq!(status, Some(0), "{text}{errors}");
    }
}

#[test]
fn secret_is_hashed_with_new_salt() {
    let scratch = Scratch::new("secret");
    fs::write(scratch.0.join("long"), "a-long-secret\n").unwrap();
    fs::write(scratch.0.join("short"), "short\n").unwrap();
    let hashed = |name: &str| {
        let input = fs::File::open(scratch.0.join(name)).unwrap();
        let output = command(&scratch.0, "secret").stdin(input).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (one, other) = (hashed("long"), hashed("long"));
    assert!(one.0 == Some(0) && one.1.starts_with("secret = \"pbkdf2-sha256:"), "{one:?}");
    assert!(one != other && !one.1.contains("a-long-secret"), "{one:?}");
    assert_eq!(hashed("short"), (Some(2), String::new()));
}

#[test]
fn demo_without_messages_is_refused_with_the_reason() {
    let scratch = Scratch::new("empty-demo");
    fs::write(scratch.0.join("end.dm_68"), [0xFF; 8]).unwrap();
    for task in ["info", "check", "time", "json", "events"] {
        let (status, _, errors) = fragd(&scratch.0, &format!("demo {task} end.dm_68"));
        assert_eq!(status, Some(1), "{task}: {errors}");
        assert!(errors.contains("end.dm_68: no messages (expected"), "{task}: {errors}");
    }
}

#[test]
fn damage_and_missing_clients_of_records_are_named() {
    let scratch = Scratch::new("records");
    let (demo, recording) = recorded(&scratch.0);
    for (source, name) in [(&demo, "cut.dm_71"), (&recording, "cut.mv")] {
        let whole = fs::read(source).unwrap();
        for (len, code) in [(whole.len(), 0), (whole.len() * 3 / 4, 1)] {
            fs::write(scratch.0.join(name), &whole[..len]).unwrap();
            let is_demo = name.ends_with(".dm_71");
            for task in ["info", "check", "time"].into_iter().take(2 + usize::from(is_demo)) {
                let (status, text, _) = fragd(&scratch.0, &format!("demo {task} {name}"));
                assert_eq!(status, Some(code), "{task} {name}: {text}");
            }
            let (_, text, _) = fragd(&scratch.0, &format!("demo info {name}"));
            assert_eq!(text.contains("cut off: "), code == 1, "{text}");
        }
    }
    // The same part of a demo as the server leaves it, and as a client plays it.
    fs::copy(scratch.0.join("cut.dm_71"), scratch.0.join("cut.dm_71.part")).unwrap();
    fs::copy(scratch.0.join("cut.mv"), scratch.0.join("cut.mv.part")).unwrap();
    for (line, shown) in [
        ("demo info cut.dm_71.part", "cut off: "),
        ("demo check cut.dm_71.part", "; the recording is not complete\n"),
        ("demo check cut.dm_71.part", " 0 errors, "),
        ("demo check cut.dm_71.part --json", "\"errors\":0,"),
        ("demo info cut.dm_71.part --json", "\"complete\":false,"),
        ("demo check cut.mv.part", ": note: "),
        ("demo check cut.mv.part", " 0 errors, 1 note\n"),
        ("demo check cut.mv.part --json", "\"notes\":1"),
        ("demo time cut.dm_71.part", " times real time"),
        ("demo events cut.dm_71.part", "level: "),
        ("demo events cut.dm_71", "level: "),
        ("demo json cut.dm_71", "\"kind\":\"note\""),
        ("demo cut cut.dm_71.part --from 500ms -o whole.dm_71", "whole.dm_71: "),
        ("demo check whole.dm_71", " 0 errors"),
        ("demo events cut.mv.part", "level: "),
        ("demo extract cut.mv.part --free 0,0,0 -o free.dm_71", "free.dm_71: "),
    ] {
        let (status, text, error) = fragd(&scratch.0, line);
        assert!(status == Some(0) && text.contains(shown), "{line}: {status:?} {text} {error}");
    }
    for (name, game) in [("a.dm_84", "Wolfenstein: Enemy Territory"), ("a.qwd", "QuakeWorld")] {
        fs::copy(&demo, scratch.0.join(name)).unwrap();
        let (status, _, error) = fragd(&scratch.0, &format!("demo check {name}"));
        assert_eq!(status, Some(1), "{error}");
        let expected = format!("fragd: {name}: a file of {game}");
        assert!(error.starts_with(&expected) && error.contains("(expected a demo of"), "{error}");
    }
    let (code, text, error) = fragd(&scratch.0, "replay j --dump --client 192.0.2.7");
    assert_eq!((code, text.as_str()), (Some(2), ""), "{error}");
    assert!(error.contains("j: no datagram of --client 192.0.2.7 (expected one of 127.0.0.1:"));
    let (code, text, _) = fragd(&scratch.0, "replay j --dump --client 127.0.0.1");
    assert!(code == Some(0) && text.contains("datagram"), "{text}");
    // The console of a playback names unknown players, too.
    fs::copy(&recording, scratch.0.join("whole.mv")).unwrap();
    let port = free_port();
    let mut play = command(&scratch.0, &format!("demo play whole.mv --port {port}"));
    play.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut play = play.spawn().unwrap();
    std::io::Write::write_all(&mut play.stdin.take().unwrap(), b"follow nobody\nquit\n").unwrap();
    let output = play.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("follow: no player \"nobody\"; "), "{text}");
}

#[test]
fn numbers_of_options_name_their_range() {
    let scratch = Scratch::new("numbers");
    for (line, range) in [
        ("query 127.0.0.1 --timeout abc", "1..=60000"),
        ("query 127.0.0.1 --pid abc", "0..=4294967295"),
        ("sim --minutes abc", "1..=1000000"),
        ("sim --seed x", "0..=18446744073709551615"),
        ("serve --port 70000", "0..=65535"),
        ("browse --protocol x", "-2147483648..=2147483647"),
        ("decoy --count 0", "1..=20000"),
        ("demo extract x.mv --follow 0 --session 0 -o y.dm_68", "1..=65535"),
    ] {
        let (code, _, text) = fragd(&scratch.0, line);
        assert_eq!(code, Some(2), "{line}: {text}");
        assert!(text.contains(&format!("expected a whole number, {range}")), "{line}: {text}");
    }
}

#[test]
fn faults_of_scripts_name_what_would_be_right() {
    let scratch = Scratch::new("script");
    let script = "set d1 \"say hi\"\nvstr dd1\ng_gamtype 3\nset q \"open;a\nmap\n";
    fs::write(scratch.0.join("x.cfg"), script).unwrap();
    let utf16: Vec<u8> = "set a b\n".bytes().flat_map(|byte| [byte, 0]).collect();
    fs::write(scratch.0.join("y.cfg"), utf16).unwrap();
    fs::write(scratch.0.join("z.cfg"), b"set a b\n\0\n").unwrap();
    let (_, _, log) = fragd(&scratch.0, "serve --port 0 +exec ./x.cfg +map fragd1 +quit");
    for expected in [
        "x.cfg:2: vstr: variable dd1 not set; did you mean d1?",
        "x.cfg:3: unknown command: g_gamtype; did you mean g_gametype?",
        "x.cfg:4: quote not closed: the text ends with its line (expected \")",
        "x.cfg:5: map: name missing (expected map <name>)",
    ] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    for (name, expected) in [
        ("y", "UTF-16 without a byte order mark"),
        ("z", "not a text file: zero byte in line 2, at byte 8 (expected text in UTF-8)"),
    ] {
        let (code, _, log) = fragd(&scratch.0, &format!("serve --port 0 +exec ./{name}.cfg +quit"));
        assert!(code == Some(2) && log.contains(expected), "{log}");
    }
}
