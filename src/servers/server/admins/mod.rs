//! Players as administrators: levels and logins of a file, and tries of secrets.
//!
//! | part | content |
//! |---|---|
//! | `file` | reader of the file: levels with their commands, logins with their secrets |
//! | `secret` | comparison of a secret in constant time; hashes |
//! | `tries` | wrong tries by address |
//! | `commands` | commands that a level may have |
//!
//! A client holds the name of its login as long as its connection lasts. Level and commands are looked up when it runs a
//! command, so that a new file counts at once. Invariant: a file with a fault changes nothing.

mod commands;
mod file;
mod secret;
mod tries;

use std::net::IpAddr;

pub(super) use self::commands::{AdminCommand, HELP, command_named};
pub use self::secret::{SALT_LEN, hashed_secret};
use self::{secret::Secret, tries::LoginTries};
use crate::model::Millis;

/// Longest file of administrators, in bytes.
pub const MAX_FILE_LEN: u64 = 64 * 1024;

/// Checks the text of a file of administrators.
///
/// # Errors
/// Line and sentence.
pub fn check_admins(text: &str) -> Result<(), (usize, String)> {
    file::parse(text).map(drop)
}

/// Level of administrators.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) name: String,
    /// Names of the commands.
    pub(super) commands: Vec<&'static str>,
    /// Longest ban and mute, e.g. `2h`; `None` for any.
    pub(super) max_time: Option<String>,
}

/// Login of an administrator.
#[derive(Clone, Debug)]
struct Login {
    name: String,
    /// Place of the level, from the lowest.
    rank: usize,
    secret: Secret,
}

/// Level of a login, with its rank from the lowest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role<'a> {
    pub(super) level: &'a Level,
    pub(super) rank: usize,
}

/// Result of a try to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoginResult {
    /// Name of the login.
    Granted(String),
    /// The secret is wrong; the address has this number of tries left.
    Wrong(u32),
    /// The address is refused for this time.
    Refused(Millis),
}

/// Administrators of a server.
#[derive(Debug, Default)]
pub(super) struct Admins {
    levels: Vec<Level>,
    logins: Vec<Login>,
    tries: LoginTries,
}

impl Admins {
    /// Replaces levels and logins by those of a file. Returns their numbers and the logins that are no longer valid.
    ///
    /// # Errors
    /// Line and sentence. Nothing is changed.
    pub(super) fn replace(
        &mut self,
        text: &str,
    ) -> Result<([usize; 2], Vec<String>), (usize, String)> {
        let (levels, logins) = file::parse(text)?;
        let is_kept = |old: &&Login| {
            logins.iter().any(|new| new.name == old.name && new.secret == old.secret)
        };
        let gone = self.logins.iter().filter(|old| !is_kept(old)).map(|old| old.name.clone());
        let gone = gone.collect();
        (self.levels, self.logins) = (levels, logins);
        Ok(([self.levels.len(), self.logins.len()], gone))
    }

    /// Whether there are logins.
    pub(super) fn is_enabled(&self) -> bool {
        !self.logins.is_empty()
    }

    /// Role of a login.
    pub(super) fn role(&self, login: &str) -> Option<Role<'_>> {
        let rank = self.logins.iter().find(|known| known.name == login)?.rank;
        self.levels.get(rank).map(|level| Role { level, rank })
    }

    /// Tries a secret for a client of an address.
    pub(super) fn log_in(&mut self, now: Millis, from: IpAddr, given: &str) -> LoginResult {
        if let Err(left) = self.tries.admit(now, from) {
            return LoginResult::Refused(left);
        }
        // All secrets are compared, so that the time does not tell which one is near.
        let mut found = None;
        for login in &self.logins {
            if bool::from(login.secret.is_right(given)) {
                found = Some(login.name.clone());
            }
        }
        match found {
            Some(name) => LoginResult::Granted(name),
            None => LoginResult::Wrong(self.tries.record_wrong(now, from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[level]]\nname = \"low\"\ncommands = [\"kick\"]\n\
        [[login]]\nname = \"anna\"\nlevel = \"low\"\nsecret = \"annas-secret\"\n\
        [[login]]\nname = \"bea\"\nlevel = \"low\"\nsecret = \"beas-secret\"\n";

    #[test]
    fn file_with_fault_changes_nothing() {
        let mut admins = Admins::default();
        assert_eq!(admins.replace(FILE), Ok(([1, 2], vec![])));
        assert!(admins.replace("[[login]]").is_err());
        let from = "192.0.2.1".parse().unwrap();
        let mut log_in = |secret: &str| admins.log_in(Millis(1000), from, secret);
        assert_eq!(log_in("beas-secret"), LoginResult::Granted("bea".to_owned()));
        assert_eq!(log_in("beas-secre"), LoginResult::Wrong(4));
        assert_eq!(log_in("annas-secret"), LoginResult::Granted("anna".to_owned()));
        assert_eq!(log_in(""), LoginResult::Wrong(3), "an owner of a secret guesses no other");
    }

    #[test]
    fn login_with_new_secret_ends() {
        let mut admins = Admins::default();
        admins.replace(FILE).unwrap();
        let changed = FILE.replace("annas-secret", "other-secret");
        assert_eq!(admins.replace(&changed), Ok(([1, 2], vec!["anna".to_owned()])));
        assert_eq!(admins.replace("").unwrap().1, ["anna", "bea"]);
        assert!(!admins.is_enabled() && admins.role("anna").is_none());
    }
}
