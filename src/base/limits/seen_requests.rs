//! Requests that were accepted, so that a copy of one has no effect.
//!
//! Invariants: the memory is bounded; while it is full of valid requests, none is new.

use std::collections::HashMap;

use crate::model::Millis;

/// Most requests that are remembered.
const MAX_SEEN: usize = 4096;

/// Codes of accepted requests, with the times at which they cease to be valid.
#[derive(Debug, Default)]
pub struct SeenRequests(HashMap<[u8; 16], Millis>);

impl SeenRequests {
    /// Records a request that is valid until a time. Returns whether it is new.
    pub fn admit(&mut self, now: Millis, code: [u8; 16], until: Millis) -> bool {
        self.0.retain(|_, until| now <= *until);
        let is_new = self.0.len() < MAX_SEEN && !self.0.contains_key(&code);
        if is_new {
            self.0.insert(code, until);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_refused_while_valid() {
        let mut seen = SeenRequests::default();
        assert!(seen.admit(Millis(0), [1; 16], Millis(10)));
        assert!(!seen.admit(Millis(10), [1; 16], Millis(20)));
        assert!(seen.admit(Millis(10), [2; 16], Millis(20)));
        assert!(seen.admit(Millis(11), [1; 16], Millis(21)));
        let code = |number: u32| {
            let mut code = [0; 16];
            code[..4].copy_from_slice(&number.to_le_bytes());
            code
        };
        let all = (0..10_000).filter(|&number| seen.admit(Millis(30), code(number), Millis(40)));
        assert_eq!(all.count(), MAX_SEEN);
        assert!(seen.admit(Millis(41), code(9999), Millis(50)) && seen.0.len() == 1);
    }
}
