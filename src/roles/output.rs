//! Output of a role: standard output, and files that it writes.
//!
//! Lines hold names from files and from other machines. Control characters in them, which a terminal would run, are printed as
//! `\u001b`, which JSON reads back.
//!
//! Invariants: a closed pipe, e.g. by `head`, ends the output in silence. Any other error is reported once, and the
//! role fails. A file that a role reads is not replaced by one that it writes.

use std::{
    ffi::OsStr,
    fmt::{self, Display, Write as _},
    fs,
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use fragd::cli::ExitStatus;

/// Standard output, buffered.
pub(super) struct Output {
    writer: Box<dyn Write>,
    state: OutputState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputState {
    Open,
    /// The reader has closed its pipe.
    Closed,
    /// An error was reported.
    Failed,
}

impl Output {
    pub(super) fn new() -> Self {
        Self::to(BufWriter::new(io::stdout()))
    }

    fn to(writer: impl Write + 'static) -> Self {
        Self { writer: Box::new(writer), state: OutputState::Open }
    }

    /// Prints a line. Returns whether the output is still open.
    pub(super) fn line(&mut self, line: impl Display) -> bool {
        writeln!(self, "{}", printable(line)).is_ok()
    }

    /// Prints an error behind the lines before it.
    pub(super) fn report(&mut self, what: impl Display) {
        let _ = self.flush();
        eprintln!("fragd: {}", printable(what));
    }

    /// Writes the rest. Returns the status of a role that has otherwise ended with `outcome`.
    pub(super) fn end(mut self, outcome: ExitStatus) -> ExitStatus {
        let _ = self.flush();
        match (outcome, self.state) {
            (ExitStatus::Done, OutputState::Failed) => ExitStatus::Failed,
            _ => outcome,
        }
    }

    fn checked<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            if self.state != OutputState::Open || error.kind() == ErrorKind::Interrupted {
                return;
            }
            self.state = if error.kind() == ErrorKind::BrokenPipe {
                OutputState::Closed
            } else {
                eprintln!("fragd: standard output not written: {error}");
                OutputState::Failed
            };
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.state != OutputState::Open {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let written = self.writer.write(bytes);
        self.checked(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer.flush();
        self.checked(flushed)
    }
}

/// Prints the text of a role that ends with `outcome`. Returns its status.
pub(super) fn show(text: &str, outcome: ExitStatus) -> ExitStatus {
    let mut output = Output::new();
    let _ = output.write_all(printable(text).as_bytes());
    output.end(outcome)
}

/// Returns a text with its control characters escaped, except ends of lines and tabs.
pub(super) fn printable(text: impl Display) -> String {
    let mut escaped = Escaped(String::new());
    let _ = write!(escaped, "{text}");
    escaped.0
}

/// Text whose control characters are escaped.
struct Escaped(String);

impl fmt::Write for Escaped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_run = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
        let mut rest = text;
        while let Some(at) = rest.find(is_run) {
            self.0.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(char) = rest.chars().next() {
                write!(self.0, "\\u{:04x}", u32::from(char))?;
                rest = &rest[char.len_utf8()..];
            }
        }
        self.0.push_str(rest);
        Ok(())
    }
}

/// Prints the usage that the command line asks for, or its error.
pub(crate) fn usage(error: &clap::Error) -> ExitStatus {
    let mut output = Output::new();
    let printed = error.print();
    if error.use_stderr() {
        return ExitStatus::UsageError;
    }
    let _ = output.checked(printed);
    output.end(ExitStatus::Done)
}

/// Writes a file.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{} not written: {error}", path.display()))
}

/// Refuses an output that would replace the file it is made from.
pub(super) fn keep_source(source: &Path, output: &Path) -> Result<(), String> {
    if is_same(source, output) {
        return Err(format!(
            "{}: output would replace its source {} (expected another file)",
            output.display(),
            source.display()
        ));
    }
    Ok(())
}

