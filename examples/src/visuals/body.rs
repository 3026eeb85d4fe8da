//! Bodies of the remote pawns, and their held weapons.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    SoldierBody,
    core::{LimbPoses, LimbRig, PoseSample, VisualSystems},
    prelude::*,
    rewind::HUMANOID_LIMBS,
    weapons::HeldWeapon,
};

use super::{hit_flash::HitFlash, weapon::WeaponModel};
use crate::screen::scene::{glass, visible};

/// Index of the right hand among the limbs.
const RIGHT_HAND: usize = 12;
/// Scale of third-person weapons; larger than life, so that they can be told apart from a distance.
const WEAPON_SCALE: f32 = 1.3;
/// Offset of the hand from rest to aiming, to the right, up and back, in metres.
const RAISED: Vec3 = Vec3::new(-0.05, 0.30, 0.04);
/// Approximate distance from the hand to the muzzle, in metres.
const MUZZLE: f32 = 0.7;
/// Angle by which the muzzle sinks during a reload, in radians.
const LOWERED: f32 = 0.9;

/// Draws every pawn except the own.
pub fn plugin(app: &mut App) {
    app.add_observer(hide_own).add_systems(Update, (build_bodies, light_up)).add_systems(
        PostUpdate,
        (pose_bodies, pose_weapons)
            .after(VisualSystems::Draw)
            .before(TransformSystems::Propagate)
            .before(VisibilitySystems::VisibilityPropagate),
    );
}

/// Hides the body of its pawn, whose eyes the view has.
#[derive(Component, Clone, Copy, Debug)]
pub struct HiddenBody;

/// A limb of a pawn. It is not a child of the pawn: its pose is in world space, and the pawn's transform is
/// the simulated pose, not the drawn one.
#[derive(Component)]
#[relationship(relationship_target = Limbs)]
struct LimbOf(Entity);

#[derive(Component)]
#[relationship_target(relationship = LimbOf, linked_spawn)]
struct Limbs(Vec<Entity>);

/// Index of the limb on its pawn.
#[derive(Component)]
struct LimbIndex(u8);

/// Material of a limb, and of all limbs while they light up.
#[derive(Component)]
struct LimbPaint {
    usual: Handle<StandardMaterial>,
    flash: Handle<StandardMaterial>,
}

/// The own body, also while its player drives a kart.
#[derive(Component)]
struct OwnBody;

/// Removes the own body, which would block the first-person view.
fn hide_own(added: On<Add, LocalControl>, soldiers: Query<(), With<SoldierBody>>, mut commands: Commands) {
    if soldiers.contains(added.entity) {
        commands.entity(added.entity).insert(OwnBody).despawn_related::<Limbs>();
    }
}

/// Returns the colour of a pawn.
#[must_use]
pub fn colour(pawn: NetId, lightness: f32) -> Color {
    // The golden angle separates the hues of successive ids.
    Color::hsl((f32::from(pawn.0) * 137.5) % 360.0, 0.75, lightness)
}

fn build_bodies(
    pawns: Query<
        (Entity, &NetId, &LimbRig),
        (With<SoldierBody>, With<NetRole>, With<DrawnPose>, Without<OwnBody>, Without<Limbs>),
    >,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (pawn, id, rig) in &pawns {
        let mut paint = |lightness| materials.add(colour(*id, lightness));
        let (head, body, limb) = (paint(0.72), paint(0.48), paint(0.38));
        commands.spawn((LimbOf(pawn), WeaponModel::default(), Visibility::Hidden));
        let dark = materials.add(Color::srgb(0.08, 0.08, 0.10));
        let flash = materials.add(glass(Color::srgb(1.0, 0.92, 0.85)));
        for (index, (group, half)) in (0..rig.limbs).zip(HUMANOID_LIMBS) {
            let material = match group {
                HitGroup::Head => &head,
                HitGroup::Body => &body,
                HitGroup::Limb => &limb,
            };
            let mut spawned = commands.spawn((
                LimbOf(pawn),
                LimbIndex(index),
                Mesh3d(meshes.add(Cuboid::from_size(half * 2.0))),
                MeshMaterial3d(material.clone()),
                LimbPaint { usual: material.clone(), flash: flash.clone() },
                Visibility::Hidden,
            ));
            if group == HitGroup::Head {
                // The visor shows the view direction.
                spawned.with_child((
                    Mesh3d(meshes.add(Cuboid::new(half.x * 1.6, half.y * 0.5, 0.02))),
                    MeshMaterial3d(dark.clone()),
                    Transform::from_xyz(0.0, half.y * 0.2, -half.z),
                ));
            }
        }
    }
}

