//! Recorded and replayed answers about game files.
//!
//! The journal holds the length and checksum of each file that was read, not its bytes: a replay needs the
//! same file. All other answers (location, listings, errors) are recorded whole, because they can affect
//! what the node sends.

use std::{
    cell::{OnceCell, RefCell},
    collections::VecDeque,
    fmt,
    ops::Range,
    rc::Rc,
};

use thiserror::Error;

use super::{
    encoding::{Cursor, DecodeError, put_number, put_text},
    format::checksum,
    recorder::SharedRecorder,
};
use crate::model::assets::{AssetError, AssetLocation, Assets, GamePath, PackInfo};

/// Request for game files and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssetAnswer {
    /// Location of a file.
    Find(String, Option<AssetLocation>),
    /// A file was read: its length and checksum.
    Read(String, Result<(u64, u32), AssetError>),
    /// Files of a folder with an extension.
    List(String, String, Vec<GamePath>),
    /// Archives.
    Packs(Vec<PackInfo>),
    /// Bytes of an archive were read: its index, their offset, their length and checksum.
    Pack(usize, u64, Result<(u64, u32), AssetError>),
    /// Files that the game wrote in earlier runs, with their content: a later run changes them.
    Own(Vec<(GamePath, Vec<u8>)>),
}

impl fmt::Display for AssetAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Find(name, Some(found)) => write!(f, "find {name}: in {}", found.place),
            Self::Find(name, None) => write!(f, "find {name}: nowhere"),
            Self::Read(name, Ok((len, sum))) => {
                write!(f, "read {name}: {len} bytes, checksum {sum:08x}")
            }
            Self::Read(name, Err(error)) => write!(f, "read {name}: {error}"),
            Self::List(folder, extension, names) => {
                write!(f, "list {folder}/*.{extension}: {} files", names.len())
            }
            Self::Packs(packs) => write!(f, "list archives: {}", packs.len()),
            Self::Own(files) => write!(f, "own files of the game: {}", files.len()),
            Self::Pack(pack, offset, Ok((len, sum))) => {
                write!(f, "read archive {pack} at {offset}: {len} bytes, checksum {sum:08x}")
            }
            Self::Pack(pack, offset, Err(error)) => {
                write!(f, "read archive {pack} at {offset}: {error}")
            }
        }
    }
}

impl AssetAnswer {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Find(name, found) => {
                out.push(0);
                put_text(out, name);
                out.push(u8::from(found.is_some()));
                if let Some(found) = found {
                    put_text(out, &found.place);
                    put_number(out, found.pack.map_or(0, |pack| pack as u64 + 1));
                    put_number(out, found.len);
                }
            }
            Self::Read(name, answer) => {
                out.push(1);
                put_text(out, name);
                write_known(out, answer);
            }
            Self::List(folder, extension, names) => {
                out.push(2);
                put_text(out, folder);
                put_text(out, extension);
                put_number(out, names.len() as u64);
                names.iter().for_each(|name| put_text(out, name.as_str()));
            }
            Self::Packs(packs) => {
                out.push(3);
                put_number(out, packs.len() as u64);
                for pack in packs {
                    put_text(out, &pack.folder);
                    put_text(out, &pack.name);
                    put_number(out, pack.len);
                    put_number(out, pack.crcs.len() as u64);
                    pack.crcs.iter().for_each(|crc| out.extend_from_slice(&crc.to_le_bytes()));
                }
            }
            Self::Pack(pack, offset, answer) => {
                out.push(4);
                put_number(out, *pack as u64);
                put_number(out, *offset);
                write_known(out, answer);
            }
            Self::Own(files) => {
                out.push(5);
                put_number(out, files.len() as u64);
                for (path, bytes) in files {
                    put_text(out, path.as_str());
                    put_number(out, bytes.len() as u64);
                    out.extend_from_slice(bytes);
                }
            }
        }
    }

    pub(super) fn read(from: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(match from.byte()? {
            0 => {
                let name = from.text()?;
                let found = match from.byte()? {
                    0 => None,
                    1 => {
                        let place = from.text()?;
                        let pack = from.small::<usize>()?.checked_sub(1);
                        Some(AssetLocation { place, pack, len: from.number()? })
                    }
                    _ => return Err("a file that is neither found nor not"),
                };
                Self::Find(name, found)
            }
            1 => {
                let name = from.text()?;
                Self::Read(name, read_known(from)?)
            }
            2 => {
                let (folder, extension) = (from.text()?, from.text()?);
                let count: usize = from.small()?;
                let names = (0..count).map(|_| path(from)).collect::<Result<_, _>>()?;
                Self::List(folder, extension, names)
            }
            3 => {
                let count: usize = from.small()?;
                let pack = |from: &mut Cursor<'_>| {
                    let (folder, name, len) = (from.text()?, from.text()?, from.number()?);
                    let count: usize = from.small()?;
                    let crcs: Result<Vec<_>, _> = (0..count).map(|_| from.word()).collect();
                    Ok(PackInfo { folder, name, len, crcs: crcs?.into() })
                };
                Self::Packs((0..count).map(|_| pack(from)).collect::<Result<_, DecodeError>>()?)
            }
            4 => Self::Pack(from.small()?, from.number()?, read_known(from)?),
            5 => {
                let count: usize = from.small()?;
                let file = |from: &mut Cursor<'_>| Ok((path(from)?, from.bytes()?.to_vec()));
                Self::Own((0..count).map(|_| file(from)).collect::<Result<_, DecodeError>>()?)
            }
            _ => return Err("a question about files that nobody knows"),
        })
    }

    /// Returns the request alone, for comparison.
    fn question(&self) -> (u8, &str, &str) {
        match self {
            Self::Find(name, _) => (0, name, ""),
            Self::Read(name, _) => (1, name, ""),
            Self::List(folder, extension, _) => (2, folder, extension),
            Self::Packs(_) => (3, "", ""),
            Self::Pack(..) => (4, "", ""),
            Self::Own(_) => (5, "", ""),
        }
    }
}

