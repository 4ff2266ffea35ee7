//! (to be written)

/// Free flight.
#[derive(Debug)]
pub struct Flight;
