//! Limb poses from scene nodes: bones of a skeleton, or entities of a model.

#[cfg(test)]
mod tests;

use bevy::{math::Affine3A, prelude::*};
use bevy_unlag_core::{CurrentTick, DrawnPose, MAX_LIMBS, PoseSampler, SUB_TICKS, ViewStamp, ViewTime};

use crate::{drawn_limbs::DrawnLimbs, history::FrameHistory, limits::RewindLimits};

/// Scene nodes that show the limbs of an animated pawn, on the server as well as on its clients. Replaces
/// a [`LimbRig`](bevy_unlag_core::LimbRig), and takes precedence if a pawn has both. Insert it directly,
/// or let [`HitBoxBones`](crate::HitBoxBones) find the nodes by bone names.
///
/// The pose of a limb is the pose of its node *relative to the root*, after animation and transform
/// propagation. So it does not matter where the root itself is drawn: between ticks, one snapshot
/// interval ago, or shifted by a correction that fades out. Scale affects the positions of limbs, not the
/// sizes of shapes: hit boxes are in metres.
///
/// Both sides must animate with the same function of the replicated state: a client from its
/// [`DrawnPose`], a server from [`PublishedPath::present`](bevy_unlag_smoothing::PublishedPath::present). On
/// a listen server the nodes below a visual show what the host's screen shows, and are recorded with that
/// view time.
#[derive(Component, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
#[require(DrawnLimbs)]
pub struct LimbNodes {
    /// Entity that defines the limb space: it has the position and rotation of the body. The pawn itself,
    /// its visual, or the top of its model.
    pub root: Entity,
    /// Node of each limb, in the order of the hit boxes' limbs. A limb without a node, or with a
    /// despawned one, is at the root. At most [`MAX_LIMBS`] are used.
    pub nodes: Vec<Option<Entity>>,
}

impl LimbNodes {
    /// Creates the component with a node for every limb.
    #[must_use]
    pub fn new(root: Entity, nodes: impl IntoIterator<Item = Entity>) -> Self {
        Self { root, nodes: nodes.into_iter().map(Some).collect() }
    }
}

/// Interval in ticks at which the server records limb poses. Without this component: 1, every tick. A
/// larger value saves time and memory in proportion. Poses in between are interpolated on a curve through
/// the neighbouring records, which is accurate to some millimetres for a runner's feet at an interval of
/// 4. A view newer than the last record uses that record, so it suits targets whose view times are at
/// least that old.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct LimbRecordInterval(pub u32);

/// Returns the transform from world to body space; `None` if it is not finite.
fn into_body(root: &GlobalTransform) -> Option<Affine3A> {
    let root = root.to_isometry();
    let finite = root.translation.is_finite() && root.rotation.is_finite();
    finite.then(|| Affine3A::from(root.inverse()))
}

/// Returns the pose of a node in body space; the identity if its transform is not finite.
fn limb(into_body: Affine3A, node: &GlobalTransform) -> Isometry3d {
    let (_, rotation, translation) = (into_body * node.affine()).to_scale_rotation_translation();
    let finite = rotation.is_finite() && translation.is_finite();
    if finite { Isometry3d::new(translation, rotation) } else { Isometry3d::IDENTITY }
}

/// Returns the limb poses of one pawn in body space; `None` if there is no root with a finite transform.
fn limbs<'a>(
    limbs: &'a LimbNodes,
    nodes: &'a Query<&GlobalTransform>,
) -> Option<impl Iterator<Item = Isometry3d>> {
    let into_body = nodes.get(limbs.root).ok().and_then(into_body)?;
    let all = limbs.nodes.iter().take(MAX_LIMBS).map(move |node| node.and_then(|node| nodes.get(node).ok()));
    Some(all.map(move |node| node.map_or(Isometry3d::IDENTITY, |node| limb(into_body, node))))
}

/// Returns the time that a pawn's nodes show.
fn moment(now: ViewTime, nodes: &LimbNodes, pawn: Entity, drawn: Option<&DrawnPose>) -> ViewTime {
    // Nodes below the pawn itself show the simulated state, nodes below a visual the drawn one.
    match drawn.filter(|_| nodes.root != pawn).map(|drawn| drawn.stamp) {
        Some(ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. }) => time,
        Some(ViewStamp::Present) | None => now,
    }
}

/// Records the limb poses of every pawn with a history.
pub(crate) fn record(
    (tick, sampler, limits): (Res<CurrentTick>, Res<PoseSampler>, Res<RewindLimits>),
    nodes: Query<&GlobalTransform>,
    mut lost: RemovedComponents<LimbNodes>,
    mut pawns: Query<(
        Entity,
        &mut FrameHistory,
        Ref<LimbNodes>,
        Option<&LimbRecordInterval>,
        Option<&DrawnPose>,
    )>,
    mut others: Query<&mut FrameHistory, Without<LimbNodes>>,
) {
    for entity in lost.read() {
        // Without nodes, limb poses come from another source.
        if let Ok(mut history) = others.get_mut(entity) {
            history.bones.clear();
        }
    }
    let keep = limits.ticks(sampler.tick_seconds);
    let now = ViewTime::at(tick.0);
    for (entity, mut history, limb_nodes, interval, drawn) in &mut pawns {
        let time = moment(now, &limb_nodes, entity, drawn);
        let every = interval.map_or(1, |interval| interval.0.clamp(1, 1_000));
        let age = history.bones.newest().map(|newest| time.since(newest));
        // The first frame that shows a tick is the most accurate one, and other frames cost nothing. The
        // tolerance of half a tick is needed because view times are not aligned to ticks.
        let due = age.is_none_or(|age| age >= i64::from(every) * SUB_TICKS - SUB_TICKS / 2);
        let swapped = limb_nodes.is_changed();
        if !due && !swapped {
            continue;
        }
        if let Some(limbs) = limbs(&limb_nodes, &nodes) {
            history.bones.record(time, limbs, keep, swapped);
        }
    }
}

/// Stores the limb poses of every drawn pawn.
pub(crate) fn draw(
    nodes: Query<&GlobalTransform>,
    mut pawns: Query<(&LimbNodes, &mut DrawnLimbs), With<DrawnPose>>,
) {
    for (limb_nodes, mut drawn) in &mut pawns {
        if let Some(limbs) = limbs(limb_nodes, &nodes) {
            drawn.0.clear();
            drawn.0.extend(limbs);
        }
    }
}
