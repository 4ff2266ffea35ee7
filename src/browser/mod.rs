//! Server browser: asks masters for lists and the listed servers for their state.
