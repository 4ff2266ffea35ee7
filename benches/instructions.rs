//! Instruction counts of each operation, comparable across machines.
//!
//! Run with `cargo bench --bench instructions`, and part of a name behind `--` for some. Needs
//! valgrind. The program runs itself under callgrind, which counts one function: the operation, over
//! all of its inputs equally often. An earlier round, not counted, has touched all memory.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

mod operations;

use std::{
    env,
    process::{Command, ExitCode},
};

use operations::{GROUPS, Operation};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [run, group, at] if run == "--run" => {
            let [group, at] = [group, at].map(|index| index.parse::<usize>().expect("an index"));
            let mut operation = GROUPS[group]().swap_remove(at);
            let rounds = operation.inputs + times(&operation);
            (operation.prepare)(rounds);
            (operation.run)(operation.inputs);
            counted_part(&mut operation);
        }
        parts => {
            println!("{:>10}  {:<12}  operation", "instr.", "size");
            for (group, make) in GROUPS.iter().enumerate() {
                for (at, operation) in make().into_iter().enumerate() {
                    let Operation { name, size, .. } = &operation;
                    if !parts.iter().all(|part| name.contains(part)) {
                        continue;
                    }
                    let Some(instructions) = counted(group, at) else {
                        eprintln!("valgrind did not count {name}; is it installed?");
                        return ExitCode::FAILURE;
                    };
                    println!("{:>10}  {size:<12}  {name}", instructions / times(&operation));
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Number of counted operations: whole rounds over the inputs.
fn times(operation: &Operation) -> u64 {
    operation.inputs * operation.least.div_ceil(operation.inputs)
}

/// Function that callgrind counts, found by its name.
#[inline(never)]
fn counted_part(operation: &mut Operation) {
    let times = times(operation);
    (operation.run)(times);
}

/// Instructions of this program in [`counted_part`].
fn counted(group: usize, at: usize) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=instructions::counted_part*")
        .arg(env::current_exe().ok()?)
        .args(["--run", &group.to_string(), &at.to_string()])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok().filter(|&count: &u64| count > 0)
}
