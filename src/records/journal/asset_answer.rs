//! Answers about game files in a journal, and their encoding.
//!
//! Invariant: an answer that is written is read back as it was; any other bytes are an error.

use std::fmt;

use super::encoding::{Cursor, DecodeError, put_bytes, put_number, put_text};
use crate::model::assets::{
    AssetError, AssetLocation, GamePath, ListedPack, ModCode, PackInfo, ScriptPlace,
};

/// Request for game files and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssetAnswer {
    /// Location of a file.
    Find(String, Option<AssetLocation>),
    /// A file was read: its length and checksum.
    Read(String, Result<(u64, u32), AssetError>),
    /// Files of a folder with an extension.
    List(String, String, Vec<GamePath>),
    /// Archives at the start, numbered in their order.
    Packs(Vec<PackInfo>),
    /// Bytes of an archive were read: its number, their offset, their length and checksum.
    Pack(usize, u64, Result<(u64, u32), AssetError>),
    /// Files that the game wrote in earlier runs, with their content: a later run changes them.
    Own(Vec<(GamePath, Vec<u8>)>),
    /// A console script was read, with its content: operators change scripts.
    Script(String, ScriptPlace, Result<Vec<u8>, AssetError>),
    /// Game code in the folder of the mod.
    ModCode(ModCode),
    /// Folders were searched again: the archives, if they changed.
    Rescan(Option<Vec<ListedPack>>),
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
            Self::Rescan(None) => write!(f, "search again: archives unchanged"),
            Self::Rescan(Some(packs)) => write!(f, "search again: {} archives", packs.len()),
            Self::Own(files) => write!(f, "own files of the game: {}", files.len()),
            Self::Script(name, _, Ok(bytes)) => write!(f, "script {name}: {} bytes", bytes.len()),
            Self::Script(name, _, Err(error)) => write!(f, "script {name}: {error}"),
            Self::ModCode(ModCode { bytecode, native }) => {
                let shown = |name: &Option<String>| name.clone().unwrap_or("nowhere".to_owned());
                write!(f, "game code of the mod: {}, native {}", shown(bytecode), shown(native))
            }
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
                write_found(out, found.as_ref());
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
                packs.iter().for_each(|pack| write_pack(out, pack));
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
                    put_bytes(out, bytes);
                }
            }
            Self::Script(name, place, read) => {
                out.push(6);
                put_text(out, name);
                out.push(match place {
                    ScriptPlace::GameData => 0,
                    ScriptPlace::ModFolder => 1,
                    ScriptPlace::CommandLine => 2,
                    ScriptPlace::OwnModFolder => 3,
                });
                match read {
                    Ok(bytes) => {
                        out.push(0);
                        put_bytes(out, bytes);
                    }
                    Err(error) => write_error(out, error),
                }
            }
            Self::ModCode(ModCode { bytecode, native }) => {
                out.push(7);
                for name in [bytecode, native] {
                    write_name(out, name.as_deref());
                }
            }
            Self::Rescan(packs) => {
                out.push(8);
                write_rescan(out, packs.as_deref());
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
                Self::Packs((0..count).map(|_| read_pack(from)).collect::<Result<_, _>>()?)
            }
            4 => Self::Pack(from.small()?, from.number()?, read_known(from)?),
            5 => {
                let count: usize = from.small()?;
                let file = |from: &mut Cursor<'_>| Ok((path(from)?, from.bytes()?.to_vec()));
                Self::Own((0..count).map(|_| file(from)).collect::<Result<_, DecodeError>>()?)
            }
            6 => {
                let name = from.text()?;
                let place = match from.byte()? {
                    0 => ScriptPlace::GameData,
                    1 => ScriptPlace::ModFolder,
                    2 => ScriptPlace::CommandLine,
                    3 => ScriptPlace::OwnModFolder,
                    _ => return Err("a script of an unknown place"),
                };
                let read = match from.byte()? {
                    0 => Ok(from.bytes()?.to_vec()),
                    kind => Err(read_error(kind, from)?),
                };
                Self::Script(name, place, read)
            }
            7 => {
                let mut name = || match from.byte()? {
                    0 => Ok(None),
                    1 => from.text().map(Some),
                    _ => Err("game code that is neither found nor not"),
                };
                Self::ModCode(ModCode { bytecode: name()?, native: name()? })
            }
            8 => Self::Rescan(read_rescan(from)?),
            _ => return Err("a question about files that nobody knows"),
        })
    }

    /// Returns the request alone, for comparison.
    pub(super) fn question(&self) -> (u8, &str, &str) {
        match self {
            Self::Find(name, _) => (0, name, ""),
            Self::Read(name, _) => (1, name, ""),
            Self::List(folder, extension, _) => (2, folder, extension),
            Self::Packs(_) => (3, "", ""),
            Self::Pack(..) => (4, "", ""),
            Self::Own(_) => (5, "", ""),
            Self::Script(name, place, _) => (6, name, place_name(*place)),
            Self::ModCode(_) => (7, "", ""),
            Self::Rescan(_) => (8, "", ""),
        }
    }
}

/// Place of a script in requests and errors.
pub(super) const fn place_name(place: ScriptPlace) -> &'static str {
    match place {
        ScriptPlace::GameData => "",
        ScriptPlace::ModFolder => " in the folder of the mod",
        ScriptPlace::CommandLine => " of the command line",
        ScriptPlace::OwnModFolder => " in the home folder of the mod",
    }
}

fn write_found(out: &mut Vec<u8>, found: Option<&AssetLocation>) {
    out.push(u8::from(found.is_some()));
    if let Some(found) = found {
        put_text(out, &found.place);
        put_number(out, found.pack.map_or(0, |pack| pack as u64 + 1));
        put_number(out, found.len);
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

/// Writes a name that may be missing.
fn write_name(out: &mut Vec<u8>, name: Option<&str>) {
    out.push(u8::from(name.is_some()));
    if let Some(name) = name {
        put_text(out, name);
    }
}

/// Writes the archives of a search; none if they did not change.
fn write_rescan(out: &mut Vec<u8>, packs: Option<&[ListedPack]>) {
    out.push(u8::from(packs.is_some()));
    let Some(packs) = packs else { return };
    put_number(out, packs.len() as u64);
    for ListedPack { number, info } in packs {
        put_number(out, *number as u64);
        write_pack(out, info);
    }
}

/// Reads the archives of a search.
fn read_rescan(from: &mut Cursor<'_>) -> Result<Option<Vec<ListedPack>>, DecodeError> {
    match from.byte()? {
        0 => Ok(None),
        1 => {
            let count: usize = from.small()?;
            let listed = |_| Ok(ListedPack { number: from.small()?, info: read_pack(from)? });
            (0..count).map(listed).collect::<Result<_, DecodeError>>().map(Some)
        }
        _ => Err("archives that neither changed nor not"),
    }
}

fn write_pack(out: &mut Vec<u8>, pack: &PackInfo) {
    put_text(out, &pack.folder);
    put_text(out, &pack.name);
    put_number(out, pack.len);
    put_number(out, pack.crcs.len() as u64);
    pack.crcs.iter().for_each(|crc| out.extend_from_slice(&crc.to_le_bytes()));
}

fn read_pack(from: &mut Cursor<'_>) -> Result<PackInfo, DecodeError> {
    let (folder, name, len) = (from.text()?, from.text()?, from.number()?);
    let count: usize = from.small()?;
    let crcs: Result<Vec<_>, _> = (0..count).map(|_| from.word()).collect();
    Ok(PackInfo { folder, name, len, crcs: crcs?.into() })
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
