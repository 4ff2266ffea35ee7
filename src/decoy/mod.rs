//! Decoys: servers that exist only in discovery.
