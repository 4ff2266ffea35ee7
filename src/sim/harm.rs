//! What went wrong in a trial, counted by kind: a kind that stays at nothing was not tried.

/// Something that goes wrong, by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// A datagram never arrives.
    Lost,
    /// A datagram arrives twice.
    Doubled,
    /// A datagram arrives behind one that was sent after it.
    Overtaken,
    /// The end of a datagram is missing.
    Cut,
    /// A bit of a datagram is another.
    Flipped,
    /// A player's router gives it another port.
    NewPort,
    /// The server's machine stands still.
    ServerStall,
    /// A player's machine stands still.
    PlayerStall,
    /// The server's clock jumps ahead.
    ServerJump,
    /// A player's clock jumps ahead.
    PlayerJump,
    /// A player leaves with a word.
    Leave,
    /// A player falls silent, and may be back before it is missed.
    Silence,
    /// Another map begins.
    Map,
    /// The level begins anew.
    Restart,
    /// Strangers send queries and rubbish, many at a time.
    Flood,
}

impl Harm {
    /// All kinds with their names, in the order of the enum.
    pub const ALL: [(Self, &'static str); 15] = [
        (Self::Lost, "lost"),
        (Self::Doubled, "doubled"),
        (Self::Overtaken, "overtaken"),
        (Self::Cut, "cut"),
        (Self::Flipped, "bits flipped"),
        (Self::NewPort, "new ports"),
        (Self::ServerStall, "server stalls"),
        (Self::PlayerStall, "player stalls"),
        (Self::ServerJump, "server clock jumps"),
        (Self::PlayerJump, "player clock jumps"),
        (Self::Leave, "leaves"),
        (Self::Silence, "silences"),
        (Self::Map, "maps"),
        (Self::Restart, "restarts"),
        (Self::Flood, "floods"),
    ];
}

/// How often each kind happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harms([u64; Harm::ALL.len()]);

impl Harms {
    /// One more.
    pub fn add(&mut self, harm: Harm) {
        self.0[harm as usize] += 1;
    }

    /// How many of a kind.
    #[must_use]
    pub fn of(&self, harm: Harm) -> u64 {
        self.0[harm as usize]
    }

    /// Each kind's name and number.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Harm::ALL.iter().map(|(harm, name)| (*name, self.of(*harm)))
    }

    /// These and others together.
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
    fn kinds_are_counted_under_their_own_names() {
        for (place, (harm, name)) in Harm::ALL.into_iter().enumerate() {
            assert_eq!(harm as usize, place, "{name}");
            let mut harms = Harms::default();
            harms.add(harm);
            let twice = harms.with(harms);
            assert_eq!(twice.of(harm), 2);
            assert_eq!(twice.iter().find(|(_, count)| *count > 0), Some((name, 2)));
        }
    }
}
