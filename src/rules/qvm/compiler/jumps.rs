//! Computed jumps: all of a function share one block with one table.
//!
//! So the code grows with the sum of jumps and targets, not with their product.
//! Invariants: a target outside of the table is a fault of the jump; the way back is charged as for other jumps.
//! Source: Quake III QVM format.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, JumpTableData, Value, condcodes::IntCC, types};

use super::{
    entry::{Context, reason},
    function::Translator,
};

/// Block of all computed jumps. Its parameters are the target and the instruction of the jump. The verifier ensures
/// that no cells are in use there.
pub(super) fn dispatch(to: &mut Translator<'_, '_>) -> Block {
    if let Some(block) = to.dispatch {
        return block;
    }
    let block = to.builder.create_block();
    to.builder.append_block_param(block, types::I32);
    to.builder.append_block_param(block, types::I32);
    to.dispatch = Some(block);
    block
}

/// Fills the block of all computed jumps, if there are any.
pub(super) fn fill_dispatch(to: &mut Translator<'_, '_>) {
    let Some(dispatch) = to.dispatch else { return };
    to.builder.switch_to_block(dispatch);
    let [value, from] = *to.builder.block_params(dispatch) else {
        unreachable!("the block has two parameters")
    };
    let range = to.function.start..to.function.end;
    let targets: Vec<u32> = range.filter(|target| to.program.is_jump_target(*target)).collect();
    let (Some(first), Some(last)) = (targets.first(), targets.last()) else {
        return to.stop_at(from, reason::JUMP_TARGET, Some(value));
    };
    let invalid = to.builder.create_block();
    let mut ways = Vec::new();
    for target in *first..=*last {
        let is_target = to.program.is_jump_target(target);
        ways.push(if is_target { to.builder.create_block() } else { invalid });
    }
    let index = to.ins().iadd_imm(value, -i64::from(*first));
    let calls: Vec<_> = ways.iter().map(|block| to.call_of(*block)).collect();
    let default = to.call_of(invalid);
    let table = to.builder.create_jump_table(JumpTableData::new(default, &calls));
    to.ins().br_table(index, table);
    for target in &targets {
        to.builder.switch_to_block(ways[(target - first) as usize]);
        charge_way_back(to, from, *target);
        let block = to.block(*target);
        to.ins().jump(block, &[]);
    }
    to.builder.switch_to_block(invalid);
    to.stop_at(from, reason::JUMP_TARGET, Some(value));
}

/// Charges a jump to a target, unless that follows the jump.
fn charge_way_back(to: &mut Translator<'_, '_>, from: Value, target: u32) {
    let (back, paid) = (to.builder.create_block(), to.builder.create_block());
    let (short, next) = (to.builder.create_block(), to.builder.create_block());
    to.builder.set_cold_block(short);
    let is_back = i64::from(target);
    let is_back = to.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, from, is_back);
    to.ins().brif(is_back, back, &[], next, &[]);
    to.builder.switch_to_block(back);
    let distance = to.ins().iadd_imm(from, 1 - i64::from(target));
    let charge = to.widen(distance);
    let offset = offset_of!(Context<'_>, remaining);
    let remaining = to.field(types::I64, offset);
    let is_short = to.ins().icmp(IntCC::UnsignedLessThan, remaining, charge);
    to.ins().brif(is_short, short, &[], paid, &[]);
    to.builder.switch_to_block(short);
    to.stop_at(from, reason::BUDGET, None);
    to.builder.switch_to_block(paid);
    let rest = to.ins().isub(remaining, charge);
    to.set_field(rest, offset);
    to.ins().jump(next, &[]);
    to.builder.switch_to_block(next);
}
