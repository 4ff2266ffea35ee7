//! A machine: a verified program, its memory, and an engine that runs it.
//!
//! The host enters with 13 words and gets a result or a fault. The module calls services of the host, which
//! may enter again. Both engines charge the same budget at the same places:
//!
//! * *enter* charges the number of instructions of its function, after its check of the program stack;
//! * a taken branch or jump to the same or an earlier instruction charges the distance plus 1;
//! * a block copy charges a 16th of its length, before it copies.
//!
//! A charge above the remaining budget is a fault at that instruction. Checks of a call, in this order:
//! target, call depth (both at *call*), program stack, budget (both at *enter*). The budget spans an
//! outermost entry and all entries inside it.
//!
//! Invariants: after an entry, successful or not, the program stack pointer and the call depth are as
//! before; entries do not allocate, unless they fault. Source: Quake III QVM format.

use std::{fmt, sync::Arc};

use thiserror::Error;

#[cfg(feature = "compiler")]
use super::compiler::{self, CompileError};
use super::{
    fault::{Fault, FaultKind},
    interpreter::{self, Code},
    library,
    memory::Memory,
    program::Program,
};

/// Words of an entry: its number and twelve arguments.
pub const ENTRY_ARGUMENTS: usize = 13;
/// Arguments that a service sees.
pub const SERVICE_ARGUMENTS: usize = 15;
/// Most open entries.
pub const MAX_ENTRIES: u32 = 8;
/// Most open calls of functions, over all open entries.
pub const MAX_CALLS: u32 = 1024;
/// Budget of an outermost entry, in instructions.
pub const DEFAULT_BUDGET: u64 = 500_000_000;
/// Bytes of a frame that the host builds for an entry.
const ENTRY_FRAME: u32 = 8 + 4 * ENTRY_ARGUMENTS as u32;
/// Bytes of a block copy that cost as much as one instruction.
pub(super) const COPY_UNIT: u32 = 16;

/// Engine of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Interpreter of decoded instructions.
    #[default]
    Interpreter,
    /// Machine code.
    Compiled,
}

/// Reason why a machine was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The build has no feature `compiler`.
    #[error("this build compiles no game modules (add: cargo build --features compiler)")]
    NoCompiler,
    /// The program was not compiled.
    #[cfg(feature = "compiler")]
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// Call of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceCall {
    /// Number of the service.
    pub number: u32,
    /// Arguments. Words that the module did not write hold what its frame holds.
    pub arguments: [i32; SERVICE_ARGUMENTS],
}

/// Services of the host. The machine serves numbers 100 to 111, the C library, itself.
pub trait Services {
    /// Serves a call. The machine gives access to memory and may be entered again.
    fn call(&mut self, machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind>;
}

impl<F: FnMut(&mut Machine, ServiceCall) -> Result<i32, FaultKind>> Services for F {
    fn call(&mut self, machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
        self(machine, call)
    }
}

/// Code of a program, in the form that its engine runs. Machines share it.
#[derive(Clone)]
pub struct Executable {
    program: Arc<Program>,
    code: Prepared,
}

#[derive(Clone)]
enum Prepared {
    Interpreter(Arc<Code>),
    #[cfg(feature = "compiler")]
    Compiled(Arc<compiler::Code>),
    /// Interpreted until the code is compiled.
    #[cfg(feature = "compiler")]
    Compiling(Arc<Code>, compiler::Compilation),
    #[cfg(test)]
    Plain,
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable").field("engine", &self.engine()).finish_non_exhaustive()
    }
}

impl Executable {
    /// Prepares the code of a program for an engine. Of the program, it keeps what memory and faults need.
    ///
    /// # Errors
    /// The engine is not available, or cannot compile the program.
    pub fn new(program: &Program, engine: Engine) -> Result<Self, EngineError> {
        let code = match engine {
            Engine::Interpreter => Prepared::Interpreter(Arc::new(Code::new(program))),
            #[cfg(feature = "compiler")]
            Engine::Compiled => Prepared::Compiled(Arc::new(compiler::Code::new(program)?)),
            #[cfg(not(feature = "compiler"))]
            Engine::Compiled => return Err(EngineError::NoCompiler),
        };
        Ok(Self { program: Arc::new(program.without_code()), code })
    }

