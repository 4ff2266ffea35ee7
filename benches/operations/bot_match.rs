//! Server frames of a bot match: packets in, frame and snapshots out, in 50 ms.

use std::{cell::RefCell, rc::Rc};

use fragd::model::Millis;

use super::{Operation, bot_match_fixture::Replay, installed_maps};

/// Clients.
const COUNTS: [u16; 4] = [8, 16, 32, 64];
/// Length of one operation.
const FRAME: Millis = Millis(50);
/// Time for all bots to join and spread out.
const JOINING: Millis = Millis::seconds(12);

pub(crate) fn operations() -> Vec<Operation> {
    let Some(file) = installed_maps::read("maps/oa_dm4.bsp") else { return Vec::new() };
    let file: Rc<[u8]> = file.into();
    let operation = |count: u16| {
        let file = file.clone();
        let replay = Rc::new(RefCell::new(None::<Replay>));
        let prepared = Rc::clone(&replay);
        let prepare = move |times: u64| {
            let span = JOINING + Millis(FRAME.0 * times);
            let mut recorded = Replay::of(("oa_dm4", &file), count, span);
            recorded.run_for(JOINING);
            *prepared.borrow_mut() = Some(recorded);
        };
        let run = move |times: u64| {
            let mut replay = replay.borrow_mut();
            let replay = replay.as_mut().expect("it was prepared");
            (0..times).for_each(|_| replay.run_for(FRAME));
        };
        Operation {
            name: format!("server with {count} fighting on oa_dm4"),
            size: "50 ms".to_owned(),
            inputs: 100,
            least: 100,
            goes_on: true,
            prepare: Box::new(prepare),
            run: Box::new(run),
        }
    };
    COUNTS.map(operation).into()
}
