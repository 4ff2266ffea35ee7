//! Tests of archives, arena files and levelshots.

use std::{collections::BTreeMap, io::Read};

use super::*;
use crate::mapbuild::{
    image::Image,
    light::{Lighting, Material, Scene, Shape, Surface, Vertex},
};

fn files() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("maps/box.bsp".to_owned(), vec![7; 5000]),
        ("textures/box/wall.jpg".to_owned(), b"wall".to_vec()),
        ("levelshots/box.jpg".to_owned(), b"shot".to_vec()),
    ])
}

#[test]
fn archive_has_sorted_entries_without_dates() {
    let bytes = write(&files()).expect("archive");
    assert_eq!(bytes, write(&files()).expect("archive"));
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("zip");
    let names: Vec<String> =
        archive.file_names().map(|name| name.expect("name").into_owned()).collect();
    assert_eq!(names, ["levelshots/box.jpg", "maps/box.bsp", "textures/box/wall.jpg"]);
    let mut entry = archive.by_name("maps/box.bsp").expect("entry");
    assert_eq!(entry.last_modified(), Some(DateTime::default()));
    assert!(entry.compressed_size() < 100);
    let mut content = Vec::new();
    entry.read_to_end(&mut content).expect("content");
    assert_eq!(content, [7; 5000]);
}

#[test]
fn archive_rejects_names_that_engines_misread() {
    let long = "textures/".to_owned() + &"x".repeat(60);
    for name in ["", "../a", "a//b", "/a", "Maps/a.bsp", "a b", "a\\b", "a:b", &long] {
        let files = BTreeMap::from([(name.to_owned(), vec![1])]);
        assert_eq!(write(&files), Err(PackageError::Name(name.to_owned())));
    }
}

#[test]
fn arena_file_keeps_quotes_out() {
    let text = arena_file("box", "The \"Box\"\nmap", "ffa");
    assert!(text.contains("longname \"The  Box  map\"\n"), "{text}");
    assert_eq!(text.matches('"').count(), 6);
}

/// A wall that faces the camera at x = 100, its left half red and its right half blue.
fn wall(drawing: Drawing) -> Image {
    let corner =
        |y: f64, z: f64| Vertex { point: [100.0, y, z], st: [0.5 - y / 200.0, 0.5 - z / 200.0] };
    let scene = Scene {
        materials: vec![Material::default()],
        surfaces: vec![Surface {
            shape: Shape::Polygon {
                ring: vec![
                    corner(50.0, 50.0),
                    corner(-50.0, 50.0),
                    corner(-50.0, -50.0),
                    corner(50.0, -50.0),
                ],
                extra: Vec::new(),
                normal: [-1.0, 0.0, 0.0],
            },
            material: 0,
            model: 0,
        }],
        ..Scene::default()
    };
    let row: Vec<u8> =
        (0..64).flat_map(|x| if x < 32 { [200, 0, 0] } else { [0, 0, 200] }).collect();
    let image = Image::rgb(64, 64, row.repeat(64));
    let skin = Skin { image: &image, glow: None, drawing };
    levelshot(&scene, &Lighting::default(), &[Some(skin)], &Camera::default())
}

#[test]
fn levelshot_shows_a_wall_in_perspective() {
    let shot = wall(Drawing::Unlit);
    // Half of the width at 90°, two thirds of the height at 4:3.
    assert_eq!(shot.pixel(60, 128), [0, 0, 0, 255]);
    assert_eq!(shot.pixel(128, 40), [0, 0, 0, 255]);
    assert!(shot.pixel(70, 128)[0] > 190, "left is red");
    assert!(shot.pixel(186, 128)[2] > 190, "right is blue");
    assert!(shot.pixel(100, 46)[0] > 190);
}

#[test]
fn blended_surface_lets_background_through() {
    let shot = wall(Drawing::Blended(0.5));
    assert_eq!(shot.pixel(80, 128), [100, 0, 0, 255]);
}
