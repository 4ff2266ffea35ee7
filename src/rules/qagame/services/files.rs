//! Services for files: open, read, write, seek, close, list.
//!
//! A name that leaves the folder of the game does not exist. The file that `g_log` names is the game log.

use super::{Answer, Session, invalid, text};
use crate::{
    model::assets::GamePath,
    qagame::files::{OpenFile, OpenFiles},
    qvm::{FaultKind, Machine, ServiceCall},
};

/// Result of a service that failed.
const FAILED: i32 = -1;
/// Cost of a search in folders and archives, in instructions of the budget.
pub(super) const SEARCH_COST: u64 = 200_000;
/// Bytes that cost as much as one instruction, when they are copied.
const COPY_UNIT: u64 = 16;

impl Session<'_, '_> {
    pub(super) fn files(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        match call.number {
            10 => self.open_file(machine, call),
            11 => self.read_file(machine, call),
            12 => self.write_file(machine, call),
            13 => {
                self.state.files.close(call.arguments[0]);
                Ok(0)
            }
            38 => self.list_files(machine, call),
            45 => self.seek_file(call),
            number => Err(FaultKind::UnknownService(number)),
        }
    }

    /// Opens a file. Returns its length for reading, 0 for writing, -1 on failure.
    fn open_file(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [name, target, mode, ..] = call.arguments;
        let name = text(machine, name)?;
        if target != 0 {
            machine.memory_mut().set_i32(target, 0)?;
        }
        let opened = match mode {
            0 => {
                machine.charge(SEARCH_COST)?;
                self.open_to_read(&name)
            }
            1..=3 => self.open_to_write(&name, mode).map(|file| (file, 0)),
            _ => return Err(invalid(call, "mode of a file", mode)),
        };
        let Some((file, len)) = opened else { return Ok(FAILED) };
        if mode == 0 {
            // The work of reading and unpacking.
            machine.charge(u64::try_from(len).unwrap_or(0))?;
        }
        if target == 0 {
            // Only the length is asked for.
            return Ok(len);
        }
        let Some(handle) = self.state.files.add(file) else { return Ok(FAILED) };
        machine.memory_mut().set_i32(target, handle)?;
        Ok(len)
    }

    fn open_to_read(&mut self, name: &str) -> Option<(OpenFile, i32)> {
        let path = GamePath::new(name.as_bytes())?;
        let bytes = self.host.files()?.read(&path)?;
        let len = i32::try_from(bytes.len()).ok()?;
        Some((OpenFile::Read(bytes, 0), len))
    }

    fn open_to_write(&mut self, name: &str, mode: i32) -> Option<OpenFile> {
        let game_log = self.host.setting("g_log");
        if !game_log.is_empty() && game_log.eq_ignore_ascii_case(name) {
            return Some(OpenFile::GameLog);
        }
        let files = self.host.files()?;
        let Some(path) = GamePath::new(name.as_bytes()) else {
            files.refuse_name(name);
            return None;
        };
        let appends = mode != 1;
        let at = files.open(&path, appends)?;
        Some(OpenFile::Write { path, at, appends, sync: mode == 3 })
    }

    /// Reads up to `len` bytes; the rest of the buffer stays.
    fn read_file(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [buffer, len, handle, ..] = call.arguments;
        let Some(OpenFile::Read(bytes, at)) = self.open(call, handle)? else { return Ok(0) };
        let len = usize::try_from(len).unwrap_or(0).min(bytes.len() - *at);
        machine.charge(len as u64 / COPY_UNIT)?;
        machine.memory_mut().bytes_mut(buffer, len)?.copy_from_slice(&bytes[*at..*at + len]);
        *at += len;
        Ok(i32::try_from(len).unwrap_or(i32::MAX))
    }

    /// Writes bytes. Above the quota, nothing is written.
    fn write_file(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [buffer, len, handle, ..] = call.arguments;
        let Self { host, state } = self;
        let file = open_file(&mut state.files, call, handle)?;
        let Some(file) = file else { return Ok(0) };
        let len = usize::try_from(len).unwrap_or(0);
        machine.charge(len as u64 / COPY_UNIT)?;
        let bytes = machine.memory().bytes(buffer, len)?;
        match file {
            OpenFile::Read(..) => return Ok(0),
            OpenFile::GameLog => host.log_text(&String::from_utf8_lossy(bytes)),
            OpenFile::Write { path, at, appends, sync } => {
                let Some(files) = host.files() else { return Ok(0) };
                if *appends {
                    *at = files.len(path);
                }
                if !files.write(path, *at, bytes, *sync) {
                    return Ok(0);
                }
                *at += len;
            }
        }
        Ok(i32::try_from(len).unwrap_or(i32::MAX))
    }

    /// Moves the position of an open file. Returns 0, or -1 on failure.
    fn seek_file(&mut self, call: &ServiceCall) -> Answer {
        let [handle, offset, origin, ..] = call.arguments;
        let Self { host, state } = self;
        let (at, len) = match open_file(&mut state.files, call, handle)? {
            None | Some(OpenFile::GameLog) => return Ok(FAILED),
            Some(OpenFile::Read(bytes, at)) => {
                let len = bytes.len();
                (at, len)
            }
            Some(OpenFile::Write { path, at, .. }) => {
                let len = host.files().map_or(0, |files| files.len(path));
                (at, len)
            }
        };
        let from = match origin {
            0 => *at,
            1 => len,
            2 => 0,
            _ => return Err(invalid(call, "origin of a seek", origin)),
        };
        let to = from as i64 + i64::from(offset);
        // Positions behind the end would be gaps, which nothing needs.
        match usize::try_from(to).ok().filter(|&to| to <= len) {
            Some(to) => {
                *at = to;
                Ok(0)
            }
            None => Ok(FAILED),
        }
    }

    /// Writes the names of a folder's files, each ended by a zero. Returns the number of names that fit.
    fn list_files(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [folder, extension, buffer, size, ..] = call.arguments;
        let (folder, extension) = (text(machine, folder)?, text(machine, extension)?);
        machine.charge(SEARCH_COST)?;
        let size = usize::try_from(size).unwrap_or(0);
        if size == 0 {
            return Ok(0);
        }
        let path = GamePath::new(folder.trim_end_matches(['/', '\\']).as_bytes());
        let names = match (path, self.host.files()) {
            (Some(path), Some(files)) => files.list(&path, extension.trim_start_matches('.')),
            _ => Vec::new(),
        };
        let (mut list, mut count) = (Vec::new(), 0);
        for name in names {
            if list.len() + name.len() + 2 > size {
                break;
            }
            list.extend_from_slice(name.as_bytes());
            list.push(0);
            count += 1;
        }
        list.push(0);
        machine.charge(list.len() as u64 / COPY_UNIT)?;
        machine.memory_mut().bytes_mut(buffer, list.len())?.copy_from_slice(&list);
        Ok(count)
    }

    fn open(
        &mut self,
        call: &ServiceCall,
        handle: i32,
    ) -> Result<Option<&mut OpenFile>, FaultKind> {
        open_file(&mut self.state.files, call, handle)
    }
}

/// Returns the open file of a handle. A handle that was never given out is a fault.
fn open_file<'a>(
    files: &'a mut OpenFiles,
    call: &ServiceCall,
    handle: i32,
) -> Result<Option<&'a mut OpenFile>, FaultKind> {
    if !OpenFiles::is_handle(handle) {
        return Err(invalid(call, "file handle", handle));
    }
    Ok(files.get_mut(handle))
}
