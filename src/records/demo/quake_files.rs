//! Recordings of Quake and QuakeWorld, by their content.
//!
//! A file is named by its first message with the data of a server, so that a part without the begin of a recording
//! is not named. Invariant: at most [`MAX_RECORDS`] records are read.
//!
//! Source: recordings of Quake's protocol 15 and its successors (`.dem`), of QuakeWorld clients (`.qwd`) and servers
//! (`.mvd`), protocol 28; `svc_serverdata`, `svc_serverinfo` as search terms.

/// Records in front of the first message.
const MAX_RECORDS: usize = 64;
/// Longest message of these games.
const MAX_MESSAGE: usize = 1 << 16;
/// Longest number of the music track at the begin of a `.dem` file, with its sign and line end.
const MAX_TRACK: usize = 12;
/// Message that begins a level: data of a QuakeWorld server, or information of a Quake server.
const SERVER_DATA: u8 = 11;
/// Text message, with which recordings of Quake often begin.
const PRINT: u8 = 8;
/// Protocol of QuakeWorld, and the words in front of it with which servers announce extensions.
const QUAKEWORLD: &[u8] = &28_i32.to_le_bytes();
const EXTENSIONS: [&[u8]; 3] = [b"FTEX", b"FTE2", b"MVD1"];
/// Protocols of Quake: id Software's, and those of later engines.
const QUAKE: [i32; 9] = [15, 250, 666, 999, 3501, 3502, 3503, 3504, 10002];

/// Returns the game and kind of a recording of Quake or QuakeWorld.
pub(super) fn name(bytes: &[u8]) -> Option<&'static str> {
    if is_server_recording(bytes) {
        Some("QuakeWorld: the recording of a server (.mvd)")
    } else if is_client_recording(bytes) {
        Some("QuakeWorld: the recording of a client (.qwd)")
    } else if is_quake(bytes) {
        Some("Quake (.dem)")
    } else {
        None
    }
}

/// Takes `len` bytes from the front.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

/// Takes a message behind its length; the last one of a file may be cut off.
fn take_message<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take(bytes, 4)?;
    let len = u32::from_le_bytes(len.try_into().ok()?) as usize;
    (len <= MAX_MESSAGE).then(|| take(bytes, len.min(bytes.len())))?
}

/// Whether a message begins with the data of a QuakeWorld server.
fn has_server_data(message: &[u8]) -> bool {
    let Some((&SERVER_DATA, mut rest)) = message.split_first() else { return false };
    for _ in 0..=EXTENSIONS.len() {
        if rest.starts_with(QUAKEWORLD) {
            return true;
        }
        if !EXTENSIONS.iter().any(|word| rest.starts_with(word)) || take(&mut rest, 8).is_none() {
            return false;
        }
    }
    false
}

/// Whether records are a byte of time, a byte of kind and player, and a message.
fn is_server_recording(mut bytes: &[u8]) -> bool {
    let mut is_found = || {
        for _ in 0..MAX_RECORDS {
            let kind = take(&mut bytes, 2)?[1] & 7;
            match kind {
                // Sequences of the channel.
                2 => drop(take(&mut bytes, 8)?),
                3 => drop(take(&mut bytes, 4)?),
                1 | 4 | 5 | 6 => {}
                _ => return None,
            }
            if kind != 2 && has_server_data(take_message(&mut bytes)?) {
                return Some(());
            }
        }
        None
    };
    is_found().is_some()
}

/// Whether records are a time in seconds, a byte of kind, and a usercmd, a packet or sequences.
fn is_client_recording(mut bytes: &[u8]) -> bool {
    let mut is_found = || {
        for _ in 0..MAX_RECORDS {
            let time = f32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
            if !(0.0..1e9).contains(&time) {
                return None;
            }
            match take(&mut bytes, 1)?[0] {
                // A usercmd with its padding, and the view.
                0 => drop(take(&mut bytes, 24 + 12)?),
                // Two sequences are in front of the message.
                1 if has_server_data(take_message(&mut bytes)?.get(8..).unwrap_or_default()) => {
                    return Some(());
                }
                1 => {}
                2 => drop(take(&mut bytes, 8)?),
                _ => return None,
            }
        }
        None
    };
    is_found().is_some()
}

/// Whether a file is the line of a music track, and messages behind lengths and angles.
fn is_quake(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().take(MAX_TRACK).position(|byte| *byte == b'\n') else {
        return false;
    };
    let is_track =
        std::str::from_utf8(&bytes[..end]).is_ok_and(|t| t.trim().parse::<i32>().is_ok());
    if !is_track {
        return false;
    }
    let mut rest = &bytes[end + 1..];
    for _ in 0..MAX_RECORDS {
        let Some(len) = take(&mut rest, 4) else { return false };
        let len = u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
        let Some(angles) = take(&mut rest, 12).filter(|_| len <= MAX_MESSAGE) else { return false };
        let is_angle = |at: &[u8]| f32::from_le_bytes([at[0], at[1], at[2], at[3]]).abs() <= 1e6;
        if !angles.chunks_exact(4).all(is_angle) {
            return false;
        }
        let len = len.min(rest.len());
        let Some(message) = take(&mut rest, len) else { return false };
        let is_information = |at: &[u8]| {
            at[0] == SERVER_DATA && QUAKE.iter().any(|number| at[1..] == number.to_le_bytes())
        };
        let begins_so = matches!(message.first(), Some(&PRINT | &SERVER_DATA));
        if begins_so || message.windows(5).any(is_information) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
    }

    #[test]
    fn recordings_of_quake_are_named_by_their_first_message() {
        let data = [&[SERVER_DATA][..], QUAKEWORLD, &[1, 0, 0, 0], b"qw\0"].concat();
        let extended =
            [&[SERVER_DATA][..], b"FTEX\x01\0\0\0MVD1\x21\0\0\0", QUAKEWORLD, b"qw\0"].concat();
        for data in [&data, &extended] {
            let server = [&[0, 1][..], &message(data)].concat();
            assert!(name(&server).is_some_and(|name| name.contains(".mvd")));
            let later = [&[9, 2][..], &[7; 8], &[0, 0x0b, 1, 0, 0, 0], &message(b"\x08"), &[0, 6]];
            let later = [&later.concat()[..], &message(data)].concat();
            assert!(name(&later).is_some_and(|name| name.contains(".mvd")));
            let packet = message(&[&[3; 8][..], data].concat());
            let time = 12.5_f32.to_le_bytes();
            let client = [&time[..], &[0], &[5; 36], &time, &[1], &packet].concat();
            assert!(name(&client).is_some_and(|name| name.contains(".qwd")));
        }
        let greeting = b"\x08\x02\nVERSION 1.09 SERVER\n\0\x0b\x0f\0\0\0\x10";
        let len = (greeting.len() as u32).to_le_bytes();
        let quake = [&b"-1\n"[..], &len, &[0; 12], greeting].concat();
        assert_eq!(name(&quake), Some("Quake (.dem)"));
        for other in [&b""[..], b"2\n", &quake[4..], &quake[..15], &[0; 400], &[1; 400]] {
            assert_eq!(name(other), None, "{other:?}");
        }
    }
}
