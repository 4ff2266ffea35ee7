//! HTTP server of downloads: the archives that the game server offers, served by its own thread.
//!
//! ```text
//! GET /baseoa/map.pk3    200, 206 with one byte range, 416
//! HEAD                   the same without bytes
//! other names            404
//! ```
//!
//! A request is looked up by its whole path, decoded once, in the set of offered archives and never becomes a path of the
//! file system.
//! Source: RFC 9110, range requests; clients of ioquake3 request `sv_dlURL/FOLDER/NAME.pk3`.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    net::SocketAddr,
    ops::Range,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    header::{
        ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName,
        HeaderValue, IF_RANGE, RANGE,
    },
};

use super::{
    assets::{OfferedPack, OfferedPacks, PackReader, PackSource},
    http_counters::HttpCounters,
    http_listener::{HttpLimits, decoded_path, listen},
};

/// Bytes read from a file at once.
const CHUNK_LEN: usize = 128 * 1024;
/// Limits of the listener. A large file over a slow line takes an hour.
const LIMITS: HttpLimits = HttpLimits {
    connections: 128,
    head_time: Duration::from_secs(5),
    whole_time: Duration::from_secs(3600),
    buffer: CHUNK_LEN,
};

/// Serves the archives of `offered` on `address`, and returns the bound address. Counts in `counters`.
///
/// The thread lives as long as the process.
///
/// # Errors
/// System errors of the listening socket.
pub fn serve(
    address: SocketAddr,
    offered: OfferedPacks,
    counters: HttpCounters,
) -> io::Result<SocketAddr> {
    listen("http", address, LIMITS, counters.clone(), move |request, from| {
        let response = answer(request, &offered, from);
        counters.count_response(response.status());
        let counters = response.status().is_success().then(|| counters.clone());
        response.map(|body| CountedBody { body, counters })
    })
}

fn answer(
    request: &Request<Incoming>,
    offered: &OfferedPacks,
    from: SocketAddr,
) -> Response<PackBody> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, ALLOW, "GET, HEAD", "only GET and HEAD\n");
    }
    let path = decoded_path(request.uri().path()).unwrap_or_default();
    let name = path.strip_prefix('/').unwrap_or_default();
    let Some(pack) = offered.find(name) else {
        return plain(
            StatusCode::NOT_FOUND,
            CONTENT_TYPE,
            "text/plain",
            "not a file that this server offers\n",
        );
    };
    let is_head = *request.method() == Method::HEAD;
    match pack_response(request.headers(), is_head, &pack) {
        Ok(response) => {
            log::info!("{from} requests {name} over HTTP: {}", response.status().as_u16());
            response
        }
        Err(error) => {
            log::error!("{name} not served over HTTP: {error}");
            let text = "the file is not readable on the server\n";
            plain(StatusCode::INTERNAL_SERVER_ERROR, CONTENT_TYPE, "text/plain", text)
        }
    }
}

fn pack_response(
    headers: &HeaderMap,
    is_head: bool,
    pack: &OfferedPack,
) -> io::Result<Response<PackBody>> {
    let len = pack.source.len();
    let tag = format!("\"{:08x}-{len}\"", pack.checksum);
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    // A range of another version of the file is not sent.
    let range = text(RANGE).filter(|_| text(IF_RANGE).is_none_or(|wanted| wanted == tag));
    let (status, range) = match range.map_or(Asked::Whole, |range| parse_range(range, len)) {
        Asked::Whole => (StatusCode::OK, 0..len),
        Asked::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        Asked::Nothing => (StatusCode::RANGE_NOT_SATISFIABLE, 0..0),
    };
    let body = if is_head { PackBody::Ended } else { PackBody::open(&pack.source, range.clone())? };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let mut set = |name: HeaderName, text: String| {
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(name, value);
        }
    };
    set(CONTENT_TYPE, "application/octet-stream".to_owned());
    set(ACCEPT_RANGES, "bytes".to_owned());
    set(ETAG, tag);
    set(CONTENT_LENGTH, (range.end - range.start).to_string());
    match status {
        StatusCode::PARTIAL_CONTENT => {
            set(CONTENT_RANGE, format!("bytes {}-{}/{len}", range.start, range.end - 1));
        }
        StatusCode::RANGE_NOT_SATISFIABLE => set(CONTENT_RANGE, format!("bytes */{len}")),
        _ => {}
    }
    Ok(response)
}

