//! What processes on this machine use: processor time and memory.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

/// Watches some processes.
pub struct Processes {
    system: System,
}

/// What a process has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Processor time since it began, of kernel and program together, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
}

impl Processes {
    /// Watches none yet.
    #[must_use]
    pub fn new() -> Self {
        Self { system: System::new() }
    }

    /// What a process has used, `None` for this one. None when there is no such process.
    pub fn used(&mut self, pid: Option<u32>) -> Option<Used> {
        let pid = match pid {
            Some(pid) => Pid::from_u32(pid),
            None => get_current_pid().ok()?,
        };
        let what = ProcessRefreshKind::nothing().with_cpu().with_memory();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
        let process = self.system.process(pid)?;
        let cpu_us = process.accumulated_cpu_time().saturating_mul(1000);
        Some(Used { cpu_us, memory_bytes: process.memory() })
    }
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_no_other_has_its_number() {
        let mut processes = Processes::new();
        let own = processes.used(None).expect("there is this one");
        assert!(own.memory_bytes > 1_000_000, "{own:?}");
        assert_eq!(
            processes.used(Some(std::process::id())).map(|used| used.memory_bytes > 0),
            Some(true)
        );
        assert_eq!(processes.used(Some(u32::MAX - 1)), None);
    }
}
