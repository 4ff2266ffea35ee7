//! Journal replay: gives recorded inputs to a node made the same way and compares its datagrams.

use std::{collections::VecDeque, fmt};

use super::{
    assets::{Answers, AssetMismatch},
    format::{JournalInput, Sent, checksum},
    steps::ReplayStep,
};
use crate::{
    model::Millis,
    node::{Hosted, Input, OutputKind},
};

/// First datagram that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Time of the input.
    pub at: Millis,
    /// Frames started before it.
    pub frame: u64,
    /// Record number of the input.
    pub record: u64,
    /// Offset of that record in bytes.
    pub offset: u64,
    /// Number of the datagram after that input, from 0.
    pub number: usize,
    /// Recorded datagram; `None` when the recorded node sent no more.
    pub expected: Option<Sent>,
    /// Replayed datagram; `None` when the node sent no more.
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

/// Result of a replay step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// All datagrams are as recorded.
    Same,
    /// A datagram differs.
    Differs(Box<Divergence>),
    /// A request for files cannot be answered as in the recorded run.
    AssetMismatch(AssetMismatch),
}

/// Replay of a journal on a node.
#[derive(Debug)]
pub struct Replay<N> {
    node: N,
    frames: u64,
    datagrams_in: u64,
    datagrams_out: u64,
    packet: Vec<u8>,
    /// Datagrams that were sent and not compared yet.
    sent: VecDeque<Sent>,
}

impl<N: Hosted> Replay<N> {
    /// Starts a replay on `node`, which was made from the start record.
    #[must_use]
    pub fn new(node: N) -> Self {
        let (packet, sent) = (Vec::new(), VecDeque::new());
        Self { node, frames: 0, datagrams_in: 0, datagrams_out: 0, packet, sent }
    }

    /// Returns the node.
    #[must_use]
    pub fn node(&self) -> &N {
        &self.node
    }

    /// Returns the number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the number of datagrams handled.
    #[must_use]
    pub fn datagrams_in(&self) -> u64 {
        self.datagrams_in
    }

    /// Returns the number of sent datagrams that are as recorded.
    #[must_use]
    pub fn datagrams_out(&self) -> u64 {
        self.datagrams_out
    }

    /// Replays a step. Its answers move to `answers`.
    pub fn step(&mut self, mut step: ReplayStep, answers: &Answers) -> StepResult {
        answers.expect(std::mem::take(&mut step.answers));
        match &step.input {
            None => {}
            Some(JournalInput::Datagram(route, bytes)) => {
                self.datagrams_in += 1;
                self.node.handle_datagram(step.at, *route, bytes);
            }
            Some(JournalInput::Frame) => {
                self.frames += 1;
                self.node.frame(step.at);
            }
            Some(JournalInput::Line(line)) => self.handle(&step, Input::ConsoleLine(line)),
            Some(JournalInput::Stop(reason)) => self.handle(&step, Input::Stop(reason)),
            Some(JournalInput::Calendar(at)) => self.handle(&step, Input::Calendar(*at)),
            Some(JournalInput::Lookup(answer)) => self.handle(&step, Input::Lookup(answer)),
            Some(JournalInput::PortFailed(port)) => self.handle(&step, Input::PortFailed(*port)),
            Some(JournalInput::Counted(counters)) => {
                self.handle(&step, Input::LoopCounters(counters));
            }
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

    /// Ends the replay of a complete journal: no datagram may be left.
    pub fn finish(&mut self, at: Millis) -> StepResult {
        match self.sent.pop_front() {
            None => StepResult::Same,
            got => self.differs(&ReplayStep { at, ..ReplayStep::default() }, 0, None, got),
        }
    }

    fn handle(&mut self, step: &ReplayStep, input: Input<'_>) {
        self.node.handle_input(step.at, input);
    }

    fn drain(&mut self) {
        while let Some(route) = self.node.poll_transmit(&mut self.packet) {
            let len = u32::try_from(self.packet.len()).unwrap_or(u32::MAX);
            self.sent.push_back(Sent { route, len, checksum: checksum(&self.packet) });
        }
        for kind in OutputKind::ALL {
            while self.node.poll_output(kind).is_some() {}
        }
    }

    /// Compares in the order of sending. The recorded driver may have drained datagrams of one input after
    /// the next input.
    fn compare(&mut self, step: &ReplayStep) -> StepResult {
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
        step: &ReplayStep,
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
