//! Drawing of the pawn that this app controls.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    CurrentTick, DrawnEye, DrawnPose, LocalControl, MoveInput, MoveModel, PoseSample, StepContext, ViewStamp,
    VisualOffset,
};

use crate::{debug::PredictionDebug, saved_moves::SavedMoves};

/// Draws the own pawn at the time of this frame: a temporary step with the live input covers the time since
/// the last tick, so that input shows before the next tick.
pub(crate) fn draw_own_pawn<M: MoveModel>(
    (model, debug): (Res<M::Config>, Res<PredictionDebug>),
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    time: Res<Time>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(Entity, &M::State, &MoveInput<M>, &mut DrawnPose, &mut DrawnEye), With<LocalControl>>,
    mut owned: Query<(&SavedMoves<M>, &mut VisualOffset), With<LocalControl>>,
) {
    let ahead = fixed.overstep().as_secs_f32();
    let mut muted = Vec::new();
    for (entity, state, input, mut drawn, mut eye) in &mut pawns {
        let next = tick.0.offset(1);
        let ctx = StepContext { tick: next, dt: ahead, entity, replaying: true };
        let acknowledged = owned.get_mut(entity).ok().filter(|_| debug.draw_acknowledged);
        let live = if let Some((saved, mut offset)) = acknowledged {
            // Corrections change what is drawn no more than other acknowledgements.
            offset.set_if_neq(VisualOffset::default());
            saved.iter().next().map_or(*state, |oldest| oldest.start)
        } else if ahead > 0.0 {
            M::step(&model, state, &input.0, &ctx, &world, &mut muted)
        } else {
            *state
        };
        muted.clear();
        let pose = PoseSample { position: M::position(&live), ..PoseSample::from(&M::snapshot(&live, next)) };
        *drawn = DrawnPose { pose, stamp: ViewStamp::Present };
        let up = pose.rotation * Vec3::Y;
        eye.ease((M::eye(&model, &live) - pose.position).dot(up), time.delta_secs());
    }
}
