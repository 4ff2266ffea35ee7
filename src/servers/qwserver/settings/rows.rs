//! Setting rows of a QuakeWorld server: names, kinds, defaults, help.
//!
//! Names and defaults are those of QuakeWorld servers. `S` marks the settings of the serverinfo.

use crate::cvar::{Address, Flag, Flags, Float, Int, Networks, PerGame, Text, setting_rows};

const P: Flags = Flags::PLAIN;
const S: Flags = Flags::SERVERINFO;
const LATCHED: Flags = Flags::LATCHED;
const SECRET: Flags = Flags::SECRET;
const INIT: Flags = Flags::INIT;

/// The same default in every game.
const fn one(default: &'static str, flags: Flags) -> [PerGame; 2] {
    PerGame::all(default, flags)
}

setting_rows! {
    after 0;

    ["server", "Server and access"]
    HOSTNAME, "hostname", Text::up_to(63), one("unnamed", S),
        "Server name in browsers.";
    MAP, "map", Text::name(48), one("fragqw1", P),
        "First map; fragqw1 is part of the program.";
    MAPS, "maps", Text::up_to(1000), one("", P),
        "Map cycle: names separated by spaces. After a limit, the map behind the current one follows; empty repeats \
         the current map.";
    GAMEDIR, "gamedir", Text::name(31), one("qw", INIT),
        "Game folder of clients, searched before qw and id1.";
    NET_PORT, "net_port", Int::range(0, 65535), one("27500", INIT),
        "UDP port; 0 selects any free port.";
    NET_IP, "net_ip", Address::v4(), one("0.0.0.0", INIT),
        "IPv4 address to listen on.";
    NET_IP6, "net_ip6", Address::v6(), one("::", INIT),
        "IPv6 address to listen on.";
    MAXCLIENTS, "maxclients", Int::range(1, 32), one("8", S),
        "Maximum number of players; with spectators at most 32.";
    MAXSPECTATORS, "maxspectators", Int::range(0, 32), one("8", S),
        "Maximum number of spectators; with players at most 32.";
    PASSWORD, "password", Text::userinfo_password(63), one("", SECRET),
        "Password of players; empty or none disables it.";
    SPECTATOR_PASSWORD, "spectator_password", Text::userinfo_password(63), one("", SECRET),
        "Password of spectators; empty or none disables it.";
    NEEDPASS, "needpass", Int::range(0, 3), one("0", S),
        "Passwords that clients need, set by the server: 1 for players, 2 for spectators.";
    SV_MAXCLIENTS_PER_IP, "sv_maxclientsPerIP", Int::or_off(1, 32), one("4", P),
        "Maximum clients per address; 0 disables the limit. Addresses of this machine and of local networks are exempt.";
    FILTERBAN, "filterban", Flag::either(), one("1", P),
        "1 bans the addresses of addip, 0 admits only those.";
    TIMEOUT, "timeout", Int::range(5, 600), one("65", P),
        "Seconds of silence after which a client is dropped.";
    ZOMBIETIME, "zombietime", Int::range(0, 30), one("2", P),
        "Seconds for which the slot of a dropped client is held.";
    SV_DRAIN_TIME, "sv_drainTime", Int::or_off(1, 86_400), one("0", P),
        "Maximum seconds that SIGTERM lets players finish their match, while connects are refused; a second \
         signal ends the server. 0 ends it at once.";

    ["rcon", "Remote console"]
    RCON_PASSWORD, "rcon_password", Text::password(0, 63), one("", SECRET),
        "Password of rcon; empty disables it.";
    SV_CRYPT_RCON, "sv_crypt_rcon", Flag::either(), one("1", P),
        "1 accepts only rcon packets with an encrypted password, as ezQuake sends them; 0 accepts plain ones too.";
    SV_TIMESTAMPLEN, "sv_timestamplen", Int::range(1, 3600), one("60", P),
        "Seconds for which an encrypted rcon packet is valid.";
    SV_RCON_ALLOW, "sv_rconAllow", Networks::list(), one("any", P),
        "Networks whose rcon packets are accepted; private stands for local networks.";
    RCON_SECURE, "rcon_secure", Int::range(0, 2), one("0", P),
        "1 refuses rcon packets with a password in clear text, 2 accepts only srcon packets with a challenge; others get no \
         answer.";
    RCON_SECURE_MAXDIFF, "rcon_secure_maxdiff", Int::range(1, 600), one("5", P),
        "Maximum difference of the clocks, in seconds, for srcon packets with a time.";
    SV_STATE, "sv_state", Text::up_to(1023), one("", INIT),
        "Folder of the list of bans; none keeps it in memory. Empty selects $STATE_DIRECTORY, else fragd/PORT in \
         ~/.local/state. Servers do not share a folder.";
    SV_CONSOLE, "sv_console", Text::up_to(107), one("", INIT),
        "Path of a Unix socket on which fragd console attaches, for the owner of the process; empty disables it.";

    ["rules", "Rules and match"]
    DEATHMATCH, "deathmatch", Int::range(0, 10), one("1", S),
        "Game mode that clients show.";
    TEAMPLAY, "teamplay", Int::range(0, 10), one("0", S),
        "Teams by the userinfo key team; 0 without teams.";
    TIMELIMIT, "timelimit", Float::range(0.0, 10000.0), one("0", S),
        "Minutes after which the map changes; 0 disables the limit.";
    FRAGLIMIT, "fraglimit", Int::range(0, 10000), one("0", S),
        "Frags at which the map changes; 0 disables the limit.";
    PAUSABLE, "pausable", Flag::either(), one("1", P),
        "1 lets players pause the game; the operator always can.";
    SAMELEVEL, "samelevel", Flag::either(), one("0", P),
        "1 repeats the current map after a limit.";
    SV_MAPCHECK, "sv_mapcheck", Flag::either(), one("1", P),
        "1 drops clients whose map file differs.";
    SV_SPECTALK, "sv_spectalk", Flag::either(), one("1", S),
        "1 shows chat of spectators to players.";
    FP_MESSAGES, "fp_messages", Int::or_off(1, 10), one("4", P),
        "Chat lines within fp_persecond that silence a client; 0 disables the protection.";
    FP_PERSECOND, "fp_persecond", Int::range(1, 60), one("4", P),
        "Seconds over which chat lines are counted.";
    FP_SECONDSDEAD, "fp_secondsdead", Int::range(1, 600), one("10", P),
        "Seconds for which a client is silenced.";

    ["network", "Rates and pacing"]
    SV_MAXRATE, "sv_maxrate", Int::range(500, 100_000), one("100000", P),
        "Maximum bytes a second to a client.";
    SV_MINTIC, "sv_mintic", Float::range(0.0, 0.1), one("0.013", P),
        "Minimum length of a physics frame, in seconds.";
    SV_MAXTIC, "sv_maxtic", Float::range(0.01, 0.5), one("0.1", P),
        "Maximum length of a physics frame, in seconds.";
    MAXFPS, "maxfps", Int::range(10, 1000), one("77", S),
        "Maximum packets a second that clients send.";
    SV_ANSWERWAIT, "sv_answerwait", Int::range(0, 10), one("4", P),
        "Milliseconds for which packets wait for others at most, with more than four clients; 0 answers each at once.";
    WATERVIS, "watervis", Flag::either(), one("0", S),
        "1 tells clients that water may be transparent.";
    FPD, "fpd", Int::range(0, 65535), one("0", S),
        "Features of clients that are forbidden, as a bit mask.";

    ["movement", "Movement"]
    SV_GRAVITY, "sv_gravity", Float::range(0.0, 10000.0), one("800", LATCHED),
        "Gravity, in units per second squared.";
    SV_STOPSPEED, "sv_stopspeed", Float::range(0.0, 10000.0), one("100", LATCHED),
        "Speed below which friction stops, in units per second.";
    SV_MAXSPEED, "sv_maxspeed", Float::range(0.0, 10000.0), one("320", LATCHED),
        "Maximum speed of players, in units per second.";
    SV_SPECTATORMAXSPEED, "sv_spectatormaxspeed", Float::range(0.0, 10000.0), one("500", LATCHED),
        "Maximum speed of spectators, in units per second.";
    SV_ACCELERATE, "sv_accelerate", Float::range(0.0, 1000.0), one("10", LATCHED),
        "Acceleration on the ground and in the air.";
    SV_AIRACCELERATE, "sv_airaccelerate", Float::range(0.0, 1000.0), one("10", LATCHED),
        "Acceleration in the air, told to clients without an effect on moves.";
    SV_WATERACCELERATE, "sv_wateraccelerate", Float::range(0.0, 1000.0), one("10", LATCHED),
        "Acceleration in liquids.";
    SV_FRICTION, "sv_friction", Float::range(0.0, 1000.0), one("4", LATCHED),
        "Friction on the ground.";
    SV_WATERFRICTION, "sv_waterfriction", Float::range(0.0, 1000.0), one("4", LATCHED),
        "Friction in liquids.";
    PM_KTJUMP, "pm_ktjump", Float::range(0.0, 1.0), one("0", LATCHED),
        "Part of the jump speed that does not depend on the fall before.";
    PM_BUNNYSPEEDCAP, "pm_bunnyspeedcap", Float::range(0.0, 10.0), one("0", LATCHED),
        "Speed that jumps reach, as a factor of the maximum speed; 0 without a limit.";
    PM_SLIDEFIX, "pm_slidefix", Flag::either(), one("0", LATCHED),
        "1 lets gravity act on the ground.";
    PM_AIRSTEP, "pm_airstep", Flag::either(), one("0", LATCHED),
        "1 climbs steps in the air.";
    PM_PGROUND, "pm_pground", Flag::either(), one("0", LATCHED),
        "1 makes the ground part of the predicted state.";

    ["downloads", "Downloads"]
    ALLOW_DOWNLOAD, "allow_download", Flag::either(), one("1", P),
        "1 permits downloads.";
    ALLOW_DOWNLOAD_MAPS, "allow_download_maps", Flag::either(), one("1", P),
        "1 permits downloads of maps.";
    ALLOW_DOWNLOAD_PAKMAPS, "allow_download_pakmaps", Flag::either(), one("0", P),
        "1 permits downloads of maps in archives.";
    ALLOW_DOWNLOAD_MODELS, "allow_download_models", Flag::either(), one("1", P),
        "1 permits downloads of models.";
    ALLOW_DOWNLOAD_SOUNDS, "allow_download_sounds", Flag::either(), one("1", P),
        "1 permits downloads of sounds.";
    ALLOW_DOWNLOAD_SKINS, "allow_download_skins", Flag::either(), one("1", P),
        "1 permits downloads of skins.";
}

/// Names and text that the serverinfo gives clients beside the flags, when the value is not the default of clients.
pub(crate) const VARIANTS: [&str; 5] =
    ["pm_ktjump", "pm_bunnyspeedcap", "pm_slidefix", "pm_airstep", "pm_pground"];
