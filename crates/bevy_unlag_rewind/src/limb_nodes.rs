//! Limbs that are nodes of a drawn tree: bones of a skeleton, or entities of a model.

#[cfg(test)]
mod tests;

use bevy::{math::Affine3A, prelude::*, transform::TransformSystems};
use bevy_unlag_core::{CurrentTick, DrawnPose, MAX_LIMBS, SUB_TICKS, Sampler, ViewStamp, ViewTime};

use crate::{FrameHistory, RewindLimits, hit_box_asset, hit_box_bones};

/// Which entities show the limbs of a pawn that is animated, on the server like on its clients. Instead of a
/// [`LimbRig`](bevy_unlag_core::LimbRig), and before it where a pawn has both. By hand, or by
/// [`HitBoxBones`](crate::HitBoxBones) from the names of bones.
///
/// A limb is where its node is *relative to the root*, after animation and after transforms have propagated. So
/// it does not matter where the root itself is drawn: between ticks, one snapshot interval ago, or off by a
/// correction that fades. Scale moves limbs and does not size their shapes: hit boxes are in metres.
///
/// Both sides must animate by the same function of what is replicated: a client by its
/// [`DrawnPose`], a server by [`FrameHistory::present`]. On a listen server the nodes below a visual show
/// what its screen shows, and are recorded as of that moment.
#[derive(Component, Clone, PartialEq, Eq, Debug)]
#[require(DrawnLimbs)]
pub struct LimbNodes {
    /// Whose space limbs are in: it stands where the body stands and is turned as the body is. The pawn
    /// itself, its visual, or the top of its model.
    pub root: Entity,
    /// The node of each limb, in the order of the hit boxes' limbs. A limb without one, or whose node has been
    /// despawned, is at the root. At most [`MAX_LIMBS`] count.
    pub nodes: Vec<Option<Entity>>,
}

impl LimbNodes {
    /// A node for every limb.
    #[must_use]
    pub fn new(root: Entity, nodes: impl IntoIterator<Item = Entity>) -> Self {
        Self { root, nodes: nodes.into_iter().map(Some).collect() }
    }
}

/// The limbs are recorded every so many ticks on the server. Without it: 1, every tick. Raising it saves time
/// and memory in proportion and poses limbs in between on a curve through the neighbouring records, which
/// is exact to some millimetres for a runner's feet at 4. What is newer than the last record is posed as that
/// says, so it suits targets that are seen at least as long ago.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoneInterval(pub u32);

/// Where the nodes of this pawn were last drawn, in the space of its body, on a machine that draws it.
#[derive(Component, Clone, PartialEq, Debug, Default)]
pub struct DrawnLimbs(pub Vec<Isometry3d>);

/// When limbs are read from nodes, in [`PostUpdate`].
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimbSystems {
    /// Bones are looked for by their names, before transforms propagate.
    Find,
    /// Limbs are read, after transforms have propagated: on the server into [`FrameHistory`], where a pawn
    /// is drawn into [`DrawnLimbs`].
    Read,
}

/// Limbs from nodes, and [`HitBoxBones`](crate::HitBoxBones). [`RewindPlugin`](crate::RewindPlugin) adds it;
/// a client whose pawns are animated needs nothing else of rewind. It needs Bevy's [`TransformPlugin`].
#[derive(Debug, Default)]
pub struct LimbNodesPlugin;

impl Plugin for LimbNodesPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            PostUpdate,
            (
                LimbSystems::Find.before(TransformSystems::Propagate),
                LimbSystems::Read.after(LimbSystems::Find).after(TransformSystems::Propagate),
            ),
        )
        .add_systems(
            PostUpdate,
            (hit_box_bones::resolve.in_set(LimbSystems::Find), draw.in_set(LimbSystems::Read)),
        );
        hit_box_asset::add(app);
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<TransformPlugin>() {
            app.add_systems(PostUpdate, warn_about_transforms.in_set(LimbSystems::Read));
        }
    }
}

fn warn_about_transforms(nodes: Query<(), With<LimbNodes>>, mut told: Local<bool>) {
    if !*told && !nodes.is_empty() {
        *told = true;
        warn!(
            "limbs are read from nodes, but nothing moves nodes with their parents: hit boxes stay where they \
             were spawned; add bevy's TransformPlugin"
        );
    }
}

/// Where a node is in the space of a body.
#[derive(Clone, Copy)]
struct Space {
    /// From the world into the body.
    back: Affine3A,
}

impl Space {
    fn of(root: &GlobalTransform) -> Option<Self> {
        let root = root.to_isometry();
        let back = Affine3A::from(root.inverse());
        (root.translation.is_finite() && root.rotation.is_finite()).then_some(Self { back })
    }

    /// The identity where there is no node, or none that has a place.
    fn limb(&self, node: Option<&GlobalTransform>) -> Isometry3d {
        let Some(node) = node else { return Isometry3d::IDENTITY };
        let (_, rotation, translation) = (self.back * node.affine()).to_scale_rotation_translation();
        if rotation.is_finite() && translation.is_finite() {
            Isometry3d::new(translation, rotation)
        } else {
            Isometry3d::IDENTITY
        }
    }
}

/// The limbs of one pawn in the space of its body; `None` without a root that has a place.
fn limbs<'a>(
    limbs: &'a LimbNodes,
    nodes: &'a Query<&GlobalTransform>,
) -> Option<impl Iterator<Item = Isometry3d>> {
    let space = nodes.get(limbs.root).ok().and_then(Space::of)?;
    let all = limbs.nodes.iter().take(MAX_LIMBS);
    Some(all.map(move |node| space.limb(node.and_then(|node| nodes.get(node).ok()))))
}

/// The moment that a pawn's nodes show.
fn moment(now: ViewTime, nodes: &LimbNodes, pawn: Entity, drawn: Option<&DrawnPose>) -> ViewTime {
    // Below the pawn itself is what is simulated, below a visual what is drawn.
    match drawn.filter(|_| nodes.root != pawn).map(|drawn| drawn.stamp) {
        Some(ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. }) => time,
        Some(ViewStamp::Present) | None => now,
    }
}

/// Records the limbs of every pawn that is remembered.
pub(crate) fn record(
    (tick, sampler, limits): (Res<CurrentTick>, Res<Sampler>, Res<RewindLimits>),
    nodes: Query<&GlobalTransform>,
    mut lost: RemovedComponents<LimbNodes>,
    mut pawns: Query<(Entity, &mut FrameHistory, Ref<LimbNodes>, Option<&BoneInterval>, Option<&DrawnPose>)>,
    mut others: Query<&mut FrameHistory, Without<LimbNodes>>,
) {
    for entity in lost.read() {
        // From now on its limbs are another's business.
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
        // The first frame that shows a tick shows it best, and others cost nothing. Half a tick of slack,
        // because what is drawn does not fall on ticks.
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

/// Notes where the limbs of every drawn pawn are.
fn draw(nodes: Query<&GlobalTransform>, mut pawns: Query<(&LimbNodes, &mut DrawnLimbs), With<DrawnPose>>) {
    for (limb_nodes, mut drawn) in &mut pawns {
        if let Some(limbs) = limbs(limb_nodes, &nodes) {
            drawn.0.clear();
            drawn.0.extend(limbs);
        }
    }
}
