//! Progress display of a load test: rewritten lines on a terminal, plain lines otherwise.

use std::io::{self, IsTerminal as _, Write};

use fragd::{bots::Bots, io::control_echo::ControlEchoOff, model::Millis};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Interval between updates.
const ON_TERMINAL: Millis = Millis(250);
const IN_LOG: Millis = Millis::seconds(5);
/// Seconds that the small charts show, so that a line fits in 80 columns.
const SHOWN_SECONDS: usize = 40;
/// Bars of the small charts, low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Rewritten lines on a terminal.
struct TerminalProgress {
    lines: MultiProgress,
    stage: ProgressBar,
    counts: ProgressBar,
    gaps: ProgressBar,
    bytes: ProgressBar,
    /// Restored after the lines are cleared.
    _control_echo: ControlEchoOff,
}

/// Progress display.
pub(super) struct ProgressDisplay {
    screen: Option<TerminalProgress>,
}

impl ProgressDisplay {
    pub(super) fn new() -> Self {
        Self { screen: io::stderr().is_terminal().then(TerminalProgress::new) }
    }

    pub(super) fn interval(&self) -> Millis {
        if self.screen.is_some() { ON_TERMINAL } else { IN_LOG }
    }

    /// Returns the writer for event lines, above the rewritten lines.
    pub(super) fn output(&self) -> Box<dyn Write> {
        match &self.screen {
            Some(screen) => Box::new(LogAboveProgress(screen.lines.clone())),
            None => Box::new(io::stderr()),
        }
    }

    pub(super) fn show(&self, bots: &Bots) {
        match &self.screen {
            Some(screen) => screen.show(bots),
            None => eprintln!("{}", bots.progress()),
        }
    }
}

impl TerminalProgress {
    fn new() -> Self {
        let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = |template| ProgressStyle::with_template(template).expect("a sound template");
        let line = |template| lines.add(ProgressBar::new(1).with_style(style(template)));
        Self {
            stage: line("{prefix:14} {wide_bar} {msg}"),
            counts: line("{msg}"),
            gaps: line("worst gap ms   {msg}"),
            bytes: line("kB/s in        {msg}"),
            lines,
            _control_echo: ControlEchoOff::begin(),
        }
    }

    fn show(&self, bots: &Bots) {
        let (stage, stages, left) = bots.stage();
        let (in_game, wanted) = bots.in_game_and_wanted();
        let elapsed = bots.elapsed().0;
        self.stage.set_length(elapsed + left.0);
        self.stage.set_position(elapsed);
        self.stage.set_prefix(if stages > 1 {
            format!("stage {}/{stages}", stage + 1)
        } else {
            "bots".to_owned()
        });
        self.stage.set_message(format!("{in_game}/{wanted} in, {} s left", left.0.div_ceil(1000)));
        let samples = bots.samples();
        let last = samples.last().copied().unwrap_or_default();
        self.counts.set_message(format!(
            "{:.0} snapshots/s   ping {} ms   lost {}/s   rate delayed {}/s",
            last.snapshots,
            last.ping_ms.map_or_else(|| "-".to_owned(), |ping| ping.to_string()),
            last.lost_messages,
            last.rate_delayed
        ));
        let shown = &samples[samples.len().saturating_sub(SHOWN_SECONDS)..];
        self.gaps
            .set_message(chart(shown.iter().map(|sample| sample.worst_gap_ms.unwrap_or(0) as f64)));
        self.bytes.set_message(chart(shown.iter().map(|sample| sample.bytes_in as f64 / 1000.0)));
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        // The summary follows.
        let _ = self.lines.clear();
    }
}

/// Values as bars, and the last one as a number.
fn chart(values: impl Iterator<Item = f64> + Clone) -> String {
    let most = values.clone().fold(1.0, f64::max);
    let bar = |value: f64| BARS[((value / most * 7.0).round() as usize).min(7)];
    let last = values.clone().last().unwrap_or(0.0);
    format!("{:SHOWN_SECONDS$} {last:.0}", values.map(bar).collect::<String>())
}

/// Writer of whole lines above the rewritten ones.
struct LogAboveProgress(MultiProgress);

impl Write for LogAboveProgress {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.println(text.trim_end_matches('\n'))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_fit_beside_their_names() {
        let line = chart((0..SHOWN_SECONDS).map(|value| value as f64));
        assert!(line.starts_with("▁▁") && line.ends_with("█ 39"), "{line}");
        assert!(line.chars().count() + 15 < 80);
        assert!(chart(std::iter::empty()).ends_with(" 0"));
    }
}
