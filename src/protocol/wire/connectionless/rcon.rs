//! Remote console packets: password and console line in clear text.
//!
//! The line is everything behind the password as typed, so that its own quotes are preserved.

use crate::wire::text::WireText;

use super::push_argument;

/// Longest output in one `print` response, in bytes of text.
pub const MAX_RCON_OUTPUT: usize = 1007;

/// Request to run a console line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rcon<'a> {
    /// Password: word 1 of the packet.
    pub password: WireText<'a>,
    /// Rest of the first line, its quotes included.
    pub command: WireText<'a>,
}

impl<'a> Rcon<'a> {
    /// Parses a first line.
    pub(super) fn parse(line: WireText<'a>) -> Self {
        let password = line.words().nth(1).unwrap_or_default();
        let (_, after) = line.trimmed().split_at_space();
        let after = after.trimmed();
        // A quoted password may contain spaces; an unquoted one ends at the first.
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
    fn rcon_line_keeps_quotes_and_spaces() {
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
            let rcon = Rcon::parse(WireText::from(line));
            assert_eq!((rcon.password, rcon.command), (password.into(), command.into()), "{line}");
        }
    }
}
