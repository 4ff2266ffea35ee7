//! Examples: run against each other over loopback.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Path of a built example. `cargo test` builds them beside the program.
fn example(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_fragd")).parent().unwrap();
    let path = target.join("examples").join(name);
    assert!(path.exists(), "{} not built; run cargo build --examples", path.display());
    path
}

fn run(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(example(name)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_join_query_and_load_the_embedded_server() {
    let mut server =
        Command::new(example("embed_server")).arg("60").stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim();
    assert!(run("query", &[address]).contains("embedded"));
    let summary = run("load_test", &[address, "3"]);
    assert!(summary.contains("passed"), "{summary}");
    assert!(run("join", &[address]).contains("entered the game"));
    server.kill().unwrap();
    server.wait().unwrap();
}
