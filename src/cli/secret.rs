//! Options of `secret`.

use clap::Args;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd secret                                 asks for a secret and prints its line
  fragd secret < secret.txt                    reads the first line of a file

The line belongs into a login of the file that sv_admins names. The secret cannot be read from it.
Exit codes: 0 success, 2 usage error.";

/// Options of `secret`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct SecretOptions {}
