//! Answers of a decoy, in the key order of the real program of its game.

use crate::{
    discovery::{Family, Game, quake4, quakeworld},
    model::Challenge,
    wire::{
        connectionless::{
            ChallengeResponse, CommandKind, Echo, Message, OUT_OF_BAND, Query, StatusPlayer,
        },
        info::InfoString,
        text::WireText,
    },
};

use super::Decoy;

/// Longest challenge that Enemy Territory echoes, in bytes.
const MAX_ET_CHALLENGE: usize = 64;
/// Longest answer with players, in bytes.
const MAX_ANSWER: usize = 1396;

/// Answers of one decoy without the challenge.
#[derive(Debug)]
pub(super) struct Answers {
    game: &'static Game,
    /// Info string, or the whole of it with players for Quake 4.
    info: Box<[u8]>,
    /// Settings of the long answer.
    settings: Box<[u8]>,
    /// Lines of the players.
    players: Box<[u8]>,
}

impl Answers {
    pub(super) fn new(decoy: &Decoy) -> Self {
        let (info, settings, players) = match decoy.game.family {
            Family::Quake3 => {
                let settings = quake3_settings(decoy);
                // The challenge and the command come on top.
                let room = MAX_ANSWER.saturating_sub(settings.len() + 160);
                (quake3_info(decoy), settings, quake3_players(decoy, room))
            }
            Family::Quake4 => (quake4_body(decoy), Vec::new(), Vec::new()),
            Family::QuakeWorld => {
                (Vec::new(), quakeworld_settings(decoy), quakeworld_players(decoy))
            }
        };
        Self {
            game: decoy.game,
            info: info.into(),
            settings: settings.into(),
            players: players.into(),
        }
    }

    /// Appends the answer to a datagram; nothing for any other datagram than a request of the game.
    pub(super) fn write(&self, datagram: &[u8], challenge: i32, out: &mut Vec<u8>) {
        match self.game.family {
            Family::Quake3 => self.write_quake3(datagram, challenge, out),
            Family::Quake4 => {
                if let Ok(quake4::Packet::GetInfo(challenge)) = quake4::Packet::parse(datagram) {
                    let protocol = quake4::PROTOCOL;
                    let body = &self.info;
                    let response = quake4::InfoResponse { challenge, protocol, body };
                    quake4::Packet::InfoResponse(response).write(out);
                }
            }
            Family::QuakeWorld => self.write_quakeworld(datagram, out),
        }
    }

    fn write_quake3(&self, datagram: &[u8], challenge: i32, out: &mut Vec<u8>) {
        match Message::parse(datagram) {
            Ok(Message::GetInfo(query)) => {
                let Some(echo) = self.echo(query) else { return };
                push_command(out, CommandKind::InfoResponse);
                // Quake III puts a new pair first, and sets the challenge first of all. Enemy Territory appends.
                if self.appends() {
                    push_challenge(out, echo);
                    out.extend_from_slice(&self.info);
                } else {
                    out.extend_from_slice(&self.info);
                    push_challenge(out, echo);
                }
            }
            Ok(Message::GetStatus(query)) => {
                let Some(echo) = self.echo(query) else { return };
                push_command(out, CommandKind::StatusResponse);
                // Here the challenge is set last.
                if self.appends() {
                    out.extend_from_slice(&self.settings);
                    push_challenge(out, echo);
                } else {
                    push_challenge(out, echo);
                    out.extend_from_slice(&self.settings);
                }
                out.push(b'\n');
                out.extend_from_slice(&self.players);
            }
            Ok(Message::GetChallenge(_)) => {
                let challenge = Challenge(challenge);
                let response = ChallengeResponse { challenge, ..ChallengeResponse::default() };
                Message::ChallengeResponse(response).write(out);
            }
            _ => {}
        }
    }

    fn write_quakeworld(&self, datagram: &[u8], out: &mut Vec<u8>) {
        use quakeworld::{AckForm, Packet};
        match Packet::parse(datagram) {
            Ok(Packet::Ping { .. }) => Packet::Ack(AckForm::Bare).write(out),
            Ok(Packet::GetStatus(mask)) => {
                let mask = mask.filter(|&mask| mask != 0).unwrap_or(3);
                let part = |bit, text| if mask & bit != 0 { text } else { &[][..] };
                out.extend_from_slice(OUT_OF_BAND);
                out.push(b'n');
                out.extend_from_slice(part(1, &self.settings));
                out.push(b'\n');
                out.extend_from_slice(part(2, &self.players));
                out.push(0);
            }
            _ => {}
        }
    }

