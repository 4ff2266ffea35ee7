//! Boundary between server and game: faults, and the services that hosted games need.
//!
//! The game is free flight with a script: a test sets what it does at an entry.

use std::{cell::RefCell, rc::Rc};

use fragd::{
    client::Protocol,
    cvar::Flags,
    game::{
        ConnectError, ConsoleTiming, EntityView, Flight, Game, GameFault, Host, LevelStart, Ruleset,
    },
    model::{
        ClientNum, CommandArgs, EntityNum, LevelTime, Millis, PlayerState, UserCmd,
        assets::MemoryAssets,
    },
    observe::Counter,
    server::Server,
    settings::Settings,
    sim::Actor,
    world::MapEntities,
};

use crate::sim_fixture::SimFixture;

/// Entry of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Init,
    Connect,
    Begin,
    Bots,
    Userinfo,
    Disconnect,
    Command,
    Think,
    Frame,
    Console,
    Shutdown,
}

type Action = Box<dyn FnMut(&mut dyn Host)>;

/// Script of a game, in addition to free flight. All games of a server share it.
#[derive(Default)]
struct Script {
    /// Entry that faults once.
    fault_at: Option<Entry>,
    /// Whether every first frame of a level faults.
    faults_always: bool,
    games: usize,
    entries: Vec<Entry>,
    /// Client that the next frame drops, with the nested disconnect entry.
    drops: Option<ClientNum>,
    /// Runs once, at the next frame.
    action: Option<Action>,
}

struct Scripted {
    inner: Flight,
    script: Rc<RefCell<Script>>,
    has_faulted: bool,
}

impl Scripted {
    fn enter(&mut self, entry: Entry) -> Result<(), GameFault> {
        assert!(!self.has_faulted, "{entry:?} called after a fault");
        let mut script = self.script.borrow_mut();
        script.entries.push(entry);
        if script.faults_always || script.fault_at == Some(entry) {
            script.fault_at = None;
            self.has_faulted = true;
            let details = vec!["at G_Test".to_owned(), "called by\nvmMain".to_owned()];
            return Err(GameFault { summary: format!("scripted fault in {entry:?}"), details });
        }
        Ok(())
    }
}

impl Game for Scripted {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault> {
        self.enter(Entry::Init)?;
        self.inner.init(host, start)
    }
    fn shutdown(&mut self, host: &mut dyn Host, restart: bool) -> Result<(), GameFault> {
        self.enter(Entry::Shutdown)?;
        self.inner.shutdown(host, restart)
    }
    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), ConnectError> {
        self.enter(Entry::Connect)?;
        self.inner.client_connect(host, client, first_time, is_bot)
    }
    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault> {
        self.enter(Entry::Begin)?;
        self.inner.client_begin(host, client)
    }
    fn client_userinfo_changed(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.enter(Entry::Userinfo)?;
        self.inner.client_userinfo_changed(host, client)
    }
    fn client_disconnect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.enter(Entry::Disconnect)?;
        self.inner.client_disconnect(host, client)
    }
    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault> {
        self.enter(Entry::Command)?;
        self.inner.client_command(host, client, words)
    }
    fn client_think(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
    ) -> Result<(), GameFault> {
        self.enter(Entry::Think)?;
        self.inner.client_think(host, client, command)
    }
    fn run_bot_frame(&mut self, _host: &mut dyn Host, _time: LevelTime) -> Result<(), GameFault> {
        self.enter(Entry::Bots)
    }
    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        self.enter(Entry::Frame)?;
        if let Some(client) = self.script.borrow_mut().drops.take() {
            let mut nested = 0;
            host.drop_client_now(client, "was dropped", &mut |host| {
                nested += 1;
                host.drop_client_now(client, "again", &mut |_| panic!("dropped twice"));
                self.inner.client_disconnect(host, client).expect("no fault");
            });
            assert_eq!(nested, 1);
            host.drop_client_now(client, "again", &mut |_| panic!("dropped twice"));
        }
        let action = self.script.borrow_mut().action.take();
        if let Some(mut action) = action {
            action(host);
        }
        self.inner.run_frame(host, time)
    }
    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        self.enter(Entry::Console)?;
        self.inner.console_command(host, words)
    }
    fn entity_count(&self) -> usize {
        self.inner.entity_count()
    }
    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        self.inner.entity(number)
    }
    fn player(&self, client: ClientNum) -> &PlayerState {
        self.inner.player(client)
    }
    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        self.inner.set_ping(client, ping_ms);
    }
    fn score(&self, client: ClientNum) -> i32 {
        self.inner.score(client)
    }
    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        self.inner.has_spawn_point(entities)
    }
    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        self.inner.show_restart_countdown(host, at)
    }
}

