//! Translation of a verified program into steps.
//!
//! Each basic block runs on a stack of symbolic values. A constant, an address or a loaded word becomes part
//! of the step that uses it. Loaded words that wait are copied into cells before any store, call or end of
//! a block, so their order with stores stays.
//!
//! Invariants: a value in a cell has the cell of its own position; linear time; a step knows the
//! instruction whose fault it can raise. Source: Quake III QVM format.

use super::{Code, FusedStep, Handler, STOP, operands::SourceKind, steps};
use crate::qvm::{
    opcode::Opcode,
    program::{Function, Instruction, Program},
};

/// A symbolic value: what its kind and operand give, plus a constant.
#[derive(Clone, Copy)]
struct Value {
    kind: SourceKind,
    operand: u32,
    /// 0 for constants and frame addresses, whose operand includes it.
    add: u32,
}

impl Value {
    fn new(kind: SourceKind, operand: u32) -> Self {
        Self { kind, operand, add: 0 }
    }

    fn plus(mut self, add: u32) -> Self {
        match self.kind {
            SourceKind::Constant | SourceKind::Frame => {
                self.operand = self.operand.wrapping_add(add)
            }
            SourceKind::Cell | SourceKind::Local | SourceKind::Global => {
                self.add = self.add.wrapping_add(add)
            }
        }
        self
    }
}

/// A taken branch whose target step is not known yet.
struct Fixup {
    step: usize,
    target: u32,
    /// Whether operand `c` takes the step, not `a`.
    is_compare: bool,
}

struct Translator<'p> {
    program: &'p Program,
    code: Code,
    stack: Vec<Value>,
    /// Step of each instruction of the current function.
    step_of: Vec<u32>,
    fixups: Vec<Fixup>,
    /// Current instruction.
    at: u32,
    function: Function,
}

impl Code {
    /// Translates a program.
    pub(in crate::qvm) fn new(program: &Program) -> Self {
        let code = Self {
            steps: Vec::new(),
            origins: Vec::new(),
            functions: Vec::new(),
            jumps: Vec::new(),
        };
        let mut translator = Translator {
            program,
            code,
            stack: Vec::new(),
            step_of: Vec::new(),
            fixups: Vec::new(),
            at: 0,
            function: program.functions()[0],
        };
        // Constant calls name the index of their function until every first step is known.
        for function in program.functions() {
            translator.function(*function);
        }
        let mut code = translator.code;
        code.resolve_calls(program);
        code.steps.shrink_to_fit();
        code.origins.shrink_to_fit();
        code
    }

    /// Replaces function indices of constant calls by first steps.
    fn resolve_calls(&mut self, program: &Program) {
        for (step, origin) in self.steps.iter_mut().zip(&self.origins) {
            let is_call = program.instructions()[*origin as usize].opcode == Opcode::Call;
            // Steps before the call of the same instruction write cells and have another operand `d`.
            if is_call && step.d == CONSTANT_CALL {
                step.a = self.functions[step.a as usize].1;
            }
        }
    }
}

/// Operand `d` of a constant call.
const CONSTANT_CALL: u32 = 1;

