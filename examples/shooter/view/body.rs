//! The bodies of everyone else.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{LimbPoses, VisualSystems},
    prelude::*,
    rewind::HUMANOID_LIMBS,
};

/// Draws the limbs of every pawn but the own.
pub struct BodyPlugin;

impl Plugin for BodyPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(hide_own).add_systems(Update, build_bodies).add_systems(
            PostUpdate,
            pose_bodies
                .after(VisualSystems::Draw)
                .before(TransformSystems::Propagate)
                .before(VisibilitySystems::VisibilityPropagate),
        );
    }
}

/// A limb of a pawn. It is no child of it: its pose is the world's, and the pawn's own transform
/// is what is simulated, not what is drawn.
#[derive(Component)]
#[relationship(relationship_target = Limbs)]
struct LimbOf(Entity);

#[derive(Component)]
#[relationship_target(relationship = LimbOf, linked_spawn)]
struct Limbs(Vec<Entity>);

/// Which of its pawn's limbs it is.
#[derive(Component)]
struct LimbIndex(u8);

/// Nobody sees their own body from within.
fn hide_own(added: On<Add, LocalControl>, mut commands: Commands) {
    commands.entity(added.entity).despawn_related::<Limbs>();
}

fn build_bodies(
    pawns: Query<
        (Entity, &NetId, &LimbRig),
        (With<NetRole>, With<DrawnPose>, Without<LocalControl>, Without<Limbs>),
    >,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (pawn, id, rig) in &pawns {
        // The golden angle keeps the hues of neighbours apart.
        let hue = (f32::from(id.0) * 137.5) % 360.0;
        let mut paint = |lightness| materials.add(Color::hsl(hue, 0.75, lightness));
        let (head, body, limb) = (paint(0.72), paint(0.48), paint(0.38));
        let dark = materials.add(Color::srgb(0.08, 0.08, 0.10));
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
                Visibility::Hidden,
            ));
            if group == HitGroup::Head {
                // A visor shows which way it looks.
                spawned.with_child((
                    Mesh3d(meshes.add(Cuboid::new(half.x * 1.6, half.y * 0.5, 0.02))),
                    MeshMaterial3d(dark.clone()),
                    Transform::from_xyz(0.0, half.y * 0.2, -half.z),
                ));
            }
        }
    }
}

/// The same function of the same pose that shots are judged with.
fn pose_bodies(
    pawns: Query<(&DrawnPose, &LimbRig, &Limbs)>,
    mut limbs: Query<(&LimbIndex, &mut Transform, &mut Visibility)>,
) {
    for (drawn, rig, body) in &pawns {
        let wanted = if drawn.pose.alive { Visibility::Inherited } else { Visibility::Hidden };
        let mut room = LimbPoses::default();
        let poses = rig.in_world(&drawn.pose, &mut room);
        for entity in body.iter() {
            let Ok((index, mut transform, mut visibility)) = limbs.get_mut(entity) else { continue };
            let Some(pose) = poses.get(usize::from(index.0)) else { continue };
            *transform = Transform::from_isometry(*pose);
            visibility.set_if_neq(wanted);
        }
    }
}
