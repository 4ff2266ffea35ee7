//! Live table of a browser in a terminal: keys in, lines of a screen out.
//!
//! | key | effect |
//! |---|---|
//! | text, backspace | filter, see [`Filter`] |
//! | left, right | column of the order |
//! | tab | direction of the order |
//! | up, down, page up, page down, home, end | selected server |
//! | enter | details of the selected server, and back |
//! | F5 | new round |
//! | escape | back, then empty filter, then end |
//!
//! Invariants: a screen has at most the given number of lines, each at most as long as the given width and
//! printable ASCII; the filter is short.

use std::str::FromStr;

use crate::{
    model::Millis,
    node::{Hosted, Input, Node, Output, OutputKind, Route},
};

use super::{
    filter::Filter,
    masters::{Master, MasterState},
    node::Browser,
    order::Column,
    report::{self, Selection},
    server::{Sample, Server},
};

/// Maximum length of the filter, in bytes.
const MAX_FILTER_LEN: usize = 100;
/// Lines beside the table: status, head, filter, help.
const FRAME_LINES: usize = 4;
/// Steps of a page key.
const PAGE: usize = 10;
/// Most samples of a history chart.
const CHART_LEN: usize = 30;

const HELP: &str =
    "type: filter  left/right: sort  tab: reverse  enter: details  F5: refresh  esc: back, quit";

/// Key of the live table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "keys are named as on a keyboard")]
pub enum Key {
    /// Printable character.
    Char(char),
    Backspace,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    Enter,
    Escape,
    /// New round.
    Refresh,
    /// End of the program.
    Quit,
}

const KEY_NAMES: &[(&str, Key)] = &[
    ("backspace", Key::Backspace),
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("home", Key::Home),
    ("end", Key::End),
    ("tab", Key::Tab),
    ("enter", Key::Enter),
    ("escape", Key::Escape),
    ("refresh", Key::Refresh),
    ("quit", Key::Quit),
    ("space", Key::Char(' ')),
];

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some((_, key)) = KEY_NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*key);
        }
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if ('!'..='~').contains(&letter) => Ok(Self::Char(letter)),
            _ => Err(()),
        }
    }
}

/// Style of a screen line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// Plain text.
    Plain,
    /// Status and help.
    Dim,
    /// Head of the table.
    Head,
    /// Selected server.
    Selected,
}

/// Line of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenLine {
    /// Style.
    pub style: LineStyle,
    /// Text without its end.
    pub text: String,
}

/// Browser with a live table. Console lines are names of keys.
#[derive(Debug)]
pub struct LiveBrowser {
    browser: Browser,
    selection: Selection,
    filter: String,
    selected: usize,
    details: bool,
    /// Whether the last round is shown after its end, until the operator quits.
    quit: bool,
}

impl LiveBrowser {
    /// Creates a live table that starts with `selection` and the text of its filter.
    #[must_use]
    pub fn new(browser: Browser, selection: Selection, filter: &str) -> Self {
        let filter: String = filter.chars().filter(|c| (' '..='~').contains(c)).collect();
        let filter = filter.chars().take(MAX_FILTER_LEN).collect();
        Self { browser, selection, filter, selected: 0, details: false, quit: false }
    }

    /// Returns the browser.
    #[must_use]
    pub const fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Handles a key.
    pub fn press(&mut self, now: Millis, key: Key) {
        match key {
            Key::Char(letter) if self.filter.len() < MAX_FILTER_LEN => {
                self.filter.push(letter);
                self.set_filter();
            }
            Key::Char(_) => {}
            Key::Backspace => {
                self.filter.pop();
                self.set_filter();
            }
            Key::Left => self.move_column(-1),
            Key::Right => self.move_column(1),
            Key::Tab => self.selection.order.reversed ^= true,
            Key::Up => self.selected = self.selected.saturating_sub(1),
            Key::Down => self.selected += 1,
            Key::PageUp => self.selected = self.selected.saturating_sub(PAGE),
            Key::PageDown => self.selected += PAGE,
            Key::Home => self.selected = 0,
            Key::End => self.selected = usize::MAX - PAGE,
            Key::Enter => self.details ^= true,
            Key::Refresh => self.browser.refresh(now),
            Key::Escape if self.details => self.details = false,
            Key::Escape if !self.filter.is_empty() => {
                self.filter.clear();
                self.set_filter();
            }
            Key::Escape | Key::Quit => self.quit = true,
        }
        let count = self.selection.of(self.browser.table().servers()).len();
        self.selected = self.selected.min(count.saturating_sub(1));
    }

    fn set_filter(&mut self) {
        self.selection.filter = Filter::parse(&self.filter);
        self.selected = 0;
        self.details = false;
    }

    fn move_column(&mut self, steps: isize) {
        let order = &mut self.selection.order;
        *order = super::Order { column: order.column.moved(steps), reversed: false };
    }

