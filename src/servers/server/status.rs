//! Status table of the `status` command, in the three formats that tools read.
//!
//! Source: the replies of ioquake3, of the 1.32 release and of Quake3e.

use std::fmt::Write as _;

use crate::{model::text, settings::StatusStyle};

/// State of a client as the ping column shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusState {
    /// Connected; the gamestate was not sent.
    Connecting,
    /// Gamestate sent.
    Primed { ping_ms: i32 },
    /// In the game.
    Active { ping_ms: i32 },
    /// Dropped; the slot is still held.
    Zombie,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(super) struct StatusRow {
    pub(super) slot: usize,
    pub(super) score: i32,
    pub(super) state: StatusState,
    pub(super) name: String,
    pub(super) last_packet_ms: u64,
    pub(super) address: String,
    pub(super) qport: u16,
    pub(super) rate: u32,
}

/// Formats the table, which ends with a blank line.
pub(super) fn table(style: StatusStyle, map: &str, rows: &[StatusRow]) -> String {
    let mut out = format!("map: {map}\n");
    match style {
        StatusStyle::Ioq3 => ioq3(&mut out, rows),
        StatusStyle::Q3 => quake3(&mut out, rows),
        StatusStyle::Quake3e => quake3e(&mut out, rows),
    }
    out.push('\n');
    out
}

fn padding(width: usize, used: usize, at_least: usize) -> String {
    " ".repeat(width.saturating_sub(used).max(at_least))
}

fn ioq3(out: &mut String, rows: &[StatusRow]) {
    out.push_str(
        "cl score ping name            address                                 rate \n\
         -- ----- ---- --------------- --------------------------------------- -----\n",
    );
    for row in rows {
        // State words are one column short, which tools expect.
        let ping = match row.state {
            StatusState::Connecting => "CON ".to_owned(),
            StatusState::Zombie => "ZMB ".to_owned(),
            StatusState::Primed { ping_ms } | StatusState::Active { ping_ms } => {
                format!("{ping_ms:4} ")
            }
        };
        let name_pad = padding(16, text::strip_colors(&row.name).len(), 1);
        let address_pad = padding(39, row.address.len(), 1);
        let _ = writeln!(
            out,
            "{:2} {:5} {ping}{}{name_pad}^7{}{address_pad} {:5}",
            row.slot, row.score, row.name, row.address, row.rate
        );
    }
}

fn quake3(out: &mut String, rows: &[StatusRow]) {
    out.push_str(
        "num score ping name            lastmsg address               qport rate\n\
         --- ----- ---- --------------- ------- --------------------- ----- -----\n",
    );
    for row in rows {
        let ping = match row.state {
            StatusState::Connecting => "CNCT".to_owned(),
            StatusState::Zombie => "ZMBI".to_owned(),
            StatusState::Primed { ping_ms } | StatusState::Active { ping_ms } => {
                format!("{ping_ms:4}")
            }
        };
        let name_pad = padding(16, row.name.len(), 0);
        let address_pad = padding(22, row.address.len(), 0);
        let _ = writeln!(
            out,
            "{:3} {:5} {ping} {}^7{name_pad}{:7} {}{address_pad}{:5} {:5}",
            row.slot, row.score, row.name, row.last_packet_ms, row.address, row.qport, row.rate
        );
    }
}

fn quake3e(out: &mut String, rows: &[StatusRow]) {
    let name_len = |row: &StatusRow| text::strip_colors(&row.name).len();
    let name_width = rows.iter().map(name_len).max().unwrap_or(0).max(4);
    let address_width = rows.iter().map(|row| row.address.len()).max().unwrap_or(0).max(7);
    let _ = writeln!(out, "cl score ping {:name_width$} {:address_width$} rate", "name", "address");
    let _ = writeln!(out, "-- ----- ---- {:-<name_width$} {:-<address_width$} -----", "", "");
    for row in rows {
        let ping = match row.state {
            StatusState::Connecting => " CON ".to_owned(),
            StatusState::Primed { .. } => " PRM ".to_owned(),
            StatusState::Zombie => " ZMB ".to_owned(),
            StatusState::Active { ping_ms } => format!("{:4} ", ping_ms.min(999)),
        };
        let name_pad = padding(name_width, name_len(row), 0);
        let _ = writeln!(
            out,
            "{:2} {:5} {ping}{}{name_pad} ^7{:address_width$} {:5}",
            row.slot, row.score, row.name, row.address, row.rate
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: StatusState) -> StatusRow {
        StatusRow {
            slot: 0,
            score: 0,
            state,
            name: "Sarge".into(),
            last_packet_ms: 50,
            address: "bot".into(),
            qport: 7,
            rate: 16384,
        }
    }

    #[test]
    fn ioquake3_table_equals_the_captured_one() {
        let expected = "map: oa_dm1\n\
            cl score ping name            address                                 rate \n\
            -- ----- ---- --------------- --------------------------------------- -----\n \
            0     0    0 Sarge           ^7bot                                     16384\n\n";
        assert_eq!(
            table(StatusStyle::Ioq3, "oa_dm1", &[row(StatusState::Active { ping_ms: 0 })]),
            expected
        );
    }

    #[test]
    fn status_rows_start_with_slot_and_end_with_rate() {
        let standings = [
            StatusState::Connecting,
            StatusState::Primed { ping_ms: 999 },
            StatusState::Active { ping_ms: 48 },
            StatusState::Zombie,
        ];
        for style in [StatusStyle::Ioq3, StatusStyle::Q3, StatusStyle::Quake3e] {
            let rows: Vec<_> = standings
                .into_iter()
                .map(|state| StatusRow { name: "^1two words".into(), ..row(state) })
                .collect();
            let table = table(style, "q3dm17", &rows);
            let lines: Vec<_> = table.lines().skip(3).filter(|line| !line.is_empty()).collect();
            assert_eq!(lines.len(), rows.len());
            for line in lines {
                let words: Vec<_> = line.split_whitespace().collect();
                assert_eq!((words[0], words[1]), ("0", "0"), "{style:?} {line}");
                assert!(words[2].parse::<u32>().is_ok() || words[2].len() <= 4, "{line}");
                assert_eq!(words.last(), Some(&"16384"), "{style:?} {line}");
            }
        }
    }
}
