//! Generated maps of any size: drafts, budgets, blocks, limits of light.

use std::collections::BTreeSet;

use fragd::{
    mapbuild::{Built, Effort},
    testing::generated_maps::{fan, field, rooms},
    world::{Bsp, bsp::Lump},
};

use super::{brute_force::check_free_lines, compile_with, lump};

const LINES: usize = 4_000;

fn build(effort: Effort, text: &str) -> Built {
    let built = compile_with(effort, "generated", text.as_bytes(), &[]);
    built.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the pairs of clusters that see each other.
fn pairs(file: &[u8]) -> BTreeSet<[usize; 2]> {
    let map = Bsp::load(file).unwrap();
    let clusters: Vec<_> = map.leafs.iter().filter_map(|leaf| leaf.cluster).collect();
    let all = clusters.iter().flat_map(|&a| clusters.iter().map(move |&b| (a, b)));
    let seen = all.filter(|&(a, b)| map.visibility.sees(Some(a), Some(b)));
    seen.map(|(a, b)| [a.index(), b.index()]).collect()
}

fn clusters(built: &Built) -> usize {
    built.counts.clusters
}

#[test]
fn draft_sees_all_that_a_full_build_sees() {
    let (text, _) = rooms(7, 4);
    let [draft, full] = [Effort::Fast, Effort::Dark].map(|effort| build(effort, &text).bsp);
    for (name, file) in [("draft", &draft), ("full", &full)] {
        assert!(check_free_lines(name, file, LINES) > LINES / 40);
    }
    let [draft, full] = [draft, full].map(|file| pairs(&file));
    assert!(draft.is_superset(&full));
    assert!(draft.iter().all(|&[a, b]| draft.contains(&[b, a])));
    assert!(full.len() * 10 < draft.len() * 9, "{} and {} pairs", full.len(), draft.len());
}

#[test]
fn rooms_of_a_seed_are_the_same_map() {
    let (text, brushes) = rooms(7, 4);
    assert_eq!(rooms(7, 4), (text.clone(), brushes));
    assert_ne!(rooms(8, 4).0, text);
    assert_eq!(build(Effort::Dark, &text).counts.brushes, brushes);
}

#[test]
fn pillars_through_each_other_are_named_as_detail() {
    let text = fan(16);
    let built = build(Effort::Dark, &text);
    let warnings: Vec<_> = built.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings[0].starts_with("generated.map: visibility took too much work:"),
        "{warnings:?}"
    );
    let named = warnings[1..].iter().all(|warning| {
        warning.starts_with("generated.map:") && warning.contains("structural brush makes")
    });
    assert!(named && warnings.len() > 3, "{warnings:?}");
    // A pillar: the six walls end at line 50.
    let line: usize = warnings[1].split(':').nth(1).unwrap().parse().unwrap();
    assert!(line > 50, "{warnings:?}");
    check_free_lines("fan", &built.bsp, LINES);
    let seen = pairs(&built.bsp).len();
    assert!(seen * 20 < clusters(&built).pow(2) * 19, "{seen} pairs");
}

#[test]
fn blocks_grow_with_the_map_or_follow_the_key() {
    let count = |keys: &str| clusters(&build(Effort::Dark, &field(24_576, keys)));
    assert_eq!(count(""), 6 * 6);
    assert_eq!(count("\"_blocksize\" \"0\"\n"), 1);
    assert_eq!(count("\"_blocksize\" \"8192 0 1024\"\n"), 4 * 4);
    assert_eq!(count("\"chopsize\" \"8192\"\n"), 4 * 4);
}

#[test]
fn unusable_block_size_is_named_with_its_line() {
    let built = build(Effort::Dark, &field(2048, "\"_blocksize\" \"16 large\"\n"));
    let text = built.warnings[0].to_string();
    assert!(
        text.starts_with("generated.map:3: unusable _blocksize: \"16 large\" (expected"),
        "{text}"
    );
}

#[test]
fn too_many_blocks_are_an_error_with_the_remedy() {
    let text = field(130_000, "\"_blocksize\" \"64\"\n");
    let error = compile_with(Effort::Dark, "generated", text.as_bytes(), &[]).unwrap_err();
    assert!(error.to_string().contains("too many leafs"), "{error}");
    assert!(error.to_string().contains("larger _blocksize"), "{error}");
}

#[test]
fn large_field_keeps_light_maps_and_grid() {
    let built = build(Effort::Fast, &field(24_576, ""));
    let map = Bsp::load(&built.bsp).unwrap();
    let text = String::from_utf8_lossy(&map.entity_text).into_owned();
    assert!(text.contains("\"gridsize\" \"256 256 512\""), "{text}");
    assert!(!lump(&built.bsp, Lump::LightGrid).is_empty());
    let pages = lump(&built.bsp, Lump::LightMaps).len() / (128 * 128 * 3);
    assert!((2..200).contains(&pages), "{pages} pages");
    // Number of the light map of each surface.
    let records = lump(&built.bsp, Lump::Surfaces).chunks(104);
    let numbers = records.map(|record| i32::from_le_bytes(record[28..32].try_into().unwrap()));
    assert_eq!(numbers.filter(|&number| number < 0).count(), 0);
    let warnings: Vec<_> = built.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|warning| warning.contains("light map point")), "{warnings:?}");
}
