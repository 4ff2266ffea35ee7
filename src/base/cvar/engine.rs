//! Setting rows of the engine: server, network, administration.
//!
//! A row drives the default, the checks, the typed key, the config template, listings, serverinfo and
//! systeminfo. Source of names and defaults: ioquake3, Quake3e and OpenArena 0.8.8 servers.

use super::{
    Address, Endpoint, Flag, Flags, Float, GameCode, GameFaultPolicy, GameFolder, Int, LogLevel,
    Networks, PerGame, Protocol71, ScrambledProtocol, StatusStyle, Text, setting_rows,
};

// Flags of the rows below.
const P: Flags = Flags::PLAIN;
const S: Flags = Flags::SERVERINFO;
const Y: Flags = Flags::SYSTEMINFO;
const I: Flags = Flags::INIT;
const E: Flags = Flags::EARLY;
const L: Flags = Flags::LATCHED;
const R: Flags = Flags::READ_ONLY;
const C: Flags = Flags::CLIENT;
const A: Flags = Flags::ARCHIVE;
const SECRET: Flags = Flags::SECRET;
/// Operator only: settings that decide who reaches the server and the machine.
const O: Flags = Flags::PROTECTED;

const fn all(default: &'static str, flags: Flags) -> [PerGame; 2] {
    PerGame::all(default, flags)
}

const fn oa_q3(oa: (&'static str, Flags), q3: (&'static str, Flags)) -> [PerGame; 2] {
    PerGame::oa_q3(oa, q3)
}

