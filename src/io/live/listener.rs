//! Listener: the thread that sends a server's live stream to its relays.
//!
//! Invariants: the queue to the thread is bounded; when it is full, the stream has a gap up to its next key
//! frame and the server continues.

use std::{
    io::{self, Read as _, Write as _},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::RecvTimeoutError,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use mio::{
    Events, Interest, Poll, Token, Waker,
    net::{TcpListener, TcpStream},
};

use crate::{
    io::{
        byte_queue::{Bounds, Receiver, Refused, Sender, byte_queue},
        clock::{Clock, random_bytes},
    },
    model::Millis,
    stream::{ConnectionId, Publisher, PublisherOptions},
};

/// Bounds of the queue to the thread.
const BOUNDS: Bounds = Bounds { messages: 4096, bytes: 32 << 20 };
const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
/// Longest wait of the thread.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Time in which the relays get the end of the stream.
const END_TIME: Duration = Duration::from_secs(1);
/// Bytes that one connection reads or writes before it is another's turn.
const TURN: usize = 256 << 10;

/// Handle to the thread, which ends with it.
pub struct LiveListener {
    /// `None` once the stream has ended.
    sender: Option<Sender<Vec<u8>>>,
    waker: Arc<Waker>,
    has_gap: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    address: SocketAddr,
}

impl LiveListener {
    /// Listens on `address`.
    ///
    /// # Errors
    /// System errors of the socket and of the thread.
    pub fn start(address: SocketAddr, options: PublisherOptions) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let mut listener = TcpListener::bind(address)?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let address = listener.local_addr()?;
        let (sender, receiver) = byte_queue(BOUNDS);
        let has_gap = Arc::new(AtomicBool::new(false));
        let running = Running {
            poll,
            listener,
            receiver,
            has_gap: Arc::clone(&has_gap),
            clock: Clock::start(),
            publisher: Publisher::new(options),
            sockets: Vec::new(),
        };
        let thread = thread::Builder::new().name("live stream".to_owned()).spawn(move || {
            if let Err(error) = running.run() {
                log::error!("live stream ended: {error}");
            }
        })?;
        Ok(Self { sender: Some(sender), waker, has_gap, thread: Some(thread), address })
    }

    /// Returns the bound address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Queues whole pieces of the recording. Never waits.
    pub fn write(&mut self, pieces: Vec<u8>) {
        let Some(sender) = &self.sender else { return };
        let len = pieces.len();
        match sender.try_send(pieces, len) {
            Ok(()) => {}
            Err(Refused::Full) => {
                if !self.has_gap.swap(true, Ordering::AcqRel) {
                    log::warn!(
                        "live stream: writer thread too slow; frames dropped until the next key frame"
                    );
                }
            }
            Err(Refused::Closed) => self.sender = None,
        }
        self.wake();
    }

    fn wake(&self) {
        // Without a wake-up, the thread looks again within its longest wait.
        let _ = self.waker.wake();
    }
}

impl Drop for LiveListener {
    fn drop(&mut self) {
        self.sender = None;
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
struct Running {
    poll: Poll,
    listener: TcpListener,
    receiver: Receiver<Vec<u8>>,
    has_gap: Arc<AtomicBool>,
    clock: Clock,
    publisher: Publisher,
    /// Socket of each connection, by its number.
    sockets: Vec<Option<Peer>>,
}

/// Socket of a connection.
struct Peer {
    socket: TcpStream,
    /// Whether the kernel's queue was full.
    waits_for_room: bool,
    has_ended: bool,
}

impl Running {
    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut end: Option<Instant> = None;
        loop {
            let now = self.clock.now();
            let wait = Duration::from_millis(self.publisher.next_frame(now).since(now).0);
            self.poll.poll(&mut events, Some(wait.min(LONGEST_WAIT))).or_else(interrupted)?;
            let now = self.clock.now();
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(now),
                    WAKER => {}
                    Token(number) => self.receive(now, ConnectionId(number)),
                }
            }
            if self.take_pieces(now) && end.is_none() {
                self.publisher.end(now, "the server stopped");
                end = Some(Instant::now() + END_TIME);
            }
            self.publisher.frame(now);
            self.send_all();
            let is_late = end.is_some_and(|end| Instant::now() >= end);
            if end.is_some() && (is_late || self.publisher.connections().next().is_none()) {
                return Ok(());
            }
        }
    }

    /// Publishes queued pieces. Returns whether no more will come.
    fn take_pieces(&mut self, now: Millis) -> bool {
        loop {
            if self.has_gap.swap(false, Ordering::AcqRel) {
                self.publisher.gap();
            }
            match self.receiver.recv(Some(Instant::now())) {
                Ok(pieces) => self.publisher.publish(now, &pieces),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    fn accept(&mut self, now: Millis) {
        loop {
            let (mut socket, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    log::debug!("live stream: connection not accepted: {error}");
                    return;
                }
            };
            let Ok(nonce) = random_bytes() else { continue };
            let id = match self.publisher.accept(now, from, nonce) {
                Ok(id) => id,
                Err(refusal) => {
                    log::debug!("live stream: connection of {from} refused: {refusal:?}");
                    continue;
                }
            };
            let _ = socket.set_nodelay(true);
            let both = Interest::READABLE | Interest::WRITABLE;
            if let Err(error) = self.poll.registry().register(&mut socket, Token(id.0), both) {
                log::debug!("live stream: connection of {from} not polled: {error}");
                self.publisher.closed(id);
                continue;
            }
            if self.sockets.len() <= id.0 {
                self.sockets.resize_with(id.0 + 1, || None);
            }
            self.sockets[id.0] = Some(Peer { socket, waits_for_room: false, has_ended: false });
        }
    }

    fn receive(&mut self, now: Millis, id: ConnectionId) {
        let Some(Some(peer)) = self.sockets.get_mut(id.0) else { return };
        // The event may mean room to send.
        peer.waits_for_room = false;
        let mut buffer = [0; 4096];
        let mut taken = 0;
        while taken < TURN {
            match peer.socket.read(&mut buffer) {
                Ok(0) => {
                    peer.has_ended = true;
                    return;
                }
                Ok(len) => {
                    taken += len;
                    self.publisher.receive(now, id, &buffer[..len]);
                    if self.publisher.is_done(id) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    peer.has_ended = true;
                    return;
                }
            }
        }
        // No relay sends that much between two reads.
        peer.has_ended = true;
    }

    fn send_all(&mut self) {
        for number in 0..self.sockets.len() {
            let id = ConnectionId(number);
            let Some(peer) = &mut self.sockets[number] else { continue };
            let mut taken = 0;
            while !peer.waits_for_room && !peer.has_ended && taken < TURN {
                let output = self.publisher.output(id);
                if output.is_empty() {
                    break;
                }
                match peer.socket.write(output) {
                    Ok(len) => {
                        taken += len;
                        self.publisher.sent(id, len);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        peer.waits_for_room = true;
                    }
                    Err(_) => peer.has_ended = true,
                }
            }
            if peer.has_ended || self.publisher.is_done(id) {
                let _ = self.poll.registry().deregister(&mut peer.socket);
                self.sockets[number] = None;
                self.publisher.closed(id);
            }
        }
    }
}

fn interrupted(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
