//! Process-level tests of commands that end by themselves: output, files, exit codes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A folder of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("fragd-commands-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

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