setting_rows! {
    after 0;

    ["server", "Server and access"]
    GAME, "game", GameFolder::one_of(), oa_q3(("baseoa", I), ("baseq3", I)),
        "Game data of the clients: baseoa is OpenArena 0.8.8, baseq3 is Quake III Arena.";
    MAP, "map", Text::name(63), oa_q3(("oa_dm1", I), ("q3dm17", I)),
        "First map.";
    SV_HOSTNAME, "sv_hostname", Text::up_to(127), all("noname", S.and(A)),
        "Server name in browsers; color codes such as ^1 are allowed.";
    DEDICATED, "dedicated", Int::range(1, 2), all("1", I.and(O)),
        "Server type: 1 is private, 2 is public. A public server sends heartbeats to sv_master1 to sv_master5, \
         applies rates to LAN clients and needs a longer rconPassword.";
    SV_MAXCLIENTS, "sv_maxclients", Int::range(1, 64), all("8", S.and(L).and(A)),
        "Client slots, including the private slots of sv_privateClients.";
    SV_PRIVATE_CLIENTS, "sv_privateClients", Int::range(0, 63), all("0", S.and(O)),
        "Slots reserved for clients that give sv_privatePassword.";
    SV_PRIVATE_PASSWORD, "sv_privatePassword", Text::userinfo_password(63), all("", SECRET.and(O)),
        "Password of the private slots; empty closes them to all clients.";
    G_PASSWORD, "g_password", Text::userinfo_password(63), all("", SECRET.and(O)),
        "Password that clients need to join; empty or none disables it.";
    G_NEEDPASS, "g_needpass", Flag::either(), all("0", S.and(R)),
        "1 if the server has a g_password.";
    SV_MAXCLIENTS_PER_IP, "sv_maxclientsPerIP", Int::or_off(1, 64), all("3", O.and(A)),
        "Maximum clients per address; 0 disables the limit. LAN addresses are exempt.";
    SV_MAXCLIENTS_PER_SUBNET, "sv_maxclientsPerSubnet", Int::or_off(1, 64), all("0", O),
        "Maximum clients per IPv4 /24; 0 disables the limit. LAN addresses are exempt.";
    SV_MAXCLIENTS_PER_SUBNET6, "sv_maxclientsPerSubnet6", Int::or_off(1, 64), all("8", O),
        "Maximum clients per IPv6 /48; 0 disables the limit. LAN addresses are exempt.";
    SV_RECONNECTLIMIT, "sv_reconnectlimit", Int::range(0, 12), all("3", O),
        "Minimum seconds between connects from one address and port.";
    SV_TIMEOUT, "sv_timeout", Int::range(4, 3600), all("200", P),
        "Seconds of silence after which a client is dropped.";
    SV_JOIN_TIMEOUT, "sv_joinTimeout", Int::or_off(10, 3600), all("120", P),
        "Maximum seconds from a connect or map change to the first usercmd, which includes loading the \
         map; 0 disables the limit.";
    SV_ZOMBIETIME, "sv_zombietime", Int::range(1, 60), all("2", P),
        "Seconds that the slot of a dropped client stays reserved, to deliver its last commands.";
    SV_FLOOD_PROTECT, "sv_floodProtect", Flag::either(), all("1", S.and(A)),
        "Flood protection: accept client commands, e.g. chat and votes, 8 at once, then one per 500 ms; \
         ignore the rest. 0 disables the limit.";
    VM_GAME, "vm_game", GameCode::one_of(), all("0", L.and(A)),
        "Game rules: 0 built in, 1 game module vm/qagame.qvm interpreted, 2 compiled. If it is not set, a server \
         runs as with 2 if the folder of fs_game has a module, else as with 0.";
    SV_GAME_FAULT, "sv_gameFault", GameFaultPolicy::one_of(), all("restart", O),
        "Action after a fault of the game: restart starts the level again, three times a minute at most, and \
         refuses connects after that; native restarts too, then runs the rules of the program until the \
         next map; stop ends the server.";
    SV_DRAIN_TIME, "sv_drainTime", Int::or_off(1, 86_400), all("0", O),
        "Maximum seconds that SIGTERM lets players finish their match, while connects are refused; a second \
         signal ends the server. 0 ends it at once.";
    SV_TRUST_MOD, "sv_trustMod", Flag::either(), all("0", O),
        "Let a game module and scripts of a mod do what the operator may: settings that are operator only, \
         reading of passwords, and commands such as quit. 0 refuses these.";
    SV_KEYWORDS, "sv_keywords", Text::up_to(127), all("", S.and(C)),
        "Keywords for the search of server lists.";
    SV_FPS, "sv_fps", Int::range(10, 125), oa_q3(("20", Y), ("20", P)),
        "Server frames per second; also the maximum snapshots per second of a client.";
    SV_PURE, "sv_pure", Flag::either(), all("0", Y.and(L)),
        "Restrict clients to the pk3 files of the server. Needs the game data, with vm/cgame.qvm and \
         vm/ui.qvm; 0 for a server of its built-in maps alone.";
    TIMESCALE, "timescale", Float::range(0.1, 10.0), all("1", Y.and(Flags::CHEAT)),
        "Speed of the game time; 1 is real time.";
    SV_CHEATS, "sv_cheats", Flag::either(), all("0", Y.and(R).and(O)),
        "1 if cheats are allowed; the command devmap sets it.";
    FS_BASEPATH, "fs_basepath", Text::up_to(1023), all("", I.and(O)),
        "Directories that contain the game folder with its pk3 files, separated as in PATH; empty searches \
         the usual install directories.";
    FS_HOMEPATH, "fs_homepath", Text::up_to(1023), all("", I.and(O)),
        "Directories with the own files of the operator, searched before fs_basepath, separated as in PATH; empty \
         searches the usual home folders, e.g. ~/.q3a and ~/.openarena.";
    FS_GAME, "fs_game", Text::name(63), all("", Y.and(I).and(O)),
        "Folder of the mod that clients load; empty for the base game.";
    MAPNAME, "mapname", Text::name(63), all("nomap", S.and(R).and(O)),
        "Current map.";
    SV_MAP_CHECKSUM, "sv_mapChecksum", Int::range(i32::MIN, i32::MAX), all("0", R.and(O)),
        "Checksum of the current map file; 0 without a map file.";
    SV_SERVERID, "sv_serverid", Int::range(0, i32::MAX), all("0", Y.and(R).and(O)),
        "Number of the current level; each map load increases it.";
    SV_PAKS, "sv_paks", Text::up_to(4095), all("", Y.and(R).and(C).and(O)),
        "Checksums of the data files that pure clients must have; empty if sv_pure is 0.";
    SV_PAK_NAMES, "sv_pakNames", Text::up_to(4095), all("", Y.and(R).and(C).and(O)),
        "Names of the data files that pure clients must have; empty if sv_pure is 0.";
    SV_REFERENCED_PAKS, "sv_referencedPaks", Text::up_to(4095), all("", Y.and(R).and(C).and(O)),
        "Checksums of the data files that clients download: those of the map and of the mod.";
    SV_REFERENCED_PAK_NAMES, "sv_referencedPakNames", Text::up_to(4095), all("", Y.and(R).and(C).and(O)),
        "Names of the data files that clients download: those of the map and of the mod.";
    VERSION, "version", Text::up_to(63),
        all(concat!("fragd ", env!("CARGO_PKG_VERSION")), S.and(R).and(O)),
        "Program name and version.";

    ["network", "Network and protocol"]
    NET_ENABLED, "net_enabled", Int::range(1, 15), all("3", I.and(O)),
        "Sum of 1 for IPv4, 2 for IPv6, 8 for no IPv6 multicast (LAN scans); 4 has no effect.";
    NET_IP, "net_ip", Address::v4(), all("0.0.0.0", I.and(O)),
        "IPv4 address to listen on.";
    NET_IP6, "net_ip6", Address::v6(), all("::", I.and(O)),
        "IPv6 address to listen on.";
    NET_PORT, "net_port", Int::range(0, 65535), all("27960", I.and(O)),
        "UDP port; 0 selects any free port.";
    NET_PORT6, "net_port6", Int::or_off(1, 65535), all("0", I.and(O)),
        "UDP port for IPv6; 0 selects the value of net_port.";
    NET_PORT43, "net_port43", Int::or_off(1, 65535), all("0", I.and(O)),
        "Second UDP port, which tells browsers and masters protocol 43; 0 opens none. Clients may connect to either port.";
    COM_GAMENAME, "com_gamename", Text::name(31), all("Quake3Arena", S.and(I)),
        "Game name of the protocol; connects with another name are rejected.";
    COM_PROTOCOL, "com_protocol", Int::range(68, 71), all("71", S.and(I)),
        "Highest protocol number to accept.";
    COM_LEGACYPROTOCOL, "com_legacyprotocol", Int::or_off(68, 71), all("68", I),
        "Second protocol number to accept; 0 disables it.";
    PROTOCOL, "protocol", Int::range(68, 71), oa_q3(("71", S.and(I)), ("68", S.and(I))),
        "Protocol number in query responses.";
    SV_WIRE71, "sv_wire71", Protocol71::one_of(), all("auto", P),
        "Meaning of protocol 71: compat as in OpenArena, native as in ioquake3, auto detects it per client.";
    SV_PROTOCOL43, "sv_protocol43", Flag::either(), all("1", P),
        "Accept clients of protocol 43 (Quake III 1.11 to 1.16n) while the level has the numbers of baseq3.";
    SV_PROTOCOL45, "sv_protocol45", Flag::either(), all("1", P),
        "Accept clients of protocol 45 (Quake III 1.17) while the level has the numbers of baseq3.";
    SV_PROTOCOL66, "sv_protocol66", ScrambledProtocol::one_of(), all("auto", P),
        "Accept clients of protocol 66 (1.29f to 1.30): off, or their scrambling, xor, none or auto (xor first).";
    SV_PROTOCOL67, "sv_protocol67", ScrambledProtocol::one_of(), all("xor", P),
        "Accept clients of protocol 67 (1.31): off, or their scrambling, xor, none or auto (xor first).";
    SV_MIN_RATE, "sv_minRate", Int::or_off(1000, 1_000_000), all("0", S.and(A)),
        "Minimum rate per client in bytes per second, above the client's own rate; 0 disables it.";
    SV_MAX_RATE, "sv_maxRate", Int::or_off(1000, 1_000_000), all("0", S.and(A)),
        "Maximum rate per client in bytes per second; 0 disables it.";
    SV_LAN_FORCE_RATE, "sv_lanForceRate", Flag::either(), all("1", A),
        "Ignore the rate of LAN clients, unless dedicated is 2.";
    SV_LAN_NETWORKS, "sv_lanNetworks", Networks::list(),
        all("private", O),
        "Networks of LAN clients, which are exempt from limits per address; private is loopback, private \
         and link-local addresses, without 127.64.0.0/10 (clients of fragd proxy). Behind a NAT or proxy that \
         maps all clients to one private address, such as Docker's, list other networks.";
    SV_MIN_PING, "sv_minPing", Int::or_off(1, 9999), all("0", S.and(A)),
        "Minimum ping of a connecting client in ms; 0 disables the limit. LAN clients are exempt.";
    SV_MAX_PING, "sv_maxPing", Int::or_off(1, 9999), all("0", S.and(A)),
        "Maximum ping of a connecting client in ms; 0 disables the limit. LAN clients are exempt, and a \
         lost packet counts as delay.";
    SV_ALLOW_DOWNLOAD, "sv_allowDownload", Int::range(0, 15), all("1", S.and(O).and(A)),
        "Offer pk3 files of the map and the mod to clients: 0 offers none, 1 offers them. Added to 1: 2 \
         for no HTTP, 4 for no UDP, 8 for clients to stay connected during HTTP.";
    SV_DL_URL, "sv_dlURL", Text::up_to(255), all("", S.and(O).and(A)),
        "URL for HTTP downloads, which clients extend by folder and file; empty announces sv_http.";
    SV_DL_RATE, "sv_dlRate", Int::or_off(1, 2_000_000), all("100", S.and(O).and(A)),
        "Total rate of UDP downloads in kilobytes per second; 0 disables the limit. The rate of a client \
         applies, too.";
    SV_HTTP, "sv_http", Endpoint::or_none("192.0.2.1:27960"), all("", E.and(O)),
        "Address and port of an HTTP server for downloads, e.g. 192.0.2.1:27960; empty disables it.";
    SV_RELAY_ADDRESS, "sv_relayAddress", Endpoint::or_none("0.0.0.0:27970"), all("", E.and(O)),
        "Address and port (TCP) of the live stream for relays, e.g. 0.0.0.0:27970; empty disables it.";
    SV_RELAY_PASSWORD, "sv_relayPassword", Text::password(8, 63), all("", SECRET.and(E).and(O)),
        "Password of the live stream, at least 8 characters; relays prove it and never send it.";
    SV_RELAY_DELAY, "sv_relayDelay", Int::range(0, 600), all("0", E.and(O)),
        "Delay of the live stream in seconds, so that viewers give no help to players.";
    SV_MASTER1, "sv_master1", Text::host(255),
        oa_q3(("dpmaster.deathmask.net", O), ("master.quake3arena.com", O)),
        "Master server that lists the server if dedicated is 2, as name or name:port; the port is 27950 by \
         default. Empty for none.";
    SV_MASTER2, "sv_master2", Text::host(255), oa_q3(("", O), ("master.ioquake3.org", O)),
        "Second master server.";
    SV_MASTER3, "sv_master3", Text::host(255), all("", O.and(A)),
        "Third master server.";
    SV_MASTER4, "sv_master4", Text::host(255), all("", O.and(A)),
        "Fourth master server.";
    SV_MASTER5, "sv_master5", Text::host(255), all("", O.and(A)),
        "Fifth master server.";
    SV_AUTHORIZE_SERVER, "sv_authorizeServer", Text::host(255), all("", O),
        "Authorization service that accepts or refuses clients by their CD key, as name or name:port; the port \
         is 27952 by default. Empty for none. Clients of sv_lanNetworks and of IPv6 are not asked about.";
    SV_STRICT_AUTH, "sv_strictAuth", Flag::either(), all("1", O.and(A)),
        "Tell the authorization service to refuse clients that it does not know.";

    ["admin", "Administration"]
    RCON_PASSWORD, "rconPassword", Text::up_to(63), all("", SECRET.and(O)),
        "Password of rcon, the remote console; empty disables rcon. At least 8 characters if dedicated is \
         2 or sv_rconAllow allows more than loopback.";
    RCON_PASSWORD_FILE, "rconPasswordFile", Text::up_to(255), all("", E.and(O)),
        "File whose first line is the rconPassword, read before the first level; empty reads none.";
    SV_RCON_ALLOW, "sv_rconAllow", Networks::list(), all("127.0.0.0/10 127.128.0.0/9 ::1", O),
        "Networks that may use rcon, or any; by default loopback without 127.64.0.0/10, the clients of fragd \
         proxy --rcon on this machine.";
    SV_RCON_BURST, "sv_rconBurst", Int::range(1, 1000), all("10", O),
        "Burst of rcon commands per address and port; answers to wrong passwords share one such burst.";
    SV_RCON_PERIOD, "sv_rconPeriod", Int::range(1, 60_000), all("1000", O),
        "Milliseconds until one more rcon request is allowed.";
    SV_RCON_LOCKOUT, "sv_rconLockout", Int::or_off(1, 3600), all("300", O),
        "Maximum seconds that wrong passwords lock an address out of rcon; 0 disables the lockout.";
    SV_ADMINS, "sv_admins", Text::up_to(255), all("", E.and(O)),
        "File (TOML) with levels and logins of players who are administrators, read before the first level, by rehashadmins \
         and on SIGHUP; empty for none.";
    SV_WARN_LIMIT, "sv_warnLimit", Int::or_off(1, 100), all("0", O),
        "Warnings of the command warn after which a player is kicked; 0 disables the limit.";
    RCON_SECURE, "rcon_secure", Int::range(0, 2), all("0", O),
        "1 refuses rcon packets with a password in clear text, 2 accepts only srcon packets with a challenge; others get no \
         answer.";
    RCON_SECURE_MAXDIFF, "rcon_secure_maxdiff", Int::range(1, 600), all("5", O),
        "Maximum difference of the clocks, in seconds, for srcon packets with a time.";
    SV_CONSOLE, "sv_console", Text::up_to(107), all("", E.and(O)),
        "Path of a Unix socket on which fragd console attaches, for the owner of the process; empty disables it.";
    SV_STATE, "sv_state", Text::up_to(1023), all("", I.and(O)),
        "Folder of the files that outlast the server, such as the list of bans; none keeps them in memory. Empty selects \
         $STATE_DIRECTORY, else fragd/PORT in fs_homepath, if that is set, else in ~/.local/state. Servers do not share a \
         folder.";
    SV_AUDIT_SIZE, "sv_auditSize", Int::or_off(1, 4096), all("8", E.and(O)),
        "Size in MiB at which the audit log in the folder of sv_state is renamed to audit.1.jsonl; 0 disables the limit.";
    SV_QUERY_BURST, "sv_queryBurst", Int::range(1, 1000), all("10", O),
        "Burst of queries per address.";
    SV_QUERY_PERIOD, "sv_queryPeriod", Int::range(1, 60_000), all("1000", O),
        "Milliseconds until one more query of an address is answered.";
    SV_QUERY_GLOBAL_BURST, "sv_queryGlobalBurst", Int::range(1, 100_000), all("100", O),
        "Burst of queries from all addresses together.";
    SV_QUERY_GLOBAL_PERIOD, "sv_queryGlobalPeriod", Int::range(1, 60_000), all("10", O),
        "Milliseconds until one more query of all addresses together is answered.";
    SV_QUERY_GLOBAL_RATE, "sv_queryGlobalRate", Int::range(1500, 100_000_000), all("25000", O),
        "Maximum rate of query responses to all addresses, in bytes per second; half is for addresses \
         that ask again; the burst is three seconds' worth.";
    SV_METRICS, "sv_metrics", Endpoint::or_none("127.0.0.1:9527"), all("", E.and(O)),
        "Address and port of the Prometheus metrics endpoint, e.g. 127.0.0.1:9527; empty disables it.";
    SV_STATUS_STYLE, "sv_statusStyle", StatusStyle::one_of(), all("ioq3", P),
        "Columns of the command status, for tools that parse it.";
    SV_LOG_LEVEL, "sv_logLevel", LogLevel::one_of(), all("info", E.and(O)),
        "Minimum level of log lines.";
    G_LOG, "g_log", Text::up_to(255), all("games.log", E.and(O)),
        "File of the game log, for statistics tools; empty disables it.";
    G_LOGSYNC, "g_logsync", Flag::either(), all("0", E),
        "Sync the game log to disk after every line; 0 syncs within a second.";
    G_LOG_SIZE, "g_logSize", Int::or_off(1, 4096), all("0", E.and(O)),
        "Size in MiB at which the game log is rotated; five old files are kept. 0 disables rotation.";
    SV_AUTO_RECORD, "sv_autoRecord", Int::range(0, 3), all("0", O),
        "1 records every client in the game to demo files, one for each client and level; \
         2 records every level to a multi-view file; 3 does both; 0 disables it.";
    SV_DEMO_FOLDER, "sv_demoFolder", Text::up_to(255), all("demos", E.and(O)),
        "Folder of recordings; it is created with the first one.";
    SV_DEMO_SIZE, "sv_demoSize", Int::or_off(1, 1_000_000), all("1024", E.and(O)),
        "Total size of the recordings in MiB, above which the oldest are deleted; 0 disables the limit.";
    SV_DEMO_FILES, "sv_demoFiles", Int::or_off(1, 100_000), all("1000", E.and(O)),
        "Number of recordings above which the oldest are deleted; 0 disables the limit.";
    SV_MODULE_FOLDER, "sv_moduleFolder", Text::up_to(255), all("module-files", I.and(O)),
        "Folder of the files that a game module writes, in a subfolder named after the game or mod; empty keeps \
         them in memory.";
    SV_MODULE_SIZE, "sv_moduleSize", Int::range(1, 256), all("8", I.and(O)),
        "Maximum size of all files that a game module writes, in MiB.";
    SV_MODULE_FILES, "sv_moduleFiles", Int::range(1, 4096), all("256", I.and(O)),
        "Maximum number of files that a game module writes.";
}
