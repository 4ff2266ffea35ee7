//! Console input: lines that the operator types or pipes in.
//!
//! A thread reads standard input, because only a blocking read treats a terminal, a pipe, a file and
//! `/dev/null` alike. The end of input ends the thread and nothing else.
//! Invariants: at most `LINES_WAITING_MAX` lines are queued; a line of more than [`LINE_BYTES_MAX`] bytes is
//! reported and no part of it runs. Source of the length: the engine's console line limit.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

/// Longest line taken, in bytes without its end.
pub const LINE_BYTES_MAX: usize = 1023;

/// Maximum queued lines. The reader waits while the queue is full.
pub(super) const LINES_WAITING_MAX: usize = 64;

/// Source of console lines.
#[derive(Default)]
pub enum Console {
    /// No console input.
    #[default]
    Off,
    /// Standard input. The reading thread ends with the input or the process.
    Stdin,
    /// Any reader. Its thread ends with it, or at the first line after the loop has ended.
    Reader(Box<dyn Read + Send>),
}

/// Item from the reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConsoleInput {
    /// A line without its end. Invalid UTF-8 is replaced.
    Line(String),
    /// A line that was too long.
    TooLong,
}

/// The loop's end of the reading thread.
pub(super) struct Lines {
    receiver: Receiver<ConsoleInput>,
}

impl Lines {
    /// Starts the reading thread, or returns `None` without console input. The waker is called after each input.
    pub(super) fn start(console: Console, waker: &Arc<mio::Waker>) -> io::Result<Option<Self>> {
        let mut reader: Box<dyn Read + Send> = match console {
            Console::Off => return Ok(None),
            Console::Stdin => Box::new(Stdin(io::stdin())),
            Console::Reader(reader) => reader,
        };
        let theirs = Arc::clone(waker);
        let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
        thread::Builder::new()
            .name("console".to_owned())
            .spawn(move || read_lines(&mut reader, &sender, &theirs))?;
        Ok(Some(Self { receiver }))
    }

    /// Returns the next queued input.
    pub(super) fn next(&self) -> Option<ConsoleInput> {
        self.receiver.try_recv().ok()
    }
}

fn read_lines(reader: &mut dyn Read, sender: &SyncSender<ConsoleInput>, waker: &mio::Waker) {
    let mut splitter = Splitter::default();
    let mut chunk = [0; 4096];
    loop {
        let count = match reader.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                log::info!("console input ended: {error}");
                0
            }
        };
        let gone = |input| sender.send(input).is_err() || waker.wake().is_err();
        if splitter.split(&chunk[..count], gone) || count == 0 {
            return;
        }
    }
}

/// Splits bytes into lines. Buffers at most one line.
#[derive(Default)]
struct Splitter {
    line: Vec<u8>,
    too_long: bool,
}

impl Splitter {
    /// Passes each line that ends in `bytes` to `gone`. Empty `bytes` mark the end of input and pass the
    /// unfinished line. Stops and returns true as soon as `gone` does.
    fn split(&mut self, bytes: &[u8], mut gone: impl FnMut(ConsoleInput) -> bool) -> bool {
        if bytes.is_empty() {
            return (self.too_long || !self.line.is_empty()) && gone(self.take());
        }
        for &byte in bytes {
            if byte == b'\n' {
                if gone(self.take()) {
                    return true;
                }
            } else if self.line.len() <= LINE_BYTES_MAX {
                // One byte above the limit may be the carriage return.
                self.line.push(byte);
            } else {
                self.too_long = true;
            }
        }
        false
    }

    fn take(&mut self) -> ConsoleInput {
        if self.line.last() == Some(&b'\r') && !self.too_long {
            self.line.pop();
        }
        let input = if self.too_long || self.line.len() > LINE_BYTES_MAX {
            ConsoleInput::TooLong
        } else {
            ConsoleInput::Line(String::from_utf8_lossy(&self.line).into_owned())
        };
        self.line.clear();
        self.too_long = false;
        input
    }
}

/// Standard input that leaves a terminal alone while another program owns it.
///
/// Reading from the terminal in the background would stop the whole process (SIGTTIN).
struct Stdin(io::Stdin);

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        wait_for_terminal(&self.0)?;
        self.0.lock().read(buffer)
    }
}

/// Waits until input is available and this process is the foreground reader.
#[cfg(unix)]
fn wait_for_terminal(stdin: &io::Stdin) -> io::Result<()> {
    use rustix::{
        event::{PollFd, PollFlags, poll},
        process::getpgrp,
        termios::tcgetpgrp,
    };
    use std::{io::IsTerminal as _, time::Duration};

    /// Interval between checks for the foreground.
    const LOOK_AGAIN: Duration = Duration::from_millis(500);

    if !stdin.is_terminal() {
        return Ok(());
    }
    loop {
        poll(&mut [PollFd::new(stdin, PollFlags::IN)], None)?;
        match tcgetpgrp(stdin) {
            Ok(owner) if owner != getpgrp() => thread::sleep(LOOK_AGAIN),
            // A terminal of another session has no foreground process group and stops no reader.
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split_all(chunks: &[&[u8]]) -> Vec<ConsoleInput> {
        let mut splitter = Splitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.split(chunk, |input| {
                found.push(input);
                false
            });
            assert!(splitter.line.capacity() <= 4 * LINE_BYTES_MAX);
        }
        splitter.split(b"", |input| {
            found.push(input);
            false
        });
        found
    }

    fn line(text: &str) -> ConsoleInput {
        ConsoleInput::Line(text.to_owned())
    }

    #[test]
    fn line_ends_at_newline_or_end_of_input() {
        assert_eq!(
            split_all(&[b"sta", b"tus\nmap q3dm1", b"7\r\n\nquit"]),
            [line("status"), line("map q3dm17"), line(""), line("quit"),]
        );
        assert_eq!(split_all(&[]), []);
        assert_eq!(split_all(&[b"caf\xe9\n"]), [line("caf\u{fffd}")]);
    }

    #[test]
    fn long_line_is_reported_and_not_run() {
        let longest = "x".repeat(LINE_BYTES_MAX);
        assert_eq!(split_all(&[longest.as_bytes(), b"\n"]), [line(&longest)]);
        assert_eq!(split_all(&[longest.as_bytes(), b"\r\n"]), [line(&longest)]);
        assert_eq!(
            split_all(&[longest.as_bytes(), b"y\nquit\n"]),
            [ConsoleInput::TooLong, line("quit")]
        );
        assert_eq!(split_all(&[&vec![b'x'; 1 << 20]]), [ConsoleInput::TooLong]);
    }

    proptest! {
        #[test]
        fn lines_are_independent_of_read_sizes(
            bytes in proptest::collection::vec(
                prop_oneof![3 => Just(b'a'), 1 => Just(b'\n'), 1 => any::<u8>()], 0..3000),
            cut in 1usize..1500,
        ) {
            let whole = split_all(&[&bytes]);
            let cut = split_all(&bytes.chunks(cut).collect::<Vec<_>>());
            prop_assert_eq!(whole, cut);
        }
    }
}
