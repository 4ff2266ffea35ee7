//! Hands a journal's inputs to a node made the same way, and compares what it sends.

use std::{collections::VecDeque, fmt};

use super::{
    assets::{Answers, AssetMismatch},
    format::{Input, Sent, checksum},
    steps::Step,
};
use crate::{model::Millis, node::Hosted};

/// The first datagram that is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// When.
    pub at: Millis,
    /// Frames that had begun.
    pub frame: u64,
    /// Number of the input's record.
    pub record: u64,
    /// Byte at which that begins.
    pub offset: u64,
    /// Which datagram upon that input, the first one being 0.
    pub number: usize,
    /// What was recorded; none when nothing more was sent.
    pub expected: Option<Sent>,
    /// What the node sent now.
    pub got: Option<Sent>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, frame, record, offset, number, .. } = self;
        write!(
            f,
            "differs at {at}, frame {frame}, record {record} (byte {offset}), datagram {number}: "
        )?;
        let mut side = |what: &str, sent: Option<Sent>| match sent {
            Some(Sent { route, len, checksum }) => {
                write!(f, "{what} {len} bytes to {} with checksum {checksum:08x}", route.remote)
            }
            None => write!(f, "{what} nothing"),
        };
        side("expected", self.expected)?;
        side(", got", self.got)
    }
}

/// How a step went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Every datagram was as recorded.
    Same,
    /// One was not.
    Differs(Box<Divergence>),
    /// Files could not be had as in the recorded run.
    AssetMismatch(AssetMismatch),
}

/// A node that lives through a journal.
#[derive(Debug)]
pub struct Replay<N> {
    node: N,
    frames: u64,
    datagrams_in: u64,
    datagrams_out: u64,
    packet: Vec<u8>,
    /// What the node sent and nothing recorded was compared with yet.
    sent: VecDeque<Sent>,
}

impl<N: Hosted> Replay<N> {
    /// Replays upon `node`, which was made from the journal's start.
    #[must_use]
    pub fn new(node: N) -> Self {
        let (packet, sent) = (Vec::new(), VecDeque::new());
        Self { node, frames: 0, datagrams_in: 0, datagrams_out: 0, packet, sent }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &N {
        &self.node
    }

    /// Frames that were run.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Datagrams that the node was handed.
    #[must_use]
    pub fn datagrams_in(&self) -> u64 {
        self.datagrams_in
    }

    /// Datagrams of the node that were as recorded.
    #[must_use]
    pub fn datagrams_out(&self) -> u64 {
        self.datagrams_out
    }

    /// Lives through a step. Its `answers` are moved to where the node's files are.
    pub fn step(&mut self, mut step: Step, answers: &Answers) -> StepResult {
        answers.expect(std::mem::take(&mut step.answers));
        match &step.input {
            None => {}
            Some(Input::Datagram(route, bytes)) => {
                self.datagrams_in += 1;
                self.node.handle_datagram(step.at, *route, bytes);
            }
            Some(Input::Frame) => {
                self.frames += 1;
                self.node.frame(step.at);
            }
            Some(Input::Line(line)) => self.node.handle_console_line(step.at, line),
            Some(Input::Stop(reason)) => self.node.stop(step.at, reason),
            Some(Input::Counted(counters)) => self.node.set_loop_counters(step.at, counters),
        }
        self.drain();
        let mismatch = answers.take_mismatch();
        match mismatch {
            Some(mismatch)
                if step.is_complete || matches!(mismatch, AssetMismatch::NotHere { .. }) =>
            {
                StepResult::AssetMismatch(mismatch)
            }
            _ => self.compare(&step),
        }
    }

    /// The journal ended as it should: nothing more may have been sent.
    pub fn finish(&mut self, at: Millis) -> StepResult {
        match self.sent.pop_front() {
            None => StepResult::Same,
            got => self.differs(&Step { at, ..Step::default() }, 0, None, got),
        }
    }

    fn drain(&mut self) {
        while let Some(route) = self.node.poll_transmit(&mut self.packet) {
            let len = u32::try_from(self.packet.len()).unwrap_or(u32::MAX);
            self.sent.push_back(Sent { route, len, checksum: checksum(&self.packet) });
        }
        while self.node.poll_console().is_some() {}
        while self.node.poll_game_log().is_some() {}
    }

    /// Compares in the order of sending: whoever ran the node may have fetched what it sent upon one
    /// input after the next.
    fn compare(&mut self, step: &Step) -> StepResult {
        for (number, expected) in step.sent.iter().enumerate() {
            let got = self.sent.pop_front();
            if got.as_ref() != Some(expected) {
                return self.differs(step, number, Some(*expected), got);
            }
            self.datagrams_out += 1;
        }
        StepResult::Same
    }

    fn differs(
        &self,
        step: &Step,
        number: usize,
        expected: Option<Sent>,
        got: Option<Sent>,
    ) -> StepResult {
        StepResult::Differs(Box::new(Divergence {
            at: step.at,
            frame: self.frames,
            record: step.record,
            offset: step.offset,
            number,
            expected,
            got,
        }))
    }
}
