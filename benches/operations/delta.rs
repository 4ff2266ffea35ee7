//! Delta coding of single entities, playerstates and usercmds.

use std::hint::black_box;

use fragd::{
    model::{Buttons, EntityNum, EntityState, PlayerState, UserCmd},
    wire::{
        bits::{BitReader, BitWriter},
        entity, player, usercmd,
    },
};

use super::{
    Operation,
    recorded::{Change, Recorded},
};

/// Different inputs of each operation.
const INPUTS: usize = 512;

pub(crate) fn operations() -> Vec<Operation> {
    let mut recorded = Recorded::read();
    [entities(&mut recorded), playerstates(&mut recorded), usercmds(&mut recorded)]
        .into_iter()
        .flatten()
        .collect()
}

/// An operation that writes, and the one that reads what it wrote.
fn both_ways<T: Copy + 'static>(
    name: &str,
    inputs: Vec<T>,
    write: impl Fn(&mut BitWriter, &T) + 'static,
    read: impl Fn(&mut BitReader<'_>, &T) + 'static,
) -> Vec<Operation> {
    let mut writer = BitWriter::new();
    let mut bits = 0;
    let messages: Vec<(T, Vec<u8>)> = inputs
        .iter()
        .map(|input| {
            writer.clear();
            write(&mut writer, input);
            bits += writer.bit_len();
            // As inside a message, something follows.
            let message = [writer.message(), &[0x55; 16]].concat();
            (*input, message)
        })
        .collect();
    let size = format!("{:.0} bits", bits as f64 / inputs.len() as f64);
    vec![
        Operation::over(format!("{name}, write"), size.clone(), inputs, move |input| {
            // In the middle of a message, at any bit; there is always room for one more.
            if writer.bit_len() > 8 * 8192 {
                writer.clear();
            }
            write(&mut writer, input);
            black_box(&mut writer);
        }),
        Operation::over(format!("{name}, read"), size, messages, move |(input, message)| {
            read(&mut BitReader::new(message), input);
        }),
    ]
}

fn entities(recorded: &mut Recorded) -> Vec<Operation> {
    let write = |writer: &mut BitWriter, change: &Change<EntityState>| {
        entity::write_delta(writer, &change.from, &change.to, true);
    };
    let read = |reader: &mut BitReader<'_>, change: &Change<EntityState>| {
        let number = entity::read_number(reader).expect("valid");
        black_box(entity::read_delta(reader, &change.from, number).expect("valid"));
    };
    let unchanged: Vec<_> = (0..INPUTS)
        .map(|_| {
            let state = recorded.pick(|recorded| &recorded.shown);
            Change { from: state, to: state }
        })
        .collect();
    let appearing: Vec<_> = (0..INPUTS)
        .map(|_| {
            loop {
                let to = recorded.pick(|recorded| &recorded.shown);
                if to.e_type == 1 {
                    let number = EntityNum::new(to.number as usize).expect("in range");
                    let mut change = Change { from: EntityState::numbered(number), to };
                    recorded.vary_entity(&mut change);
                    break change;
                }
            }
        })
        .collect();
    let mut operations =
        vec![Operation::over("entity delta, unchanged, write", "0 bits", unchanged, {
            let mut writer = BitWriter::new();
            move |change| {
                entity::write_delta(&mut writer, &change.from, &change.to, false);
                black_box(&mut writer);
            }
        })];
    let moving = recorded.moving_entities(INPUTS);
    operations.extend(both_ways("entity delta, moving player", moving, write, read));
    operations.extend(both_ways("entity from baseline", appearing, write, read));
    operations
}

fn playerstates(recorded: &mut Recorded) -> Vec<Operation> {
    let write = |writer: &mut BitWriter, change: &Change<PlayerState>| {
        player::write_delta(writer, &change.from, &change.to);
    };
    let read = |reader: &mut BitReader<'_>, change: &Change<PlayerState>| {
        black_box(player::read_delta(reader, &change.from).expect("valid"));
    };
    let typical: Vec<_> = (0..INPUTS)
        .map(|_| {
            let mut change = recorded.pick(|recorded| &recorded.players);
            recorded.vary_player(&mut change);
            change
        })
        .collect();
    let nobody = PlayerState::default();
    let whole = typical.iter().map(|change| Change { from: nobody, to: change.to }).collect();
    let mut operations = both_ways("playerstate delta, typical", typical, write, read);
    operations.extend(both_ways("playerstate from nothing", whole, write, read));
    operations
}

/// A usercmd, the one before, and the message's key.
#[derive(Clone, Copy)]
struct Keyed {
    key: u32,
    from: UserCmd,
    to: UserCmd,
}

fn usercmds(recorded: &mut Recorded) -> Vec<Operation> {
    let mut from = UserCmd::default();
    let steps = (0..INPUTS)
        .map(|_| {
            let mut to = from;
            to.server_time += 8 + recorded.below(30) as i32;
            to.angles[0] = (to.angles[0] + recorded.below(400) as i32) & 0xffff;
            to.angles[1] = (to.angles[1] + recorded.below(4000) as i32) & 0xffff;
            if recorded.below(4) == 0 {
                to.forwardmove = [-127, 0, 127][recorded.below(3)];
            }
            if recorded.below(4) == 0 {
                to.rightmove = [-127, 0, 127][recorded.below(3)];
            }
            if recorded.below(6) == 0 {
                to.buttons = Buttons(recorded.below(2) as i32);
            }
            let step = Keyed { key: recorded.below(1 << 31) as u32, from, to };
            from = to;
            step
        })
        .collect();
    both_ways(
        "usercmd",
        steps,
        |writer, step: &Keyed| usercmd::write_delta(writer, step.key, &step.from, &step.to),
        |reader, step: &Keyed| {
            black_box(usercmd::read_delta(reader, step.key, &step.from).expect("valid"));
        },
    )
}
