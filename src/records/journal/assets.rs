//! Recorded and replayed answers about game files.
//!
//! The journal holds the length and checksum of each file that was read, not its bytes: a replay needs the
//! same file. All other answers (location, listings, errors) are recorded whole, because they can affect
//! what the node sends.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, VecDeque},
    ops::Range,
    rc::Rc,
    sync::Arc,
};

use thiserror::Error;

use super::{
    asset_answer::{AssetAnswer, place_name},
    format::checksum,
    recorder::SharedRecorder,
};
use crate::model::assets::{
    AssetError, AssetLocation, Assets, GamePath, ListedPack, ModCode, PackInfo, ScriptPlace,
};

/// Game files whose answers are recorded.
pub struct RecordedAssets {
    assets: Box<dyn Assets>,
    recorder: SharedRecorder,
    packs_told: OnceCell<()>,
}

impl RecordedAssets {
    /// Records the answers of `assets`.
    #[must_use]
    pub fn new(assets: Box<dyn Assets>, recorder: SharedRecorder) -> Self {
        Self { assets, recorder, packs_told: OnceCell::new() }
    }

    fn note(&self, answer: &AssetAnswer) {
        self.recorder.borrow_mut().asset(answer);
    }
}

impl Assets for RecordedAssets {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        let found = self.assets.find(name);
        self.note(&AssetAnswer::Find(name.to_owned(), found.clone()));
        found
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
        let read = self.assets.read(name, max);
        let known = read.as_ref().map(|bytes| (bytes.len() as u64, checksum(bytes)));
        self.note(&AssetAnswer::Read(name.to_owned(), known.map_err(Clone::clone)));
        read
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        let names = self.assets.list(folder, extension);
        let (folder, extension) = (folder.to_owned(), extension.to_owned());
        self.note(&AssetAnswer::List(folder, extension, names.clone()));
        names
    }

    fn list_for_hint(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        self.assets.list_for_hint(folder, extension)
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        let packs = self.assets.packs();
        // They change in a rescan only. The numbers before the first one are positions.
        self.packs_told.get_or_init(|| {
            let infos = packs.iter().map(|pack| pack.info.clone()).collect();
            self.note(&AssetAnswer::Packs(infos));
        });
        packs
    }

    fn rescan(&self) -> bool {
        let is_changed = self.assets.rescan();
        let packs = is_changed.then(|| self.assets.packs().to_vec());
        self.note(&AssetAnswer::Rescan(packs));
        if is_changed {
            self.packs_told.get_or_init(|| ());
        }
        is_changed
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let offset = range.start;
        let read = self.assets.read_pack(pack, range);
        let known = read.as_ref().map(|bytes| (bytes.len() as u64, checksum(bytes)));
        self.note(&AssetAnswer::Pack(pack, offset, known.map_err(Clone::clone)));
        read
    }

    fn offer(&self, packs: &[usize]) {
        self.assets.offer(packs);
    }

    fn map_started(&self) {
        self.assets.map_started();
    }

    fn mod_code(&self) -> ModCode {
        let code = self.assets.mod_code();
        self.note(&AssetAnswer::ModCode(code.clone()));
        code
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        let files = self.assets.own_files();
        self.note(&AssetAnswer::Own(files.clone()));
        files
    }

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        let read = self.assets.read_script(name, max, place);
        self.note(&AssetAnswer::Script(name.to_owned(), place, read.clone()));
        read
    }
}

/// Request for files that cannot be answered as in the recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssetMismatch {
    /// The file was not found.
    #[error(
        "{name} not found with the journal's content ({len} bytes, checksum {sum:08x}){}; set --basepath",
        other(*.found)
    )]
    NotHere {
        /// The file.
        name: String,
        /// Its length.
        len: u64,
        /// Its [`checksum`].
        sum: u32,
        /// Length and checksum of the file that has its name now.
        found: Option<(u64, u32)>,
    },
    /// The node made another request than the recorded one.
    #[error("asset request differs: {asked} (recorded {recorded})")]
    OtherQuestion {
        /// The request of the replay.
        asked: String,
        /// The recorded request.
        recorded: String,
    },
}

/// Length and checksum of another file, for an error.
fn other(found: Option<(u64, u32)>) -> String {
    let text = |(len, sum)| format!("; found {len} bytes, checksum {sum:08x}");
    found.map(text).unwrap_or_default()
}

/// Finds a file by its name, length and checksum; otherwise any file of the name.
pub type FindFile = Box<dyn Fn(&str, u64, u32) -> Option<Vec<u8>>>;

/// Reads a range of an archive by its folder and name.
pub type ReadPack = Box<dyn Fn(&PackInfo, Range<u64>) -> Option<Vec<u8>>>;

/// Queue of recorded answers for a replayed node.
#[derive(Clone, Default)]
pub struct Answers(Rc<RefCell<Waiting>>);

#[derive(Default)]
struct Waiting {
    answers: VecDeque<AssetAnswer>,
    mismatch: Option<AssetMismatch>,
}

impl Answers {
    /// Appends answers, in the order of the requests.
    pub fn expect(&self, answers: impl IntoIterator<Item = AssetAnswer>) {
        self.0.borrow_mut().answers.extend(answers);
    }

    /// Returns the first mismatch, if any.
    pub fn take_mismatch(&self) -> Option<AssetMismatch> {
        let mut waiting = self.0.borrow_mut();
        let left = waiting.answers.pop_front();
        waiting.answers.clear();
        waiting.mismatch.take().or_else(|| {
            let recorded = name_of(left?.question());
            Some(AssetMismatch::OtherQuestion { asked: "nothing".to_owned(), recorded })
        })
    }

