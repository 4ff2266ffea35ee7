//! Players as administrators: logins, levels, commands in chat, and the file of `sv_admins`.

use std::{cell::RefCell, ops::Range, rc::Rc, sync::Arc};

use fragd::{
    client::Protocol,
    model::{
        ConfigIndex, Millis, UnixMillis,
        assets::{
            AssetError, AssetLocation, Assets, GamePath, ListedPack, MemoryAssets, ScriptPlace,
        },
    },
    observe::Counter,
    server::Server,
    settings::Settings,
    sim::Actor,
};

use crate::{
    qagame::{ENGINES, server_set, small_game},
    sim_fixture::{OPEN, SimFixture},
};

const FILE: &str = r#"
[[level]]
name = "helper"
commands = ["kick", "mute", "unmute", "warn", "ban", "listplayers"]
max_time = "2h"

[[level]]
name = "owner"
commands = ["all"]

[[login]]
name = "anna"
level = "helper"
secret = "annas-secret"

[[login]]
name = "omar"
level = "owner"
secret = "pbkdf2-sha256:000102030405060708090a0b0c0d0e0f:HASH"
"#;
/// Hash of `omars-long-secret`.
const HASH: &str = "4297f83a2f57c296e3c437ae3c0868095db25fc7440f7ae2f294d148980fb637";

/// Game data with one private file, which its test changes.
#[derive(Clone)]
struct WithFile(Rc<RefCell<String>>, MemoryAssets);

impl Assets for WithFile {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        self.1.find(name)
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
        self.1.read(name, max)
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        self.1.list(folder, extension)
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        self.1.packs()
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        self.1.read_pack(pack, range)
    }

    fn offer(&self, _: &[usize]) {}

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        if name == "./admins.toml" {
            return Ok(self.0.borrow().clone().into_bytes());
        }
        self.1.read_script(name, max, place)
    }
}

/// A server whose file of administrators is the returned text.
fn fixture(set: &[(&str, &str)]) -> (SimFixture, Rc<RefCell<String>>) {
    let mut settings = Settings::default();
    for (name, value) in OPEN.iter().chain(&[("sv_admins", "admins.toml")]).chain(set) {
        settings.set(name, value).unwrap();
    }
    let file = Rc::new(RefCell::new(FILE.replace("HASH", HASH)));
    let server = Server::builder(settings, [7; 32])
        .started_at(Some(UnixMillis(1_700_000_000_000)))
        .assets(WithFile(Rc::clone(&file), MemoryAssets::default()))
        .build();
    (SimFixture::around(7, Actor::Server(Box::new(server))), file)
}

/// Players in the game, with these names.
fn joined(fixture: &mut SimFixture, names: &[&str]) -> Vec<usize> {
    let nodes = names.iter().map(|name| fixture.join(Protocol::OA_71, name)).collect();
    fixture.run_for(Millis(3000));
    nodes
}

/// Lets a player send a command. Returns the texts that it is sent.
fn ask(fixture: &mut SimFixture, node: usize, command: &str) -> String {
    fixture.player(node).heard.clear();
    let now = fixture.network.now();
    assert!(fixture.player(node).send_command(now, command));
    fixture.run_for(Millis(1000));
    fixture.player(node).heard.join("\n")
}

/// Runs a console line and returns what it prints.
fn run(fixture: &mut SimFixture, line: &str) -> String {
    while fixture.server_output().is_some() {}
    fixture.console(line);
    std::iter::from_fn(|| fixture.server_output()).collect()
}

