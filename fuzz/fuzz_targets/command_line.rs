//! The command line, scenario files, and the small languages of their values.
#![no_main]

use std::{fmt::Display, net::SocketAddr, str::FromStr};

use fragd::{
    bots::{Behaviors, Conditions, Expectations, IntervalStats, Stages},
    cli::{self, LoadTest, ServerAddress},
    client::ProtocolChoice,
    impairment::{Impairment, SeededRng},
    settings::{Networks, name_matches, nearest_setting},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    match choice % 9 {
        0 => {
            let words = text.split('\0').map(Into::into);
            if let Err(error) = cli::parse(std::iter::once("fragd".into()).chain(words)) {
                let _ = error.to_string();
            }
        }
        1 => {
            let Ok(test) = LoadTest::parse(text) else { return };
            let server: SocketAddr = "10.0.0.1:27960".parse().expect("an address");
            let options = test.clone().merged_with(test).build(vec![server], 7);
            assert!(!options.stages.is_empty());
        }
        2 => {
            if let Some(shape) = read_back::<Impairment>(text) {
                let mut rng = SeededRng::new(3);
                let mut bytes = vec![7; 40];
                let _ = shape.decide(&mut rng);
                shape.corrupt(&mut rng, &mut bytes);
            }
        }
        3 => {
            if let Ok(expectations) = text.parse::<Expectations>() {
                let conditions = Conditions {
                    enters: true,
                    round_trip_ms: 0.0,
                    loses: false,
                    interval_ms: 50.0,
                };
                for result in expectations.evaluate(&IntervalStats::default(), 1, conditions) {
                    let again = result.expectation.parse::<Expectations>();
                    assert!(again.is_ok(), "{}", result.expectation);
                    let _ = result.to_string();
                }
            }
        }
        4 => drop(read_back::<Stages>(text)),
        5 => drop(read_back::<Behaviors>(text)),
        6 => {
            let _ = text.parse::<ServerAddress>().map(|address| address.to_string());
            let _ = text.parse::<ProtocolChoice>();
        }
        7 => {
            let networks = Networks::parse(text).unwrap_or_default();
            let _ = networks.contains([10, 0, 0, 1].into());
        }
        _ => {
            let (pattern, name) = text.split_once('\0').unwrap_or((text, "sv_fps"));
            let _ = (name_matches(pattern, name), nearest_setting(name));
        }
    }
});

/// Reads a value; what it is written as must be read as the same.
fn read_back<T: FromStr<Err: Display> + Display>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            match written.parse::<T>() {
                Ok(again) => assert_eq!(again.to_string(), written),
                Err(error) => panic!("{written}: {error}"),
            }
            Some(value)
        }
        Err(error) => {
            let _ = error.to_string();
            None
        }
    }
}
