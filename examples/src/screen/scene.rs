//! Camera, light and materials.

use bevy::{core_pipeline::tonemapping::Tonemapping, light::CascadeShadowConfigBuilder, prelude::*};

/// Creates a camera with a vertical field of view in degrees. `plain` disables anti-aliasing.
pub fn camera(plain: bool, fov: f32, place: Transform) -> impl Bundle {
    (
        Camera3d::default(),
        if plain { Msaa::Off } else { Msaa::default() },
        // The other tone mappings need the `tonemapping_luts` feature.
        Tonemapping::AcesFitted,
        Projection::from(PerspectiveProjection { fov: fov.to_radians(), near: 0.05, ..default() }),
        place,
    )
}

/// Creates the sun, with shadows up to `distance` metres if they are enabled.
pub fn sun(shadow_maps_enabled: bool, distance: f32) -> impl Bundle {
    let shadows = CascadeShadowConfigBuilder {
        num_cascades: 2,
        first_cascade_far_bound: distance * 0.2,
        maximum_distance: distance,
        ..default()
    };
    (
        DirectionalLight { illuminance: 6_500.0, shadow_maps_enabled, ..default() },
        shadows.build(),
        Transform::from_xyz(9.0, 20.0, 12.0).looking_at(Vec3::ZERO, Vec3::Y),
    )
}

/// Returns a rough material.
#[must_use]
pub fn matte(base_color: Color) -> StandardMaterial {
    StandardMaterial { base_color, perceptual_roughness: 0.95, reflectance: 0.2, ..default() }
}

/// Returns a translucent material without shading.
#[must_use]
pub fn glass(base_color: Color) -> StandardMaterial {
    StandardMaterial { base_color, alpha_mode: AlphaMode::Blend, unlit: true, ..default() }
}

/// Returns the visibility of something that is drawn or not.
#[must_use]
pub fn visible(drawn: bool) -> Visibility {
    if drawn { Visibility::Inherited } else { Visibility::Hidden }
}

/// A steered front wheel; a child of its kart.
#[derive(Component, Debug)]
pub struct FrontWheel;

/// Spawns the parts of a kart as children, without its driver.
pub fn spawn_kart_parts(
    kart: &mut ChildSpawnerCommands,
    meshes: &mut Assets<Mesh>,
    [paint, dark]: [&Handle<StandardMaterial>; 2],
) {
    let boxes = [
        (Vec3::new(0.9, 0.30, 1.9), Vec3::new(0.0, 0.34, 0.0), paint),
        (Vec3::new(0.5, 0.18, 0.5), Vec3::new(0.0, 0.30, -1.15), paint),
        (Vec3::new(0.6, 0.50, 0.12), Vec3::new(0.0, 0.65, 0.75), dark),
    ];
    for (size, place, material) in boxes {
        let mesh = Mesh3d(meshes.add(Cuboid::from_size(size)));
        kart.spawn((mesh, MeshMaterial3d(material.clone()), Transform::from_translation(place)));
    }
    let wheel = meshes.add(Cylinder::new(0.26, 0.22));
    let upright = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    for (x, z) in [(-0.62, -0.72), (0.62, -0.72), (-0.62, 0.72), (0.62, 0.72)] {
        let place = Transform::from_xyz(x, 0.26, z).with_rotation(upright);
        let mut spawned = kart.spawn((Mesh3d(wheel.clone()), MeshMaterial3d(dark.clone()), place));
        if z < 0.0 {
            spawned.insert(FrontWheel);
        }
    }
}