struct Boundary {
    sim: SimFixture,
    script: Rc<RefCell<Script>>,
}

impl Boundary {
    fn new(set: &[(&str, &str)]) -> Self {
        let script = Rc::new(RefCell::new(Script::default()));
        let shared = Rc::clone(&script);
        let rules = Box::new(move |_| -> Box<dyn Game> {
            shared.borrow_mut().games += 1;
            let script = Rc::clone(&shared);
            Box::new(Scripted { inner: Flight::new(Ruleset::BASEOA), script, has_faulted: false })
        });
        let mut settings = Settings::default();
        for (name, value) in [("sv_maxclientsPerIP", "0")].iter().chain(set) {
            settings.set(name, value).expect("a setting");
        }
        settings.start().expect("a valid combination");
        let fallback = Box::new(|_| -> Box<dyn Game> { Box::new(Flight::new(Ruleset::BASEOA)) });
        let server = Server::new(settings, Box::new(MemoryAssets::default()), rules, [9; 32])
            .with_fallback_rules(fallback);
        Self { sim: SimFixture::around(7, Actor::Server(Box::new(server))), script }
    }

    /// Players that have entered the level.
    fn with_players(set: &[(&str, &str)], count: usize) -> Self {
        let mut fixture = Self::new(set);
        for number in 0..count {
            fixture.sim.join(Protocol::OA_71, &format!("p{number}"));
        }
        fixture.run_ms(3000);
        assert_eq!(fixture.sim.server().active_clients(), count);
        fixture
    }

    fn run_ms(&mut self, ms: u64) {
        self.sim.run_for(Millis(ms));
    }

    fn send(&mut self, command: &str) {
        let now = self.sim.network.now();
        assert!(self.sim.player(1).send_command(now, command));
    }

    fn fault_at(&mut self, entry: Entry) {
        self.script.borrow_mut().fault_at = Some(entry);
    }

    fn faults(&self) -> u64 {
        self.sim.server().counters().get(Counter::GameFaults)
    }

    fn dropped(&self) -> u64 {
        self.sim.server().counters().get(Counter::ClientsDropped)
    }
}

#[test]
fn fault_at_any_entry_keeps_connections() {
    for entry in [
        Entry::Init,
        Entry::Begin,
        Entry::Userinfo,
        Entry::Command,
        Entry::Think,
        Entry::Bots,
        Entry::Frame,
        Entry::Console,
        Entry::Shutdown,
        Entry::Connect,
    ] {
        let mut fixture = Boundary::with_players(&[], 3);
        let games = fixture.script.borrow().games;
        fixture.fault_at(entry);
        match entry {
            Entry::Console => fixture.sim.console("unknown_word"),
            Entry::Init | Entry::Shutdown | Entry::Connect | Entry::Begin => {
                fixture.sim.console("map_restart 0");
            }
            Entry::Userinfo => {
                let now = fixture.sim.network.now();
                assert!(fixture.sim.player(1).change_userinfo(now, "name", "other"));
            }
            Entry::Command => fixture.send("score"),
            Entry::Think | Entry::Bots | Entry::Frame | Entry::Disconnect => {}
        }
        fixture.run_ms(4000);
        assert_eq!(fixture.script.borrow().fault_at, None, "{entry:?} was called");
        assert_eq!(fixture.faults(), 1, "{entry:?}");
        assert_eq!(fixture.script.borrow().games, games + 1, "{entry:?}");
        assert_eq!(fixture.dropped(), 0, "{entry:?}");
        assert_eq!(fixture.sim.server().active_clients(), 3, "{entry:?}");
        fixture.sim.check_no_faults();
    }
}

