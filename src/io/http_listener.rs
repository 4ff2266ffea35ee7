//! HTTP listener: a thread with a limited number of connections, for downloads and for pages.
//!
//! Requests are bounded in size and time, connections in number and by site ([`Places`]); each connection ends with its
//! response. Invariant: no other thread waits for this one.

use std::{
    convert::Infallible,
    error::Error,
    io,
    net::{SocketAddr, TcpListener},
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};

use super::{http_counters::HttpCounters, http_places::Places};

/// Maximum length of a request head, in bytes.
const HEAD_BYTES_MAX: usize = 8192;
/// Pause after a failed accept, e.g. for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Limits of a listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpLimits {
    /// Simultaneous connections.
    pub(super) connections: usize,
    /// Time of a request head.
    pub(super) head_time: Duration,
    /// Time of a connection.
    pub(super) whole_time: Duration,
    /// Bytes that are buffered to send, at least the length of a request head.
    pub(super) buffer: usize,
}

/// Returns the path of a request with its percent-escapes decoded once.
///
/// `None` for an invalid escape, and for a path that is not text without control characters.
///
/// Source: RFC 3986, section 2.1.
pub(super) fn decoded_path(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push((high << 4 | low) as u8);
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains(char::is_control))
}

/// Answers requests on `address` in a thread `name`, and returns the bound address.
///
/// The thread lives as long as the process.
///
/// # Errors
/// System errors of the listening socket.
pub(super) fn listen<B>(
    name: &'static str,
    address: SocketAddr,
    limits: HttpLimits,
    counters: HttpCounters,
    answer: impl Fn(&Request<Incoming>, SocketAddr) -> Response<B> + Send + Sync + 'static,
) -> io::Result<SocketAddr>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        if let Err(error) = runtime.block_on(accept(listener, limits, counters, Arc::new(answer))) {
            log::warn!("HTTP listener {bound} stopped: {error}");
        }
    })?;
    Ok(bound)
}

async fn accept<B>(
    listener: TcpListener,
    limits: HttpLimits,
    counters: HttpCounters,
    answer: Arc<impl Fn(&Request<Incoming>, SocketAddr) -> Response<B> + Send + Sync + 'static>,
) -> io::Result<()>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut places = Places::new(limits.connections, counters);
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                log::debug!("HTTP connection not accepted: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(is_busy) = places.make_room(from.ip(), Instant::now()) else { continue };
        let (answer, asked) = (Arc::clone(&answer), Arc::clone(&is_busy));
        let task = tokio::spawn(async move {
            let answer = service_fn(move |request| {
                asked.store(true, Ordering::Relaxed);
                let response = answer(&request, from);
                async { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head_time)
                .max_buf_size(HEAD_BYTES_MAX.max(limits.buffer))
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), answer);
            // A connection error concerns the requester only.
            let _ = tokio::time::timeout(limits.whole_time, connection).await;
        });
        places.add(from.ip(), Instant::now(), is_busy, task.abort_handle());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once_or_refused() {
        for (path, decoded) in [
            ("/a/b.pk3", Some("/a/b.pk3")),
            ("/baseoa/my%20map%2Bx.pk3", Some("/baseoa/my map+x.pk3")),
            ("/a+b", Some("/a+b")),
            ("/%2e%2E%2fetc", Some("/../etc")),
            ("/%252e", Some("/%2e")),
            ("/%c3%a9", Some("/é")),
            ("/%", None),
            ("/%2", None),
            ("/%zz", None),
            ("/%+1", None),
            ("/%00", None),
            ("/%0d%0aX:", None),
            ("/%c3", None),
            ("/%c0%ae", None),
        ] {
            assert_eq!(decoded_path(path).as_deref(), decoded, "{path}");
        }
    }
}
