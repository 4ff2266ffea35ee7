//! Summary of a demo: counts, times, players, frags.

use std::{collections::BTreeMap, fmt};

use serde_json::{Value, json};

use crate::{
    model::{
        ClientNum, ConfigIndex, LevelTime,
        text::{ColorCodes, counted},
    },
    wire::{Protocol, info::InfoString, snapshot::SnapFlags},
};

use super::{
    events::{DemoEventKind, EventFinder},
    fault::{DemoError, DemoNote},
    reader::{DemoCounts, DemoReader},
};

/// Most levels, players and errors that a summary names. The others are counted.
const MAX_LISTED: usize = 256;

/// Score of a player in a demo, as far as its recorder saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayerSummary {
    /// Latest name without color codes.
    pub name: String,
    /// Players killed, without suicides.
    pub frags: u32,
    /// Deaths of any kind.
    pub deaths: u32,
}

/// Summary of a demo.
#[derive(Clone, Debug)]
pub struct DemoSummary {
    /// Protocol in which the messages are read.
    pub protocol: &'static Protocol,
    /// Protocol that the first serverinfo names. An extension covers several numbers.
    pub told_protocol: Option<i32>,
    /// Length of the file in bytes.
    pub bytes: usize,
    /// Counts of messages and their parts.
    pub counts: DemoCounts,
    /// Maps in order.
    pub maps: Vec<String>,
    /// Server name of the first level.
    pub server: String,
    /// Client number of the recorder.
    pub client: Option<ClientNum>,
    /// Clients whose view is recorded, e.g. those that a spectator follows.
    pub views: Vec<ClientNum>,
    /// Server times of the first and the last snapshot.
    pub times: Option<(LevelTime, LevelTime)>,
    /// Length of play in ms.
    pub play_ms: u64,
    /// Messages missing between those of the demo.
    pub lost: u64,
    /// Snapshots that were delayed by the rate.
    pub rate_delayed: usize,
    /// Total of frags and deaths, by client number.
    pub players: BTreeMap<ClientNum, PlayerSummary>,
    /// Errors, up to a limit; `counts` has their number.
    pub errors: Vec<DemoError>,
    /// Notes, up to a limit; `counts` has their number.
    pub notes: Vec<DemoNote>,
    /// Whether the file ends early, which is an error or, in an unfinished recording, a note.
    pub ends_early: bool,
}

impl DemoSummary {
    /// Reads a demo to its end.
    #[must_use]
    pub fn of(protocol: &'static Protocol, bytes: &[u8]) -> Self {
        Self::with_colors(protocol, bytes, ColorCodes::default())
    }

    /// Reads a demo to its end. Names have none of these color codes.
    #[must_use]
    pub fn with_colors(protocol: &'static Protocol, bytes: &[u8], colors: ColorCodes) -> Self {
        Self::of_reader(DemoReader::new(protocol, bytes), bytes.len(), colors)
    }

    /// Reads the demo of a new reader to its end. `bytes` is the length of the file.
    #[must_use]
    pub fn of_reader(mut reader: DemoReader<'_>, bytes: usize, colors: ColorCodes) -> Self {
        let protocol = reader.protocol();
        let mut finder = EventFinder::with_colors(colors);
        let mut summary = Self {
            protocol,
            told_protocol: None,
            bytes,
            counts: DemoCounts::default(),
            maps: Vec::new(),
            server: String::new(),
            client: None,
            views: Vec::new(),
            times: None,
            play_ms: 0,
            lost: 0,
            rate_delayed: 0,
            players: BTreeMap::new(),
            errors: Vec::new(),
            notes: Vec::new(),
            ends_early: false,
        };
        let mut last_sequence = None;
        while let Some(item) = reader.next() {
            let message = match item {
                Ok(message) => message,
                Err(error) => {
                    if summary.errors.len() < MAX_LISTED {
                        summary.errors.push(error);
                    }
                    continue;
                }
            };
            let next =
                last_sequence.replace(message.sequence).map(|last: u32| last.wrapping_add(1));
            let gap = next.map_or(0, |next| message.sequence.wrapping_sub(next));
            // Sequences that run backwards are another recording's.
            summary.lost += u64::from(if gap < 1 << 31 { gap } else { 0 });
            if message.gamestate.is_some() && reader.counts().gamestates == 1 {
                let info = InfoString::parse_big(reader.configstring(ConfigIndex::SERVERINFO));
                summary.server = info.get("sv_hostname").unwrap_or("").to_owned();
                summary.told_protocol = info.int("protocol");
            }
            // A snapshot tells it where gamestates do not.
            summary.client = summary.client.or(reader.client_num());
            if let Some(snapshot) = &message.snapshot {
                let time = snapshot.head.server_time;
                summary.times = Some((summary.times.map_or(time, |(first, _)| first), time));
                let delayed = snapshot.head.flags.contains(SnapFlags::RATE_DELAYED);
                summary.rate_delayed += usize::from(delayed);
                let view = usize::try_from(snapshot.player.client_num).ok();
                if let Some(view) = view.and_then(ClientNum::new)
                    && !summary.views.contains(&view)
                {
                    summary.views.push(view);
                }
            }
            finder.read(&reader, &message, &mut |event| {
                summary.play_ms = event.demo_ms;
                summary.count(event.kind);
            });
        }
        summary.play_ms = finder.elapsed_ms();
        summary.counts = reader.counts();
        summary.ends_early = reader.has_ended_early();
        summary.notes = reader.notes().to_vec();
        summary
    }

