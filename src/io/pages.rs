//! Text pages over HTTP: counters, lists, served by their own thread.
//!
//! The event loop only hands over a copy of what pages show. Each page is rendered when it is requested, from
//! its query string, which the requester chooses.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS},
};

use super::{
    http_counters::HttpCounters,
    http_listener::{HttpLimits, decoded_path, listen},
};

/// Limits of the listener.
const LIMITS: HttpLimits = HttpLimits {
    connections: 8,
    head_time: Duration::from_secs(2),
    whole_time: Duration::from_secs(5),
    buffer: 0,
};
/// Permission of an HTML page: its own styles and forms, no script, nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'";

/// Answer to the request of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Text of the page.
    pub text: String,
    /// Whether the status is 200, else 503.
    pub is_available: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, is_available: true }
    }
}

/// Renders a page from the query string of its request, which is untrusted.
pub type Render = Arc<dyn Fn(&str) -> Answer + Send + Sync>;

/// Page at a path.
#[derive(Clone)]
pub struct Page {
    /// Path, e.g. `/metrics`.
    pub path: &'static str,
    /// Type of the text, e.g. `text/html; charset=utf-8`.
    pub content_type: &'static str,
    /// Text of the page.
    pub render: Render,
}

/// Serves `pages` on `address` in a thread `name`, and returns the bound address.
///
/// The thread lives as long as the process.
///
/// # Errors
/// System errors of the listening socket.
pub fn serve(name: &'static str, address: SocketAddr, pages: Vec<Page>) -> io::Result<SocketAddr> {
    // The pages count nothing about themselves.
    let counters = HttpCounters::default();
    listen(name, address, LIMITS, counters, move |request, _| answer(request, &pages))
}

fn answer(request: &Request<Incoming>, pages: &[Page]) -> Response<Full<Bytes>> {
    let path = decoded_path(request.uri().path());
    let page = pages.iter().find(|page| path.as_deref() == Some(page.path));
    let (status, header, text) = match page {
        None => {
            let paths: Vec<_> = pages.iter().map(|page| page.path).collect();
            let text = format!("see {}\n", paths.join(" "));
            (StatusCode::NOT_FOUND, (CONTENT_TYPE, "text/plain"), text)
        }
        Some(page) if matches!(*request.method(), Method::GET | Method::HEAD) => {
            let answer = (page.render)(request.uri().query().unwrap_or_default());
            let status =
                if answer.is_available { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            (status, (CONTENT_TYPE, page.content_type), answer.text)
        }
        Some(_) => (StatusCode::METHOD_NOT_ALLOWED, (ALLOW, "GET, HEAD"), String::new()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = [header, (CONTENT_SECURITY_POLICY, POLICY), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
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
        let text = "frames_total 7\n# EOF\n";
        let page = |path, render| Page { path, content_type: "text/plain", render };
        let pages = vec![
            page("/metrics", Arc::new(move |_: &str| text.to_owned().into()) as Render),
            page("/list", Arc::new(|query: &str| format!("asked for {query}").into())),
            page(
                "/readyz",
                Arc::new(|_: &str| Answer { text: "no".to_owned(), is_available: false }),
            ),
        ];
        serve("metrics", ([127, 0, 0, 1], 0).into(), pages).expect("a loopback interface")
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
    fn pages_are_served_at_their_paths_for_get() {
        let address = start();
        let text = ask(address, GET);
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\nframes_total 7\n# EOF\n"), "{text}");
        let escaped = ask(address, b"GET /%6detrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(escaped.ends_with("frames_total 7\n# EOF\n"), "{escaped}");
        let twice = ask(address, b"GET /%256detrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(twice.starts_with("HTTP/1.1 404 "), "{twice}");
        let other = ask(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
        assert!(other.ends_with("see /metrics /list /readyz\n"), "{other}");
        let list = ask(address, b"GET /list?game=q%203&x HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(list.ends_with("asked for game=q%203&x"), "{list}");
        let absent = ask(address, b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(absent.starts_with("HTTP/1.1 503 ") && absent.ends_with("no"), "{absent}");
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
        let mut silent: Vec<_> = (0..LIMITS.connections * 2)
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
