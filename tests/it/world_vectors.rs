//! Maps, archives, leafs, clusters, areas and links against reference vectors.

use fragd::{
    io::assets::Pack,
    model::{Vec3, assets::GamePath, block_checksum},
    world::{
        Areas, Bsp, PvsLocation,
        bsp::{AreaNum, ClusterNum, MAX_FILE_LEN},
    },
};

use crate::{
    installed_maps,
    vectors::{Row, maps_with, table},
};

const XYZ: [&str; 3] = ["x", "y", "z"];
const ABSMIN: [&str; 3] = ["absminx", "absminy", "absminz"];
const ABSMAX: [&str; 3] = ["absmaxx", "absmaxy", "absmaxz"];

/// Runs `check` for each row of a kind of table, of each map that is installed.
fn for_rows(kind: &str, mut check: impl FnMut(&str, &Bsp, &[Row])) {
    for name in maps_with(kind) {
        if let Some(map) = installed_maps::load(&name) {
            let rows = table(&format!("{kind}_{name}.csv.gz"));
            check(&name, &map, &rows);
            println!("{name}: {} rows of {kind}", rows.len());
        }
    }
}

fn number(cluster: Option<ClusterNum>) -> i64 {
    cluster.map_or(-1, |cluster| cluster.index() as i64)
}

fn area_number(area: Option<AreaNum>) -> i64 {
    area.map_or(-1, |area| area.index() as i64)
}

#[test]
fn block_checksums_match_engine() {
    for row in table("blockchecksum.csv.gz") {
        let bytes = row.bytes("bytes_hex");
        assert_eq!(bytes.len(), row.number::<usize>("length"));
        assert_eq!(
            block_checksum(&bytes),
            row.number::<i32>("checksum_i32"),
            "{} bytes",
            bytes.len()
        );
    }
}

#[test]
fn pk3_checksums_match_engine() {
    for row in table("pk3.csv.gz") {
        let file = row.text("pk3");
        let Some(pack) = installed_maps::pack(file.strip_suffix(".pk3").unwrap()) else { continue };
        let info = pack.info();
        assert_eq!(info.crcs.len(), row.number::<usize>("nonempty_entries"), "{file}");
        assert_eq!(info.checksum(), row.number::<i32>("checksum"), "{file}");
        for (feed, column) in
            [(0, "pure_feed_0"), (0x1234_5678, "pure_feed_0x12345678"), (-1, "pure_feed_minus1")]
        {
            assert_eq!(info.pure_checksum(feed), row.number::<i32>(column), "{file}, feed {feed}");
        }
    }
}

