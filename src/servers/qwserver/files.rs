//! Files that clients may download: a list of whole names, made when a map is loaded.
//!
//! Invariants: a name that is not in the list is not read; each file is read once for all clients; nothing beyond
//! [`MAX_DOWNLOAD`] bytes is read.
//! Source: QuakeWorld protocol 28, downloads.

use std::{collections::BTreeMap, sync::Arc};

use super::settings::{Settings, key};
use crate::model::assets::{AssetLocation, Assets};

/// Largest file that is offered, in bytes. The largest maps have 20 MB.
const MAX_DOWNLOAD: u64 = 64 << 20;

/// Folders, the settings that permit their files, and extensions.
const KINDS: [(&str, &[&str], crate::cvar::Key<crate::cvar::Flag>); 4] = [
    ("maps/", &["bsp", "lit", "loc", "ent"], key::ALLOW_DOWNLOAD_MAPS),
    ("progs/", &["mdl", "spr"], key::ALLOW_DOWNLOAD_MODELS),
    ("sound/", &["wav"], key::ALLOW_DOWNLOAD_SOUNDS),
    ("skins/", &["pcx"], key::ALLOW_DOWNLOAD_SKINS),
];

/// Files of a level.
#[derive(Debug, Default)]
pub(super) struct GameFiles {
    /// Names in lower case with their content, once it was read.
    files: BTreeMap<String, Option<Arc<[u8]>>>,
    /// Whether skins were listed.
    has_skins: bool,
}

impl GameFiles {
    /// Lists the models and sounds of a level. `embedded` is a file in the program.
    pub(super) fn new(
        embedded: Option<(String, Arc<[u8]>)>,
        models: &[String],
        sounds: &[&str],
    ) -> Self {
        let mut files = BTreeMap::new();
        for name in models.iter().filter(|name| !name.starts_with('*')) {
            files.insert(name.to_ascii_lowercase(), None);
            if let Some(stem) = name.strip_suffix(".bsp") {
                for extension in ["lit", "loc"] {
                    files.insert(format!("{stem}.{extension}").to_ascii_lowercase(), None);
                }
            }
        }
        files.extend(sounds.iter().map(|name| (format!("sound/{name}"), None)));
        files.extend(embedded.map(|(name, bytes)| (name, Some(bytes))));
        Self { files, has_skins: false }
    }

    /// Returns the content of a file that clients may download.
    pub(super) fn open(
        &mut self,
        name: &str,
        assets: &dyn Assets,
        settings: &Settings,
    ) -> Option<Arc<[u8]>> {
        let name = name.to_ascii_lowercase();
        let values = settings.values();
        let (folder, extensions, permission) =
            KINDS.iter().find(|(folder, ..)| name.starts_with(folder))?;
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let is_permitted = values.flag(key::ALLOW_DOWNLOAD)
            && values.flag(*permission)
            && extension.is_some_and(|one| extensions.contains(&one));
        if !is_permitted {
            return None;
        }
        if *folder == "skins/" && !self.has_skins {
            self.has_skins = true;
            let skins = assets.list("skins", "pcx");
            self.files.extend(skins.into_iter().map(|path| (path.to_string(), None)));
        }
        let place = self.files.get_mut(&name)?;
        if place.is_none() {
            let location = assets.find(&name)?;
            if !may_leave(&location, *folder == "maps/", settings) {
                return None;
            }
            let bytes = assets.read(&name, MAX_DOWNLOAD).ok().filter(|bytes| !bytes.is_empty())?;
            *place = Some(Arc::from(bytes));
        }
        place.clone()
    }
}

/// Whether a file may be downloaded. Maps in archives belong to games that are sold.
fn may_leave(location: &AssetLocation, is_map: bool, settings: &Settings) -> bool {
    let is_in_archive = location.pack.is_some();
    location.len <= MAX_DOWNLOAD
        && (!is_map || !is_in_archive || settings.values().flag(key::ALLOW_DOWNLOAD_PAKMAPS))
}