/// Poses the bodies with the same function of the drawn pose that the server resolves shots with.
fn pose_bodies(
    pawns: Query<(&DrawnPose, &LimbRig, &Limbs, Has<HiddenBody>)>,
    mut limbs: Query<(&LimbIndex, &mut Transform, &mut Visibility)>,
) {
    for (drawn, rig, body, hidden) in &pawns {
        let mut room = LimbPoses::default();
        let poses = rig.in_world(&drawn.pose, &mut room);
        for entity in body.iter() {
            let Ok((index, mut transform, mut visibility)) = limbs.get_mut(entity) else { continue };
            let Some(pose) = poses.get(usize::from(index.0)) else { continue };
            *transform = Transform::from_isometry(*pose);
            visibility.set_if_neq(visible(drawn.pose.alive && !hidden));
        }
    }
}

/// Lights up the bodies of pawns that were hit.
fn light_up(
    pawns: Query<(&Limbs, Has<HitFlash>)>,
    mut limbs: Query<(&LimbPaint, &mut MeshMaterial3d<StandardMaterial>)>,
) {
    for (body, is_hit) in &pawns {
        for entity in body.iter() {
            let Ok((paint, mut material)) = limbs.get_mut(entity) else { continue };
            let wanted = if is_hit { &paint.flash } else { &paint.usual };
            if material.0 != *wanted {
                material.0 = wanted.clone();
            }
        }
    }
}

/// Returns the grip of a drawn pawn's weapon: its right hand, higher while aiming.
fn grip(drawn: &PoseSample, rig: &LimbRig, raised: f32) -> Option<Vec3> {
    let mut room = LimbPoses::default();
    let hand = rig.in_world(drawn, &mut room).get(RIGHT_HAND)?.translation;
    Some(Vec3::from(hand) + drawn.rotation * RAISED * raised)
}

/// Returns the approximate muzzle position of a drawn pawn, where its tracers start.
#[must_use]
pub fn muzzle(drawn: &PoseSample, rig: &LimbRig, held: Option<&HeldWeapon>) -> Option<Vec3> {
    let raised = f32::from(u8::from(held.is_some_and(|held| held.aiming)));
    let ahead = drawn.rotation * Quat::from_rotation_x(drawn.pitch) * Vec3::NEG_Z;
    Some(grip(drawn, rig, raised)? + ahead * MUZZLE)
}

/// Poses the weapons in the right hand, along the view direction. Arms are hit boxes and keep the pose that
/// the server uses.
fn pose_weapons(
    (time, arsenal): (Res<Time>, Res<Arsenal>),
    pawns: Query<(&DrawnPose, &LimbRig, &Limbs, Option<&HeldWeapon>, Has<HiddenBody>)>,
    mut weapons: Query<(&mut WeaponModel, &mut Transform, &mut Visibility)>,
) {
    for (drawn, rig, body, held, hidden) in &pawns {
        let PoseSample { rotation, pitch, alive, .. } = drawn.pose;
        for entity in body.iter() {
            let Ok((mut model, mut transform, mut visibility)) = weapons.get_mut(entity) else { continue };
            WeaponModel::follow(&mut model, held, &arsenal, time.delta_secs());
            let Some(translation) = grip(&drawn.pose, rig, model.raised) else { continue };
            let look = rotation * Quat::from_rotation_x(pitch - LOWERED * model.lowered);
            *transform = Transform { translation, rotation: look, scale: Vec3::splat(WEAPON_SCALE) };
            visibility.set_if_neq(visible(alive && !hidden));
        }
    }
}
