//! The table of settings: everything an operator may say, once.
//!
//! One row drives the default, the checks, the key that reads it, the config file's text, the listing
//! of `fragd settings`, `cvarlist`, serverinfo and systeminfo (in the order of the table).
//! Source of names and defaults: ioquake3, Quake3e and OpenArena 0.8.8 servers.

use super::networks::Networks;
use super::setting::{
    Address, Column, Flag, Flags, Float, GameProfile, Group, Int, Key, LogLevel, Movement,
    Precision, Rules, Setting, StatusStyle, Text, Wire71,
};

// The flags' letters in this table.
/// Plain.
const P: Flags = Flags::PLAIN;
/// Serverinfo.
const S: Flags = Flags::SERVERINFO;
/// Systeminfo.
const Y: Flags = Flags::SYSTEMINFO;
/// Serverinfo, takes effect with the next map.
const SL: Flags = S.and(Flags::LATCHED);
/// Serverinfo, chosen at start.
const SI: Flags = S.and(Flags::INIT);
/// Chosen at start.
const I: Flags = Flags::INIT;
/// Systeminfo, chosen at start.
const YI: Flags = Y.and(Flags::INIT);
/// Serverinfo, read only.
const SR: Flags = S.and(Flags::READ_ONLY);
/// Read only.
const R: Flags = Flags::READ_ONLY;
/// Systeminfo, read only.
const YR: Flags = Y.and(Flags::READ_ONLY);
/// Systeminfo, cheat protected.
const YC: Flags = Y.and(Flags::CHEAT);
/// Takes effect with the next map.
const L: Flags = Flags::LATCHED;
/// Never shown.
const X: Flags = Flags::SECRET;

/// The same in every game.
const fn all(default: &'static str, flags: Flags) -> [Column; 2] {
    [Column { default, flags }; 2]
}

/// One column for each game.
const fn oa_q3(oa: (&'static str, Flags), q3: (&'static str, Flags)) -> [Column; 2] {
    [Column { default: oa.0, flags: oa.1 }, Column { default: q3.0, flags: q3.1 }]
}

macro_rules! settings {
    ($(
        [$table:literal, $title:literal]
        $($key:ident, $name:literal, $of:ident::$kind:ident($($bound:expr),*), $columns:expr,
            $help:literal;)+
    )+) => {
        #[expect(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "named as the keys, whose rows they number"
        )]
        enum Row { $($($key,)+)+ }

        /// One key for each setting, to read its value without a search.
        pub mod key {
            use super::*;
            $($(
                #[doc = concat!("`", $name, "`: ", $help)]
                pub const $key: Key<$of> = Key::new(Row::$key as u16);
            )+)+
        }

        /// Every setting.
        pub const SETTINGS: &[Setting] = &[$($(
            Setting {
                name: $name,
                group: Group { name: $table, title: $title },
                kind: $of::$kind($($bound),*),
                columns: $columns,
                help: $help,
            },
        )+)+];
    };
}

