//! Integration tests of bevy_unlag over real links
