//! Counters of a QuakeWorld server.

use crate::observe::counter_table;

counter_table! {
    /// Counter of a server.
    pub enum QwCounter;
    /// Values of the counters.
    pub struct QwCounters;

    Datagrams, "qw_datagrams_total", "Datagrams received.";
    Runts, "qw_dropped_total{reason=\"runt\"}", "Datagrams dropped.";
    UnknownSenders, "qw_dropped_total{reason=\"sender\"}", "Datagrams dropped.";
    NetQuake, "qw_dropped_total{reason=\"netquake\"}", "Datagrams dropped.";
    Old, "qw_dropped_total{reason=\"sequence\"}", "Datagrams dropped.";
    BadMessages, "qw_dropped_total{reason=\"message\"}", "Datagrams dropped.";
    BadRequests, "qw_dropped_total{reason=\"request\"}", "Datagrams dropped.";
    Banned, "qw_dropped_total{reason=\"banned\"}", "Datagrams dropped.";
    Oversize, "qw_dropped_total{reason=\"oversize\"}", "Datagrams dropped.";
    Limited, "qw_dropped_total{reason=\"limit\"}", "Datagrams dropped.";
    BadChecksums, "qw_moves_rejected_total", "Moves with a wrong checksum.";
    Accepted, "qw_packets_accepted_total", "Packets of clients accepted.";
    Lost, "qw_packets_lost_total", "Packets of clients missing.";
    Answered, "qw_answers_total{result=\"sent\"}", "Answers to packets of clients.";
    Choked, "qw_answers_total{result=\"choked\"}", "Answers to packets of clients.";
    LeftOut, "qw_answers_total{result=\"left_out\"}", "Answers to packets of clients.";
    Repeated, "qw_reliable_repeated_total", "Reliable messages sent again.";
    Connects, "qw_connects_total{result=\"accepted\"}", "Connects.";
    Refused, "qw_connects_total{result=\"refused\"}", "Connects.";
    Overflows, "qw_drops_total{reason=\"overflow\"}", "Clients dropped by the server.";
    TimeOuts, "qw_drops_total{reason=\"timeout\"}", "Clients dropped by the server.";
    Faults, "qw_drops_total{reason=\"fault\"}", "Clients dropped by the server.";
    BadRcon, "qw_rcon_refused_total", "Rcon packets refused.";
}
