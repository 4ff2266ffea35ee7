//! Service manager: tells systemd the state of the process, if it asks for it with `NOTIFY_SOCKET`.
//!
//! A thread sends the datagrams, since a full socket would hold the loop. It answers the watchdog only while the loop
//! runs.
//! Source: manual page `sd_notify(3)` of systemd.

use std::{
    env,
    ffi::OsStr,
    io,
    os::unix::{ffi::OsStrExt as _, net::UnixDatagram},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sd_notify::NotifyState;

use super::pulse::Pulse;
use crate::{model::Millis, node::NodeState};

/// Variable that names the socket of the service manager.
const SOCKET: &str = "NOTIFY_SOCKET";
/// Time between two reports of the loop.
const INTERVAL: Millis = Millis::seconds(1);
/// Time by which a drain extends the time that the service manager waits for the end.
const EXTENSION: Duration = Duration::from_secs(30);
/// Longest wait for a service manager that does not read, at the end.
const LAST_WAIT: Duration = Duration::from_millis(500);
/// Time between two extensions, and longest wait of the thread.
const EXTEND_EVERY: Duration = Duration::from_secs(10);
/// Least time between two answers to the watchdog without another report.
const LEAST_WAIT: Duration = Duration::from_millis(50);

/// Report to the service manager.
enum Report {
    Ready,
    Reloading,
    State(NodeState),
    Stopping,
}

/// Connection to the service manager.
pub(super) struct ServiceManager {
    reports: Sender<Report>,
    thread: JoinHandle<()>,
    pulse: Pulse,
    next: Millis,
    last: NodeState,
}

impl ServiceManager {
    /// Connects to the service manager, if there is one. It is not ready yet.
    ///
    /// # Errors
    /// System errors of the thread.
    pub(super) fn start() -> io::Result<Option<Self>> {
        if env::var_os(SOCKET).is_none_or(|name| name.is_empty()) {
            return Ok(None);
        }
        let (reports, incoming) = channel();
        let pulse = Pulse::default();
        let seen = pulse.clone();
        let thread = thread::Builder::new()
            .name("notify".to_owned())
            .spawn(move || send_reports(&incoming, &seen))?;
        let (next, last) = (Millis(0), NodeState::default());
        Ok(Some(Self { reports, thread, pulse, next, last }))
    }

    /// Reports that the node serves.
    pub(super) fn ready(&self) {
        let _ = self.reports.send(Report::Ready);
    }

    /// Reports that files are read again. [`Self::ready`] ends that.
    pub(super) fn reloading(&self) {
        let _ = self.reports.send(Report::Reloading);
    }

    /// Time at which the loop reports next.
    pub(super) const fn due(&self) -> Millis {
        self.next
    }

    /// Records that the loop runs, and reports a state that has changed.
    pub(super) fn report(&mut self, now: Millis, state: impl FnOnce() -> NodeState) {
        self.pulse.beat();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        let state = state();
        if state != self.last {
            self.last = state.clone();
            let _ = self.reports.send(Report::State(state));
        }
    }

    /// Reports that the node ends, and waits until it is sent, at most for a moment.
    pub(super) fn finish(self) {
        let _ = self.reports.send(Report::Stopping);
        drop(self.reports);
        let end = Instant::now() + LAST_WAIT;
        while !self.thread.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Sends states in one datagram, if there is a service manager.
fn notify(states: &[NotifyState<'_>]) -> io::Result<()> {
    let Some(name) = env::var_os(SOCKET) else { return Ok(()) };
    let message: String = states.iter().map(|state| format!("{state}\n")).collect();
    connect(&name)?.send(message.as_bytes()).map(drop)
}

/// Connects to the socket of a service manager. A name with `@` in front is in the abstract name space of Linux.
fn connect(name: &OsStr) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    match name.as_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::{linux::net::SocketAddrExt as _, unix::net::SocketAddr};

            socket.connect_addr(&SocketAddr::from_abstract_name(name)?)?;
        }
        _ => socket.connect(name)?,
    }
    Ok(socket)
}

/// Sends reports until the loop ends.
fn send_reports(incoming: &Receiver<Report>, pulse: &Pulse) {
    let send = |states: &[NotifyState<'_>]| {
        if let Err(error) = notify(states) {
            log::debug!("service manager not told: {error}");
        }
    };
    let watchdog = sd_notify::watchdog_enabled().map(|interval| (interval / 2).max(LEAST_WAIT));
    let wait = watchdog.unwrap_or(EXTEND_EVERY).min(EXTEND_EVERY);
    let mut is_draining = false;
    loop {
        match incoming.recv_timeout(wait) {
            Ok(Report::Ready) => send(&[NotifyState::Ready]),
            Ok(Report::Reloading) => {
                // Both in one datagram, or the service manager takes the reload as failed.
                if let Ok(now) = NotifyState::monotonic_usec_now() {
                    send(&[NotifyState::Reloading, now]);
                }
            }
            Ok(Report::State(state)) => {
                is_draining = state.is_draining;
                // A line of its own would be another message.
                let text = state.text.replace(|c: char| c.is_control(), " ");
                send(&[NotifyState::Status(&text)]);
            }
            Ok(Report::Stopping) => send(&[NotifyState::Stopping]),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        // Without a gap between reports, the watchdog is answered too.
        if watchdog.is_some() && pulse.is_fresh() {
            send(&[NotifyState::Watchdog]);
        }
        if is_draining && pulse.is_fresh() {
            let us = u32::try_from(EXTENSION.as_micros()).unwrap_or(u32::MAX);
            send(&[NotifyState::ExtendTimeoutUsec(us)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 64];
        let count = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    #[test]
    fn sockets_have_paths_or_abstract_names() {
        let unique = format!("fragd-notify-{}", std::process::id());
        let path = env::temp_dir().join(&unique);
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).unwrap();
        connect(path.as_os_str()).unwrap().send(b"READY=1\n").unwrap();
        assert_eq!(received(&socket), "READY=1\n");
        std::fs::remove_file(&path).unwrap();
        #[cfg(target_os = "linux")]
        {
            use std::os::{linux::net::SocketAddrExt as _, unix::net::SocketAddr};

            let address = SocketAddr::from_abstract_name(&unique).unwrap();
            let socket = UnixDatagram::bind_addr(&address).unwrap();
            connect(format!("@{unique}").as_ref()).unwrap().send(b"STOPPING=1\n").unwrap();
            assert_eq!(received(&socket), "STOPPING=1\n");
        }
        assert!(connect("@nobody-listens-here".as_ref()).is_err());
    }
}
