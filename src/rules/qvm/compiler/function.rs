//! Translation of one function: prologue, blocks, branches, calls, faults.
//!
//! A compiled function takes the context, the program stack pointer of its caller and the number of open
//! calls. It returns the result and a status: 0, 1 after a fault, or [`TOO_DEEP`].
//!
//! Invariants: every path returns; after a fault the code stores nothing in the block.
//! Source: Quake III QVM format.

use std::{
    collections::HashMap,
    mem::offset_of,
    ops::{Deref, DerefMut},
};

use cranelift_codegen::{
    ir::{
        AbiParam, Block, BlockArg, ExtFuncData, ExternalName, FuncRef, InstBuilder, Signature,
        Type, UserExternalName, condcodes::IntCC, types,
    },
    isa::CallConv,
};
use cranelift_frontend::FunctionBuilder;

use super::{
    cells::{Cell, Width},
    emitter::{Emitter, Values},
    entry::{Context, TOO_DEEP, reason},
    jumps,
};
use crate::qvm::{
    machine::{COPY_UNIT, MAX_CALLS},
    opcode::Opcode,
    program::{Function, Program},
};

/// Longest block copy, in bytes, without a call of the host.
const MAX_INLINE_COPY: u32 = 64;
/// Convention of compiled functions among each other.
const INTERNAL: CallConv = CallConv::SystemV;

pub(super) fn signature(convention: CallConv, parameters: &[Type], results: &[Type]) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(parameters.iter().map(|kind| AbiParam::new(*kind)));
    signature.returns.extend(results.iter().map(|kind| AbiParam::new(*kind)));
    signature
}

/// Signature of a compiled function.
pub(super) fn internal_signature() -> Signature {
    signature(INTERNAL, &[types::I64, types::I32, types::I32], &[types::I32, types::I32])
}

/// Convention of functions of the host.
pub(super) fn host_convention() -> CallConv {
    if cfg!(windows) { CallConv::WindowsFastcall } else { CallConv::SystemV }
}

pub(super) fn import(builder: &mut FunctionBuilder<'_>, index: usize) -> FuncRef {
    let name = UserExternalName { namespace: 0, index: index as u32 };
    let name = builder.func.declare_imported_user_function(name);
    let signature = builder.import_signature(internal_signature());
    // All functions lie within reach of a near call.
    let data = ExtFuncData { name: ExternalName::user(name), signature, colocated: true };
    builder.import_function(data)
}

/// Builds the function that the host calls: it calls function 0 and stores the result in the context.
pub(super) fn trampoline(builder: &mut FunctionBuilder<'_>) {
    builder.func.signature =
        signature(host_convention(), &[types::I64, types::I32, types::I32], &[types::I32]);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let parameters = builder.block_params(block).to_vec();
    let entry = import(builder, 0);
    let call = builder.ins().call(entry, &parameters);
    let results = builder.inst_results(call).to_vec();
    let offset = offset_of!(Context<'_>, result) as i32;
    let flags = cranelift_codegen::ir::MemFlags::trusted();
    builder.ins().store(flags, results[0], parameters[0], offset);
    builder.ins().return_(&[results[1]]);
}

/// Translator of one function.
pub(super) struct Translator<'a, 'b> {
    pub(super) program: &'a Program,
    pub(super) function: Function,
    emitter: Emitter<'a, 'b>,
    pub(super) cells: Vec<Cell>,
    /// Mask of addresses.
    pub(super) mask: u32,
    /// Blocks of the targets of branches, by instruction.
    blocks: HashMap<u32, Block>,
    /// Block that all computed jumps of the function go to.
    pub(super) dispatch: Option<Block>,
}

impl<'a, 'b> Deref for Translator<'a, 'b> {
    type Target = Emitter<'a, 'b>;

    fn deref(&self) -> &Self::Target {
        &self.emitter
    }
}

impl DerefMut for Translator<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.emitter
    }
}

