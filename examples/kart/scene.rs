//! Light, and visuals of the track.

use bevy::{light::CascadeShadowConfigBuilder, prelude::*};
use unlag_examples::{
    kart::track::{Surface, TrackPart},
    screen::checkerboard,
};

/// Colour of the sky.
const SKY: Color = Color::srgb(0.58, 0.74, 0.88);

/// Adds light and materials to the track.
pub struct ScenePlugin {
    /// Whether to disable shadows.
    pub plain: bool,
}

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        let shadows = !self.plain;
        app.insert_resource(ClearColor(SKY))
            .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
            .add_systems(Startup, move |commands: Commands| spawn_sun(commands, shadows))
            .add_systems(Update, paint);
    }
}

fn spawn_sun(mut commands: Commands, shadow_maps_enabled: bool) {
    commands.spawn((
        DirectionalLight { illuminance: 6_500.0, shadow_maps_enabled, ..default() },
        CascadeShadowConfigBuilder {
            num_cascades: 2,
            first_cascade_far_bound: 20.0,
            maximum_distance: 90.0,
            ..default()
        }
        .build(),
        Transform::from_xyz(9.0, 20.0, 12.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn paint(
    parts: Query<(Entity, &TrackPart), Added<TrackPart>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, part) in &parts {
        let cuboid = || Mesh::from(Cuboid::from_size(part.half * 2.0));
        let (mesh, base_color) = match part.surface {
            // A uniform floor would give no sense of speed.
            Surface::Ground => (checkerboard(part.half, 4.0, 0.86), Color::srgb(0.42, 0.46, 0.44)),
            Surface::Wall => (cuboid(), Color::srgb(0.72, 0.74, 0.78)),
            Surface::Ramp => (cuboid(), Color::srgb(0.82, 0.66, 0.40)),
            Surface::Kerb => (cuboid(), Color::srgb(0.80, 0.32, 0.28)),
            Surface::Pillar => (cuboid(), Color::srgb(0.40, 0.46, 0.60)),
        };
        let material =
            StandardMaterial { base_color, perceptual_roughness: 0.95, reflectance: 0.2, ..default() };
        commands.entity(entity).insert((Mesh3d(meshes.add(mesh)), MeshMaterial3d(materials.add(material))));
    }
}
