//! Spawn points of maps without geometry: a table of known maps, and a ring for all others.
//!
//! Source: the entity lists of OpenArena's levels, as `maps/levels.csv` has them.

use crate::game::clients::Placement;
use crate::model::Vec3;

const TABLE: &str = include_str!("../../../maps/levels.csv");

/// How far above its spot a player appears.
const SPAWN_RISE: f32 = 9.0;
/// Places of the ring, and its size, where nothing is known of a level.
const RING: (u8, f32, f32) = (16, 192.0, 64.0);

/// What is known of a level. At least one spawn spot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// Title, empty when unknown.
    pub(super) title: &'static str,
    /// Music, empty for none.
    pub(super) music: &'static str,
    /// Where players begin.
    pub(super) spawns: Vec<Placement>,
    /// Where spectators begin.
    pub(super) view: Placement,
}

impl Level {
    /// The level of this name, or open space when the table does not have it.
    pub(super) fn named(map: &str) -> Self {
        let mut level = Self::open_space();
        let mut view = None;
        let mut wanted = false;
        let mut spawns = Vec::new();
        for row in rows() {
            match row {
                Row::Level { map: name, music, title } => {
                    wanted = name.eq_ignore_ascii_case(map);
                    if wanted {
                        (level.music, level.title) = (music, title);
                    }
                }
                Row::Spawn(spot) if wanted => spawns.push(spot),
                Row::View(spot) if wanted => view = Some(spot),
                Row::Spawn(_) | Row::View(_) => {}
            }
        }
        if !spawns.is_empty() {
            level.view = view.unwrap_or(spawns[0]);
            level.spawns = spawns;
        }
        level
    }

    fn open_space() -> Self {
        let (places, radius, height) = RING;
        let spot = |place: u8| {
            let yaw = 360.0 / f32::from(places) * f32::from(place);
            let outward = crate::game::movement::angles::axes(Vec3::new(0.0, yaw, 0.0)).forward;
            let origin = Vec3::new(0.0, 0.0, height).add_scaled(outward, radius).truncated();
            Placement { origin, angles: Vec3::new(0.0, (yaw + 180.0) % 360.0, 0.0) }
        };
        let view = Placement { origin: Vec3::new(0.0, 0.0, height), angles: Vec3::ZERO };
        Self { title: "", music: "", spawns: (0..places).map(spot).collect(), view }
    }
}

enum Row {
    Level { map: &'static str, music: &'static str, title: &'static str },
    Spawn(Placement),
    View(Placement),
}

/// The table's rows. A row that cannot be read is left out; a test says that there is none.
fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(row)
}

fn row(line: &'static str) -> Option<Row> {
    let (kind, rest) = line.split_once(',')?;
    let mut numbers = rest.split(',').map(str::parse::<f32>);
    let mut next = || numbers.next()?.ok().filter(|number| number.is_finite());
    match kind {
        "level" => {
            let (map, rest) = rest.split_once(',')?;
            let (music, title) = rest.split_once(',')?;
            Some(Row::Level { map, music, title })
        }
        "spawn" => {
            let origin = Vec3::new(next()?, next()?, next()? + SPAWN_RISE);
            Some(Row::Spawn(Placement { origin, angles: Vec3::new(0.0, next()?, 0.0) }))
        }
        "view" => {
            let origin = Vec3::new(next()?, next()?, next()?);
            Some(Row::View(Placement { origin, angles: Vec3::new(next()?, next()?, 0.0) }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            assert!(row(line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_known_level_has_its_own_spots() {
        let level = Level::named("OA_DM1");
        assert_eq!(level.spawns.len(), 8);
        assert_eq!(level.music, "music/sonic6.ogg");
        assert!(level.title.starts_with("Place of Two Deaths"));
        assert!(level.spawns.contains(&Placement {
            origin: Vec3::new(104.0, 1392.0, 33.0),
            angles: Vec3::new(0.0, 90.0, 0.0)
        }));
    }

    #[test]
    fn an_unknown_level_has_a_ring() {
        let level = Level::named("../nowhere");
        assert_eq!((level.spawns.len(), level.title), (16, ""));
        assert_eq!(level.spawns[0].origin, Vec3::new(192.0, 0.0, 64.0));
        assert_eq!(level.spawns[0].angles, Vec3::new(0.0, 180.0, 0.0));
    }
}
