//! Server list as a web page and as JSON, with filters in the query string.
//!
//! ```text
//! /?game=Quake3Arena&name=arena&map=dm&players=1
//! ```
//!
//! Names come from servers of any sender, so they are escaped and lose their colors. Invariant: the page shows at
//! most `ROWS_MAX` servers, and a filter has at most `FILTER_MAX` bytes.

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ServerRow;
use crate::model::text;

/// Servers on a page.
const ROWS_MAX: usize = 1000;
/// Longest text of a filter, in bytes.
const FILTER_MAX: usize = 64;

/// Styles of the page.
const STYLE: &str = "body{font:16px system-ui,sans-serif;margin:1.5em;max-width:70em}\
    table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em .6em;\
    border-bottom:1px solid #8884}td.n,th.n{text-align:right}form{margin:1em 0}\
    input{font:inherit;width:9em;margin-right:1em}input.n{width:4em}\
    @media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#9cf}\
    input{background:#222;color:#ddd}}";

/// Filter of a list. Texts match parts, without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Part of the game's name.
    pub game: String,
    /// Part of the host name.
    pub name: String,
    /// Part of the map's name.
    pub map: String,
    /// Least number of clients.
    pub players: u16,
}

impl RowFilter {
    /// Parses a query string. Unknown keys and invalid numbers have no effect.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut filter = Self::default();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = text::truncated(value.trim(), FILTER_MAX);
            // The page shows the filter again.
            let printable = || value.chars().filter(|c| !c.is_control()).collect();
            match &*key {
                "game" => filter.game = printable(),
                "name" => filter.name = printable(),
                "map" => filter.map = printable(),
                "players" => filter.players = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        filter
    }

    /// Whether a server is shown.
    #[must_use]
    pub fn admits(&self, row: &ServerRow) -> bool {
        holds(&row.game, &self.game)
            && holds(&text::strip_colors(&row.name), &self.name)
            && holds(&row.map, &self.map)
            && row.clients >= self.players
    }
}

fn holds(text: &str, part: &str) -> bool {
    let lower = |text: &str| text.to_lowercase();
    part.is_empty() || lower(text).contains(&lower(part))
}

/// Returns the servers of a query as a JSON array, the fullest first.
#[must_use]
pub fn json(rows: &[ServerRow], query: &str) -> String {
    serde_json::to_string(&select(rows, query).1).unwrap_or_else(|_| "[]".to_owned())
}

/// Returns the servers of a query as a web page, the fullest first.
#[must_use]
pub fn page(rows: &[ServerRow], query: &str) -> String {
    let (filter, selected) = select(rows, query);
    let (count, players) =
        (selected.len(), selected.iter().map(|row| u64::from(row.clients)).sum::<u64>());
    let shown = &selected[..count.min(ROWS_MAX)];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Servers" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Servers" }
                (form(&filter))
                p {
                    (count) " of " (rows.len()) " servers, " (players) " players. "
                    @if shown.len() < count { "The first " (ROWS_MAX) " are shown. " }
                    a href="/servers.json" { "JSON" }
                }
                (table(shown))
            }
        }
    };
    page.into_string()
}

/// Filter of a query, and the servers that it admits.
fn select<'a>(rows: &'a [ServerRow], query: &str) -> (RowFilter, Vec<&'a ServerRow>) {
    let filter = RowFilter::parse(query);
    let mut selected: Vec<_> = rows.iter().filter(|row| filter.admits(row)).collect();
    selected.sort_by_key(|row| (u16::MAX - row.clients, row.address));
    (filter, selected)
}

fn form(filter: &RowFilter) -> Markup {
    let players = if filter.players == 0 { String::new() } else { filter.players.to_string() };
    html! {
        form {
            label { "Game " input name="game" value=(filter.game); }
            label { "Name " input name="name" value=(filter.name); }
            label { "Map " input name="map" value=(filter.map); }
            label { "Players, at least " input.n name="players" inputmode="numeric" value=(players); }
            button { "Filter" }
            " " a href="?" { "All" }
        }
    }
}

fn table(rows: &[&ServerRow]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "Name" } th { "Map" } th.n { "Players" } th { "Game" } th { "Address" }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        td { (text::strip_colors(&row.name)) @if row.needs_password { " (password)" } }
                        td { (row.map) }
                        td.n { (row.clients) "/" (row.max_clients) }
                        td { (game(row)) " " (row.protocol) }
                        td { (row.address) }
                    }
                }
            }
        }
    }
}

/// Game and modification.
fn game(row: &ServerRow) -> Cow<'_, str> {
    if row.modification.is_empty() {
        Cow::Borrowed(&row.game)
    } else {
        Cow::Owned(format!("{} ({})", row.game, row.modification))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, map: &str, clients: u16) -> ServerRow {
        ServerRow {
            address: ([192, 0, 2, 1], 27960 + clients).into(),
            source: None,
            heartbeat: "QuakeArena-1".to_owned(),
            game: "Quake3Arena".to_owned(),
            protocol: 68,
            name: name.to_owned(),
            map: map.to_owned(),
            game_type: "0".to_owned(),
            modification: String::new(),
            clients,
            max_clients: 8,
            needs_password: clients == 1,
            port_number: 0,
            expires_in_ms: 900_000,
        }
    }

    fn names(query: &str) -> Vec<String> {
        let rows = [
            row("^1Late ^7Night", "q3dm17", 0),
            row("Duel", "q3tourney2", 2),
            row("Under", "q3dm6", 1),
        ];
        select(&rows, query).1.iter().map(|row| row.name.clone()).collect()
    }

    #[test]
    fn filters_match_parts_without_case() {
        assert_eq!(names(""), ["Duel", "Under", "^1Late ^7Night"]);
        assert_eq!(names("map=DM"), ["Under", "^1Late ^7Night"]);
        assert_eq!(names("name=late+night"), ["^1Late ^7Night"]);
        assert_eq!(names("name=%75n&players=1"), ["Under"]);
        assert_eq!(names("players=2&game=quake"), ["Duel"]);
        assert!(names("game=et").is_empty());
        assert_eq!(names("players=many&x=y&&=&%zz").len(), 3);
        assert_eq!(RowFilter::parse(&format!("map={}", "x".repeat(5000))).map.len(), FILTER_MAX);
        assert_eq!(RowFilter::parse("name=%1b[31mevil%07%00%c2%9b").name, "[31mevil");
    }

    #[test]
    fn hostile_names_are_escaped() {
        let rows = [row("<script>alert(1)</script>\"'", "</table>", 3)];
        let text = page(&rows, "name=%22%3E%3Cscript%3E");
        assert!(!text.contains("<script"), "{text}");
        let text = page(&rows, "");
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;"), "{text}");
        assert_eq!(text.matches("</table>").count(), 1);
        let list: serde_json::Value = serde_json::from_str(&json(&rows, "")).unwrap();
        assert_eq!(list[0]["address"], "192.0.2.1:27963");
        assert_eq!(list[0]["name"], "<script>alert(1)</script>\"'");
    }

    #[test]
    fn page_shows_a_bounded_number_of_servers() {
        let rows: Vec<_> = (0..2500).map(|i| row("x", "y", i % 9)).collect();
        let text = page(&rows, "");
        assert_eq!(text.matches("<tr>").count(), 1 + ROWS_MAX);
        assert!(text.contains("2500 of 2500 servers"), "{text}");
        assert_eq!(json(&rows, "").matches("\"address\"").count(), 2500);
    }
}
