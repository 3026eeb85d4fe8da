//! Pending addresses: those that have sent a datagram and have no connection. Bounded in number and age.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::prelude::{Connected, Connecting, LinkOf};

use super::{IngressLimits, IngressStats, ServerUdp, token_bucket::TokenBucket};
use crate::counted_delta::counted_delta;

/// On a link without a connection.
#[derive(Component, Default)]
pub(crate) struct PendingLink {
    /// Time that it has had no connection.
    age: Duration,
    /// Whether it has sent anything.
    pub has_sent: bool,
    /// Datagram budget.
    pub datagrams: TokenBucket,
}

/// Removes links that have been pending for too long and, when there are too many, the oldest ones. Links
/// that have shown a valid connect token or have sent nothing yet are not counted: a flood locks no client
/// out.
pub(crate) fn forget(
    time: Res<Time<Real>>,
    limits: Res<IngressLimits>,
    mut links: Query<(Entity, Option<&mut PendingLink>, Has<Connecting>), (With<LinkOf>, Without<Connected>)>,
    sockets: Query<&ServerUdp>,
    mut ages: Local<Vec<(Duration, Entity)>>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    ages.clear();
    stats.pending = sockets.iter().map(ServerUdp::pending).sum();
    for (link, stranger, connecting) in &mut links {
        stats.pending += 1;
        let Some(mut stranger) = stranger else {
            commands.entity(link).try_insert(PendingLink::default());
            continue;
        };
        stranger.age += counted_delta(&time);
        let age = stranger.age;
        if age > limits.pending_timeout {
            stats.forgotten += 1;
            commands.entity(link).try_despawn();
        } else if stranger.has_sent && !connecting {
            ages.push((age, link));
        }
    }
    let surplus = ages.len().saturating_sub(limits.max_pending);
    if surplus > 0 {
        ages.sort_unstable_by(|a, b| b.cmp(a));
        for (_, link) in ages.drain(..surplus) {
            stats.forgotten += 1;
            commands.entity(link).try_despawn();
        }
    }
}

/// Removes the pending state when a client connects; a later reconnect starts from scratch.
pub(super) fn clear_pending(connected: On<Add, Connected>, mut commands: Commands) {
    commands.entity(connected.entity).try_remove::<PendingLink>();
}
