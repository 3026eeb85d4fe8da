//! The humanoid, built as in a game: a pawn, its visual, and a tree of named nodes that carry the hit boxes.

use bevy::{prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{DrawnPose, NetId, TickPlugin, VisualOf, VisualPlugin, VisualSystems},
    rewind::{HUMANOID_LIMBS, HitBoxBones, HitGroup, LimbNodes, LimbNodesPlugin},
};
use unlag_examples::screen::scene::matte;

use crate::{
    bones::{BONES, pose},
    document::Document,
    stance::Stance,
};

/// Scale of a limb's visual relative to its hit box, so that the boxes enclose the limbs.
const LIMB_SCALE: f32 = 0.8;

/// Spawns and poses the pawn, and gives it the boxes of the document.
pub fn plugin(app: &mut App) {
    app.add_plugins((TickPlugin, VisualPlugin, LimbNodesPlugin))
        .add_systems(Startup, spawn)
        .add_systems(Update, attach_hit_boxes.run_if(resource_exists_and_changed::<Document>))
        .add_systems(PostUpdate, animate.in_set(VisualSystems::Draw).before(TransformSystems::Propagate));
}

/// The pawn, its visual and the visual's limb nodes.
#[derive(Component)]
pub struct Pawn {
    visual: Entity,
    nodes: Vec<Entity>,
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut paint = |shade: f32| materials.add(matte(Color::srgb(shade, shade, shade * 1.05)));
    let (light, middle, dark) = (paint(0.62), paint(0.45), paint(0.1));
    let pawn =
        commands.spawn((NetId(1), DrawnPose::default(), Transform::default(), Visibility::default())).id();
    let visual = commands.spawn((VisualOf(pawn), Visibility::default())).id();
    let nodes: Vec<Entity> = BONES
        .iter()
        .zip(HUMANOID_LIMBS)
        .map(|(name, (group, half))| {
            let paint = if group == HitGroup::Limb { &middle } else { &light };
            let mesh = meshes.add(Cuboid::from_size(half * 2.0 * LIMB_SCALE));
            let node = commands
                .spawn((Name::new(*name), Mesh3d(mesh), MeshMaterial3d(paint.clone()), ChildOf(visual)))
                .id();
            if group == HitGroup::Head {
                // The visor shows the view direction.
                let visor = meshes.add(Cuboid::new(half.x * 1.3, half.y * 0.4, 0.02));
                let place = Transform::from_xyz(0.0, half.y * 0.2, -half.z * LIMB_SCALE);
                commands.spawn((Mesh3d(visor), MeshMaterial3d(dark.clone()), place, ChildOf(node)));
            }
            node
        })
        .collect();
    commands.entity(pawn).insert(Pawn { visual, nodes });
}

/// Replaces the whole set of hit boxes after any change, as a game would.
fn attach_hit_boxes(
    document: Res<Document>,
    mut applied: Local<Option<bevy_unlag::rewind::HitBoxFile>>,
    pawns: Query<(Entity, &Pawn)>,
    mut commands: Commands,
) {
    let Ok((entity, pawn)) = pawns.single() else { return };
    if applied.as_ref() == Some(&document.file) {
        return;
    }
    *applied = Some(document.file.clone());
    // Files may address limbs by number; named bones are found in the tree.
    let nodes = LimbNodes::new(pawn.visual, pawn.nodes.iter().copied());
    commands.entity(entity).insert((nodes, HitBoxBones::new(document.file.clone())));
}

fn animate(
    stance: Res<Stance>,
    mut pawns: Query<(&Pawn, &mut DrawnPose)>,
    mut transforms: Query<&mut Transform>,
) {
    for (pawn, mut drawn) in &mut pawns {
        drawn.pose = stance.sample();
        for (node, limb) in pawn.nodes.iter().zip(pose(&stance.along())) {
            if let Ok(mut transform) = transforms.get_mut(*node) {
                *transform = Transform::from_isometry(limb);
            }
        }
    }
}
