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

impl Translator<'_, '_> {
    /// Block of all computed jumps. Its parameters are the target and the instruction of the jump. The verifier ensures
    /// that no cells are in use there.
    pub(super) fn dispatch(&mut self) -> Block {
        if let Some(block) = self.dispatch {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.append_block_param(block, types::I32);
        self.builder.append_block_param(block, types::I32);
        self.dispatch = Some(block);
        block
    }

    /// Fills the block of all computed jumps, if there are any.
    pub(super) fn fill_dispatch(&mut self) {
        let Some(dispatch) = self.dispatch else { return };
        self.builder.switch_to_block(dispatch);
        let [value, from] = *self.builder.block_params(dispatch) else {
            unreachable!("the block has two parameters")
        };
        let range = self.function.start..self.function.end;
        let targets: Vec<u32> =
            range.filter(|target| self.program.is_jump_target(*target)).collect();
        let (Some(first), Some(last)) = (targets.first(), targets.last()) else {
            return self.stop_at(from, reason::JUMP_TARGET, Some(value));
        };
        let invalid = self.builder.create_block();
        let mut ways = Vec::new();
        for target in *first..=*last {
            let is_target = self.program.is_jump_target(target);
            ways.push(if is_target { self.builder.create_block() } else { invalid });
        }
        let index = self.ins().iadd_imm(value, -i64::from(*first));
        let calls: Vec<_> = ways.iter().map(|block| self.call_of(*block)).collect();
        let default = self.call_of(invalid);
        let table = self.builder.create_jump_table(JumpTableData::new(default, &calls));
        self.ins().br_table(index, table);
        for target in &targets {
            self.builder.switch_to_block(ways[(target - first) as usize]);
            self.charge_way_back(from, *target);
            let block = self.block(*target);
            self.ins().jump(block, &[]);
        }
        self.builder.switch_to_block(invalid);
        self.stop_at(from, reason::JUMP_TARGET, Some(value));
    }

    /// Charges a jump to a target, unless that follows the jump.
    fn charge_way_back(&mut self, from: Value, target: u32) {
        let (back, paid) = (self.builder.create_block(), self.builder.create_block());
        let (short, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(short);
        let is_back = i64::from(target);
        let is_back = self.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, from, is_back);
        self.ins().brif(is_back, back, &[], next, &[]);
        self.builder.switch_to_block(back);
        let distance = self.ins().iadd_imm(from, 1 - i64::from(target));
        let charge = self.widen(distance);
        let offset = offset_of!(Context<'_>, remaining);
        let remaining = self.field(types::I64, offset);
        let is_short = self.ins().icmp(IntCC::UnsignedLessThan, remaining, charge);
        self.ins().brif(is_short, short, &[], paid, &[]);
        self.builder.switch_to_block(short);
        self.stop_at(from, reason::BUDGET, None);
        self.builder.switch_to_block(paid);
        let rest = self.ins().isub(remaining, charge);
        self.set_field(rest, offset);
        self.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }
}
