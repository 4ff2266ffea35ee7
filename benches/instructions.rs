//! Instructions of each operation, which compare across machines where nanoseconds do not:
//! `cargo bench --bench instructions`, with part of a name behind `--` for some. Needs valgrind.
//!
//! The program runs itself under callgrind, once with few and once with many repetitions of an
//! operation; the difference is the operation's own.

#![allow(clippy::unwrap_used, reason = "a bench may fail by panic")]

mod operations;

use std::{
    env,
    process::{Command, ExitCode},
};

use operations::{GROUPS, Operation};

/// The first run also takes every input once, so that memory is touched before it is counted.
const FEW: u64 = 600;
const MANY: u64 = 1800;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [run, group, at, times] if run == "--run" => {
            let [group, at] = [group, at].map(|index| index.parse::<usize>().expect("an index"));
            let mut operation = GROUPS[group]().swap_remove(at);
            (operation.run)(times.parse().expect("a number"));
        }
        parts => {
            println!("{:>10}  {:<12}  operation", "instr.", "size");
            for (group, make) in GROUPS.iter().enumerate() {
                for (at, Operation { name, size, .. }) in make().into_iter().enumerate() {
                    if !parts.iter().all(|part| name.contains(part)) {
                        continue;
                    }
                    let count = |times| counted(group, at, times);
                    let (Some(few), Some(many)) = (count(FEW), count(MANY)) else {
                        eprintln!("valgrind did not count {name}; is it installed?");
                        return ExitCode::FAILURE;
                    };
                    println!("{:>10}  {size:<12}  {name}", (many - few) / (MANY - FEW));
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Instructions of this program doing an operation that many times.
fn counted(group: usize, at: usize, times: u64) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args(["--run", &group.to_string(), &at.to_string(), &times.to_string()])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}
