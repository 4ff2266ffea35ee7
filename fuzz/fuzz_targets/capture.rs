//! Any capture: it is read in pieces, decoded, shown and reported, within bounded memory.

#![no_main]

use fragd::{
    capture::DatagramReader,
    trace::{Lines, Report, Role, View},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut reader, mut lines, mut report) = (DatagramReader::new(), Lines::new(8), Report::new());
    let (mut json, mut text) = (Vec::new(), String::new());
    'file: for piece in bytes.chunks(997) {
        reader.push(piece);
        loop {
            let datagram = match reader.poll() {
                Ok(Some(datagram)) => datagram,
                Ok(None) => break,
                Err(_) => break 'file,
            };
            let (time_us, from, to) = (datagram.time_us, datagram.from, datagram.to);
            let record = lines.decode(time_us, from, to, Role::Unknown, datagram.bytes);
            assert!(!record.is_undecoded() || record.fault().is_some());
            report.add(record);
            json.clear();
            record.write_json(&mut json);
            assert!(json.ends_with(b"}\n"));
            text.clear();
            for view in [View::Packets, View::Net, View::Drops] {
                view.write(record, 0, &mut text);
            }
        }
    }
    let _ = reader.finish();
    assert!(report.to_html("capture").ends_with("</html>"));
});
