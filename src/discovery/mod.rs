//! Discovery packets of four games: servers, masters and browsers, in both directions.
//!
//! Invariants: readers borrow the datagram, allocate nothing and end after one pass, for any input; each
//! written packet is read back as the same value.
