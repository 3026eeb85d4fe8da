//! Chapter 1: the level.

use bevy::{core_pipeline::tonemapping::Tonemapping, prelude::*};
use bevy_unlag::rapier::prelude::Collider;

/// Centre and size of the boxes, in metres.
const BOXES: [(Vec3, Vec3); 5] = [
    (Vec3::new(0.0, -0.5, 0.0), Vec3::new(200.0, 1.0, 200.0)),
    (Vec3::new(-9.0, 0.6, 2.0), Vec3::new(4.0, 1.2, 1.0)),
    (Vec3::new(9.0, 0.6, 2.0), Vec3::new(4.0, 1.2, 1.0)),
    (Vec3::new(0.0, 0.2, -14.0), Vec3::new(8.0, 0.4, 4.0)),
    (Vec3::new(0.0, 1.5, -20.0), Vec3::new(20.0, 3.0, 1.0)),
];

/// On both sides: what pawns stand on and walk into.
pub fn colliders(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        for (centre, size) in BOXES {
            let half = size / 2.0;
            commands.spawn((Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(centre)));
        }
    });
}

/// With a window: meshes, a light and the camera.
pub fn window(app: &mut App) {
    app.insert_resource(ClearColor(Color::srgb(0.53, 0.7, 0.86)))
        .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
        .add_systems(Startup, spawn_light_and_camera)
        .add_systems(Update, draw_boxes);
}

fn spawn_light_and_camera(mut commands: Commands) {
    let sun = DirectionalLight { illuminance: 6_500.0, shadow_maps_enabled: true, ..default() };
    commands.spawn((sun, Transform::from_xyz(9.0, 20.0, 12.0).looking_at(Vec3::ZERO, Vec3::Y)));
    let place = Transform::from_xyz(0.0, 8.0, 22.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted, place));
}

fn draw_boxes(
    boxes: Query<(Entity, &Collider), Added<Collider>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, collider) in &boxes {
        let Some(shape) = collider.as_cuboid() else { continue };
        let mesh = meshes.add(Cuboid::from_size(shape.half_extents() * 2.0));
        let material = materials.add(Color::srgb(0.5, 0.45, 0.4));
        commands.entity(entity).insert((Mesh3d(mesh), MeshMaterial3d(material)));
    }
}
