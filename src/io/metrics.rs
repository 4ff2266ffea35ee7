//! Metrics endpoint: counters over HTTP, served by its own thread.
//!
//! The event loop only hands over a copy once per second. Requests are bounded in size and time, and
//! connections in number (`http_connections`); each connection ends with its response.
//! Invariant: no other thread waits for this one.

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

use super::http_connections::Connections;

/// Maximum simultaneous connections.
const CONNECTIONS_MAX: usize = 8;
/// Maximum length of a request head, in bytes.
const HEAD_BYTES_MAX: usize = 8192;
/// Time limit of a request head.
const HEAD_TIME: Duration = Duration::from_secs(2);
/// Time limit of a connection.
const WHOLE_TIME: Duration = Duration::from_secs(5);
/// Pause after a failed accept, e.g. for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Path of the metrics.
const PATH: &str = "/metrics";

/// Renders the response: all metrics as text.
pub type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// Serves the text of `render` as `content_type` on `address`, and returns the bound address.
///
/// The thread lives as long as the process.
///
/// # Errors
/// System errors of the listening socket.
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
            log::warn!("metrics endpoint {bound} stopped: {error}");
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
    let mut open = Connections::new(CONNECTIONS_MAX);
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                log::debug!("metrics connection not accepted: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let render = Arc::clone(&render);
        let task = tokio::spawn(async move {
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
            // A connection error concerns the requester only.
            let _ = tokio::time::timeout(WHOLE_TIME, connection).await;
        });
        open.add(from.ip(), task.abort_handle());
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
        // The server may close the connection before the request is sent completely.
        let _ = stream.write_all(request);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    const GET: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

    #[test]
    fn metrics_are_served_at_one_path_for_get() {
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
    fn endless_and_invalid_requests_end_without_effect() {
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
    fn new_connections_replace_idle_ones() {
        let address = start();
        let mut silent: Vec<_> = (0..CONNECTIONS_MAX * 2)
            .map(|_| TcpStream::connect(address).expect("the kernel's queue has room"))
            .collect();
        // A monitor gets an answer while idle connections return and before they time out.
        for _ in 0..20 {
            assert!(ask(address, GET).contains("frames_total 7"));
            silent.extend((0..2).map(|_| TcpStream::connect(address).unwrap()));
        }
        drop(silent);
    }
}
