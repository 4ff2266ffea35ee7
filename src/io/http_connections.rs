//! Open connections of an HTTP endpoint, limited in number.
//!
//! Connections end with their response. At the limit, a new connection replaces the oldest one of the address
//! with the most connections, so idle connections lock out no other address.

use std::net::IpAddr;

use tokio::task::AbortHandle;

/// Open connections, the oldest first.
pub(super) struct Connections {
    open: Vec<(IpAddr, AbortHandle)>,
    max: usize,
}

impl Connections {
    /// At most `max` connections.
    pub(super) const fn new(max: usize) -> Self {
        Self { open: Vec::new(), max }
    }

    /// Adds a connection, and ends another one if there are too many.
    pub(super) fn add(&mut self, from: IpAddr, task: AbortHandle) {
        self.open.retain(|(_, task)| !task.is_finished());
        if self.open.len() == self.max {
            let count = |address| self.open.iter().filter(|(other, _)| *other == address).count();
            // Among equals the first is the oldest.
            let evicted = (0..self.open.len()).rev().max_by_key(|&at| count(self.open[at].0));
            if let Some(at) = evicted {
                self.open.remove(at).1.abort();
            }
        }
        self.open.push((from, task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_with_most_connections_loses_its_oldest() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let idle = || tokio::spawn(std::future::pending::<()>());
            let (monitor, greedy) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
            let mut open = Connections::new(8);
            let mut tasks = Vec::new();
            for number in 0..30 {
                let task = idle();
                open.add(if number == 1 { monitor } else { greedy }, task.abort_handle());
                tasks.push(task);
                tokio::task::yield_now().await;
            }
            assert_eq!(open.open.len(), 8);
            let alive: Vec<_> = (0..30).filter(|&at| !tasks[at].is_finished()).collect();
            assert_eq!(alive, [1, 23, 24, 25, 26, 27, 28, 29], "the monitor's and the newest");
        });
    }
}