    fn count(&mut self, kind: DemoEventKind) {
        match kind {
            DemoEventKind::Level { map } if self.maps.len() < MAX_LISTED => self.maps.push(map),
            DemoEventKind::Name(player) => {
                self.players.entry(player.number).or_default().name = player.name;
            }
            DemoEventKind::Frag { victim, killer, .. } => {
                if let Some(killer) = killer.filter(|killer| killer.number != victim.number) {
                    self.players.entry(killer.number).or_default().frags += 1;
                }
                self.players.entry(victim.number).or_default().deaths += 1;
            }
            _ => {}
        }
    }

    /// Number of frags: kills of other players.
    #[must_use]
    pub fn frags(&self) -> u32 {
        self.players.values().map(|player| player.frags).sum()
    }

    /// Snapshots per second of play.
    #[must_use]
    pub fn snapshots_per_second(&self) -> f64 {
        self.counts.snapshots as f64 * 1000.0 / (self.play_ms as f64).max(1.0)
    }

    /// Summary as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let player = |(number, player): (&ClientNum, &PlayerSummary)| {
            json!({
                "client": number.index(),
                "name": player.name,
                "frags": player.frags,
                "deaths": player.deaths,
            })
        };
        json!({
            "protocol": self.protocol.number,
            "serverinfo_protocol": self.told_protocol,
            "bytes": self.bytes,
            "messages": self.counts.messages,
            "gamestates": self.counts.gamestates,
            "snapshots": self.counts.snapshots,
            "deltas": self.counts.deltas,
            "commands": self.counts.commands,
            "maps": self.maps,
            "server": self.server,
            "client": self.client.map(ClientNum::index),
            "views": self.views.iter().map(|view| view.index()).collect::<Vec<_>>(),
            "first_server_time": self.times.map(|(first, _)| first.0),
            "last_server_time": self.times.map(|(_, last)| last.0),
            "play_ms": self.play_ms,
            "lost": self.lost,
            "rate_delayed": self.rate_delayed,
            "players": self.players.iter().map(player).collect::<Vec<_>>(),
            "frags": self.frags(),
            "complete": !self.ends_early,
            "errors": self.counts.errors,
            "first_error": self.errors.first().map(error_json),
            "notes": self.counts.notes,
            "first_note": self.notes.first().map(note_json),
        })
    }
}

impl fmt::Display for DemoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.play_ms / 1000;
        if let Some(told) = self.told_protocol.filter(|told| *told != self.protocol.number) {
            writeln!(f, "  protocol   {}, the serverinfo names {told}", self.protocol.number)?;
        }
        writeln!(f, "  maps       {}", self.maps.join(", "))?;
        writeln!(f, "  server     {}", self.server)?;
        let client = self.client.map_or_else(|| "unknown".to_owned(), |client| client.to_string());
        let views: Vec<_> = self.views.iter().map(ToString::to_string).collect();
        writeln!(f, "  recorder   client {client}, views of clients {}", views.join(", "))?;
        writeln!(f, "  length     {}:{:02}", seconds / 60, seconds % 60)?;
        writeln!(
            f,
            "  snapshots  {} ({}), {:.1} per second, {} lost, {} rate delayed",
            self.counts.snapshots,
            counted(self.counts.deltas, "delta"),
            self.snapshots_per_second(),
            counted(self.lost, "message"),
            self.rate_delayed
        )?;
        writeln!(f, "  frags      {}", self.frags())?;
        for (number, player) in &self.players {
            let PlayerSummary { name, frags, deaths } = player;
            let (frags, deaths) = (counted(*frags, "frag"), counted(*deaths, "death"));
            writeln!(f, "  player {number:<3} {name}: {frags}, {deaths}")?;
        }
        if let Some(note) = self.notes.first() {
            writeln!(f, "  notes      {}, the first at {note}", self.counts.notes)?;
        }
        write!(f, "  errors     {}", self.counts.errors)?;
        match self.errors.first() {
            Some(error) => write!(f, ", the first at {error}"),
            None => Ok(()),
        }
    }
}

/// An error as a JSON object.
#[must_use]
pub fn error_json(error: &DemoError) -> Value {
    json!({
        "offset": error.offset,
        "sequence": error.sequence,
        "error": error.kind.to_string(),
    })
}

/// A note as a JSON object.
#[must_use]
pub fn note_json(note: &DemoNote) -> Value {
    json!({
        "offset": note.offset,
        "sequence": note.sequence,
        "note": note.kind.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn summary_counts_frags_once() {
        let demo = sample::duel();
        let summary = DemoSummary::of(Protocol::Q3_68, &demo);
        assert_eq!(summary.maps, ["oa_dm1"]);
        assert_eq!(summary.server, "Sample");
        assert_eq!(summary.frags(), 1);
        let players: Vec<_> = summary
            .players
            .iter()
            .map(|(number, p)| (number.index(), p.name.as_str(), p.frags, p.deaths))
            .collect();
        assert_eq!(players, [(2, "Ann", 1, 1), (5, "Benny", 0, 1)]);
        assert_eq!((summary.play_ms, summary.lost), (50 * (sample::SNAPSHOTS as u64 - 1), 0));
        assert_eq!(summary.to_json()["views"], json!([2]));
    }

    #[test]
    fn truncated_demo_has_a_summary_of_its_part() {
        let demo = sample::duel();
        let summary = DemoSummary::of(Protocol::Q3_68, &demo[..demo.len() / 2]);
        assert!(summary.counts.snapshots > 10 && summary.counts.snapshots < sample::SNAPSHOTS);
        assert_eq!(summary.errors.len(), 1);
        assert_eq!(summary.to_json()["first_error"]["offset"], json!(summary.errors[0].offset));
    }
}
