//! Folder names as path traversal and shell input.

use fragd::settings::Settings;

#[test]
fn f12_folder_names_reject_path_traversal_and_shell_characters() {
    let mut settings = Settings::default();
    for evil in ["x;touch y", "..", "../x", "a/b", "a\\b", "/etc", "a b", "$(x)", "`x`", "x\ny"] {
        assert!(settings.set("fs_game", evil).is_err(), "{evil}");
    }
    settings.set("fs_game", "missionpack-1.32_b").unwrap();
}