impl Translator<'_> {
    fn emit(&mut self, handler: Handler, a: u32, b: u32, c: u32, d: u32) {
        self.code.steps.push(FusedStep { handler, a, b, c, d });
        self.code.origins.push(self.at);
    }

    fn function(&mut self, function: Function) {
        self.function = function;
        self.step_of.clear();
        self.code.functions.push((function.start, self.code.steps.len() as u32));
        let mut is_open = true;
        for at in function.start..function.end {
            self.at = at;
            let is_target = self.program.is_target(at);
            if is_target && is_open {
                self.flush();
            }
            if is_target || !is_open {
                self.stack.clear();
                let depth = self.program.depth(at) as u32;
                self.stack.extend((0..depth).map(|cell| Value::new(SourceKind::Cell, cell)));
            }
            self.step_of.push(self.code.steps.len() as u32);
            let instruction = self.program.instructions()[at as usize];
            self.instruction(instruction);
            is_open = !instruction.opcode.ends_path();
        }
        self.resolve_branches();
        if function.has_computed_jump {
            for (target, step) in (function.start..).zip(&self.step_of) {
                let is_listed = self.program.is_jump_target(target);
                self.code.jumps.push(if is_listed { *step } else { STOP });
            }
        }
    }

    fn step_of(&self, target: u32) -> u32 {
        self.step_of[(target - self.function.start) as usize]
    }

    /// Sets target steps. A backward branch goes through a step that charges the budget.
    fn resolve_branches(&mut self) {
        for fixup in std::mem::take(&mut self.fixups) {
            let mut step = self.step_of(fixup.target);
            let origin = self.code.origins[fixup.step];
            if fixup.is_compare && fixup.target <= origin {
                self.at = origin;
                let stub = self.code.steps.len() as u32;
                self.emit(steps::jump_back, step, origin - fixup.target + 1, 0, 0);
                step = stub;
            }
            let patched = &mut self.code.steps[fixup.step];
            if fixup.is_compare {
                patched.c = step;
            } else {
                patched.a = step;
            }
        }
    }

    /// Removes the top value and returns it with its position.
    fn pop(&mut self) -> (Value, u32) {
        let value = self.stack.pop().unwrap_or(Value::new(SourceKind::Constant, 0));
        (value, self.stack.len() as u32)
    }

    fn push(&mut self, kind: SourceKind, operand: u32) {
        self.stack.push(Value::new(kind, operand));
    }

    /// Pushes the cell of the next position, which a step has written.
    fn push_cell(&mut self) {
        self.push(SourceKind::Cell, self.stack.len() as u32);
    }

    /// Puts a value into the cell of its position.
    fn put_in_cell(&mut self, value: Value, position: u32) -> Value {
        let cell = Value::new(SourceKind::Cell, position);
        if value.add != 0 {
            self.emit_binary(
                Opcode::Add,
                value,
                Value::new(SourceKind::Constant, value.add),
                position,
            );
        } else if value.kind != SourceKind::Cell {
            self.emit(steps::copy_step(value.kind), value.operand, 0, position, 0);
        }
        cell
    }

    /// Returns a value without constant summand, as an operand.
    fn operand(&mut self, (value, position): (Value, u32)) -> Value {
        if value.add == 0 { value } else { self.put_in_cell(value, position) }
    }

    /// Returns a value as a first operand: not a constant.
    fn first_operand(&mut self, (value, position): (Value, u32)) -> Value {
        match value.kind {
            SourceKind::Constant => self.put_in_cell(value, position),
            SourceKind::Cell | SourceKind::Frame | SourceKind::Local | SourceKind::Global => {
                self.operand((value, position))
            }
        }
    }

    fn emit_binary(&mut self, opcode: Opcode, a: Value, b: Value, position: u32) {
        if let Some(handler) = steps::binary_step(opcode, a.kind, b.kind) {
            self.emit(handler, a.operand, b.operand, position, 0);
        }
    }

    /// Puts every value into its cell: at the end of a block, before a call.
    fn flush(&mut self) {
        self.flush_if(|_| true);
    }

    /// Puts loaded words into their cells, before memory changes.
    fn flush_loads(&mut self) {
        self.flush_if(|kind| matches!(kind, SourceKind::Local | SourceKind::Global));
    }

    fn flush_if(&mut self, is_flushed: fn(SourceKind) -> bool) {
        for position in 0..self.stack.len() {
            let value = self.stack[position];
            if is_flushed(value.kind) {
                self.stack[position] = self.put_in_cell(value, position as u32);
            }
        }
    }

    fn instruction(&mut self, Instruction { opcode, operand }: Instruction) {
        let word = operand as u32;
        match opcode {
            Opcode::Undefined | Opcode::Ignore | Opcode::Break => {}
            Opcode::Enter => {
                let cost = self.function.end - self.function.start;
                self.emit(steps::enter, word, cost, 0, 0);
            }
            Opcode::Leave => {
                let value = self.pop();
                let value = self.operand(value);
                self.emit(steps::leave_step(value.kind), value.operand, word, 0, 0);
            }
            Opcode::Call => self.call(),
            Opcode::Push => self.push(SourceKind::Constant, 0),
            Opcode::Pop => drop(self.stack.pop()),
            Opcode::Const => self.push(SourceKind::Constant, word),
            Opcode::Local => self.push(SourceKind::Frame, word),
            Opcode::Jump => self.jump(),
            Opcode::Load1 | Opcode::Load2 | Opcode::Load4 => self.load(opcode),
            Opcode::Store1 | Opcode::Store2 | Opcode::Store4 => {
                let value = self.pop();
                let address = self.pop();
                self.store(opcode, address, value);
            }
            Opcode::Arg => {
                let value = self.pop();
                self.store(Opcode::Store4, (Value::new(SourceKind::Frame, word), 0), value);
            }
            Opcode::BlockCopy => {
                let (source, position) = self.pop();
                let source = self.put_in_cell(source, position);
                let (target, position) = self.pop();
                let target = self.put_in_cell(target, position);
                self.flush_loads();
                self.emit(steps::block_copy, target.operand, source.operand, word, 0);
            }
            opcode if opcode.is_branch() => self.branch(opcode, word),
            opcode if opcode.operation().pops == 2 => self.binary(opcode),
            opcode => {
                let (value, position) = self.pop();
                let value = self.operand((value, position));
                if let Some(handler) = steps::unary_step(opcode, value.kind) {
                    self.emit(handler, value.operand, 0, position, 0);
                }
                self.push_cell();
            }
        }
    }

    fn call(&mut self) {
        let constant = self.program.constant_target(self.at);
        let (target, position) = self.pop();
        let target = match constant {
            Some(_) => target,
            None => self.put_in_cell(target, position),
        };
        self.flush();
        match constant {
            Some(number) if number < 0 => {
                self.emit(steps::service, !number as u32, 0, position, 0);
            }
            Some(number) => {
                let index = self.program.function_index(number as u32) as u32;
                self.emit(steps::call, index, 0, position, CONSTANT_CALL);
            }
            None => self.emit(steps::call_cell, target.operand, 0, position, 0),
        }
        self.push_cell();
    }

    fn jump(&mut self) {
        let (value, position) = self.pop();
        let Some(target) = self.program.constant_target(self.at) else {
            let value = self.put_in_cell(value, position);
            let Function { start, end, .. } = self.function;
            let first = self.code.jumps.len() as u32;
            self.emit(steps::jump_cell, value.operand, first, start, end - start);
            return;
        };
        let target = target as u32;
        self.flush();
        let step = self.code.steps.len();
        if target <= self.at {
            self.emit(steps::jump_back, 0, self.at - target + 1, 0, 0);
        } else {
            self.emit(steps::jump, 0, 0, 0, 0);
        }
        self.fixups.push(Fixup { step, target, is_compare: false });
    }

    fn branch(&mut self, opcode: Opcode, target: u32) {
        let b = self.pop();
        let b = self.operand(b);
        let a = self.pop();
        let a = self.first_operand(a);
        self.flush();
        let step = self.code.steps.len();
        if let Some(handler) = steps::compare_step(opcode, a.kind, b.kind) {
            self.emit(handler, a.operand, b.operand, 0, 0);
            self.fixups.push(Fixup { step, target, is_compare: true });
        }
    }

    fn binary(&mut self, opcode: Opcode) {
        let (b, b_position) = self.pop();
        let (a, position) = self.pop();
        let sum = match (opcode, a.kind, b.kind) {
            (Opcode::Add, _, SourceKind::Constant) => Some(a.plus(b.operand)),
            (Opcode::Sub, _, SourceKind::Constant) => Some(a.plus(b.operand.wrapping_neg())),
            // A cell above the position of the sum would be overwritten by the next value.
            (
                Opcode::Add,
                SourceKind::Constant,
                SourceKind::Frame | SourceKind::Local | SourceKind::Global,
            ) => Some(b.plus(a.operand)),
            _ => None,
        };
        if let Some(sum) = sum {
            return self.stack.push(sum);
        }
        let b = self.operand((b, b_position));
        let a = self.first_operand((a, position));
        self.emit_binary(opcode, a, b, position);
        self.push_cell();
    }

    fn load(&mut self, opcode: Opcode) {
        let (address, position) = self.pop();
        match (opcode, address.kind) {
            (Opcode::Load4, SourceKind::Constant) => self.push(SourceKind::Global, address.operand),
            (Opcode::Load4, SourceKind::Frame) => self.push(SourceKind::Local, address.operand),
            _ => {
                let handler = steps::load_step(opcode, address.kind);
                self.emit(handler, address.operand, address.add, position, 0);
                self.push_cell();
            }
        }
    }

    fn store(&mut self, opcode: Opcode, address: (Value, u32), value: (Value, u32)) {
        let value = self.operand(value);
        self.flush_loads();
        let address = address.0;
        let handler = steps::store_step(opcode, address.kind, value.kind);
        self.emit(handler, address.operand, value.operand, address.add, 0);
    }
}
