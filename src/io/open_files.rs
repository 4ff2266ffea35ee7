//! Limit of open files of the process.

use std::io;

/// Whether `error` reports the limit of open files, of the process or of the system.
pub(super) fn is_file_limit(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        let code = error.raw_os_error();
        let limits = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
        limits.iter().any(|errno| code == Some(errno.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Raises the soft limit of open files to `wanted`, or to the hard limit if that is lower.
#[cfg(unix)]
pub(super) fn raise_open_files(wanted: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else { return };
    if current < wanted {
        let current = Some(wanted.min(limit.maximum.unwrap_or(wanted)));
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}
