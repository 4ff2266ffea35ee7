//! CPU and memory use of the server and of the load generator.

use serde::Serialize;

use super::rounding::rounded;

/// Resource usage of a process: CPU time since its start, and current memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUsage {
    /// CPU time in user and kernel mode, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
}

impl ResourceUsage {
    /// Returns the CPU time used since `earlier`, with the current memory.
    pub(in crate::bots) fn since(self, earlier: Self) -> Self {
        Self { cpu_us: self.cpu_us.saturating_sub(earlier.cpu_us), ..self }
    }

    pub(super) fn summary(self, bot_ms: u64, bots: usize, before: u64) -> ResourceSummary {
        let cpu_ms = self.cpu_us as f64 / 1000.0;
        let client_seconds = bot_ms as f64 / 1000.0;
        let each = if bot_ms == 0 { 0.0 } else { cpu_ms / client_seconds };
        ResourceSummary {
            cpu_ms: rounded(cpu_ms),
            cpu_ms_per_client_second: (each * 1000.0).round() / 1000.0,
            memory_mb: rounded(self.memory_bytes as f64 / 1e6),
            memory_kb_per_bot: rounded(
                self.memory_bytes.saturating_sub(before) as f64 / 1e3 / bots.max(1) as f64,
            ),
        }
    }
}

/// Resources of a process in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResourceSummary {
    /// CPU time, in ms.
    pub cpu_ms: f64,
    /// CPU time per client and second in the game, in ms.
    pub cpu_ms_per_client_second: f64,
    /// Memory at the end, in MB.
    pub memory_mb: f64,
    /// Memory growth per bot, in kB.
    pub memory_kb_per_bot: f64,
}
