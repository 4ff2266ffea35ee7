//! Counters of a master: a table of metric names and help texts.

use crate::observe::counter_table;

counter_table! {
    /// Counter of a master.
    pub enum MasterCounter;
    /// Values of a master's counters.
    pub(super) struct Counters;

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
    HeartbeatsFullNetwork, "q3_master_heartbeats_total{result=\"full_network\"}",
        "Heartbeats of an IPv6 /56 or /48 with its maximum of servers.";
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
