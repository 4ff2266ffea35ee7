//! Queries of QuakeWorld's browsers: the server's own answers to `status` and `ping`, kept for some seconds.
//!
//! An answer names no question, so one question waits for its answer at a time. Invariants: at most [`MAX_WAITING`]
//! browsers wait; one answer of each kind is kept. Source: QuakeWorld protocol 28, connectionless messages.

use super::queries::{Browser, MAX_WAITING};
use crate::{
    model::Millis,
    quakeworld::connectionless::{Reply, Request},
};

/// Time for which an answer is current. Servers answer a query of one host per second.
const CURRENT: Millis = Millis(2500);
/// Time before a question is repeated, and for which a browser waits.
const PATIENCE: Millis = Millis(1500);
/// Longest answer that is kept, in bytes.
const MAX_ANSWER_LEN: usize = 8192;
/// Different questions whose answers are kept.
const KEPT: usize = 4;

/// Question of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Ping,
    /// Wished parts of the status.
    Status(Option<u32>),
}

/// Answers of the server to browsers.
#[derive(Debug, Default)]
pub(super) struct StatusQueries {
    /// Newest last.
    answers: Vec<(Question, Millis, Vec<u8>)>,
    asked: Option<(Question, Millis)>,
    waiting: Vec<(Browser, Millis)>,
}

/// Reaction to a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Send this answer to the browser.
    Answer(Vec<u8>),
    /// Send this question to the server.
    Ask(Vec<u8>),
    /// Wait for the answer to an earlier question, or for the browser to ask again.
    Wait,
}

impl StatusQueries {
    /// Handles a query of a browser.
    pub(super) fn handle(&mut self, now: Millis, browser: Browser, question: Question) -> Reaction {
        let known =
            self.answers.iter().find(|(of, at, _)| *of == question && now.since(*at) < CURRENT);
        if let Some((_, _, answer)) = known {
            return Reaction::Answer(answer.clone());
        }
        let asked = self.asked.filter(|(_, at)| now.since(*at) < PATIENCE);
        if asked.is_some_and(|(other, _)| other != question) {
            return Reaction::Wait;
        }
        if asked.is_none() {
            self.waiting.clear();
        }
        self.waiting.retain(|(one, _)| one.route.remote != browser.route.remote);
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push((browser, now));
        }
        if asked.is_some() {
            return Reaction::Wait;
        }
        self.asked = Some((question, now));
        let request = match question {
            Question::Ping => Request::Ping,
            Question::Status(parts) => Request::Status { parts },
        };
        let mut out = Vec::new();
        request.write(&mut out);
        Reaction::Ask(out)
    }

    /// Handles an answer of the server. Returns the browsers that wait for it.
    pub(super) fn handle_answer(&mut self, now: Millis, datagram: &[u8]) -> Vec<Browser> {
        let Some((question, _)) = self.asked else { return Vec::new() };
        let fits = matches!(
            (question, Reply::parse(datagram)),
            (Question::Ping, Ok(Reply::Ack)) | (Question::Status(_), Ok(Reply::Print { .. }))
        );
        if !fits || datagram.len() > MAX_ANSWER_LEN {
            return Vec::new();
        }
        self.asked = None;
        self.answers.retain(|(of, ..)| *of != question);
        if self.answers.len() >= KEPT {
            self.answers.remove(0);
        }
        self.answers.push((question, now, datagram.to_vec()));
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        waiting.filter(|(_, since)| now.since(*since) < PATIENCE).map(|(one, _)| one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        limits::QueryShare,
        node::{LocalPort, Route},
    };

    fn browser(port: u16) -> Browser {
        let route = Route::new(LocalPort(0), ([192, 0, 2, 1], port).into());
        Browser { route, share: QueryShare::FREE }
    }

    #[test]
    fn one_question_serves_all_browsers() {
        let mut queries = StatusQueries::default();
        let status = Question::Status(None);
        let asked = queries.handle(Millis(0), browser(1), status);
        assert_eq!(asked, Reaction::Ask(b"\xff\xff\xff\xffstatus\n".to_vec()));
        assert_eq!(queries.handle(Millis(1), browser(2), status), Reaction::Wait);
        assert_eq!(queries.handle(Millis(1), browser(3), Question::Ping), Reaction::Wait);
        assert_eq!(queries.handle_answer(Millis(2), b"l"), []);
        let answer = b"\xff\xff\xff\xffn\\hostname\\x\n".to_vec();
        assert_eq!(queries.handle_answer(Millis(3), &answer), [browser(1), browser(2)]);
        assert_eq!(queries.handle_answer(Millis(3), &answer), [], "no question");
        let known = queries.handle(Millis(900), browser(4), status);
        assert_eq!(known, Reaction::Answer(answer));
        assert!(matches!(queries.handle(Millis(2600), browser(4), status), Reaction::Ask(_)));
    }

    #[test]
    fn waiting_browsers_and_answers_are_bounded() {
        let mut queries = StatusQueries::default();
        for port in 1..500 {
            queries.handle(Millis(0), browser(port), Question::Ping);
        }
        assert_eq!(queries.handle_answer(Millis(1), b"l").len(), MAX_WAITING);
        for parts in 0..50 {
            let question = Question::Status(Some(parts));
            queries.handle(Millis(10_000 * u64::from(parts)), browser(1), question);
            queries.handle_answer(Millis(10_000 * u64::from(parts)), b"\xff\xff\xff\xffnx");
        }
        assert!(queries.answers.len() <= KEPT);
    }
}
