//! Counters: a table of names and meanings, and the numbers.

use super::exposition::{Sample, Value};

macro_rules! counters {
    ($($counter:ident, $name:literal, $help:literal;)+) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $(#[doc = $help] $counter,)+
        }

        impl Counter {
            /// Every counter, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$counter),+];

            /// Its name, as monitoring systems like them: words, unit, `_total`, and in braces what kind.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$counter => $name),+ }
            }

            /// One sentence.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$counter => $help),+ }
            }
        }
    };
}

counters! {
    PacketsInConnectionless, "q3_packets_total{dir=\"in\",kind=\"connectionless\"}",
        "Datagrams outside a connection that arrived.";
    PacketsInSequenced, "q3_packets_total{dir=\"in\",kind=\"sequenced\"}",
        "Datagrams of clients that arrived.";
    PacketsInStray, "q3_packets_total{dir=\"in\",kind=\"stray\"}",
        "Datagrams that looked like a client's and were nobody's.";
    PacketsOutConnectionless, "q3_packets_total{dir=\"out\",kind=\"connectionless\"}",
        "Datagrams outside a connection that were sent.";
    PacketsOutSequenced, "q3_packets_total{dir=\"out\",kind=\"sequenced\"}",
        "Datagrams that were sent to clients.";
    BytesIn, "q3_bytes_total{dir=\"in\"}", "Bytes that arrived, without network headers.";
    BytesOut, "q3_bytes_total{dir=\"out\"}",
        "Bytes that were sent to clients, without network headers.";
    PacketsOutOfOrder, "q3_packets_dropped_total{reason=\"order\"}",
        "Datagrams of clients that came twice or too late.";
    MalformedHeader, "q3_packets_dropped_total{reason=\"short\"}",
        "Datagrams too short for a header.";
    MalformedPacket, "q3_packets_dropped_total{reason=\"netchan\"}",
        "Datagrams of clients with a wrong checksum or impossible fragments.";
    MalformedMessage, "q3_packets_dropped_total{reason=\"message\"}",
        "Messages of clients that could not be read.";
    MalformedConnectionless, "q3_packets_dropped_total{reason=\"connectionless\"}",
        "Connectionless datagrams that could not be read.";
    FalseAcknowledge, "q3_packets_dropped_total{reason=\"acknowledge\"}",
        "Messages that acknowledge what was never sent.";
    UnprovenMessages, "q3_packets_dropped_total{reason=\"unproven\"}",
        "Messages with an unexpected port or number that did not prove to be the client's.";
    MessagesOverLimit, "q3_packets_dropped_total{reason=\"limit\"}",
        "Messages beyond what one client may send in a second.";
    ConnectionlessIgnored, "q3_packets_ignored_total",
        "Connectionless datagrams that no server answers.";
    QueriesAnswered, "q3_queries_total{result=\"answered\"}", "Queries that were answered.";
    QueriesLimited, "q3_queries_total{result=\"limited\"}",
        "Queries beyond what an address or all together may ask.";
    QueriesShed, "q3_shed_total{kind=\"query\"}",
        "Queries that were not looked at because their frame had had enough: shed first.";
    NewcomersShed, "q3_shed_total{kind=\"newcomer\"}",
        "Connects, requests for a challenge and remote commands not looked at for the same reason.";
    SequencedShed, "q3_shed_total{kind=\"sequenced\"}",
        "Datagrams of players not looked at for the same reason: shed last.";
    FramesOverloaded, "q3_frames_overloaded_total",
        "Game frames before which something was shed.";
    ChallengesLimited, "q3_challenges_limited_total",
        "Requests for a challenge beyond what an address or all together may ask.";
    ConnectsAccepted, "q3_connects_total{result=\"accepted\"}", "Players who were let in.";
    ConnectsRefused, "q3_connects_total{result=\"refused\"}", "Players who were turned away.";
    ClientsDropped, "q3_clients_dropped_total", "Players who left, for whatever reason.";
    GamestatesSent, "q3_gamestates_sent_total", "Gamestates that were sent.";
    SnapshotsDelta, "q3_snapshots_sent_total{base=\"earlier\"}",
        "Snapshots that were sent relative to an earlier one.";
    SnapshotsFull, "q3_snapshots_sent_total{base=\"none\"}", "Snapshots that were sent complete.";
    SnapshotsHeldByRate, "q3_snapshots_suppressed_total{reason=\"rate\"}",
        "Snapshots that a client's rate did not allow.";
    SnapshotsHeldByQueue, "q3_snapshots_suppressed_total{reason=\"queue\"}",
        "Snapshots that waited for fragments of an earlier message.";
    SnapshotsCut, "q3_snapshots_cut_total", "Times that entities were left out to fit a message.";
    StatesMended, "q3_states_mended_total",
        "States of entities and players with a number that is not finite, sent with 0 in its place.";
    ReliableOverflows, "q3_reliable_overflows_total",
        "Clients that did not acknowledge commands for too long.";
    ClientCommands, "q3_client_commands_total{result=\"run\"}",
        "Commands of clients that went to the game.";
    CommandsOverLimit, "q3_client_commands_total{result=\"limited\"}",
        "Commands of clients that came too fast.";
    BadUserinfo, "q3_bad_userinfo_total", "Changes of userinfo that were refused.";
    Moves, "q3_moves_total{result=\"run\"}", "Moves of clients that were run.";
    MovesOverLimit, "q3_moves_total{result=\"limited\"}",
        "Messages whose moves were more than one client may make in a second.";
    RconAccepted, "q3_rcon_attempts_total{result=\"accepted\"}", "Remote commands that were run.";
    RconRefused, "q3_rcon_attempts_total{result=\"refused\"}", "Remote commands that were refused.";
    Frames, "q3_frames_total", "Game frames that were run.";
    FramesForfeited, "q3_frames_forfeited_total",
        "Game frames that were left out because the server was stalled.";
}

/// The numbers.
#[derive(Clone, Debug)]
pub struct Counters([u64; Counter::ALL.len()]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; Counter::ALL.len()])
    }
}

impl Counters {
    /// Counts one more.
    pub fn bump(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Counts that many more.
    pub fn add(&mut self, counter: Counter, count: u64) {
        let value = &mut self.0[counter as usize];
        *value = value.saturating_add(count);
    }

    /// What was counted so far.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// All of them, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL.iter().map(|&counter| (counter, self.get(counter)))
    }

    /// The same for monitoring.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        self.iter().map(|(counter, value)| Sample {
            name: counter.name(),
            help: counter.help(),
            value: Value::Counter(value),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn counters_have_names_of_their_own() {
        let names: HashSet<_> = Counter::ALL.iter().map(|counter| counter.name()).collect();
        assert_eq!(names.len(), Counter::ALL.len());
        for counter in Counter::ALL {
            assert!(counter.name().starts_with("q3_"), "{}", counter.name());
            assert!(counter.help().ends_with('.'), "{}", counter.name());
        }
    }

    #[test]
    fn counting_saturates() {
        let mut counters = Counters::default();
        counters.add(Counter::BytesIn, u64::MAX);
        counters.bump(Counter::BytesIn);
        assert_eq!(counters.get(Counter::BytesIn), u64::MAX);
        assert_eq!(counters.iter().map(|(_, value)| value).filter(|&v| v != 0).count(), 1);
    }
}
