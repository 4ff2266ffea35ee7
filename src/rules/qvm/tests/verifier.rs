//! Tests of images and of the verifier: each reason to reject.

use Opcode::*;

use super::*;

fn reject(rows: &[Row]) -> (VerifyReason, u32) {
    let error = Program::verify(image(rows)).unwrap_err();
    (error.reason, error.place.instruction)
}

#[test]
fn verifier_rejects_each_fault_of_code() {
    let leave = (Leave, 8);
    let enter = (Enter, 8);
    for (rows, reason, instruction) in [
        (vec![(Push, 0), leave], VerifyReason::NoEntry, 0),
        (vec![(Enter, -4), (Push, 0), (Leave, -4)], VerifyReason::Frame(-4), 0),
        (vec![(Enter, 6), (Push, 0), (Leave, 6)], VerifyReason::Frame(6), 0),
        (
            vec![enter, (Push, 0), leave, (Enter, MAX_FRAME + 4)],
            VerifyReason::Frame(MAX_FRAME + 4),
            3,
        ),
        (
            vec![enter, (Push, 0), (Leave, 12)],
            VerifyReason::FrameMismatch { leave: 12, enter: 8 },
            2,
        ),
        (vec![enter, (Push, 0), enter, (Push, 0), leave], VerifyReason::FallThrough, 1),
        (vec![enter], VerifyReason::FallThrough, 0),
        (
            vec![enter, (Push, 0), (Push, 0), (Eq, 5), (Push, 0), leave],
            VerifyReason::DepthMismatch { first: 0, second: 1 },
            5,
        ),
        (vec![enter, (Push, 0), (Push, 0), (Eq, 0), (Push, 0), leave], VerifyReason::Target(0), 3),
        (vec![enter, (Push, 0), (Push, 0), (Eq, 6), (Push, 0), leave], VerifyReason::Target(6), 3),
        (
            vec![enter, (Push, 0), (Push, 0), (Eq, -1), (Push, 0), leave],
            VerifyReason::Target(-1),
            3,
        ),
        (vec![enter, (Const, 9), (Jump, 0)], VerifyReason::Target(9), 2),
        (vec![enter, (Const, 1), (Call, 0), leave], VerifyReason::CallTarget(1), 2),
        (vec![enter, leave], VerifyReason::Underflow(0), 1),
        (vec![enter, (Push, 0), (Add, 0), leave], VerifyReason::Underflow(1), 2),
        (vec![enter, (Push, 0), (Push, 0), leave], VerifyReason::LeaveDepth(2), 3),
        (vec![enter, (Push, 0), (Push, 0), (Ignore, 0), (Jump, 0)], VerifyReason::JumpDepth(1), 4),
        (
            vec![enter, (Push, 0), (Push, 0), (BlockCopy, -1), (Push, 0), leave],
            VerifyReason::BlockCopy(-1),
            3,
        ),
        ([vec![enter], vec![(Push, 0); 65], vec![leave]].concat(), VerifyReason::Overflow, 65),
    ] {
        assert_eq!(reject(&rows), (reason, instruction), "{rows:?}");
    }
    assert!(Program::verify(Image::default()).is_err());
}

#[test]
fn verifier_names_place_of_unknown_operation() {
    let mut image = image(&[(Enter, 8), (Push, 0), (Leave, 8), (Enter, 8), (Push, 0)]);
    image.code_offset = 32;
    for (byte, reason) in [(60, VerifyReason::Opcode(60)), (0, VerifyReason::Opcode(0))] {
        image.code[16] = byte;
        let error = Program::verify(image.clone()).unwrap_err();
        assert_eq!((&error.reason, error.file_offset, error.place.function), (&reason, 48, 3));
    }
    image.code.truncate(15);
    let error = Program::verify(image).unwrap_err();
    let text = "code truncated at function 0+3 (instruction 3), file offset 43";
    assert_eq!(error.to_string(), text);
}

#[test]
fn image_file_round_trips() {
    let mut image = image(&[(Enter, 8), (Push, 0), (Leave, 8)]);
    image.literals = b"text\0".to_vec();
    for table in [None, Some(vec![1, 2])] {
        image.jump_table = table;
        let mut bytes = Vec::new();
        image.write(&mut bytes);
        let parsed = Image::parse(&bytes).unwrap();
        let code_offset = parsed.code_offset;
        assert_eq!(parsed, Image { code_offset, ..image.clone() });
        for length in 0..bytes.len() {
            assert!(Image::parse(&bytes[..length]).is_err(), "{length}");
        }
    }
}

#[test]
fn image_header_is_checked() {
    let mut good = Vec::new();
    image(&[(Enter, 8), (Push, 0), (Leave, 8)]).write(&mut good);
    for (offset, value) in [
        (0, 0x1272_1446_u32),
        (4, 0),
        (4, u32::MAX),
        (4, 1000),
        (8, u32::MAX),
        (8, 1 << 30),
        (12, 0),
        (12, 0x7fff_ffff),
        (16, 0x7fff_ffff),
        (20, 0x7fff_ffff),
        (24, 0x8000_0000),
        (28, 0x7fff_ffff),
        (28, u32::MAX),
    ] {
        let mut bytes = good.clone();
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        assert!(Image::parse(&bytes).is_err(), "{offset} {value:#x}");
    }
}

#[test]
fn stub_of_native_library_is_named() {
    for stub in [
        &b"NTVEpak6-patch088\0\0\0\0L{\xbf\xaa\x97\x15f`"[..],
        b"NTVEpak0\0\0\0\0A\xd2\x93\xf7w\x1fKa",
        b"NTVEan-archive-with-a-longer-name\0\0\0\0A\xd2\x93\xf7w\x1fKa",
    ] {
        let error = Image::parse(stub).unwrap_err().to_string();
        let start = format!("stub that asks for a native library: {} bytes", stub.len());
        assert!(error.starts_with(&start), "{error}");
    }
    let cut = Image::parse(&[0x44, 0x14, 0x72, 0x12, 0]).unwrap_err().to_string();
    assert_eq!(cut, "image truncated: 5 bytes (expected a header of 32)");
}