#[test]
fn login_lasts_as_long_as_its_connection() {
    let (mut fixture, _) = fixture(&[]);
    let [admin, other] = joined(&mut fixture, &["^1Anna", "other"])[..] else { unreachable!() };
    assert!(ask(&mut fixture, admin, "whoami").contains("You are not logged in."));
    let answer = ask(&mut fixture, admin, "login omars-secret");
    assert!(answer.contains("Wrong secret. 4 tries left."), "{answer}");
    let answer = ask(&mut fixture, admin, "login annas-secret");
    assert!(answer.contains("You are anna, level helper."), "{answer}");
    assert!(answer.contains("!ban !kick ") && answer.contains("Longest ban and mute: 2h"));
    run(&mut fixture, "map_restart 0");
    fixture.run_for(Millis(2000));
    run(&mut fixture, "map fragd1");
    fixture.run_for(Millis(4000));
    assert!(ask(&mut fixture, admin, "whoami").contains("You are anna"));
    assert!(ask(&mut fixture, admin, "logout").contains("You are logged out."));
    assert!(ask(&mut fixture, admin, "whoami").contains("You are not logged in."));
    ask(&mut fixture, admin, "login omars-long-secret");
    assert!(ask(&mut fixture, admin, "whoami").contains("You are omar, level owner"));
    for node in [admin, other] {
        let heard = fixture.player(node).heard.join("\n");
        assert!(!heard.contains("secret"), "{heard}");
    }
    let now = fixture.network.now();
    fixture.player(admin).leave(now);
    fixture.run_for(Millis(5000));
    let [again] = joined(&mut fixture, &["^1Anna"])[..] else { unreachable!() };
    assert!(ask(&mut fixture, again, "whoami").contains("You are not logged in."));
    fixture.check_no_faults();
}

#[test]
fn address_is_refused_after_five_wrong_secrets() {
    let (mut fixture, _) = fixture(&[]);
    let [guesser] = joined(&mut fixture, &["guesser"])[..] else { unreachable!() };
    for left in (0..5).rev() {
        let answer = ask(&mut fixture, guesser, "login wrong-secret");
        let noun = if left == 1 { "try" } else { "tries" };
        assert!(answer.contains(&format!("Wrong secret. {left} {noun} left.")), "{answer}");
    }
    let answer = ask(&mut fixture, guesser, "login annas-secret");
    assert!(answer.contains("Too many tries. Wait 300 s."), "{answer}");
    fixture.run_for(Millis::seconds(300));
    assert!(ask(&mut fixture, guesser, "login annas-secret").contains("You are anna"));
}

#[test]
fn chat_command_kicks_and_is_not_broadcast() {
    let (mut fixture, _) = fixture(&[]);
    let nodes = joined(&mut fixture, &["anna", "two words", "other"]);
    let [admin, bad, other] = nodes[..] else { unreachable!() };
    let answer = ask(&mut fixture, admin, "say !kick two words too loud");
    assert!(answer.contains("!kick: log in first"), "{answer}");
    ask(&mut fixture, admin, "login annas-secret");
    let answer = ask(&mut fixture, admin, "say !help");
    assert!(answer.contains("!kick PLAYER [REASON]") && !answer.contains("!map"), "{answer}");
    let answer = ask(&mut fixture, admin, "say_team \"!map fragd1\"");
    assert!(answer.contains("!map is not a command of level helper"), "{answer}");
    let answer = ask(&mut fixture, admin, "say !kick nobody");
    assert!(answer.contains("Player nobody is not on the server (!listplayers"), "{answer}");
    assert!(ask(&mut fixture, admin, "say !listplayers").contains(" 1 two words"));
    ask(&mut fixture, admin, "say \"!kick two words too; loud\"");
    let reason = format!("{:?}", fixture.player(bad).disconnect_reason());
    assert!(reason.contains("was kicked: too"), "{reason}");
    let heard = |fixture: &mut SimFixture| fixture.player(other).heard.join("\n");
    assert!(!heard(&mut fixture).contains("!kick"), "{}", heard(&mut fixture));
    ask(&mut fixture, admin, "say !unknown thing");
    assert!(heard(&mut fixture).contains("!unknown thing"), "other texts are chat");
    for text in ["/login annas-secret", "!login annas-secret", "login annas-secret"] {
        let answer = ask(&mut fixture, admin, &format!("say {text}"));
        assert!(answer.contains("Not sent to other players."), "{answer}");
    }
    assert!(!heard(&mut fixture).contains("secret"), "{}", heard(&mut fixture));
    fixture.check_no_faults();
}

