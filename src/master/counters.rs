//! Counters of a master: a table of metric names and help texts, and their values.

use crate::observe::{Sample, Value};

macro_rules! counters {
    ($($counter:ident, $name:literal, $help:literal;)+) => {
        /// Counter of a master.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MasterCounter {
            $(#[doc = $help] $counter,)+
        }

        impl MasterCounter {
            /// All counters, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$counter),+];

            /// Metric name with its labels.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$counter => $name),+ }
            }

            /// Help text of the metric.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$counter => $help),+ }
            }
        }
    };
}

counters! {
    Datagrams, "q3_master_datagrams_total", "Datagrams received.";
    Malformed, "q3_master_dropped_total{reason=\"malformed\"}", "Datagrams that no master reads.";
    Denied, "q3_master_dropped_total{reason=\"denied\"}", "Datagrams from denied networks.";
    Unexpected, "q3_master_dropped_total{reason=\"unexpected\"}",
        "Responses from servers that the master does not list.";
    Heartbeats, "q3_master_heartbeats_total{result=\"challenged\"}",
        "Heartbeats answered with a challenge.";
    HeartbeatsDeferred, "q3_master_heartbeats_total{result=\"deferred\"}",
        "Heartbeats that wait until reservations expire.";
    HeartbeatsUnknown, "q3_master_heartbeats_total{result=\"unknown\"}",
        "Heartbeats with an unknown word.";
    HeartbeatsForbidden, "q3_master_heartbeats_total{result=\"forbidden\"}",
        "Heartbeats from loopback or from networks that are not allowed.";
    HeartbeatsFull, "q3_master_heartbeats_total{result=\"full\"}",
        "Heartbeats without a place on the list.";
    HeartbeatsFullAddress, "q3_master_heartbeats_total{result=\"full_address\"}",
        "Heartbeats of an address with its maximum of servers.";
    HeartbeatsLimited, "q3_master_heartbeats_total{result=\"limited\"}",
        "Heartbeats beyond the challenges per address and second.";
    Flatlines, "q3_master_flatlines_total", "Announcements of a shutdown, which are ignored.";
    InfosListed, "q3_master_infos_total{result=\"listed\"}",
        "Responses that listed a server or prolonged its life.";
    InfosUnproven, "q3_master_infos_total{result=\"unproven\"}",
        "Responses without a valid challenge.";
    InfosInvalid, "q3_master_infos_total{result=\"invalid\"}",
        "Responses with missing or invalid values.";
    InfosRejected, "q3_master_infos_total{result=\"rejected\"}",
        "Responses of a game that the policy rejects or the heartbeat contradicts.";
    InfosFull, "q3_master_infos_total{result=\"full\"}",
        "Responses that found no place or a listed public address.";
    ServersExpired, "q3_master_servers_expired_total", "Servers removed after their life.";
    Probes, "q3_master_probes_total", "Listed servers queried by the master.";
    GamesCompleted, "q3_master_games_completed_total", "Ends of maps announced by servers.";
    ListsAnswered, "q3_master_lists_total{result=\"answered\"}", "List requests answered.";
    ListsInvalid, "q3_master_lists_total{result=\"rejected\"}",
        "List requests of a rejected game or without a name that is needed.";
    ListsLimited, "q3_master_lists_total{result=\"limited\"}",
        "List requests dropped by the flood protection.";
    AnswersOverBudget, "q3_master_answers_dropped_total",
        "Answers to unproven addresses dropped by the byte budget.";
    ListPackets, "q3_master_list_packets_total", "List packets sent.";
    Services, "q3_master_services_total", "Requests for messages, updates and authorization answered.";
    BytesOut, "q3_master_sent_bytes_total", "Bytes sent, without UDP and IP headers.";
}

/// Values of the counters.
#[derive(Clone, Debug)]
pub(super) struct Counters([u64; MasterCounter::ALL.len()]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; MasterCounter::ALL.len()])
    }
}

impl Counters {
    /// Adds one.
    pub(super) fn count(&mut self, counter: MasterCounter) {
        self.add(counter, 1);
    }

    /// Adds `more`.
    pub(super) fn add(&mut self, counter: MasterCounter, more: u64) {
        self.0[counter as usize] += more;
    }

    /// Returns a value.
    pub(super) const fn get(&self, counter: MasterCounter) -> u64 {
        self.0[counter as usize]
    }

    /// Iterates over the counters as samples.
    pub(super) fn samples(&self) -> impl Iterator<Item = Sample> {
        MasterCounter::ALL.iter().map(|&counter| Sample {
            name: counter.name(),
            help: counter.help(),
            value: Value::Counter(self.get(counter)),
        })
    }
}
