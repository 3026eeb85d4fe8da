//! Integration tests of the suite; everything is in `scenarios`, one binary for one link.
