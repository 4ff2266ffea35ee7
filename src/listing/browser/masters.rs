//! Questions to masters and the end of their lists.
//!
//! Nothing numbers the packets of a list or ties them to a question. A list is therefore complete when it has
//! been quiet for a while: briefly after as many end marks as questions, longer without. A list without its
//! end marks is asked for once more, because a packet may be lost. A master that limits requests leaves some without an
//! answer; the marks of the last questions tell how many.
//!
//! Invariants: a round asks at most [`MAX_ASKS`] times and ends at [`LIST_LIMIT`], even while packets arrive;
//! a master's change between silent and answering is logged once.

use crate::{discovery::Family, model::Millis};

use super::options::MasterOptions;

/// Interval between requests to a silent master.
const ASK_INTERVAL: Millis = Millis(1500);
/// Maximum number of requests in a round.
const MAX_ASKS: u32 = 3;
/// Time that a master has for its first packet, as in the game's browser.
const FIRST_PACKET: Millis = Millis(5000);
/// Quiet time after which a list with its end marks is complete.
const QUIET_MARKED: Millis = Millis(400);
/// Quiet time after which a list without end marks is complete.
const QUIET: Millis = Millis(1500);
/// Longest time for a list.
const LIST_LIMIT: Millis = Millis(10_000);

/// State of a master in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterState {
    /// Asked, without a packet so far.
    Asking,
    /// Packets arrive.
    Listing,
    /// List complete.
    Complete,
    /// No packet in time.
    Silent,
}

/// Master that a browser asks.
#[derive(Clone, Debug)]
pub struct Master {
    /// Options.
    pub options: MasterOptions,
    /// State in the current round.
    pub state: MasterState,
    /// List packets of the current round.
    pub packets: u64,
    /// Addresses on them, with repetitions.
    pub listed: u64,
    /// Packets of the master that were not lists.
    pub invalid: u64,
    start: Millis,
    next_ask: Millis,
    asks: u32,
    last_packet: Millis,
    /// End marks since the last questions.
    end_marks: usize,
    /// End marks of the first answers of the round, if the questions were repeated.
    earlier_marks: usize,
    /// Whether the last round had an answer; `None` before the first ended.
    answered: Option<bool>,
    /// Whether the last complete round had lists without an end mark.
    was_partial: bool,
}

impl Master {
    pub(super) fn new(options: MasterOptions) -> Self {
        Self {
            options,
            state: MasterState::Asking,
            packets: 0,
            listed: 0,
            invalid: 0,
            start: Millis(0),
            next_ask: Millis(0),
            asks: 0,
            last_packet: Millis(0),
            end_marks: 0,
            earlier_marks: 0,
            answered: None,
            was_partial: false,
        }
    }

    /// Starts a round.
    pub(super) fn begin_round(&mut self, now: Millis) {
        self.state = MasterState::Asking;
        (self.packets, self.listed, self.asks) = (0, 0, 0);
        (self.end_marks, self.earlier_marks) = (0, 0);
        (self.start, self.next_ask) = (now, now);
    }

    /// Whether the round needs no more packets.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.state, MasterState::Complete | MasterState::Silent)
    }

    /// Whether one of the questions is of `family`.
    pub(super) fn is_asked_in(&self, family: Family) -> bool {
        self.options.questions.iter().any(|question| question.game.family == family)
    }

    /// Counts a packet of the list.
    pub(super) fn add_packet(&mut self, now: Millis, servers: u64, end_mark: bool) {
        self.state = MasterState::Listing;
        self.packets += 1;
        self.listed += servers;
        self.end_marks += usize::from(end_mark);
        self.last_packet = now;
    }

    /// Number of questions whose answers have an end mark.
    fn marked_questions(&self) -> usize {
        let marked = |family: Family| family == Family::Quake3;
        let questions = self.options.questions.iter();
        questions.filter(|question| marked(question.game.family)).count()
    }

    /// Lists of the round that have no end mark.
    #[must_use]
    pub fn missing_lists(&self) -> usize {
        self.marked_questions().saturating_sub(self.end_marks.max(self.earlier_marks))
    }

    /// Whether all lists of the round have arrived.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.packets > 0 && self.missing_lists() == 0
    }

    /// Returns the end of the list if no other packet arrives.
    fn list_end(&self) -> Millis {
        let all_marked = self.end_marks >= self.marked_questions();
        let only_marked = self.marked_questions() == self.options.questions.len();
        let quiet = if all_marked && only_marked { QUIET_MARKED } else { QUIET };
        (self.last_packet + quiet).min(self.start + LIST_LIMIT)
    }

    /// Runs what is due. Returns whether the questions are to be sent.
    pub(super) fn frame(&mut self, now: Millis) -> bool {
        match self.state {
            MasterState::Asking if now.since(self.start) >= FIRST_PACKET => {
                self.end_round(MasterState::Silent);
            }
            MasterState::Asking if now >= self.next_ask => {
                self.asks += 1;
                self.next_ask =
                    if self.asks < MAX_ASKS { now + ASK_INTERVAL } else { Millis::NEVER };
                return true;
            }
            MasterState::Listing if now >= self.list_end() => {
                let unmarked = self.end_marks < self.marked_questions();
                if unmarked && self.asks == 1 && now.since(self.start) < LIST_LIMIT {
                    self.asks += 1;
                    self.earlier_marks = std::mem::take(&mut self.end_marks);
                    self.last_packet = now;
                    return true;
                }
                self.end_round(MasterState::Complete);
            }
            _ => {}
        }
        false
    }

    fn end_round(&mut self, state: MasterState) {
        self.state = state;
        let answered = state == MasterState::Complete;
        let label = &self.options.label;
        match (self.answered.replace(answered), answered) {
            (None | Some(true), false) => {
                log::warn!("master {label} silent: no list within {FIRST_PACKET}");
            }
            (Some(false), true) => log::info!("master {label} answered again"),
            _ => {}
        }
        let (missing, all) = (self.missing_lists(), self.marked_questions());
        let is_partial = answered && missing > 0;
        if is_partial && !self.was_partial {
            log::warn!(
                "master {label}: {missing} of {all} lists without an end, servers may be missing: a limit of \
                 requests of the master, or lost packets; ask again later"
            );
        }
        self.was_partial = is_partial;
    }

    /// Returns the due time of the next [`Self::frame`].
    pub(super) fn next_frame(&self) -> Millis {
        match self.state {
            MasterState::Asking => self.next_ask.min(self.start + FIRST_PACKET),
            MasterState::Listing => self.list_end(),
            MasterState::Complete | MasterState::Silent => Millis::NEVER,
        }
    }
}
