//! Procedural textures by name.