impl<'a, 'b> Translator<'a, 'b> {
    /// Starts a function: its prologue, and the blocks of its faults.
    pub(super) fn new(
        program: &'a Program,
        function: Function,
        builder: &'a mut FunctionBuilder<'b>,
    ) -> Self {
        builder.func.signature = internal_signature();
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [context, outer, open_calls] = *builder.block_params(entry) else {
            unreachable!("a compiled function has three parameters")
        };
        let (fault, unwind) = (builder.create_block(), builder.create_block());
        for _ in 0..3 {
            builder.append_block_param(fault, types::I32);
        }
        builder.append_block_param(unwind, types::I32);
        builder.append_block_param(unwind, types::I32);
        builder.set_cold_block(fault);
        builder.set_cold_block(unwind);
        let frame = builder.ins().iadd_imm(outer, -i64::from(function.frame));
        let values = Values { context, frame, block: context, frame_pointer: frame, open_calls };
        let emitter = Emitter {
            builder,
            values,
            at: function.start,
            fault,
            unwind,
            functions: HashMap::new(),
            signatures: HashMap::new(),
        };
        let mask = program.image().block_size() - 1;
        Self {
            program,
            function,
            emitter,
            cells: Vec::new(),
            mask,
            blocks: HashMap::new(),
            dispatch: None,
        }
    }

    /// Translates the whole function.
    pub(super) fn translate(mut self) {
        self.enter();
        let mut reachable = true;
        for at in self.function.start + 1..self.function.end {
            self.at = at;
            if self.program.is_target(at) {
                let block = self.block(at);
                if reachable {
                    self.jump(block);
                }
                self.builder.switch_to_block(block);
                self.cells =
                    self.builder.block_params(block).iter().copied().map(Cell::Integer).collect();
                reachable = true;
            }
            if reachable {
                reachable = self.instruction();
            }
        }
        self.finish();
    }

