//! Spawn points of maps without geometry.
//!
//! A table lists known maps; other maps get a ring of spawn points.
//!
//! Source: the entity lists of OpenArena's levels, as `maps/levels.csv` has them.

use crate::game::clients::Placement;
use crate::model::Vec3;

const TABLE: &str = include_str!("../../../../maps/levels.csv");

/// Height of a spawned player above the spawn point, in units.
const SPAWN_RISE: f32 = 9.0;
/// Ring of spawn points of unknown maps: number, radius and height in units.
const RING: (u8, f32, f32) = (16, 192.0, 64.0);

/// Data of a map, with at least one spawn point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpawnTableEntry {
    /// Title; empty if unknown.
    pub(super) title: &'static str,
    /// Music; empty for none.
    pub(super) music: &'static str,
    /// Spawn points of players.
    pub(super) spawns: Vec<Placement>,
    /// Start of spectators.
    pub(super) view: Placement,
}

impl SpawnTableEntry {
    /// Returns the entry of a map, or the ring for a map that is not in the table.
    pub(super) fn of_map(map: &str) -> Self {
        let mut level = Self::open_space();
        let mut view = None;
        let mut wanted = false;
        let mut spawns = Vec::new();
        for row in rows() {
            match row {
                TableRow::Level { map: name, music, title } => {
                    wanted = name.eq_ignore_ascii_case(map);
                    if wanted {
                        (level.music, level.title) = (music, title);
                    }
                }
                TableRow::Spawn(spot) if wanted => spawns.push(spot),
                TableRow::View(spot) if wanted => view = Some(spot),
                TableRow::Spawn(_) | TableRow::View(_) => {}
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

enum TableRow {
    Level { map: &'static str, music: &'static str, title: &'static str },
    Spawn(Placement),
    View(Placement),
}

/// Returns the rows of the table. Invalid rows are skipped; a test shows that there are none.
fn rows() -> impl Iterator<Item = TableRow> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(row)
}

fn row(line: &'static str) -> Option<TableRow> {
    let (kind, rest) = line.split_once(',')?;
    let mut numbers = rest.split(',').map(str::parse::<f32>);
    let mut next = || numbers.next()?.ok().filter(|number| number.is_finite());
    match kind {
        "level" => {
            let (map, rest) = rest.split_once(',')?;
            let (music, title) = rest.split_once(',')?;
            Some(TableRow::Level { map, music, title })
        }
        "spawn" => {
            let origin = Vec3::new(next()?, next()?, next()? + SPAWN_RISE);
            Some(TableRow::Spawn(Placement { origin, angles: Vec3::new(0.0, next()?, 0.0) }))
        }
        "view" => {
            let origin = Vec3::new(next()?, next()?, next()?);
            Some(TableRow::View(Placement { origin, angles: Vec3::new(next()?, next()?, 0.0) }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawn_table_rows_are_readable() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            assert!(row(line).is_some(), "{line}");
        }
    }

    #[test]
    fn known_map_has_its_own_spawn_points() {
        let level = SpawnTableEntry::of_map("OA_DM1");
        assert_eq!(level.spawns.len(), 8);
        assert_eq!(level.music, "music/sonic6.ogg");
        assert!(level.title.starts_with("Place of Two Deaths"));
        assert!(level.spawns.contains(&Placement {
            origin: Vec3::new(104.0, 1392.0, 33.0),
            angles: Vec3::new(0.0, 90.0, 0.0)
        }));
    }

    #[test]
    fn unknown_map_has_a_ring_of_spawn_points() {
        let level = SpawnTableEntry::of_map("../nowhere");
        assert_eq!((level.spawns.len(), level.title), (16, ""));
        assert_eq!(level.spawns[0].origin, Vec3::new(192.0, 0.0, 64.0));
        assert_eq!(level.spawns[0].angles, Vec3::new(0.0, 180.0, 0.0));
    }
}
