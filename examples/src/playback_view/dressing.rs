//! Bodies and weapons of the recorded pawns.

use crate::visuals::body::HiddenBody;
use bevy::prelude::*;
use bevy_unlag::{
    SoldierBody,
    core::PawnModel,
    movement::KartModel,
    prelude::*,
    record::{IndexedShot, Playback, PlaybackPawn, PlaybackSystems, PlaybackView},
    weapons::{HeldWeapon, WeaponId},
};

/// Shots before the moment among which the last one of each pawn is looked for.
const RECENT: usize = 512;

/// Dresses the pawns as the shooter does.
pub(super) fn plugin(app: &mut App) {
    app.add_systems(Update, dress.run_if(resource_exists::<Playback>)).add_systems(
        PostUpdate,
        (hold_weapons, hide_followed).before(PlaybackSystems::Pose).run_if(resource_exists::<Playback>),
    );
}

fn dress(
    pawns: Query<(Entity, &PlaybackPawn), Added<PlaybackPawn>>,
    playback: Res<Playback>,
    mut commands: Commands,
) {
    for (entity, pawn) in &pawns {
        let model = playback.setup().characters.get(usize::from(pawn.pawn.model));
        let kart = PawnModel::of::<KartModel>();
        if model.is_some_and(|name| name == kart.name()) {
            commands.entity(entity).insert(kart);
        } else {
            commands.entity(entity).insert((SoldierBody, NetRole::SimulatedProxy, HeldWeapon::default()));
        }
    }
}

/// Gives each pawn the weapon that it has fired last. What it holds is not recorded.
fn hold_weapons(playback: Res<Playback>, mut pawns: Query<(&PlaybackPawn, &mut HeldWeapon)>) {
    let now = playback.time().tick;
    let shots = playback.index().shots();
    let fired = shots.partition_point(|shot| shot.tick.since(now) <= 0);
    for (pawn, mut held) in &mut pawns {
        let is_own = |shot: &&IndexedShot| shot.shooter == pawn.pawn.id && shot.weapon.is_some();
        let last = shots[..fired].iter().rev().take(RECENT).find(is_own).and_then(|shot| shot.weapon);
        held.set_if_neq(HeldWeapon { weapon: Some(WeaponId(last.unwrap_or(0))), ..default() });
    }
}

/// In first person the followed pawn is not drawn.
fn hide_followed(
    playback: Res<Playback>,
    pawns: Query<(Entity, &PlaybackPawn, Has<HiddenBody>)>,
    mut commands: Commands,
) {
    let view = playback.view();
    for (entity, pawn, hidden) in &pawns {
        match (view == PlaybackView::FirstPerson(pawn.pawn.id), hidden) {
            (true, false) => drop(commands.entity(entity).insert(HiddenBody)),
            (false, true) => drop(commands.entity(entity).remove::<HiddenBody>()),
            _ => {}
        }
    }
}
