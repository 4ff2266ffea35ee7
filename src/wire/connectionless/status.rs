//! The long answer about a server: its settings, then a line for each player.
//!
//! ```text
//! statusResponse
//! \sv_hostname\…\challenge\…
//! 12 48 "Sarge"              score, ping in milliseconds, name with its colours
//! ```

use crate::wire::{info::InfoString, text::Text};

use super::{CommandKind, OUT_OF_BAND};

/// Settings and players of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusResponse<'a> {
    /// The text of an info string.
    pub info: Text<'a>,
    /// The lines of the players, as they came.
    pub player_lines: Text<'a>,
}

/// One player of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Player<'a> {
    /// Score, often negative.
    pub score: i32,
    /// Round trip in milliseconds; 0 for bots, 999 for those still connecting.
    pub ping: i32,
    /// Name with its colour codes.
    pub name: Text<'a>,
}

impl<'a> StatusResponse<'a> {
    pub(super) fn parse(body: Text<'a>) -> Self {
        let body = body.up_to_zero();
        let info = body.first_line();
        Self { info, player_lines: body.skip(info.len() + 1) }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.push(b'\n');
        self.info.push_to(out);
        out.push(b'\n');
        self.player_lines.push_to(out);
    }

    /// The players, one by one. Lines that name no player are passed over.
    pub fn players(self) -> impl Iterator<Item = Player<'a>> {
        self.player_lines.lines().filter_map(Player::parse)
    }
}

impl<'a> Player<'a> {
    /// Reads a line. Games with more columns put them between the ping and the name.
    fn parse(line: Text<'a>) -> Option<Self> {
        let mut words = line.words();
        let score = words.next().filter(|word| word.is_integer())?;
        let ping = words.next()?;
        let name = line.between_quotes().or_else(|| words.next()).unwrap_or_default();
        Some(Self { score: score.leading_int(), ping: ping.leading_int(), name })
    }

    fn write(self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        write!(out, "{} {} \"", self.score, self.ping).expect("a vector takes everything");
        // A quote or a line's end in a name would begin another player.
        let harmless = |byte: u8| if byte == b'"' || byte.is_ascii_control() { b'.' } else { byte };
        out.extend(self.name.bytes().map(harmless));
        out.extend_from_slice(b"\"\n");
    }
}

/// Appends a whole `statusResponse` to `out`: the settings, then players as long as the datagram has no
/// more than `limit` bytes. Returns how many players it has.
pub fn write_status_response<'a>(
    out: &mut Vec<u8>,
    info: &InfoString,
    players: impl IntoIterator<Item = Player<'a>>,
    limit: usize,
) -> usize {
    let start = out.len();
    out.extend_from_slice(OUT_OF_BAND);
    out.extend_from_slice(CommandKind::StatusResponse.name().as_bytes());
    out.push(b'\n');
    Text::from(info.as_str()).push_to(out);
    out.push(b'\n');
    let mut written = 0;
    for player in players {
        let before = out.len();
        player.write(out);
        if out.len() - start > limit {
            // Nobody after a player who is left out: readers take the order for the slots'.
            out.truncate(before);
            break;
        }
        written += 1;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &str, expected: &[(i32, i32, &str)]) {
        let status = StatusResponse { player_lines: lines.into(), ..Default::default() };
        let players: Vec<_> = status.players().collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(score, ping, name)| Player { score, ping, name: name.into() })
            .collect();
        assert_eq!(players, expected, "{lines:?}");
    }

    #[test]
    fn player_lines_of_many_makes_are_read() {
        check("12 48 \"Sarge\"\n-1 999 \"^1Visor\"\n", &[(12, 48, "Sarge"), (-1, 999, "^1Visor")]);
        check("0 116 \"probe\"", &[(0, 116, "probe")]);
        check("1 2 \"a \"b\" // c\"\n", &[(1, 2, "a \"b\" // c")]);
        check("1 2 3 \"team\"\n\n4 5 bare\r\n", &[(1, 2, "team"), (4, 5, "bare")]);
        check("1 2\n", &[(1, 2, "")]);
        check("1\nx 2 \"a\"\n\"\n", &[]);
        check("", &[]);
    }

    #[test]
    fn players_that_do_not_fit_are_left_out() {
        let info = InfoString::parse("\\a\\1");
        let players = [10, 1, 1].map(|score| Player { score, ping: 5, name: "abc".into() });
        let whole =
            b"\xff\xff\xff\xffstatusResponse\n\\a\\1\n10 5 \"abc\"\n1 5 \"abc\"\n1 5 \"abc\"\n";
        for (limit, count, len) in [
            (1400, 3, 0),
            (whole.len(), 3, 0),
            (whole.len() - 1, 2, 10),
            (45, 2, 10),
            (44, 1, 20),
            (30, 0, 31),
        ] {
            let mut out = b"before".to_vec();
            assert_eq!(write_status_response(&mut out, &info, players, limit), count, "{limit}");
            assert_eq!(out[6..], whole[..whole.len() - len], "{limit}");
        }
    }

    #[test]
    fn a_name_cannot_forge_another_player() {
        let mut out = Vec::new();
        let name = Text::from("a\"\n9 9 \"b");
        write_status_response(
            &mut out,
            &InfoString::normal(),
            [Player { name, ..Player::default() }],
            99,
        );
        assert!(out.ends_with(b"\n0 0 \"a..9 9 .b\"\n"));
    }
}
