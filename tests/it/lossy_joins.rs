//! Join times over a network that loses datagrams.
//!
//! A client resends challenge requests and connects every three seconds, and packets without a
//! gamestate once a second. The server resends the gamestate when such a packet shows that it was lost.
//! A gamestate is several datagrams and counts whole: at a loss of one in twenty, one gamestate in four
//! is lost. Source: Quake III protocol 68, the lifecycle of a connection.

use fragd::{bots::Summary, impairment::Impairment, model::Millis};

use crate::{
    bot_match::BotMatch,
    installed_maps,
    sample_maps::{TestMap, YARD},
};

const BOTS: u16 = 32;

/// Join times of bots over a network with a loss in thousandths.
fn joined(seed: u64, loss: u32) -> Summary {
    let (map, file) = match installed_maps::read("maps/oa_dm4.bsp") {
        Some(file) => ("oa_dm4", file),
        None => ("yard", TestMap::test_yard(YARD).file()),
    };
    let shape = Impairment { loss, ..Impairment::latency(Millis(30)) };
    let mut fighters = BotMatch::over(shape, (map, &file), BOTS, seed, &[]);
    fighters.run_for(Millis::seconds(15));
    fighters.bots().summary()
}

#[test]
fn lost_gamestate_costs_one_second_lost_request_three() {
    let total = joined(1, 0).total;
    assert_eq!(total.active, usize::from(BOTS));
    // A round trip, and the level's datagrams one after the other as the rate allows.
    assert!(total.join_steps_ms.gamestate.max < 400, "{:?}", total.join_steps_ms);
    assert!(total.join_ms.max < 1000, "{:?}", total.join_ms);

    let (mut waited, mut count) = (0.0, 0.0);
    for seed in 1..=3 {
        let total = joined(seed, 50).total;
        let steps = total.join_steps_ms;
        assert_eq!(total.active, usize::from(BOTS), "seed {seed}: {steps:?}");
        assert!(steps.gamestate.p50 < 400, "seed {seed}: {steps:?}");
        assert!(steps.challenge.max < 9500 && steps.connect.max < 9500, "seed {seed}: {steps:?}");
        waited += steps.gamestate.mean * f64::from(BOTS);
        count += f64::from(BOTS);
    }
    // 0.3 s, and a second for each of the 0.36 times that it is lost before it arrives.
    let mean = waited / count;
    assert!((300.0..900.0).contains(&mean), "{mean} ms");
}
