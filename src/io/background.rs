//! Background text writer: a thread for sinks that may block.
//!
//! Examples of such sinks are a paused terminal and a full pipe.
//!
//! Invariants: [`BackgroundWriter::write`] never waits; at most [`BOUNDS`] are queued; text beyond that is
//! dropped and counted. Once the sink accepts text again, at most one log line per second reports the count.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::byte_queue::{Bounds, Receiver, Sender, byte_queue};

/// Bounds of the queue to a sink.
const BOUNDS: Bounds = Bounds { messages: 8192, bytes: 1 << 20 };
/// Minimum time between two reports of dropped text.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Poll interval of a wait for the last write.
const FLUSH_POLL: Duration = Duration::from_millis(2);

/// Reports how many pieces of text were dropped in total.
pub(super) type Report = Box<dyn Fn(u64) + Send>;

/// Handle to a thread that writes text. Clones write to the same thread, which ends with the last one.
#[derive(Clone, Debug)]
pub(super) struct BackgroundWriter {
    sender: Sender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

impl BackgroundWriter {
    /// Starts the thread.
    pub(super) fn start(
        name: &str,
        sink: impl Write + Send + 'static,
        report: Report,
    ) -> io::Result<Self> {
        Self::bounded(name, sink, report, BOUNDS)
    }

    fn bounded(
        name: &str,
        sink: impl Write + Send + 'static,
        report: Report,
        bounds: Bounds,
    ) -> io::Result<Self> {
        let (sender, receiver) = byte_queue(bounds);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || write_all(sink, receiver, &counter, &report))?;
        Ok(Self { sender, dropped })
    }

    /// Returns how many pieces of text were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything is written, at most for `longest`. Returns whether everything is written.
    pub(super) fn wait(&self, longest: Duration) -> bool {
        let end = Instant::now() + longest;
        while self.sender.held() > 0 {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(FLUSH_POLL);
        }
        true
    }
}

impl Write for BackgroundWriter {
    /// Queues a piece of text, or drops and counts it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.sender.try_send(bytes.to_vec(), bytes.len()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    /// Does nothing: the thread flushes after each piece.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(
    mut sink: impl Write,
    mut receiver: Receiver<Vec<u8>>,
    dropped: &AtomicU64,
    report: &Report,
) {
    let mut reported = 0;
    let mut report_at = Instant::now();
    // A report through a failing sink would be dropped and cause the next one.
    let mut writes = false;
    loop {
        let total = dropped.load(Ordering::Relaxed);
        let is_due = writes && total != reported;
        if is_due && report_at <= Instant::now() {
            report(total);
            (reported, report_at) = (total, Instant::now() + REPORT_INTERVAL);
            continue;
        }
        match receiver.recv(is_due.then_some(report_at)) {
            Ok(piece) => {
                writes = sink.write_all(&piece).and_then(|()| sink.flush()).is_ok();
                if !writes {
                    dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
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
        let writer = BackgroundWriter::bounded("test", sink, report, bounds).unwrap();
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
            assert_eq!(text, kept, "the oldest text, in order");
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
