//! Chat delivery: numbered lines of bots, counted by each bot that receives them.
//!
//! A line ends with the number of its bot, from 1. Reliable messages arrive once and in order, so that the numbers of
//! each sender rise by one; the first line of a sender may have any number, since the receiver may have joined later.
//! Invariant: at most [`MAX_SENDERS`] senders are remembered.

use std::collections::HashMap;

/// Maximum number of senders; lines of others are not counted.
const MAX_SENDERS: usize = 64;
/// Longest name of a sender.
const MAX_NAME: usize = 64;

/// Counts of received chat lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChatCounts {
    /// Lines with a number.
    pub(super) received: u64,
    /// Lines of which a later one was received first.
    pub(super) missing: u64,
    /// Lines with the number of an earlier one.
    pub(super) repeated: u64,
}

impl ChatCounts {
    /// Returns the sums of two counts.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            received: self.received + other.received,
            missing: self.missing + other.missing,
            repeated: self.repeated + other.repeated,
        }
    }
}

/// Order of chat lines by sender.
#[derive(Debug, Default)]
pub(super) struct ChatOrder {
    sent: u32,
    newest: HashMap<Vec<u8>, u32>,
    counts: ChatCounts,
}

impl ChatOrder {
    /// Returns a chat command with its number; another command as it is.
    pub(super) fn numbered(&self, command: &str) -> String {
        if command.starts_with("say ") {
            format!("{command} #{}", self.sent + 1)
        } else {
            command.to_owned()
        }
    }

    /// Counts a command that was queued.
    pub(super) fn sent(&mut self, command: &str) {
        self.sent += u32::from(command.starts_with("say "));
    }

    /// Counts a chat line.
    pub(super) fn receive(&mut self, line: &[u8]) {
        let Some((sender, number)) = parse(line) else { return };
        let is_known = self.newest.contains_key(&sender);
        if !is_known && self.newest.len() >= MAX_SENDERS {
            return;
        }
        self.counts.received += 1;
        let newest = self.newest.entry(sender).or_insert(number);
        // A sender that joins again begins with 1.
        if is_known && number > 1 {
            self.counts.missing += u64::from(number.saturating_sub(*newest + 1));
            self.counts.repeated += u64::from(number <= *newest);
        }
        *newest = number;
    }

    pub(super) const fn counts(&self) -> ChatCounts {
        self.counts
    }
}

/// Returns sender and number of a line such as `name: hello #7`.
fn parse(line: &[u8]) -> Option<(Vec<u8>, u32)> {
    let line = line.trim_ascii_end();
    let end = line.windows(2).position(|pair| pair == b": ")?;
    let digits = &line[line.iter().rposition(|byte| *byte == b'#')? + 1..];
    let number =
        std::str::from_utf8(digits).ok()?.parse().ok().filter(|number| *number < u32::MAX)?;
    // Some servers color names with the highest bit.
    let name = line[..end].iter().take(MAX_NAME).map(|byte| byte & 0x7f).collect();
    Some((name, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_repetitions_are_counted_per_sender() {
        let mut order = ChatOrder::default();
        for line in [
            &b"a: x #3\n"[..],
            b"b: y #1\n",
            b"a: x #4\n",
            b"b: y #4\n",
            b"b: y #4\n",
            b"a: x #1\n",
        ] {
            order.receive(line);
        }
        order.receive(b"a: no number\n");
        order.receive(b"#5\n");
        assert_eq!(order.counts(), ChatCounts { received: 6, missing: 2, repeated: 1 });
    }

    #[test]
    fn own_lines_have_rising_numbers() {
        let mut order = ChatOrder::default();
        assert_eq!(order.numbered("say hello"), "say hello #1");
        order.sent("say hello");
        order.sent("kill");
        assert_eq!(order.numbered("kill"), "kill");
        assert_eq!(order.numbered("say hello"), "say hello #2");
    }
}
