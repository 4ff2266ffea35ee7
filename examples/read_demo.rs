//! Demo reader: decodes every message of demos that real clients recorded, to its last bit.
//!
//! ```text
//! read_demo legacy|native FILE...
//! ```
//!
//! Each error has a line. A file's last line is `N messages, … N faults`; the exit code is 1 after an
//! error.

use std::{env, fs, process::ExitCode};

use fragd::client::demo::DemoReader;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let native = match arguments.next().as_deref() {
        Some("legacy") => false,
        Some("native") => true,
        _ => {
            eprintln!("read_demo legacy|native FILE...");
            return ExitCode::from(2);
        }
    };
    let mut faults = 0;
    for file in arguments {
        let mut reader = DemoReader::new(native);
        match fs::read(&file) {
            Ok(bytes) => reader.file(&bytes, &mut |sequence, what| {
                println!("message {sequence}: {what}");
            }),
            Err(error) => {
                println!("{file}: {error}");
                faults += 1;
            }
        }
        println!("{reader}");
        faults += reader.faults;
    }
    ExitCode::from(u8::from(faults > 0))
}
