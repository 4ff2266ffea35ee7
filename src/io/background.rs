//! Background writer: a thread for a sink that may block. The log, the game log, journals and captures use it.
//!
//! Examples of such sinks are a slow disk, a paused terminal and a full pipe. A sink may gather pieces: those behind the
//! first one stay in the queue for a time, so that they do not wake the thread.
//!
//! Invariants: [`BackgroundWriter::try_write`] never waits; the queue is bounded; gathering ends when half of it is used;
//! pieces beyond it are dropped and counted. Once the sink accepts pieces again, at most one report per second gives the count.

use std::{
    io::{self, Write},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, SyncSender},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use super::byte_queue::{Bounds, Receiver, Refused, Sender, byte_queue};

/// Bounds of the queue to a text stream.
const TEXT_BOUNDS: Bounds = Bounds { messages: 8192, bytes: 1 << 20 };
/// Minimum time between two reports of dropped pieces.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Poll interval of a wait for the last write.
const FLUSH_POLL: Duration = Duration::from_millis(2);

/// Reports how many pieces were dropped in total.
pub(super) type Report = Box<dyn Fn(u64) + Send>;

/// Destination of a background writer. Its methods run in the thread and may block.
pub(super) trait Sink: Send + 'static {
    /// Whether an error ends the writer. Otherwise it drops the piece.
    const ENDS_ON_ERROR: bool;

    /// Writes or buffers a piece.
    fn write(&mut self, piece: &[u8]) -> io::Result<()>;

    /// Returns how long pieces stay in the queue behind the first one. Then they are written together and synced.
    fn gather(&self) -> Option<Duration> {
        None
    }

    /// Returns the time at which [`Sink::sync`] is due.
    fn sync_at(&self) -> Option<Instant> {
        None
    }

    /// Writes buffered pieces and syncs the file, when due and after the last piece.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Opens the file again, after an external rotation.
    fn reopen(&mut self) {}
}

/// Text stream as a sink, flushed after each piece.
struct TextSink<W> {
    stream: W,
    gather: Option<Duration>,
}

impl<W: Write + Send + 'static> Sink for TextSink<W> {
    const ENDS_ON_ERROR: bool = false;

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.stream.write_all(piece)?;
        self.stream.flush()
    }

    fn gather(&self) -> Option<Duration> {
        self.gather
    }
}

/// Input of the thread.
#[derive(Debug)]
enum Message {
    Piece(Vec<u8>),
    Reopen,
}

/// Options of a background writer.
pub(super) struct WriterOptions {
    /// Name of the thread.
    pub(super) name: &'static str,
    pub(super) bounds: Bounds,
    pub(super) report: Report,
    /// Channel that takes written pieces, so that their buffers are reused.
    pub(super) spare: Option<SyncSender<Vec<u8>>>,
}

/// Handle to the thread. Clones write to the same thread, which ends with the last one.
#[derive(Clone, Debug)]
pub(super) struct BackgroundWriter {
    sender: Sender<Message>,
    dropped: Arc<AtomicU64>,
    thread: Thread,
    /// Whether the thread should stop gathering.
    urgent: Arc<AtomicBool>,
    /// Expires with the thread.
    running: Weak<()>,
}

impl BackgroundWriter {
    /// Starts the thread.
    pub(super) fn start(options: WriterOptions, sink: impl Sink) -> io::Result<Self> {
        let (sender, receiver) = byte_queue(options.bounds);
        let dropped = Arc::new(AtomicU64::new(0));
        let (counter, token) = (Arc::clone(&dropped), Arc::new(()));
        let running = Arc::downgrade(&token);
        let urgent = Arc::new(AtomicBool::new(false));
        let ends_gathering = Arc::clone(&urgent);
        let handle = thread::Builder::new().name(options.name.to_owned()).spawn(move || {
            write_all(sink, receiver, &counter, &ends_gathering, &options);
            drop(token);
        })?;
        Ok(Self { sender, dropped, thread: handle.thread().clone(), urgent, running })
    }

    /// Starts a thread that writes to a text stream. `gather` is that of the sink.
    pub(super) fn text(
        name: &'static str,
        stream: impl Write + Send + 'static,
        gather: Option<Duration>,
        report: Report,
    ) -> io::Result<Self> {
        let options = WriterOptions { name, bounds: TEXT_BOUNDS, report, spare: None };
        Self::start(options, TextSink { stream, gather })
    }

    /// Queues a piece. Never waits.
    ///
    /// # Errors
    /// The queue is full or the thread has ended; the piece is dropped and counted.
    pub(super) fn try_write(&self, piece: Vec<u8>) -> Result<(), Refused> {
        let bytes = piece.len();
        let sent = self.sender.try_send(Message::Piece(piece), bytes);
        if sent.is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        if self.sender.is_half_full() {
            self.end_gathering();
        }
        sent
    }

    /// Makes the sink reopen its file, unless the queue is full.
    pub(super) fn reopen(&self) {
        let _ = self.sender.try_send(Message::Reopen, 0);
        self.end_gathering();
    }

