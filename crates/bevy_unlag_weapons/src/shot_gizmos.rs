//! Debug view of the local player's shots: drawn hit boxes against rewound ones.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveModel, MoveSystems, NetId, require_plugin};
use bevy_unlag_rewind::{DrawnFrames, DrawnQuery, EvidenceLog, RewindView, RewindViewPlugin};

use crate::{arsenal::Arsenal, firing::ShotFired, weapon::Weapon};

/// Number of shots that the log keeps if no one else has enabled it.
const KEPT: usize = 64;

/// Draws the last shots of the local player while [`RewindView::enabled`] is set: hit boxes in red where the
/// screen showed them and, if this app is the server, in blue where it rewound them and in grey where they
/// were in the present. A client only has its own half: a game can pass the server's to
/// [`RewindView::push_tested`]. Add it after Bevy's plugins.
pub struct ShotViewPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(ShotViewPlugin<M>);

impl<M: MoveModel> Plugin for ShotViewPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, RewindViewPlugin);
        app.init_resource::<EvidenceLog>()
            .init_resource::<Arsenal>()
            .add_message::<ShotFired>()
            .add_systems(
                FixedUpdate,
                show_drawn.in_set(MoveSystems::React).after(crate::firing::emit_shot_fired::<M>),
            )
            .add_systems(Update, show_validated);
    }
}

/// Shows the shots of this tick as the screen drew them, some frames ago.
fn show_drawn(
    mut fired: MessageReader<ShotFired>,
    own: Query<&NetId, With<LocalControl>>,
    arsenal: Res<Arsenal>,
    frames: Res<DrawnFrames>,
    query: DrawnQuery,
    mut view: ResMut<RewindView>,
) {
    if !view.enabled {
        fired.clear();
        return;
    }
    for shot in fired.read() {
        let Ok(id) = own.get(shot.shooter) else { continue };
        let range = arsenal.get(shot.round.weapon).map_or(0.0, Weapon::range);
        let (eye, way) = (shot.from, shot.round.cone.direction(Vec2::ZERO));
        let reach = query.first_obstacle(eye, way, range).map_or(range, |wall| wall.distance);
        if let Some(evidence) = frames.evidence((*id, shot.round.shot.0), shot.time, (eye, way, reach)) {
            view.push_drawn(evidence);
        }
    }
}

/// Shows the shots that this app validated itself.
fn show_validated(
    own: Query<&NetId, With<LocalControl>>,
    mut log: ResMut<EvidenceLog>,
    mut seen: Local<u64>,
    mut view: ResMut<RewindView>,
) {
    if view.enabled && !log.is_on() {
        log.set_capacity(KEPT);
    }
    let new = (log.recorded() - *seen).min(KEPT as u64) as usize;
    *seen = log.recorded();
    if !view.enabled || new == 0 {
        return;
    }
    let new: Vec<_> = log.last_shots(new).collect();
    for shot in new.into_iter().rev() {
        if own.iter().any(|id| shot.shooter == Some(*id)) {
            view.push_tested(shot.clone());
        }
    }
}
