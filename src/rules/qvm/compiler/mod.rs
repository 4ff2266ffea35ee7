//! Compiler: machine code of a verified program, made by Cranelift before the first entry.
//!
//! Each function of the module becomes one function of machine code. Cells of the operand stack are values
//! of Cranelift (registers and native stack slots), so no operand stack exists that could overflow. Locals
//! and arguments stay in the memory of the module, where the module may take their addresses.
//!
//! This is the only module with `unsafe` code. What keeps a hostile module inside its sandbox:
//!
//! * **Memory**: each address is combined with the mask of the block in the code itself. Only accesses
//!   relative to the frame go without: *enter* checks the frame, and their offset is checked here.
//! * **Control flow**: branches are verified. Computed jumps go through a table of the function, calls
//!   through a table of all functions. Neither can reach an address that is not in its table.
//! * **Native stack**: the number of open calls is bounded by [`MAX_CALLS`], and the native frame of each
//!   function by [`MAX_NATIVE_FRAME`], so that all frames together need 1 MiB at most.
//! * **Endless loops**: the code charges the budget at the places that [`super::machine`] lists.
//! * **Faults**: a status that every function returns. No signal and no unwinding takes part; divisors are
//!   checked before the division.
//! * **Panics of the host**: caught in the callback, carried as a status, resumed behind the entry.
//! * **Pages**: of a sealed file, or filled while writable and then made executable and read-only; never both.
//! * **Compile time**: the work is estimated in linear time before it is done, and limited, as is the length of the code.
//!
//! Functions are compiled by several threads, and the code does not depend on their number.
//! Invariants: results, faults, call stacks and the rest of the budget are those of the interpreter.
//! Source: Quake III QVM format.

mod beside;
mod calls;
mod cells;
mod emitter;
mod entry;
mod estimate;
mod function;
mod jumps;
mod operations;
mod pages;
#[cfg(test)]
mod tests;

use std::{num::NonZero, ops::Range, thread};

use cranelift_codegen::{
    Context,
    binemit::Reloc,
    control::ControlPlane,
    ir::{ExternalName, UserFuncName},
    isa::{self, OwnedTargetIsa},
    settings::{self, Configurable},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use thiserror::Error;

pub(super) use beside::{Compilation, Progress};
pub(super) use entry::run;
use pages::Pages;

use super::{machine::MAX_CALLS, program::Program};

/// Largest native frame of a compiled function, in bytes.
pub const MAX_NATIVE_FRAME: u32 = (1 << 20) / MAX_CALLS;
/// Start of a function in machine code; processors fetch instructions in such lines.
const ALIGNMENT: usize = 16;
/// Byte between functions. It is never reached; it would stop a debugger there.
const PADDING: u8 = 0xcc;
/// Most machine code of a program, in bytes. Known modules have 3 MiB.
const MAX_CODE_LEN: usize = 64 << 20;
/// Most threads that compile one program.
const MAX_THREADS: usize = 8;

/// Reason why a program was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The processor or the operating system is not supported.
    #[error("no machine code for this processor (expected x86-64)")]
    Processor,
    /// Cranelift rejected its settings or a function.
    #[error("function at instruction {function} not compiled: {reason}")]
    Function {
        /// Instruction number of its *enter*.
        function: u32,
        /// Reason, one line.
        reason: String,
    },
    /// The native frame of a function exceeds [`MAX_NATIVE_FRAME`].
    #[error(
        "native frame of the function at instruction {function} too large: {bytes} bytes (max \
         {MAX_NATIVE_FRAME})"
    )]
    Frame {
        /// Instruction number of its *enter*.
        function: u32,
        /// Size of the frame, in bytes.
        bytes: u32,
    },
    /// The program would take too long to compile.
    #[error("too much work to compile: {work} units (max {max})")]
    Work {
        /// Estimate of the work.
        work: u64,
        /// Limit.
        max: u64,
    },
    /// The machine code exceeds its limit.
    #[error("machine code too large: over {max} bytes")]
    Size {
        /// Limit, in bytes.
        max: usize,
    },
    /// The operating system gave no memory for code.
    #[error("no executable memory: {0}")]
    Pages(String),
    /// The operating system gave no thread.
    #[error("no thread to compile: {0}")]
    Thread(String),
}

