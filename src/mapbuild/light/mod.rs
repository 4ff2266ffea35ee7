//! Light maps and light grid of a compiled map.
