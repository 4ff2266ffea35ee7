//! Client on a scripted pure server: the command `cp`, its order, refusals, hostile lists.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use fragd::{
    client::{Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, Protocol},
    model::{
        CommandArgs, Millis, Qport, UserCmd,
        assets::{Assets as _, MemoryAssets},
        installed_packs::InstalledPacks,
    },
    wire::info::InfoString,
};

use crate::{
    pure_bots::packs,
    scripted_server::{Level, Peer, ScriptedServer, World},
};

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 27_960).into()
}

/// Archives of the server; the client has `modules`.
fn assets() -> MemoryAssets {
    let mut assets = MemoryAssets::default();
    assets.insert_pack("baseoa", "modules", b"1", &[("vm/cgame.qvm", b"c")]).unwrap();
    assets.insert_pack("baseoa", "map", b"2", &[("maps/m.bsp", b"m")]).unwrap();
    assets
}

/// A level of a pure server with these lists.
fn pure_level(id: i32, paks: &str, names: &str) -> Level {
    let mut level = Level::with_id(id);
    level.configstrings[1].1 += &format!("\\sv_pure\\1\\sv_paks\\{paks}\\sv_pakNames\\{names}");
    level
}

/// A level that lists the server's archives.
fn level(id: i32) -> Level {
    let sums = assets()
        .packs()
        .iter()
        .map(|pack| format!("{} ", pack.info.checksum()))
        .collect::<String>();
    pure_level(id, &sums, "modules map")
}

struct Pair {
    client: Client,
    server: ScriptedServer,
    now: Millis,
    events: Vec<ClientEvent>,
}

impl Pair {
    /// A client with a connection and without a level.
    fn connected(packs: Option<Arc<dyn InstalledPacks>>) -> Self {
        let now = Millis(5000);
        let options = ClientOptions {
            packs,
            ..ClientOptions::new(
                server_address(),
                Protocol::Q3_68,
                InfoString::normal(),
                Qport(1),
                9,
            )
        };
        let client = Client::new(options, now).unwrap();
        let mut pair =
            Self { client, server: ScriptedServer::new(Protocol::Q3_68), now, events: Vec::new() };
        pair.pass(5);
        pair.events.clear();
        pair
    }

    fn with_modules() -> Self {
        Self::connected(Some(packs(&assets(), &["modules"])))
    }

    fn peer(&mut self) -> &mut Peer {
        self.server.peers.get_mut(&0).unwrap()
    }

    fn deliver(&mut self, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.client.handle_datagram(self.now, server_address(), datagram);
        }
        self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
    }

    fn pass(&mut self, ms: u64) {
        let mut packet = Vec::new();
        for _ in 0..ms {
            self.now += Millis(1);
            self.client.frame(self.now);
            while self.client.poll_transmit(&mut packet).is_some() {
                let replies = self.server.handle(0, &packet);
                self.deliver(&replies);
            }
        }
    }

    fn level(&mut self, level: &Level) {
        let datagrams = self.peer().gamestate(level);
        self.deliver(&datagrams);
    }

    fn show(&mut self, time: i32) {
        let datagrams = self.peer().next_snapshot(&World::at(time, &[]));
        self.deliver(&datagrams);
    }

    fn proofs(&mut self) -> Vec<String> {
        self.peer().heard.iter().filter(|text| text.starts_with("cp ")).cloned().collect()
    }
}

/// The proof of the only installed archive.
fn proof(level: &Level, id: i32) -> String {
    let (feed, sum) =
        (level.checksum_feed, assets().packs()[0].info.pure_checksum(level.checksum_feed));
    format!("cp {id} {sum} {sum} @ {sum} {} ", feed ^ sum ^ 1)
}

#[test]
fn proof_precedes_the_usercmd_that_enters() {
    let mut pair = Pair::with_modules();
    for id in [10, 11] {
        let level = level(id);
        pair.level(&level);
        pair.client.push_usercmd(UserCmd::default());
        pair.pass(1);
        assert_eq!(pair.peer().heard.last(), Some(&proof(&level, id)));
        assert_eq!(pair.peer().moves.len(), 1, "in the same packet");
        pair.show(1000);
        assert_eq!(pair.client.state(), ConnectionState::Active);
    }
    assert_eq!(pair.proofs().len(), 2);
    // A restart keeps the feed of the level.
    let datagrams = {
        let peer = pair.peer();
        peer.commands.add("map_restart".into()).unwrap();
        peer.next_snapshot(&World::at(1050, &[]))
    };
    pair.deliver(&datagrams);
    pair.pass(100);
    assert_eq!(pair.proofs().len(), 2);
}

#[test]
fn other_servers_get_no_proof() {
    let mut pair = Pair::with_modules();
    let mut level = level(10);
    level.configstrings[1].1 = level.configstrings[1].1.replace("sv_pure\\1", "sv_pure\\0");
    pair.level(&level);
    pair.pass(50);
    assert_eq!(pair.proofs(), [""; 0]);
    assert_eq!(pair.client.state(), ConnectionState::Primed);
}

