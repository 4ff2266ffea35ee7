//! Receiver: the thread that holds a relay's connection to a live stream.
//!
//! Invariants: the queue from the thread is bounded, and a full one stops reading; a lost connection is
//! opened again, at growing intervals.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use crate::{
    io::clock::{Clock, random_bytes},
    model::Millis,
    stream::{Subscriber, SubscriberEvent},
};

/// Events that wait for the relay.
const QUEUE: usize = 16;
/// Time of an attempt to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Longest wait for bytes, and so between two looks at the clock.
const READ_TIME: Duration = Duration::from_millis(500);
/// First and longest wait between two attempts.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Handle to the thread, which ends with it.
pub struct LiveReceiver {
    events: Receiver<SubscriberEvent>,
}

impl LiveReceiver {
    /// Connects to `host:port` with a password, and again when the connection is lost.
    ///
    /// # Errors
    /// System errors of the thread.
    pub fn start(address: &str, password: &str, name: &str) -> io::Result<Self> {
        let (sender, events) = sync_channel(QUEUE);
        let connection = Connection {
            address: address.to_owned(),
            password: password.to_owned(),
            name: name.to_owned(),
            sender,
        };
        thread::Builder::new().name("live stream".to_owned()).spawn(move || connection.run())?;
        Ok(Self { events })
    }

    /// Returns the next event, or `None`. Never waits. [`SubscriberEvent::Ended`] is followed by another
    /// attempt.
    pub fn poll_event(&mut self) -> Option<SubscriberEvent> {
        self.events.try_recv().ok()
    }
}

/// The relay has dropped its handle.
struct Closed;

struct Connection {
    address: String,
    password: String,
    name: String,
    sender: SyncSender<SubscriberEvent>,
}

impl Connection {
    fn run(self) {
        let mut wait = FIRST_WAIT;
        loop {
            let begun = Clock::start();
            let reason = match self.connect() {
                Ok(socket) => match self.receive(socket) {
                    Ok(reason) => reason,
                    Err(Closed) => return,
                },
                Err(error) => error.to_string(),
            };
            if self.sender.send(SubscriberEvent::Ended(reason)).is_err() {
                return;
            }
            if begun.now() >= Millis(60_000) {
                wait = FIRST_WAIT;
            }
            thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no address");
        for address in std::net::ToSocketAddrs::to_socket_addrs(&self.address)? {
            match TcpStream::connect_timeout(&address, CONNECT_TIME) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Receives until the connection ends, and returns the reason.
    fn receive(&self, mut socket: TcpStream) -> Result<String, Closed> {
        let clock = Clock::start();
        let nonce = match random_bytes() {
            Ok(nonce) => nonce,
            Err(error) => return Ok(error.to_string()),
        };
        let mut subscriber = Subscriber::new(clock.now(), &self.password, &self.name, nonce);
        let mut buffer = vec![0; 64 << 10];
        if let Err(error) = prepare(&socket) {
            return Ok(error.to_string());
        }
        loop {
            let received = match socket.read(&mut buffer) {
                Ok(0) => return Ok("connection closed".to_owned()),
                Ok(len) => subscriber.receive(clock.now(), &buffer[..len]),
                Err(error) if is_pause(&error) => Ok(()),
                Err(error) => return Ok(error.to_string()),
            };
            while let Some(event) = subscriber.poll_event() {
                match event {
                    SubscriberEvent::Refused(reason) => return Ok(format!("refused: {reason}")),
                    SubscriberEvent::Ended(reason) => return Ok(reason),
                    event => self.sender.send(event).map_err(|_| Closed)?,
                }
            }
            if let Err(error) = received {
                return Ok(error.to_string());
            }
            if subscriber.frame(clock.now()) {
                return Ok("no data for 20 s".to_owned());
            }
            if let Err(error) = socket.write_all(&subscriber.take_output()) {
                return Ok(error.to_string());
            }
        }
    }
}

fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(READ_TIME))?;
    socket.set_write_timeout(Some(CONNECT_TIME))
}

/// Whether a read ended without bytes and without a fault.
fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
