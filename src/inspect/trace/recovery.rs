//! Recovery of a challenge from checksummed headers, for connections observed from their middle.
//!
//! A header carries `challenge ^ sequence * challenge`. For an even sequence number each bit of that
//! sum depends on the same and lower bits of the challenge only, so it has exactly one solution.
//! A second header confirms it. Source: ioquake3 protocol 71, header checksum.

use crate::{
    model::{Challenge, Sequence},
    netchan::{
        ChannelSide,
        header::{HeaderLayout, checksum},
    },
    wire::Protocol,
};

/// Challenge solved from one header, not confirmed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    guess: Option<(Sequence, Challenge)>,
}

impl Recovery {
    /// Handles a datagram and returns the challenge once a second header confirms it.
    pub(super) fn observe(&mut self, sender: ChannelSide, datagram: &[u8]) -> Option<Challenge> {
        let layout = HeaderLayout::new(sender, Protocol::IOQ3_71.framing);
        let (header, _) = layout.read(datagram).ok()?;
        let sequence = header.sequence;
        if let Some((other, challenge)) = self.guess
            && other != sequence
            && checksum(challenge, sequence) == header.checksum
        {
            return Some(challenge);
        }
        if sequence.0.is_multiple_of(2) && sequence.0 > 0 && header.checksum != 0 {
            self.guess = Some((sequence, solve(sequence, header.checksum)));
        }
        None
    }
}

/// Returns the only challenge with this checksum. The sequence number is even.
fn solve(sequence: Sequence, sum: u32) -> Challenge {
    let mut challenge = 0_u32;
    for bit in 0..32 {
        let wrong = checksum(Challenge(challenge as i32), sequence) ^ sum;
        challenge |= wrong & (1 << bit);
    }
    Challenge(challenge as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netchan::header::Header;

    #[test]
    fn challenge_is_recovered_from_two_headers() {
        for challenge in [1, -1, 0x1234_5678, i32::MIN, -1_995_665_777].map(Challenge) {
            let mut recovery = Recovery::default();
            let found: Vec<_> = (700..704)
                .map(|number| {
                    let sequence = Sequence(number);
                    let sum = checksum(challenge, sequence);
                    let header = Header { sequence, checksum: sum, ..Header::default() };
                    let mut datagram = Vec::new();
                    HeaderLayout::new(ChannelSide::Server, Protocol::IOQ3_71.framing)
                        .write(&header, &mut datagram);
                    recovery.observe(ChannelSide::Server, &datagram)
                })
                .collect();
            assert_eq!(found[..2], [None, Some(challenge)], "{challenge}");
        }
        let mut recovery = Recovery::default();
        assert_eq!(recovery.observe(ChannelSide::Client, &[7; 40]), None);
        assert_eq!(recovery.observe(ChannelSide::Client, &[8; 40]), None);
    }
}