    /// Returns how many pieces were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Ends gathering: the thread writes the queued pieces. Never waits.
    pub(super) fn end_gathering(&self) {
        hurry(&self.urgent, &self.thread);
    }

    /// Waits until the queue is empty, at most for `longest`. Returns whether it is.
    pub(super) fn wait(&self, longest: Duration) -> bool {
        self.end_gathering();
        wait_until(Some(longest), || self.sender.held() == 0)
    }

    /// Closes the queue and waits for the end of the thread, at most for `longest`. Returns whether it has
    /// ended. All clones must be gone.
    pub(super) fn finish(self, longest: Option<Duration>) -> bool {
        let Self { sender, thread, urgent, running, .. } = self;
        drop(sender);
        hurry(&urgent, &thread);
        wait_until(longest, || running.strong_count() == 0)
    }

    /// Whether the thread has ended.
    #[cfg(test)]
    pub(super) fn has_ended(&self) -> bool {
        self.running.strong_count() == 0
    }

    /// Returns the queued bytes, including the piece being written.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.sender.held()
    }
}

/// Ends the gathering of pieces.
fn hurry(urgent: &AtomicBool, thread: &Thread) {
    urgent.store(true, Ordering::Release);
    thread.unpark();
}

/// Waits for a time, or until [`hurry`] is called. A wait for the queue may consume the wake-up, so the flag
/// decides.
fn gather(longest: Duration, urgent: &AtomicBool) {
    let end = Instant::now() + longest;
    while !urgent.swap(false, Ordering::Acquire) {
        let rest = end.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return;
        }
        thread::park_timeout(rest);
    }
}

/// Polls a condition, at most for `longest`. Returns whether it came true.
fn wait_until(longest: Option<Duration>, is_done: impl Fn() -> bool) -> bool {
    let end = longest.map(|longest| Instant::now() + longest);
    while !is_done() {
        if end.is_some_and(|end| Instant::now() >= end) {
            return false;
        }
        thread::sleep(FLUSH_POLL);
    }
    true
}

