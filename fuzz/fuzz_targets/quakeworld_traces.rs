//! Datagrams of a QuakeWorld connection in both directions: decoded, shown and reported.
#![no_main]

use std::net::SocketAddr;

use fragd::trace::{Lines, Report, Role, View};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let server: SocketAddr = ([10, 0, 0, 1], 27_500).into();
    let client: SocketAddr = ([10, 0, 0, 2], 27_001).into();
    let (mut lines, mut report) = (Lines::new(4), Report::new());
    let (mut json, mut text, mut time_us) = (Vec::new(), String::new(), 0);
    let mut sequences = [0_u32; 2];
    for piece in pieces(data, 64) {
        let [kind, body @ ..] = piece else { continue };
        time_us += u64::from(kind >> 4) * 4000;
        let is_server = kind & 1 != 0;
        let (from, to) = if is_server { (server, client) } else { (client, server) };
        let role = match (choice & 1, is_server) {
            (0, _) => Role::Unknown,
            (_, true) => Role::Server,
            (_, false) => Role::Client,
        };
        // A valid header and then any bytes; a marked packet; or any bytes.
        let datagram = match kind >> 1 & 3 {
            0 => [b"\xff\xff\xff\xff", body].concat(),
            1 | 2 => {
                let own = &mut sequences[usize::from(is_server)];
                *own += 1 + u32::from(kind >> 3 & 1);
                let reliable = u32::from(kind >> 2 & 1) << 31;
                let mut datagram = (*own | reliable).to_le_bytes().to_vec();
                datagram.extend(sequences[usize::from(!is_server)].to_le_bytes());
                if !is_server {
                    datagram.extend(9_u16.to_le_bytes());
                }
                [&datagram, body].concat()
            }
            _ => body.to_vec(),
        };
        let record = lines.decode(time_us, from, to, role, &datagram);
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
    assert!(report.to_html("capture").ends_with("</html>"));
});
