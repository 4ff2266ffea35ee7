//! State folder: small files that outlast a server, such as its list of bans.
//!
//! Invariant: a write never waits for the disk, except the last one.

use std::fmt;

/// Folder of small files, each of which is read and replaced as a whole. Names are those of the program.
pub trait StateFolder: fmt::Debug {
    /// Path of a file, for messages.
    fn path_of(&self, name: &str) -> String;

    /// Reads a file of at most `most` bytes; `None` if there is none.
    ///
    /// # Errors
    /// A sentence with path and problem: among others, a replacement that is not on disk yet.
    fn read(&self, name: &str, most: u64) -> Result<Option<String>, String>;

    /// Reads the whole lines in the last `most` bytes of a file that grows; `None` if there is none.
    ///
    /// # Errors
    /// A sentence with path and problem.
    fn read_end(&self, name: &str, most: u64) -> Result<Option<String>, String>;

    /// Begins to replace a file. False if the previous text is still being written.
    fn write(&self, name: &str, text: String) -> bool;

    /// Replaces a file and waits for the disk.
    fn write_last(&self, name: &str, text: String);

    /// Renames a file that cannot be used, and returns its new name.
    ///
    /// # Errors
    /// A sentence with the problem.
    fn keep_aside(&self, name: &str) -> Result<String, String>;
}
