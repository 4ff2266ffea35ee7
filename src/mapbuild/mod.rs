//! Map compiler: from a `.map` source to the pk3 that clients download.
//!
//! The compiler is sans-I/O: source files come in as bytes by name, and the files of the pk3 go out as bytes.
//! Invariant: the same source gives the same bytes on every machine.

pub mod image;
pub mod light;
pub mod package;
pub mod textures;