#[test]
fn maps_load_with_recorded_counts() {
    let mut open: Option<(String, Option<Pack>)> = None;
    for row in table("bsp.csv.gz") {
        let (pk3, name) = (row.text("pk3"), row.text("map"));
        if open.as_ref().is_none_or(|(open, _)| open != pk3) {
            open = Some((pk3.to_owned(), installed_maps::pack(pk3)));
        }
        let Some(pack) = open.as_ref().and_then(|(_, pack)| pack.as_ref()) else { continue };
        let path = GamePath::new(format!("maps/{name}.bsp").as_bytes()).unwrap();
        let bytes = pack.read(&path, MAX_FILE_LEN as u64).unwrap().unwrap();
        let map = Bsp::load(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(map.warnings, [""; 0], "{name}");
        assert_eq!(map.checksum, row.number::<i32>("checksum"), "{name}");
        let clusters = row.number::<usize>("numClusters");
        let counts = [
            ("file_size", bytes.len()),
            ("entities_bytes", map.entity_text.len()),
            ("shaders", map.shaders.len()),
            ("planes", map.planes.len()),
            ("nodes", map.nodes.len()),
            ("leafs", map.leafs.len()),
            ("leafsurfaces", map.leaf_surfaces.len()),
            ("leafbrushes", map.leaf_brushes.len()),
            ("models", map.models.len()),
            ("brushes", map.brushes.len()),
            ("brushsides", map.brush_sides.len()),
            ("drawverts", map.vertices.len()),
            ("surfaces", map.surfaces.len()),
            ("numClusters", map.visibility.cluster_count()),
            ("numAreas", map.area_count),
        ];
        for (column, count) in counts {
            assert_eq!(count, row.number::<usize>(column), "{name}: {column}");
        }
        if row.number::<usize>("visibility_bytes") > 0 {
            assert_eq!(map.visibility.row_len(), row.number::<usize>("clusterBytes"), "{name}");
            assert!(map.visibility.row_len() * 8 >= clusters, "{name}");
        } else {
            assert_eq!(map.visibility.row_len(), 0, "{name}");
        }
    }
}

#[test]
fn points_have_recorded_leafs() {
    for_rows("points", |name, map, rows| {
        for row in rows {
            let leaf = map.leaf_at(row.vec3(XYZ));
            let id = row.text("id");
            assert_eq!(leaf.index(), row.number::<usize>("leaf"), "{name} {id}");
            let leaf = &map.leafs[leaf];
            assert_eq!(number(leaf.cluster), row.number::<i64>("cluster"), "{name} {id}");
            assert_eq!(area_number(leaf.area), row.number::<i64>("area"), "{name} {id}");
        }
    });
}

#[test]
fn clusters_have_recorded_pvs() {
    for_rows("pvs", |name, map, rows| {
        let clusters: Vec<ClusterNum> = {
            let mut named: Vec<_> = map.leafs.iter().filter_map(|leaf| leaf.cluster).collect();
            named.sort_unstable();
            named.dedup();
            named
        };
        let cluster =
            |number: i64| clusters.iter().find(|own| own.index() as i64 == number).copied();
        for row in rows {
            let (from, to) = (row.number("from_cluster"), row.number("to_cluster"));
            let visible = map.visibility.sees(cluster(from), cluster(to));
            if from == -1 {
                // The engine answers with the row of cluster 0 there; here a viewer in rock sees all.
                assert!(visible, "{name}: outside to {to}");
            } else {
                assert_eq!(visible, row.number::<u8>("visible") == 1, "{name}: {from} to {to}");
            }
        }
    });
}

#[test]
fn boxes_have_recorded_leafs_clusters_and_areas() {
    for_rows("link", |name, map, rows| {
        for row in rows {
            let (mins, maxs): (Vec3, Vec3) = (row.vec3(ABSMIN), row.vec3(ABSMAX));
            let id = row.text("id");
            let (mut leafs, mut last) = (Vec::new(), 0);
            map.leafs_in_box(mins, maxs, |leaf| {
                if leafs.len() < 128 {
                    leafs.push(leaf.index().to_string());
                }
                if map.leafs[leaf].cluster.is_some() {
                    last = leaf.index();
                }
                true
            });
            assert_eq!(leafs.len(), row.number::<usize>("num_leafs"), "{name} {id}");
            assert_eq!(leafs.join(";"), row.text("leafs"), "{name} {id}");
            assert_eq!(last, row.number::<usize>("last_leaf"), "{name} {id}");

            let touched = PvsLocation::of_box(map, mins, maxs);
            let clusters: Vec<_> = touched.clusters().map(|own| own.index().to_string()).collect();
            assert_eq!(clusters.join(";"), row.text("clusters"), "{name} {id}");
            // 0 says "none beyond those" in the table, as in the engine.
            let last = touched.last_cluster().map_or(0, |cluster| cluster.index());
            assert_eq!(last, row.number::<usize>("last_cluster"), "{name} {id}");
            let [first, second] = touched.areas().map(area_number);
            assert_eq!(first, row.number::<i64>("areanum"), "{name} {id}");
            assert_eq!(second, row.number::<i64>("areanum2"), "{name} {id}");
        }
    });
}

#[test]
fn doors_connect_areas_as_recorded() {
    for_rows("areaportal", |name, map, rows| {
        let mut areas = Areas::new(map.area_count);
        for row in rows {
            let step = row.text("step");
            let area = |column| usize::try_from(row.number::<i64>(column)).ok();
            let area = |column| area(column).map(|index| areas.number(index).unwrap());
            let (first, second) = (area("area1"), area("area2"));
            areas.set_portal(first, second, row.number::<u8>("open") == 1).unwrap();
            let mut pairs = Vec::new();
            for low in 0..areas.count() {
                for high in low + 1..areas.count() {
                    if areas.connected(areas.number(low), areas.number(high)) {
                        pairs.push(format!("{low}-{high}"));
                    }
                }
            }
            assert_eq!(pairs.join(";"), row.text("connected_pairs"), "{name} step {step}");
        }
    });
}