fn plain(
    status: StatusCode,
    name: HeaderName,
    value: &'static str,
    text: &'static str,
) -> Response<PackBody> {
    let mut response = Response::new(PackBody::Bytes(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

/// Meaning of a `Range` header.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// The whole file: also several ranges, which a server may ignore.
    Whole,
    /// A part that is not empty.
    Part(Range<u64>),
    /// A part beyond the end.
    Nothing,
}

fn parse_range(header: &str, len: u64) -> Asked {
    let ends = header.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let Some((first, last)) = ends else { return Asked::Whole };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = match (first.trim().is_empty(), number(first), number(last)) {
        (false, Some(first), Some(last)) if last >= first => first..len.min(last.saturating_add(1)),
        (false, Some(first), None) if last.trim().is_empty() => first..len,
        (true, _, Some(count)) => len.saturating_sub(count)..len,
        _ => return Asked::Whole,
    };
    if range.start >= range.end { Asked::Nothing } else { Asked::Part(range) }
}

/// Body that counts the bytes of an archive when they are sent.
struct CountedBody {
    body: PackBody,
    counters: Option<HttpCounters>,
}

/// Content of a response.
enum PackBody {
    /// Bytes in memory.
    Bytes(Bytes),
    /// The rest of a file, read in parts.
    File(PackReader, u64),
    /// Nothing more.
    Ended,
}

impl PackBody {
    fn open(source: &PackSource, range: Range<u64>) -> io::Result<Self> {
        match source {
            PackSource::Builtin(_, bytes) => {
                let part = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
                let part = part.and_then(|(start, end)| bytes.get(start..end));
                Ok(Self::Bytes(Bytes::from_static(part.unwrap_or_default())))
            }
            PackSource::File(..) => {
                let mut reader = source.reader()?;
                reader.seek(SeekFrom::Start(range.start))?;
                Ok(Self::File(reader, range.end - range.start))
            }
        }
    }

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        match std::mem::replace(self, Self::Ended) {
            Self::Ended => None,
            Self::Bytes(bytes) => (!bytes.is_empty()).then_some(Ok(bytes)),
            Self::File(_, 0) => None,
            Self::File(mut reader, left) => {
                let mut chunk = vec![0; CHUNK_LEN.min(usize::try_from(left).unwrap_or(CHUNK_LEN))];
                if let Err(error) = reader.read_exact(&mut chunk) {
                    return Some(Err(error));
                }
                *self = Self::File(reader, left - chunk.len() as u64);
                Some(Ok(chunk.into()))
            }
        }
    }
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // The file is in the page cache or on a local disk; this thread serves nothing else.
        let Self { body, counters } = self.get_mut();
        Poll::Ready(body.next().map(|chunk| {
            chunk.map(|bytes| {
                if let Some(counters) = counters {
                    counters.count_bytes(bytes.len());
                }
                Frame::data(bytes)
            })
        }))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            PackBody::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            PackBody::File(_, left) => SizeHint::with_exact(*left),
            PackBody::Ended => SizeHint::with_exact(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _, net::TcpStream, process};

    use super::*;
    use crate::{io::GameData, model::assets::Assets as _};

    fn ask(address: SocketAddr, request: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let body = bytes.split_off(end + 4);
        (String::from_utf8_lossy(&bytes).to_lowercase(), body)
    }

    fn get(address: SocketAddr, path: &str, more: &str) -> (String, Vec<u8>) {
        ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n"))
    }

    #[test]
    fn ranges_are_parsed_as_the_standard_says() {
        for (header, asked) in [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=10-", Asked::Part(10..100)),
            ("bytes=-30", Asked::Part(70..100)),
            ("bytes=-300", Asked::Part(0..100)),
            ("bytes=90-200", Asked::Part(90..100)),
            ("bytes=90-18446744073709551615", Asked::Part(90..100)),
            ("bytes=100-", Asked::Nothing),
            ("bytes=-0", Asked::Nothing),
            ("bytes=5-4", Asked::Whole),
            ("bytes=0-1,5-6", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("lines=1-2", Asked::Whole),
        ] {
            assert_eq!(parse_range(header, 100), asked, "{header}");
        }
    }

    #[test]
    fn only_offered_archives_are_served() {
        let data = GameData::default().with_builtin("baseoa");
        let counters = HttpCounters::default();
        let address = serve(([127, 0, 0, 1], 0).into(), data.offered(), counters.clone()).unwrap();
        let path = "/baseoa/fragd1.pk3";
        assert!(get(address, path, "").0.starts_with("http/1.1 404"), "not offered yet");
        data.offer(&[0]);
        let whole = data.read_pack(0, 0..data.packs()[0].info.len).unwrap();
        let (head, body) = get(address, path, "");
        assert!(
            head.starts_with("http/1.1 200") && head.contains("accept-ranges: bytes"),
            "{head}"
        );
        assert!(body == whole);
        let (head, body) = get(address, path, "Range: bytes=1000-1999\r\n");
        assert!(head.starts_with("http/1.1 206"), "{head}");
        assert!(
            head.contains(&format!("content-range: bytes 1000-1999/{}", whole.len())),
            "{head}"
        );
        assert!(body == whole[1000..2000]);
        let (head, body) = get(address, path, "Range: bytes=99999999-\r\n");
        assert!(head.starts_with("http/1.1 416") && body.is_empty(), "{head}");
        let (head, body) = ask(address, &format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(head.contains(&format!("content-length: {}", whole.len())), "{head}");
        assert!(body.is_empty());
        for other in
            ["/", "/baseoa/", "/baseoa/../baseoa/fragd1.pk3", "/etc/passwd", "//baseoa/fragd1.pk3"]
        {
            assert!(get(address, other, "").0.starts_with("http/1.1 404"), "{other}");
        }
        let (head, _) = ask(address, &format!("POST {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(head.starts_with("http/1.1 405"), "{head}");
        let counted = counters.rows().map(|(_, _, value)| value);
        assert_eq!(
            counted,
            [2, 1, 8, 0, 0, whole.len() as u64 + 1000],
            "HEAD is answered without bytes"
        );
    }

    #[test]
    fn file_is_served_in_parts_from_disk() {
        let path = std::env::temp_dir().join(format!("fragd-http-{}.pk3", process::id()));
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let offered = OfferedPacks::default();
        let source = PackSource::file(&path).unwrap();
        for name in ["mod/a.pk3", "mod/my map.pk3"] {
            offered.add(name.to_owned(), OfferedPack { source: source.clone(), checksum: -1 });
        }
        let address = serve(([127, 0, 0, 1], 0).into(), offered, HttpCounters::default()).unwrap();
        assert!(get(address, "/mod/a.pk3", "").1 == bytes);
        assert!(get(address, "/%6dod%2Fa%2epk3", "").1 == bytes);
        assert!(get(address, "/mod/my%20map.pk3", "").1 == bytes);
        for hostile in
            ["/%2e%2e/mod/a.pk3", "/mod/a%252epk3", "/mod/a.pk3%00", "/mod/a.pk%", "/%2fmod/a.pk3"]
        {
            assert!(get(address, hostile, "").0.starts_with("http/1.1 404"), "{hostile}");
        }
        assert!(get(address, "/mod/a.pk3", "Range: bytes=-150000\r\n").1 == bytes[150_000..]);
        // A file that was replaced is not served.
        fs::write(&path, b"other").unwrap();
        assert!(get(address, "/mod/a.pk3", "").0.starts_with("http/1.1 500"));
        fs::remove_file(path).unwrap();
    }
}