impl Write for BackgroundWriter {
    /// Queues a piece of text, or drops and counts it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.try_write(bytes.to_vec());
        Ok(bytes.len())
    }

    /// Does nothing: the sink flushes after each piece.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all<S: Sink>(
    mut sink: S,
    mut receiver: Receiver<Message>,
    dropped: &AtomicU64,
    urgent: &AtomicBool,
    options: &WriterOptions,
) {
    let mut reported = 0;
    let mut report_at = Instant::now();
    // A report through a failing sink would be dropped and cause the next one.
    let mut writes = false;
    // Whether the queue is emptied after a time of gathering.
    let mut is_draining = false;
    loop {
        let total = dropped.load(Ordering::Relaxed);
        let report_due = (writes && total != reported).then_some(report_at);
        if report_due.is_some_and(|at| at <= Instant::now()) {
            (options.report)(total);
            (reported, report_at) = (total, Instant::now() + REPORT_INTERVAL);
            continue;
        }
        if sink.sync_at().is_some_and(|at| at <= Instant::now()) {
            if sink.sync().is_err() && S::ENDS_ON_ERROR {
                return;
            }
            continue;
        }
        let due = report_due.into_iter().chain(sink.sync_at()).min();
        let due = if is_draining { Some(Instant::now()) } else { due };
        match receiver.recv(due) {
            Ok(Message::Piece(piece)) => {
                writes = sink.write(&piece).is_ok();
                if !writes {
                    dropped.fetch_add(1, Ordering::Relaxed);
                    if S::ENDS_ON_ERROR {
                        return;
                    }
                }
                // Surplus buffers are freed.
                if let Some(spare) = &options.spare {
                    let _ = spare.try_send(piece);
                }
            }
            Ok(Message::Reopen) => sink.reopen(),
            Err(RecvTimeoutError::Timeout) => {
                if std::mem::take(&mut is_draining) {
                    let _ = sink.sync();
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => {
                let _ = sink.sync();
                return;
            }
        }
        if !is_draining && let Some(longest) = sink.gather() {
            // The pieces that follow do not wake the thread.
            gather(longest, urgent);
            is_draining = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    /// A sink that accepts a piece only when the test allows it, and fails after the test.
    struct Gate(mpsc::Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Fixture {
        writer: BackgroundWriter,
        gate: mpsc::Sender<()>,
        text: Arc<Mutex<Vec<u8>>>,
        reports: mpsc::Receiver<u64>,
    }

    fn start(messages: usize, bytes: usize) -> Fixture {
        let (gate, gated) = mpsc::channel();
        let text = Arc::new(Mutex::new(Vec::new()));
        let (reporter, reports) = mpsc::channel();
        let report = Box::new(move |total| reporter.send(total).unwrap_or_default());
        let sink = Gate(gated, Arc::clone(&text));
        let bounds = Bounds { messages, bytes };
        let options = WriterOptions { name: "test", bounds, report, spare: None };
        let writer =
            BackgroundWriter::start(options, TextSink { stream: sink, gather: None }).unwrap();
        Fixture { writer, gate, text, reports }
    }

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn blocked_sink_loses_text_and_reports_it_once() {
        for (messages, bytes) in [(10, usize::MAX), (usize::MAX >> 8, 50)] {
            let messages = messages.min(1000);
            let Fixture { mut writer, gate, text, reports } = start(messages, bytes);
            for number in 0..500 {
                writer.write_all(format!("{number:03}\n").as_bytes()).unwrap();
            }
            let dropped = writer.dropped();
            // The thread may have taken one piece out of the queue.
            assert!((489..=490).contains(&dropped) || (487..=488).contains(&dropped), "{dropped}");
            assert!(!writer.wait(Duration::from_millis(10)));
            assert!(reports.try_recv().is_err(), "nothing is reported while the sink stands still");
            (0..500 - dropped).for_each(|_| gate.send(()).unwrap());
            assert_eq!(reports.recv_timeout(SOON), Ok(dropped));
            assert!(writer.wait(SOON));
            let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
            let kept: String = (0..500 - dropped).map(|number| format!("{number:03}\n")).collect();
            // The last piece may be a later one: the thread takes its first piece at any time.
            let but_last = kept.len() - 4;
            assert_eq!(text[..but_last], kept[..but_last], "the oldest text, in order");
            assert_eq!(text.len(), kept.len());
        }
    }

    /// A sink that gathers for an hour, and notes what it is asked.
    struct Gathering(mpsc::Sender<String>);

    impl Sink for Gathering {
        const ENDS_ON_ERROR: bool = false;

        fn write(&mut self, piece: &[u8]) -> io::Result<()> {
            self.0.send(String::from_utf8_lossy(piece).into_owned()).map_err(io::Error::other)
        }

        fn gather(&self) -> Option<Duration> {
            Some(Duration::from_secs(3600))
        }

        fn sync(&mut self) -> io::Result<()> {
            self.0.send("sync".to_owned()).map_err(io::Error::other)
        }

        fn reopen(&mut self) {
            let _ = self.0.send("reopen".to_owned());
        }
    }

    /// Starts a writer that gathers, with a queue of that length.
    fn start_gathering(messages: usize) -> (BackgroundWriter, mpsc::Receiver<String>) {
        let (notes, noted) = mpsc::channel();
        let bounds = Bounds { messages, bytes: 1000 };
        let options = WriterOptions { name: "test", bounds, report: Box::new(|_| {}), spare: None };
        (BackgroundWriter::start(options, Gathering(notes)).unwrap(), noted)
    }

    #[test]
    fn gathered_pieces_are_synced_together_and_at_the_end() {
        let (writer, noted) = start_gathering(10);
        let next = || noted.recv_timeout(SOON).unwrap_or_default();
        writer.try_write(b"one".to_vec()).unwrap();
        assert_eq!(next(), "one");
        writer.try_write(b"two".to_vec()).unwrap();
        assert!(noted.recv_timeout(Duration::from_millis(20)).is_err(), "it stays in the queue");
        writer.reopen();
        assert_eq!([next(), next(), next()], ["two", "reopen", "sync"]);
        writer.try_write(b"three".to_vec()).unwrap();
        assert_eq!(next(), "three");
        writer.try_write(b"four".to_vec()).unwrap();
        assert!(writer.finish(Some(SOON)), "the end does not wait");
        assert_eq!([next(), next()], ["four", "sync"]);
    }

    #[test]
    fn half_full_queue_request_or_wait_ends_gathering() {
        let (writer, noted) = start_gathering(4);
        let next = || noted.recv_timeout(SOON).unwrap_or_default();
        writer.try_write(b"one".to_vec()).unwrap();
        assert_eq!(next(), "one");
        writer.try_write(b"two".to_vec()).unwrap();
        assert!(noted.recv_timeout(Duration::from_millis(20)).is_err(), "it stays in the queue");
        writer.try_write(b"three".to_vec()).unwrap();
        assert_eq!([next(), next(), next()], ["two", "three", "sync"]);
        writer.try_write(b"four".to_vec()).unwrap();
        assert_eq!(next(), "four");
        writer.try_write(b"five".to_vec()).unwrap();
        writer.end_gathering();
        assert_eq!([next(), next()], ["five", "sync"]);
        writer.try_write(b"six".to_vec()).unwrap();
        assert_eq!(next(), "six");
        assert!(writer.wait(SOON), "the piece that was written counts until gathering ends");
    }

    #[test]
    fn end_right_after_a_piece_does_not_wait() {
        for _ in 0..500 {
            let (writer, _noted) = start_gathering(10);
            thread::yield_now();
            writer.try_write(b"last".to_vec()).unwrap();
            assert!(writer.finish(Some(SOON)));
        }
    }

    #[test]
    fn broken_sink_is_counted_and_not_reported() {
        let Fixture { mut writer, gate, reports, .. } = start(10, 1000);
        drop(gate);
        for _ in 0..3 {
            writer.write_all(b"lost").unwrap();
            assert!(writer.wait(SOON));
        }
        assert_eq!(writer.dropped(), 3);
        assert!(reports.recv_timeout(Duration::from_millis(50)).is_err());
    }
}
