//! Traces, contents and patches against reference vectors, bit for bit, in both precisions.

use fragd::{
    model::Trace,
    world::{
        Bsp, CollisionMap, Hull, PvsLocation, TracePrecision, TraceQuery, TraceTarget,
        bsp::TableIndex, pvs::MAX_BOX_LEAFS,
    },
};

use crate::{
    installed_maps,
    vectors::{Row, maps_with, table},
};

/// Both families, with what marks their files.
const FAMILIES: [(TracePrecision, &str); 2] =
    [(TracePrecision::Single, ""), (TracePrecision::Double, "dp_")];

/// Runs `check` for each map that has tables of a kind and is installed.
fn for_maps(kind: &str, mut check: impl FnMut(&str, &Bsp)) {
    for name in maps_with(kind) {
        if let Some(bsp) = installed_maps::load(&name) {
            check(&name, &bsp);
        }
    }
}

fn prepared(bsp: &Bsp, family: TracePrecision) -> CollisionMap {
    CollisionMap::new(bsp, family).unwrap()
}

/// Counts rows that differ, shows some of them, and fails when there are any.
#[derive(Default)]
struct Tally {
    rows: usize,
    differing: usize,
}

impl Tally {
    fn compare(&mut self, what: &str, got: &str, expected: &str) {
        self.rows += 1;
        if got != expected {
            self.differing += 1;
            if self.differing <= 5 {
                println!("{what}\n     got {got}\nexpected {expected}");
            }
        }
    }

    fn finish(self, name: &str) {
        println!("{name}: {} of {} rows differ", self.differing, self.rows);
        assert!(self.rows > 0, "{name}");
        assert_eq!(self.differing, 0, "{name}");
    }
}

/// The result columns of traces.
const RESULT: [&str; 12] = [
    "fraction",
    "endx",
    "endy",
    "endz",
    "nx",
    "ny",
    "nz",
    "dist",
    "startsolid",
    "allsolid",
    "contents",
    "surfaceFlags",
];

fn trace_text(trace: &Trace) -> String {
    let Trace { fraction, endpos, plane, startsolid, allsolid, contents, surface_flags, .. } =
        *trace;
    let bits: String = [fraction]
        .into_iter()
        .chain(endpos.0)
        .chain(plane.normal.0)
        .chain([plane.dist])
        .map(|float| format!("{:08x},", float.to_bits()))
        .collect();
    format!("{bits}{},{},{contents},{surface_flags}", i32::from(startsolid), i32::from(allsolid))
}

fn columns(row: &Row, names: &[&str]) -> String {
    names.iter().map(|name| row.text(name)).collect::<Vec<_>>().join(",")
}

fn query(row: &Row) -> TraceQuery {
    TraceQuery {
        start: row.vec3(["sx", "sy", "sz"]),
        mins: row.vec3(["minx", "miny", "minz"]),
        maxs: row.vec3(["maxx", "maxy", "maxz"]),
        end: row.vec3(["ex", "ey", "ez"]),
        mask: row.number("mask"),
    }
}

#[test]
fn world_traces_match_vectors() {
    for_maps("trace", |name, bsp| {
        let questions = table(&format!("trace_{name}.csv.gz"));
        for (family, tag) in FAMILIES {
            let map = prepared(bsp, family);
            let answers = table(&format!("trace_{tag}{name}.csv.gz"));
            let mut tally = Tally::default();
            for (question, answer) in questions.iter().zip(&answers) {
                assert_eq!(question.text("id"), answer.text("id"));
                let trace = map.trace(&query(question));
                let what = format!("{name} {} {}", question.text("id"), question.text("kind"));
                tally.compare(&what, &trace_text(&trace), &columns(answer, &RESULT));
            }
            tally.finish(&format!("trace_{tag}{name}"));
        }
    });
}

#[test]
fn model_traces_match_vectors() {
    for_maps("trace_models", |name, bsp| {
        let map = prepared(bsp, TracePrecision::Single);
        let mut tally = Tally::default();
        for row in table(&format!("trace_models_{name}.csv.gz")) {
            let target = match row.number::<i32>("model") {
                -1 => TraceTarget::Box {
                    mins: row.vec3(["bminx", "bminy", "bminz"]),
                    maxs: row.vec3(["bmaxx", "bmaxy", "bmaxz"]),
                },
                model => TraceTarget::Model(usize::try_from(model).unwrap()),
            };
            let trace = map.trace_target(
                Hull::Box,
                target,
                row.vec3(["ox", "oy", "oz"]),
                row.vec3(["pitch", "yaw", "roll"]),
                &query(&row),
            );
            let what = format!("{name} {}", row.text("id"));
            tally.compare(&what, &trace_text(&trace), &columns(&row, &RESULT));
        }
        tally.finish(&format!("trace_models_{name}"));
    });
}

#[test]
fn point_contents_match_vectors() {
    for_maps("points", |name, bsp| {
        for (family, tag) in FAMILIES {
            let map = prepared(bsp, family);
            let mut tally = Tally::default();
            for row in table(&format!("points_{name}.csv.gz")) {
                let point = row.vec3(["x", "y", "z"]);
                let leaf = bsp.leaf_at(point);
                let (cluster, area) = (bsp.leafs[leaf].cluster, bsp.leafs[leaf].area);
                let contents = map.point_contents(point);
                let (cluster, area) = (number_or(-1, cluster), number_or(-1, area));
                let got = format!("{contents},{leaf},{cluster},{area}");
                let expected = columns(&row, &["contents", "leaf", "cluster", "area"]);
                tally.compare(&format!("{name} {point:?}"), &got, &expected);
            }
            tally.finish(&format!("points_{tag}{name}"));
        }
    });
}