#[test]
fn fault_at_disconnect_frees_the_slot() {
    let mut fixture = Boundary::with_players(&[], 3);
    fixture.fault_at(Entry::Disconnect);
    fixture.sim.console("clientkick 1");
    fixture.run_ms(4000);
    assert_eq!((fixture.faults(), fixture.dropped()), (1, 1));
    assert_eq!(fixture.sim.server().active_clients(), 2);
}

#[test]
fn repeated_faults_restart_three_levels_a_minute() {
    let mut fixture = Boundary::with_players(&[], 2);
    fixture.script.borrow_mut().faults_always = true;
    fixture.run_ms(30_000);
    assert_eq!(fixture.faults(), 4);
    assert_eq!(fixture.dropped(), 0);
    fixture.script.borrow_mut().faults_always = false;
    fixture.run_ms(35_000);
    assert_eq!(fixture.faults(), 4);
    assert_eq!(fixture.sim.server().active_clients(), 2);
    assert_eq!(fixture.dropped(), 0);
    fixture.sim.check_no_faults();
}

#[test]
fn operator_restarts_a_level_that_a_fault_ended() {
    for line in ["map_restart", "map oa_dm1"] {
        let mut fixture = Boundary::with_players(&[], 1);
        fixture.script.borrow_mut().faults_always = true;
        fixture.run_ms(1000);
        fixture.script.borrow_mut().faults_always = false;
        fixture.sim.console(line);
        fixture.run_ms(3000);
        assert_eq!(fixture.sim.server().active_clients(), 1, "{line}");
    }
}

#[test]
fn repeated_faults_select_fallback_rules_until_next_map() {
    let mut fixture = Boundary::with_players(&[("sv_gameFault", "native")], 2);
    fixture.script.borrow_mut().faults_always = true;
    fixture.run_ms(30_000);
    let games = fixture.script.borrow().games;
    assert_eq!((fixture.faults(), fixture.dropped(), games), (4, 0, 4));
    assert_eq!(fixture.sim.server().active_clients(), 2, "players of the fallback rules");
    fixture.script.borrow_mut().faults_always = false;
    fixture.sim.console("map_restart 0");
    fixture.run_ms(3000);
    assert_eq!(fixture.script.borrow().games, 4, "a restart keeps the fallback rules");
    fixture.sim.console("map oa_dm1");
    fixture.run_ms(3000);
    assert_eq!(fixture.script.borrow().games, 5, "another map begins with the chosen rules");
    assert_eq!((fixture.sim.server().active_clients(), fixture.dropped()), (2, 0));
    fixture.sim.check_no_faults();
}

#[test]
fn fault_stops_the_server_if_selected() {
    let mut fixture = Boundary::with_players(&[("sv_gameFault", "stop")], 1);
    fixture.fault_at(Entry::Frame);
    fixture.run_ms(500);
    assert!(fragd::node::Node::is_finished(fixture.sim.server()));
    assert_eq!(fixture.script.borrow().entries.last(), Some(&Entry::Frame));
}

type Seen<T> = Rc<RefCell<Vec<T>>>;

impl Boundary {
    /// Runs `action` at the next frame of the game.
    fn at_frame(&mut self, action: impl FnMut(&mut dyn Host) + 'static) {
        self.script.borrow_mut().action = Some(Box::new(action));
        // An empty server runs the frames of half a second at a time.
        self.run_ms(550);
        assert!(self.script.borrow().action.is_none(), "a frame has run");
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.sim.server().settings().get(name)
    }
}

#[test]
fn game_reads_the_injected_clock() {
    let mut fixture = Boundary::new(&[]);
    let seen: Seen<_> = Rc::default();
    for _ in 0..2 {
        let seen = Rc::clone(&seen);
        fixture.at_frame(move |host| {
            seen.borrow_mut().push((host.clock(), host.calendar_time()));
        });
        fixture.run_ms(940);
    }
    let seen = seen.borrow();
    let [(first, calendar), (second, _)] = seen[..] else { panic!("{seen:?}") };
    assert!((900..2000).contains(&second.since(first).0), "{first} {second}");
    assert_eq!(calendar, None, "this server was started without calendar time");
}

