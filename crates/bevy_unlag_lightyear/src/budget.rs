//! Downlink budget of each client.

use bevy::prelude::*;
use lightyear::prelude::LinkOf;

/// Maximum rate of everything that a client is sent, in bytes per second; a [`LinkBudget`] overrides it for one
/// client. Default 64,000, enough for 60 pawns at 64 snapshots per second and for far more at 20. Raising it
/// costs bandwidth, and on a link that is too slow for it everything arrives late.
///
/// Messages that do not fit are deferred or dropped. The classes get theirs in this order:
///
/// 1. Acknowledgements and corrections of moves, verdicts, pawn states and projectiles are counted and never
///    deferred.
/// 2. Snapshots. Pawns near the client's own pawn and in front of its camera are deferred least, and no pawn
///    for more than 50 rounds, if all the others fit into them; see [`SnapshotWeight`](crate::SnapshotWeight).
/// 3. Tracers are dropped while any pawn is deferred.
/// 4. The game's messages: unreliable ones are dropped like tracers, and earlier than these. Reliable ones
///    always get their share ([`MessageLimits::down_share`](crate::MessageLimits)) and no more.
/// 5. Replication, with the game's own components: it gets what the others leave, and always a share
///    ([`MessageLimits::replication_share`](crate::MessageLimits)).
///
/// [`ClassTraffic::deferred`](crate::ClassTraffic) counts what was deferred.
#[doc(alias = "MaxClientRate")]
#[doc(alias = "sv_maxrate")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource)]
pub struct DownlinkBudget {
    /// Message payload per second, without the framing of lightyear, netcode and UDP.
    pub bytes_per_second: u32,
}

impl Default for DownlinkBudget {
    fn default() -> Self {
        Self { bytes_per_second: 64_000 }
    }
}

/// Overrides the [`DownlinkBudget`] for one client; on the server's end of its link.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component)]
pub struct LinkBudget(pub DownlinkBudget);

/// Unused downlink budget of one client, in bytes.
#[derive(Component, Default, Debug)]
pub(crate) struct SnapshotSendQueue {
    pub(crate) credit: f32,
    /// Maximum credit, and maximum debt.
    pub(crate) capacity: f32,
    /// Bytes per second.
    pub(crate) rate: f32,
    /// Whether any pawn's snapshot is deferred.
    pub(crate) is_deferring: bool,
}

impl SnapshotSendQueue {
    /// Unused budget accumulates for this many seconds.
    const BUDGET_SECONDS: f32 = 0.25;
    /// Minimum capacity: one message, or a small budget would never send anything.
    const MIN_CAPACITY: f32 = 1_200.0;
    /// Share of the capacity that unreliable game messages leave to what comes before them.
    const GAME_RESERVE: f32 = 0.25;
    /// Share of the capacity that replication leaves to what comes before it.
    const REPLICATION_RESERVE: f32 = 0.5;

    /// Returns a budget of which nothing is used.
    fn full() -> Self {
        // Until the first refill.
        Self { credit: f32::INFINITY, ..default() }
    }

    pub(crate) fn refill(&mut self, budget: DownlinkBudget, seconds: f32) {
        self.rate = budget.bytes_per_second as f32;
        let capacity = (self.rate * Self::BUDGET_SECONDS).max(Self::MIN_CAPACITY);
        self.capacity = if self.rate > 0.0 { capacity } else { 0.0 };
        self.credit = (self.credit + self.rate * seconds).min(self.capacity);
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.charge(bytes as f32);
    }

    /// Charges bytes, into a bounded debt: after a burst of messages that are never deferred, snapshots go on soon.
    pub(crate) fn charge(&mut self, bytes: f32) {
        self.credit = (self.credit - bytes).max(-self.capacity);
    }

    /// Charges an unreliable game message if the budget allows and no pawn is deferred. Returns whether it may be
    /// sent.
    pub(crate) fn spend_on_game(&mut self, bytes: usize) -> bool {
        self.credit > self.capacity * Self::GAME_RESERVE && self.spend_if_idle(bytes)
    }

    /// Takes up to `most` bytes of the budget that everything but replication leaves, and returns how many. `most` must
    /// not be negative.
    pub(crate) fn take_surplus(&mut self, most: f32) -> f32 {
        if self.is_deferring {
            return 0.0;
        }
        let taken = (self.credit - self.capacity * Self::REPLICATION_RESERVE).max(0.0).min(most);
        self.credit -= taken;
        taken
    }

    /// Charges `bytes` of optional data if the budget allows and no pawn is deferred. Returns whether it may
    /// be sent.
    pub(crate) fn spend_if_idle(&mut self, bytes: usize) -> bool {
        let fits = !self.is_deferring && self.credit >= bytes as f32;
        if fits {
            self.spend(bytes);
        }
        fits
    }
}

pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<DownlinkBudget>()
        .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
            commands.entity(added.entity).insert(SnapshotSendQueue::full());
        })
        .add_systems(PostUpdate, refill.before(crate::system_sets::SendSystems::Snapshots));
}

fn refill(
    time: Res<Time<Real>>,
    everyone: Res<DownlinkBudget>,
    mut links: Query<(&mut SnapshotSendQueue, Option<&LinkBudget>)>,
) {
    for (mut queue, own) in &mut links {
        queue.refill(own.map_or(*everyone, |own| own.0), time.delta_secs());
    }
}
