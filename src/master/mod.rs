//! Master server: registry of announced servers, and its answers.
