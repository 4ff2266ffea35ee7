//! Multi-view recordings: any bytes, and records that say anything in valid pieces.
#![no_main]

use fragd::{
    model::{ClientNum, Vec3},
    multiview::{Decoder, OwnView, PieceKind, Reader, SpectatorDemo, Viewpoint},
    wire::Protocol,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    if choice & 1 != 0 {
        return records(*choice, data);
    }
    let Ok(mut reader) = Reader::open(data) else { return };
    let index = reader.rebuilt_index();
    let mut own = OwnView::new(&index.sessions, usize::from(choice >> 4));
    let follow = Viewpoint::Follow(ClientNum::new(usize::from(choice >> 2)).expect("a slot"));
    let mut spectator = SpectatorDemo::new(follow, Protocol::Q3_68);
    let mut out = Vec::new();
    if choice & 2 != 0 {
        reader.seek(&index, index.end);
    }
    while let Some(record) = reader.next_record() {
        let Ok(record) = record else { continue };
        if let Some(own) = &mut own {
            let _ = own.record(reader.decoder(), &record, &mut out);
        }
        spectator.record(reader.decoder(), &record, None, &mut out);
        out.clear();
    }
});

/// Decodes records as they are: a deflate stream of one stored block.
fn records(choice: u8, data: &[u8]) {
    let data = &data[..data.len().min(0xffff)];
    let len = data.len() as u16;
    let mut content = vec![0; 4];
    content.push(1);
    content.extend(len.to_le_bytes());
    content.extend((!len).to_le_bytes());
    content.extend(data);
    let mut decoder = Decoder::default();
    if decoder.piece(PieceKind::Key, &content).is_err() {
        return;
    }
    let view = Viewpoint::Free(Vec3::default(), f32::from(choice));
    let mut spectator = SpectatorDemo::new(view, Protocol::Q3_68);
    let mut out = Vec::new();
    while let Ok(Some(record)) = decoder.next_record() {
        spectator.record(&decoder, &record, None, &mut out);
        out.clear();
    }
}
