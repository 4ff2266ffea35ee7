//! Packets of discovery, of every game and in every direction.
#![no_main]

use fragd::discovery::{
    InfoText, ListPacket, MasterRequest, quake4, quakeworld,
    services::{Motd, ServicePacket},
};
use fragd::wire::text::WireText;
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for piece in pieces(data, 8) {
        let _ = MasterRequest::parse(piece);
        if let Some(list) = ListPacket::parse(piece) {
            assert!(list.servers().count() * 6 <= piece.len());
        }
        if let Ok(packet) = ServicePacket::parse(piece) {
            let mut made = Vec::new();
            packet.write(&mut made);
            assert!(ServicePacket::parse(&made).is_ok());
            if let ServicePacket::GetMotd(info) | ServicePacket::Motd(Motd { info }) = packet {
                assert!(info.pairs().count() <= piece.len());
            }
        }
        if let Ok(packet) = quake4::Packet::parse(piece) {
            let mut made = Vec::new();
            packet.write(&mut made);
            assert!(quake4::Packet::parse(&made).is_ok());
            if let quake4::Packet::InfoResponse(response) = packet {
                assert!(response.pairs().count() + response.players().count() <= piece.len());
                let _ = response.os_mask();
            }
        }
        if let Ok(packet) = quakeworld::Packet::parse(piece) {
            let mut made = Vec::new();
            packet.write(&mut made);
            assert!(quakeworld::Packet::parse(&made).is_ok());
            if let quakeworld::Packet::Status(status) = packet {
                assert!(status.players().map(|player| player.plain_name()).count() <= piece.len());
            }
        }
        let info = InfoText::new(WireText::new(piece));
        assert!(info.pairs().count() <= piece.len() + 1);
    }
});
