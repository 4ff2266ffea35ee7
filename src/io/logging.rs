//! Log lines on standard error: one line per event, whatever the event's text holds.
//!
//! `2026-11-21T10:02:37.123Z INFO  server: text`. The room stands where a module path would, for that
//! is what an operator filters by: `RUST_LOG=info,fragd::server=debug`. Control characters that came in
//! with somebody's name or packet are written as escapes, so nobody forges a line or drives a terminal.

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
};

use env_logger::{Builder, Env, fmt::Formatter};
use log::{LevelFilter, Record};

/// Starts logging at `default` unless `RUST_LOG` says otherwise. Colours appear on terminals only.
///
/// A second call changes nothing.
pub fn init(default: LevelFilter) {
    let _ = Builder::from_env(Env::default().default_filter_or(default.as_str()))
        .format(write_line)
        .try_init();
}

fn write_line(out: &mut Formatter, record: &Record<'_>) -> io::Result<()> {
    let level = record.level();
    let style = out.default_level_style(level);
    let mut text = OneLine(String::with_capacity(128));
    write!(text, "{}: {}", room(record.target()), record.args()).map_err(io::Error::other)?;
    let time = out.timestamp_millis();
    writeln!(out, "{time} {style}{level:<5}{style:#} {}", text.0)
}

/// The room of a module path of ours; of another crate's, the crate.
fn room(target: &str) -> &str {
    let path = target.strip_prefix(concat!(env!("CARGO_PKG_NAME"), "::")).unwrap_or(target);
    path.split("::").next().unwrap_or(path)
}

/// Text with its control characters escaped.
struct OneLine(String);

impl fmt::Write for OneLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            if char.is_control() {
                self.0.extend(char.escape_default());
            } else {
                self.0.push(char);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_a_line_or_drive_the_terminal() {
        let mut text = OneLine(String::new());
        let name = "x\n2026 ERROR\r\u{1b}[2J\u{7}\u{9b}Größe";
        write!(text, "{name} joined").unwrap();
        assert_eq!(text.0, "x\\n2026 ERROR\\r\\u{1b}[2J\\u{7}\\u{9b}Größe joined");
    }

    #[test]
    fn rooms_stand_for_module_paths() {
        assert_eq!(room("fragd::server::connect"), "server");
        assert_eq!(room("fragd"), "fragd");
        assert_eq!(room("mio::poll"), "mio");
    }
}
