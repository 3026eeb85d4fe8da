//! Pending addresses: those that have sent a datagram and have no connection. Bounded in number and age.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::prelude::{Connected, Connecting, LinkOf};

use super::{IngressLimits, IngressStats, bucket::Bucket};
use crate::plugin::patience;

/// On a link without a connection.
#[derive(Component)]
pub(super) struct Stranger {
    /// How long it has had no connection.
    age: Duration,
    /// Whether it has sent anything.
    pub heard: bool,
    /// Datagram budget.
    pub datagrams: Bucket,
}

impl Default for Stranger {
    fn default() -> Self {
        Self { age: Duration::ZERO, heard: false, datagrams: Bucket::FULL }
    }
}

/// Removes links that have been pending for too long and, when there are too many, the oldest ones. Links
/// that have shown a valid connect token or have sent nothing yet are not counted: a flood locks no client
/// out.
pub(super) fn forget(
    time: Res<Time<Real>>,
    limits: Res<IngressLimits>,
    mut links: Query<(Entity, Option<&mut Stranger>, Has<Connecting>), (With<LinkOf>, Without<Connected>)>,
    mut ages: Local<Vec<(Duration, Entity)>>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    ages.clear();
    stats.strangers = 0;
    for (link, stranger, connecting) in &mut links {
        stats.strangers += 1;
        let Some(mut stranger) = stranger else {
            commands.entity(link).try_insert(Stranger::default());
            continue;
        };
        stranger.age += patience(&time);
        let age = stranger.age;
        if age > limits.stranger_time {
            stats.forgotten += 1;
            commands.entity(link).try_despawn();
        } else if stranger.heard && !connecting {
            ages.push((age, link));
        }
    }
    let surplus = ages.len().saturating_sub(limits.strangers);
    if surplus > 0 {
        ages.sort_unstable_by(|a, b| b.cmp(a));
        for (_, link) in ages.drain(..surplus) {
            stats.forgotten += 1;
            commands.entity(link).try_despawn();
        }
    }
}

/// Removes the pending state when a client connects; a later reconnect starts from scratch.
pub(super) fn welcome(connected: On<Add, Connected>, mut commands: Commands) {
    commands.entity(connected.entity).try_remove::<Stranger>();
}