/// Refuses options of which two name one file, if the second one is written.
pub(super) fn check_files<'a>(
    read: impl IntoIterator<Item = (&'a str, &'a Option<PathBuf>)>,
    written: impl IntoIterator<Item = (&'a str, &'a Option<PathBuf>)>,
) -> Result<(), String> {
    let named = |(option, path): (&'a str, &'a Option<PathBuf>)| Some((option, path.as_deref()?));
    let mut before: Vec<_> = read.into_iter().filter_map(named).collect();
    for (option, path) in written.into_iter().filter_map(named) {
        if let Some((other, _)) = before.iter().find(|(_, known)| is_same(known, path)) {
            let path = path.display();
            return Err(format!("{option} {path}: the file of {other} (expected another file)"));
        }
        before.push((option, path));
    }
    Ok(())
}

/// Whether two paths name one file, also through links. Devices and pipes keep nothing.
fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(first), Ok(second)) if first.is_file() && second.is_file() => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt as _;
                (first.dev(), first.ino()) == (second.dev(), second.ino())
            }
            #[cfg(not(unix))]
            {
                let real = |path| fs::canonicalize(path).ok();
                real(one).is_some_and(|path| real(other) == Some(path))
            }
        }
        (Err(_), Err(_)) => place(one).is_some() && place(one) == place(other),
        _ => false,
    }
}

/// Returns where a new file would be: its real folder and its name.
fn place(path: &Path) -> Option<(PathBuf, &OsStr)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some((fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?, path.file_name()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_run_nothing_in_a_terminal() {
        let text = printable("level: \u{1b}[2J\rq3\u{9b}1m\u{7f}\n\tGröße");
        assert_eq!(text, "level: \\u001b[2J\\u000dq3\\u009b1m\\u007f\n\tGröße");
        let json = printable(serde_json::json!({ "map": "a\u{9b}b" }));
        let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read["map"], "a\u{9b}b");
    }

    use super::*;

    /// Writer that fails.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_fails_role_unless_reader_left() {
        for (kind, outcome, expected) in [
            (ErrorKind::StorageFull, ExitStatus::Done, ExitStatus::Failed),
            (ErrorKind::StorageFull, ExitStatus::Refused, ExitStatus::Refused),
            (ErrorKind::BrokenPipe, ExitStatus::Done, ExitStatus::Done),
        ] {
            let mut output = Output::to(BufWriter::new(Broken(kind)));
            assert!(output.line("buffered"));
            assert_eq!(output.end(outcome), expected, "{kind}");
            let mut output = Output::to(Broken(kind));
            assert!(!output.line("one") && !output.line("two"));
            assert_eq!(output.end(outcome), expected, "{kind}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn output_is_refused_where_it_replaces_its_source() {
        use std::os::unix::fs::symlink;

        let folder = std::env::temp_dir().join(format!("fragd-output-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let source = folder.join("own.dm_71");
        fs::write(&source, "demo").unwrap();
        symlink(&source, folder.join("link")).unwrap();
        fs::hard_link(&source, folder.join("twin")).unwrap();
        for name in ["own.dm_71", "link", "twin", "../own.dm_71"] {
            let inner = if name.starts_with("..") { folder.join("inner") } else { folder.clone() };
            fs::create_dir_all(&inner).unwrap();
            let error = keep_source(&source, &inner.join(name)).unwrap_err();
            assert!(error.contains("would replace its source"), "{error}");
        }
        assert_eq!(keep_source(&source, &folder.join("new")), Ok(()));
        let null = Path::new("/dev/null");
        assert_eq!(keep_source(null, null), Ok(()));
        let (old, new) = (Some(source), Some(folder.join("new")));
        let written = [("--csv", &new), ("--junit", &new)];
        let error = check_files([], written).unwrap_err();
        assert!(error.starts_with("--junit ") && error.contains("of --csv"), "{error}");
        assert_eq!(check_files([("FILE", &old)], [("--csv", &new), ("--junit", &None)]), Ok(()));
        assert!(check_files([("FILE", &old)], [("--csv", &old)]).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
