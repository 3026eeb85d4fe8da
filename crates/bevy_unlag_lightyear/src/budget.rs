//! Downlink budget of each client.

use bevy::prelude::*;
use lightyear::prelude::LinkOf;

/// Maximum rate of snapshots, tracers and game messages per client, in bytes per second; a [`LinkBudget`]
/// overrides it for one client. Default 64,000, enough for 60 pawns at 64 snapshots per second and for far
/// more at 20. Raising it costs bandwidth, and on a link that is too slow for it everything arrives late.
///
/// Snapshots that do not fit are deferred. Pawns near the client's own pawn and in front of its camera are
/// deferred least, and no pawn for ever. While any pawn is deferred, no tracers are sent. Acknowledgements
/// and corrections to the owner of a pawn are neither counted nor deferred.
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
    /// Whether any pawn's snapshot is deferred.
    pub(crate) is_deferring: bool,
}

impl SnapshotSendQueue {
    /// Unused budget accumulates for this many seconds.
    const BUDGET_SECONDS: f32 = 0.25;
    /// Minimum capacity: one message, or a small budget would never send anything.
    const MIN_CAPACITY: f32 = 1_200.0;

    pub(crate) fn refill(&mut self, budget: DownlinkBudget, seconds: f32) {
        let rate = budget.bytes_per_second as f32;
        let most = if rate > 0.0 { (rate * Self::BUDGET_SECONDS).max(Self::MIN_CAPACITY) } else { 0.0 };
        self.credit = (self.credit + rate * seconds).min(most);
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.credit -= bytes as f32;
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
            commands.entity(added.entity).insert(SnapshotSendQueue::default());
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
