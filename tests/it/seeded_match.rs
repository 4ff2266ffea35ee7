//! Whole matches of bots in virtual time: fights, exit rules, and identical repetition.

use fragd::{model::Millis, server::check_newest_frame};

use crate::{
    bot_match::BotMatch,
    installed_maps,
    sample_maps::{TestMap, YARD},
};

const BOTS: u16 = 8;

/// The map to fight on, and a yard of our own where no data is installed.
fn sim() -> (&'static str, Vec<u8>) {
    match installed_maps::read("maps/oa_dm1.bsp") {
        Some(file) => ("oa_dm1", file),
        None => ("yard", TestMap::test_yard(YARD).file()),
    }
}

/// A match until its end, which comes within eleven minutes.
fn play(seed: u64, set: &[(&str, &str)]) -> BotMatch {
    let (map, file) = sim();
    let mut fighters = BotMatch::on((map, &file), BOTS, seed, set);
    for _ in 0..66 {
        fighters.run_for(Millis::seconds(10));
        if fighters.log().contains("Exit: ") {
            return fighters;
        }
    }
    panic!("no end: {}", fighters.log());
}

/// Lines of the log that say this.
fn lines<'a>(log: &'a str, what: &'a str) -> impl Iterator<Item = &'a str> {
    log.lines().filter(move |line| line.contains(what))
}

/// Attacker and victim of an obituary line.
fn parties(line: &str) -> [usize; 2] {
    let numbers = line.split_once("Kill: ").map_or("", |(_, numbers)| numbers);
    let mut numbers = numbers.split(' ').map(|number| number.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

#[test]
fn seeded_match_ends_by_fraglimit_and_repeats() {
    let [once, again] = [(); 2].map(|()| play(5, &[("fraglimit", "20")]));
    let log = once.log();
    assert_eq!(lines(log, "Exit: Fraglimit hit.").count(), 1, "{log}");
    let best = lines(log, "score: ").next().unwrap_or_default();
    assert!(best.contains("score: 20  ping: "), "{best}");
    assert_eq!(once.network.sent(), again.network.sent());
    assert_eq!(log, again.log());
    assert_eq!(once.digest(), again.digest());
    let other = play(6, &[("fraglimit", "20")]);
    assert_ne!(once.digest(), other.digest(), "the seed makes a difference");
}

#[test]
fn bots_fight_for_ten_minutes() {
    let fighters = play(8, &[("fraglimit", "0"), ("timelimit", "10")]);
    let log = fighters.log();
    assert_eq!(lines(log, "Exit: Timelimit hit.").count(), 1, "{log}");
    assert_eq!(fighters.server().active_clients(), usize::from(BOTS), "nobody was dropped");
    let kills: Vec<_> = lines(log, "Kill: ").map(parties).collect();
    // One kill in four seconds: no bot idles for long.
    assert!(kills.len() > 150, "{} kills", kills.len());
    for client in 0..usize::from(BOTS) {
        let frags = kills.iter().filter(|[by, of]| *by == client && *of != client).count();
        let deaths = kills.iter().filter(|[_, of]| *of == client).count();
        assert!(frags >= 10 && deaths >= 10, "client {client}: {frags} frags, {deaths} deaths");
    }
    let mut means: Vec<_> =
        lines(log, "Kill: ").filter_map(|line| line.rsplit_once(' ')).map(|(_, by)| by).collect();
    means.sort_unstable();
    means.dedup();
    assert!(means.len() >= 5, "{means:?}");
}

#[test]
fn every_frame_has_all_entities_of_the_game() {
    // With items that are taken and dropped, with doors and flags.
    let maps =
        ["oa_dm1", "oa_ctf2"].map(|map| (map, installed_maps::read(&format!("maps/{map}.bsp"))));
    let known = maps.into_iter().filter_map(|(map, file)| Some((map, file?)));
    for (map, file) in known.chain([("yard", TestMap::test_yard(YARD).file())]) {
        let game = if map == "oa_ctf2" { "4" } else { "0" };
        let set = [("fraglimit", "10"), ("g_gametype", game)];
        let mut fighters = BotMatch::on((map, &file), BOTS, 9, &set);
        fighters.run_for(Millis::seconds(1));
        for frame in 0..3000 {
            fighters.next_frame(|run| run());
            let checked = check_newest_frame(fighters.server());
            assert_eq!(checked, Ok(()), "{map}, frame {frame}");
        }
        assert!(lines(fighters.log(), "Kill: ").count() > 5, "{map}");
    }
}

#[test]
fn full_server_of_bots_has_no_idle_bot() {
    // Seven places to appear at, and lava in the middle.
    let Some(file) = installed_maps::read("maps/oa_dm4.bsp") else { return };
    let mut fighters = BotMatch::on(("oa_dm4", &file), 64, 1, &[("fraglimit", "0")]);
    fighters.run_for(Millis::seconds(40));
    let summary = fighters.bots().summary();
    assert_eq!(summary.total.active, 64);
    assert!(summary.total.walked_per_second > 120.0, "{}", summary.total.walked_per_second);
    // The dead wait for two seconds, and some die again as soon as they are back.
    for bot in &summary.each {
        assert!(bot.walked_per_second > 50.0 && bot.longest_halt_ms < 15_000, "{bot:?}");
    }
    let shot = lines(fighters.log(), "MOD_MACHINEGUN").count();
    assert!(shot > 80, "{shot} were shot");
}
