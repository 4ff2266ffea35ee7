//! Consoles of other processes, attached over a Unix socket.
//!
//! A client sends lines, and receives the log and the console output of the server. A line that begins with byte 1 asks
//! for candidates of its last word; the answer is a line that begins with byte 1, too. No other text has this byte.
//!
//! Invariants: only the owner of the process can connect; at most eight are attached, each with a bounded queue; a
//! client whose queue is full is disconnected; the server never waits for a client.

/// First byte of a request for candidates and of its answer, and byte between the words of an answer.
#[cfg(unix)]
pub(super) const MARK: char = '\u{1}';

#[cfg(unix)]
pub use unix::ConsoleSocket;
#[cfg(unix)]
pub(super) use unix::{SocketFile, publish};

#[cfg(unix)]
mod unix {
    use std::{
        fs,
        io::{self, ErrorKind, Read as _, Write as _},
        net::Shutdown,
        os::unix::{
            fs::FileTypeExt as _,
            net::{UnixListener, UnixStream},
        },
        path::{Path, PathBuf},
        sync::{
            Mutex, PoisonError,
            atomic::{AtomicBool, Ordering},
        },
        thread,
        time::Duration,
    };

    use rustix::{fs::Mode, process::umask};

    use super::MARK;
    use crate::io::{
        background::BackgroundWriter,
        console::{ConsoleInput, ConsoleRequest, LineQueue, Splitter},
    };

    /// Maximum number of attached consoles.
    const MAX_CLIENTS: usize = 8;
    /// Pause after an error of the listener, such as too many open files.
    const PAUSE: Duration = Duration::from_millis(200);

    /// Attached consoles of this process.
    static CLIENTS: Mutex<Vec<Client>> = Mutex::new(Vec::new());
    /// Whether there are any.
    static HAS_CLIENTS: AtomicBool = AtomicBool::new(false);

    struct Client {
        number: u64,
        writer: BackgroundWriter,
        stream: UnixStream,
    }

    /// Socket on which consoles attach. The file is removed with it.
    #[derive(Debug)]
    pub struct ConsoleSocket {
        listener: UnixListener,
        file: SocketFile,
    }

    /// File of a socket, removed at the end.
    #[derive(Debug)]
    pub(in crate::io) struct SocketFile(PathBuf);