settings! {
    ["server", "The server and who may enter"]
    GAME, "game", GameProfile::one_of(), oa_q3(("baseoa", I), ("baseq3", I)),
        "Whose game data the clients have: baseoa is OpenArena 0.8.8, baseq3 is Quake III Arena.";
    MAP, "map", Text::name(63), oa_q3(("oa_dm1", I), ("q3dm17", I)),
        "First map.";
    SV_HOSTNAME, "sv_hostname", Text::up_to(127), all("noname", S),
        "Name that server browsers show; colour codes such as ^1 are allowed.";
    DEDICATED, "dedicated", Int::range(1, 2), all("1", I),
        "1 is a server for people who know its address, 2 a public one that announces itself to \
         the masters.";
    SV_MAXCLIENTS, "sv_maxclients", Int::range(1, 64), all("8", SL),
        "Player slots, those for holders of sv_privatePassword included.";
    SV_PRIVATE_CLIENTS, "sv_privateClients", Int::range(0, 63), all("0", S),
        "How many of the slots are kept for holders of sv_privatePassword.";
    SV_PRIVATE_PASSWORD, "sv_privatePassword", Text::up_to(63), all("", X),
        "Password that opens the private slots; empty opens them to nobody.";
    G_PASSWORD, "g_password", Text::up_to(63), all("", X),
        "Password that every player from elsewhere must give; empty or none asks for none.";
    G_NEEDPASS, "g_needpass", Flag::either(), all("0", SR),
        "Whether g_password is asked for.";
    SV_MAXCLIENTS_PER_IP, "sv_maxclientsPerIP", Int::or_off(1, 64), all("3", P),
        "Players that one address may bring; addresses of the local network are not counted.";
    SV_MAXCLIENTS_PER_SUBNET, "sv_maxclientsPerSubnet", Int::or_off(1, 64), all("0", P),
        "Maximum clients per IPv4 /24; 0 disables the limit. Clients of the local network are not counted.";
    SV_MAXCLIENTS_PER_SUBNET6, "sv_maxclientsPerSubnet6", Int::or_off(1, 64), all("8", P),
        "Maximum clients per IPv6 /48; 0 disables the limit. Clients of the local network are not counted.";
    SV_RECONNECTLIMIT, "sv_reconnectlimit", Int::range(0, 12), all("3", P),
        "Seconds that a player waits before the same address and port may connect again.";
    SV_TIMEOUT, "sv_timeout", Int::range(4, 3600), all("200", P),
        "Seconds of silence after which a player is dropped.";
    SV_JOIN_TIMEOUT, "sv_joinTimeout", Int::or_off(10, 3600), all("120", P),
        "Seconds that a client may take from its connect, or from a map change, to its first move in the \
         level: time to load the map; 0 disables the limit.";
    SV_ZOMBIETIME, "sv_zombietime", Int::range(1, 60), all("2", P),
        "Seconds that a slot stays taken after its player left, so that the last words arrive.";
    SV_FLOOD_PROTECT, "sv_floodProtect", Flag::either(), all("1", S),
        "Limit on the commands that a player sends to the game, such as chat and votes: 8 at once, then one \
         per 500 ms; those beyond it are ignored. 0 disables the limit.";
    SV_KEYWORDS, "sv_keywords", Text::up_to(127), all("", S),
        "Words that some server lists search for.";
    SV_FPS, "sv_fps", Int::range(10, 125), oa_q3(("20", Y), ("20", P)),
        "Simulated frames a second, and the most snapshots a second that a player gets.";
    SV_PURE, "sv_pure", Int::range(0, 0), all("0", Y),
        "Whether players may use only the server's own data files; 0 lets them use any.";
    TIMESCALE, "timescale", Float::range(0.1, 10.0), all("1", YC),
        "How fast the game's time runs.";
    SV_CHEATS, "sv_cheats", Flag::either(), all("0", YR),
        "Whether cheats are allowed.";
    FS_BASEPATH, "fs_basepath", Text::up_to(1023), all("", I),
        "Folders that hold the game's folder with its pk3 files, separated as in PATH; empty searches \
         the usual places.";
    FS_GAME, "fs_game", Text::name(63), all("", YI),
        "Folder of the mod that players load; empty for the game itself.";
    MAPNAME, "mapname", Text::name(63), all("nomap", SR),
        "The current map.";
    SV_MAP_CHECKSUM, "sv_mapChecksum", Int::range(i32::MIN, i32::MAX), all("0", R),
        "Checksum of the current map's file; 0 when there is none.";
    SV_SERVERID, "sv_serverid", Int::range(0, i32::MAX), all("0", YR),
        "Number of the current level, new with each map.";
    SV_PAKS, "sv_paks", Text::up_to(4095), all("", YR),
        "Checksums of the data files that pure players must have.";
    SV_PAK_NAMES, "sv_pakNames", Text::up_to(4095), all("", YR),
        "Names of the data files that pure players must have.";
    SV_REFERENCED_PAKS, "sv_referencedPaks", Text::up_to(4095), all("", YR),
        "Checksums of the data files that players need.";
    SV_REFERENCED_PAK_NAMES, "sv_referencedPakNames", Text::up_to(4095), all("", YR),
        "Names of the data files that players need.";
    VERSION, "version", Text::up_to(63),
        all(concat!("fragd ", env!("CARGO_PKG_VERSION")), SR),
        "Program and version.";

    ["network", "Network, protocols and rates"]
    NET_ENABLED, "net_enabled", Int::range(1, 3), all("3", I),
        "1 serves IPv4, 2 IPv6, 3 both.";
    NET_IP, "net_ip", Address::v4(), all("0.0.0.0", I),
        "IPv4 address to listen on.";
    NET_IP6, "net_ip6", Address::v6(), all("::", I),
        "IPv6 address to listen on.";
    NET_PORT, "net_port", Int::range(0, 65535), all("27960", I),
        "UDP port; 0 takes any free one.";
    NET_PORT6, "net_port6", Int::or_off(1, 65535), all("0", I),
        "UDP port for IPv6; 0 takes that of net_port.";
    COM_GAMENAME, "com_gamename", Text::name(31), all("Quake3Arena", SI),
        "Family of games; clients that name another one are refused.";
    COM_PROTOCOL, "com_protocol", Int::range(68, 71), all("71", SI),
        "Newest protocol number that is served.";
    COM_LEGACYPROTOCOL, "com_legacyprotocol", Int::or_off(68, 71), all("68", I),
        "Second protocol number that is served.";
    PROTOCOL, "protocol", Int::range(68, 71), oa_q3(("71", SI), ("68", SI)),
        "Protocol number that server browsers are told.";
    SV_WIRE71, "sv_wire71", Wire71::one_of(), all("auto", P),
        "What number 71 means: compat as in OpenArena, native as in ioquake3, auto finds out for \
         each player.";
    SV_MIN_RATE, "sv_minRate", Int::or_off(1000, 1_000_000), all("0", S),
        "Least bytes a second that a player is sent, whatever the player's rate says.";
    SV_MAX_RATE, "sv_maxRate", Int::or_off(1000, 1_000_000), all("0", S),
        "Most bytes a second that a player is sent.";
    SV_LAN_FORCE_RATE, "sv_lanForceRate", Flag::either(), all("1", P),
        "Whether players of the local network have no rate limit, unless dedicated is 2.";
    SV_LAN_NETWORKS, "sv_lanNetworks", Networks::list(),
        all("private", P),
        "Networks that count as local, without limits per address; private is loopback, private and \
         link-local addresses; behind a NAT that shows all players at one private address, such as \
         Docker's, list others.";
    SV_MIN_PING, "sv_minPing", Int::or_off(1, 9999), all("0", S),
        "Newcomers from elsewhere who answer sooner than this, in milliseconds, are refused.";
    SV_MAX_PING, "sv_maxPing", Int::or_off(1, 9999), all("0", S),
        "Newcomers from elsewhere who answer later than this, in milliseconds, are refused; a lost \
         packet counts.";
    SV_ALLOW_DOWNLOAD, "sv_allowDownload", Int::range(0, 15), all("0", S),
        "Sum of 1 to offer downloads, 2 not over HTTP, 4 not over UDP, 8 to stay connected while \
         HTTP runs.";
    SV_DL_URL, "sv_dlURL", Text::up_to(255), all("", S),
        "Web address under which players find the folders of the data files.";
    SV_DL_RATE, "sv_dlRate", Int::or_off(1, 100_000), all("100", S),
        "Kilobytes a second that all downloads over UDP share; 0 sets no limit.";
    SV_MASTER1, "sv_master1", Text::up_to(255),
        oa_q3(("dpmaster.deathmask.net", P), ("master.quake3arena.com", P)),
        "Master server that a public server announces itself to, as a name or name:port.";
    SV_MASTER2, "sv_master2", Text::up_to(255), oa_q3(("", P), ("master.ioquake3.org", P)),
        "Second master server.";
    SV_MASTER3, "sv_master3", Text::up_to(255), all("", P),
        "Third master server.";
    SV_MASTER4, "sv_master4", Text::up_to(255), all("", P),
        "Fourth master server.";
    SV_MASTER5, "sv_master5", Text::up_to(255), all("", P),
        "Fifth master server.";

    ["admin", "Remote console, queries and logging"]
    RCON_PASSWORD, "rconPassword", Text::up_to(63), all("", X),
        "Password of the remote console; empty switches it off. At least 8 characters on a \
         public server and where sv_rconAllow names a network beyond this machine.";
    SV_RCON_ALLOW, "sv_rconAllow", Networks::list(), all("127.0.0.0/8 ::1", P),
        "Networks that may use the remote console, or any; by default this machine alone.";
    SV_RCON_BURST, "sv_rconBurst", Int::range(1, 1000), all("10", P),
        "Remote console requests that one address may send at once; wrong passwords of all \
         addresses share as many.";
    SV_RCON_PERIOD, "sv_rconPeriod", Int::range(1, 60_000), all("1000", P),
        "Milliseconds after which one more remote console request is allowed.";
    SV_RCON_LOCKOUT, "sv_rconLockout", Int::or_off(1, 3600), all("300", P),
        "Longest time in seconds that wrong passwords lock an address out of the remote console.";
    SV_QUERY_BURST, "sv_queryBurst", Int::range(1, 1000), all("10", P),
        "Queries of one address that are answered at once.";
    SV_QUERY_PERIOD, "sv_queryPeriod", Int::range(1, 60_000), all("1000", P),
        "Milliseconds after which one more query of an address is answered.";
    SV_QUERY_GLOBAL_BURST, "sv_queryGlobalBurst", Int::range(1, 100_000), all("100", P),
        "Queries of all addresses together that are answered at once.";
    SV_QUERY_GLOBAL_PERIOD, "sv_queryGlobalPeriod", Int::range(1, 60_000), all("10", P),
        "Milliseconds after which one more query of all addresses together is answered.";
    SV_QUERY_GLOBAL_RATE, "sv_queryGlobalRate", Int::range(1500, 100_000_000), all("25000", P),
        "Bytes a second that queries of all addresses together are answered with, and three seconds' \
         worth at once.";
    SV_METRICS, "sv_metrics", Text::up_to(63), all("", I),
        "Address and port, such as 127.0.0.1:9527, where monitoring (Prometheus) reads the counters over \
         HTTP; empty for nowhere.";
    SV_STATUS_STYLE, "sv_statusStyle", StatusStyle::one_of(), all("ioq3", P),
        "Columns of the status command, as the tools that read it know them.";
    SV_LOG_LEVEL, "sv_logLevel", LogLevel::one_of(), all("info", P),
        "Least important log lines that are written.";
    G_LOG, "g_log", Text::up_to(255), all("games.log", I),
        "File that the course of matches is written to, for the field's statistics tools; empty for none.";
    G_LOGSYNC, "g_logsync", Flag::either(), all("0", I),
        "Whether each line of the game log is on the disk at once and not within a second.";
    G_LOG_SIZE, "g_logSize", Int::or_off(1, 4096), all("0", I),
        "Size in MiB from which on the game log goes on in a new file; five older ones are kept.";

    ["match", "The match"]
    GAMENAME, "gamename", Text::name(31), oa_q3(("baseoa", SR), ("baseq3", SR)),
        "The game that is played.";
    G_RULES, "g_rules", Rules::one_of(), all("auto", I),
        "How players move: flight lets them fly and reads no map files, auto does so only where those are \
         missing.";
    G_MOVEMENT, "g_movement", Movement::one_of(), all("auto", I),
        "Whose movement the players' programs compute: quake3 or ioquake3 in baseq3, openarena or \
         openarena-next in baseoa; auto is that of the released data, quake3 or openarena.";
    CM_PRECISION, "cm_precision", Precision::one_of(), all("single", L),
        "Arithmetic of collisions: single as in ioquake3 and OpenArena, double as in Quake3e; players' \
         programs should have the same.";
    G_GAMETYPE, "g_gametype", Int::range(0, 12), all("0", SL),
        "0 free for all, 1 tournament, 2 single player (answers no queries), 3 team deathmatch, 4 \
         capture the flag, beyond that as the game numbers them.";
    DMFLAGS, "dmflags", Int::range(0, 65535), all("0", S),
        "Sum of 8 for no falling damage, 16 for a fixed field of view, 32 for no footsteps, and those \
         of the game.";
    FRAGLIMIT, "fraglimit", Int::or_off(1, 9999), all("20", S),
        "Frags that end the match.";
    TIMELIMIT, "timelimit", Int::or_off(1, 9999), all("0", S),
        "Minutes that end the match.";
    CAPTURELIMIT, "capturelimit", Int::or_off(1, 9999), all("8", S),
        "Captures that end the match.";
    NEXTMAP, "nextmap", Text::up_to(1023), all("", P),
        "Console commands that the server runs when a match is over; each map sets it to map_restart 0, \
         and then begins the rotation in the variable d1, if there is one.";
    G_MAX_GAME_CLIENTS, "g_maxGameClients", Int::or_off(1, 64), all("0", SL),
        "Players beyond this number only watch.";
    G_MOTD, "g_motd", Text::up_to(255), all("", P),
        "Message that players see while they load.";
    G_INACTIVITY, "g_inactivity", Int::or_off(1, 86_400), all("0", P),
        "Seconds without a key pressed after which a player is dropped.";
    G_DO_WARMUP, "g_doWarmup", Flag::either(), oa_q3(("0", S), ("0", P)),
        "Whether a match waits for a warmup.";
    G_WARMUP, "g_warmup", Int::range(0, 600), all("20", P),
        "Seconds that a warmup takes.";
    G_ALLOW_VOTE, "g_allowVote", Flag::either(), oa_q3(("1", S), ("1", P)),
        "Whether players may call votes.";
    G_MAX_VOTES, "g_maxVotes", Int::or_off(1, 999), all("3", P),
        "Votes that one address may call on a level; 0 sets no limit.";
    G_CUSTOM_VOTES, "g_customVotes", Text::up_to(255), all("", P),
        "Names of votes of your own; what such a vote runs stands in the variable vote_NAME.";
    G_BAN_IPS, "g_banIPs", Text::up_to(1023), all("", P),
        "Addresses that may not come in, such as 10.1.2.3 or 10.1.*; addip and removeip change it.";
    G_FILTER_BAN, "g_filterBan", Flag::either(), all("1", P),
        "Whether g_banIPs names who may not come in; with 0, nobody else may.";
    G_TEAM_AUTO_JOIN, "g_teamAutoJoin", Flag::either(), all("0", P),
        "Whether newcomers join the weaker team instead of watching.";
    G_TEAM_FORCE_BALANCE, "g_teamForceBalance", Flag::either(), all("0", P),
        "Whether nobody may join the stronger team.";
    G_FRIENDLY_FIRE, "g_friendlyFire", Flag::either(), all("0", P),
        "Whether team mates can hurt each other.";
    G_SPEED, "g_speed", Int::range(0, 10_000), all("320", P),
        "How fast players run, in units a second.";
    G_GRAVITY, "g_gravity", Float::range(-32_768.0, 32_767.0), all("800", P),
        "How strongly things fall, in units per second squared.";
    G_KNOCKBACK, "g_knockback", Float::range(0.0, 100_000.0), all("1000", P),
        "How strongly weapons push.";
    G_QUADFACTOR, "g_quadfactor", Float::range(0.0, 100.0), all("3", P),
        "What quad damage multiplies damage by.";
    G_FORCERESPAWN, "g_forcerespawn", Int::or_off(1, 3600), all("20", P),
        "Seconds after which the dead rise without pressing a key.";
    G_WEAPONRESPAWN, "g_weaponrespawn", Int::range(0, 3600), all("5", P),
        "Seconds until a weapon is back.";
    G_WEAPON_TEAM_RESPAWN, "g_weaponTeamRespawn", Int::range(0, 3600), all("30", P),
        "Seconds until a weapon is back in team games.";
    COM_BLOOD, "com_blood", Flag::either(), all("1", P),
        "Whether bodies that take too much burst.";
    G_SYNCHRONOUS_CLIENTS, "g_synchronousClients", Flag::either(), all("0", Y),
        "Whether players move with the server's frames instead of their own.";
    G_SMOOTH_CLIENTS, "g_smoothClients", Flag::either(), all("1", P),
        "Whether others are shown moving on between their packets.";
    PMOVE_FIXED, "pmove_fixed", Flag::either(), all("0", Y),
        "Whether all players move in steps of pmove_msec.";
    PMOVE_MSEC, "pmove_msec", Int::range(8, 33), oa_q3(("11", Y), ("8", Y)),
        "Milliseconds of a fixed movement step.";
    PMOVE_FLOAT, "pmove_float", Flag::either(), oa_q3(("1", Y), ("0", P)),
        "Whether OpenArena's movement keeps fractions of speed.";

    ["openarena", "What only OpenArena has"]
    VIDEOFLAGS, "videoflags", Int::range(0, 65535), oa_q3(("7", S), ("7", P)),
        "Drawing settings that OpenArena's clients lock; 7 and 0 are safe.";
    ELIMFLAGS, "elimflags", Int::range(0, 65535), oa_q3(("0", S), ("0", P)),
        "Rules of the elimination game types.";
    VOTEFLAGS, "voteflags", Int::range(0, 65535), oa_q3(("767", S), ("767", P)),
        "Sum of the votes that may be called: 1 map_restart, 2 nextmap, 4 map, 8 g_gametype, 16 \
         clientkick, 32 g_doWarmup, 64 timelimit, 128 fraglimit, 256 custom, 512 shuffle.";
    G_VOTE_GAMETYPES, "g_voteGametypes", Text::up_to(63),
        oa_q3(("/0/1/3/4/5/6/7/8/9/10/11/12/", S), ("", P)),
        "Game types that may be voted for, each between slashes.";
    G_VOTE_MAX_TIMELIMIT, "g_voteMaxTimelimit", Int::or_off(1, 9999),
        oa_q3(("1000", S), ("1000", P)),
        "Longest time limit that may be voted for.";
    G_VOTE_MIN_TIMELIMIT, "g_voteMinTimelimit", Int::range(0, 9999), oa_q3(("0", S), ("0", P)),
        "Shortest time limit that may be voted for.";
    G_VOTE_MAX_FRAGLIMIT, "g_voteMaxFraglimit", Int::or_off(1, 9999), oa_q3(("0", S), ("0", P)),
        "Highest frag limit that may be voted for.";
    G_VOTE_MIN_FRAGLIMIT, "g_voteMinFraglimit", Int::range(0, 9999), oa_q3(("0", S), ("0", P)),
        "Lowest frag limit that may be voted for.";
    G_OBELISK_RESPAWN_DELAY, "g_obeliskRespawnDelay", Int::range(0, 3600),
        oa_q3(("10", S), ("10", P)),
        "Seconds until a destroyed obelisk is back.";
    G_ENABLE_DUST, "g_enableDust", Flag::either(), oa_q3(("0", S), ("0", P)),
        "Whether players who land stir up dust.";
    G_ENABLE_BREATH, "g_enableBreath", Flag::either(), oa_q3(("0", S), ("0", P)),
        "Whether players' breath is seen.";
    G_DELAG_HITSCAN, "g_delagHitscan", Flag::either(), oa_q3(("0", S), ("0", P)),
        "Whether instant weapons hit where the shooter saw the target.";
    ELIMINATION_ROUNDTIME, "elimination_roundtime", Int::range(0, 3600),
        oa_q3(("120", S), ("120", P)),
        "Seconds of one round of the elimination game types.";
    G_ROCKETS, "g_rockets", Flag::either(),
        oa_q3(("0", SL), ("0", L)),
        "Whether rockets are the only weapon.";
    G_INSTANTGIB, "g_instantgib", Int::range(0, 3), oa_q3(("0", SL), ("0", L)),
        "Whether the railgun is the only weapon and kills at once.";
    G_LMS_MODE, "g_lms_mode", Int::range(0, 3), oa_q3(("0", S), ("0", P)),
        "How last man standing counts points.";
    G_ALT_EXCELLENT, "g_altExcellent", Flag::either(), oa_q3(("0", S), ("0", P)),
        "Whether excellent awards are given for series instead of pairs.";
    G_GRAVITY_MODIFIER, "g_gravityModifier", Float::range(0.0, 100.0), all("1", P),
        "What the gravity is multiplied by.";
    G_DAMAGE_MODIFIER, "g_damageModifier", Float::range(0.0, 100.0), all("0", P),
        "What all damage is multiplied by; 0 leaves it alone.";
    G_RESPAWNTIME, "g_respawntime", Int::or_off(1, 3600), all("0", P),
        "Seconds at whose multiples the dead may come back; 0 lets them at any time.";
    G_SPAWNPROTECT, "g_spawnprotect", Int::range(0, 60_000), all("500", P),
        "Milliseconds for which weapons do not hurt who has just come.";
    G_AWARDPUSHING, "g_awardpushing", Flag::either(), all("1", P),
        "Whether who pushes another one to death is credited.";
    G_VAMPIRE, "g_vampire", Float::range(0.0, 100.0), all("0", P),
        "Part of the damage done that heals who does it.";
    G_VAMPIRE_MAX_HEALTH, "g_vampire_max_health", Int::range(0, 30_000), all("500", P),
        "Most health that players get from the damage they do.";
    G_PROX_MINE_TIMEOUT, "g_proxMineTimeout", Int::range(0, 3_600_000), all("20000", P),
        "Milliseconds after which a proximity mine goes off by itself; near the own flag, a fifteenth.";
    G_REGEN, "g_regen", Int::range(0, 1000), all("0", P),
        "Health that players regain each second.";
    G_CATCHUP, "g_catchup", Int::range(0, 1000), all("0", P),
        "How much harder it is to hurt those who are behind; 0 is no harder.";
    G_TRUE_PING, "g_truePing", Flag::either(), all("0", P),
        "Whether pings are measured by the players' commands and not by their packets.";
    G_MUSIC, "g_music", Text::up_to(127), all("", P),
        "Music that is played instead of the level's own; empty or none keeps that.";
    G_RUNES, "g_runes", Flag::either(), all("0", L),
        "Whether runes lie about.";
    G_ELIMINATION, "g_elimination", Flag::either(), all("0", L),
        "Whether players begin with all weapons and no items lie about.";
    G_TIMESTAMP, "g_timestamp", Text::up_to(19), oa_q3(("", SR), ("", R)),
        "Calendar time in UTC at which the level began.";
}

