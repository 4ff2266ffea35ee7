//! The table of settings and the games' own tables say the same.

use fragd::{
    game::{Profile, movement::Variant},
    settings::{Choice as _, Flags, GameProfile, Movement, SETTINGS},
};

#[test]
fn every_movement_has_a_name_in_the_settings() {
    let mut names = vec!["auto"];
    names.extend(Variant::ALL.map(|variant| variant.name));
    assert_eq!(Movement::NAMES, names);
}

#[test]
fn clients_are_told_what_their_game_reads() {
    for profile in Profile::ALL {
        let game = GameProfile::named(profile.folder).unwrap();
        for (told, flag) in
            [(profile.serverinfo, Flags::SERVERINFO), (profile.systeminfo, Flags::SYSTEMINFO)]
        {
            for info in told {
                let row = SETTINGS.iter().find(|setting| setting.name == info.name);
                let column = row.expect(info.name).column(game);
                assert!(column.flags.has(flag), "{} of {}", info.name, profile.folder);
                assert_eq!(column.default, info.default, "{} of {}", info.name, profile.folder);
            }
        }
    }
}

#[test]
fn what_is_announced_is_a_setting() {
    for name in Profile::ALL.iter().flat_map(|profile| profile.announced) {
        assert!(SETTINGS.iter().any(|setting| setting.name == *name), "{name}");
    }
}