#[test]
fn level_limits_time_and_protects_from_lower_ones() {
    let (mut fixture, _) = fixture(&[]);
    let nodes = joined(&mut fixture, &["Anna", "Omar", "third", "fourth"]);
    let [anna, omar, _, fourth] = nodes[..] else { unreachable!() };
    ask(&mut fixture, anna, "login annas-secret");
    ask(&mut fixture, omar, "login omars-long-secret");
    let answer = ask(&mut fixture, anna, "say !mute omar");
    assert!(answer.contains("Omar^7 has a higher level"), "{answer}");
    assert!(!ask(&mut fixture, omar, "say free").contains("muted"));
    let answer = ask(&mut fixture, anna, "say !mute third 3h");
    assert!(answer.contains("!mute: longest time of your level: 2h"), "{answer}");
    let answer = ask(&mut fixture, anna, "say !mute third 30");
    assert!(answer.contains("invalid time: 30 "), "{answer}");
    let answer = ask(&mut fixture, anna, "say !mute third rude words");
    assert!(answer.contains("(id 1, 2 h left, by Anna (anna)): rude words"), "{answer}");
    let answer = ask(&mut fixture, anna, "say !unmute third");
    assert!(answer.contains("Deleting mute"), "{answer}");
    let answer = ask(&mut fixture, anna, "say !unmute third");
    assert!(answer.contains("client 2 is not muted"), "{answer}");
    let answer = ask(&mut fixture, omar, "say !ban fourth 1d bye");
    assert!(answer.contains("1 d left, by Omar (omar)): bye"), "{answer}");
    let reason = format!("{:?}", fixture.player(fourth).disconnect_reason());
    assert!(reason.contains("was banned. Reason: bye."), "{reason}");
    let list = run(&mut fixture, "listbans");
    assert!(list.contains("by Omar (omar)"), "{list}");
    let answer = ask(&mut fixture, omar, "say !unban 2");
    assert!(answer.contains("Deleting ban"), "{answer}");
}

