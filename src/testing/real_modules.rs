//! Folder of real game modules, which are not part of the package.

use std::path::PathBuf;

/// Returns the folder that `FRAGD_MODULES` names: `baseq3/qagame.qvm`, `missionpack/qagame.qvm`, `baseoa/qagame.qvm`.
///
/// # Panics
/// When the variable is not set. Tests of real modules are ignored unless they are asked for.
#[must_use]
pub fn real_module_folder() -> PathBuf {
    let folder = std::env::var_os("FRAGD_MODULES");
    folder.expect("FRAGD_MODULES not set (expected a folder with baseq3/qagame.qvm)").into()
}
