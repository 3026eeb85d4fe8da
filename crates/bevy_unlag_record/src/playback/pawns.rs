//! Entities of the recorded pawns.

use bevy::prelude::*;
use bevy_unlag_core::{BasePoses, DrawnPose, NetId, PoseSample};
use std::collections::BTreeMap;

use super::Playback;
use crate::roster::{PlayerNumber, RecordedPawn};

/// Pawn of a [`Playback`]. The plugin spawns one with its [`NetId`], [`DrawnPose`] and [`Transform`] for each pawn that
/// exists at the moment that is shown, and despawns it otherwise; the game adds its meshes when this is added. A pawn
/// is to be drawn while [`DrawnPose::pose`] is `alive`.
#[derive(Component, Clone, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Transform)]
pub struct PlaybackPawn {
    /// The pawn as it was recorded.
    pub pawn: RecordedPawn,
    /// Its player, if it has one.
    pub player: Option<PlayerNumber>,
    /// Name of its player.
    pub name: String,
    /// Whether the view follows it. In first person a game does not draw it.
    pub is_followed: bool,
}

fn transform(pose: &PoseSample) -> Transform {
    Transform::from_translation(pose.position).with_rotation(pose.rotation)
}

pub(super) fn pose_pawns(
    playback: Res<Playback>,
    bases: Option<Res<BasePoses>>,
    mut pawns: Query<(Entity, &mut PlaybackPawn, &mut DrawnPose, &mut Transform)>,
    mut commands: Commands,
) {
    let none = BasePoses::default();
    let bases = bases.as_deref().unwrap_or(&none);
    let roster = playback.roster();
    let wanted = |pawn: &RecordedPawn| PlaybackPawn {
        pawn: *pawn,
        player: roster.player_of(pawn.id).map(|player| player.number),
        name: playback.name_of(pawn.id),
        is_followed: playback.view().followed() == Some(pawn.id),
    };
    let mut missing: BTreeMap<NetId, PlaybackPawn> =
        roster.pawns().map(|pawn| (pawn.id, wanted(pawn))).collect();
    for (entity, mut known, mut drawn, mut place) in &mut pawns {
        let Some(now) = missing.remove(&known.pawn.id) else {
            commands.entity(entity).despawn();
            continue;
        };
        known.set_if_neq(now);
        let (pose, stamp) = playback.pose(known.pawn.id, bases);
        *drawn = DrawnPose { pose, stamp };
        place.set_if_neq(transform(&pose));
    }
    for (id, pawn) in missing {
        let (pose, stamp) = playback.pose(id, bases);
        commands.spawn((pawn, id, DrawnPose { pose, stamp }, transform(&pose)));
    }
}

/// Removes the pawns of a playback that is over.
pub(super) fn remove_pawns(pawns: Query<Entity, With<PlaybackPawn>>, mut commands: Commands) {
    for pawn in &pawns {
        commands.entity(pawn).despawn();
    }
}
