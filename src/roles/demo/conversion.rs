//! Conversion of a demo to protocol 68 (`fragd demo convert`).

use fragd::{
    cli::ConvertOptions,
    demo::{ConvertReport, convert},
    model::text::counted,
    wire::Protocol,
};
use serde_json::json;

use super::{
    super::output::{self, Output},
    Demo, check_extension, multiview,
};

/// Writes a demo of an older protocol as one of protocol 68.
pub(super) fn write(options: &ConvertOptions, out: &mut Output) -> Result<bool, String> {
    let ConvertOptions { file, output, json } = options;
    output::keep_source(file, output)?;
    if multiview::is_recording(file) {
        return Err(format!(
            "{}: multi-view recordings are not converted; use `fragd demo extract`",
            file.display()
        ));
    }
    let demo = Demo::read(file)?;
    check_extension(output, Protocol::Q3_68)?;
    let (bytes, report) = convert(demo.protocol, &demo.bytes)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    output::write_file(output, &bytes)?;
    let ConvertReport { messages, snapshots, skipped, commands, lacking } = report;
    if *json {
        let lacking = lacking.iter();
        let lacking = lacking.map(|(number, count)| (number.to_string(), json!(count)));
        out.line(json!({
            "file": output.display().to_string(),
            "bytes": bytes.len(),
            "messages": messages,
            "snapshots": snapshots,
            "skipped": skipped,
            "commands_left_out": commands,
            "numbers_left_out": lacking.collect::<serde_json::Map<_, _>>(),
        }));
        return Ok(true);
    }
    out.line(format!(
        "{}: {}, {}, {}; {} and {} left out",
        output.display(),
        counted(messages, "message"),
        counted(bytes.len(), "byte"),
        counted(snapshots, "snapshot"),
        counted(skipped, "message"),
        counted(commands, "command")
    ));
    for (number, count) in lacking {
        let messages = counted(count, "time");
        out.line(format!("  no number of protocol 68: {number}, {messages}"));
    }
    Ok(true)
}
