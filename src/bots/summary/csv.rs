//! Samples of a load test as CSV, one line per second.
//!
//! Each line names program, machine, server and options, so that files of several runs can be joined. Source:
//! RFC 4180.

use super::{Sample, Summary};
use crate::model::text::formula_free;

/// A column: its name and its value.
type Column = (&'static str, fn(&Sample) -> String);

const COLUMNS: [Column; 22] = [
    ("second", |s| s.second.to_string()),
    ("in_game", |s| s.in_game.to_string()),
    ("snapshots", |s| s.snapshots.to_string()),
    ("bytes_in", |s| s.bytes_in.to_string()),
    ("bytes_out", |s| s.bytes_out.to_string()),
    ("lost_messages", |s| s.lost_messages.to_string()),
    ("rate_delayed", |s| s.rate_delayed.to_string()),
    ("ping_ms", |s| or_empty(s.ping_ms)),
    ("ping_p50_ms", |s| or_empty(s.ping_p50_ms)),
    ("ping_p99_ms", |s| or_empty(s.ping_p99_ms)),
    ("ping_max_ms", |s| or_empty(s.ping_max_ms)),
    ("gap_p50_ms", |s| or_empty(s.gap_p50_ms)),
    ("gap_p99_ms", |s| or_empty(s.gap_p99_ms)),
    ("worst_gap_ms", |s| or_empty(s.worst_gap_ms)),
    ("map_changes", |s| s.map_changes.to_string()),
    ("map_restarts", |s| s.map_restarts.to_string()),
    ("query_answers", |s| s.query_answers.to_string()),
    ("server_cpu_ms", |s| or_empty(s.server_cpu_ms)),
    ("server_memory_mb", |s| or_empty(s.server_memory_mb)),
    ("own_cpu_ms", |s| or_empty(s.own_cpu_ms)),
    ("lateness_ms", |s| s.lateness_ms.to_string()),
    ("is_spoiled", |s| s.is_spoiled.to_string()),
];

/// Returns a value, or an empty field for a second without one.
fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

impl Summary {
    /// Returns the samples as CSV with a header line.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = String::from("time");
        for (name, _) in COLUMNS {
            text.push(',');
            text.push_str(name);
        }
        let circumstances = self.circumstances();
        for (name, _) in &circumstances {
            text.push(',');
            text.push_str(name);
        }
        text.push('\n');
        let constant: String =
            circumstances.iter().map(|(_, value)| format!(",{}", quoted(value))).collect();
        for sample in &self.samples {
            text.push_str(&self.run.calendar_time(sample.at));
            for (_, value) in COLUMNS {
                text.push(',');
                text.push_str(&value(sample));
            }
            text.push_str(&constant);
            text.push('\n');
        }
        text
    }

    /// Returns the values that are the same in each line.
    fn circumstances(&self) -> [(&'static str, String); 9] {
        let server = self.servers.first().cloned().unwrap_or_default();
        [
            ("version", self.run.version.clone()),
            ("host", self.run.machine.host.clone()),
            ("machine", self.run.machine.describe()),
            ("server", self.server_address.clone()),
            ("server_name", server.name),
            ("map", server.maps.join(" ")),
            ("game_type", server.game_type),
            ("protocol", self.protocol.clone()),
            ("options", self.run.options.clone()),
        ]
    }
}

/// Returns a field, quoted if it holds a separator.
fn quoted(field: &str) -> String {
    let field = formula_free(field);
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("=SUM(1,2)"), "\"'=SUM(1,2)\"", "a spreadsheet runs no formula");
        assert_eq!(quoted("say \"a, b\""), "\"say \"\"a, b\"\"\"");
    }
}
