//! Tests of procedural textures.

use super::*;

#[test]
fn every_recipe_paints_a_power_of_two() {
    let mut count = 0;
    for name in names() {
        let image = image(&format!("textures/fragd1/{name}.jpg")).expect("recipe");
        assert!(image.width().is_power_of_two(), "{name}");
        let (low, high) =
            image.bytes().iter().fold((255, 0), |(low, high), b| (low.min(*b), high.max(*b)));
        assert!(high > low + 30, "{name} is flat: {low} to {high}");
        count += 1;
    }
    assert!(count >= 26);
}

#[test]
fn walls_and_floors_are_neither_dark_nor_white() {
    for name in ["basalt", "sand", "furnace", "tiles", "metal", "copper", "door"] {
        let mean = image(name).expect("recipe").mean();
        let brightness = mean.iter().sum::<f64>() / 3.0;
        assert!((0.36..0.66).contains(&brightness), "{name}: {brightness}");
    }
}

#[test]
fn textures_repeat_without_a_seam() {
    // The step over the edge is at most the greatest step within the image.
    for name in ["sand_plain", "water", "lava", "sky1", "furnace"] {
        let image = image(name).expect("recipe");
        let side = image.width();
        let step = |x: usize| {
            (0..side)
                .map(|y| {
                    let (a, b) = (image.pixel(x, y), image.pixel(x + 1, y));
                    u32::from(a[1].abs_diff(b[1]))
                })
                .sum::<u32>()
        };
        let within = (0..side - 1).map(step).max().unwrap_or_default();
        assert!(step(side - 1) <= within, "{name}");
    }
}

#[test]
fn alpha_selects_the_file_format() {
    let (extension, bytes) = encode(&image("stain").expect("recipe")).expect("encoded");
    assert_eq!((extension, bytes[16]), ("tga", 32));
    let (extension, bytes) = encode(&image("sand").expect("recipe")).expect("encoded");
    assert_eq!(extension, "jpg");
    assert!(bytes.len() < 30_000, "{} bytes", bytes.len());
}

#[test]
fn unknown_name_has_no_image() {
    assert!(!contains("textures/fragd1/marble"));
    assert_eq!(image("textures/fragd1/"), None);
}
