//! Puts the own rounds into the picture: what the screen showed, and what the server judged.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, MoveModel, MoveSystems, NetId};
use bevy_unlag_rewind::{DrawnFrames, DrawnQuery, EvidenceLog, RewindView, RewindViewPlugin};

use crate::{Arsenal, ShotFired, Weapon};

/// Rounds that the log keeps for the picture, when nobody has it keep any.
const KEPT: usize = 64;

/// Shows the last rounds of this app's own player while [`RewindView::enabled`]: hit boxes red where its screen
/// showed them, and, where this app is the server, blue where it judged them and grey where they were by
/// then. A client has only its own half: the server's goes to [`RewindView::judged`] when a game brings it over.
/// Add it after Bevy's plugins.
#[derive(Debug)]
pub struct ShotViewPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for ShotViewPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for ShotViewPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<RewindViewPlugin>() {
            app.add_plugins(RewindViewPlugin);
        }
        app.init_resource::<EvidenceLog>()
            .init_resource::<Arsenal>()
            .add_message::<ShotFired>()
            .add_systems(FixedUpdate, show_drawn.in_set(MoveSystems::React).after(crate::shoot::report::<M>))
            .add_systems(Update, show_judged);
    }
}

/// The shots of this tick as the screen showed them, some frames ago.
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
        let reach = query.block(eye, way, range).map_or(range, |wall| wall.distance);
        if let Some(evidence) = frames.evidence((*id, shot.round.shot.0), shot.time, (eye, way, reach)) {
            view.drawn(evidence);
        }
    }
}

/// The rounds that this app judged itself.
fn show_judged(
    own: Query<&NetId, With<LocalControl>>,
    mut log: ResMut<EvidenceLog>,
    mut seen: Local<u64>,
    mut view: ResMut<RewindView>,
) {
    if view.enabled && !log.is_on() {
        log.keep(KEPT);
    }
    let new = (log.recorded() - *seen).min(KEPT as u64) as usize;
    *seen = log.recorded();
    if !view.enabled || new == 0 {
        return;
    }
    let new: Vec<_> = log.last_shots(new).collect();
    for shot in new.into_iter().rev() {
        if own.iter().any(|id| shot.shooter == Some(*id)) {
            view.judged(shot.clone());
        }
    }
}
