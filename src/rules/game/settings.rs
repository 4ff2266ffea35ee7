//! Setting rows of the game: match rules, movement, votes, and OpenArena's extensions.
//!
//! Games read these rows by typed key from [`Host::settings`]. Defaults and bounds
//! are defined here only. Source of names and defaults: Quake III Arena 1.32, ioquake3, OpenArena 0.8.8.

use super::Host;
use crate::cvar::{
    BallotHolder, CollisionPrecision, Flag, Flags, Float, Int, MovementChoice, MovementPrecision,
    PerGame, RulesMode, Setting, Text, engine, setting_rows,
};

// Flags of the rows below.
const P: Flags = Flags::PLAIN;
const S: Flags = Flags::SERVERINFO;
const Y: Flags = Flags::SYSTEMINFO;
const I: Flags = Flags::INIT;
const L: Flags = Flags::LATCHED;
const R: Flags = Flags::READ_ONLY;
const A: Flags = Flags::ANNOUNCED;
const C: Flags = Flags::CLIENT;
const N: Flags = Flags::NO_EFFECT;
/// Archived, as by other servers.
const K: Flags = Flags::ARCHIVE;

const fn all(default: &'static str, flags: Flags) -> [PerGame; 2] {
    PerGame::all(default, flags)
}

const fn oa_q3(oa: (&'static str, Flags), q3: (&'static str, Flags)) -> [PerGame; 2] {
    PerGame::oa_q3(oa, q3)
}

/// A row that OpenArena's serverinfo carries and Quake III Arena's does not.
const fn oa_info(default: &'static str, flags: Flags) -> [PerGame; 2] {
    PerGame::oa_q3((default, S.and(flags)), (default, flags))
}

/// A row whose changes are announced in OpenArena.
const fn oa_announced(default: &'static str) -> [PerGame; 2] {
    PerGame::oa_q3((default, A), (default, P))
}

