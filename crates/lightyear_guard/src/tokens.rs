//! Who may join: connect tokens, short-lived and good for one use.
//!
//! A matchmaker makes tokens ([`ConnectTokenRequest`]) with the secret that it shares with its servers
//! ([`ServerKey`]). A client joins with one ([`TokenClient`]). A server ([`ServerAccess`]) reads it before netcode
//! does: its game, its server, its time, that it was made since the server started, and that nobody has joined with
//! it yet. Who is refused hears why ([`JoinRefused`]); nothing of the game's ever sees it.

mod access;
mod gate;
mod hang_up;
mod issue;
mod join;
mod key;
mod refusal;
mod sealed;
mod shown;

use std::time::SystemTime;

use bevy::prelude::*;

use crate::plugin::GuardSystems;

pub use access::ServerAccess;
pub(crate) use access::TokenGate;
pub use gate::TokenStats;
pub(crate) use hang_up::HangUp;
pub use issue::{ConnectTokenRequest, token_data};
pub use join::{JoinRefused, TokenClient, TokenError};
pub use key::{KeyError, ServerKey};
pub use refusal::JoinRefusal;

/// Where a server reads the wall clock when it looks at tokens. Default [`SystemTime::now`]; tests set it.
#[derive(Resource, Clone, Copy, Debug)]
pub struct WallClock(pub fn() -> SystemTime);

impl Default for WallClock {
    fn default() -> Self {
        Self(SystemTime::now)
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<WallClock>()
        .init_resource::<TokenStats>()
        .add_message::<JoinRefused>()
        .add_observer(access::announce)
        .add_observer(gate::use_up)
        .add_observer(join::tell_refusal)
        .add_observer(join::forget_refusal)
        .add_systems(
            PreUpdate,
            (gate::check, hang_up::close, join::hear_denial).chain().in_set(GuardSystems::Tokens),
        )
        .add_systems(PostUpdate, (gate::deny, hang_up::tell).in_set(GuardSystems::Answer));
}
