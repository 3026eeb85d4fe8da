//! Connect tokens: short-lived, single-use permissions to join.
//!
//! A matchmaker issues tokens ([`ConnectTokenRequest`]) with the secret that it shares with its servers
//! ([`ServerKey`]). A client joins with one ([`TokenClient`]). A server ([`ServerAccess`]) validates it
//! before netcode does: game, server, match, expiry, issued after the server's start, not used before, and not for a
//! banned player ([`BanList`]). A refused client receives the reason ([`JoinRefused`]); the game never sees it.

mod access_changes;
mod address_check;
mod ban_list;
mod netcode_packets;
mod places;
mod refusal;
mod refused_joins;
mod replay_protection;
mod server_access;
mod server_key;
mod server_keys;
mod session_close;
mod token_client;
mod token_filter;
mod token_request;

use bevy::prelude::*;

use crate::{
    clock::{self, SystemTime},
    ingress::IngressLimits,
    log_lines::LogConfig,
    system_sets::GuardSystems,
};

pub use access_changes::{AssignMatch, RotateKeys};
pub(crate) use address_check::{AddressChallenge, AddressProof};
pub use ban_list::{BanList, BanTarget, InvalidBanTarget};
pub use refusal::JoinRefusal;
pub(crate) use refused_joins::log_full_server;
pub use server_access::ServerAccess;
pub(crate) use server_access::TokenValidator;
pub use server_key::{KeyError, ServerKey};
pub use server_keys::ServerKeys;
pub(crate) use session_close::CloseSession;
pub use token_client::{JoinRefused, TokenClient, TokenError};
pub use token_filter::TokenStats;
pub use token_request::{ConnectTokenRequest, token_data};

/// The wall clock against which a server validates tokens. Default: the system's; tests replace it.
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct WallClock(
    // A function has no fields to show.
    #[reflect(ignore)] pub fn() -> SystemTime,
);

impl Default for WallClock {
    fn default() -> Self {
        Self(clock::wall)
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<WallClock>()
        .init_resource::<LogConfig>()
        .init_resource::<IngressLimits>()
        .init_resource::<TokenStats>()
        .init_resource::<BanList>()
        .add_message::<JoinRefused>()
        .add_observer(server_access::warn_development_mode)
        .add_observer(access_changes::rotate_keys)
        .add_observer(access_changes::assign_match)
        .add_observer(token_filter::mark_used)
        .add_observer(token_client::report_refusal)
        .add_observer(token_client::clear_refusal)
        .add_systems(
            PreUpdate,
            (
                address_check::replace_responses,
                token_filter::check,
                session_close::close,
                token_client::receive_denial,
            )
                .chain()
                .in_set(GuardSystems::Tokens),
        )
        .add_systems(
            PostUpdate,
            (address_check::take_challenges, token_filter::deny, session_close::send_disconnect)
                .in_set(GuardSystems::Answer),
        );
}