/// Names that administrators' files and scripts carry and that mean nothing here: accepted without a
/// word, kept, and ignored.
pub const IGNORED: &[&str] = &[
    "bot_enable",
    "bot_minplayers",
    "cl_motd",
    "com_ansiColor",
    "com_basegame",
    "com_busyWait",
    "com_homepath",
    "com_hunkMegs",
    "com_maxfps",
    "com_pipefile",
    "com_soundMegs",
    "com_standalone",
    "com_zoneMegs",
    "developer",
    "fs_cdpath",
    "fs_copyfiles",
    "fs_debug",
    "fs_excludeReference",
    "fs_homeconfigpath",
    "fs_homedatapath",
    "fs_homepath",
    "fs_homestatepath",
    "logfile",
    "showdrop",
    "showpackets",
    "sv_clientTLD",
    "sv_killserver",
    "sv_levelTimeReset",
    "sv_padPackets",
    "sv_showloss",
    "sv_strictAuth",
    "sv_voip",
    "sv_voipProtocol",
    "ttycon",
    "ttycon_ansicolor",
    "vm_cgame",
    "vm_game",
    "vm_ui",
];

/// Row of a setting by its name in any case.
pub(super) fn row_named(name: &str) -> Option<usize> {
    SETTINGS.iter().position(|setting| setting.name.eq_ignore_ascii_case(name))
}

/// A setting by its name in any case.
#[must_use]
pub fn setting_named(name: &str) -> Option<&'static Setting> {
    row_named(name).map(|row| &SETTINGS[row])
}

/// Whether the name is accepted and ignored.
#[must_use]
pub fn is_ignored(name: &str) -> bool {
    IGNORED.iter().any(|ignored| ignored.eq_ignore_ascii_case(name))
}
