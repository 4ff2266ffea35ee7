//! Progress of a map build on a terminal: a bar, and the time of each stage.

use std::time::{Duration, Instant};

use fragd::mapbuild::BuildPhase;
use indicatif::{ProgressBar, ProgressStyle};

/// Time of visibility below which no advice is worth its lines.
const LONG: Duration = Duration::from_secs(3);

/// Display of the stages. Without a terminal nothing is shown.
pub(super) struct BuildProgress {
    bar: ProgressBar,
    stage: Option<(BuildPhase, Instant)>,
    finished: Vec<(BuildPhase, Duration)>,
}

impl BuildProgress {
    /// Creates a display on standard error.
    pub(super) fn new() -> Self {
        let template = "{msg:12} {wide_bar} {percent:>3}% {elapsed}";
        let style = ProgressStyle::with_template(template).expect("a sound template");
        let bar = ProgressBar::new(1).with_style(style);
        Self { bar, stage: None, finished: Vec::new() }
    }

    /// Shows finished and total steps of a stage. A new stage ends the one before.
    pub(super) fn show(&mut self, phase: BuildPhase, done: usize, total: usize) {
        if self.stage.is_none_or(|(running, _)| running != phase) {
            self.finish_stage();
            self.stage = Some((phase, Instant::now()));
            self.bar.reset();
            self.bar.set_message(phase.name());
        }
        self.bar.set_length(total.max(1) as u64);
        self.bar.set_position(done as u64);
    }

    /// Ends the last stage and removes the bar.
    pub(super) fn finish(&mut self) {
        self.finish_stage();
        self.bar.finish_and_clear();
    }

    fn finish_stage(&mut self) {
        let Some((phase, start)) = self.stage.take() else { return };
        let time = start.elapsed();
        self.bar.println(stage_line(phase, time));
        self.finished.push((phase, time));
    }

    /// Whether visibility took long, and longer than every other stage.
    pub(super) fn is_visibility_longest(&self) -> bool {
        is_visibility_longest(&self.finished)
    }
}

fn stage_line(phase: BuildPhase, time: Duration) -> String {
    format!("{:12} {:>7.1} s", phase.name(), time.as_secs_f64())
}

fn is_visibility_longest(stages: &[(BuildPhase, Duration)]) -> bool {
    let longest = stages.iter().max_by_key(|(_, time)| *time);
    longest.is_some_and(|&(phase, time)| phase == BuildPhase::Visibility && time >= LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_when_visibility_takes_longest() {
        let stages = |seconds: [u64; 2]| {
            let phases = [BuildPhase::Visibility, BuildPhase::Light];
            let times = seconds.map(Duration::from_secs);
            phases.into_iter().zip(times).collect::<Vec<_>>()
        };
        assert!(is_visibility_longest(&stages([9, 4])));
        assert!(!is_visibility_longest(&stages([4, 9])));
        assert!(!is_visibility_longest(&stages([2, 1])));
        assert!(!is_visibility_longest(&[]));
    }

    #[test]
    fn stage_line_has_seconds() {
        let line = stage_line(BuildPhase::Light, Duration::from_millis(12_340));
        assert_eq!(line, "light           12.3 s");
    }

    #[test]
    fn display_times_each_stage_once() {
        let mut progress = BuildProgress::new();
        for (phase, done) in [(BuildPhase::Tree, 0), (BuildPhase::Tree, 1), (BuildPhase::Light, 0)]
        {
            progress.show(phase, done, 2);
        }
        progress.finish();
        let phases: Vec<_> = progress.finished.iter().map(|(phase, _)| *phase).collect();
        assert_eq!(phases, [BuildPhase::Tree, BuildPhase::Light]);
    }
}
