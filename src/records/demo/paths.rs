//! Paths of players and places of deaths in a demo, as its recorder saw them.
//!
//! Invariant: the number of points is bounded for any demo; long paths lose detail.

use crate::{
    bg::{EntityType, Event, PmType, entity_flag},
    model::{ClientNum, Vec3, limits::MAX_CLIENTS, text::ColorCodes},
    wire::Protocol,
};

use super::{
    events::{DemoEventKind, DemoPlayer, EventFinder},
    reader::{DemoReader, DemoSnapshot},
};

/// Maximum points of all paths. Beyond it every second point is removed.
const MAX_POINTS: usize = 16_000;
/// Maximum deaths.
const MAX_DEATHS: usize = 4000;
/// First distance between two points, in units.
const MIN_DISTANCE: f32 = 24.0;
/// Distance between two snapshots that only a teleport or a respawn covers, in units.
const JUMP_DISTANCE: f32 = 320.0;
/// Time after which a player that was out of view begins another run, in ms.
const ABSENCE_MS: u64 = 400;

/// Path of a player.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayerPath {
    /// Latest name.
    pub name: String,
    /// Connected points. A teleport, a respawn or a time out of view begins another run.
    pub runs: Vec<Vec<Vec3>>,
    /// Kills of other players.
    pub frags: u32,
    /// Deaths.
    pub deaths: u32,
    /// Position and time at which the player was last seen.
    last: Option<(Vec3, u64)>,
}

/// Death of a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Death {
    /// Time since the first snapshot, in ms.
    pub demo_ms: u64,
    /// Player who died.
    pub victim: DemoPlayer,
    /// Player who killed; `None` for the world and suicides.
    pub killer: Option<DemoPlayer>,
    /// Name of the means of death.
    pub means: &'static str,
    /// Position of the victim.
    pub at: Vec3,
    /// Position of the killer, if known.
    pub from: Option<Vec3>,
}

/// Paths and deaths on the first map of a demo.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DemoPaths {
    /// Name of the map.
    pub map: String,
    /// Paths by client number.
    pub paths: Vec<PlayerPath>,
    /// Deaths whose place is known.
    pub deaths: Vec<Death>,
    points: usize,
    min_distance: f32,
}

impl DemoPaths {
    /// Reads the first map of a demo.
    #[must_use]
    pub fn of(protocol: &'static Protocol, bytes: &[u8]) -> Self {
        Self::with_colors(protocol, bytes, ColorCodes::default())
    }

    /// Reads the first map of a demo. Names have none of these color codes.
    #[must_use]
    pub fn with_colors(protocol: &'static Protocol, bytes: &[u8], colors: ColorCodes) -> Self {
        let mut reader = DemoReader::new(protocol, bytes);
        let mut finder = EventFinder::with_colors(colors);
        let mut paths = Self {
            paths: vec![PlayerPath::default(); MAX_CLIENTS],
            min_distance: MIN_DISTANCE,
            ..Self::default()
        };
        let mut is_other_map = false;
        while let Some(item) = reader.next() {
            let Ok(message) = item else { continue };
            let mut deaths = Vec::new();
            finder.read(&reader, &message, &mut |event| match event.kind {
                DemoEventKind::Level { map } if paths.map.is_empty() => paths.map = map,
                DemoEventKind::Level { map } => is_other_map |= map != paths.map,
                DemoEventKind::Name(player) => {
                    paths.paths[player.number.index()].name = player.name;
                }
                DemoEventKind::Frag { victim, killer, means } => {
                    let killer = killer.filter(|killer| killer.number != victim.number);
                    let (demo_ms, at) = (event.demo_ms, Vec3::ZERO);
                    deaths.push(Death { demo_ms, victim, killer, means, at, from: None });
                }
                _ => {}
            });
            if is_other_map {
                break;
            }
            if let Some(snapshot) = &message.snapshot {
                paths.add_snapshot(snapshot, finder.elapsed_ms());
                deaths.into_iter().for_each(|death| paths.add_death(protocol, snapshot, death));
            }
        }
        paths
    }

    fn add_snapshot(&mut self, snapshot: &DemoSnapshot, at_ms: u64) {
        let player = &snapshot.player;
        if player.pm_type == PmType::Normal || player.pm_type == PmType::Dead {
            self.see(player.client_num, player.origin, at_ms);
        }
        for entity in &snapshot.entities {
            if entity.e_type == EntityType::Player && entity.e_flags & entity_flag::NODRAW == 0 {
                self.see(entity.number, entity.pos.base, at_ms);
            }
        }
    }

