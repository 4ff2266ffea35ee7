//! Faults that a trial injects, and how often each was injected.
//!
//! A fault with a count of 0 was not tried. Invariant: one table holds every fault and its name.

macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident = $name:literal,)*) => {
        /// A kind of injected fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[$doc])* $fault,)*
        }

        impl Fault {
            /// All faults with their names, in the order of the enum.
            pub const ALL: &[(Self, &str)] = &[$((Self::$fault, $name),)*];
        }
    };
}

faults! {
    /// A lost datagram.
    Lost = "lost",
    /// A duplicated datagram.
    Duplicated = "duplicated",
    /// A datagram that arrives after one that was sent later.
    Reordered = "reordered",
    /// A truncated datagram.
    Truncated = "truncated",
    /// A datagram with a flipped bit.
    Flipped = "bits flipped",
    /// A NAT rebinding: the source port of a player changes.
    Rebind = "rebindings",
    /// A pause of the server process.
    ServerStall = "server stalls",
    /// A pause of a player's process.
    PlayerStall = "player stalls",
    /// A forward jump of the server's clock.
    ServerJump = "server clock jumps",
    /// A forward jump of a player's clock.
    PlayerJump = "player clock jumps",
    /// A player that disconnects.
    Leave = "leaves",
    /// A player that stops sending, and may rejoin before its connection times out.
    Silence = "silences",
    /// A map change.
    Map = "maps",
    /// A level restart.
    Restart = "restarts",
    /// A burst of queries and random datagrams from other addresses.
    Flood = "floods",
    /// A calendar of the server that is set forward or back.
    Calendar = "calendar steps",
}

/// Injected faults by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts([u64; Fault::ALL.len()]);

impl FaultCounts {
    /// Counts one fault.
    pub fn add(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
    }

    /// Returns the count of one kind.
    #[must_use]
    pub fn of(&self, fault: Fault) -> u64 {
        self.0[fault as usize]
    }

    /// Returns each kind's name and count.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Fault::ALL.iter().map(|(fault, name)| (*name, self.of(*fault)))
    }

    /// Returns the sum of both counts.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.iter_mut().zip(others.0).for_each(|(own, others)| *own += others);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_counts_add_and_name_each_kind() {
        for &(fault, name) in Fault::ALL {
            let mut faults = FaultCounts::default();
            faults.add(fault);
            let twice = faults.with(faults);
            assert_eq!(twice.of(fault), 2);
            assert_eq!(twice.iter().find(|(_, count)| *count > 0), Some((name, 2)));
        }
    }
}