    /// Returns the lines of a screen of `width` by `height` characters.
    #[must_use]
    pub fn screen(&self, width: usize, height: usize) -> Vec<ScreenLine> {
        let servers = self.selection.of(self.browser.table().servers());
        let selected = self.selected.min(servers.len().saturating_sub(1));
        let mut lines = vec![(LineStyle::Dim, self.status(servers.len()))];
        let rows = height.saturating_sub(FRAME_LINES);
        match servers.get(selected).filter(|_| self.details) {
            Some(server) => {
                lines.push((LineStyle::Head, report::HEAD.to_owned()));
                lines.extend(details(server).into_iter().take(rows).map(|t| (LineStyle::Plain, t)));
            }
            None => {
                lines.push((LineStyle::Head, self.head()));
                let top = (selected + 1).saturating_sub(rows);
                for (at, server) in servers.iter().enumerate().skip(top).take(rows) {
                    let style = if at == selected { LineStyle::Selected } else { LineStyle::Plain };
                    lines.push((style, report::line(server)));
                }
            }
        }
        let body = height.saturating_sub(2);
        lines.resize(lines.len().max(body), (LineStyle::Plain, String::new()));
        lines.truncate(body);
        lines.push((LineStyle::Plain, format!("filter: {}_", self.filter)));
        lines.push((LineStyle::Dim, HELP.to_owned()));
        lines.truncate(height);
        let cut = |text: String| text.chars().take(width).collect();
        lines.into_iter().map(|(style, text)| ScreenLine { style, text: cut(text) }).collect()
    }

    fn status(&self, shown: usize) -> String {
        let (waiting, asked) = self.browser.query_counts();
        let masters = self.browser.masters();
        let state = if self.browser.is_running() {
            let listing = masters.iter().filter(|master| !master.is_done()).count();
            format!("{listing} masters listing, {} servers to ask", waiting + asked)
        } else {
            "complete".to_owned()
        };
        let silent = |master: &&Master| master.state == MasterState::Silent;
        let silent: Vec<_> =
            masters.iter().filter(silent).map(|master| master.options.label.as_str()).collect();
        let silent = if silent.is_empty() {
            String::new()
        } else {
            format!("; silent: {}", silent.join(", "))
        };
        format!("fragd browse: {shown} shown; {}; {state}{silent}", report::summary(&self.browser))
    }

    /// Returns the head with the order's column in brackets.
    fn head(&self) -> String {
        let order = self.selection.order;
        let named = Column::ALL.iter().find(|(_, column)| *column == order.column);
        let name = named.map_or("", |(name, _)| *name);
        let sign = if order.reversed { '>' } else { '<' };
        // The sign takes the place of the blank behind the name.
        report::HEAD.replacen(&format!("{name} "), &format!("{name}{sign}"), 1)
    }
}

/// Returns the details of a server: its line, history, players and pairs.
fn details(server: &Server) -> Vec<String> {
    let shown = server.shown();
    let mut lines = vec![report::line(server), String::new()];
    if server.history.len() > 1 {
        lines.push(format!("players  {}", chart(&server.history, |s| Some(u64::from(s.players)))));
        lines.push(format!("ping     {}", chart(&server.history, |s| s.ping_ms)));
        lines.push(String::new());
    }
    for player in &shown.players {
        lines.push(format!("{:>6} {:>5}  {}", player.score, player.ping_ms, player.name));
    }
    if !shown.players.is_empty() {
        lines.push(String::new());
    }
    let width = shown.pairs.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    lines.extend(shown.pairs.iter().map(|(key, value)| format!("{key:<width$}  {value}")));
    lines
}

/// Returns the newest values of a history, oldest first.
fn chart<'a>(
    history: impl IntoIterator<Item = &'a Sample, IntoIter: DoubleEndedIterator>,
    value: fn(&Sample) -> Option<u64>,
) -> String {
    let shown = |sample| value(sample).map_or_else(|| "-".to_owned(), |value| value.to_string());
    let mut values: Vec<_> = history.into_iter().rev().take(CHART_LEN).map(shown).collect();
    values.reverse();
    values.join(" ")
}

impl Node for LiveBrowser {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.browser.handle_datagram(now, route, bytes);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.browser.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.browser.next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.browser.poll_transmit(packet)
    }

    fn is_finished(&self) -> bool {
        self.quit
    }
}

impl Hosted for LiveBrowser {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        match input {
            Input::ConsoleLine(line) => {
                if let Ok(key) = line.parse() {
                    self.press(now, key);
                }
            }
            Input::Stop(_) => {
                self.browser.handle_input(now, input);
                self.quit = true;
            }
            Input::LoopCounters(_)
            | Input::Calendar(_)
            | Input::Lookup(_)
            | Input::PortFailed(_)
            | Input::Oversize(_) => {
                self.browser.handle_input(now, input);
            }
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        self.browser.poll_output(kind)
    }

    fn local_ports(&self) -> u16 {
        self.browser.local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        self.browser.receive_coalescing()
    }
}
