//! Tests of the file services of a module, in each engine.

use std::rc::Rc;

use super::*;
use crate::{
    game::{FileLimits, GameFiles, conformance::TestHost},
    model::assets::MemoryAssets,
    qvm::{Engine, Program, assemble},
};

/// Calls the service of word 4 with the words from 8 on, and stores the result in word 36.
const CALLER: &str = "
vmMain:
    enter 64
    const 36
    const 8
    load4
    arg 8
    const 12
    load4
    arg 12
    const 16
    load4
    arg 16
    const 20
    load4
    arg 20
    const 4
    load4
    call
    store4
    const 0
    leave 64
.data
    .word 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
.bss
    .space 8192
";
/// Addresses in the memory of the caller: name, second text, handle, buffer.
const NAME: i32 = 256;
const TEXT: i32 = 1280;
const HANDLE: i32 = 2048;
const BUFFER: i32 = 4096;

const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Compiled];

struct Caller {
    game: GameModule,
    host: TestHost,
}

impl Caller {
    fn new(engine: Engine) -> Self {
        let assembly = assemble(CALLER).expect("a program");
        let program = Program::verify_with(assembly.image, Default::default()).expect("verified");
        let game = GameModule::new(Executable::new(&program, engine).expect("an engine"));
        let mut assets = MemoryAssets::default();
        assets.insert("scripts/a.arena", b"arena text".to_vec()).expect("a path");
        assets.insert("scripts/b.arena", b"b".to_vec()).expect("a path");
        let limits = FileLimits { bytes: 1000, files: 3 };
        let mut host = TestHost::default();
        host.files = Some(GameFiles::new(Rc::new(assets), limits));
        Self { game, host }
    }

    fn put(&mut self, address: i32, bytes: &[u8]) {
        let memory = self.game.machine.memory_mut();
        memory.bytes_mut(address, bytes.len()).expect("inside").copy_from_slice(bytes);
    }

    fn call(&mut self, service: i32, arguments: [i32; 4]) -> Result<i32, GameFault> {
        let words = [&[-1 - service][..], &arguments].concat();
        self.put(4, bytemuck::cast_slice(&words));
        self.game.run_frame(&mut self.host, LevelTime(0))?;
        Ok(self.game.machine.memory().i32_at(36).expect("inside"))
    }

    fn open(&mut self, name: &[u8], mode: i32) -> (i32, i32) {
        self.put(NAME, &[name, &[0]].concat());
        let len = self.call(10, [NAME, HANDLE, mode, 0]).expect("no fault");
        (len, self.game.machine.memory().i32_at(HANDLE).expect("inside"))
    }

    fn write(&mut self, handle: i32, bytes: &[u8]) -> i32 {
        self.put(BUFFER, bytes);
        self.call(12, [BUFFER, bytes.len() as i32, handle, 0]).expect("no fault")
    }

    fn read(&mut self, handle: i32, len: i32) -> Vec<u8> {
        let count = self.call(11, [BUFFER, len, handle, 0]).expect("no fault");
        self.game.machine.memory().bytes(BUFFER, count as usize).expect("inside").to_vec()
    }

    fn close(&mut self, handle: i32) {
        self.call(13, [handle, 0, 0, 0]).expect("no fault");
    }
}

#[test]
fn game_data_and_own_files_are_read() {
    for engine in ENGINES {
        let mut caller = Caller::new(engine);
        assert_eq!(caller.open(b"Scripts\\A.arena", 0), (10, 1));
        assert_eq!(caller.read(1, 5), b"arena");
        assert_eq!(caller.call(45, [1, 1, 0, 0]).expect("no fault"), 0);
        assert_eq!(caller.read(1, 500), b"text");
        for (offset, origin, result) in [(-4, 1, 0), (0, 2, 0), (-1, 2, -1), (1, 1, -1)] {
            assert_eq!(caller.call(45, [1, offset, origin, 0]).expect("no fault"), result);
        }
        assert_eq!(caller.read(1, 5), b"arena");
        assert_eq!(caller.write(1, b"x"), 0, "the file is open for reading");
        assert_eq!(caller.open(b"none.txt", 0), (-1, 0));
        assert_eq!(caller.open(b"stats/a.txt", 1), (0, 2));
        assert_eq!(caller.write(2, b"one "), 4);
        caller.close(2);
        for (mode, bytes, content) in [
            (2, &b"two "[..], &b"one two "[..]),
            (3, b"three", b"one two three"),
            (1, b"new", b"new"),
        ] {
            assert_eq!(caller.open(b"stats/a.txt", mode), (0, 2));
            assert_eq!(caller.write(2, bytes), bytes.len() as i32);
            caller.close(2);
            assert_eq!(caller.open(b"stats/a.txt", 0), (content.len() as i32, 2));
            assert_eq!(caller.read(2, 100), content, "{engine:?}: mode {mode}");
            caller.close(2);
        }
    }
}

