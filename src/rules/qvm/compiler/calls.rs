//! Calls: constant and computed targets, services of the host.
//!
//! Invariants: a computed target is a function of the table; a callee's fault leaves the caller at once.
//! Source: Quake III QVM format.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, condcodes::IntCC, types};

use super::{
    cells::{Cell, flags},
    entry::{Context, reason},
    function::Translator,
};
use crate::qvm::library;

impl Translator<'_, '_> {
    /// Translates *call*.
    pub(super) fn call(&mut self) {
        let target = self.pop();
        self.load_pending();
        let result = match target {
            Cell::Constant(target) if library::is_arithmetic(!target as u32) => {
                return self.call_arithmetic(!target as u32);
            }
            Cell::Constant(target) if target < 0 => {
                let number = self.constant(!target);
                self.call_service(number)
            }
            Cell::Constant(start) if self.program.function_at(start).is_some() => {
                let index = self.program.function_at(start).unwrap_or(0);
                let arguments = self.call_arguments();
                let callee = self.callee(index);
                let call = self.ins().call(callee, &arguments);
                self.returned(call)
            }
            target => self.call_computed(target),
        };
        self.push(result);
    }

    /// Calls a function of floats of the C library without the machine.
    fn call_arithmetic(&mut self, number: u32) {
        let frame = self.values.frame_pointer;
        let word = self.constant(number as i32);
        self.ins().store(flags(), word, frame, 4);
        if number == library::SQUARE_ROOT {
            let value = self.ins().load(types::F32, flags(), frame, 8);
            let root = self.ins().sqrt(value);
            let root = self.one_nan(root);
            return self.push_float(root);
        }
        let arguments = [8, 12].map(|offset| self.ins().load(types::I32, flags(), frame, offset));
        let function = self.field(types::I64, offset_of!(Context<'_>, arithmetic));
        let signature = self.host("arithmetic", &[types::I32; 3], &[types::I32]);
        let arguments = [word, arguments[0], arguments[1]];
        let call = self.ins().call_indirect(signature, function, &arguments);
        let result = self.builder.inst_results(call)[0];
        self.push(result);
    }

    fn call_computed(&mut self, target: Cell) -> Value {
        let target = self.integer(target);
        let (service, function) = (self.builder.create_block(), self.builder.create_block());
        let done = self.builder.create_block();
        self.builder.append_block_param(done, types::I32);
        let negative = self.ins().icmp_imm(IntCC::SignedLessThan, target, 0);
        self.ins().brif(negative, service, &[], function, &[]);

        self.builder.switch_to_block(service);
        let number = self.ins().bnot(target);
        let result = self.call_service(number);
        self.ins().jump(done, &[result.into()]);

        self.builder.switch_to_block(function);
        let count = self.program.instructions().len() as i64;
        let outside = self.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, target, count);
        self.fault_if(outside, reason::CALL_TARGET, Some(target));
        let table = self.field(types::I64, offset_of!(Context<'_>, entries));
        let index = self.widen(target);
        let distance = self.ins().ishl_imm(index, 2);
        let entry = self.ins().iadd(table, distance);
        let trusted = MemFlags::trusted();
        let offset = self.ins().load(types::I32, trusted, entry, 0);
        let missing = self.ins().icmp_imm(IntCC::Equal, offset, 0);
        self.fault_if(missing, reason::CALL_TARGET, Some(target));
        let code = self.field(types::I64, offset_of!(Context<'_>, code));
        let offset = self.widen(offset);
        let pointer = self.ins().iadd(code, offset);
        let arguments = self.call_arguments();
        let signature = self.internal_signature();
        let call = self.ins().call_indirect(signature, pointer, &arguments);
        let result = self.returned(call);
        self.ins().jump(done, &[result.into()]);

        self.builder.switch_to_block(done);
        self.builder.block_params(done)[0]
    }
}
