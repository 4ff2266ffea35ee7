//! Trace and packet capture of a running role.

use std::{net::SocketAddr, path::Path};

use fragd::{
    capture::{CaptureSink, Tap, TapOptions},
    cli::TraceFiles,
    io::StreamFile,
    model::UnixMillis,
    node::LocalPort,
    trace::Role,
};

/// Creates the files that the options name, and the observer that fills them.
pub(super) fn open(
    files: &TraceFiles,
    locals: Vec<(LocalPort, SocketAddr)>,
    started_at: UnixMillis,
    role: Role,
    max_lines: usize,
) -> Result<Option<Tap>, String> {
    let create = |kind: &'static str, path: Option<&Path>| -> Result<Option<CaptureSink>, String> {
        let Some(path) = path else { return Ok(None) };
        let mut file = StreamFile::create(kind, path).map_err(|error| error.to_string())?;
        log::info!("writing {kind} of all datagrams to {}", path.display());
        Ok(Some(Box::new(move |bytes: &[u8]| file.write(bytes))))
    };
    if files.trace.is_none() && files.pcap.is_none() {
        return Ok(None);
    }
    let (trace, pcap) =
        (create("trace", files.trace.as_deref())?, create("capture", files.pcap.as_deref())?);
    Ok(Some(Tap::new(TapOptions { locals, started_at, role, max_lines, trace, pcap })))
}
