//! Options of `qvm`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::game_folder;
use super::number::{ANY_I32, ANY_U64, number};
use crate::settings::GameFolder;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd qvm check vm/qagame.qvm                verify a module and show its sizes
  fragd qvm check vm/qagame.qvm --json         the same for scripts
  fragd qvm disasm vm/qagame.qvm --map qagame.map -o qagame.asm
  fragd qvm asm hello.asm                      write hello.qvm and hello.map
  fragd qvm run hello.asm 0 3 4                enter with 0, 3 and 4, print the result
  fragd qvm compare vm/qagame.qvm              compare the rules of fragd with a module

docs/modules.md describes the text form.
Exit codes: 0 success, 1 invalid file, fault or error of a file, 2 usage error.";

const CHECK_EXAMPLES: &str = "\
Examples:
  fragd qvm check vm/qagame.qvm                sizes, functions and services
  fragd qvm check vm/qagame.qvm --map qagame.map   errors with names of functions
  fragd qvm check hello.asm --json             an assembler text, as JSON

Exit codes: 0 valid, 1 invalid or not readable, 2 usage error.";

const ASM_EXAMPLES: &str = "\
Examples:
  fragd qvm asm hello.asm                      write hello.qvm and hello.map
  fragd qvm asm hello.asm -o vm/qagame.qvm     write vm/qagame.qvm and vm/qagame.map
  fragd qvm asm broken.asm --unverified        an image that the verifier rejects, for tests

Exit codes: 0 success, 1 error in the text or of a file, 2 usage error.";

const DISASM_EXAMPLES: &str = "\
Examples:
  fragd qvm disasm vm/qagame.qvm               print the listing
  fragd qvm disasm vm/qagame.qvm --map qagame.map --numbers
  fragd qvm disasm vm/qagame.qvm -o qagame.asm

The listing assembles to the same image. Images that the verifier rejects are listed, too.
Exit codes: 0 success, 1 image not readable, 2 usage error.";

const RUN_EXAMPLES: &str = "\
Examples:
  fragd qvm run hello.asm 0 3 4                enter with 0 as word 0, 3 as word 1 and 4 as word 2
  fragd qvm run hello.qvm 0 3 4 --engine compiled --json
  fragd qvm run loop.asm --budget 1000000      a fault after a million instructions
  fragd qvm run vm/qagame.qvm 8 --stub         unknown services return 0

Services: 0 prints, 1 reports an error, 100 to 111 are the C library.
Exit codes: 0 success, 1 invalid file or fault, 2 usage error.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  fragd qvm compare vm/qagame.qvm                    all plays, rules of baseoa
  fragd qvm compare q3/vm/qagame.qvm --game baseq3   rules of baseq3
  fragd qvm compare vm/qagame.qvm --play door        plays whose names contain a word
  fragd qvm compare vm/qagame.qvm --file own.play    plays of a file
  fragd qvm compare vm/qagame.qvm --random 20 --level oa_dm1 --json
  fragd qvm compare vm/qagame.qvm --record baseoa.recording     keep what the module does
  fragd qvm compare --against baseoa.recording       compare with it, without the module

docs/modules.md describes the text form of plays.
Exit codes: 0 no unexplained difference, 1 differences or invalid module, recording or play, 2 usage error.";

/// Options of `qvm`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct QvmOptions {
    /// Task
    #[command(subcommand)]
    pub task: QvmTask,
}

/// Subcommands of `qvm`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum QvmTask {
    /// Verify a module and show its sizes
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckOptions),
    /// Assemble a text to an image and its symbols
    #[command(after_help = ASM_EXAMPLES)]
    Asm(AsmOptions),
    /// List an image as assembler text
    #[command(after_help = DISASM_EXAMPLES)]
    Disasm(DisasmOptions),
    /// Enter a module once and print the result
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Compare the native rules with a module, frame by frame in virtual time
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareOptions),
}

