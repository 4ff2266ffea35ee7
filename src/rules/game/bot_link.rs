//! Bot link: what the server keeps for a client without a connection, instead of its channel.
//!
//! Invariant: the queue of server commands is bounded; the oldest one is discarded.
//! Engine names: `SV_BotGetConsoleMessage`, `SV_BotGetSnapshotEntity`.

use std::{collections::VecDeque, sync::Arc};

use crate::model::{EntitySet, UserCmd};

/// Server commands that wait for a bot. Engines keep as many for a client.
const MAX_WAITING: usize = 64;

/// Input and output of a bot.
#[derive(Debug, Default)]
pub struct BotLink {
    /// Newest usercmd.
    pub last_usercmd: UserCmd,
    /// Entities of the last snapshot.
    pub seen: EntitySet,
    commands: VecDeque<Arc<str>>,
}

impl BotLink {
    /// Queues a server command.
    pub fn queue(&mut self, command: Arc<str>) {
        if self.commands.len() == MAX_WAITING {
            self.commands.pop_front();
        }
        self.commands.push_back(command);
    }

    /// Removes and returns the oldest server command.
    pub fn next_command(&mut self) -> Option<Arc<str>> {
        self.commands.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_commands_are_bounded() {
        let mut bot = BotLink::default();
        (0..70).for_each(|number| bot.queue(number.to_string().into()));
        assert_eq!(bot.next_command().as_deref(), Some("6"));
        assert_eq!(std::iter::from_fn(|| bot.next_command()).count(), MAX_WAITING - 1);
    }
}
