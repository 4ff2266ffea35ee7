//! Numbers for monitoring, over HTTP, beside the loop and never in its way.
//!
//! A thread of its own serves what it is given; the loop's only part is to hand over a copy now and then.
//! Whoever asks is a stranger: requests are bounded in size and time, answers in number at once, and a
//! connection ends with its answer. Invariant: nothing that happens here is waited for by anybody else.

use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

/// Connections that are served at once. More wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 8;
/// Bytes of a request's head, at most.
const HEAD_BYTES_MAX: usize = 8192;
/// How long a request's head may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(2);
/// How long a connection may take from its first byte to its last.
const WHOLE_TIME: Duration = Duration::from_secs(5);
/// How long to wait after the system refused a connection, for want of files, say.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the numbers are.
const PATH: &str = "/metrics";

/// Makes the answer: all numbers as text.
pub type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// Begins to serve what `render` makes, said to be of `content_type`, on `address`. Returns where it
/// listens. The thread lives as long as the process.
///
/// # Errors
/// The system's, when nothing can listen there.
pub fn serve(
    address: SocketAddr,
    content_type: &'static str,
    render: Render,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        if let Err(error) = runtime.block_on(accept(listener, content_type, render)) {
            log::warn!("no more numbers are served on {bound}: {error}");
        }
    })?;
    Ok(bound)
}

async fn accept(
    listener: TcpListener,
    content_type: &'static str,
    render: Render,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::debug!("a connection for numbers was not taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let render = Arc::clone(&render);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let response = answer(&request, content_type, &render);
                async { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(HEAD_BYTES_MAX)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), answer);
            // How it ended matters to the one who asked, and to nobody here.
            let _ = tokio::time::timeout(WHOLE_TIME, connection).await;
            drop(place);
        });
    }
}

fn answer(
    request: &Request<Incoming>,
    content_type: &'static str,
    render: &Render,
) -> Response<Full<Bytes>> {
    let (status, header, text) = if request.uri().path() != PATH {
        (StatusCode::NOT_FOUND, (CONTENT_TYPE, "text/plain"), format!("see {PATH}\n"))
    } else if matches!(*request.method(), Method::GET | Method::HEAD) {
        (StatusCode::OK, (CONTENT_TYPE, content_type), render())
    } else {
        (StatusCode::METHOD_NOT_ALLOWED, (ALLOW, "GET, HEAD"), String::new())
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header.0, hyper::header::HeaderValue::from_static(header.1));
    response
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpStream,
    };

    use super::*;

    fn start() -> SocketAddr {
        let render: Render = Arc::new(|| "frames_total 7\n# EOF\n".to_owned());
        serve(([127, 0, 0, 1], 0).into(), "text/plain", render).expect("a loopback interface")
    }

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The other end may have heard enough before all is said.
        let _ = stream.write_all(request);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    const GET: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

    #[test]
    fn numbers_are_served_at_one_place_and_only_read() {
        let address = start();
        let text = ask(address, GET);
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\nframes_total 7\n# EOF\n"), "{text}");
        let other = ask(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
        let post = ask(address, b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    }

    #[test]
    fn endless_and_broken_requests_end_and_harm_nobody() {
        let address = start();
        let endless =
            [b"GET /metrics HTTP/1.1\r\n".as_slice(), &b"X: yyyyyyyyyyyy\r\n".repeat(9000)];
        for request in [
            endless.concat(),
            b"GET /".iter().copied().chain([b'a'; 200_000]).collect(),
            vec![0xff; 100_000],
            b"\r\n\r\n\r\n".to_vec(),
            b"GET /metrics HTTP/9.9\r\n\r\n".to_vec(),
            b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
        ] {
            let text = ask(address, &request);
            assert!(!text.contains("frames_total"), "{text}");
        }
        assert!(ask(address, GET).contains("frames_total 7"));
    }

    #[test]
    fn those_who_say_nothing_take_the_places_for_seconds_only() {
        let address = start();
        let silent: Vec<_> = (0..CONNECTIONS_MAX * 2)
            .map(|_| TcpStream::connect(address).expect("the kernel's queue has room"))
            .collect();
        // Whoever comes behind them waits its turn and is answered.
        assert!(ask(address, GET).contains("frames_total 7"));
        drop(silent);
    }
}
