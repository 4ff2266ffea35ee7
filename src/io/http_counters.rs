//! Counters of HTTP downloads, shared by the thread that serves and the one that shows them.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

#[cfg(feature = "http")]
use hyper::StatusCode;

/// Counters of HTTP downloads. Clones share their values.
#[derive(Clone, Debug, Default)]
pub struct HttpCounters(Arc<Values>);

#[derive(Debug, Default)]
struct Values {
    whole: AtomicU64,
    parts: AtomicU64,
    refused: AtomicU64,
    displaced: AtomicU64,
    refused_connections: AtomicU64,
    bytes: AtomicU64,
}

impl HttpCounters {
    /// Counts a response by its status.
    #[cfg(feature = "http")]
    pub(super) fn count_response(&self, status: StatusCode) {
        let counter = match status {
            StatusCode::OK => &self.0.whole,
            StatusCode::PARTIAL_CONTENT => &self.0.parts,
            _ => &self.0.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that ended for another one.
    pub(super) fn count_displaced(&self) {
        self.0.displaced.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that found no place.
    pub(super) fn count_refused_connection(&self) {
        self.0.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts bytes of archives.
    #[cfg(feature = "http")]
    pub(super) fn count_bytes(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns name, help and value of each counter.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, &'static str, u64); 6] {
        let Values { whole, parts, refused, displaced, refused_connections, bytes } = &*self.0;
        [
            (
                "q3_http_requests_total{answer=\"whole\"}",
                "HTTP downloads of whole archives.",
                whole,
            ),
            ("q3_http_requests_total{answer=\"part\"}", "HTTP downloads of byte ranges.", parts),
            ("q3_http_requests_total{answer=\"refused\"}", "HTTP requests refused.", refused),
            (
                "q3_http_connections_total{result=\"displaced\"}",
                "HTTP connections that ended for newer ones.",
                displaced,
            ),
            (
                "q3_http_connections_total{result=\"refused\"}",
                "HTTP connections closed without a place.",
                refused_connections,
            ),
            ("q3_http_bytes_total", "Bytes of archives sent over HTTP.", bytes),
        ]
        .map(|(name, help, value)| (name, help, value.load(Ordering::Relaxed)))
    }
}
