//! Maps that players may vote for: those of the file `votemaps.cfg`, else all.
//!
//! Source: OpenArena, whose file has a name in each line.

use super::map_names::names_in;
use crate::game::{Host, settings::key};
use crate::model::assets::GamePath;

/// Longest file that is used, in bytes.
const MAX_FILE_LEN: usize = 64 * 1024;

/// Maps of votes on a level; `None` for all.
#[derive(Clone, Debug, Default)]
pub(super) struct VoteMaps(Option<Vec<String>>);

impl VoteMaps {
    /// Reads the file of a level. Without one, all maps are allowed.
    pub(super) fn read(host: &mut dyn Host) -> Self {
        let name = host.settings().text(key::G_VOTEMAPSFILE).to_owned();
        let bytes = GamePath::new(name.as_bytes()).and_then(|path| host.files()?.read(&path));
        let default = key::G_VOTEMAPSFILE.setting().in_game(host.settings().game()).default;
        match bytes {
            Some(bytes) if bytes.len() > MAX_FILE_LEN => {
                let len = bytes.len();
                host.print(&format!(
                    "g_votemapsfile {name} too long: {len} bytes (max {MAX_FILE_LEN}): no map votes"
                ));
                Self(Some(Vec::new()))
            }
            Some(bytes) => Self(Some(names_in(&bytes).collect())),
            None => {
                if ![default, ""].contains(&&*name) {
                    host.print(&format!("g_votemapsfile file not found: {name}"));
                }
                Self(None)
            }
        }
    }

    /// Allowed maps among the installed ones, in the order of the file.
    pub(super) fn allowed<'a>(&self, installed: &'a [String]) -> Vec<&'a str> {
        let found = |wanted: &String| {
            installed.iter().find(|known| known.eq_ignore_ascii_case(wanted)).map(String::as_str)
        };
        match &self.0 {
            Some(names) => names.iter().filter_map(found).collect(),
            None => installed.iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_maps_are_installed_ones_of_file() {
        let installed = ["oa_dm1", "oa_dm2", "oa_dm3"].map(str::to_owned);
        let maps = VoteMaps(Some(names_in(b"OA_DM2 oa_dm1 gone").collect()));
        assert_eq!(maps.allowed(&installed), ["oa_dm2", "oa_dm1"]);
        assert!(VoteMaps(Some(Vec::new())).allowed(&installed).is_empty());
        assert_eq!(VoteMaps::default().allowed(&installed).len(), 3);
    }
}
