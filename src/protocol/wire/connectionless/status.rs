//! Status response: settings of a server, then one line per player.
//!
//! ```text
//! statusResponse
//! \sv_hostname\…\challenge\…
//! 12 48 "Sarge"              score, ping in ms, name with color codes
//! ```

use crate::wire::{info::InfoString, text::WireText};

use super::{CommandKind, OUT_OF_BAND};

/// Settings and players of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusResponse<'a> {
    /// Settings as an info string.
    pub info: WireText<'a>,
    /// Lines of the players, as received.
    pub player_lines: WireText<'a>,
}

/// One player of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusPlayer<'a> {
    /// Score, often negative.
    pub score: i32,
    /// Round-trip time in ms; 0 for bots, 999 for connecting clients.
    pub ping: i32,
    /// Name with color codes.
    pub name: WireText<'a>,
}

impl<'a> StatusResponse<'a> {
    /// Parses what follows the first line of the packet.
    #[must_use]
    pub fn from_body(body: WireText<'a>) -> Self {
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

    /// Iterates over the players. Invalid lines are skipped.
    pub fn players(self) -> impl Iterator<Item = StatusPlayer<'a>> {
        self.player_lines.lines().filter_map(StatusPlayer::parse)
    }
}

impl<'a> StatusPlayer<'a> {
    /// Parses a line. Games with more columns put them between the ping and the name.
    fn parse(line: WireText<'a>) -> Option<Self> {
        let mut words = line.words();
        let score = words.next().filter(|word| word.is_integer())?;
        let ping = words.next()?;
        let name = line.between_quotes().or_else(|| words.next()).unwrap_or_default();
        Some(Self { score: score.atoi(), ping: ping.atoi(), name })
    }

    /// Appends the line of the player to `out`.
    pub fn write(self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        write!(out, "{} {} \"", self.score, self.ping).expect("a vector takes everything");
        // A quote or a line end in a name would start another player.
        let harmless = |byte: u8| if byte == b'"' || byte.is_ascii_control() { b'.' } else { byte };
        out.extend(self.name.bytes().map(harmless));
        out.extend_from_slice(b"\"\n");
    }
}

/// Appends a `statusResponse` to `out` and returns its number of players. It contains the settings,
/// then players while the datagram has no more than `limit` bytes.
pub fn write_status_response<'a>(
    out: &mut Vec<u8>,
    info: &InfoString,
    players: impl IntoIterator<Item = StatusPlayer<'a>>,
    limit: usize,
) -> usize {
    let start = out.len();
    out.extend_from_slice(OUT_OF_BAND);
    out.extend_from_slice(CommandKind::StatusResponse.name().as_bytes());
    out.push(b'\n');
    WireText::from(info.as_str()).push_to(out);
    out.push(b'\n');
    let mut written = 0;
    for player in players {
        let before = out.len();
        player.write(out);
        if out.len() - start > limit {
            // No player follows one that is left out: clients read the order as slot order.
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
            .map(|&(score, ping, name)| StatusPlayer { score, ping, name: name.into() })
            .collect();
        assert_eq!(players, expected, "{lines:?}");
    }

    #[test]
    fn player_lines_of_several_games_are_parsed() {
        check("12 48 \"Sarge\"\n-1 999 \"^1Visor\"\n", &[(12, 48, "Sarge"), (-1, 999, "^1Visor")]);
        check("0 116 \"probe\"", &[(0, 116, "probe")]);
        check("1 2 \"a \"b\" // c\"\n", &[(1, 2, "a \"b\" // c")]);
        check("1 2 3 \"team\"\n\n4 5 bare\r\n", &[(1, 2, "team"), (4, 5, "bare")]);
        check("1 2\n", &[(1, 2, "")]);
        check("1\nx 2 \"a\"\n\"\n", &[]);
        check("", &[]);
    }

    #[test]
    fn status_response_omits_players_beyond_limit() {
        let info = InfoString::parse("\\a\\1");
        let players = [10, 1, 1].map(|score| StatusPlayer { score, ping: 5, name: "abc".into() });
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
    fn player_name_cannot_forge_another_player() {
        let mut out = Vec::new();
        let name = WireText::from("a\"\n9 9 \"b");
        write_status_response(
            &mut out,
            &InfoString::normal(),
            [StatusPlayer { name, ..StatusPlayer::default() }],
            99,
        );
        assert!(out.ends_with(b"\n0 0 \"a..9 9 .b\"\n"));
    }
}
