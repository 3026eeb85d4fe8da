//! Interpolation of remote pawns on the screen of a listen server host.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnBaseTime, DrawnPose, DrawnViewTime, LocalControl, PoseSampler,
    ProxySmoothing, SUB_TICKS,
};

use crate::published_path::PublishedPath;

/// Maximum extra delay of a pawn with a low update rate, in ticks: two seconds at 64 Hz.
const MAX_INTERVAL: i32 = 128;

/// Poses every pawn drawn on this machine from its sent snapshots, one interval ago: interpolated as on
/// any client, so a shot of the host is resolved like any other.
pub(crate) fn draw(
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    sampler: Res<PoseSampler>,
    bases: Res<BasePoses>,
    (mut time, mut base_time): (ResMut<DrawnViewTime>, ResMut<DrawnBaseTime>),
    mut pawns: Query<(&PublishedPath, Option<&ProxySmoothing>, &mut DrawnPose), Without<LocalControl>>,
) {
    if pawns.is_empty() {
        return;
    }
    let now = tick.frame_time(&fixed);
    let shown = now.later(-i64::from(sampler.snapshot_ticks) * SUB_TICKS);
    time.0 = Some(shown);
    let bases = bases.at(now);
    base_time.0 = None;
    for (path, mode, mut drawn) in &mut pawns {
        // Pawns with a lower update rate are drawn further in the past.
        let longer = i64::from((path.interval() - sampler.snapshot_ticks).clamp(0, MAX_INTERVAL));
        let shown = shown.later(-longer * SUB_TICKS);
        let posed = path.sent.stamp(shown).and_then(|stamp| {
            Some(DrawnPose { pose: path.sent.pose(stamp, &sampler.of(mode), &bases)?, stamp })
        });
        match posed {
            Some(posed) => {
                if path.sent.is_on_base(posed.stamp) {
                    base_time.0 = Some(now);
                }
                *drawn = posed;
            }
            // The pawn did not exist at that moment.
            None => drawn.pose.alive = false,
        }
    }
}