#[test]
fn linked_boxes_have_recorded_pvs_locations() {
    for_maps("link", |name, bsp| {
        let mut tally = Tally::default();
        for row in table(&format!("link_{name}.csv.gz")) {
            let mins = row.vec3(["absminx", "absminy", "absminz"]);
            let maxs = row.vec3(["absmaxx", "absmaxy", "absmaxz"]);
            let mut leafs = Vec::new();
            bsp.leafs_in_box(mins, maxs, |leaf| {
                leafs.push(leaf);
                true
            });
            let last = leafs.iter().rev().find(|&&leaf| bsp.leafs[leaf].cluster.is_some());
            let last = number_or(0, last.copied());
            leafs.truncate(MAX_BOX_LEAFS);
            let location = PvsLocation::of_box(bsp, mins, maxs);
            let [area, other] = location.areas().map(|area| number_or(-1, area));
            let got = format!(
                "{},{},{last},{},{},{area},{other}",
                leafs.len(),
                joined(leafs.iter().copied()),
                joined(location.clusters()),
                number_or(0, location.last_cluster()),
            );
            let names = [
                "num_leafs",
                "leafs",
                "last_leaf",
                "clusters",
                "last_cluster",
                "areanum",
                "areanum2",
            ];
            tally.compare(&format!("{name} {}", row.text("id")), &got, &columns(&row, &names));
        }
        tally.finish(&format!("link_{name}"));
    });
}

fn number_or<N: TableIndex>(none: i32, number: Option<N>) -> i32 {
    number.map_or(none, |number| number.index() as i32)
}

fn joined<N: TableIndex>(numbers: impl Iterator<Item = N>) -> String {
    numbers.map(|number| number.index().to_string()).collect::<Vec<_>>().join(";")
}

#[test]
fn patch_collision_matches_vectors() {
    for_maps("patch", |name, bsp| {
        for (family, tag) in FAMILIES {
            let map = prepared(bsp, family);
            let of = |kind: &str| table(&format!("{kind}_{tag}{name}.csv.gz"));
            let mut tally = Tally::default();
            let sizes: Vec<_> = bsp.patches().map(|(_, grid)| (grid.width, grid.height)).collect();
            let rows = of("patch");
            assert_eq!((map.patches().len(), sizes.len()), (rows.len(), rows.len()), "{name}");
            for ((row, patch), (width, height)) in rows.iter().zip(map.patches()).zip(sizes) {
                let bounds: String = patch
                    .bounds()
                    .iter()
                    .flat_map(|corner| corner.0)
                    .fold(String::new(), |text, float| format!("{text},{:08x}", float.to_bits()));
                let got = format!(
                    "{},{width},{height},{},{},{},{}{bounds}",
                    patch.surface(),
                    patch.contents(),
                    patch.surface_flags(),
                    patch.planes().len(),
                    patch.facets().count(),
                );
                let names = [
                    "surface",
                    "width",
                    "height",
                    "contents",
                    "surfaceFlags",
                    "numPlanes",
                    "numFacets",
                    "minx",
                    "miny",
                    "minz",
                    "maxx",
                    "maxy",
                    "maxz",
                ];
                tally.compare(name, &got, &columns(row, &names));
            }
            tally.finish(&format!("patch_{tag}{name}"));

            let planes = map.patches().iter().flat_map(|patch| {
                patch.planes().iter().enumerate().map(|(index, plane)| {
                    let [x, y, z] = plane.normal.0.map(f32::to_bits);
                    let dist = plane.dist.to_bits();
                    format!("{},{index},{x:08x},{y:08x},{z:08x},{dist:08x}", patch.surface())
                })
            });
            check_rows(
                &format!("patchplanes_{tag}{name}"),
                planes,
                &of("patchplanes"),
                &["surface", "plane", "nx", "ny", "nz", "dist"],
            );

            let facets = map.patches().iter().flat_map(|patch| {
                patch.facets().enumerate().map(|(index, (facet, borders))| {
                    let borders: Vec<_> = borders
                        .iter()
                        .map(|border| {
                            format!("{}{}", border.plane, ["", "i"][usize::from(border.inward)])
                        })
                        .collect();
                    format!("{},{index},{},{}", patch.surface(), facet.surface, borders.join(";"))
                })
            });
            check_rows(
                &format!("patchfacets_{tag}{name}"),
                facets,
                &of("patchfacets"),
                &["surface", "facet", "surfacePlane", "borders"],
            );
        }
    });
}

/// Every row of a table, in order, and no more.
fn check_rows(name: &str, got: impl Iterator<Item = String>, rows: &[Row], names: &[&str]) {
    let got: Vec<_> = got.collect();
    let mut tally = Tally::default();
    for (got, row) in got.iter().zip(rows) {
        tally.compare(name, got, &columns(row, names));
    }
    tally.finish(name);
    assert_eq!(got.len(), rows.len(), "{name}");
}
