//! Console input: lines that the operator types or pipes in, or sends from an attached console.
//!
//! A thread reads standard input, because only a blocking read treats a terminal, a pipe, a file and
//! `/dev/null` alike. On a terminal it edits lines, see `line_editor`. The end of input ends the thread and nothing else.
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

use super::console_clients::{ConsoleSocket, SocketFile};
use crate::node::Completion;

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
    /// As [`Console::Stdin`], with edited lines on a terminal. Lines for which the function is true are secret: the history
    /// leaves them out.
    Edited(fn(&str) -> bool),
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

/// Request to the loop.
#[derive(Debug)]
pub(super) enum ConsoleRequest {
    /// Input.
    Input(ConsoleInput),
    /// Completion of the last word of a line.
    Complete(String, SyncSender<Completion>),
}

/// A reading thread's end of the queue of requests.
#[derive(Clone)]
pub(super) struct LineQueue {
    sender: SyncSender<ConsoleRequest>,
    waker: Arc<mio::Waker>,
}

impl LineQueue {
    /// Queues a request, and waits while the queue is full. Returns false once the loop has ended.
    pub(super) fn send(&self, request: ConsoleRequest) -> bool {
        self.sender.send(request).is_ok() && self.waker.wake().is_ok()
    }

    /// Asks the loop for the candidates of the last word of a line. None if it does not answer soon.
    pub(super) fn complete(&self, line: &str) -> Completion {
        /// Longest wait, since a load of a map holds the loop.
        const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

        let (reply, answer) = sync_channel(1);
        self.send(ConsoleRequest::Complete(line.to_owned(), reply));
        answer.recv_timeout(PATIENCE).unwrap_or_default()
    }
}

/// The loop's end of the queue of requests.
pub(super) struct Lines {
    receiver: Receiver<ConsoleRequest>,
    _socket: Option<SocketFile>,
}

impl Lines {
    /// Starts the reading threads, or returns `None` without console input. The waker is called after each request.
    pub(super) fn start(
        console: Console,
        socket: Option<ConsoleSocket>,
        waker: &Arc<mio::Waker>,
    ) -> io::Result<Option<Self>> {
        if matches!(console, Console::Off) && socket.is_none() {
            return Ok(None);
        }
        let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
        let queue = LineQueue { sender, waker: Arc::clone(waker) };
        let socket = socket.map(|socket| socket.start(queue.clone())).transpose()?;
        let lines = Self { receiver, _socket: socket };
        let read: Box<dyn FnOnce() + Send> = match console {
            Console::Off => return Ok(Some(lines)),
            Console::Stdin => Box::new(move || read_lines(&mut Stdin(io::stdin()), &queue)),
            Console::Edited(is_secret) => Box::new(move || read_edited(is_secret, &queue)),
            Console::Reader(mut reader) => Box::new(move || read_lines(&mut *reader, &queue)),
        };
        thread::Builder::new().name("console".to_owned()).spawn(read)?;
        Ok(Some(lines))
    }

    /// Returns the next queued request.
    pub(super) fn next(&self) -> Option<ConsoleRequest> {
        self.receiver.try_recv().ok()
    }
}

/// Reads lines that are edited on a terminal, or else as they are.
fn read_edited(is_secret: fn(&str) -> bool, queue: &LineQueue) {
    #[cfg(unix)]
    if super::line_editor::LineEditor::is_available() {
        match edit_lines(is_secret, queue) {
            Ok(()) => {}
            Err(error) => log::info!("console input ended: {error}"),
        }
        return;
    }
    let _ = is_secret;
    read_lines(&mut Stdin(io::stdin()), queue);
}

/// Edits lines on a terminal until the input or the loop ends.
#[cfg(unix)]
fn edit_lines(is_secret: fn(&str) -> bool, queue: &LineQueue) -> io::Result<()> {
    use super::line_editor::{LineEditor, TerminalSignals, wait_for_foreground};

    // A process in the background does not change the terminal.
    wait_for_foreground()?;
    let words = queue.clone();
    let complete = Box::new(move |line: &str| words.complete(line));
    let mut editor = LineEditor::open("fragd> ", TerminalSignals::Sent, is_secret, complete)?;
    while let Some(line) = editor.read_line()? {
        let is_long = line.len() > LINE_BYTES_MAX;
        let input = if is_long { ConsoleInput::TooLong } else { ConsoleInput::Line(line) };
        if !queue.send(ConsoleRequest::Input(input)) {
            return Ok(());
        }
    }
    log::info!("console input ended");
    Ok(())
}

/// Reads lines until the input or the loop ends.
pub(super) fn read_lines(reader: &mut dyn Read, queue: &LineQueue) {
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
        let gone = |input| !queue.send(ConsoleRequest::Input(input));
        if splitter.split(&chunk[..count], gone) || count == 0 {
            return;
        }
    }
}

/// Splits bytes into lines. Buffers at most one line.
#[derive(Default)]
pub(super) struct Splitter {
    line: Vec<u8>,
    too_long: bool,
}

impl Splitter {
    /// Passes each line that ends in `bytes` to `gone`. Empty `bytes` mark the end of input and pass the
    /// unfinished line. Stops and returns true as soon as `gone` does.
    pub(super) fn split(
        &mut self,
        bytes: &[u8],
        mut gone: impl FnMut(ConsoleInput) -> bool,
    ) -> bool {
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