/// Machine code of a program.
#[derive(Debug)]
pub(super) struct Code {
    /// The code. Its first function is the entry trampoline.
    pages: Pages,
    /// Offset in the pages of the function that starts at an instruction, else 0.
    entries: Box<[u32]>,
    /// Size of the block of the program, in bytes. The code contains its mask.
    block_size: u32,
}

impl Code {
    /// Compiles every function of a program.
    pub(super) fn new(program: &Program) -> Result<Self, CompileError> {
        estimate::check(program)?;
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_threads(program, native_isa()?, threads)
    }

    /// Compiles every function of a program whose work is within the limit.
    fn with_threads(
        program: &Program,
        isa: OwnedTargetIsa,
        threads: usize,
    ) -> Result<Self, CompileError> {
        let shares = shares(program, threads.clamp(1, MAX_THREADS));
        let mut parts: Vec<Result<Part, CompileError>> = Vec::with_capacity(shares.len());
        thread::scope(|scope| {
            let compile = |share: Range<usize>| {
                let isa = isa.clone();
                move || Compiler::new(program, isa).part(share)
            };
            let mut shares = shares.into_iter();
            let own = shares.next().map(compile);
            let others: Vec<_> = shares.map(|share| scope.spawn(compile(share))).collect();
            parts.extend(own.map(|own| own()));
            parts.extend(others.into_iter().map(|other| {
                other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }));
        });
        let mut code = Linker::new(program);
        for part in parts {
            code.append(part?)?;
        }
        let (bytes, entries) = code.link();
        let pages = Pages::new(&bytes).map_err(|e| CompileError::Pages(e.to_string()))?;
        Ok(Self { pages, entries, block_size: program.image().block_size() })
    }

    /// Description for the log: length and pages of the code.
    pub(super) fn description(&self) -> String {
        let (kib, pages) = (self.pages.length() / 1024, self.pages.origin().name());
        format!("compiled to {kib} KiB in {pages}")
    }
}

/// Cranelift for the native processor, with its baseline instructions.
///
/// Instructions of newer processors would gain little: the code is loads, stores and scalar floats.
fn native_isa() -> Result<OwnedTargetIsa, CompileError> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err(CompileError::Processor);
    }
    let reason = |error: &dyn std::fmt::Display| CompileError::Function {
        function: 0,
        reason: error.to_string(),
    };
    let mut flags = settings::builder();
    let values = [
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(test) { "true" } else { "false" }),
        // Frames above a page touch each page, so that a guard page is never skipped.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ];
    for (name, value) in values {
        flags.set(name, value).map_err(|e| reason(&e))?;
    }
    let builder = isa::lookup_by_name("x86_64").map_err(|e| reason(&e))?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| reason(&e))
}

fn check_length(len: usize) -> Result<(), CompileError> {
    if len > MAX_CODE_LEN { Err(CompileError::Size { max: MAX_CODE_LEN }) } else { Ok(()) }
}

/// Splits the functions of a program into runs of about as many instructions.
fn shares(program: &Program, count: usize) -> Vec<Range<usize>> {
    let functions = program.functions();
    let most = program.instructions().len().div_ceil(count.max(1)).max(1);
    let end_of = |share: usize| {
        functions.partition_point(|function| (function.start as usize) < most * (share + 1))
    };
    let mut first = 0;
    (0..count.max(1)).map(|share| std::mem::replace(&mut first, end_of(share))..first).collect()
}

/// A call of a function in the code, to be linked.
struct Link {
    /// Offset of the 4 bytes of the distance.
    at: usize,
    /// Index of the called function.
    function: usize,
    addend: i64,
}

/// Machine code of some functions, which one thread compiled.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    links: Vec<Link>,
    /// Instruction number of each function, and its offset in the bytes.
    functions: Vec<(u32, usize)>,
}

/// Assembly of the parts. The parts are appended in the order of their functions, so that the code does not depend on
/// the number of threads.
struct Linker<'a> {
    program: &'a Program,
    bytes: Vec<u8>,
    links: Vec<Link>,
    entries: Box<[u32]>,
}

