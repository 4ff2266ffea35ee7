//! Folders and ports of process-level tests.

use std::{
    env, fs,
    net::{Ipv4Addr, UdpSocket},
    path::PathBuf,
    sync::atomic::{AtomicU16, Ordering},
};

/// A folder of its own, removed at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("fragd-process-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns an unused UDP port that no other test draws. A server binds its port late, so the port lies below the
/// kernel's own range: otherwise the socket of another test could receive what is sent to the server.
pub(crate) fn free_port() -> u16 {
    static DRAWN: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(std::process::id() % 90).unwrap() * 100;
    loop {
        let port = first + DRAWN.fetch_add(1, Ordering::Relaxed);
        if UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
