//! Queries of browsers: the server's own answers, kept for some seconds.
//!
//! The proxy asks with a challenge of its own and puts the challenge of each browser into its copy. Invariants:
//! one question of each kind waits for its answer at a time; at most [`MAX_WAITING`] browsers wait for it; an
//! answer without the challenge of the question is ignored.

use crate::{
    limits::QueryShare,
    model::Millis,
    node::Route,
    wire::connectionless::{CommandKind, Echo, Message, OUT_OF_BAND, Query},
};

/// Time for which an answer is current. Servers answer a query of one host per second, and the proxy asks for both kinds.
const CURRENT: Millis = Millis(2500);
/// Time before a question is repeated, and for which a browser waits.
const PATIENCE: Millis = Millis(1500);
/// Browsers that wait for one answer.
pub(super) const MAX_WAITING: usize = 64;
/// Longest answer that is kept, in bytes.
const MAX_ANSWER_LEN: usize = 2048;

/// Kind of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Info,
    Status,
}

/// Sender of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Browser {
    pub(super) route: Route,
    /// Share that the answer is charged to.
    pub(super) share: QueryShare,
}

/// Browser that waits for an answer.
#[derive(Clone, Debug)]
struct Waiting {
    since: Millis,
    browser: Browser,
    /// Challenge to repeat; empty for none.
    challenge: Vec<u8>,
}

/// Questions and the last answer of one kind.
#[derive(Debug, Default)]
struct Cache {
    /// Answer in three parts: up to the info string, the info string without challenge, the rest.
    answer: [Vec<u8>; 3],
    answered_at: Option<Millis>,
    asked: Option<(Millis, String)>,
    waiting: Vec<Waiting>,
}

/// Answers of the server to browsers.
#[derive(Debug)]
pub(super) struct Queries {
    caches: [Cache; 2],
    seed: u64,
    questions: u64,
}

/// Reaction to a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Send this answer to the browser.
    Answer(Vec<u8>),
    /// Send this question to the server.
    Ask(Vec<u8>),
    /// Wait for the answer to an earlier question.
    Wait,
    /// Do nothing: no browser sends such a query.
    Nothing,
}

impl Queries {
    /// Creates an empty cache. `seed` makes the challenges unpredictable.
    pub(super) fn new(seed: u64) -> Self {
        Self { caches: Default::default(), seed, questions: 0 }
    }

    /// Handles a query of a browser.
    pub(super) fn handle(
        &mut self,
        now: Millis,
        browser: Browser,
        topic: Topic,
        query: Query<'_>,
    ) -> Reply {
        let challenge = match query.echo() {
            Echo::Silence => return Reply::Nothing,
            Echo::Omit => Vec::new(),
            Echo::Send(challenge) => challenge.raw().to_vec(),
        };
        let cache = &mut self.caches[topic as usize];
        if cache.answered_at.is_some_and(|at| now.since(at) < CURRENT) {
            return Reply::Answer(cache.copy(&challenge));
        }
        cache.waiting.retain(|one| {
            one.browser.route.remote != browser.route.remote && now.since(one.since) < PATIENCE
        });
        if cache.waiting.len() < MAX_WAITING {
            cache.waiting.push(Waiting { since: now, browser, challenge });
        }
        if cache.asked.as_ref().is_some_and(|(at, _)| now.since(*at) < PATIENCE) {
            return Reply::Wait;
        }
        self.questions += 1;
        let token = format!(
            "p{:x}",
            self.seed.wrapping_add(self.questions).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        let word = Query { challenge: token.as_str().into() };
        let message = match topic {
            Topic::Info => Message::GetInfo(word),
            Topic::Status => Message::GetStatus(word),
        };
        let mut question = Vec::new();
        message.write(&mut question);
        cache.asked = Some((now, token));
        Reply::Ask(question)
    }

    /// Handles an answer of the server. Returns the answers for the browsers that wait.
    pub(super) fn handle_answer(
        &mut self,
        now: Millis,
        datagram: &[u8],
    ) -> impl Iterator<Item = (Browser, Vec<u8>)> + use<> {
        let topic = match Message::parse(datagram).map(|message| message.kind()) {
            Ok(CommandKind::InfoResponse) => Some(Topic::Info),
            Ok(CommandKind::StatusResponse) => Some(Topic::Status),
            _ => None,
        };
        let mut answers = Vec::new();
        if let Some(topic) = topic
            && datagram.len() <= MAX_ANSWER_LEN
            && self.caches[topic as usize].store(now, datagram)
        {
            let cache = &mut self.caches[topic as usize];
            for one in std::mem::take(&mut cache.waiting) {
                if now.since(one.since) < PATIENCE {
                    answers.push((one.browser, cache.copy(&one.challenge)));
                }
            }
        }
        answers.into_iter()
    }
}

impl Cache {
    /// Stores an answer to the current question. Returns whether it is one.
    fn store(&mut self, now: Millis, datagram: &[u8]) -> bool {
        let Some((_, token)) = &self.asked else { return false };
        let line_end = |from: usize| {
            let rest = &datagram[from..];
            rest.iter().position(|byte| *byte == b'\n').map_or(datagram.len(), |at| from + at)
        };
        let info_start = (line_end(OUT_OF_BAND.len()) + 1).min(datagram.len());
        let info_end = line_end(info_start);
        let mut info = Vec::new();
        let mut has_token = false;
        let pairs = datagram[info_start..info_end].strip_prefix(b"\\").unwrap_or_default();
        let mut parts = pairs.split(|byte| *byte == b'\\');
        while let Some(key) = parts.next() {
            let value = parts.next().unwrap_or_default();
            if key.eq_ignore_ascii_case(b"challenge") {
                has_token |= value == token.as_bytes();
            } else if !key.is_empty() {
                info.extend([b"\\", key, b"\\", value].concat());
            }
        }
        if has_token {
            self.answer = [datagram[..info_start].to_vec(), info, datagram[info_end..].to_vec()];
            self.answered_at = Some(now);
            self.asked = None;
        }
        has_token
    }

