//! The program's roles: each builds a node, gives it sockets and a clock, and lets the loop run.

pub(crate) mod serve;
