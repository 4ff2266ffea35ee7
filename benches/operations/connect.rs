//! Adaptive Huffman coding of the userinfo in `connect`.

use std::hint::black_box;

use fragd::wire::{
    connect::{Connect, write_connect},
    connectionless::Message,
    info::InfoString,
};

use super::{Operation, average, recorded::Recorded};

/// Different userinfos.
const INPUTS: usize = 64;

pub(crate) fn operations() -> Vec<Operation> {
    let mut recorded = Recorded::read();
    let infos: Vec<_> = (0..INPUTS).map(|_| userinfo(&mut recorded)).collect();
    let packets: Vec<Vec<u8>> = infos
        .iter()
        .map(|info| {
            let mut packet = Vec::new();
            write_connect(info, &mut packet).expect("short enough");
            packet
        })
        .collect();
    let size = average(&infos, "B", |info| info.as_str().len());
    let (mut packet, mut text) = (Vec::new(), Vec::new());
    vec![
        Operation::over("adaptive tree, compress userinfo", size.clone(), infos, move |info| {
            packet.clear();
            let written = write_connect(info, &mut packet);
            assert!(written.is_ok());
            black_box(&packet);
        }),
        Operation::over("adaptive tree, decompress", size, packets, move |packet| {
            text.clear();
            let Ok(Message::Connect(connect)) = Message::parse(packet) else { unreachable!() };
            let _: &Connect<'_> = &connect;
            assert!(connect.decompress(&mut text).is_ok());
            black_box(&text);
        }),
    ]
}

/// About 400 bytes, like a client with everything set.
fn userinfo(recorded: &mut Recorded) -> InfoString {
    let names = ["sarge", "grunt", "major", "doom", "angelyss", "kyonshi", "gargoyle", "ayumi"];
    let mut text = String::new();
    let mut set = |key: &str, value: String| text += &format!("\\{key}\\{value}");
    let mut pick = |limit| recorded.below(limit);
    set("ip", format!("{}.{}.{}.{}:27960", pick(256), pick(256), pick(256), pick(256)));
    set("name", format!("^{}{}^7[{}]", pick(8), names[pick(8)], pick(10_000)));
    set("rate", format!("{}", 5000 + pick(40) * 500));
    set("snaps", "40".to_owned());
    for key in ["model", "headmodel", "team_model", "team_headmodel"] {
        set(key, format!("{}/{}", names[pick(8)], ["default", "red", "blue"][pick(3)]));
    }
    set("color1", format!("{}", pick(8)));
    set("color2", format!("{}", pick(8)));
    set("handicap", "100".to_owned());
    set("sex", ["male", "female"][pick(2)].to_owned());
    set("cl_anonymous", "0".to_owned());
    set("cg_predictItems", "1".to_owned());
    set("cl_guid", (0..32).map(|_| char::from(b"0123456789ABCDEF"[pick(16)])).collect());
    set("teamtask", "0".to_owned());
    set("cl_voip", "1".to_owned());
    set("protocol", "71".to_owned());
    set("qport", format!("{}", pick(65_536)));
    set("challenge", format!("{}", pick(1 << 31)));
    InfoString::parse(&text)
}
