//! Trace role (`fragd trace`).

use std::io::Write;

use fragd::{
    capture::{DatagramReader, Skipped},
    cli::{ExitStatus, TraceOptions},
    io::ByteSource,
    model::text::counted,
    trace::{Lines, Report, Role},
};

use super::output::{self, Output};

/// Maximum traced connections at a time.
const MAX_LINES: usize = 1024;

/// Decodes a capture.
pub(crate) fn run(options: &TraceOptions) -> ExitStatus {
    let mut source = match ByteSource::open(&options.file, options.follow) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("fragd: {error}");
            return ExitStatus::Failed;
        }
    };
    if let Some(report) = &options.report
        && let Err(what) = output::keep_source(&options.file, report)
    {
        eprintln!("fragd: {what}");
        return ExitStatus::UsageError;
    }
    let mut decoding = Decoding::new(options);
    let mut output = Output::new();
    let problem = decoding.read(&mut source, &mut output).err();
    let file = options.file.display();
    match &problem {
        Some(Ended::Problem(what)) => eprintln!("fragd: {file}: {what}"),
        Some(Ended::OutputClosed) => return output.end(ExitStatus::Done),
        None => {}
    }
    eprintln!("fragd: {file}: {}", decoding.summary());
    if let (Some(path), Some(report)) = (&options.report, &decoding.report) {
        let name = options.file.display().to_string();
        if let Err(what) = output::write_file(path, report.to_html(&name).as_bytes()) {
            eprintln!("fragd: --report {what}");
            return ExitStatus::Failed;
        }
    }
    match problem {
        Some(_) => ExitStatus::Failed,
        None if decoding.undecoded > 0 => ExitStatus::Unreadable,
        None => ExitStatus::Done,
    }
}

/// Reason why decoding ended before the end of the file.
enum Ended {
    Problem(String),
    OutputClosed,
}

/// State of decoding.
struct Decoding<'a> {
    options: &'a TraceOptions,
    reader: DatagramReader,
    lines: Lines,
    report: Option<Report>,
    start_us: Option<u64>,
    datagrams: u64,
    undecoded: u64,
    lost: u64,
}

impl<'a> Decoding<'a> {
    fn new(options: &'a TraceOptions) -> Self {
        Self {
            options,
            reader: DatagramReader::new(),
            lines: Lines::new(MAX_LINES),
            report: options.report.as_ref().map(|_| Report::new()),
            start_us: None,
            datagrams: 0,
            undecoded: 0,
            lost: 0,
        }
    }

    /// Reads to the end and writes the view.
    fn read(&mut self, source: &mut ByteSource, output: &mut Output) -> Result<(), Ended> {
        let (mut json, mut text) = (Vec::new(), String::new());
        loop {
            let piece = source.read().map_err(|error| Ended::Problem(error.to_string()))?;
            let is_end = piece.is_empty();
            self.reader.push(piece);
            let result = self.decode(output, &mut json, &mut text);
            // A growing file is shown as it grows.
            output.flush().map_err(|_| Ended::OutputClosed)?;
            result?;
            if is_end {
                return self.reader.finish().map_err(|error| Ended::Problem(error.to_string()));
            }
        }
    }

    /// Decodes the datagrams that are read completely.
    fn decode(
        &mut self,
        output: &mut impl Write,
        json: &mut Vec<u8>,
        text: &mut String,
    ) -> Result<(), Ended> {
        let view = self.options.show.map(|shown| shown.view());
        loop {
            let next = self.reader.poll().map_err(|error| Ended::Problem(error.to_string()))?;
            let Some(datagram) = next else { return Ok(()) };
            let sender = match self.options.server {
                Some(server) if server == datagram.from => Role::Server,
                Some(server) if server == datagram.to => Role::Client,
                _ => Role::Unknown,
            };
            let (time_us, from, to) = (datagram.time_us, datagram.from, datagram.to);
            let record = self.lines.decode(time_us, from, to, sender, datagram.bytes);
            let start_us = *self.start_us.get_or_insert(time_us);
            self.datagrams += 1;
            self.undecoded += u64::from(record.is_undecoded());
            self.lost += u64::from(record.lost());
            if let Some(report) = &mut self.report {
                report.add(record);
            }
            let written = match view {
                Some(view) => {
                    text.clear();
                    view.write(record, start_us, text);
                    output.write_all(text.as_bytes())
                }
                None if self.options.report.is_some() => Ok(()),
                None => {
                    json.clear();
                    record.write_json(json);
                    output.write_all(json)
                }
            };
            written.map_err(|_| Ended::OutputClosed)?;
        }
    }

    fn summary(&self) -> String {
        let Self { datagrams, undecoded, lost, .. } = self;
        let mut text = format!(
            "{}, {undecoded} not decoded, {} lost",
            counted(*datagrams, "datagram"),
            counted(*lost, "message")
        );
        let Skipped { others, cut, invalid, link_type } = self.reader.skipped();
        for (count, what) in [
            (others, "packets of other protocols"),
            (cut, "packets cut by the capture; capture with a longer snap length"),
            (invalid, "invalid packets"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        if let Some((kind, count)) = link_type {
            text += &format!(", {count} packets of unsupported link type {kind}");
        }
        text
    }
}