#[test]
fn console_lines_run_now_inserted_and_appended() {
    let mut fixture = Boundary::new(&[]);
    let now: Seen<String> = Rc::default();
    let seen = Rc::clone(&now);
    fixture.at_frame(move |host| {
        host.run_console(ConsoleTiming::Append, "set last append");
        host.run_console(ConsoleTiming::Insert, "set last insert; set first insert");
        host.run_console(
            ConsoleTiming::Now,
            "set at_once 1; g_inactivity 77; say later; set behind_command 1",
        );
        for name in ["at_once", "g_inactivity", "behind_command", "last"] {
            seen.borrow_mut().push(host.setting(name).to_owned());
        }
    });
    assert_eq!(*now.borrow(), ["1", "77", "", ""]);
    for (name, value) in [("behind_command", "1"), ("last", "append"), ("first", "insert")] {
        assert_eq!(fixture.setting(name), Some(value), "{name}");
    }
}

#[test]
fn votes_of_the_rules_are_acts() {
    let mut fixture = Boundary::new(&[]);
    fixture.at_frame(|host| {
        host.run_console(ConsoleTiming::Append, "timelimit 33");
        host.run_console(ConsoleTiming::Append, "map_restart 0");
    });
    fixture.run_ms(200);
    fixture.sim.console("auditlog");
    let shown: String = std::iter::from_fn(|| fixture.sim.server_output()).collect();
    assert!(
        shown.contains("\"act\":\"timelimit 33\"") && shown.contains("\"who\":\"vote\""),
        "{shown}"
    );
    assert!(!shown.contains("map_restart"), "{shown}");
}

#[test]
fn game_registers_settings_with_flags_and_counts() {
    let mut fixture = Boundary::new(&[]);
    let counts: Seen<u32> = Rc::default();
    fixture.at_frame(|host| {
        host.register_setting("g_modVersion", "1.0", Flags::SERVERINFO.and(Flags::READ_ONLY));
        host.register_setting("g_modKind", "1", Flags::LATCHED);
        host.register_setting("bad name", "1", Flags::PLAIN);
    });
    for line in ["set g_modVersion 2", "set g_modKind 2"] {
        fixture.sim.console(line);
    }
    let seen = Rc::clone(&counts);
    fixture.at_frame(move |host| {
        assert!(host.serverinfo().contains("\\g_modVersion\\1.0"));
        assert_eq!(host.setting("g_modKind"), "1");
        for name in ["g_modVersion", "g_modKind", "no_such"] {
            seen.borrow_mut().push(host.setting_changes(name));
        }
    });
    assert_eq!(*counts.borrow(), [1, 1, 0]);
    fixture.sim.console("map oa_dm1");
    assert_eq!(fixture.setting("g_modKind"), Some("2"));
}

#[test]
fn nested_drop_calls_no_second_disconnect() {
    let mut fixture = Boundary::with_players(&[], 3);
    fixture.script.borrow_mut().entries.clear();
    fixture.script.borrow_mut().drops = ClientNum::new(1);
    fixture.run_ms(1000);
    assert!(!fixture.script.borrow().entries.contains(&Entry::Disconnect));
    assert_eq!((fixture.dropped(), fixture.faults()), (1, 0));
    assert_eq!(fixture.sim.server().active_clients(), 2);
    let reason = fixture.sim.player(2).disconnect_reason().map(ToString::to_string);
    assert!(reason.is_some_and(|reason| reason.contains("was dropped")));
    fixture.run_ms(5000);
    fixture.sim.check_no_faults();
}

#[test]
fn bots_think_before_each_frame() {
    let mut fixture = Boundary::new(&[]);
    fixture.run_ms(1000);
    fixture.script.borrow_mut().entries.clear();
    fixture.run_ms(5000);
    let script = fixture.script.borrow();
    let count = |wanted| script.entries.iter().filter(|&&entry| entry == wanted).count();
    assert!(count(Entry::Bots) > 3 && count(Entry::Frame) >= count(Entry::Bots));
    assert_eq!(script.entries.first(), Some(&Entry::Bots));
}
