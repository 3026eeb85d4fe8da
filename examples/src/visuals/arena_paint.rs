//! Meshes of the arena.

use bevy::prelude::*;

use crate::{
    arena::{ArenaPart, Surface},
    screen::{checkerboard, scene::matte},
};

pub(super) fn paint(
    parts: Query<(Entity, &ArenaPart), Added<ArenaPart>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, ArenaPart(part)) in &parts {
        let (mesh, colour) = match part.surface {
            // A uniform floor would give no sense of speed.
            Surface::Floor => (checkerboard(part.half, 2.0, 0.72), Color::srgb(0.50, 0.52, 0.50)),
            Surface::Wall => (Cuboid::from_size(part.half * 2.0).into(), Color::srgb(0.46, 0.51, 0.58)),
            Surface::Steps => (Cuboid::from_size(part.half * 2.0).into(), Color::srgb(0.66, 0.60, 0.48)),
            Surface::Cover => (Cuboid::from_size(part.half * 2.0).into(), Color::srgb(0.58, 0.38, 0.28)),
        };
        let material = MeshMaterial3d(materials.add(matte(colour)));
        commands.entity(entity).insert((Mesh3d(meshes.add(mesh)), material));
    }
}
