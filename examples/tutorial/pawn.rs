//! Chapter 2: pawns, controls and the camera.

use bevy::{
    prelude::*,
    transform::TransformSystems,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow},
};
use bevy_unlag::{
    core::{DrawnEye, VisualSystems},
    prelude::*,
};

/// On the server: each player who joins gets a soldier.
pub fn server(app: &mut App) {
    app.add_observer(|joined: On<PlayerJoined>, mut players: Local<u32>, mut commands: Commands| {
        let place = Transform::from_xyz((*players % 4) as f32 * 2.0 - 3.0, 0.1, 8.0);
        *players += 1;
        commands.spawn((SoldierPawn, place, player_pawn(joined.link, joined.peer)));
    });
}

/// On a client: keyboard, mouse and gamepads control the pawn of its player.
pub fn client(app: &mut App) {
    app.add_plugins(PlayerControlsPlugin::reading()).add_systems(Startup, |mut commands: Commands| {
        commands.spawn((PlayerControls::default(), PlayerControls::default_bindings()));
    });
}

/// Distance of the camera behind the eye of the pawn, in metres.
#[derive(Resource)]
pub struct CameraDistance(pub f32);

/// With a window: pawns as capsules, and a camera that follows the player's own one.
pub fn window(app: &mut App) {
    app.insert_resource(CameraDistance(4.0))
        .add_observer(draw_pawn)
        .add_systems(Update, grab_mouse)
        .add_systems(PostUpdate, place_camera.after(VisualSystems::Draw).before(TransformSystems::Propagate));
}

fn draw_pawn(
    added: On<Add, NetRole>,
    roles: Query<&NetRole>,
    camera: Res<CameraDistance>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) -> Result {
    let is_own = *roles.get(added.entity)? == NetRole::AutonomousProxy;
    if is_own && camera.0 == 0.0 {
        return Ok(());
    }
    let color = if is_own { Color::srgb(0.88, 0.55, 0.24) } else { Color::srgb(0.29, 0.56, 0.85) };
    let mut part = |mesh: Mesh, place: Vec3| {
        let material = MeshMaterial3d(materials.add(color));
        (Mesh3d(meshes.add(mesh)), material, Transform::from_translation(place))
    };
    // The origin of a pawn is between its feet, and it looks along -Z.
    let body = part(Capsule3d::new(0.34, 1.08).into(), Vec3::Y * 0.88);
    let nose = part(Cuboid::new(0.2, 0.2, 0.3).into(), Vec3::new(0.0, 1.5, -0.35));
    commands.spawn((VisualOf(added.entity), Visibility::default(), children![body, nose]));
    Ok(())
}

fn place_camera(
    own: Single<(&DrawnPose, &DrawnEye, &VisualOffset, &InputAccumulator), With<LocalControl>>,
    distance: Res<CameraDistance>,
    mut camera: Single<&mut Transform, With<Camera3d>>,
) {
    let (drawn, eye, offset, input) = own.into_inner();
    let (yaw, pitch) = input.view();
    camera.rotation = Quat::from_euler(EulerRot::YXZ, yaw as f32, pitch as f32, 0.0);
    camera.translation = drawn.pose.position + offset.offset + Vec3::Y * eye.0 + camera.back() * distance.0;
}

/// A click takes the mouse, Escape gives it back. Controls work while the game has the mouse.
fn grab_mouse(
    mouse: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut cursor: Single<&mut CursorOptions, With<PrimaryWindow>>,
    mut controls: Single<&mut PlayerControls>,
) {
    if mouse.just_pressed(MouseButton::Left) {
        (cursor.visible, cursor.grab_mode) = (false, CursorGrabMode::Locked);
    }
    if keys.just_pressed(KeyCode::Escape) {
        (cursor.visible, cursor.grab_mode) = (true, CursorGrabMode::None);
    }
    controls.enabled = !cursor.visible;
}
