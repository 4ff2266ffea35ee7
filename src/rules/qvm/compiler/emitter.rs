//! Emission of instructions into one function: constants, fields of the context, calls, faults.
//!
//! Invariants: a fault returns from the function; after it the code stores nothing in the block.
//! Source: Quake III QVM format.

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{
    Block, BlockCall, FuncRef, Inst, InstBuilder, MemFlags, SigRef, Type, Value, condcodes::IntCC,
    types,
};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder};

use super::{
    cells::flags,
    entry::{Context, reason},
    function::{host_convention, import, internal_signature, signature},
};
use crate::qvm::opcode::Opcode;

/// Values that hold throughout a function.
#[derive(Clone, Copy)]
pub(super) struct Values {
    /// Address of the context.
    pub(super) context: Value,
    /// Program stack pointer of the function.
    pub(super) frame: Value,
    /// Address of the first byte of the block.
    pub(super) block: Value,
    /// Address of the program stack pointer in the block.
    pub(super) frame_pointer: Value,
    /// Number of open calls.
    pub(super) open_calls: Value,
}

/// Emitter of the instructions of one function.
pub(super) struct Emitter<'a, 'b> {
    pub(super) builder: &'a mut FunctionBuilder<'b>,
    pub(super) values: Values,
    /// Instruction in translation.
    pub(super) at: u32,
    /// Stores reason, instruction and value of a fault, and returns.
    pub(super) fault: Block,
    /// Records the call instruction of a fault in a callee, and returns.
    pub(super) unwind: Block,
    pub(super) functions: HashMap<usize, FuncRef>,
    pub(super) signatures: HashMap<&'static str, SigRef>,
}

