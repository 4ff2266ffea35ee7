//! State folder in memory, for tests.

use std::{cell::RefCell, collections::BTreeMap};

use fragd::model::state_folder::StateFolder;

/// State folder in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryState {
    files: RefCell<BTreeMap<String, String>>,
    /// Whether every write is refused, as while another one is being written.
    pub(crate) is_busy: RefCell<bool>,
}

impl MemoryState {
    pub(crate) fn file(&self, name: &str) -> String {
        self.files.borrow().get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        self.files.borrow_mut().insert(name.to_owned(), text.to_owned());
    }
}

impl StateFolder for MemoryState {
    fn path_of(&self, name: &str) -> String {
        format!("state/{name}")
    }

    fn read(&self, name: &str, most: u64) -> Result<Option<String>, String> {
        let text = self.files.borrow().get(name).cloned();
        if text.as_ref().is_some_and(|text| text.len() as u64 > most) {
            return Err(format!("state/{name} too long"));
        }
        Ok(text)
    }

    fn read_end(&self, name: &str, most: u64) -> Result<Option<String>, String> {
        self.read(name, most)
    }

    fn write(&self, name: &str, text: String) -> bool {
        let is_busy = *self.is_busy.borrow();
        if !is_busy {
            self.put(name, &text);
        }
        !is_busy
    }

    fn write_last(&self, name: &str, text: String) {
        self.put(name, &text);
    }

    fn keep_aside(&self, name: &str) -> Result<String, String> {
        let kept = format!("{name}.bad");
        let text = self.files.borrow_mut().remove(name).unwrap_or_default();
        self.put(&kept, &text);
        Ok(kept)
    }
}