    impl Drop for SocketFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    impl ConsoleSocket {
        /// Listens on a path. A socket that a process left behind is replaced.
        ///
        /// # Errors
        /// A sentence with path and problem.
        pub fn bind(path: &Path) -> Result<Self, String> {
            let failed = |what: String| format!("{}: {what}", path.display());
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error.to_string())),
                Ok(found) if !found.file_type().is_socket() => {
                    return Err(failed("not a socket (expected a free path)".to_owned()));
                }
                Ok(_) => match UnixStream::connect(path) {
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                        fs::remove_file(path).map_err(|error| failed(error.to_string()))?;
                    }
                    Err(error) => return Err(failed(error.to_string())),
                    Ok(_) => {
                        return Err(failed(
                            "another process listens there (expected a free path)".to_owned(),
                        ));
                    }
                },
            }
            // The file has its mode from the start.
            let before = umask(Mode::from_raw_mode(0o177));
            let bound = UnixListener::bind(path);
            umask(before);
            let listener = bound.map_err(|error| failed(error.to_string()))?;
            Ok(Self { listener, file: SocketFile(path.to_owned()) })
        }

        /// Starts the thread that accepts consoles. Their requests go to the queue. Returns the guard of the file.
        pub(in crate::io) fn start(self, queue: LineQueue) -> io::Result<SocketFile> {
            let Self { listener, file } = self;
            thread::Builder::new().name("console socket".to_owned()).spawn(move || {
                for number in 0.. {
                    match listener.accept() {
                        Ok((stream, _)) => accept(stream, number, &queue),
                        Err(_) => thread::sleep(PAUSE),
                    }
                }
            })?;
            Ok(file)
        }
    }

    /// Attaches a console, unless too many are attached.
    fn accept(mut stream: UnixStream, number: u64, queue: &LineQueue) {
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MAX_CLIENTS {
            let _ = writeln!(stream, "too many consoles (max {MAX_CLIENTS})");
            return;
        }
        let begin = || {
            let (reader, handle) = (stream.try_clone()?, stream.try_clone()?);
            let writer = BackgroundWriter::text("console out", stream, None, Box::new(|_| {}))?;
            let (own, queue) = (writer.clone(), queue.clone());
            thread::Builder::new()
                .name("console in".to_owned())
                .spawn(move || read(reader, number, &own, &queue))?;
            io::Result::Ok(Client { number, writer, stream: handle })
        };
        match begin() {
            Ok(client) => {
                clients.push(client);
                HAS_CLIENTS.store(true, Ordering::Release);
            }
            Err(error) => log::warn!("console not attached: {error}"),
        }
    }

    /// Reads the requests of a console until it ends.
    fn read(mut stream: UnixStream, number: u64, own: &BackgroundWriter, queue: &LineQueue) {
        log::info!("console {number} attached");
        let mut splitter = Splitter::default();
        let mut chunk = [0; 4096];
        loop {
            let count = match stream.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let gone = |input| match input {
                ConsoleInput::Line(line) if line.starts_with(MARK) => {
                    let found = queue.complete(&line[MARK.len_utf8()..]);
                    let mut answer = format!("{MARK}{}", found.start);
                    for word in found.words {
                        answer.push(MARK);
                        answer.extend(word.chars().filter(|char| !char.is_control()));
                    }
                    answer.push('\n');
                    own.try_write(answer.into_bytes()).is_err()
                }
                input => !queue.send(ConsoleRequest::Input(input)),
            };
            if splitter.split(&chunk[..count], gone) || count == 0 {
                break;
            }
        }
        log::info!("console {number} detached");
        remove(|client| client.number == number);
    }

    /// Copies a text of the process to the attached consoles.
    pub(in crate::io) fn publish(piece: &[u8]) {
        if !HAS_CLIENTS.load(Ordering::Acquire) {
            return;
        }
        let text = plain(&String::from_utf8_lossy(piece));
        remove(|client| client.writer.try_write(text.clone().into_bytes()).is_err());
    }

    /// Disconnects the consoles for which a condition is true.
    fn remove(mut is_gone: impl FnMut(&Client) -> bool) {
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|client| {
            let is_gone = is_gone(client);
            if is_gone {
                let _ = client.stream.shutdown(Shutdown::Both);
            }
            !is_gone
        });
        HAS_CLIENTS.store(!clients.is_empty(), Ordering::Release);
    }

    /// Returns a text without control characters and without the colors of a log on a terminal.
    pub(super) fn plain(text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            if char == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
                // Parameters, and the letter behind them.
                while chars.next_if(|char| !char.is_ascii_alphabetic()).is_some() {}
                chars.next();
            } else if !char.is_control() || matches!(char, '\n' | '\t') {
                plain.push(char);
            }
        }
        plain
    }
}

/// Other systems have no such sockets here.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct ConsoleSocket(std::convert::Infallible);

#[cfg(not(unix))]
impl ConsoleSocket {
    /// Listens on a path.
    ///
    /// # Errors
    /// Always.
    pub fn bind(path: &std::path::Path) -> Result<Self, String> {
        Err(format!("{}: Unix sockets not supported on this system", path.display()))
    }

    pub(super) fn start(self, _: super::console::LineQueue) -> std::io::Result<SocketFile> {
        match self.0 {}
    }
}

/// Other systems have no such files.
#[cfg(not(unix))]
pub(super) struct SocketFile;

#[cfg(not(unix))]
pub(super) fn publish(_: &[u8]) {}

#[cfg(all(test, unix))]
mod tests {
    use super::unix::plain;

    #[test]
    fn text_for_consoles_has_no_control_characters() {
        let log = "2026 \u{1b}[32mINFO \u{1b}[0m server: x\n";
        assert_eq!(plain(log), "2026 INFO  server: x\n");
        assert_eq!(plain("a\u{1}b\u{7}\t^1c\r\u{1b}]0;x\u{1b}[2"), "ab\t^1c]0;x");
    }
}
