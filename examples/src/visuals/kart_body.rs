//! Bodies of karts.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{PawnModel, VisualSystems},
    movement::KartModel,
    prelude::*,
};

use crate::screen::scene::spawn_kart_parts;

/// Draws karts.
pub fn plugin(app: &mut App) {
    app.add_observer(build_kart).add_systems(
        PostUpdate,
        place
            .after(VisualSystems::Draw)
            .before(TransformSystems::Propagate)
            .before(VisibilitySystems::VisibilityPropagate),
    );
}

/// Body of a kart. It is not a child of the pawn, whose transform is the simulated pose and not the drawn one.
#[derive(Component, Debug)]
#[relationship(relationship_target = KartBodies)]
pub struct KartBodyOf(Entity);

/// Body of a kart, on its pawn.
#[derive(Component, Debug)]
#[relationship_target(relationship = KartBodyOf, linked_spawn)]
pub struct KartBodies(Vec<Entity>);

fn build_kart(
    added: On<Add, PawnModel>,
    models: Query<&PawnModel>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if !models.get(added.entity).is_ok_and(PawnModel::is::<KartModel>) {
        return;
    }
    let mut paint =
        |base_color| materials.add(StandardMaterial { base_color, reflectance: 0.3, ..default() });
    let (red, dark) = (paint(Color::srgb(0.78, 0.20, 0.12)), paint(Color::srgb(0.08, 0.08, 0.09)));
    let body = (KartBodyOf(added.entity), Transform::default(), Visibility::default());
    commands.spawn(body).with_children(|kart| spawn_kart_parts(kart, &mut meshes, [&red, &dark]));
}

fn place(karts: Query<(&DrawnPose, Option<&VisualOffset>, &KartBodies)>, mut bodies: Query<&mut Transform>) {
    for (drawn, offset, parts) in &karts {
        let at = drawn.pose.position + offset.map_or(Vec3::ZERO, |offset| offset.offset);
        for part in parts.iter() {
            if let Ok(mut transform) = bodies.get_mut(part) {
                *transform = Transform::from_translation(at).with_rotation(drawn.pose.rotation);
            }
        }
    }
}
