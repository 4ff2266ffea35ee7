//! (to be written)

/// Which game data the clients have.
#[derive(Debug)]
pub struct Profile;
