//! Light, and visuals of the track.

use bevy::prelude::*;
use unlag_examples::{
    kart::track::{Surface, TrackPart},
    screen::{
        WindowArgs, checkerboard,
        scene::{matte, sun},
    },
};

/// Colour of the sky.
const SKY: Color = Color::srgb(0.58, 0.74, 0.88);

/// Adds light and materials to the track.
pub fn plugin(app: &mut App) {
    app.insert_resource(ClearColor(SKY))
        .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
        .add_systems(Startup, |window: Res<WindowArgs>, mut commands: Commands| {
            commands.spawn(sun(!window.plain, 90.0));
        })
        .add_systems(Update, paint);
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
        let material = MeshMaterial3d(materials.add(matte(base_color)));
        commands.entity(entity).insert((Mesh3d(meshes.add(mesh)), material));
    }
}
