//! Values that outlast the server, by name.
//!
//! The step of the map rotation is one.

use std::{collections::BTreeMap, rc::Rc};

use crate::model::{Millis, saved_file::SavedFile, state_folder::StateFolder};

/// Name of the file in the state folder.
const VALUES_FILE: &str = "values.json";
/// Longest file that is read, in bytes.
const MAX_FILE_LEN: u64 = 1 << 20;

/// Texts by names of the program.
#[derive(Debug, Default)]
pub(super) struct StateValues {
    values: BTreeMap<String, String>,
    file: SavedFile,
}

impl StateValues {
    /// Reads the values of a folder.
    pub(super) fn open(folder: Option<Rc<dyn StateFolder>>) -> Self {
        let parse = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        let (file, values) = SavedFile::open(folder, VALUES_FILE, MAX_FILE_LEN, parse);
        Self { values: values.unwrap_or_default(), file }
    }

    /// A value; empty if it was never set.
    pub(super) fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Sets a value, or removes it if it is empty.
    pub(super) fn set(&mut self, name: &'static str, value: &str) {
        if self.get(name) == value {
            return;
        }
        self.file.change();
        if value.is_empty() {
            self.values.remove(name);
        } else {
            self.values.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Time of the next write, if a change waits for it.
    pub(super) fn write_due(&self) -> Option<Millis> {
        self.file.write_due()
    }

    /// Hands changed values to the folder.
    pub(super) fn save(&mut self, now: Millis) {
        self.file.save(now, || text_of(&self.values));
    }
}

impl Drop for StateValues {
    fn drop(&mut self) {
        self.file.finish(|| text_of(&self.values));
    }
}

fn text_of(values: &BTreeMap<String, String>) -> String {
    format!("{:#}\n", serde_json::json!(values))
}
