//! Demo reader: decodes every message of demos that real clients recorded, to its last bit.
//!
//! ```text
//! read_demo legacy|native FILE...
//! ```
//!
//! Each error has a line. A file's last line is `N messages, … N errors`; the exit code is 1 after an
//! error.

use std::{env, fs, process::ExitCode};

use fragd::{demo::DemoReader, wire::Protocol};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let protocol = match arguments.next().as_deref() {
        Some("legacy") => Protocol::Q3_68,
        Some("native") => Protocol::IOQ3_71,
        _ => {
            eprintln!("read_demo legacy|native FILE...");
            return ExitCode::from(2);
        }
    };
    let mut errors = 0;
    for file in arguments {
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                println!("{file}: {error}");
                errors += 1;
                continue;
            }
        };
        let mut reader = DemoReader::new(protocol, &bytes);
        for error in reader.by_ref().filter_map(Result::err) {
            println!("{error}");
        }
        println!("{}", reader.counts());
        errors += reader.counts().errors;
    }
    ExitCode::from(u8::from(errors > 0))
}
