//! Names of maps and scripts near to one that is not in the game data.

use super::{
    assets::Assets,
    spelling::{MAX_LEN, did_you_mean, near_names},
};

/// Maximum names of a suggestion.
const MAX_NAMES: usize = 3;

/// Returns the maps near to `wanted`, the nearest first. A name with folder and extension, such as
/// `maps/oa_dm1.bsp`, is compared without them.
#[must_use]
pub fn near_maps(assets: &dyn Assets, wanted: &str) -> Vec<String> {
    let bare = without(wanted, "maps/", ".bsp");
    near(assets, "maps", "bsp", bare)
}

/// Returns the scripts near to `wanted` in the game folder itself, the nearest first.
#[must_use]
pub fn near_scripts(assets: &dyn Assets, wanted: &str) -> Vec<String> {
    let bare = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let names = near(assets, "", "cfg", without(bare, "", ".cfg"));
    names.into_iter().map(|name| format!("{name}.cfg")).collect()
}

/// Returns the question behind an error about a map, such as `; did you mean oa_dm1?`.
#[must_use]
pub fn map_suggestion(assets: &dyn Assets, wanted: &str) -> String {
    did_you_mean(&near_maps(assets, wanted))
}

/// Returns the question behind an error about a script.
#[must_use]
pub fn script_suggestion(assets: &dyn Assets, wanted: &str) -> String {
    did_you_mean(&near_scripts(assets, wanted))
}

fn near(assets: &dyn Assets, folder: &str, extension: &str, wanted: &str) -> Vec<String> {
    if wanted.len() > MAX_LEN {
        return Vec::new();
    }
    let paths = assets.list(folder, extension);
    let names: Vec<&str> = paths
        .iter()
        .filter_map(|path| {
            let name = path.as_str().rsplit('/').next()?;
            name.strip_suffix(extension)?.strip_suffix('.')
        })
        .collect();
    let exact = names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
    match exact {
        Some(&exact) => vec![exact.to_owned()],
        None => near_names(wanted, names, MAX_NAMES).into_iter().map(str::to_owned).collect(),
    }
}

/// A name without a prefix and a suffix, case-insensitive.
fn without<'a>(name: &'a str, prefix: &str, suffix: &str) -> &'a str {
    let has = |part: Option<&str>, known: &str| part.is_some_and(|p| p.eq_ignore_ascii_case(known));
    let name = if has(name.get(..prefix.len()), prefix) { &name[prefix.len()..] } else { name };
    match name.len().checked_sub(suffix.len()) {
        Some(end) if has(name.get(end..), suffix) => &name[..end],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::assets::MemoryAssets;

    #[test]
    fn near_files_ignore_folder_and_extension() {
        let mut assets = MemoryAssets::default();
        for name in ["maps/oa_dm1.bsp", "maps/oa_dm2.bsp", "maps/x/oa_dm9.bsp", "server.cfg"] {
            assets.insert(name, Vec::new()).unwrap();
        }
        assert_eq!(near_maps(&assets, "oa_dm1.bsp"), ["oa_dm1"]);
        assert_eq!(near_maps(&assets, "MAPS/OA_DM1.BSP"), ["oa_dm1"]);
        assert_eq!(near_maps(&assets, "oa_dm3"), ["oa_dm1", "oa_dm2"]);
        assert_eq!(near_maps(&assets, "é"), [""; 0]);
        assert_eq!(near_scripts(&assets, "/etc/sever.cfg"), ["server.cfg"]);
        assert_eq!(script_suggestion(&assets, "servr"), "; did you mean server.cfg?");
        assert_eq!(map_suggestion(&assets, &"a".repeat(99)), "");
    }
}