    fn see(&mut self, number: i32, at: Vec3, at_ms: u64) {
        let path = usize::try_from(number).ok().and_then(|number| self.paths.get_mut(number));
        let Some(path) = path.filter(|_| at.is_finite()) else { return };
        let continues = path.last.is_some_and(|(last, seen_ms)| {
            (at - last).length() < JUMP_DISTANCE && at_ms - seen_ms <= ABSENCE_MS
        });
        path.last = Some((at, at_ms));
        match path.runs.last_mut().filter(|_| continues) {
            Some(run) => {
                let far = |last: &Vec3| (at - *last).length() >= self.min_distance;
                if !run.last().is_none_or(far) {
                    return;
                }
                run.push(at);
            }
            None => path.runs.push(vec![at]),
        }
        self.points += 1;
        if self.points > MAX_POINTS {
            self.thin();
        }
    }

    /// Removes every second point, and runs of single points.
    fn thin(&mut self) {
        self.min_distance *= 2.0;
        self.points = 0;
        for path in &mut self.paths {
            for run in &mut path.runs {
                let mut index = 0;
                run.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            path.runs.retain(|run| run.len() > 1);
            self.points += path.runs.iter().map(Vec::len).sum::<usize>();
        }
    }

    /// Adds a death without positions, and finds them.
    fn add_death(&mut self, protocol: &Protocol, snapshot: &DemoSnapshot, death: Death) {
        let Death { demo_ms, ref victim, ref killer, .. } = death;
        self.paths[victim.number.index()].deaths += 1;
        if let Some(killer) = killer {
            self.paths[killer.number.index()].frags += 1;
        }
        let recent = |player: &DemoPlayer| {
            let (at, seen_ms) = self.paths[player.number.index()].last?;
            (demo_ms - seen_ms.min(demo_ms) <= ABSENCE_MS).then_some(at)
        };
        // The obituary of a victim out of view has the place.
        let obituary = snapshot.entities.iter().find(|entity| {
            entity.e_type >= protocol.numbers.first_event_type()
                && protocol.numbers.received_entity(entity).e_type
                    == EntityType::with_event(Event::Obituary)
                && ClientNum::new(usize::try_from(entity.other_entity_num).unwrap_or(usize::MAX))
                    == Some(victim.number)
        });
        let place = obituary.map(|entity| entity.pos.base).filter(|at| *at != Vec3::ZERO);
        let Some(at) = recent(victim).or(place).filter(|at| at.is_finite()) else { return };
        if self.deaths.len() < MAX_DEATHS {
            let from = killer.as_ref().and_then(recent);
            self.deaths.push(Death { at, from, ..death });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample::{self, SampleDemo};

    #[test]
    fn paths_and_deaths_are_where_they_were_seen() {
        let paths = DemoPaths::of(Protocol::Q3_68, &sample::duel());
        assert_eq!(paths.map, "oa_dm1");
        let [ann, ben] = [2, 5].map(|number| &paths.paths[number]);
        assert_eq!((ann.name.as_str(), ann.frags, ann.deaths), ("Ann", 1, 1));
        assert_eq!((ben.runs.len(), ben.runs[0].len()), (1, 10), "a point each 24 units");
        let [first, second] = paths.deaths.as_slice() else { panic!("{:?}", paths.deaths) };
        assert_eq!(first.at, Vec3::new(0.0, 80.0, 24.0));
        assert_eq!(first.from, Some(Vec3::new(21.0, 0.0, 24.0)));
        assert_eq!((second.at, second.from), (Vec3::new(41.0, 0.0, 24.0), None));
    }

    #[test]
    fn points_of_a_long_demo_are_bounded() {
        let mut demo = SampleDemo::new();
        for number in 0..MAX_POINTS + 5000 {
            demo.player.origin = Vec3::new((number % 100) as f32 * 30.0, number as f32, 0.0);
            demo.snapshot(number > 0, &[]);
        }
        let paths = DemoPaths::of(Protocol::Q3_68, &demo.finish());
        let points: usize = paths.paths.iter().flat_map(|path| &path.runs).map(Vec::len).sum();
        assert!((1000..=MAX_POINTS).contains(&points), "{points}");
    }
}
