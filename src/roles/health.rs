//! Health of a node for monitors: whether its loop runs, and whether peers may come.

use std::sync::{Arc, Mutex, PoisonError};

use fragd::io::{
    Pulse,
    pages::{Answer, Page},
};

/// Content type of the pages.
const JSON: &str = "application/json";

/// Health that the event loop reports and other threads read.
#[derive(Clone, Debug)]
pub(super) struct Health {
    pulse: Pulse,
    /// Reasons that no peer may come.
    obstacles: Arc<Mutex<Vec<&'static str>>>,
}

impl Default for Health {
    fn default() -> Self {
        Self { pulse: Pulse::default(), obstacles: Arc::new(Mutex::new(vec!["starting"])) }
    }
}

impl Health {
    /// Records that the loop runs, and what keeps peers away.
    pub(super) fn report(&self, obstacles: &[&'static str]) {
        self.pulse.beat();
        // While a reader holds the lock, skip this copy. The next one follows in a second.
        if let Ok(mut shown) = self.obstacles.try_lock() {
            shown.clear();
            shown.extend_from_slice(obstacles);
        }
    }

    /// Answer to the question whether the process should be restarted.
    fn live(&self) -> Answer {
        let age = self.pulse.age().map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let is_live = self.pulse.is_fresh();
        let body = serde_json::json!({ "live": is_live, "last_ms": age });
        Answer { text: format!("{body}\n"), is_available: is_live }
    }

    /// Answer to the question whether peers may be sent here.
    fn ready(&self) -> Answer {
        let mut causes = self.obstacles.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if causes.is_empty() && !self.pulse.is_fresh() {
            causes.push("stalled");
        }
        let is_ready = causes.is_empty();
        let body = serde_json::json!({ "ready": is_ready, "causes": causes });
        Answer { text: format!("{body}\n"), is_available: is_ready }
    }

    /// Pages of the answers.
    pub(super) fn pages(&self) -> [Page; 2] {
        let (live, ready) = (self.clone(), self.clone());
        [
            Page { path: "/livez", content_type: JSON, render: Arc::new(move |_| live.live()) },
            Page { path: "/readyz", content_type: JSON, render: Arc::new(move |_| ready.ready()) },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_name_causes() {
        let health = Health::default();
        let pages = health.pages();
        let answer = |at: usize| (pages[at].render)("");
        let shown = answer(1);
        assert_eq!(shown.text, "{\"causes\":[\"starting\"],\"ready\":false}\n");
        assert!(!shown.is_available && !answer(0).is_available);
        health.report(&["draining"]);
        assert!(answer(0).is_available && answer(0).text.contains("\"live\":true"));
        assert!(!answer(1).is_available && answer(1).text.contains("draining"));
        health.report(&[]);
        assert!(answer(1).is_available);
    }
}