    /// Prepares the code of a program for the interpreter, and compiles it on a thread of its own. Machines change
    /// to the compiled code between two entries. At its end, the thread calls `report` with a description.
    ///
    /// # Errors
    /// The compiler is not available, or the program takes too long to compile.
    pub fn compiled_beside(
        program: &Arc<Program>,
        report: impl FnOnce(Result<String, EngineError>) + Send + 'static,
    ) -> Result<Self, EngineError> {
        #[cfg(feature = "compiler")]
        {
            let report = |end: Result<&compiler::Code, CompileError>| {
                report(end.map(compiler::Code::description).map_err(EngineError::from));
            };
            let compilation = compiler::Compilation::start(Arc::clone(program), report)?;
            let code = Prepared::Compiling(Arc::new(Code::new(program)), compilation);
            Ok(Self { program: Arc::new(program.without_code()), code })
        }
        #[cfg(not(feature = "compiler"))]
        {
            let _ = (program, report);
            Err(EngineError::NoCompiler)
        }
    }

    /// Takes over the compiled code, if a thread has finished it.
    #[cfg(feature = "compiler")]
    fn adopt_compiled(&mut self) {
        let Prepared::Compiling(interpreted, compilation) = &self.code else { return };
        self.code = match compilation.progress() {
            compiler::Progress::Compiling => return,
            compiler::Progress::Compiled(code) => Prepared::Compiled(code),
            compiler::Progress::Failed => Prepared::Interpreter(Arc::clone(interpreted)),
        };
    }

    /// Engine that runs the code, or will run it when it is compiled.
    pub fn engine(&self) -> Engine {
        match self.code {
            Prepared::Interpreter(_) => Engine::Interpreter,
            #[cfg(feature = "compiler")]
            Prepared::Compiled(_) | Prepared::Compiling(..) => Engine::Compiled,
            #[cfg(test)]
            Prepared::Plain => Engine::Interpreter,
        }
    }

    /// Number of instructions of the program.
    pub fn instruction_count(&self) -> u32 {
        self.program.image().instruction_count
    }

    /// Description of the engine for the log, with length and pages of machine code.
    pub fn description(&self) -> String {
        match &self.code {
            #[cfg(feature = "compiler")]
            Prepared::Compiled(code) => code.description(),
            #[cfg(feature = "compiler")]
            Prepared::Compiling(..) => "interpreted until it is compiled".to_owned(),
            _ => "interpreted".to_owned(),
        }
    }
}

/// A module that the host can enter.
pub struct Machine {
    executable: Executable,
    pub(super) memory: Memory,
    /// Program stack pointer of the next entry.
    pub(super) stack_pointer: u32,
    /// Open entries.
    entries: u32,
    /// Open calls, over all open entries.
    pub(super) open_calls: u32,
    budget: u64,
    /// Rest of the budget of the outermost open entry.
    pub(super) remaining: u64,
    /// Stacks of the interpreter.
    pub(super) stacks: interpreter::Stacks,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("executable", &self.executable).finish_non_exhaustive()
    }
}

impl Machine {
    /// Prepares the code of a program for an engine, and allocates the memory.
    ///
    /// # Errors
    /// See [`Executable::new`].
    pub fn new(program: Arc<Program>, engine: Engine) -> Result<Self, EngineError> {
        Executable::new(&program, engine).map(Self::of)
    }

    /// Allocates the memory of a machine that runs the code.
    pub fn of(executable: Executable) -> Self {
        let memory = Memory::new(executable.program.image());
        Self {
            executable,
            stack_pointer: memory.size(),
            memory,
            entries: 0,
            open_calls: 0,
            budget: DEFAULT_BUDGET,
            remaining: DEFAULT_BUDGET,
            stacks: interpreter::Stacks::default(),
        }
    }

    /// Code of the machine.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// Allocates the memory of a machine that runs in the oracle of the tests.
    #[cfg(test)]
    pub(super) fn plain(program: Arc<Program>) -> Self {
        Self::of(Executable { program, code: Prepared::Plain })
    }