#[test]
fn level_is_changed_behind_the_frame() {
    let (mut fixture, _) = fixture(&[]);
    let [omar, other] = joined(&mut fixture, &["Omar", "other"])[..] else { unreachable!() };
    ask(&mut fixture, omar, "login omars-long-secret");
    let before = fixture.server().configstring(ConfigIndex::SYSTEMINFO).to_owned();
    let answer = ask(&mut fixture, omar, "say !map_restart 0");
    assert!(answer.contains("map_restart 0: runs now"), "{answer}");
    let after = fixture.server().configstring(ConfigIndex::SYSTEMINFO);
    assert_ne!(before, after, "another server id");
    let answer = ask(&mut fixture, omar, "say \"!map x;quit\"");
    assert!(answer.contains("map not found: x;quit"), "{answer}");
    let answer = ask(&mut fixture, omar, "say !cancelvote");
    assert!(answer.contains("No vote in progress."), "{answer}");
    let answer = ask(&mut fixture, omar, "tell 1 \"/login omars-long-secret\"");
    assert!(answer.contains("Not sent to other players."), "{answer}");
    ask(&mut fixture, omar, "say !map fragd1");
    let audit = run(&mut fixture, "auditlog");
    assert!(audit.contains(r#""act":"map fragd1","address""#), "{audit}");
    assert!(audit.contains(r#""player":"Omar (omar)""#), "{audit}");
    assert!(!audit.contains(r#""who":"vote""#) && !audit.contains("omars-long-secret"), "{audit}");
    assert_eq!(audit.matches(r#""act":"map fragd1""#).count(), 1, "{audit}");
    assert!(fixture.player(other).is_active());
    fixture.check_no_faults();
}

#[test]
fn new_file_counts_at_once_and_fault_changes_nothing() {
    let (mut fixture, file) = fixture(&[]);
    let [anna, omar] = joined(&mut fixture, &["Anna", "Omar"])[..] else { unreachable!() };
    ask(&mut fixture, anna, "login annas-secret");
    ask(&mut fixture, omar, "login omars-long-secret");
    let good = file.borrow().clone();
    *file.borrow_mut() = good.replace("level = \"helper\"", "level = \"helpers\"");
    let text = run(&mut fixture, "rehashadmins");
    let fault = "Error: sv_admins: ./admins.toml:13: level: unknown level 'helpers' (expected one of: helper, \
                 owner); the old logins stay\n";
    assert_eq!(text, fault);
    assert!(ask(&mut fixture, anna, "whoami").contains("You are anna"));
    *file.borrow_mut() = good.replace("\"warn\", ", "").replace("annas-secret", "other-secret");
    assert_eq!(run(&mut fixture, "rehashadmins"), "2 levels and 2 logins read\n");
    fixture.run_for(Millis(500));
    let heard = fixture.player(anna).heard.join("\n");
    assert!(heard.contains("Your login has ended."), "{heard}");
    assert!(ask(&mut fixture, omar, "whoami").contains("You are omar"));
    let answer = ask(&mut fixture, anna, "login other-secret");
    assert!(answer.contains("You are anna") && !answer.contains("!warn"), "{answer}");
}

#[test]
fn warned_player_is_kicked_at_limit() {
    let (mut fixture, _) = fixture(&[("sv_warnLimit", "2")]);
    let [anna, bad] = joined(&mut fixture, &["Anna", "bad"])[..] else { unreachable!() };
    ask(&mut fixture, anna, "login annas-secret");
    let answer = ask(&mut fixture, anna, "say !warn bad no camping");
    assert!(answer.contains("warned 1 'bad' (1 of 2): no camping"), "{answer}");
    let heard = fixture.player(bad).heard.join("\n");
    assert!(heard.contains("cp \"^1Warning 1 of 2\n^7no camping\""), "{heard}");
    assert!(run(&mut fixture, "warn bad").starts_with("Usage: warn "));
    run(&mut fixture, "warn bad again \"quoted\"");
    fixture.run_for(Millis(500));
    let reason = format!("{:?}", fixture.player(bad).disconnect_reason());
    assert!(reason.contains("was kicked after 2 warnings: again quoted"), "{reason}");
}

#[test]
fn server_without_logins_keeps_secrets_and_chat() {
    let (mut fixture, file) = fixture(&[]);
    file.borrow_mut().clear();
    run(&mut fixture, "rehashadmins");
    let [one, other] = joined(&mut fixture, &["one", "other"])[..] else { unreachable!() };
    let answer = ask(&mut fixture, one, "login annas-secret");
    assert!(answer.contains("This server has no logins."), "{answer}");
    ask(&mut fixture, one, "say !kick other");
    let heard = fixture.player(other).heard.join("\n");
    assert!(heard.contains("!kick other") && !heard.contains("secret"), "{heard}");
}

#[test]
fn module_is_not_sent_commands_of_administrators() {
    for engine in ENGINES {
        let file = Rc::new(RefCell::new(FILE.replace("HASH", HASH)));
        let data = WithFile(file, small_game());
        let server = server_set(engine, data, &[("sv_admins", "admins.toml")]);
        let mut fixture = SimFixture::around(7, Actor::Server(Box::new(server)));
        let [anna] = joined(&mut fixture, &["anna"])[..] else { unreachable!() };
        assert!(ask(&mut fixture, anna, "login annas-secret").contains("You are anna"));
        let answer = ask(&mut fixture, anna, "say !listplayers");
        assert!(answer.contains(" 0 anna^7 (anna)"), "{answer}");
        assert_eq!(fixture.server().counters().get(Counter::GameFaults), 0);
        ask(&mut fixture, anna, "logins");
        assert_eq!(fixture.server().counters().get(Counter::GameFaults), 1, "others reach it");
    }
}
