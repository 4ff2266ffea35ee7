//! Compiling beside the interpreter: a thread makes the code while the module runs interpreted.
//!
//! Invariant: only speed depends on the time when the thread ends, since both engines have the same results, faults
//! and charges.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, TryLockError},
    thread,
};

use super::{Code, CompileError, estimate, native_isa};
use crate::qvm::program::Program;

/// Code that a thread compiles. Machines of the program share it.
#[derive(Clone, Debug)]
pub(in crate::qvm) struct Compilation(Arc<Mutex<Progress>>);

/// Progress of a thread.
#[derive(Clone, Debug)]
pub(in crate::qvm) enum Progress {
    /// The thread compiles.
    Compiling,
    /// The code is ready.
    Compiled(Arc<Code>),
    /// The program was not compiled.
    Failed,
}

impl Compilation {
    /// Starts a thread that compiles a program and calls `report` at its end. It leaves one processor to others.
    ///
    /// # Errors
    /// The processor is not supported, the estimate of the work exceeds its limit, or the system gave no thread.
    pub(in crate::qvm) fn start(
        program: Arc<Program>,
        report: impl FnOnce(Result<&Code, CompileError>) + Send + 'static,
    ) -> Result<Self, CompileError> {
        estimate::check(&program)?;
        let isa = native_isa()?;
        let progress = Arc::new(Mutex::new(Progress::Compiling));
        let compilation = Self(Arc::clone(&progress));
        let compile = move || {
            let processors = thread::available_parallelism().map_or(1, NonZero::get);
            let result = Code::with_threads(&program, isa, processors - 1).map(Arc::new);
            let end = result
                .as_ref()
                .map_or(Progress::Failed, |code| Progress::Compiled(Arc::clone(code)));
            if let Ok(mut progress) = progress.lock() {
                *progress = end;
            }
            match result {
                Ok(code) => report(Ok(&*code)),
                Err(error) => report(Err(error)),
            }
        };
        let thread = thread::Builder::new().name("qvm compiler".to_owned()).spawn(compile);
        thread.map_err(|error| CompileError::Thread(error.to_string()))?;
        Ok(compilation)
    }

    /// Progress of the thread. It never waits.
    pub(in crate::qvm) fn progress(&self) -> Progress {
        match self.0.try_lock() {
            Ok(progress) => progress.clone(),
            Err(TryLockError::WouldBlock) => Progress::Compiling,
            Err(TryLockError::Poisoned(_)) => Progress::Failed,
        }
    }
}
