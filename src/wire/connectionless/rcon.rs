//! The remote console: a password and a console line, in the clear.
//!
//! The line is taken as it was typed, from behind the password on, so that its own quotes survive.

use crate::wire::text::Text;

use super::push_argument;

/// Most output that one `print` answers with, in bytes of text.
pub const MAX_RCON_OUTPUT: usize = 1007;

/// Asks to run a console line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rcon<'a> {
    /// Word 1 of the packet.
    pub password: Text<'a>,
    /// The rest of the first line, its quotes included.
    pub command: Text<'a>,
}

impl<'a> Rcon<'a> {
    /// Takes a first line apart.
    pub(super) fn parse(line: Text<'a>) -> Self {
        let password = line.words().nth(1).unwrap_or_default();
        let (_, after) = line.trimmed().split_at_space();
        let after = after.trimmed();
        // A quoted password may hold spaces; any other one ends at the first.
        let command = match after.strip_prefix("\"") {
            Some(quoted) => quoted.after_quote(),
            None => after.split_at_space().1,
        };
        Self { password, command: command.trimmed() }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        push_argument(out, self.password);
        out.push(b' ');
        self.command.first_line().push_to(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_taken_as_it_was_typed() {
        for (line, password, command) in [
            ("rcon pw status", "pw", "status"),
            ("rcon  pw   say \"a  b\" // c", "pw", "say \"a  b\" // c"),
            ("rcon \"p w\" say \"x\"", "p w", "say \"x\""),
            ("rcon \"\" status", "", "status"),
            ("rcon pw", "pw", ""),
            ("rcon", "", ""),
            ("rcon \"open", "open", ""),
            ("rcon pa\"x y\" z", "pa", "y\" z"),
        ] {
            let rcon = Rcon::parse(Text::from(line));
            assert_eq!((rcon.password, rcon.command), (password.into(), command.into()), "{line}");
        }
    }
}