/// Options of `qvm compare`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct CompareOptions {
    /// Image of the module to compare with, or assembler text if the name ends with .asm
    #[arg(value_name = "FILE", required_unless_present_any = ["against", "known"])]
    pub module: Option<PathBuf>,
    /// Symbols for names in messages; default those of an assembler text
    #[arg(long, value_name = "FILE.map", conflicts_with = "against")]
    pub map: Option<PathBuf>,
    /// Write what the module does in the plays to this file
    #[arg(long, value_name = "FILE.recording", conflicts_with_all = ["against", "known"])]
    pub record: Option<PathBuf>,
    /// Compare with the recording of a module instead of a module
    #[arg(long, value_name = "FILE.recording", conflicts_with_all = ["module", "engine"])]
    pub against: Option<PathBuf>,
    /// Ruleset of the native rules; default that of the recording, or baseoa
    #[arg(long, value_name = "GAME", value_parser = game_folder)]
    pub game: Option<GameFolder>,
    /// Engine of the module
    #[arg(long, value_name = "ENGINE", value_enum, default_value = "interpreter")]
    pub engine: EngineChoice,
    /// Plays whose names contain this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub play: String,
    /// Plays of this file instead of those of the program
    #[arg(long = "file", value_name = "FILE.play")]
    pub plays: Option<PathBuf>,
    /// Random plays instead of those of the program
    #[arg(long, value_name = "PLAYS", value_parser = number::<u32>(1..=10_000))]
    pub random: Option<u32>,
    /// Seed of the first random play
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(ANY_U64))]
    pub seed: u64,
    /// Players of a random play
    #[arg(long, default_value_t = 2, value_parser = number::<u8>(1..=16))]
    pub players: u8,
    /// Seconds of a random play
    #[arg(long, default_value_t = 20, value_parser = number::<u32>(1..=600))]
    pub seconds: u32,
    /// Map of random plays; default an empty hall
    #[arg(long, value_name = "MAP", default_value = "", hide_default_value = true)]
    pub level: String,
    /// Directories with game data, separated as in PATH; default the usual ones
    #[arg(long, value_name = "DIRS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Print the table of accepted differences and exit
    #[arg(long)]
    pub known: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A module on the command line.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// Image, or assembler text if the name ends with .asm
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Symbols for names in messages; default those of an assembler text
    #[arg(long, value_name = "FILE.map")]
    pub map: Option<PathBuf>,
}

/// Options of `qvm check`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Module to verify
    #[command(flatten)]
    pub module: ModuleFile,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `qvm asm`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct AsmOptions {
    /// Assembler text
    #[arg(value_name = "FILE.asm")]
    pub source: PathBuf,
    /// Write the image to this file; default beside the text. The symbols go beside it as .map
    #[arg(short, long, value_name = "FILE.qvm")]
    pub output: Option<PathBuf>,
    /// Write the image even if the verifier rejects it
    #[arg(long)]
    pub unverified: bool,
}

/// Options of `qvm disasm`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DisasmOptions {
    /// Module to list
    #[command(flatten)]
    pub module: ModuleFile,
    /// Write the listing to this file
    #[arg(short, long, value_name = "FILE.asm")]
    pub output: Option<PathBuf>,
    /// Show the number of each instruction
    #[arg(long)]
    pub numbers: bool,
}

/// Options of `qvm run`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Module to enter
    #[command(flatten)]
    pub module: ModuleFile,
    /// Words of the entry: its number and up to 12 arguments
    #[arg(value_name = "WORD", num_args = 0..=13, allow_negative_numbers = true,
        value_parser = number::<i32>(ANY_I32))]
    pub words: Vec<i32>,
    /// Engine
    #[arg(long, value_name = "ENGINE", value_enum, default_value = "interpreter")]
    pub engine: EngineChoice,
    /// Instructions after which the entry ends with a fault
    #[arg(long, value_name = "INSTRUCTIONS", default_value_t = 500_000_000,
        value_parser = number::<u64>(ANY_U64))]
    pub budget: u64,
    /// Let unknown services return 0 instead of a fault
    #[arg(long)]
    pub stub: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Engine on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// Interpreter of decoded instructions
    Interpreter,
    /// Machine code; needs the feature compiler
    Compiled,
}
