//! Random inputs to a game, valid and hostile.

use proptest::prelude::*;

use crate::model::{Buttons, UserCmd, limits::MAX_CLIENTS};

/// Input of a game.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Connect { client: usize, userinfo: String, bot: bool },
    Begin(usize),
    Userinfo(usize, String),
    Think(usize, UserCmd),
    Command(usize, String),
    Disconnect(usize),
    Frame(i32),
    Ping(usize, i32),
    Set(&'static str, String),
    Restart,
    NewLevel,
}
fn usercmds() -> impl Strategy<Value = UserCmd> {
    let times = prop_oneof![4 => 0..6000i32, 1 => any::<i32>()];
    let angles = prop::array::uniform3(prop_oneof![0..65_536i32, any::<i32>()]);
    (times, angles, any::<i32>(), any::<u8>(), any::<[i8; 3]>()).prop_map(
        |(server_time, angles, buttons, weapon, [forwardmove, rightmove, upmove])| UserCmd {
            server_time,
            angles,
            buttons: Buttons(buttons),
            weapon,
            forwardmove,
            rightmove,
            upmove,
        },
    )
}

fn userinfos() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\\\name\\\\[ -!#-:<-~]{0,40}\\\\team\\\\[sf]\\\\teampref\\\\[sf]",
        "(\\\\[a-z]{1,8}\\\\[ -~]{0,60}){0,12}",
        "\\PC{0,100}",
        Just("\\name\\^1same\\handicap\\50\\model\\sarge/default\\cl_guid\\x".to_owned()),
    ]
}

fn lines() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "say",
        "say_team",
        "tell",
        "team",
        "follow",
        "follownext",
        "followprev",
        "freespectator",
        "score",
        "kill",
        "where",
        "callvote",
        "vote",
        "teamvote",
        "teamtask",
        "give",
        "noclip",
        "stats",
        "gc",
        "vsay",
        "SAY",
    ]);
    let argument = prop_oneof![
        prop::sample::select(vec![
            "0",
            "1",
            "63",
            "64",
            "99999999999",
            "s",
            "free",
            "scoreboard",
            "follow1",
            "follow2",
            "^1same",
            "\"\n",
            "\u{1b}[2J",
            "spectator",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "[a\" \\\\;%\n^]{0,1200}",
    ];
    prop_oneof![
        4 => (command, prop::collection::vec(argument, 0..3))
            .prop_map(|(command, arguments)| format!("{command} {}", arguments.join(" "))),
        1 => "\\PC{0,1100}",
    ]
}

pub(super) fn inputs() -> impl Strategy<Value = Input> {
    // Prefer few clients, so that they interact more often.
    let client = || prop_oneof![4 => 0..6usize, 1 => 0..MAX_CLIENTS];
    let settings = prop::sample::select(vec![
        "g_speed",
        "g_gravity",
        "g_inactivity",
        "pmove_fixed",
        "pmove_msec",
        "dmflags",
        "g_synchronousClients",
        "g_maxGameClients",
        "g_password",
        "sv_cheats",
        "g_motd",
        "g_smoothClients",
        "timelimit",
        "fraglimit",
        "g_doWarmup",
        "g_warmup",
        "g_gametype",
        "g_forcerespawn",
        "g_knockback",
    ]);
    prop_oneof![
        6 => (client(), userinfos(), any::<bool>())
            .prop_map(|(client, userinfo, bot)| Input::Connect { client, userinfo, bot }),
        6 => client().prop_map(Input::Begin),
        2 => (client(), userinfos()).prop_map(|(client, text)| Input::Userinfo(client, text)),
        16 => (client(), usercmds()).prop_map(|(client, command)| Input::Think(client, command)),
        12 => (client(), lines()).prop_map(|(client, line)| Input::Command(client, line)),
        2 => client().prop_map(Input::Disconnect),
        10 => prop_oneof![Just(50), 1..6000i32].prop_map(Input::Frame),
        1 => (client(), any::<i32>()).prop_map(|(client, ping)| Input::Ping(client, ping)),
        2 => (settings, prop_oneof!["[0-9]{0,5}", "-?[0-9]{1,12}", "\\PC{0,300}"])
            .prop_map(|(name, value)| Input::Set(name, value)),
        1 => Just(Input::Restart),
        1 => Just(Input::NewLevel),
    ]
}