#[test]
fn snapshot_before_the_check_is_no_entry() {
    let mut pair = Pair::with_modules();
    pair.level(&level(10));
    // A server that rejects the proof sends one more snapshot, which acknowledges the commands before it.
    pair.show(1000);
    assert_eq!(pair.client.state(), ConnectionState::Primed);
    assert!(!pair.events.contains(&ClientEvent::Entered));
    let said = "disconnect \"Unpure client detected. Invalid .PK3 files referenced!\"";
    pair.peer().commands.add(said.into()).unwrap();
    pair.show(1050);
    // The map is not part of the proof.
    let expected = "Unpure client detected. Invalid .PK3 files referenced!";
    assert_eq!(
        pair.events.last(),
        Some(&ClientEvent::Disconnected(DisconnectReason::Unpure(expected.to_owned())))
    );
    assert!(!pair.events.contains(&ClientEvent::Entered));
}

#[test]
fn missing_archives_in_front_of_modules_are_named() {
    let own = assets().packs()[0].info.checksum();
    let refusal = |paks: &str, names: &str| {
        let mut pair = Pair::with_modules();
        pair.level(&pure_level(10, paks, names));
        let said = "disconnect \"Unpure client detected.\"";
        pair.peer().commands.add(said.into()).unwrap();
        pair.show(1000);
        pair.client.disconnect_reason().unwrap().to_string()
    };
    assert_eq!(
        refusal(&format!("77 {own} 78"), "newer modules map"),
        "Unpure client detected. (not installed here: newer.pk3; searched memory)"
    );
    assert_eq!(
        refusal(&format!("77 79 {own} 78"), "newer other modules map"),
        "Unpure client detected. (not installed here: newer.pk3, other.pk3, of which only those with vm/cgame.qvm and \
         vm/ui.qvm are needed; searched memory)"
    );
}

#[test]
fn other_disconnects_of_pure_servers_keep_their_reason() {
    let mut pair = Pair::with_modules();
    pair.level(&level(10));
    pair.peer().commands.add("disconnect \"was kicked\"".into()).unwrap();
    pair.show(1000);
    let reason = DisconnectReason::ServerSaid("was kicked".to_owned());
    assert_eq!(pair.client.disconnect_reason(), Some(&reason));
}

#[test]
fn repeated_gamestates_do_not_overflow_commands() {
    let mut pair = Pair::with_modules();
    for _ in 0..200 {
        pair.level(&level(10));
    }
    assert_eq!(pair.client.unacknowledged_commands(), 1, "the server has yet to receive it");
    pair.pass(50);
    // The server has taken it before this gamestate, which forgets it.
    pair.level(&level(10));
    pair.pass(50);
    assert_eq!(pair.proofs().len(), 2);
    // A new level each time: the connection ends instead of growing.
    for id in 11..90 {
        pair.level(&level(id));
    }
    assert_eq!(pair.client.disconnect_reason(), Some(&DisconnectReason::CommandOverflow));
}

#[test]
fn client_without_table_reports_pure_server() {
    let mut pair = Pair::connected(None);
    pair.level(&level(10));
    assert_eq!(pair.events, [ClientEvent::ProofRequired, ClientEvent::Gamestate]);
    pair.pass(50);
    assert_eq!((pair.proofs().len(), pair.client.state()), (0, ConnectionState::Primed));
}

#[test]
fn hostile_lists_cost_bounded_work() {
    // Both lists together fill the longest systeminfo.
    let many = |word: &str| format!("{word} ").repeat(4_000 / (word.len() + 1));
    let own = assets().packs()[0].info.checksum();
    for (paks, names, proves) in [
        ("1 ".repeat(4_000), String::new(), false),
        (many("1"), many("a"), false),
        (format!("{} {own}", "7 ".repeat(3_700)), String::new(), true),
        (format!("{own} ").repeat(600), "x".repeat(900), true),
        ("99999999999999 -99999999999999 x 0x5 - + \u{e4}".to_owned(), many("b"), false),
        (String::new(), many("../../../etc/passwd"), true),
        (" ".repeat(7_000), "%n%s%n".to_owned(), true),
        ("1 2 3".to_owned(), "n".repeat(7_000), false),
    ] {
        let mut pair = Pair::with_modules();
        let began = Instant::now();
        pair.level(&pure_level(10, &paks, &names));
        assert!(began.elapsed().as_millis() < 500);
        pair.pass(5);
        let shown = &paks[..paks.len().min(40)];
        assert_eq!(pair.proofs().len(), usize::from(proves), "{shown}");
        match pair.client.disconnect_reason() {
            None => assert!(proves, "{shown}"),
            Some(DisconnectReason::Unpure(reason)) => {
                assert!(!proves && reason.len() < 400, "{shown}: {reason}");
            }
            other => panic!("{shown}: {other:?}"),
        }
        for text in pair.proofs() {
            assert!(CommandArgs::parse(&text).len() >= 6, "{text}");
        }
    }
}
