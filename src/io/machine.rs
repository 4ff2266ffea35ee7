//! Description of this machine: host name, processor, operating system.

use std::thread::available_parallelism;

use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// Description of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineInfo {
    /// Host name; empty when unknown.
    pub host: String,
    /// Model of the processor; empty when unknown.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// Operating system and kernel.
    pub os: String,
}

impl MachineInfo {
    /// Reads the description.
    #[must_use]
    pub fn read() -> Self {
        let refresh = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
        let system = System::new_with_specifics(refresh);
        let cpu = system.cpus().first().map_or("", |cpu| cpu.brand().trim());
        let os = [System::long_os_version(), System::kernel_version(), Some(System::cpu_arch())];
        Self {
            host: System::host_name().unwrap_or_default(),
            cpu: cpu.to_owned(),
            cores: available_parallelism().map_or(0, usize::from),
            os: os.into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_has_cores_and_system() {
        let machine = MachineInfo::read();
        assert!(machine.cores > 0 && !machine.os.is_empty(), "{machine:?}");
    }
}
