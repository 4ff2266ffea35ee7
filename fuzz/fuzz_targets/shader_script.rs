//! Shader scripts.
#![no_main]

use fragd::mapbuild::shaders;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match shaders::read("fuzz.shader", data) {
        Ok(found) => {
            for shader in &found {
                assert!(shader.surface_light.is_finite() && !shader.main_image().is_empty());
                // The text of a definition is a script with that shader alone.
                let again = shaders::read("fuzz.shader", shader.text.as_bytes());
                assert!(again.is_ok_and(|again| again.len() == 1 && again[0].name == shader.name));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
