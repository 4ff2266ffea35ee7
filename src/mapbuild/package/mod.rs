//! The pk3 of a map: archive, arena file, levelshot.
