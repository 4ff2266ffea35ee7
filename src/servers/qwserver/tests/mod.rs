//! Tests of a server.
