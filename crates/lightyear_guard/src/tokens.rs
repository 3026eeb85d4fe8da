//! Connect tokens: short-lived, single-use permissions to join.
//!
//! A matchmaker issues tokens ([`ConnectTokenRequest`]) with the secret that it shares with its servers
//! ([`ServerKey`]). A client joins with one ([`TokenClient`]). A server ([`ServerAccess`]) validates it
//! before netcode does: game, server address, expiry, issued after the server's start, and not used before. A
//! refused client receives the reason ([`JoinRefused`]); the game never sees it.

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

/// The wall clock against which a server validates tokens. Default [`SystemTime::now`]; tests replace it.
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
