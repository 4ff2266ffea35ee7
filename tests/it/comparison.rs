//! Comparison of rules: equal rules do not differ, and removed differences stay away.

use fragd::{
    model::{assets::MemoryAssets, map_parallel},
    settings::{Choice as _, GameFolder},
    sim::comparison::{
        Differences, Explanation, Recording, Reference, Rules, built_in_plays, compare,
        known_subjects, known_table, random_play,
    },
    testing::real_modules::real_module_folder,
};

use crate::installed_maps;

/// Maps of OpenArena for random plays.
const MAPS: [&str; 5] = ["aggressor", "oa_dm1", "oa_dm4", "ctf_inyard", "oa_dm7"];

/// Native rules in place of a module.
const NATIVE: Reference<'_> = Reference::Module { image: &[], symbols: &[], engine: "0" };

/// Runs the built-in plays of a ruleset.
fn run(game: GameFolder, reference: Reference<'_>) -> Differences {
    let mut plays = built_in_plays().expect("valid plays");
    plays.retain(|play| play.rules.as_deref().is_none_or(|name| name == game.name()));
    let results = map_parallel(plays.len(), 2, |number| {
        let data = MemoryAssets::default();
        compare(&plays[number], &Rules { game, reference, data: &data })
    });
    let mut found = Differences::default();
    for result in results {
        found.merge(result.unwrap_or_else(|error| panic!("{error}")));
    }
    found
}

#[test]
fn equal_rules_have_no_differences() {
    let data = MemoryAssets::default();
    for game in [GameFolder::BaseQ3, GameFolder::BaseOa] {
        let rules = Rules { game, reference: NATIVE, data: &data };
        let mut found = run(game, NATIVE);
        let random = random_play(7, "", 3, 10);
        found.merge(compare(&random, &rules).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(found.kinds(), []);
        assert!(found.frames > 10_000 && found.compared > found.frames, "{found:?}");
    }
}

/// Modules are not part of the package; what they did in the plays is.
#[test]
fn native_rules_equal_recorded_modules() {
    let mut all = Differences::default();
    for game in [GameFolder::BaseQ3, GameFolder::BaseOa] {
        let path = format!("{}/tests/rules/{}.recording", env!("CARGO_MANIFEST_DIR"), game.name());
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let recording = Recording::parse(&bytes).expect("a recording");
        let found = run(game, Reference::Recording(&recording));
        let open: Vec<_> = found.kinds().iter().filter(|kind| kind.explanation.is_none()).collect();
        assert!(open.is_empty(), "{}: {open:#?}", game.name());
        assert_eq!(recording.plays().count() as u64, found.plays, "{}", game.name());
        all.merge(found);
    }
    assert!(all.frames > 20_000, "{}", all.frames);
}

#[test]
fn play_without_its_map_is_an_error() {
    let data = MemoryAssets::default();
    let game = GameFolder::BaseOa;
    let rules = Rules { game, reference: NATIVE, data: &data };
    let error = compare(&random_play(1, "nowhere", 1, 1), &rules).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn differences_page_has_the_accepted_ones() {
    let page = include_str!("../../docs/differences.md");
    assert!(
        page.contains(&known_table()),
        "docs/differences.md: put the output of `fragd qvm compare --known FILE` below \"Known\""
    );
}

/// Real modules are not part of the package: `FRAGD_MODULES` names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_equal_native_rules_but_for_accepted_differences() {
    let folder = real_module_folder();
    let mut all = Differences::default();
    for game in [GameFolder::BaseQ3, GameFolder::BaseOa] {
        let file = folder.join(game.name()).join("qagame.qvm");
        let module = std::fs::read(file).expect("a module");
        let data = MemoryAssets::default();
        let reference = Reference::Module { image: &module, symbols: &[], engine: "1" };
        let rules = Rules { game, reference, data: &data };
        let found = run(game, reference);
        let open: Vec<_> = found.kinds().iter().filter(|kind| kind.explanation.is_none()).collect();
        assert!(open.is_empty(), "{}: {open:#?}", game.name());
        all.merge(found);
        let mut found = Differences::default();
        for seed in 1..=6 {
            let play = random_play(seed, "", 4, 20);
            found.merge(compare(&play, &rules).unwrap_or_else(|error| panic!("{error}")));
        }
        let installed = installed_maps::data();
        let rules = Rules { data: &installed, ..rules };
        for (seed, map) in (1..).zip(MAPS) {
            if installed_maps::read(&format!("maps/{map}.bsp")).is_some() {
                let play = random_play(seed, map, 4, 20);
                found.merge(compare(&play, &rules).unwrap_or_else(|error| panic!("{error}")));
            }
        }
        let open: Vec<_> = found.kinds().iter().filter(|kind| kind.explanation.is_none()).collect();
        assert!(open.is_empty(), "{}, random plays: {open:#?}", game.name());
        all.merge(found);
    }
    assert_eq!(all.ineffective_chances().collect::<Vec<_>>(), []);
    let mut unused: Vec<_> = known_subjects().collect();
    unused.retain(|subject| {
        !all.kinds().iter().any(|kind| kind.explanation == Some(Explanation::Known(subject)))
    });
    assert!(unused.is_empty(), "rows without a difference: {unused:?}");
}
