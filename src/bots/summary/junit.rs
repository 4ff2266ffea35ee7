//! JUnit report of a load test, for CI systems.
//!
//! Each stage is a suite, and each expectation a test case. A further suite holds the verdict, so that a failure without an expectation is a failed case, too.
//! Source: XML 1.0; the JUnit schema of Jenkins and GitLab.

use std::fmt::Write as _;

use super::{StageSummary, Summary};
use crate::bots::{expect::ExpectationResult, verdict::Verdict};

impl Summary {
    /// Returns the JUnit report.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let cases: usize = self.stages.iter().map(|stage| stage.expectations.len()).sum();
        let is_error = matches!(self.verdict, Verdict::GeneratorLate | Verdict::Interrupted);
        let has_failed = self.verdict != Verdict::Passed && !is_error;
        let failures = self.failed_expectations.len() + usize::from(has_failed);
        let seconds: f64 = self.stages.iter().map(|stage| stage.total.seconds).sum();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "<testsuites name=\"fragd bots\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\" time=\"{seconds:.3}\">",
            cases + 1,
            usize::from(is_error)
        );
        for (number, stage) in self.stages.iter().enumerate() {
            self.push_stage(&mut text, number + 1, stage);
        }
        self.push_verdict(&mut text, has_failed, is_error);
        text.push_str("</testsuites>\n");
        text
    }

    fn push_stage(&self, text: &mut String, number: usize, stage: &StageSummary) {
        let bots = stage.total.bots;
        let failures = stage.expectations.iter().filter(|one| !one.passed).count();
        let _ = writeln!(
            text,
            "  <testsuite name=\"stage {number}: {bots} bots\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" \
             skipped=\"0\" time=\"{:.3}\"{}>",
            stage.expectations.len(),
            stage.total.seconds,
            self.timestamp()
        );
        for result in &stage.expectations {
            push_case(text, &format!("fragd.bots.stage{number}"), result);
        }
        text.push_str("  </testsuite>\n");
    }

    fn push_verdict(&self, text: &mut String, has_failed: bool, is_error: bool) {
        let _ = writeln!(
            text,
            "  <testsuite name=\"verdict\" tests=\"1\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"0\"{}>",
            usize::from(has_failed),
            usize::from(is_error),
            self.timestamp()
        );
        text.push_str("    <properties>\n");
        for (name, value) in [
            ("version", &self.run.version),
            ("machine", &self.run.machine.describe()),
            ("options", &self.run.options),
            ("server", &self.server_address),
            ("protocol", &self.protocol),
        ] {
            let _ =
                writeln!(text, "      <property name=\"{name}\" value=\"{}\"/>", escaped(value));
        }
        text.push_str(
            "    </properties>\n    <testcase classname=\"fragd.bots\" name=\"verdict\" time=\"0\"",
        );
        let sentence = escaped(&self.sentence);
        let kind = escaped(&self.cause_code());
        let _ = match (has_failed, is_error) {
            (true, _) => writeln!(
                text,
                ">\n      <failure message=\"{sentence}\" type=\"{kind}\"/>\n    </testcase>"
            ),
            (_, true) => writeln!(
                text,
                ">\n      <error message=\"{sentence}\" type=\"{kind}\"/>\n    </testcase>"
            ),
            _ => writeln!(text, "/>"),
        };
        let _ = writeln!(text, "    <system-out>{}</system-out>", escaped(&self.to_string()));
        text.push_str("  </testsuite>\n");
    }

    /// Returns the timestamp attribute; empty in virtual time.
    fn timestamp(&self) -> String {
        match self.started.split('.').next() {
            Some(second) if !second.is_empty() => format!(" timestamp=\"{second}\""),
            _ => String::new(),
        }
    }

    /// Returns the cause as in JSON; empty when the test passed.
    fn cause_code(&self) -> String {
        let value = serde_json::to_value(self.cause).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }
}

fn push_case(text: &mut String, class: &str, result: &ExpectationResult) {
    let name = escaped(&result.expectation);
    let _ = write!(text, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"");
    if result.passed {
        text.push_str("/>\n");
        return;
    }
    let message = escaped(&result.to_string());
    let metric = escaped(&result.metric);
    let _ = writeln!(
        text,
        ">\n      <failure message=\"{message}\" type=\"{metric}\">value {}, limit {}</failure>\n    </testcase>",
        escaped(&result.measured()),
        escaped(&result.allowed())
    );
}

/// Escapes text for XML. Characters that XML does not allow become question marks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_xml() {
        assert_eq!(
            escaped("a<b & \"c\" > \u{1b}[2J\u{fffe}"),
            "a&lt;b &amp; &quot;c&quot; &gt; ?[2J?"
        );
    }
}
