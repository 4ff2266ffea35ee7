//! Console of a master: lists, drain, completion.

use super::{CLIENT, Net, Q3};
use crate::{
    model::Millis,
    node::{Completion, Hosted as _, Input, Node as _, OutputKind, take_text},
};

impl Net {
    fn console(&mut self, line: &str) -> String {
        self.master.handle_input(Millis(self.now), Input::ConsoleLine(line));
        take_text(&mut self.master, OutputKind::Console)
    }
}

#[test]
fn console_lists_servers_and_commands() {
    let mut net = Net::new(|_| {});
    assert_eq!(net.console("servers"), "no servers\n");
    let info = format!("\\gamename\\Quake3Arena{Q3}");
    assert!(net.register("203.0.113.4:27960", "QuakeArena-1", &info));
    let listed = net.console("servers Q3DM");
    assert!(listed.starts_with("203.0.113.4:27960") && listed.contains("2/8"), "{listed}");
    assert_eq!(net.console("servers q3dm1x"), "no servers\n");
    let status = net.console("status");
    assert!(status.contains("1 of 4096 servers (Quake III family 1, Quake 4 0"), "{status}");
    let unknown = net.console("map \x1b[2J");
    assert!(unknown.starts_with("unknown command: map\n") && unknown.contains("servers [TEXT]"));
    let completion = Completion { start: 0, words: vec!["servers".to_owned()] };
    assert_eq!(net.master.complete("se"), completion);
    for _ in 0..10_000 {
        net.master.handle_input(Millis(net.now), Input::ConsoleLine("help"));
    }
    assert!(take_text(&mut net.master, OutputKind::Console).len() <= 1 << 20, "bounded");
    net.console("quit");
    assert!(net.master.is_finished());
}

#[test]
fn drain_is_told_to_monitors_and_ends() {
    let mut net = Net::new(|_| {});
    assert!(net.master.state().obstacles.is_empty());
    for line in ["drain -1", "drain x", "drain 86401"] {
        assert!(net.console(line).contains("expected seconds from 0 to 86400"), "{line}");
    }
    assert_eq!(net.console("drain 30"), "draining: stops in 30 s\n");
    let state = net.master.state();
    assert_eq!((state.obstacles, state.is_draining), (vec!["draining"], true));
    net.pass(28_000);
    assert!(!net.master.is_finished() && net.beat("203.0.113.4:27960", "QuakeArena-1").is_some());
    net.console("drain off");
    assert!(net.master.state().obstacles.is_empty());
    net.console("drain 2");
    net.pass(4000);
    assert!(net.master.is_finished());
    let mut net = Net::new(|_| {});
    assert!(net.ask(CLIENT, "getservers 68 empty full").is_some());
    net.console("drain");
    assert!(net.master.is_finished(), "nothing to wait for");
}