    /// Returns the answer with a challenge.
    fn copy(&self, challenge: &[u8]) -> Vec<u8> {
        let [head, info, rest] = &self.answer;
        let (key, challenge) = if challenge.is_empty() {
            (&b""[..], &b""[..])
        } else {
            (&b"\\challenge\\"[..], challenge)
        };
        [head, info, key, challenge, rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::LocalPort;

    fn browser(port: u16) -> Browser {
        let route = Route::new(LocalPort(0), ([192, 0, 2, 1], port).into());
        Browser { route, share: QueryShare::FREE }
    }

    fn query(challenge: &str) -> Query<'_> {
        Query { challenge: challenge.into() }
    }

    /// Asks, and returns the challenge of the question.
    fn ask(queries: &mut Queries, now: u64, port: u16, topic: Topic, challenge: &str) -> String {
        match queries.handle(Millis(now), browser(port), topic, query(challenge)) {
            Reply::Ask(question) => {
                let text = String::from_utf8_lossy(&question[4..]).into_owned();
                text.split(' ').nth(1).unwrap().to_owned()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_carry_the_challenge_of_each_browser() {
        let mut queries = Queries::new(1);
        let token = ask(&mut queries, 0, 1, Topic::Status, "one");
        let second = queries.handle(Millis(5), browser(2), Topic::Status, query("two"));
        assert_eq!(second, Reply::Wait);
        let third = queries.handle(Millis(5), browser(3), Topic::Status, query(""));
        assert_eq!(third, Reply::Wait);
        let answer = |challenge: &str| {
            let pair = if challenge.is_empty() {
                String::new()
            } else {
                format!("\\challenge\\{challenge}")
            };
            [OUT_OF_BAND, format!("statusResponse\n\\mapname\\x{pair}\n5 20 \"a\"\n").as_bytes()]
                .concat()
        };
        assert_eq!(queries.handle_answer(Millis(9), &answer("forged")).count(), 0);
        assert_eq!(queries.handle_answer(Millis(9), b"\xff\xff\xff\xffprint\nx").count(), 0);
        let genuine = [
            OUT_OF_BAND,
            format!("statusResponse\n\\challenge\\{token}\\mapname\\x\n5 20 \"a\"\n").as_bytes(),
        ]
        .concat();
        let sent: Vec<_> = queries.handle_answer(Millis(10), &genuine).collect();
        assert_eq!(
            sent,
            [(browser(1), answer("one")), (browser(2), answer("two")), (browser(3), answer(""))]
        );
        let later = queries.handle(Millis(2509), browser(4), Topic::Status, query("four"));
        assert_eq!(later, Reply::Answer(answer("four")));
        assert_ne!(ask(&mut queries, 2510, 4, Topic::Status, "five"), token);
        assert_eq!(queries.handle_answer(Millis(2511), &genuine).count(), 0, "an old answer");
    }

    #[test]
    fn waiting_browsers_are_bounded_and_expire() {
        let mut queries = Queries::new(1);
        let token = ask(&mut queries, 0, 1, Topic::Info, "x");
        for port in 2..500 {
            let reply = queries.handle(Millis(1), browser(port), Topic::Info, query("x"));
            assert_eq!(reply, Reply::Wait);
        }
        let answer =
            [OUT_OF_BAND, format!("infoResponse\n\\challenge\\{token}").as_bytes()].concat();
        assert_eq!(queries.handle_answer(Millis(2), &answer).count(), MAX_WAITING);
        ask(&mut queries, 3000, 1, Topic::Info, "x");
        let again = ask(&mut queries, 5000, 2, Topic::Info, "x");
        let answer =
            [OUT_OF_BAND, format!("infoResponse\n\\challenge\\{again}").as_bytes()].concat();
        let told: Vec<_> = queries.handle_answer(Millis(5001), &answer).map(|one| one.0).collect();
        assert_eq!(told, [browser(2)]);
        let long = Query { challenge: crate::wire::text::WireText::new(&[b'x'; 200]) };
        assert_eq!(queries.handle(Millis(0), browser(1), Topic::Info, long), Reply::Nothing);
    }
}
