//! Console of a server of this machine, attached over its Unix socket (`sv_console`).
//!
//! A thread prints the text of the server. Lines of a terminal are edited, with the candidates of the server; other input
//! is sent as it is.

use std::{
    io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use super::{
    console::LINE_BYTES_MAX,
    console_clients::MARK,
    line_editor::{LineEditor, TerminalSignals},
    screen::Screen,
};
use crate::node::Completion;

/// Longest wait for candidates.
const PATIENCE: Duration = Duration::from_millis(700);
/// Longest line of a server, in bytes. A longer one is printed in parts.
const MAX_LINE: u64 = 1 << 20;
/// Longest silence before the last input is answered.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// Reason for the end of a console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleEnd {
    /// The input ended.
    Detached,
    /// The server ended the connection.
    Closed,
}

/// Text and ends of lines that the printing thread has seen.
enum Seen {
    Text,
    Closed,
}

/// Attaches to the console on `path` until its input or the server ends. Without a terminal, `silence` of the server behind
/// the last line ends it. Lines for which `is_secret` is true are left out of the history.
///
/// # Errors
/// System errors of the connection and the terminal.
pub fn attach(
    path: &Path,
    silence: Duration,
    is_secret: fn(&str) -> bool,
) -> io::Result<ConsoleEnd> {
    let stream = UnixStream::connect(path)?;
    let reader = stream.try_clone()?;
    let (answers, answered) = sync_channel(1);
    let (seen, sight) = sync_channel(64);
    let is_closed = Arc::new(AtomicBool::new(false));
    let closing = Arc::clone(&is_closed);
    thread::Builder::new().name("console out".to_owned()).spawn(move || {
        print(reader, &answers, &seen);
        closing.store(true, Ordering::Release);
        let _ = seen.send(Seen::Closed);
    })?;
    if LineEditor::is_available() {
        drop(sight);
        return edit(stream, answered, is_secret, is_closed);
    }
    copy(stream)?;
    Ok(wait_for_silence(&sight, silence))
}

/// Sends edited lines until the input ends or the server has closed the connection.
fn edit(
    mut stream: UnixStream,
    answered: Receiver<Completion>,
    is_secret: fn(&str) -> bool,
    is_closed: Arc<AtomicBool>,
) -> io::Result<ConsoleEnd> {
    let asking = Arc::new(Mutex::new((stream.try_clone()?, answered)));
    let complete = Box::new(move |line: &str| {
        let mut asking = asking.lock().unwrap_or_else(PoisonError::into_inner);
        let (stream, answered) = &mut *asking;
        // The answer to a request that took too long.
        while answered.try_recv().is_ok() {}
        if line.contains(char::is_control) || writeln!(stream, "{MARK}{line}").is_err() {
            return Completion::default();
        }
        answered.recv_timeout(PATIENCE).unwrap_or_default()
    });
    let mut editor = LineEditor::open("fragd> ", TerminalSignals::EndInput, is_secret, complete)?;
    editor.end_when(Arc::clone(&is_closed));
    while let Some(line) = editor.read_line()? {
        if line.len() > LINE_BYTES_MAX {
            eprintln!("line too long: ignored (max {LINE_BYTES_MAX} bytes)");
        } else if let Err(error) = writeln!(stream, "{line}")
            && !is_closed.load(Ordering::Acquire)
        {
            return Err(error);
        }
    }
    let is_closed = is_closed.load(Ordering::Acquire);
    Ok(if is_closed { ConsoleEnd::Closed } else { ConsoleEnd::Detached })
}

/// Sends standard input as it is.
fn copy(mut stream: UnixStream) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut last = b'\n';
    loop {
        let chunk = input.fill_buf()?;
        let Some(end) = chunk.last() else { break };
        last = *end;
        // The mark is for requests of an editor.
        let bytes: Vec<u8> = chunk.iter().copied().filter(|&byte| byte != MARK as u8).collect();
        let count = chunk.len();
        stream.write_all(&bytes)?;
        input.consume(count);
    }
    if last != b'\n' {
        stream.write_all(b"\n")?;
    }
    Ok(())
}

/// Waits until the server is silent behind a first text, or has ended.
fn wait_for_silence(sight: &Receiver<Seen>, silence: Duration) -> ConsoleEnd {
    let mut wait = FIRST_ANSWER;
    loop {
        match sight.recv_timeout(wait) {
            Ok(Seen::Text) => wait = silence,
            Err(RecvTimeoutError::Timeout) => return ConsoleEnd::Detached,
            Ok(Seen::Closed) | Err(RecvTimeoutError::Disconnected) => return ConsoleEnd::Closed,
        }
    }
}

/// Prints the text of the server, and passes answers to requests on.
fn print(stream: UnixStream, answers: &SyncSender<Completion>, seen: &SyncSender<Seen>) {
    let mut screen = Screen::output(io::stdout(), io::stdout().is_terminal());
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line);
        if let Some(answer) = text.strip_prefix(MARK) {
            let _ = answers.try_send(read_answer(answer));
        } else {
            if screen.write_all(&line).is_err() || screen.flush().is_err() {
                break;
            }
            // A full queue holds enough of them.
            let _ = seen.try_send(Seen::Text);
        }
        line.clear();
    }
}

/// Reads the answer to a request for candidates.
fn read_answer(answer: &str) -> Completion {
    let mut parts = answer.trim_end_matches('\n').split(MARK);
    let start = parts.next().and_then(|number| number.parse().ok());
    let words = parts.map(str::to_owned).collect();
    start.map(|start| Completion { start, words }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_positions_and_words() {
        let found = read_answer("4\u{1}q3dm1\u{1}\"two words\"\n");
        let words = ["q3dm1", "\"two words\""].map(str::to_owned).to_vec();
        assert_eq!(found, Completion { start: 4, words });
        assert_eq!(read_answer("x\u{1}y\n"), Completion::default());
        assert_eq!(read_answer("0\n"), Completion::default());
    }

    #[test]
    fn silence_begins_behind_the_first_text() {
        let (seen, sight) = sync_channel(4);
        seen.send(Seen::Text).unwrap();
        assert_eq!(wait_for_silence(&sight, Duration::from_millis(1)), ConsoleEnd::Detached);
        seen.send(Seen::Text).unwrap();
        seen.send(Seen::Closed).unwrap();
        assert_eq!(wait_for_silence(&sight, Duration::from_secs(60)), ConsoleEnd::Closed);
    }
}