#[test]
fn names_that_leave_the_folder_do_not_exist() {
    let long = [b'a'; 300];
    for engine in ENGINES {
        let mut caller = Caller::new(engine);
        for name in [
            &b"../x"[..],
            b"/etc/passwd",
            b"a/../../x",
            b"..\\x",
            b"\\\\host\\x",
            b"c:\\x",
            b"c:x",
            b"nul",
            b"a/com1.txt",
            b".hidden",
            b"a\nb",
            b"",
            b"x.pk3",
            b"vm/qagame.qvm",
            b"\xff",
            &long,
        ] {
            for mode in 0..4 {
                let result = caller.open(name, mode);
                assert_eq!(result, (-1, 0), "{engine:?} {mode}: {}", name.escape_ascii());
            }
        }
        // A zero byte ends a name.
        assert_eq!(caller.open(b"ok\0/../../x", 1), (0, 1));
        let files = caller.host.files.as_mut().expect("files");
        assert_eq!(files.poll_write().map(|write| write.path.to_string()).as_deref(), Some("ok"));
        assert_eq!(files.poll_write(), None, "nothing else is written");
    }
}

#[test]
fn quota_and_handles_are_limited() {
    for engine in ENGINES {
        let mut caller = Caller::new(engine);
        assert_eq!(caller.open(b"a", 1), (0, 1));
        assert_eq!(caller.write(1, &[7; 900]), 900);
        assert_eq!(caller.write(1, &[7; 101]), 0, "nothing beyond the quota");
        assert_eq!(caller.write(1, &[7; 100]), 100);
        assert_eq!(caller.open(b"b", 1), (0, 2));
        assert_eq!(caller.write(2, b"x"), 0);
        assert_eq!((caller.open(b"c", 1), caller.open(b"d", 1)), ((0, 3), (-1, 0)));
        for handle in 4..=63 {
            assert_eq!(caller.open(b"a", 0), (1000, handle));
        }
        assert_eq!(caller.open(b"a", 0), (-1, 0), "no handle is free");
        caller.close(40);
        assert_eq!(caller.open(b"a", 0), (1000, 40));
    }
}

#[test]
fn invalid_arguments_of_files_are_faults() {
    for engine in ENGINES {
        for (service, arguments) in [
            (10, [NAME, HANDLE, 4, 0]),
            (10, [NAME, -2, 0, 0]),
            (11, [BUFFER, 1, -1, 0]),
            (11, [-4, 9, 1, 0]),
            (12, [BUFFER, 1, 64, 0]),
            (12, [BUFFER, i32::MAX, 1, 0]),
            (45, [1, 0, 3, 0]),
            (45, [i32::MIN, 0, 0, 0]),
        ] {
            let mut caller = Caller::new(engine);
            assert_eq!(caller.open(b"scripts/a.arena", 0), (10, 1));
            let result = caller.call(service, arguments);
            assert!(result.is_err(), "{engine:?}: {service} {arguments:?}: {result:?}");
        }
    }
}

#[test]
fn files_are_listed_as_far_as_they_fit() {
    for engine in ENGINES {
        let mut caller = Caller::new(engine);
        for (size, count, text) in [
            (100, 2, &b"a.arena\0b.arena\0\0"[..]),
            (16, 1, b"a.arena\0\0"),
            (8, 0, b"\0"),
            (0, 0, b""),
        ] {
            caller.put(NAME, b"scripts/\0");
            caller.put(TEXT, b".arena\0");
            let listed = caller.call(38, [NAME, TEXT, BUFFER, size]).expect("no fault");
            assert_eq!(listed, count, "{size}");
            let list = caller.game.machine.memory().bytes(BUFFER, text.len()).expect("inside");
            assert_eq!(list, text, "{size}");
        }
        assert!(caller.call(38, [NAME, TEXT, -2, 100]).is_err(), "beyond the memory");
    }
}

#[test]
fn log_of_the_module_goes_to_the_game_log() {
    for engine in ENGINES {
        let mut caller = Caller::new(engine);
        assert_eq!(caller.open(b"games.log", 3), (0, 1));
        assert_eq!(caller.write(1, b"  0:00 InitGame: \n"), 18);
        assert_eq!(caller.host.game_log, "  0:00 InitGame: \n");
        let files = caller.host.files.as_mut().expect("files");
        assert_eq!(files.poll_write(), None, "no file of that name is written");
    }
}