    /// Returns the challenge to echo, empty for none; `None` means silence.
    fn echo<'a>(&self, query: Query<'a>) -> Option<WireText<'a>> {
        if self.game.word == "et" {
            let legal = |&byte: &u8| (32..=126).contains(&byte) && !b"\\/%;\"".contains(&byte);
            let challenge = query.challenge.raw();
            let is_legal = challenge.len() <= MAX_ET_CHALLENGE && challenge.iter().all(legal);
            return is_legal.then_some(query.challenge);
        }
        match query.echo() {
            Echo::Send(challenge) => Some(challenge),
            Echo::Omit => Some(WireText::EMPTY),
            Echo::Silence => None,
        }
    }

    /// Whether the game appends pairs to an info string.
    fn appends(&self) -> bool {
        self.game.word == "et"
    }
}

fn push_command(out: &mut Vec<u8>, kind: CommandKind) {
    out.extend_from_slice(OUT_OF_BAND);
    out.extend_from_slice(kind.name().as_bytes());
    out.push(b'\n');
}

fn push_challenge(out: &mut Vec<u8>, challenge: WireText<'_>) {
    if !challenge.is_empty() {
        out.extend_from_slice(b"\\challenge\\");
        challenge.push_to(out);
    }
}

/// Returns an info string of the pairs. Values that do not fit are left out.
fn info_text<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> Vec<u8> {
    let mut info = InfoString::normal();
    for (key, value) in pairs {
        // Fails only when the value does not fit; shorter ones may still do.
        let _ = info.set_cleaned(key, &value);
    }
    info.as_str().into()
}

