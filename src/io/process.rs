//! Process resource usage: CPU time, memory, open files.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

/// Resource meter of processes.
pub struct Processes {
    system: System,
}

/// Resources used by a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// CPU time since its start, in user and kernel mode, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
    /// Reserved address space in bytes.
    pub virtual_bytes: u64,
}

impl Processes {
    /// Creates a meter.
    #[must_use]
    pub fn new() -> Self {
        Self { system: System::new() }
    }

    /// Returns the usage of a process (`None`: this process), or `None` if it does not exist.
    pub fn used(&mut self, pid: Option<u32>) -> Option<Used> {
        let pid = match pid {
            Some(pid) => Pid::from_u32(pid),
            None => get_current_pid().ok()?,
        };
        let what = ProcessRefreshKind::nothing().with_cpu().with_memory();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
        let process = self.system.process(pid)?;
        let cpu_us = processor_us(pid)
            .unwrap_or_else(|| process.accumulated_cpu_time().saturating_mul(1000));
        let (memory_bytes, virtual_bytes) = (process.memory(), process.virtual_memory());
        Some(Used { cpu_us, memory_bytes, virtual_bytes })
    }
}

/// Number of open files of this process and their limit, where the system tells them.
#[must_use]
pub fn open_files() -> (Option<u64>, Option<u64>) {
    #[cfg(target_os = "linux")]
    {
        // The folder is open while it is read.
        let count = std::fs::read_dir("/proc/self/fd").ok();
        let count = count.map(|files| (files.count() as u64).saturating_sub(1));
        (count, rustix::process::getrlimit(rustix::process::Resource::Nofile).current)
    }
    #[cfg(not(target_os = "linux"))]
    {
        (None, None)
    }
}

/// Returns the CPU time of all threads of a process, ended ones included, from its CPU clock.
///
/// `/proc` rounds it to ticks of 10 ms.
#[cfg(target_os = "linux")]
fn processor_us(pid: Pid) -> Option<u64> {
    use nix::{sys::time::TimeSpec, time::ClockId, unistd};

    let pid = unistd::Pid::from_raw(i32::try_from(pid.as_u32()).ok()?);
    let used: TimeSpec = ClockId::pid_cpu_clock_id(pid).ok()?.now().ok()?;
    u64::try_from(std::time::Duration::from(used).as_micros()).ok()
}

/// Returns `None`: other systems have no such clock, or no safe access to it.
#[cfg(not(target_os = "linux"))]
fn processor_us(_: Pid) -> Option<u64> {
    None
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn cpu_time_is_finer_than_a_tick() {
        let mut processes = Processes::new();
        let is_between = |_| {
            let used = processes.used(None).expect("there is this one");
            !used.cpu_us.is_multiple_of(10_000)
        };
        assert!((0..50).any(is_between));
    }

    #[test]
    fn process_usage_covers_this_process_only() {
        let mut processes = Processes::new();
        let own = processes.used(None).expect("there is this one");
        assert!(own.memory_bytes > 1_000_000 && own.virtual_bytes > own.memory_bytes, "{own:?}");
        let (open, limit) = open_files();
        assert!(!cfg!(target_os = "linux") || open > Some(2) && limit > open, "{open:?} {limit:?}");
        assert_eq!(
            processes.used(Some(std::process::id())).map(|used| used.memory_bytes > 0),
            Some(true)
        );
        assert_eq!(processes.used(Some(u32::MAX - 1)), None);
    }
}
