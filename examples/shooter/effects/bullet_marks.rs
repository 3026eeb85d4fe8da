//! Marks that bullets leave on the level.

use std::collections::VecDeque;

use bevy::{light::NotShadowCaster, prelude::*};
use bevy_unlag::net::MatchRestarted;
use unlag_examples::screen::scene::matte;

/// Number of marks after which the oldest one is removed.
const MARKS: usize = 128;
/// Radius of a mark, in metres.
const RADIUS: f32 = 0.04;

/// Keeps the marks.
pub(super) fn plugin(app: &mut App) {
    app.add_systems(Startup, create).add_observer(clear);
}

/// The marks, oldest first.
#[derive(Resource)]
pub(super) struct BulletMarks {
    marks: VecDeque<Entity>,
    mesh: Handle<Mesh>,
    material: Handle<StandardMaterial>,
}

fn create(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let (mesh, material) = (
        meshes.add(Sphere::new(RADIUS).mesh().uv(8, 6)),
        materials.add(matte(Color::srgb(0.07, 0.07, 0.07))),
    );
    commands.insert_resource(BulletMarks { marks: VecDeque::new(), mesh, material });
}

fn clear(_: On<MatchRestarted>, marks: Option<ResMut<BulletMarks>>, mut commands: Commands) {
    for mark in marks.into_iter().flat_map(|mut marks| core::mem::take(&mut marks.marks)) {
        commands.entity(mark).despawn();
    }
}

impl BulletMarks {
    /// Leaves a mark.
    pub(super) fn add(&mut self, commands: &mut Commands, at: Vec3) {
        if self.marks.len() == MARKS
            && let Some(oldest) = self.marks.pop_front()
        {
            commands.entity(oldest).despawn();
        }
        let look = (Mesh3d(self.mesh.clone()), MeshMaterial3d(self.material.clone()), NotShadowCaster);
        self.marks.push_back(commands.spawn((look, Transform::from_translation(at))).id());
    }
}