impl<'a> Linker<'a> {
    fn new(program: &'a Program) -> Self {
        let entries = vec![0; program.instructions().len()].into_boxed_slice();
        Self { program, bytes: Vec::new(), links: Vec::new(), entries }
    }

    fn append(&mut self, part: Part) -> Result<(), CompileError> {
        let start = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(start, PADDING);
        self.bytes.extend_from_slice(&part.bytes);
        check_length(self.bytes.len())?;
        self.links.extend(part.links.into_iter().map(|link| Link { at: start + link.at, ..link }));
        for (function, offset) in part.functions {
            self.entries[function as usize] = u32::try_from(start + offset).map_err(|_| {
                CompileError::Function { function, reason: "code exceeds 4 GiB".to_owned() }
            })?;
        }
        Ok(())
    }

    /// Writes the distances of all calls. Returns the code and the offset of each function.
    fn link(mut self) -> (Vec<u8>, Box<[u32]>) {
        for link in &self.links {
            let start = self.program.functions()[link.function].start;
            let target = i64::from(self.entries[start as usize]);
            let distance = target + link.addend - link.at as i64;
            let bytes = (distance as i32).to_le_bytes();
            self.bytes[link.at..link.at + 4].copy_from_slice(&bytes);
        }
        (self.bytes, self.entries)
    }
}

struct Compiler<'a> {
    program: &'a Program,
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    control: ControlPlane,
    part: Part,
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, isa: OwnedTargetIsa) -> Self {
        Self {
            program,
            isa,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            control: ControlPlane::default(),
            part: Part::default(),
        }
    }

    /// Compiles some functions; the trampoline is in front of the first function.
    fn part(mut self, functions: Range<usize>) -> Result<Part, CompileError> {
        if functions.start == 0 {
            self.trampoline()?;
        }
        for index in functions {
            self.function(index)?;
        }
        Ok(self.part)
    }

    /// Compiles the function that the host calls. Its convention is that of the operating system.
    fn trampoline(&mut self) -> Result<(), CompileError> {
        self.context.clear();
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        function::trampoline(&mut builder);
        builder.seal_all_blocks();
        builder.finalize();
        self.emit(0).map(drop)
    }

    /// Compiles a function of the program.
    fn function(&mut self, index: usize) -> Result<(), CompileError> {
        self.context.clear();
        let function = self.program.functions()[index];
        self.context.func.name = UserFuncName::user(0, index as u32);
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        function::Translator::new(self.program, function, &mut builder).translate();
        builder.seal_all_blocks();
        builder.finalize();
        let offset = self.emit(function.start)?;
        self.part.functions.push((function.start, offset));
        Ok(())
    }

    /// Compiles the function in the context and appends its code. Returns its offset.
    fn emit(&mut self, function: u32) -> Result<usize, CompileError> {
        let failed = |reason: String| CompileError::Function { function, reason };
        let compiled = self.context.compile(&*self.isa, &mut self.control);
        compiled.map_err(|error| failed(format!("{:?}", error.inner)))?;
        let Some(compiled) = self.context.compiled_code() else { return Ok(0) };
        if compiled.frame_size > MAX_NATIVE_FRAME {
            return Err(CompileError::Frame { function, bytes: compiled.frame_size });
        }
        let Part { bytes, links, .. } = &mut self.part;
        let start = bytes.len().next_multiple_of(ALIGNMENT);
        bytes.resize(start, PADDING);
        bytes.extend_from_slice(compiled.code_buffer());
        check_length(bytes.len())?;
        for reloc in compiled.buffer.relocs() {
            let name = match &reloc.target {
                cranelift_codegen::FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                    *name
                }
                other => return Err(failed(format!("unknown reference {other:?}"))),
            };
            if reloc.kind != Reloc::X86CallPCRel4 {
                return Err(failed(format!("unknown reference {:?}", reloc.kind)));
            }
            let function = self.context.func.params.user_named_funcs()[name].index as usize;
            links.push(Link { at: start + reloc.offset as usize, function, addend: reloc.addend });
        }
        Ok(start)
    }
}