fn write_known(out: &mut Vec<u8>, answer: &Result<(u64, u32), AssetError>) {
    match answer {
        Ok((len, sum)) => {
            out.push(0);
            put_number(out, *len);
            out.extend_from_slice(&sum.to_le_bytes());
        }
        Err(error) => write_error(out, error),
    }
}

fn read_known(from: &mut Cursor<'_>) -> Result<Result<(u64, u32), AssetError>, DecodeError> {
    Ok(match from.byte()? {
        0 => Ok((from.number()?, from.word()?)),
        kind => Err(read_error(kind, from)?),
    })
}

fn path(from: &mut Cursor<'_>) -> Result<GamePath, DecodeError> {
    GamePath::new(from.bytes()?).ok_or("a name that no game file has")
}

fn write_error(out: &mut Vec<u8>, error: &AssetError) {
    match error {
        AssetError::Name { name } => {
            out.push(1);
            put_text(out, name);
        }
        AssetError::Missing { path } => {
            out.push(2);
            put_text(out, path.as_str());
        }
        AssetError::TooLong { path, place, len, max } => {
            out.push(3);
            put_text(out, path.as_str());
            put_text(out, place);
            put_number(out, *len);
            put_number(out, *max);
        }
        AssetError::Unreadable { path, place, why } => {
            out.push(4);
            put_text(out, path.as_str());
            put_text(out, place);
            put_text(out, why);
        }
        AssetError::Archive { name, why } => {
            out.push(5);
            put_text(out, name);
            put_text(out, why);
        }
    }
}

fn read_error(kind: u8, from: &mut Cursor<'_>) -> Result<AssetError, DecodeError> {
    Ok(match kind {
        1 => AssetError::Name { name: from.text()? },
        2 => AssetError::Missing { path: path(from)? },
        3 => AssetError::TooLong {
            path: path(from)?,
            place: from.text()?,
            len: from.number()?,
            max: from.number()?,
        },
        4 => AssetError::Unreadable { path: path(from)?, place: from.text()?, why: from.text()? },
        5 => AssetError::Archive { name: from.text()?, why: from.text()? },
        _ => return Err("a fault of a file that nobody knows"),
    })
}

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

    fn packs(&self) -> &[PackInfo] {
        let packs = self.assets.packs();
        // They never change, so once is enough.
        self.packs_told.get_or_init(|| self.note(&AssetAnswer::Packs(packs.to_vec())));
        packs
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

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        let files = self.assets.own_files();
        self.note(&AssetAnswer::Own(files.clone()));
        files
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
        _ => "the archives".to_owned(),
    }
}

/// Game files that answer as in the recorded run.
pub struct ReplayedAssets {
    answers: Answers,
    find_file: FindFile,
    read_pack: ReadPack,
    packs: OnceCell<Vec<PackInfo>>,
}

impl ReplayedAssets {
    /// Answers from `answers`, with file contents from `find_file` and bytes of archives from `read_pack`.
    #[must_use]
    pub fn new(answers: Answers, find_file: FindFile, read_pack: ReadPack) -> Self {
        Self { answers, find_file, read_pack, packs: OnceCell::new() }
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
        let unreadable = || match GamePath::new(name.as_bytes()) {
            Some(path) => AssetError::Missing { path },
            None => AssetError::Name { name: name.to_owned() },
        };
        let Some(AssetAnswer::Read(_, known)) = self.answers.answer((1, name, "")) else {
            return Err(unreadable());
        };
        let (len, sum) = known?;
        match (self.find_file)(name, len, sum) {
            Some(bytes) if (bytes.len() as u64, checksum(&bytes)) == (len, sum) => Ok(bytes),
            found => {
                self.mismatch(name.to_owned(), (len, sum), found.as_deref());
                Err(unreadable())
            }
        }
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        match self.answers.answer((2, folder, extension)) {
            Some(AssetAnswer::List(_, _, names)) => names,
            _ => Vec::new(),
        }
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        match self.answers.answer((5, "", "")) {
            Some(AssetAnswer::Own(files)) => files,
            _ => Vec::new(),
        }
    }

    fn packs(&self) -> &[PackInfo] {
        self.packs.get_or_init(|| match self.answers.answer((3, "", "")) {
            Some(AssetAnswer::Packs(packs)) => packs,
            _ => Vec::new(),
        })
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let info = self.packs().get(pack).cloned();
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