setting_rows! {
    after engine::ROWS.len();

    ["match", "Match"]
    GAMENAME, "gamename", Text::name(31), oa_q3(("baseoa", S.and(R).and(C)), ("baseq3", S.and(R).and(C))),
        "Game that the server runs.";
    G_RULES, "g_rules", RulesMode::one_of(), all("auto", I),
        "Game rules: flight is free flight without map files; auto is flight only if no maps are found.";
    G_MOVEMENT, "g_movement", MovementChoice::one_of(), all("auto", I),
        "Pmove variant that clients predict with: quake3 or ioquake3 for baseq3, openarena or \
         openarena-next for baseoa; auto is the variant of the released data, quake3 or openarena.";
    CM_PRECISION, "cm_precision", CollisionPrecision::one_of(), all("single", L),
        "Floating-point precision of collisions: single as in ioquake3 and OpenArena, fast as in Debian's \
         ioquake3, double as in Quake3e. Clients should use the same.";
    G_GAMETYPE, "g_gametype", Int::range(0, 12), all("0", S.and(L)),
        "Game type: 0 free for all, 1 tournament, 3 team deathmatch, 4 capture the flag. 2 (single player) \
         disables query responses; other types fall back to 0.";
    DMFLAGS, "dmflags", Int::range(0, 65535), all("0", S.and(A).and(K)),
        "Sum of 8 for no falling damage, 16 for a fixed field of view, 32 for no footsteps, and bits \
         specific to the game.";
    FRAGLIMIT, "fraglimit", Int::or_off(1, 9999), all("20", S.and(A).and(K)),
        "Frags that end the match; 0 disables the limit.";
    TIMELIMIT, "timelimit", Int::or_off(1, 9999), all("0", S.and(A).and(K)),
        "Minutes that end the match; 0 disables the limit.";
    CAPTURELIMIT, "capturelimit", Int::or_off(1, 9999), all("8", S.and(A).and(K)),
        "Captures that end the match; 0 disables the limit.";
    NEXTMAP, "nextmap", Text::up_to(1023), all("", P),
        "Console commands to run at the end of a match. Each map load sets it to map_restart 0, which runs \
         the rotation in the variable d1 if that exists.";
    G_AUTONEXTMAP, "g_autonextmap", Int::range(0, 2), all("0", P),
        "Choose the next map from the files of g_mappools at the end of a match: 1 any other map, 2 the next one in the file; 0 \
         disables it. A nextmap that is set wins.";
    G_MAPPOOLS, "g_mappools", Text::up_to(511),
        all(
            "0\\maps_dm.cfg\\1\\maps_tourney.cfg\\3\\maps_tdm.cfg\\4\\maps_ctf.cfg\\5\\maps_oneflag.cfg\\6\\maps_obelisk.cfg\\7\\maps_harvester.cfg\\8\\maps_elimination.cfg\\9\\maps_ctf.cfg\\10\\maps_lms.cfg\\11\\maps_dd.cfg\\12\\maps_dom.cfg\\",
            P,
        ),
        "Files of the game data with the maps of each game type, as \\TYPE\\FILE pairs; FILE.org is read if FILE does not exist.";
    G_MAX_GAME_CLIENTS, "g_maxGameClients", Int::or_off(1, 64), all("0", S.and(L).and(K)),
        "Maximum players; further clients are spectators. 0 disables the limit.";
    G_MOTD, "g_motd", Text::up_to(255), all("", P),
        "Message on the loading screen of clients.";
    G_FRIENDLY_FIRE, "g_friendlyFire", Flag::either(), all("0", A.and(K)),
        "Let teammates damage each other.";
    G_DO_WARMUP, "g_doWarmup", Flag::either(), oa_q3(("0", S.and(A)), ("0", A)),
        "Start matches with a warm-up.";
    G_WARMUP, "g_warmup", Int::range(0, 600), all("20", A.and(K)),
        "Duration of the warm-up countdown in seconds.";
    G_ALLOW_VOTE, "g_allowVote", Int::range(0, i32::MAX), oa_q3(("1", S.and(K)), ("1", K)),
        "Let players call votes; 0 disables votes. Other numbers are bit masks of mods, and allow all votes here.";
    G_MAX_VOTES, "g_maxVotes", Int::or_off(1, 999), all("3", P),
        "Maximum votes that one address may call per level; 0 disables the limit.";
    G_VOTE_BALLOTS, "g_voteBallots", BallotHolder::one_of(), all("address", P),
        "Holders of ballots in votes: address counts the latest vote of each address (IPv6 /56) outside \
         sv_lanNetworks, client counts each player, as the original game does. If all voters have one \
         address, each counts.";
    G_VOTE_NAMES, "g_voteNames", Text::up_to(255),
        oa_q3(
            ("/map_restart/nextmap/map/g_gametype/kick/clientkick/g_doWarmup/timelimit/fraglimit/shuffle/", P),
            ("", P),
        ),
        "Votes that may be called, each between slashes; * or empty allows all. voteflags limits them, too, and \
         g_customVotes custom ones.";
    G_VOTEMAPSFILE, "g_votemapsfile", Text::up_to(63), all("votemaps.cfg", P),
        "File of the game data with the maps that may be voted for, read at each level start; without it, all maps.";
    G_CUSTOM_VOTES, "g_customVotes", Text::up_to(255), all("", P),
        "Names of custom votes; the variable vote_NAME holds the commands of each.";
    G_BAN_IPS, "g_banIPs", Text::up_to(1023), all("", K),
        "Banned IPv4 addresses, e.g. 10.1.2.3 or 10.1.*; the commands addip and removeip edit the list.";
    G_FILTER_BAN, "g_filterBan", Flag::either(), all("1", K),
        "Meaning of g_banIPs: 1 bans the listed addresses, 0 admits only them.";
    G_TEAM_AUTO_JOIN, "g_teamAutoJoin", Flag::either(), all("0", K),
        "Put joining clients into the weaker team instead of the spectators.";
    G_TEAM_FORCE_BALANCE, "g_teamForceBalance", Flag::either(), all("0", K),
        "Prevent players from joining the larger team.";
    G_SPEED, "g_speed", Int::range(0, 10_000), all("320", A),
        "Running speed in units per second.";
    G_GRAVITY, "g_gravity", Float::range(0.0, 65_535.0), all("800", A),
        "Gravity in units per second squared.";
    G_KNOCKBACK, "g_knockback", Float::range(0.0, 100_000.0), all("1000", A),
        "Strength of knockback.";
    G_QUADFACTOR, "g_quadfactor", Float::range(0.0, 100.0), all("3", A),
        "Damage multiplier of quad damage.";
    G_FORCERESPAWN, "g_forcerespawn", Int::or_off(1, 3600), all("20", A),
        "Seconds after which a dead player respawns without input; 0 disables it.";
    G_WEAPONRESPAWN, "g_weaponrespawn", Int::range(0, 3600), all("5", A),
        "Seconds until a weapon respawns; with 0, weapons stay.";
    G_WEAPON_TEAM_RESPAWN, "g_weaponTeamRespawn", Int::range(0, 3600), all("30", A),
        "Seconds until a weapon respawns in team games; with 0, weapons stay.";
    G_INACTIVITY, "g_inactivity", Int::or_off(1, 86_400), all("0", A),
        "Seconds without input after which a player is dropped; 0 disables it.";
    COM_BLOOD, "com_blood", Flag::either(), all("1", P),
        "Gib corpses that take enough damage.";
    G_SYNCHRONOUS_CLIENTS, "g_synchronousClients", Flag::either(), all("0", Y),
        "Run usercmds once per server frame instead of on arrival.";
    G_SMOOTH_CLIENTS, "g_smoothClients", Flag::either(), all("1", P),
        "Extrapolate players between their packets.";
    PMOVE_FIXED, "pmove_fixed", Flag::either(), all("0", Y),
        "Move all players in steps of pmove_msec.";
    PMOVE_MSEC, "pmove_msec", Int::range(8, 33), oa_q3(("11", Y), ("8", Y)),
        "Fixed pmove step in ms.";
    PMOVE_FLOAT, "pmove_float", Flag::either(), oa_q3(("1", Y.and(A)), ("0", P)),
        "Keep fractions of velocity, in OpenArena's pmove variants.";
    PMOVE_PRECISION, "pmove_precision", MovementPrecision::one_of(), all("single", P),
        "Floating-point precision of decimal constants in pmove: single as in bytecode, double as in natively \
         compiled modules (Debian's packages). Clients should use the same.";

    ["openarena", "OpenArena only"]
    VIDEOFLAGS, "videoflags", Int::range(0, 65535), oa_info("7", C),
        "Graphics settings that OpenArena clients lock; 7 and 0 are safe.";
    ELIMFLAGS, "elimflags", Int::range(0, 65535), all("0", N),
        "Rules of the elimination game types.";
    VOTEFLAGS, "voteflags", Int::range(0, 65535), oa_info("767", P),
        "Sum of the votes that may be called: 1 map_restart, 2 nextmap, 4 map, 8 g_gametype, 16 \
         clientkick, 32 g_doWarmup, 64 timelimit, 128 fraglimit, 256 custom, 512 shuffle.";
    G_VOTE_GAMETYPES, "g_voteGametypes", Text::up_to(63),
        oa_q3(("/0/1/3/4/", S), ("", P)),
        "Game types that may be voted for, each between slashes; * or empty allows all.";
    G_VOTE_MAX_TIMELIMIT, "g_voteMaxTimelimit", Int::or_off(1, 9999), oa_info("1000", P),
        "Maximum timelimit that may be voted for; 0 disables the limit.";
    G_VOTE_MIN_TIMELIMIT, "g_voteMinTimelimit", Int::range(0, 9999), oa_info("0", P),
        "Minimum timelimit that may be voted for.";
    G_VOTE_MAX_FRAGLIMIT, "g_voteMaxFraglimit", Int::or_off(1, 9999), oa_info("0", P),
        "Maximum fraglimit that may be voted for; 0 disables the limit.";
    G_VOTE_MIN_FRAGLIMIT, "g_voteMinFraglimit", Int::range(0, 9999), oa_info("0", P),
        "Minimum fraglimit that may be voted for.";
    G_OBELISK_RESPAWN_DELAY, "g_obeliskRespawnDelay", Int::range(0, 3600), all("10", N),
        "Seconds until a destroyed obelisk respawns.";
    G_ENABLE_DUST, "g_enableDust", Flag::either(), oa_info("0", C),
        "Show dust on landing.";
    G_ENABLE_BREATH, "g_enableBreath", Flag::either(), oa_info("0", C),
        "Show the breath of players.";
    G_DELAG_HITSCAN, "g_delagHitscan", Flag::either(), oa_info("0", P),
        "Compensate the full lag of hitscan weapons for clients that ask for it with cg_delag.";
    ELIMINATION_ROUNDTIME, "elimination_roundtime", Int::range(0, 3600), all("120", N),
        "Round time of the elimination game types in seconds.";
    G_ROCKETS, "g_rockets", Flag::either(), oa_info("0", L),
        "Give all players rocket launchers only.";
    G_INSTANTGIB, "g_instantgib", Int::range(0, 3), oa_info("0", L),
        "Give all players railguns only, which kill instantly: 1 without, 2 or 3 with a gauntlet.";
    G_LMS_MODE, "g_lms_mode", Int::range(0, 3), all("0", N),
        "Scoring of last man standing.";
    G_ALT_EXCELLENT, "g_altExcellent", Flag::either(), oa_info("0", P),
        "Announce multiple kills with the messages of g_sprees.";
    G_SPREES, "g_sprees", Text::up_to(63), all("sprees.dat", P),
        "File with the announcements of series of frags and deaths, up to 64 KiB; empty for none. Read at \
         each level start.";
    G_SPREE_DIV, "g_spreeDiv", Int::range(2, 1000), all("5", P),
        "Frags or deaths from one level of g_sprees to the next. Read at each level start.";
    G_GRAVITY_MODIFIER, "g_gravityModifier", Float::range(0.0, 100.0), oa_announced("1"),
        "Multiplier of gravity.";
    G_DAMAGE_MODIFIER, "g_damageModifier", Float::range(0.0, 100.0), oa_announced("0"),
        "Multiplier of all damage; 0 disables it.";
    G_RESPAWNTIME, "g_respawntime", Int::or_off(1, 3600), oa_announced("0"),
        "Respawn wave interval in seconds; 0 disables waves.";
    G_SPAWNPROTECT, "g_spawnprotect", Int::range(0, 60_000), oa_announced("500"),
        "Protection from weapon damage after a spawn, in ms.";
    G_AWARDPUSHING, "g_awardpushing", Flag::either(), all("1", P),
        "Credit the frag to a player who knocked the victim into a hazard.";
    G_VAMPIRE, "g_vampire", Float::range(0.0, 100.0), oa_announced("0"),
        "Fraction of the damage dealt that heals the attacker.";
    G_VAMPIRE_MAX_HEALTH, "g_vampire_max_health", Int::range(0, 30_000), all("500", P),
        "Maximum health from g_vampire.";
    G_PROX_MINE_TIMEOUT, "g_proxMineTimeout", Int::range(0, 3_600_000), all("20000", P),
        "Milliseconds until a proximity mine explodes by itself; a fifteenth near the own flag.";
    G_REGEN, "g_regen", Int::range(0, 999), oa_announced("0"),
        "Health that players regain per second.";
    G_CATCHUP, "g_catchup", Int::range(0, 100), oa_announced("0"),
        "Damage reduction in percent per point of the attacker's lead; 0 disables it.";
    G_LAG_LIGHTNING, "g_lagLightning", Flag::either(), all("1", P),
        "Compensate 50 ms less for the lightning gun with g_delagHitscan.";
    G_MIN_NAME_CHANGE_PERIOD, "g_minNameChangePeriod", Int::or_off(1, 3600), all("10", P),
        "Seconds between two name changes of a player; 0 disables the limit.";
    G_MAX_NAME_CHANGES, "g_maxNameChanges", Int::or_off(1, 9999), all("50", P),
        "Name changes of a player per level; 0 disables the limit.";
    G_GUID_CHECK, "g_guidCheck", Flag::either(), all("0", P),
        "Refuse clients without a valid cl_guid, and clients with the cl_guid of another one.";
    G_MOTDFILE, "g_motdfile", Text::up_to(63), all("motd.cfg", P),
        "File with the message that players see at each entry, up to 1000 bytes; empty for none.";
    G_TRUE_PING, "g_truePing", Int::only_zero("pings are measured by packets only"), all("0", N),
        "Measure pings by usercmds instead of packets.";
    G_MUSIC, "g_music", Text::up_to(127), all("", P),
        "Music that replaces the map's; empty or none keeps it.";
    G_RUNES, "g_runes", Flag::either(), all("0", L),
        "Spawn runes.";
    G_ELIMINATION, "g_elimination", Int::only_zero("elimination is not implemented"), all("0", L.and(N)),
        "Start players with all weapons and remove items.";
    G_TIMESTAMP, "g_timestamp", Text::up_to(19), oa_q3(("", S.and(R)), ("", R)),
        "UTC time of the level start.";
}

/// The whole table: rows of the engine, then rows of the game.
pub const SETTINGS: &[Setting] = &{
    const LEN: usize = engine::ROWS.len() + ROWS.len();
    let mut rows = [engine::ROWS[0]; LEN];
    let mut at = 0;
    while at < LEN {
        rows[at] = match at.checked_sub(engine::ROWS.len()) {
            Some(own) => ROWS[own],
            None => engine::ROWS[at],
        };
        at += 1;
    }
    rows
};

/// Version of the settings at the last read: they are read again only after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SettingsVersion(Option<u64>);

impl SettingsVersion {
    /// Whether settings may have changed since the last call.
    pub(super) fn changed(&mut self, host: &dyn Host) -> bool {
        let version = host.settings_version();
        let changed = version.is_none() || version != self.0;
        self.0 = version;
        changed
    }
}
