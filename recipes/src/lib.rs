//! Recipes for everyday tasks of a networked game. Each is a file in `tests/recipes`: first the code of the
//! game, as a user of `bevy_unlag` writes it, then a test that plays it.
//!
//! This library is what the recipes share. [`play`] runs a server and its clients in one thread, on stepped
//! time, over links with a round trip of 100 ms that lose packets. The other functions are small plugins and
//! look-ups. It depends on Bevy and `bevy_unlag` alone, so it is also a pattern for the tests of a game.

mod game;
mod pawns;
mod recording;

pub use game::{Game, play};
pub use pawns::{
    component, corrections, fire_along, fire_at_other, floor, own, position, server_changes, soldiers,
    walk_to_and_fro,
};
pub use recording::{record, recorded};
