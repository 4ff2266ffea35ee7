//! Server counters: a table of metric names and help texts.

use super::counter_table::counter_table;

counter_table! {
    /// Server counter.
    pub enum Counter;
    /// Values of all server counters.
    pub struct Counters;

    PacketsInConnectionless, "q3_packets_total{dir=\"in\",kind=\"connectionless\"}",
        "Connectionless datagrams received.";
    PacketsInSequenced, "q3_packets_total{dir=\"in\",kind=\"sequenced\"}",
        "Sequenced datagrams received from clients.";
    PacketsInUnmatched, "q3_packets_total{dir=\"in\",kind=\"unmatched\"}",
        "Sequenced datagrams that matched no client.";
    PacketsOutConnectionless, "q3_packets_total{dir=\"out\",kind=\"connectionless\"}",
        "Connectionless datagrams sent.";
    PacketsOutSequenced, "q3_packets_total{dir=\"out\",kind=\"sequenced\"}",
        "Sequenced datagrams sent to clients.";
    BytesIn, "q3_bytes_total{dir=\"in\"}", "Bytes received, without UDP and IP headers.";
    BytesOut, "q3_bytes_total{dir=\"out\"}", "Bytes sent to clients, without UDP and IP headers.";
    PacketsOutOfOrder, "q3_packets_dropped_total{reason=\"out_of_order\"}",
        "Sequenced datagrams dropped as duplicate or late.";
    MalformedHeader, "q3_packets_dropped_total{reason=\"short\"}",
        "Datagrams dropped as too short for a header.";
    MalformedPacket, "q3_packets_dropped_total{reason=\"netchan\"}",
        "Sequenced datagrams dropped for a wrong checksum or invalid fragments.";
    MalformedMessage, "q3_packets_dropped_total{reason=\"message\"}",
        "Client messages dropped as undecodable.";
    MalformedConnectionless, "q3_packets_dropped_total{reason=\"connectionless\"}",
        "Connectionless datagrams dropped as undecodable.";
    FalseAcknowledge, "q3_packets_dropped_total{reason=\"acknowledge\"}",
        "Client messages dropped for acknowledging unsent messages or commands.";
    UnprovenMessages, "q3_packets_dropped_total{reason=\"unproven\"}",
        "Client messages dropped for an unexpected source port or sequence number without proof.";
    MessagesOverLimit, "q3_packets_dropped_total{reason=\"limit\"}",
        "Client messages dropped beyond the limit per client and second.";
    ConnectionlessIgnored, "q3_packets_ignored_total",
        "Connectionless datagrams ignored as not for servers.";
    QueriesAnswered, "q3_queries_total{result=\"answered\"}", "Queries answered.";
    QueriesLimited, "q3_queries_total{result=\"limited\"}", "Queries dropped by rate limits.";
    QueriesShed, "q3_shed_total{kind=\"query\"}",
        "Queries dropped by load shedding (first class to be shed).";
    ConnectsShed, "q3_shed_total{kind=\"connect\"}",
        "Connects, challenge requests and rcon packets dropped by load shedding (second class).";
    SequencedShed, "q3_shed_total{kind=\"client\"}",
        "Client datagrams dropped by load shedding (last class to be shed).";
    FramesOverloaded, "q3_frames_overloaded_total", "Server frames with load shedding.";
    HeartbeatsSent, "q3_heartbeats_sent_total", "Heartbeats sent to master servers.";
    MasterProbes, "q3_master_probes_total", "Questions of master servers.";
    AuthorizationsAsked, "q3_authorizations_total{result=\"asked\"}",
        "Questions to the authorization service.";
    AuthorizationsAccepted, "q3_authorizations_total{result=\"accepted\"}",
        "Clients that the authorization service accepted.";
    AuthorizationsRefused, "q3_authorizations_total{result=\"refused\"}",
        "Clients that the authorization service refused.";
    ChallengesLimited, "q3_challenges_limited_total", "Challenge requests dropped by rate limits.";
    ConnectsAccepted, "q3_connects_total{result=\"accepted\"}", "Connects accepted.";
    ClientsDisplaced, "q3_connects_total{result=\"displaced\"}",
        "Viewers that never entered and gave way to connects of other networks.";
    ConnectsRefused, "q3_connects_total{result=\"refused\"}", "Connects rejected.";
    ClientsDropped, "q3_clients_dropped_total", "Clients disconnected, for any reason.";
    GamestatesSent, "q3_gamestates_sent_total", "Gamestates sent.";
    SnapshotsDelta, "q3_snapshots_sent_total{base=\"earlier\"}", "Delta snapshots sent.";
    SnapshotsFull, "q3_snapshots_sent_total{base=\"none\"}", "Full snapshots sent.";
    SnapshotsHeldByRate, "q3_snapshots_suppressed_total{reason=\"rate\"}",
        "Snapshots suppressed by the rate of the client.";
    SnapshotsHeldByQueue, "q3_snapshots_suppressed_total{reason=\"queue\"}",
        "Snapshots suppressed by unsent fragments of an earlier message.";
    SnapshotsTruncated, "q3_snapshots_truncated_total",
        "Snapshots sent without some entities because of the message size.";
    StatesSanitized, "q3_states_sanitized_total",
        "Entity states and playerstates sent with 0 for a number that was not finite.";
    ReliableOverflows, "q3_reliable_overflows_total",
        "Clients dropped for too many unacknowledged reliable commands.";
    DownloadsStarted, "q3_downloads_total{result=\"started\"}", "UDP downloads started.";
    DownloadsCompleted, "q3_downloads_total{result=\"completed\"}",
        "UDP downloads acknowledged to the end.";
    DownloadsRefused, "q3_downloads_total{result=\"refused\"}", "UDP downloads refused.";
    DownloadBlocks, "q3_download_blocks_total{kind=\"all\"}", "Download blocks sent.";
    DownloadBlocksResent, "q3_download_blocks_total{kind=\"repeated\"}",
        "Download blocks sent again after a loss.";
    DownloadBytes, "q3_download_bytes_total", "File bytes sent in download blocks.";
    ClientCommands, "q3_client_commands_total{result=\"run\"}", "Client commands passed to the game.";
    CommandsOverLimit, "q3_client_commands_total{result=\"limited\"}",
        "Client commands ignored by flood protection.";
    BadUserinfo, "q3_bad_userinfo_total", "Userinfo changes rejected.";
    Moves, "q3_moves_total{result=\"run\"}", "Usercmds run.";
    MovesOverLimit, "q3_moves_total{result=\"limited\"}",
        "Client messages whose usercmds exceeded the limit per client and second.";
    RconAccepted, "q3_rcon_attempts_total{result=\"accepted\"}", "Rcon commands run.";
    RconRefused, "q3_rcon_attempts_total{result=\"refused\"}", "Rcon commands rejected.";
    Frames, "q3_frames_total", "Server frames run.";
    FramesSkipped, "q3_frames_skipped_total", "Server frames skipped after a stall.";
    GameFaults, "q3_game_faults_total", "Levels ended by a fault of the game.";
    AuthorityRefused, "q3_authority_refused_total",
        "Settings and commands refused to game modules and scripts of mods.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn counter_names_are_unique() {
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