    /// Program of the machine, without its instructions.
    pub(super) fn program(&self) -> &Arc<Program> {
        &self.executable.program
    }

    /// Memory of the module.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Memory of the module, for stores.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Number of open entries; 0 outside of [`Machine::enter`].
    pub fn entry_depth(&self) -> u32 {
        self.entries
    }

    /// Sets the budget of later outermost entries, in instructions.
    pub fn set_budget(&mut self, instructions: u64) {
        self.budget = instructions;
    }

    /// Rest of the budget of the current or last outermost entry, in instructions.
    pub fn remaining_budget(&self) -> u64 {
        self.remaining
    }

    /// Used part of the budget of the current or last outermost entry, in percent.
    pub fn used_budget_percent(&self) -> u64 {
        let used = self.budget.saturating_sub(self.remaining);
        used.saturating_mul(100) / self.budget.max(1)
    }

    /// Charges work of a service to the budget, in instructions.
    pub fn charge(&mut self, instructions: u64) -> Result<(), FaultKind> {
        self.remaining = self.remaining.checked_sub(instructions).ok_or(FaultKind::Budget)?;
        Ok(())
    }

    /// Restarts the module in place: zeroes its memory and copies data and literals again.
    pub fn reset(&mut self) {
        self.memory.reset(self.executable.program.image());
    }

    /// Enters the module at instruction 0. The first argument is the number of the entry.
    pub fn enter(
        &mut self,
        services: &mut dyn Services,
        arguments: &[i32; ENTRY_ARGUMENTS],
    ) -> Result<i32, Fault> {
        if self.entries >= MAX_ENTRIES {
            return Err(Fault::new(FaultKind::EntryDepth(MAX_ENTRIES), self.program(), 0));
        }
        let outer = self.stack_pointer;
        let stack = self.memory.stack_limit()..=self.memory.size();
        let frame = outer.checked_sub(ENTRY_FRAME).filter(|frame| stack.contains(frame));
        let Some(frame) = frame.filter(|_| stack.contains(&outer)) else {
            return Err(Fault::new(FaultKind::StackOverflow, self.program(), 0));
        };
        if self.entries == 0 {
            self.remaining = self.budget;
            #[cfg(feature = "compiler")]
            self.executable.adopt_compiled();
        }
        let header = [-1, 0];
        for (address, word) in (frame..).step_by(4).zip(header.iter().chain(arguments)) {
            self.memory.store4(address, *word);
        }
        let (entries, open_calls) = (self.entries, self.open_calls);
        self.entries += 1;
        self.stack_pointer = frame;
        let result = match self.executable.code.clone() {
            Prepared::Interpreter(code) => interpreter::run(self, &code, services),
            #[cfg(feature = "compiler")]
            Prepared::Compiling(code, _) => interpreter::run(self, &code, services),
            #[cfg(feature = "compiler")]
            Prepared::Compiled(code) => compiler::run(self, &code, services),
            #[cfg(test)]
            Prepared::Plain => super::plain::run(self, services),
        };
        self.stack_pointer = outer;
        // Stored again and not counted down, since a service may replace the machine.
        (self.entries, self.open_calls) = (entries, open_calls);
        result
    }

    /// Serves a call of a function whose frame starts at `frame`. Engines call it at *call*.
    ///
    /// The call is one of the C library or of a service of the host.
    pub(super) fn serve(
        &mut self,
        services: &mut dyn Services,
        number: u32,
        frame: u32,
    ) -> Result<i32, FaultKind> {
        self.memory.store4(frame.wrapping_add(4), number as i32);
        if let Some(result) = library::serve(self, number, frame) {
            return result;
        }
        let arguments = self.memory.words(frame.wrapping_add(8));
        let outer = self.stack_pointer;
        // Entries made by the service build their frames below the caller's.
        self.stack_pointer = frame.wrapping_sub(4);
        let result = services.call(self, ServiceCall { number, arguments });
        self.stack_pointer = outer;
        result
    }
}