impl<'b> Emitter<'_, 'b> {
    pub(super) fn ins(&mut self) -> FuncInstBuilder<'_, 'b> {
        self.builder.ins()
    }

    /// Signature of a function of the host.
    pub(super) fn host(
        &mut self,
        name: &'static str,
        parameters: &[Type],
        results: &[Type],
    ) -> SigRef {
        let builder = &mut *self.builder;
        *self.signatures.entry(name).or_insert_with(|| {
            builder.import_signature(signature(host_convention(), parameters, results))
        })
    }

    /// Signature of a compiled function.
    pub(super) fn internal_signature(&mut self) -> SigRef {
        let builder = &mut *self.builder;
        let make = || builder.import_signature(internal_signature());
        *self.signatures.entry("function").or_insert_with(make)
    }

    pub(super) fn constant(&mut self, value: i32) -> Value {
        self.ins().iconst(types::I32, i64::from(value as u32))
    }

    /// Charges the budget.
    pub(super) fn charge(&mut self, instructions: u32) {
        let offset = offset_of!(Context<'_>, remaining);
        let remaining = self.field(types::I64, offset);
        let charge = i64::from(instructions);
        let short = self.ins().icmp_imm(IntCC::UnsignedLessThan, remaining, charge);
        self.fault_if(short, reason::BUDGET, None);
        let rest = self.ins().iadd_imm(remaining, -charge);
        self.set_field(rest, offset);
    }

    /// Ends the function with a fault at the current instruction if a condition holds.
    pub(super) fn fault_if(&mut self, condition: Value, reason: i64, value: Option<Value>) {
        let (stop, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(stop);
        self.ins().brif(condition, stop, &[], next, &[]);
        self.builder.switch_to_block(stop);
        self.stop(reason, value);
        self.builder.switch_to_block(next);
    }

    /// Ends the function with a fault at the current instruction.
    pub(super) fn stop(&mut self, reason: i64, value: Option<Value>) {
        let instruction = self.constant(self.at as i32);
        self.stop_at(instruction, reason, value);
    }

    /// Ends the function with a fault at an instruction.
    pub(super) fn stop_at(&mut self, instruction: Value, reason: i64, value: Option<Value>) {
        let reason = self.ins().iconst(types::I32, reason);
        let value = value.unwrap_or(reason);
        let fault = self.fault;
        self.ins().jump(fault, &[reason.into(), instruction.into(), value.into()]);
    }

    pub(super) fn call_of(&mut self, block: Block) -> BlockCall {
        self.builder.func.dfg.block_call(block, &[])
    }

    pub(super) fn with_immediate(
        &mut self,
        opcode: Opcode,
        next: Value,
        value: i32,
    ) -> Option<Value> {
        let wide = i64::from(value);
        Some(match opcode {
            Opcode::Add => self.ins().iadd_imm(next, wide),
            Opcode::Sub => self.ins().iadd_imm(next, i64::from(value.wrapping_neg())),
            // A left shift is one cycle, a product is three.
            Opcode::Muli | Opcode::Mulu if value > 0 && value.count_ones() == 1 => {
                self.ins().ishl_imm(next, i64::from(value.trailing_zeros()))
            }
            Opcode::Muli | Opcode::Mulu => self.ins().imul_imm(next, wide),
            Opcode::Band => self.ins().band_imm(next, wide),
            Opcode::Bor => self.ins().bor_imm(next, wide),
            Opcode::Bxor => self.ins().bxor_imm(next, wide),
            Opcode::Lsh => self.ins().ishl_imm(next, wide & 31),
            Opcode::Rshi => self.ins().sshr_imm(next, wide & 31),
            Opcode::Rshu => self.ins().ushr_imm(next, wide & 31),
            _ => return None,
        })
    }

    pub(super) fn with_value(&mut self, opcode: Opcode, next: Value, top: Value) -> Value {
        match opcode {
            Opcode::Add => self.ins().iadd(next, top),
            Opcode::Sub => self.ins().isub(next, top),
            Opcode::Muli | Opcode::Mulu => self.ins().imul(next, top),
            Opcode::Band => self.ins().band(next, top),
            Opcode::Bor => self.ins().bor(next, top),
            Opcode::Bxor => self.ins().bxor(next, top),
            // Cranelift takes shift counts modulo the width of the type.
            Opcode::Lsh => self.ins().ishl(next, top),
            Opcode::Rshi => self.ins().sshr(next, top),
            _ => self.ins().ushr(next, top),
        }
    }

    pub(super) fn quotient(&mut self, opcode: Opcode, next: Value, divisor: Value) -> Value {
        match opcode {
            Opcode::Divi => self.ins().sdiv(next, divisor),
            Opcode::Divu => self.ins().udiv(next, divisor),
            Opcode::Modi => self.ins().srem(next, divisor),
            _ => self.ins().urem(next, divisor),
        }
    }

    /// Bits of a value as an integer of 64 bits, zero-extended.
    pub(super) fn widen(&mut self, value: Value) -> Value {
        self.ins().uextend(types::I64, value)
    }

    /// Loads a field of the context.
    pub(super) fn field(&mut self, kind: cranelift_codegen::ir::Type, offset: usize) -> Value {
        let context = self.values.context;
        self.ins().load(kind, MemFlags::trusted(), context, offset as i32)
    }

    /// Stores a field of the context.
    pub(super) fn set_field(&mut self, value: Value, offset: usize) {
        let context = self.values.context;
        self.ins().store(MemFlags::trusted(), value, context, offset as i32);
    }

    /// Copies a short range: all loads come before all stores, since ranges may overlap.
    pub(super) fn copy_inline(&mut self, target: Value, source: Value, length: u32) {
        let block = self.values.block;
        let mut pointer = |address: Value| {
            let wide = self.builder.ins().uextend(types::I64, address);
            self.builder.ins().iadd(block, wide)
        };
        let (to, from) = (pointer(target), pointer(source));
        let mut parts = Vec::new();
        let mut at = 0;
        for (kind, size) in [(types::I64, 8), (types::I32, 4), (types::I16, 2), (types::I8, 1)] {
            while at + size <= length {
                parts.push((self.ins().load(kind, flags(), from, at as i32), at as i32));
                at += size;
            }
        }
        for (value, at) in parts {
            self.ins().store(flags(), value, to, at);
        }
    }

    pub(super) fn callee(&mut self, index: usize) -> FuncRef {
        let builder = &mut *self.builder;
        *self.functions.entry(index).or_insert_with(|| import(builder, index))
    }

    pub(super) fn call_arguments(&mut self) -> [Value; 3] {
        let Values { context, frame, open_calls, .. } = self.values;
        [context, frame, self.ins().iadd_imm(open_calls, 1)]
    }

    /// Result of a call of a compiled function; leaves if the callee ended with a fault.
    pub(super) fn returned(&mut self, call: Inst) -> Value {
        let [result, status] = *self.builder.inst_results(call) else {
            unreachable!("a compiled function has two results")
        };
        let (next, instruction) = (self.builder.create_block(), self.at);
        let instruction = self.constant(instruction as i32);
        let unwind = self.unwind;
        let arguments = [instruction.into(), status.into()];
        self.ins().brif(status, unwind, &arguments, next, &[]);
        self.builder.switch_to_block(next);
        result
    }

    pub(super) fn call_service(&mut self, number: Value) -> Value {
        let Values { context, frame, open_calls, .. } = self.values;
        let serve = self.field(types::I64, offset_of!(Context<'_>, serve));
        let parameters = [types::I64, types::I32, types::I32, types::I32];
        let signature = self.host("serve", &parameters, &[types::I64]);
        let arguments = [context, frame, number, open_calls];
        let call = self.ins().call_indirect(signature, serve, &arguments);
        let answer = self.builder.inst_results(call)[0];
        let status = self.ins().ushr_imm(answer, 32);
        self.fault_if(status, reason::HOST, None);
        self.ins().ireduce(types::I32, answer)
    }
}
