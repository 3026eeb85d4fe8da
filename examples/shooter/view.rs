//! Scene of the shooter: the shared visuals and the first-person view.

mod kart_entry;

use bevy::{prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{DrawnEye, VisualSystems, units_to_angle},
    prelude::*,
    weapons::HeldWeapon,
};
use unlag_examples::{
    hero::{Hero, HeroState},
    screen::{
        WindowArgs,
        scene::{camera, sun, visible},
    },
    visuals::{self, weapon::WeaponModel},
};

/// Rate at which the gun settles after a shot, in 1/s.
const KICK_RATE: f32 = 14.0;

/// Draws the arena, the remote pawns and the own gun, and moves the camera.
pub fn plugin(app: &mut App) {
    app.add_plugins((visuals::plugin, kart_entry::plugin))
        .add_systems(Startup, spawn_scene)
        .add_systems(Update, kick_gun)
        .add_systems(PostUpdate, place_camera.after(VisualSystems::Draw).before(TransformSystems::Propagate));
}

/// Marks the first-person camera.
#[derive(Component)]
pub struct PlayerCamera;

/// The first-person gun with its recoil animation.
#[derive(Component, Default)]
struct Gun {
    kick: f32,
}

/// Rest position of the gun, in camera space.
const GUN_REST: Vec3 = Vec3::new(0.20, -0.19, -0.42);
/// Scale of the gun. At full size it would cover half of the view this close to the camera.
const GUN_SCALE: f32 = 0.8;
/// Position of the gun while aiming, in camera space.
const GUN_RAISED: Vec3 = Vec3::new(0.06, -0.13, -0.38);

fn spawn_scene(window: Res<WindowArgs>, mut commands: Commands) {
    commands.spawn(sun(!window.plain, 60.0));
    // Shows the whole arena until the player has a pawn.
    let above = Transform::from_xyz(0.0, 15.0, 25.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((
        (PlayerCamera, IsDefaultUiCamera),
        camera(window.plain, 75.0, above),
        children![(
            Gun::default(),
            WeaponModel::default(),
            Transform::from_translation(GUN_REST).with_scale(Vec3::splat(GUN_SCALE)),
        )],
    ));
}

/// Places the camera at the origin of shots: the drawn pose plus the visual offset that smooths corrections,
/// at the smoothed eye height.
fn place_camera(
    own: Query<
        (&DrawnPose, &DrawnEye, Option<&VisualOffset>, &InputAccumulator, Option<&HeroState>),
        With<LocalControl>,
    >,
    mut cameras: Query<&mut Transform, With<PlayerCamera>>,
) {
    let (Ok((drawn, eye, offset, gather, state)), Ok(mut transform)) = (own.single(), cameras.single_mut())
    else {
        return;
    };
    if eye.0 == 0.0 {
        return;
    }
    let feet = drawn.pose.position + offset.map_or(Vec3::ZERO, |offset| offset.offset);
    let look = gather.current();
    let (yaw, pitch) = (units_to_angle(look.yaw), units_to_angle(look.pitch.cast_unsigned()));
    let Some(state) = state else {
        // In a kart the view turns with it.
        let up = drawn.pose.rotation * Vec3::Y;
        transform.translation = feet + up * eye.0;
        transform.rotation = drawn.pose.rotation * Quat::from_rotation_x(pitch);
        return;
    };
    let frame = Hero::view_frame(state);
    transform.translation = feet + frame.up * eye.0;
    // Shots follow the recoil, and so does the view.
    let kick = state.extension.recoil_angles();
    let look = Quat::from_euler(EulerRot::YXZ, yaw + kick.x, pitch + kick.y, 0.0);
    transform.rotation = frame.rotation() * look;
}

/// Animates the first-person weapon from the predicted state, without delay.
fn kick_gun(
    (time, arsenal): (Res<Time>, Res<Arsenal>),
    mut fired: MessageReader<ShotFired>,
    own: Query<(&DrawnPose, Option<&HeldWeapon>), With<LocalControl>>,
    mut guns: Query<(&mut Gun, &mut WeaponModel, &mut Transform, &mut Visibility)>,
) {
    let shots = fired.read().count();
    let own = own.single().ok();
    let armed = own.is_some_and(|(drawn, held)| drawn.pose.alive && held.is_some());
    let held = own.and_then(|(_, held)| held);
    for (mut gun, mut model, mut transform, mut visibility) in &mut guns {
        WeaponModel::follow(&mut model, held, &arsenal, time.delta_secs());
        gun.kick = if shots > 0 { 1.0 } else { gun.kick * (-KICK_RATE * time.delta_secs()).exp() };
        let rest = GUN_REST.lerp(GUN_RAISED, model.raised);
        transform.translation =
            rest + Vec3::new(0.0, 0.008, 0.05) * gun.kick - Vec3::Y * 0.10 * model.lowered;
        transform.rotation = Quat::from_rotation_x(0.09 * gun.kick - 0.5 * model.lowered);
        visibility.set_if_neq(visible(armed));
    }
}