    fn answer(&self, asked: (u8, &str, &str)) -> Option<AssetAnswer> {
        let mut waiting = self.0.borrow_mut();
        let answer = waiting.answers.pop_front();
        if answer.as_ref().is_some_and(|answer| answer.question() == asked) {
            return answer;
        }
        let recorded = answer.map_or("nothing".to_owned(), |answer| name_of(answer.question()));
        let mismatch = AssetMismatch::OtherQuestion { asked: name_of(asked), recorded };
        waiting.mismatch.get_or_insert(mismatch);
        None
    }
}

fn name_of((kind, name, extension): (u8, &str, &str)) -> String {
    match kind {
        0 => format!("the place of {name}"),
        1 => name.to_owned(),
        2 => format!("the list of {name}/*.{extension}"),
        4 => "bytes of an archive".to_owned(),
        5 => "the own files of the game".to_owned(),
        6 => format!("the script {name}{extension}"),
        7 => "the game code of the mod".to_owned(),
        8 => "a search for new archives".to_owned(),
        _ => "the archives".to_owned(),
    }
}

/// Error for a file that the journal does not hold.
fn unreadable(name: &str) -> AssetError {
    match GamePath::new(name.as_bytes()) {
        Some(path) => AssetError::Missing { path },
        None => AssetError::Name { name: name.to_owned() },
    }
}

/// Game files that answer as in the recorded run.
pub struct ReplayedAssets {
    answers: Answers,
    find_file: FindFile,
    read_pack: ReadPack,
    packs: RefCell<Option<Arc<[ListedPack]>>>,
    /// Archives by number, also those that vanished.
    by_number: RefCell<BTreeMap<usize, PackInfo>>,
}

impl ReplayedAssets {
    /// Answers from `answers`, with file contents from `find_file` and bytes of archives from `read_pack`.
    #[must_use]
    pub fn new(answers: Answers, find_file: FindFile, read_pack: ReadPack) -> Self {
        let (packs, by_number) = Default::default();
        Self { answers, find_file, read_pack, packs, by_number }
    }

    fn set_packs(&self, packs: Vec<ListedPack>) -> Arc<[ListedPack]> {
        let numbered = packs.iter().map(|pack| (pack.number, pack.info.clone()));
        self.by_number.borrow_mut().extend(numbered);
        let packs: Arc<[ListedPack]> = packs.into();
        *self.packs.borrow_mut() = Some(Arc::clone(&packs));
        packs
    }

    fn mismatch(&self, name: String, (len, sum): (u64, u32), found: Option<&[u8]>) {
        let found = found.map(|bytes| (bytes.len() as u64, checksum(bytes)));
        let mismatch = AssetMismatch::NotHere { name, len, sum, found };
        self.answers.0.borrow_mut().mismatch.get_or_insert(mismatch);
    }
}

impl Assets for ReplayedAssets {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        match self.answers.answer((0, name, ""))? {
            AssetAnswer::Find(_, found) => found,
            _ => None,
        }
    }

    fn read(&self, name: &str, _max: u64) -> Result<Vec<u8>, AssetError> {
        let Some(AssetAnswer::Read(_, known)) = self.answers.answer((1, name, "")) else {
            return Err(unreadable(name));
        };
        let (len, sum) = known?;
        match (self.find_file)(name, len, sum) {
            Some(bytes) if (bytes.len() as u64, checksum(&bytes)) == (len, sum) => Ok(bytes),
            found => {
                self.mismatch(name.to_owned(), (len, sum), found.as_deref());
                Err(unreadable(name))
            }
        }
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        match self.answers.answer((2, folder, extension)) {
            Some(AssetAnswer::List(_, _, names)) => names,
            _ => Vec::new(),
        }
    }

    fn mod_code(&self) -> ModCode {
        match self.answers.answer((7, "", "")) {
            Some(AssetAnswer::ModCode(code)) => code,
            _ => ModCode::default(),
        }
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        match self.answers.answer((5, "", "")) {
            Some(AssetAnswer::Own(files)) => files,
            _ => Vec::new(),
        }
    }

    fn read_script(&self, name: &str, _: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        match self.answers.answer((6, name, place_name(place))) {
            Some(AssetAnswer::Script(_, _, read)) => read,
            _ => Err(unreadable(name)),
        }
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        if let Some(packs) = &*self.packs.borrow() {
            return Arc::clone(packs);
        }
        let infos = match self.answers.answer((3, "", "")) {
            Some(AssetAnswer::Packs(packs)) => packs,
            _ => Vec::new(),
        };
        let listed = infos.into_iter().enumerate();
        self.set_packs(listed.map(|(number, info)| ListedPack { number, info }).collect())
    }

    fn rescan(&self) -> bool {
        match self.answers.answer((8, "", "")) {
            Some(AssetAnswer::Rescan(Some(packs))) => {
                self.set_packs(packs);
                true
            }
            _ => false,
        }
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        self.packs();
        let info = self.by_number.borrow().get(&pack).cloned();
        let name = info.as_ref().map_or_else(String::new, PackInfo::file_name);
        let unreadable = |name| AssetError::Archive { name, why: "not in the journal".to_owned() };
        let Some(AssetAnswer::Pack(asked, offset, known)) = self.answers.answer((4, "", "")) else {
            return Err(unreadable(name));
        };
        let known = known?;
        let found = info.filter(|_| (asked, offset) == (pack, range.start));
        let found = found.and_then(|info| (self.read_pack)(&info, range));
        found.filter(|bytes| (bytes.len() as u64, checksum(bytes)) == known).ok_or_else(|| {
            self.mismatch(name.clone(), known, None);
            unreadable(name)
        })
    }

    fn offer(&self, _: &[usize]) {}
}
