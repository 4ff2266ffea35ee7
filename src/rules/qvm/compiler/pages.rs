//! Pages of machine code, executable and read-only.
//!
//! On Linux the code is written into a file in memory, which is sealed before it is mapped: no page is ever both
//! writable and executable, and no page becomes executable that was writable. Services that may not do that run
//! compiled code, too (`MemoryDenyWriteExecute` of systemd, `PR_SET_MDWE`). Where such files do not exist or may not be
//! executed, anonymous pages are filled and then made executable.
//!
//! Invariant: the pages cannot be written once they exist.
#![allow(unsafe_code)]

use std::io;

use memmap2::{Mmap, MmapMut};

/// Executable pages.
#[derive(Debug)]
pub(super) struct Pages {
    map: Mapping,
    length: usize,
}

#[derive(Debug)]
enum Mapping {
    #[cfg(target_os = "linux")]
    Sealed(sealed::SealedPages),
    Anonymous(Mmap),
}

/// Origin of executable pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageOrigin {
    /// A sealed file in memory.
    SealedFile,
    /// Anonymous memory, writable while it was filled.
    Anonymous,
}

impl PageOrigin {
    /// Name for the log.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SealedFile => "a sealed memory file",
            Self::Anonymous => "anonymous memory",
        }
    }
}

impl Pages {
    /// Copies code into new pages and makes them executable.
    ///
    /// # Errors
    /// The system refuses both origins; the error names the reason of each.
    pub(super) fn new(code: &[u8]) -> io::Result<Self> {
        let length = code.len();
        #[cfg(target_os = "linux")]
        let sealed = match sealed::SealedPages::new(code) {
            Ok(pages) => return Ok(Self { map: Mapping::Sealed(pages), length }),
            Err(error) => format!("{}: {error}; ", PageOrigin::SealedFile.name()),
        };
        #[cfg(not(target_os = "linux"))]
        let sealed = "";
        let map = anonymous(code).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{sealed}{}: {error}", PageOrigin::Anonymous.name()),
            )
        })?;
        Ok(Self { map: Mapping::Anonymous(map), length })
    }

    /// Origin of the pages.
    pub(super) fn origin(&self) -> PageOrigin {
        match self.map {
            #[cfg(target_os = "linux")]
            Mapping::Sealed(_) => PageOrigin::SealedFile,
            Mapping::Anonymous(_) => PageOrigin::Anonymous,
        }
    }

    /// Address of the first byte.
    pub(super) fn start(&self) -> *const u8 {
        match &self.map {
            #[cfg(target_os = "linux")]
            Mapping::Sealed(pages) => pages.start(),
            Mapping::Anonymous(map) => map.as_ptr(),
        }
    }

    /// Length of the code, in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

/// Fills anonymous pages and makes them executable.
fn anonymous(code: &[u8]) -> io::Result<Mmap> {
    let mut map = MmapMut::map_anon(code.len())?;
    map[..code.len()].copy_from_slice(code);
    // The type has no way back to writable pages.
    map.make_exec()
}

#[cfg(target_os = "linux")]
mod sealed {
    use std::{ffi::c_void, fs::File, io, io::Write as _, ptr::null_mut};

    use rustix::{
        fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
        io::Errno,
        mm::{MapFlags, ProtFlags, mmap, munmap},
    };

    /// Name of the file in the list of the mappings of a process.
    const NAME: &str = "fragd-module";

    /// Pages of a sealed file in memory.
    #[derive(Debug)]
    pub(super) struct SealedPages {
        start: *mut c_void,
        length: usize,
    }

    // SAFETY: the pages are read-only and belong to this value alone, like those of a boxed slice.
    unsafe impl Send for SealedPages {}
    // SAFETY: as above.
    unsafe impl Sync for SealedPages {}

    impl SealedPages {
        /// Writes code into a file, seals it against every change, and maps it.
        pub(super) fn new(code: &[u8]) -> io::Result<Self> {
            let mut file = File::from(create()?);
            file.write_all(code)?;
            let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
            fcntl_add_seals(&file, seals)?;
            let protection = ProtFlags::READ | ProtFlags::EXEC;
            // SAFETY: a new mapping at an address that the system chooses; the seals keep its content and length.
            let start =
                unsafe { mmap(null_mut(), code.len(), protection, MapFlags::PRIVATE, &file, 0) }?;
            Ok(Self { start, length: code.len() })
        }

        /// Address of the first byte.
        pub(super) fn start(&self) -> *const u8 {
            self.start.cast()
        }
    }

    impl Drop for SealedPages {
        fn drop(&mut self) {
            // SAFETY: `new` made the mapping with this address and length, and nothing else ends it.
            let _ = unsafe { munmap(self.start, self.length) };
        }
    }

    /// Creates the file. Systems before Linux 6.3 do not know that it is to be executed, and need not.
    fn create() -> io::Result<std::os::fd::OwnedFd> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        match memfd_create(NAME, flags | MemfdFlags::EXEC) {
            Err(Errno::INVAL) => Ok(memfd_create(NAME, flags)?),
            created => Ok(created?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code of a function that returns 42, on the processors that the compiler supports.
    const CODE: [u8; 6] = [0xb8, 42, 0, 0, 0, 0xc3];

    #[cfg(target_os = "linux")]
    #[test]
    fn sealed_pages_are_executable_and_not_writable() {
        let pages = Pages::new(&CODE).expect("pages");
        assert_eq!(pages.origin(), PageOrigin::SealedFile);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
        let start = format!("{:x}-", pages.start() as usize);
        let line = maps.lines().find(|line| line.starts_with(&start)).expect("the mapping");
        assert!(line.contains(" r-xp ") && line.contains("fragd-module"), "{line}");
        drop(pages);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
        assert!(
            !maps.lines().any(|line| line.starts_with(&start) && line.contains("fragd-module"))
        );
    }

    #[test]
    fn anonymous_pages_hold_the_code() {
        let map = anonymous(&CODE).expect("pages");
        assert_eq!(map[..], CODE);
    }
}
