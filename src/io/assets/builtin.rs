//! Archives in the program: the maps of fragd, served where no other game data is installed.
//!
//! They are searched last, so they replace no file of a game. A file of the same name in the game folder
//! replaces them.

/// Name without extension and bytes of each archive, in search order.
pub(super) const PACKS: [(&str, &[u8]); 3] = [
    ("fragd1", include_bytes!("../../../maps/fragd1.pk3")),
    ("fragdctf1", include_bytes!("../../../maps/fragdctf1.pk3")),
    ("course", include_bytes!("../../../maps/course.pk3")),
];
