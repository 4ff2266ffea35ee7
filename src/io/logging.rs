//! Log output on standard error: one line per event.
//!
//! Format: `2026-11-21T10:02:37.123Z INFO  server: text`. The module replaces the full module path, because
//! operators filter by it: `RUST_LOG=info,fragd::server=debug`. Control characters are escaped, so
//! a name or packet cannot forge a line or control a terminal.
//!
//! A server logs through a thread ([`init_background`]). Unless standard error is a terminal, lines that follow each other
//! within `GATHER` are written together, so that they wake the thread once; those of the start are written when the event
//! loop begins. When standard error blocks, lines are dropped and counted, and the server continues. Invariant: [`flush`]
//! and [`fatal`] wait at most `LAST_WRITE`.

use std::{
    env,
    fmt::{self, Write as _},
    io::{self, IsTerminal as _, Write as _},
    panic,
    sync::OnceLock,
    time::Duration,
};

use env_logger::{Builder, Env, Target, WriteStyle, fmt::Formatter};
use log::{LevelFilter, Record};

use super::{background::BackgroundWriter, screen::Screen};

/// Maximum wait for the last lines on exit.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// Time that lines are gathered behind the first one.
const GATHER: Duration = Duration::from_millis(250);

/// Writer of the process's log, if a thread writes it.
static WRITER: OnceLock<BackgroundWriter> = OnceLock::new();

/// Starts logging at `default` unless `RUST_LOG` says otherwise. Colors appear on terminals only.
///
/// A second call changes nothing.
pub fn init(default: LevelFilter) {
    let _ = builder(default).try_init();
}

/// Starts logging through a thread, so that standard error never blocks the caller. Otherwise like [`init`].
///
/// # Errors
/// System errors of the thread's creation.
pub fn init_background(default: LevelFilter) -> io::Result<()> {
    let report = Box::new(|total| log::warn!("standard error blocked: {total} lines dropped"));
    let is_terminal = io::stderr().is_terminal();
    let gather = (!is_terminal).then_some(GATHER);
    let screen = Screen::log(io::stderr(), is_terminal);
    let writer = BackgroundWriter::text("log", screen, gather, report)?;
    // The limit of all records is `set_level`.
    let mut builder = builder(LevelFilter::Trace);
    builder.target(Target::Pipe(Box::new(writer.clone())));
    if cfg!(unix)
        && is_terminal
        && ["RUST_LOG_STYLE", "NO_COLOR"].iter().all(|name| env::var_os(name).is_none())
    {
        builder.write_style(WriteStyle::Always);
    }
    if builder.try_init().is_ok() && WRITER.set(writer).is_ok() {
        set_level(default);
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if flush() {
                before(info);
            }
        }));
    }
    Ok(())
}

/// Limits the log of [`init_background`] to `level`, unless `RUST_LOG` names levels.
pub fn set_level(level: LevelFilter) {
    if env::var_os(env_logger::DEFAULT_FILTER_ENV).is_none() {
        log::set_max_level(level);
    }
}

/// Ends gathering: the thread writes the lines so far. Never waits.
pub(super) fn end_gathering() {
    if let Some(writer) = WRITER.get() {
        writer.end_gathering();
    }
}

/// Waits until all lines are written, `LAST_WRITE` at most. Returns whether they are.
pub fn flush() -> bool {
    WRITER.get().is_none_or(|writer| writer.wait(LAST_WRITE))
}

/// Writes the error that ends the program, after all other lines.
pub fn fatal(error: &str) {
    match WRITER.get() {
        None => eprintln!("fragd: {error}"),
        Some(writer) => {
            let _ = writeln!(writer.clone(), "fragd: {error}");
            flush();
        }
    }
}

/// Returns how many lines were dropped because standard error accepted no more.
pub(super) fn dropped_lines() -> u64 {
    WRITER.get().map_or(0, BackgroundWriter::dropped)
}

fn builder(default: LevelFilter) -> Builder {
    let mut builder = Builder::from_env(Env::default().default_filter_or(default.as_str()));
    builder.format(write_line);
    builder
}

fn write_line(out: &mut Formatter, record: &Record<'_>) -> io::Result<()> {
    let level = record.level();
    let style = out.default_level_style(level);
    let mut text = OneLine(String::with_capacity(128));
    write!(text, "{}: {}", module_of(record.target()), record.args()).map_err(io::Error::other)?;
    let time = out.timestamp_millis();
    writeln!(out, "{time} {style}{level:<5}{style:#} {}", text.0)
}

/// Returns the fragd module of a log target, or the crate name of another crate.
fn module_of(target: &str) -> &str {
    let path = target.strip_prefix(concat!(env!("CARGO_PKG_NAME"), "::")).unwrap_or(target);
    path.split("::").next().unwrap_or(path)
}

/// Escapes control characters.
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
    fn control_characters_are_escaped() {
        let mut text = OneLine(String::new());
        let name = "x\n2026 ERROR\r\u{1b}[2J\u{7}\u{9b}Größe";
        write!(text, "{name} joined").unwrap();
        assert_eq!(text.0, "x\\n2026 ERROR\\r\\u{1b}[2J\\u{7}\\u{9b}Größe joined");
    }

    #[test]
    fn log_line_names_the_module() {
        assert_eq!(module_of("fragd::server::connect"), "server");
        assert_eq!(module_of("fragd"), "fragd");
        assert_eq!(module_of("mio::poll"), "mio");
    }
}