/// Returns the pairs of `infoResponse`, in wire order without challenge.
fn quake3_info(decoy: &Decoy) -> Vec<u8> {
    let clients = decoy.players.len().to_string();
    let humans = decoy.players.iter().filter(|player| player.ping > 0).count().to_string();
    let zero = || "0".to_owned();
    let pure = || u8::from(decoy.pure).to_string();
    let mut pairs = vec![("protocol", decoy.protocol().to_string())];
    match decoy.game.word {
        "et" => pairs.extend([
            ("hostname", decoy.name.clone()),
            ("serverload", zero()),
            ("mapname", decoy.map().to_owned()),
            ("clients", clients),
            ("sv_maxclients", decoy.max_clients.to_string()),
            ("gametype", decoy.gametype().to_string()),
            ("pure", pure()),
            ("game", decoy.r#mod.clone()),
            ("sv_allowAnonymous", zero()),
            ("friendlyFire", zero()),
            ("maxlives", zero()),
            ("needpass", u8::from(decoy.password).to_string()),
            ("punkbuster", u8::from(decoy.punkbuster).to_string()),
            ("gamename", decoy.game.name.to_owned()),
            ("g_antilag", "1".to_owned()),
            ("weaprestrict", "100".to_owned()),
            ("balancedteams", "1".to_owned()),
        ]),
        word => {
            // Only later engines name their game and count humans.
            let is_later = word == "q3" && decoy.protocol() != decoy.game.protocol;
            if is_later {
                pairs.insert(0, ("gamename", decoy.game.name.to_owned()));
            }
            pairs.extend([
                ("hostname", decoy.name.clone()),
                ("mapname", decoy.map().to_owned()),
                ("clients", clients),
            ]);
            if is_later {
                pairs.push(("g_humanplayers", humans));
            }
            pairs.extend([
                ("sv_maxclients", decoy.max_clients.to_string()),
                ("gametype", decoy.gametype().to_string()),
                ("pure", pure()),
            ]);
            if is_later {
                pairs.push(("g_needpass", u8::from(decoy.password).to_string()));
            } else {
                pairs.push(("punkbuster", u8::from(decoy.punkbuster).to_string()));
            }
            pairs.push(("game", decoy.r#mod.clone()));
            if word == "rtcw" {
                pairs.push(("gamename", decoy.game.name.to_owned()));
            }
            pairs.reverse();
        }
    }
    info_text(pairs)
}

fn quake3_settings(decoy: &Decoy) -> Vec<u8> {
    let (version, base) = match decoy.game.word {
        "et" => ("ET 2.60b linux-i386 May  8 2006", "etmain"),
        "rtcw" => ("Wolf 1.41 linux-i386 Dec 31 2002", "main"),
        _ if decoy.protocol() != decoy.game.protocol => ("ioq3 1.36 linux-x86_64", "baseq3"),
        _ => ("Q3 1.32c linux-i386 May  8 2006", "baseq3"),
    };
    let folder = if decoy.r#mod.is_empty() { base } else { &decoy.r#mod };
    info_text([
        ("sv_hostname", decoy.name.clone()),
        ("mapname", decoy.map().to_owned()),
        ("protocol", decoy.protocol().to_string()),
        ("g_gametype", decoy.gametype().to_string()),
        ("sv_maxclients", decoy.max_clients.to_string()),
        ("timelimit", "20".to_owned()),
        ("fraglimit", "30".to_owned()),
        ("version", version.to_owned()),
        ("gamename", folder.to_owned()),
        ("g_needpass", u8::from(decoy.password).to_string()),
    ])
}

/// Returns the lines of the players that fit `room` bytes.
fn quake3_players(decoy: &Decoy, room: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for player in &decoy.players {
        let before = out.len();
        let name = player.name.as_str().into();
        StatusPlayer { score: player.score, ping: player.ping, name }.write(&mut out);
        if out.len() > room {
            // No player follows one that is left out.
            out.truncate(before);
            break;
        }
    }
    out
}

fn quake4_body(decoy: &Decoy) -> Vec<u8> {
    let folder = if decoy.r#mod.is_empty() { "q4mp" } else { &decoy.r#mod };
    let gametype = match decoy.gametype() {
        1 => "Tourney",
        3 => "Team DM",
        4 => "CTF",
        _ => "DM",
    };
    let most = decoy.max_clients.to_string();
    let flag = |value| if value { "1" } else { "0" };
    let pairs = [
        ("net_serverDedicated", "1"),
        ("fs_game_base", ""),
        ("fs_game", folder),
        ("sv_punkbuster", flag(decoy.punkbuster)),
        ("si_version", "Quake4  V1.4.2 win-x86 Jun 15 2007"),
        ("si_name", &decoy.name),
        ("si_map", decoy.map()),
        ("si_gameType", gametype),
        ("si_maxPlayers", &most),
        ("si_usepass", flag(decoy.password)),
        ("si_pure", flag(decoy.pure)),
        ("si_numPrivatePlayers", "0"),
        ("gamename", "Q4MP 1.4.2"),
    ];
    let players = decoy.players.iter().enumerate().map(|(slot, player)| quake4::Player {
        slot: u8::try_from(slot).unwrap_or(u8::MAX),
        ping: u16::try_from(player.ping).unwrap_or(999),
        rate: 25_000,
        name: player.name.as_str().into(),
        clan: WireText::EMPTY,
    });
    let mut whole = Vec::new();
    quake4::write_info_response(&mut whole, 0, pairs, players);
    match quake4::Packet::parse(&whole) {
        Ok(quake4::Packet::InfoResponse(response)) => response.body.to_vec(),
        _ => Vec::new(),
    }
}

fn quakeworld_settings(decoy: &Decoy) -> Vec<u8> {
    let folder = if decoy.r#mod.is_empty() { "qw" } else { &decoy.r#mod };
    info_text([
        ("maxspectators", "4".to_owned()),
        ("maxclients", decoy.max_clients.to_string()),
        ("timelimit", "20".to_owned()),
        ("fraglimit", "30".to_owned()),
        ("needpass", if decoy.password { "1".to_owned() } else { String::new() }),
        ("*version", "2.40".to_owned()),
        ("*gamedir", folder.to_owned()),
        ("hostname", decoy.name.clone()),
        ("map", decoy.map().to_owned()),
    ])
}

fn quakeworld_players(decoy: &Decoy) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, player) in (1..).zip(&decoy.players) {
        let player = quakeworld::Player {
            user_id: number,
            frags: Some(player.score),
            minutes: 5,
            ping: player.ping,
            name: player.name.as_str().into(),
            skin: "base".into(),
            colors: (4, 13),
            team: None,
        };
        player.write(&mut out);
    }
    out
}