    /// Translates *enter*: call depth, program stack check, charge.
    fn enter(&mut self) {
        let open_calls = self.values.open_calls;
        let (deep, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(deep);
        // One check for each function is shorter than one for each call. The caller names the place.
        let limit = i64::from(MAX_CALLS);
        let full = self.ins().icmp_imm(IntCC::UnsignedGreaterThan, open_calls, limit);
        self.ins().brif(full, deep, &[], next, &[]);
        self.builder.switch_to_block(deep);
        let status = self.constant(TOO_DEEP as i32);
        self.ins().return_(&[status, status]);
        self.builder.switch_to_block(next);
        let frame = self.values.frame;
        let limit = self.field(types::I32, offset_of!(Context<'_>, stack_limit));
        let below = self.ins().icmp(IntCC::SignedLessThan, frame, limit);
        self.fault_if(below, reason::STACK, None);
        self.values.block = self.field(types::I64, offset_of!(Context<'_>, memory));
        let wide = self.widen(frame);
        let block = self.values.block;
        self.values.frame_pointer = self.ins().iadd(block, wide);
        let length = self.function.end - self.function.start;
        self.charge(length);
    }

    /// Translates an instruction. Returns whether execution continues at the next one.
    fn instruction(&mut self) -> bool {
        let instruction = self.program.instructions()[self.at as usize];
        let operand = instruction.operand;
        match instruction.opcode {
            Opcode::Undefined | Opcode::Ignore | Opcode::Break | Opcode::Enter => {}
            Opcode::Leave => {
                let result = self.pop_integer();
                let status = self.constant(0);
                self.ins().return_(&[result, status]);
                return false;
            }
            Opcode::Call => self.call(),
            Opcode::Push => self.cells.push(Cell::Constant(0)),
            Opcode::Pop => {
                self.pop();
            }
            Opcode::Const => self.cells.push(Cell::Constant(operand)),
            Opcode::Local => self.cells.push(Cell::Local(operand)),
            Opcode::Jump => {
                self.jump_to_top();
                return false;
            }
            Opcode::Load1 => self.load(Width::Byte),
            Opcode::Load2 => self.load(Width::Half),
            Opcode::Load4 => self.load(Width::Word),
            opcode @ (Opcode::Store1 | Opcode::Store2 | Opcode::Store4) => self.store(opcode),
            Opcode::Arg => self.store_argument(operand),
            Opcode::BlockCopy => self.block_copy(operand as u32),
            opcode if opcode.is_branch() => self.branch(opcode, operand as u32),
            opcode => self.compute(opcode),
        }
        true
    }

    /// Block of a branch target, with a parameter for each cell.
    pub(super) fn block(&mut self, target: u32) -> Block {
        if let Some(block) = self.blocks.get(&target) {
            return *block;
        }
        let block = self.builder.create_block();
        for _ in 0..self.program.depth(target) {
            self.builder.append_block_param(block, types::I32);
        }
        self.blocks.insert(target, block);
        block
    }

    /// Cells as arguments of a block.
    fn arguments(&mut self) -> Vec<BlockArg> {
        let cells = std::mem::take(&mut self.cells);
        let values = cells.iter().map(|cell| BlockArg::Value(self.integer(*cell))).collect();
        self.cells = cells;
        values
    }

    fn jump(&mut self, block: Block) {
        let arguments = self.arguments();
        self.ins().jump(block, &arguments);
    }

    /// Goes to a target, and charges the way back if there is one.
    fn go(&mut self, target: u32) {
        let block = self.block(target);
        if target <= self.at {
            let distance = self.at - target + 1;
            self.charge(distance);
        }
        self.jump(block);
    }

    fn branch(&mut self, opcode: Opcode, target: u32) {
        let condition = self.compare(opcode);
        // Cells in use on both ways are loaded once.
        for index in 0..self.cells.len() {
            self.cells[index] = Cell::Integer(self.integer(self.cells[index]));
        }
        let next = self.builder.create_block();
        if target <= self.at {
            let back = self.builder.create_block();
            self.ins().brif(condition, back, &[], next, &[]);
            self.builder.switch_to_block(back);
            self.go(target);
        } else {
            let (block, arguments) = (self.block(target), self.arguments());
            self.ins().brif(condition, block, &arguments, next, &[]);
        }
        self.builder.switch_to_block(next);
    }

    fn jump_to_top(&mut self) {
        let top = self.pop();
        if let Some(target) = self.program.constant_target(self.at) {
            self.go(target as u32);
            return;
        }
        let value = self.integer(top);
        let at = self.at as i32;
        let from = self.constant(at);
        let dispatch = jumps::dispatch(self);
        self.ins().jump(dispatch, &[value.into(), from.into()]);
    }

    fn block_copy(&mut self, length: u32) {
        let (source, target) = (self.pop_integer(), self.pop_integer());
        self.load_pending();
        if length / COPY_UNIT > 0 {
            self.charge(length / COPY_UNIT);
        }
        let (call, done) = (self.builder.create_block(), self.builder.create_block());
        if length > 0 && length <= MAX_INLINE_COPY.min(self.mask) {
            let most = i64::from(self.mask - length);
            let inline = self.builder.create_block();
            let over = self.ins().icmp_imm(IntCC::UnsignedGreaterThan, source, most);
            let over_target = self.ins().icmp_imm(IntCC::UnsignedGreaterThan, target, most);
            let outside = self.ins().bor(over, over_target);
            self.builder.set_cold_block(call);
            self.ins().brif(outside, call, &[], inline, &[]);
            self.builder.switch_to_block(inline);
            self.copy_inline(target, source, length);
            self.ins().jump(done, &[]);
        } else {
            self.ins().jump(call, &[]);
        }
        self.builder.switch_to_block(call);
        let function = self.field(types::I64, offset_of!(Context<'_>, block_copy));
        let parameters = [types::I64, types::I32, types::I32, types::I32];
        let signature = self.host("block_copy", &parameters, &[types::I32]);
        let length = self.constant(length as i32);
        let arguments = [self.values.context, target, source, length];
        let call = self.ins().call_indirect(signature, function, &arguments);
        let status = self.builder.inst_results(call)[0];
        self.fault_if(status, reason::HOST, None);
        self.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Fills the blocks that instructions share: computed jumps, and the ends of all faults.
    fn finish(&mut self) {
        jumps::fill_dispatch(self);
        let Emitter { fault, unwind, .. } = self.emitter;
        self.builder.switch_to_block(fault);
        let [reason, instruction, value] = *self.builder.block_params(fault) else {
            unreachable!("the block has three parameters")
        };
        self.set_field(reason, offset_of!(Context<'_>, reason));
        self.set_field(instruction, offset_of!(Context<'_>, instruction));
        self.set_field(value, offset_of!(Context<'_>, value));
        let one = self.constant(1);
        self.ins().return_(&[one, one]);

        self.builder.switch_to_block(unwind);
        let [instruction, status] = *self.builder.block_params(unwind) else {
            unreachable!("the block has two parameters")
        };
        let function = self.field(types::I64, offset_of!(Context<'_>, add_caller));
        let signature = self.host("add_caller", &[types::I64, types::I32, types::I32], &[]);
        let arguments = [self.values.context, instruction, status];
        self.ins().call_indirect(signature, function, &arguments);
        let one = self.constant(1);
        self.ins().return_(&[one, one]);
    }
}
